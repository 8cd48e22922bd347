"""Takes series.png: the map of a series with one origin chosen, in its second period. Needs Chromium.

tripcloak synth city --trips 200000 --days 84 --out city.parquet
tripcloak series city.parquet --periods month --hierarchy h3:9 --out months
python docs/images/make_series.py months
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PERIOD = 1
"""The period that is shown."""

CHOSEN = (10, 20)
"""Where the chosen zone lies, in pixels from the middle of the origins' map."""


def take(folder: Path, picture: Path) -> None:
    """Open the map of a series, go to a period, choose a zone and take the picture."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 860})
        page.goto((folder / "release" / "map.html").resolve().as_uri())
        page.locator(".columns button").nth(PERIOD).click()
        stage = page.locator(".panel[data-axis=origin] .stage").bounding_box()
        assert stage is not None
        x, y = stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2
        page.mouse.click(x + CHOSEN[0], y + CHOSEN[1])
        page.mouse.move(5, 5)
        page.wait_for_timeout(500)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(__file__).with_name("series.png"))
