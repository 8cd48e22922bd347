"""Takes trajectories-*.png: the page of figures of a release of trajectories. Needs Chromium.

tripcloak synth cdr --users 10000 --out calls.parquet
tripcloak trajectories anonymise calls.parquet --method k-scale --k 2 --out released
python docs/images/make_trajectories.py released
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
WIDTH = 1160
PARTS = {
    "trajectories-accuracy.png": ("How accurate are released samples?", "Where do people live"),
    "trajectories-places.png": ("Where do people live", "How regular are people?"),
    "trajectories-laws.png": ("How regular are people?", None),
}
"""Each picture, and the headings from which and up to which it goes."""


def take(released: Path) -> None:
    """Take the parts of the page one by one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto((released / "private" / "figures.html").resolve().as_uri())
        whole = float(page.evaluate("document.body.scrollHeight"))
        for name, (first, until) in PARTS.items():
            top = _top(page, first)
            bottom = whole if until is None else _top(page, until)
            clip = {"x": 0.0, "y": top, "width": float(WIDTH), "height": bottom - top}
            page.screenshot(path=HERE / name, full_page=True, clip=clip)
        browser.close()


def _top(page: Page, heading: str) -> float:
    box = page.get_by_role("heading", name=heading).first.bounding_box()
    assert box is not None
    return float(box["y"]) - 10


if __name__ == "__main__":
    take(Path(sys.argv[1]))
