"""The studio in a real browser, with a real server: the whole road, and what goes wrong on it."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tripcloak.synth import Cdr, write_cdr
from worlds.depth import size

LONG = 120_000
"""Milliseconds that a run may take on a busy machine."""


@dataclass
class Served:
    """A studio as somebody starts it, and the pages that were opened in it."""

    workspace: Path
    browser: Any
    demo: bool = False
    process: Any = None
    address: str = ""
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def start(self) -> None:
        line = [sys.executable, "-m", "tripcloak.cli", "studio", "--no-browser", "--port", "0"]
        line += ["--workspace", str(self.workspace), *(["--demo"] if self.demo else [])]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        told = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", told)
        assert found is not None, told
        self.address = found[0]

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(20)
        self.process.stdout.close()

    def page(self, width: int = 1280) -> Any:
        page = self.browser.new_context(viewport={"width": width, "height": 900}).new_page()
        page.set_default_timeout(LONG)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.address)
        return page


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory) -> Iterator[Served]:
    one = Served(tmp_path_factory.mktemp("studio") / "space", browser, demo=True)
    one.start()
    yield one
    one.end()
    home = one.address.split("?")[0]
    assert [url for url in one.asked if not url.startswith((home, "data:", "blob:"))] == []
    assert [words for words in one.complaints if "404" not in words] == []


def test_the_whole_road_with_twenty_thousand_trips(served):
    page = served.page()
    page.get_by_role("link", name="city.parquet").click()
    page.get_by_role("link", name="Choose what is protected").click()
    page.get_by_label("Zones", exact=True).fill("h3:7")
    page.get_by_label("Zones", exact=True).press("Tab")
    page.get_by_text("On all 20,000 trips").wait_for()
    page.get_by_text("limit 20.0 %").wait_for()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("heading", name="Safe: the audit found every promise kept").wait_for()
    shown = page.frame_locator("iframe.map")
    shown.locator("canvas").first.wait_for()
    page.get_by_text("The same as a command line").click()
    assert "--hierarchy=h3:7" in page.locator("pre").inner_text()
    page.get_by_role("button", name="Audit against the raw input").click()
    page.get_by_role("cell", name="holds", exact=True).first.wait_for()
    assert page.get_by_text("BROKEN").count() == 0
    first = page.url.split("/")[-1]

    page.get_by_role("button", name="Change a setting").click()
    page.get_by_label("Smallest group, k").fill("20")
    page.get_by_label("Smallest group, k").press("Tab")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Lay beside another run").click()
    page.get_by_role("heading", name="The difference").wait_for()
    row = page.get_by_role("row", name=re.compile("^k "))
    assert row.get_by_role("cell").all_inner_texts()[:2] == ["20", "default"]
    assert page.locator("iframe.map").count() == 2
    with page.expect_download() as sent:
        page.goto(f"{served.address.split('?')[0]}#/run/{first}")
        page.get_by_role("link", name="Download the release").click()
    held = zipfile.ZipFile(io.BytesIO(sent.value.path().read_bytes())).namelist()
    assert "flows.csv" in held
    assert not [name for name in held if "private" in name or "groups" in name]


def test_what_is_chosen_for_many_methods_is_taken_from_the_plot(served):
    page = served.page()
    page.goto(f"{served.address.split('?')[0]}#/methods/1")
    page.get_by_label("Methods").fill("twincut,odkanon,oigh")
    page.get_by_label("Zones").fill("h3:7")
    page.get_by_role("button", name="Run all").click()
    dot = page.get_by_role("button", name=re.compile("^Take twincut, k"))
    dot.focus()
    dot.press("Enter")
    page.get_by_role("heading", name="Settings").wait_for()
    assert page.get_by_label("Method", exact=True).input_value() == "twincut"
    assert page.get_by_label("Zones", exact=True).input_value() == "h3:7"


def test_the_whole_road_with_trajectories(served, tmp_path):
    raw = tmp_path / "calls.parquet"
    write_cdr(Cdr(users=size(40, 500), samples=12, days=3), raw)
    page = served.page()
    page.get_by_label("Trajectories: whole paths of people are released").check()
    page.get_by_label("Path on this machine").fill(str(raw))
    page.get_by_role("button", name="Open").click()
    page.get_by_role("link", name="Choose what is protected").click()
    page.get_by_label("Smallest group, k").fill("2")
    page.get_by_label("Smallest group, k").press("Tab")
    row = page.get_by_role("row", name=re.compile("^k = 4"))
    row.wait_for()
    assert re.search(r"\d km \(\+\d+", row.inner_text()), "a larger k costs more"
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("heading", name="Safe: the audit found every promise kept").wait_for()
    page.frame_locator("iframe.map").locator("canvas").first.wait_for()
    page.get_by_role("button", name="Audit against the raw input").click()
    page.get_by_role("cell", name="holds", exact=True).first.wait_for()
    assert page.get_by_text("BROKEN").count() == 0


def test_methods_on_trajectories_are_compared_and_one_is_taken(served, tmp_path):
    raw = tmp_path / "few.parquet"
    write_cdr(Cdr(users=12, samples=8, days=2), raw)
    page = served.page()
    home = served.address.split("?")[0]
    asked = {"path": str(raw), "wing": "trajectories"}
    made = page.request.post(f"{home}api/inputs", data=asked).json()["id"]
    page.goto(f"{home}#/methods/{made}")
    page.get_by_label("Methods").fill("k-scale,w4m")
    page.get_by_role("button", name="Run all").click()
    page.get_by_role("heading", name="Pick one").wait_for()
    inside = page.frame_locator("iframe[title='Comparison of all methods']")
    inside.get_by_role("heading", name=re.compile("method|Method|compared", re.I)).first.wait_for()
    page.get_by_role("button", name="Take k-scale", exact=True).click()
    page.get_by_role("heading", name="Settings").wait_for()
    assert page.get_by_label("Method", exact=True).input_value() == "k-scale"


def test_a_bad_file_is_told_in_words_and_by_keyboard_alone(served, tmp_path):
    (tmp_path / "notes.csv").write_text("colour,taste\nred,sweet\nblue,sour\n")
    page = served.page()
    page.get_by_label("Path on this machine").focus()
    page.keyboard.type(str(tmp_path / "nothing.csv"))
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    assert "there is no file nothing.csv" in page.get_by_role("alert").inner_text()
    page.set_input_files("#file", tmp_path / "notes.csv")
    page.get_by_role("heading", name="notes.csv").wait_for()
    page.get_by_role("alert").wait_for()
    assert "failed" in page.get_by_role("alert").inner_text()
    assert "column" in page.get_by_role("alert").inner_text()


def test_the_whole_road_by_keyboard_alone(served):
    """From the first page to a release: tab until a thing has the focus, and never touch a mouse."""
    page = served.page()

    def go_to(words: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate(FOCUSED) == words:
                return
        raise AssertionError(f"no key leads to {words}")

    page.get_by_role("link", name="city.parquet").wait_for()
    go_to("city.parquet")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Choose what is protected").wait_for()
    go_to("Choose what is protected")
    page.keyboard.press("Enter")
    page.get_by_label("Zones", exact=True).wait_for()
    go_to("Zones")
    page.keyboard.press("Control+A")
    page.keyboard.type("h3:7")
    go_to("Run")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Safe: the audit found every promise kept").wait_for()
    go_to("Download the release")


FOCUSED = """
() => {
  const one = document.activeElement, words = one.labels?.[0]?.textContent ?? one.textContent ?? "";
  return one.tagName === "SUMMARY" ? "" : words.trim().split("\\n")[0].trim();
}
"""
"""The words of what has the focus, of its label or its own; what only opens a group of fields has none."""


def test_a_run_is_cancelled_and_a_second_tab_knows(served):
    page, other = served.page(), served.page()
    slow = {"command": "anonymise", "input": 1, "settings": {"method": "glove-sk", "hierarchy": "h3:9"}}
    made = page.request.post(f"{served.address.split('?')[0]}api/runs", data=slow).json()["id"]
    for tab in (page, other):
        tab.goto(f"{served.address.split('?')[0]}#/run/{made}")
        tab.locator("progress").wait_for()
    page.get_by_role("button", name="Cancel").click()
    for tab in (page, other):
        tab.get_by_text("This run was cancelled.").wait_for()
    assert not (served.workspace / "runs" / str(made) / f"run-{made}").exists()


def test_the_privacy_officer_signs_with_a_key_from_the_page(served, tmp_path):
    pytest.importorskip("cryptography", reason="signing needs cryptography: pip install 'tripcloak[signing]'")
    import tripcloak as tc
    from tripcloak.ground.keys import make_keys
    from tripcloak.ledger.store import init_ledger, open_ledger

    kept = tmp_path / "ledger"
    init_ledger(kept, approvals_needed=1)
    trips = tc.City(trips=2000, people=150).table()
    tc.anonymise(trips, method="oigh", zones="h3:6", ledger=kept, out=tmp_path / "may")
    make_keys(tmp_path / "officer.key", tmp_path / "officer.pub", passphrase="open sesame")
    page = served.page()
    page.goto(f"{served.address.split('?')[0]}#/approval")
    page.get_by_label("Folder of the ledger").fill(str(kept))
    page.get_by_role("button", name="Open").click()
    page.get_by_text("May not be published yet: 0 of 1 approvals.").wait_for()
    page.get_by_text("Judge it").click()
    page.get_by_role("button", name="Approve").click()
    assert "Say your name" in page.get_by_role("alert").inner_text()
    page.get_by_label("Your name").fill("Data Protection")
    page.get_by_label("Path of your private key").fill(str(tmp_path / "officer.key"))
    page.get_by_label("Passphrase of the key").fill("open sesame")
    page.get_by_label("A few words").fill("fine")
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("May be published.").wait_for()
    assert "Data Protection approves: “fine”" in page.locator("ul.said").inner_text()
    ledger = open_ledger(kept)
    assert ledger.faults() == []
    ((one,),) = [release.approvals for release in ledger.releases]
    assert (one.by, one.verdict, one.comment) == ("Data Protection", "approve", "fine")


@pytest.mark.parametrize("width", [1280, 390])
def test_every_view_fits_its_width_and_names_its_fields(served, width):
    page = served.page(width)
    home = served.address.split("?")[0]
    for view in VIEWS:
        page.goto(f"{home}#/{view}")
        page.locator("h1").wait_for()
        page.locator("p[role=status]").wait_for(state="detached")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        nameless = page.evaluate(NAMELESS)
        assert nameless == [], view


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious(served, colours):
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page = served.page()
    page.emulate_media(color_scheme=colours)
    for view in VIEWS:
        page.goto(f"{served.address.split('?')[0]}#/{view}")
        page.locator("h1").wait_for()
        page.locator("p[role=status]").wait_for(state="detached")
        page.evaluate(axe)
        found = page.evaluate("() => axe.run(document, {iframes: false}).then(told => told.violations)")
        bad = [
            (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")
        ]
        assert bad == [], view


VIEWS = ("", "input/1", "settings/1", "methods/1", "approval", "run/1")

NAMELESS = """
[...document.querySelectorAll("input, select, button, iframe, a, svg[role]")]
  .filter(one => one.offsetParent !== null && !one.labels?.length && !one.getAttribute("aria-label"))
  .filter(one => !one.title && !one.textContent.trim()).map(one => one.outerHTML)
