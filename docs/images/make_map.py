"""Takes map.png: the map of the demo's release with one origin chosen. Needs Chromium and `make demo` before.

python docs/images/make_map.py demo
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

CHOSEN = (-20, 25)
"""Where the chosen zone lies, in pixels from the middle of the origins' map."""


def take(folder: Path, picture: Path) -> None:
    """Open the map of a release folder, zoom in, choose a zone and take the picture."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 800})
        page.goto((folder / "release" / "map.html").resolve().as_uri())
        stage = page.locator(".panel[data-axis=origin] .stage").bounding_box()
        assert stage is not None
        x, y = stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2
        page.mouse.move(x, y)
        for _ in range(2):
            page.mouse.wheel(0, -240)
            page.wait_for_timeout(200)
        page.mouse.click(x + CHOSEN[0], y + CHOSEN[1])
        page.mouse.move(5, 5)
        page.wait_for_timeout(500)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(__file__).with_name("map.png"))
