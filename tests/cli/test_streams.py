"""What goes to which stream: JSON alone on stdout, progress on stderr and only for a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worlds.trips import write_csv, write_zones, zone_trips

COMMAND = (sys.executable, "-m", "tripcloak.cli")
MEASURES = ("G", "G_observed", "E", "D", "S", "C_DM", "C_AVG", "GDM_mean", "GDM_median", "CPC")


def test_the_json_of_anonymise_keeps_its_contract(real_tripcloak, tmp_path, trips):
    told = real_tripcloak(
        *("anonymise", trips, "--method", "odkanon", "--k", 10, "--unit", "travellers", "--suppress", 0.1),
        *("--hierarchy", "h3:10", "--out", tmp_path / "out", "--json"),
    )
    assert (told.code, told.err) == (0, "")
    found = told.json
    assert found["method"] == "odkanon"
    wanted = {"k": 10, "unit": "travellers", "suppress": 0.1, "hierarchy": "h3:10", "levels": 3}
    assert {name: found["parameters"][name] for name in wanted} == wanted
    assert type(found["groups"]) is int
    assert set(found["zones"]) == {"origins", "destinations"}
    assert all(type(number) is int for number in found["zones"].values())
    assert set(MEASURES) <= set(found["metrics"])
    assert all(isinstance(found["metrics"][name], int | float) for name in MEASURES)
    assert found["audit"]["safe"] is True
    assert found["audit"]["smallest_support"] >= 10
    assert found["bound"] is None
    assert {"read", "solve", "write"} <= set(found["seconds"])
    assert all(seconds >= 0 for seconds in found["seconds"].values())


def test_a_method_with_a_certificate_tells_its_bound(tripcloak, tmp_path, trips):
    found = tripcloak("anonymise", trips, "--method", "productcut", "--out", tmp_path / "out", "--json").json
    assert {"value", "gap"} <= set(found["bound"])
    assert 0 <= found["bound"]["value"] <= found["metrics"]["G"] * (1 + 1e-9)
    assert found["bound"]["gap"] >= 0


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ([], "travellers"),
        (["--person", "none"], "trips"),
        (["--unit", "trips"], "trips"),
        (["--unit", "population", "--k", "500"], "population"),
        (["--unit", "travellers, population", "--k-population", "900"], "travellers,population"),
        (["--k-population", "auto"], "travellers,population"),
    ],
)
def test_the_unit_that_was_used_is_told(tripcloak, tmp_path, trips, options, unit):
    found = tripcloak("anonymise", trips, *options, "--out", tmp_path / "out", "--json").json
    assert found["parameters"]["unit"] == unit
    assert list(found["audit"]["by_unit"]) == unit.split(",")


@pytest.mark.parametrize("command", ["describe", "metrics", "audit", "methods"])
def test_json_is_one_object_and_nothing_else(tripcloak, tmp_path, trips, command):
    assert tripcloak("anonymise", trips, "--out", tmp_path / "out").code == 0
    arguments = {
        "describe": [trips],
        "metrics": [tmp_path / "out", "--against", trips],
        "audit": [tmp_path / "out", "--against", trips],
        "methods": [],
    }
    told = tripcloak(command, *arguments[command], "--json")
    assert (told.code, told.err) == (0, "")
    assert isinstance(told.json, dict)


@pytest.mark.parametrize("json_flag", [[], ["--json"]])
def test_stderr_stays_empty_when_it_is_no_terminal(tripcloak, tmp_path, trips, json_flag):
    told = tripcloak("anonymise", trips, "--out", tmp_path / "out", *json_flag)
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("{") == bool(json_flag)


def test_names_that_look_like_markup_are_printed_as_they_are(tripcloak, tmp_path, rows):
    columns = {name: f"[{name}]" if name == "weight" else name for name in rows[0]}
    file = write_csv(tmp_path / "a[b] :smile:.csv", [{columns[n]: v for n, v in row.items()} for row in rows])
    out = tmp_path / "[bold]out[/red]"
    told = tripcloak("anonymise", file, "--weight", "[weight]", "--out", out)
    assert told.code == 0
    assert f"{out / 'release'}" in told.out
    told = tripcloak("describe", file, "--weight", "[weight]")
    assert re.search(r"│ \[weight\] +│ people a trip stands for +│ --weight \[weight\] says so", told.out)


@pytest.mark.parametrize("form", [["--json"], []], ids=["JSON", "tables"])
def test_a_reader_that_goes_away_is_no_error(trips, form):
    command = [*COMMAND, "describe", str(trips), *form]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 0


def on_a_terminal(*arguments: object) -> tuple[int, str, str]:
    """Run a command whose stderr is a terminal; return its code, its stdout and what the terminal saw."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    seen = b""
    # Reading fails when the last writer has closed its end.
    try:
        while piece := os.read(ours, 4096):
            seen += piece
    except OSError:
        pass
    os.close(ours)
    assert process.stdout is not None
    out = process.stdout.read()
    return process.wait(timeout=60), out, seen.decode()