"""


def test_after_a_restart_in_mid_run_what_was_done_is_there(browser, tmp_path):
    raw = tmp_path / "trips.csv"
    raw.write_text("start_lat,start_lon,end_lat,end_lon,person\n" + "48.1,17.1,48.2,17.2,a\n" * 40)
    one = Served(tmp_path / "space", browser)
    one.start()
    page = one.page()
    api = f"{one.address.split('?')[0]}api"
    page.request.post(f"{api}/inputs", data={"path": str(raw)})
    made = page.request.post(f"{api}/runs", data={"command": "describe", "input": 1}).json()["id"]
    while (
        "progress" not in (told := page.request.get(f"{api}/runs/{made}").json())
        or told["state"] != "running"
    ):
        pass
    one.end(signal.SIGKILL)
    one.start()
    page = one.page()
    page.get_by_text("interrupted").wait_for()
    folder = one.workspace / "runs" / str(made)
    assert not (folder / f"run-{made}").exists()
    one.end()
    refused = subprocess.run(
        [sys.executable, "-m", "tripcloak.cli", "studio", "--no-browser", "--host", "0.0.0.0"],
        capture_output=True, text=True, check=False, env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip
    assert refused.returncode == 2
    assert "--token" in refused.stderr
    json.dumps(told)
