"""Takes compare.png and compare-maps.png: the page of a comparison. Needs Chromium and the folder of one.

tripcloak synth city --out trips.parquet
tripcloak compare trips.parquet --k 10 --suppress 0.1 --epsilon 1 --out compared
python docs/images/make_compare.py compared
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent


def take(folder: Path) -> None:
    """Open the page of a comparison and take its upper part and its maps."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1360, "height": 900})
        page.goto((folder / "compare.html").resolve().as_uri())
        table = page.locator("section.all").bounding_box()
        assert table is not None
        upper = {"x": 0, "y": 0, "width": 1360, "height": table["y"] + table["height"] + 16}
        page.screenshot(path=HERE / "compare.png", full_page=True, clip=upper)
        page.locator("section.maps").screenshot(path=HERE / "compare-maps.png")
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
