"""Takes the pictures of the studio (studio-*.png): a made-up city on its way from a file to a release.

python docs/images/make_studio.py (needs Chromium and the extras studio and dev)
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tripcloak.synth import Cdr, write_cdr

HERE = Path(__file__).parent
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
LONG = 300_000


def main() -> None:
    """Start a studio, walk the road, and take a picture of every view."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_cdr(Cdr(users=300, samples=30, days=7), home / "calls.parquet")
        program = [sys.executable, "-m", "tripcloak.cli"]
        subprocess.run(
            [*program, "ledger", "init", str(home / "ledger"), "--needs-approvals", "1"], check=True
        )
        line = [*program, "studio", "--demo", "--no-browser", "--port", "0", "--workspace", folder]
        own = {**os.environ, "HOME": folder}
        studio = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=own)
        assert studio.stdout is not None
        found = re.search(r"http\S+", studio.stdout.readline())
        assert found is not None
        path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=path, args=["--no-sandbox", "--disable-gpu"]
                )
                walk(browser, found[0])
        finally:
            studio.terminate()
            studio.wait(30)


def walk(browser: Any, address: str) -> None:
    """Take the pictures, one view after the other."""
    home = address.split("?", maxsplit=1)[0]

    def opened(**said: Any) -> Any:
        page = browser.new_context(**said).new_page()
        page.set_default_timeout(LONG)
        page.goto(address)
        return page

    page = opened(viewport=WIDE)
    page.get_by_role("link", name="city.parquet").click()
    page.get_by_role("link", name="Choose what is protected").wait_for()
    page.locator(".towns text").first.wait_for()
    taken(page, "data")
    page.get_by_role("link", name="Choose what is protected").click()
    page.get_by_label("Zones", exact=True).fill("h3:8")
    page.get_by_label("Zones", exact=True).press("Tab")
    page.get_by_text("limit 20.0 %").wait_for()
    taken(page, "settings")
    runs = []
    for k in ("", "20"):
        page.get_by_label("Smallest group, k").fill(k)
        page.get_by_label("Smallest group, k").press("Tab")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("heading", name="Safe: the audit").wait_for()
        runs.append(page.url.split("/")[-1])
        if not k:
            settled(page)
            taken(page, "result")
        page.get_by_role("button", name="Change a setting").click()
    page.goto(f"{home}#/beside/{runs[0]}/{runs[1]}")
    page.get_by_role("heading", name="The difference").wait_for()
    settled(page)
    taken(page, "beside")
    page.goto(f"{home}#/methods/1")
    page.get_by_label("Methods").fill("twincut,productcut,odkanon,oigh,atg-dual")
    page.get_by_label("Zones").fill("h3:8")
    page.get_by_role("button", name="Run all").click()
    page.get_by_role("heading", name="Pick one").wait_for()
    taken(page, "methods")
    followed(page, home)
    approved(page, home)
    small = opened(viewport=PHONE, color_scheme="dark")
    small.goto(f"{home}#/run/{runs[0]}")
    small.get_by_role("heading", name="Safe: the audit").wait_for()
    settled(small)
    taken(small, "phone")


def followed(page: Any, home: str) -> None:
    """Take the picture of what a choice costs people whose trajectories are released."""
    asked = {"path": "~/calls.parquet", "wing": "trajectories"}
    made = page.request.post(f"{home}api/inputs", data=asked).json()["id"]
    page.goto(f"{home}#/settings/{made}")
    page.get_by_role("row", name=re.compile("^k = 10")).wait_for()
    taken(page, "trajectories")


def approved(page: Any, home: str) -> None:
    """Take the picture of two releases of the same people that wait for the privacy officer."""
    for title, k in (("Trips of September", 10), ("The same with a larger k", 20)):
        page.goto(f"{home}#/settings/1")
        asked = {"hierarchy": "h3:7", "ledger": "~/ledger", "title": title, "k": k}
        run = page.request.post(
            f"{home}api/runs", data={"command": "anonymise", "input": 1, "settings": asked}
        ).json()["id"]
        page.goto(f"{home}#/run/{run}")
        page.get_by_role("heading", name="Safe: the audit").wait_for()
    page.goto(f"{home}#/approval")
    page.get_by_label("Folder of the ledger").fill("~/ledger")
    page.get_by_role("button", name="Open").click()
    page.get_by_text("Look at it").first.click()
    page.get_by_text("What is not promised").wait_for()
    page.get_by_text("Judge it").first.click()
    taken(page, "approval")


def settled(page: Any) -> None:
    """Wait until the maps of a view are drawn."""
    for place in range(page.locator("iframe.map").count()):
        page.frame_locator("iframe.map").nth(place).locator("canvas").first.wait_for()
    page.wait_for_timeout(1500)


def taken(page: Any, name: str) -> None:
    """Write a picture of what is on the screen."""
    page.mouse.move(2, 2)
    page.evaluate("document.activeElement.blur()")
    path = HERE / f"studio-{name}.png"
    page.screenshot(path=path)
    # 256 colours are enough for a page, and a third of the bytes.
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
