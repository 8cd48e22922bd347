"""Takes report.png and report-private.png: the demo's reports. Needs Chromium and `make demo` before.

python docs/images/make_report.py demo
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

SOFTWARE = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)


def take(folder: Path, pictures: Path) -> None:
    """Open both reports of a release folder and take a picture of each."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(SOFTWARE))
        page = browser.new_page(viewport={"width": 1280, "height": 1180})
        page.goto((folder / "report.html").resolve().as_uri())
        page.wait_for_timeout(6000)
        page.screenshot(path=pictures / "report.png")
        page.goto((folder / "private" / "report.html").resolve().as_uri())
        page.wait_for_timeout(8000)
        page.evaluate("document.getElementById('maps').scrollIntoView({ behavior: 'instant' })")
        page.wait_for_timeout(1500)
        page.screenshot(path=pictures / "report-private.png")
        browser.close()
    for path in (pictures / "report.png", pictures / "report-private.png"):
        # 256 colours are enough for a page, and a third of the bytes.
        Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(__file__).parent)
