"""Takes analysis*.png and profiles.png: pages of an analysis and of rebuilt flows. Needs Chromium.

tripcloak synth city --trips 1600000 --out city.parquet
tripcloak anonymise city.parquet --method productcut --time-slot 1h --fold day --time-weight 1000 --out hourly
tripcloak analyse hourly --against city.parquet --out analysed
tripcloak anonymise city.parquet --method productcut --slot 1h --fold week --out weekly
tripcloak reconstruct weekly --zones districts.geojson --against city.parquet --out rebuilt \\
    --pair r03c03:r03c04 --pair r03c04:r01c02 --pair r02c02:r04c05 --pair r02c03:r02c03
python docs/images/make_analysis.py analysed rebuilt

Where ``districts.geojson`` holds 8 x 6 rectangles of 4.6 by 5.9 km, numbered from the south-west, that
cover 48.6 to 48.92 degrees north and 18.05 to 18.55 east.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
WIDTH = 1160
PARTS = ("Profiles of zones", "Land use", "Typical flows")


def take(analysed: Path, rebuilt: Path) -> None:
    """Take the parts of the page of an analysis one by one, and the profiles of rebuilt flows."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto((analysed / "analysis.html").resolve().as_uri())
        tops = [
            0.0,
            *(_top(page, part) for part in PARTS),
            float(page.evaluate("document.body.scrollHeight")),
        ]
        names = ("analysis.png", None, "analysis-land-use.png", "analysis-typical-flows.png")
        for number, name in enumerate(names):
            if name is not None:
                # The scores and the profiles are one picture.
                until = tops[2] if number == 0 else tops[number + 1]
                _clip(page, HERE / name, tops[number], until)
        page.goto((rebuilt / "profiles.html").resolve().as_uri())
        _clip(page, HERE / "profiles.png", 0.0, float(page.evaluate("document.body.scrollHeight")))
        browser.close()


def _top(page: Page, heading: str) -> float:
    box = page.get_by_role("heading", name=heading, exact=True).bounding_box()
    assert box is not None
    return float(box["y"]) - 10


def _clip(page: Page, path: Path, top: float, bottom: float) -> None:
    clip = {"x": 0.0, "y": top, "width": float(WIDTH), "height": bottom - top}
    page.screenshot(path=path, full_page=True, clip=clip)


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