SLOW = """
import time
from tripcloak.cli import main
from tripcloak.flows.methods import odkanon

whole = odkanon.ODkAnon.solve

def slowly(self, matrix, promise, progress):
    solution = whole(self, matrix, promise, progress)
    time.sleep(1.5)
    return solution

odkanon.ODkAnon.solve = slowly
main()
"""


def test_a_terminal_sees_bars_with_numbers(tmp_path, trips, monkeypatch):
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    monkeypatch.setattr(sys.modules[__name__], "COMMAND", (sys.executable, str(script)))
    code, out, seen = on_a_terminal(
        *("anonymise", trips, "--out", tmp_path / "out", "--method", "odkanon", "--json")
    )
    assert code == 0
    assert json.loads(out)["audit"]["safe"] is True
    assert "reading trips" in seen
    assert re.search(r"searching the stopping step.*\d+ of \d+", seen, re.DOTALL)
    assert re.search(r"0:00:01", seen)
    # What was drawn is wiped when all is done.
    assert seen.rstrip().endswith(("\x1b[2K", "\x1b[?25h"))


def test_progress_goes_through_every_step_in_order(tmp_path, trips):
    from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
    from tripcloak.flows.methods import ODkAnon
    from tripcloak.records.source import TripSource

    steps: list[tuple[str, int, int | None]] = []
    order = AnonymisationRequest(
        source=TripSource(paths=(str(trips),)), method=ODkAnon(), out=tmp_path / "out"
    )
    anonymise(order, lambda *step: steps.append(step))
    names = list(dict.fromkeys(name for name, _, _ in steps))
    assert names == ["reading trips", *names[1:-3], "auditing", "measuring", "writing the release"]
    assert all(total is None or 0 <= done <= total for _, done, total in steps)
    assert [done for name, done, _ in steps if name == "reading trips"][-1] == 400


def test_zones_and_numbers_can_be_read_by_people(tripcloak, tmp_path):
    zones, file = write_zones(tmp_path / "zones.csv"), write_csv(tmp_path / "trips.csv", zone_trips())
    order = ("anonymise", file, "--hierarchy", "dendrogram", "--zones", zones, "--out", tmp_path / "out")
    told = tripcloak(*order)
    assert told.code == 0
    for words in ("rows read", "protected", "at least 10 people", "released flows", "safe", "private"):
        assert words in told.out
    assert "Note: there is no start time" in told.out


def test_the_result_comes_in_plain_words_first_and_letters_have_their_meaning(tripcloak, tmp_path, trips):
    told = tripcloak("anonymise", trips, "--hierarchy", "h3:8", "--out", tmp_path / "out")
    first, size, moved, withheld, proven = told.out.splitlines()[:5]
    assert "every flow holds at least 10 people" in first
    assert "km across" in size or "m across" in size
    assert "m on average (GDM)" in moved
    assert "of the trips are withheld (" in withheld
    assert "best possible" in proven
    assert "tiles in the two zones of a released trip" in " ".join(told.out.replace("│", " ").split())
    readme = (tmp_path / "out" / "release" / "README.md").read_text()
    typical = readme.index("A typical zone covers")
    assert typical < readme.index("Released flows:")
    # What a reader may know is the band, never the exact share or the metres.
    assert withheld.partition("%")[0] not in readme
    assert "GDM" not in readme


def test_the_clock_of_a_run_is_honest(tripcloak, tmp_path, trips):
    started = time.perf_counter()
    found = tripcloak("anonymise", trips, "--out", tmp_path / "out", "--json").json
    assert sum(found["seconds"].values()) <= time.perf_counter() - started
    assert Path(found["out"]) == tmp_path / "out"
