"""Takes card.png: what a notebook shows of a release of the demo's city. Needs Chromium.

python docs/images/make_card.py
"""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

import tripcloak as tc


def take(release: tc.ReleasedFlows, picture: Path) -> None:
    """Put the card of a release on an empty page and take its picture."""
    page_of_card = f"<!doctype html><meta charset=utf-8><body>{release._repr_html_()}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 760})
        page.set_content(page_of_card)
        page.wait_for_timeout(1500)
        page.locator(".tripcloak-card").screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take(tc.anonymise(tc.City(trips=200_000, seed=1).table(), k=10), Path(__file__).with_name("card.png"))
