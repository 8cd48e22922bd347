"""Takes trajectory-map.png and trajectory-map-follow.png: the map of released trajectories. Needs Chromium.

tripcloak synth cdr --users 2000 --seed 1 --out cdr.parquet
tripcloak trajectories anonymise cdr.parquet --method k-scale --k 5 --out calls
python docs/images/make_trajectory_map.py calls
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

MOMENT = 0.52
"""The time that is shown, as a share of all there is."""


def take(folder: Path, pictures: Path) -> None:
    """Open the map of a release folder and take it twice: all boxes of a moment, and one trajectory."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 820})
        page.goto((folder / "release" / "map.html").resolve().as_uri())
        least, most = page.evaluate("[timeMap.clock.least, timeMap.clock.most]")
        page.evaluate("step => timeMap.clock.go(step)", least + MOMENT * (most - least))
        page.wait_for_timeout(500)
        page.screenshot(path=pictures / "trajectory-map.png")
        # Pseudonyms and their order are drawn anew in every release: choose by what does not change.
        page.evaluate(
            """() => {
                const { first, km2, name } = timeMap.boxes;
                const away = (row) => Math.abs(first[row + 1] - first[row] - 60) + km2[first[row]] / 1e4;
                const rows = [...name.keys()].sort((a, b) => away(a) - away(b));
                timeMap.follow(rows[0]);
                timeMap.near(rows[0]);
                timeMap.visit(first[rows[0]] + 30);
            }"""
        )
        page.wait_for_timeout(500)
        page.screenshot(path=pictures / "trajectory-map-follow.png")
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(__file__).parent)
