"""The bench's own parts: its lines, its clock, and what it asks of the peer packages."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import cases, peers, tasks
from benchmarks.lines import Line, Skipped
from benchmarks.measuring import TookTooLong, city, run
from benchmarks.stations import Stations
from tripcloak import METHODS
from tripcloak.flows.model import by_slot


@pytest.fixture(scope="module")
def small_city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return city(tmp_path_factory.mktemp("city"), 2_000)


def test_a_line_says_whether_its_limit_holds() -> None:
    assert Line("w", 3, 3, "s").ok
    assert not Line("w", 3.1, 3, "s").ok
    assert Line("w", 20, 20, "times", at_least=True).ok
    slow = Line("w", 19.9, 20, "times", at_least=True)
    assert not slow.ok
    assert "| at least 20 times |" in str(slow)
    assert "MISSED" in str(slow)


def test_a_command_past_its_time_is_stopped() -> None:
    with pytest.raises(TookTooLong):
        run([sys.executable, "-c", "import time; time.sleep(60)"], limit_s=0.3)
    assert run([sys.executable, "-c", "print('{}')"], limit_s=60).json() == {}


def test_a_command_that_fails_ends_the_bench() -> None:
    with pytest.raises(SystemExit, match="exit code 3"):
        run([sys.executable, "-c", "raise SystemExit(3)"])


def test_hours_in_one_matrix_are_the_same_hours() -> None:
    country = Stations(tiles=30, trips=800, towns=2)
    for slot, alone in zip(by_slot(country.slots(3)), country.matrices(3), strict=True):
        assert slot.matrix.digest() == alone.digest()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("holder", ["file", *cases.HOLDERS])
def test_frames_and_files_give_the_same_release(small_city: Path, holder: str) -> None:
    found = tasks.door(str(small_city), holder)
    assert found["groups"] == tasks.door(str(small_city), "file")["groups"] > 0
    assert found["cpu_s"] > 0
    assert found["peak_mb"] > 0


def test_every_release_is_written_with_one_row_a_trip(small_city: Path, tmp_path: Path) -> None:
    """What pycanon will find in the file is what the audit found in the release."""
    found = tasks.releases(str(small_city), str(tmp_path))
    assert {"twincut", "productcut", "odkanon"} <= set(found) <= set(METHODS)
    for method, smallest in found.items():
        with (tmp_path / f"{method}.csv").open(encoding="utf-8") as file:
            rows = Counter((row["origin"], row["destination"]) for row in csv.DictReader(file))
        assert min(rows.values()) == smallest >= 10, method


def test_the_peers_get_the_same_trips(small_city: Path, tmp_path: Path) -> None:
    out = tmp_path / "trips.csv"
    assert tasks.ends(str(small_city), str(out)) == {"trips": 2_000}
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert len(rows) == 2_000
    assert set(rows[0]) == {"trip", "origin_lat", "origin_lon", "destination_lat", "destination_lon"}
    assert len({row["trip"] for row in rows}) == 2_000


def test_a_step_that_fails_says_why() -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-input", "anonypy"]
    with pytest.raises(peers.NoPeers, match="anonypy"):
        peers._must(command)


def test_without_packages_the_bench_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(command: list[str]) -> None:
        raise peers.NoPeers("no matching distribution")

    monkeypatch.setattr(peers, "HOME", tmp_path / "venv")
    monkeypatch.setattr(peers, "_must", refused)
    (line,) = peers.peers(tmp_path)
    assert isinstance(line, Skipped)
    assert line.ok
    assert "no matching distribution" in str(line)


def test_the_pins_are_names_and_versions_only() -> None:
    lines = [line for line in peers.PINS.read_text().splitlines() if not line.startswith("#")]
    names = [line.partition("==")[0] for line in lines]
    assert all(line.count("==") == 1 and "/" not in line for line in lines)
    assert set(peers.PACKAGES) <= set(names)
