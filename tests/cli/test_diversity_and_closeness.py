"""--l, --l-places and --t: asked for, kept, told, audited, and refused where they cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tripcloak.promises import Promise
from worlds.trips import Row, leaks, some_trips, write_csv

Tripcloak = Callable[..., Any]

STATIONS = ("--origin-place", "from", "--destination-place", "to")
HERE = ("--hierarchy", "h3:9", "--k", "5")


def at_stations(rows: list[Row]) -> list[Row]:
    """Return the trips with the station at each end; some rows name none."""
    named = []
    for number, row in enumerate(rows):
        ends = [f"S{row[f'{end}_lat'][:5]}/{row[f'{end}_lon'][:4]}" for end in ("start", "end")]
        named.append({**row, "from": "" if number % 9 == 0 else ends[0], "to": ends[1]})
    return named


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "rides.csv", at_stations(some_trips(600)))


def test_all_three_are_kept_told_and_audited(tripcloak: Tripcloak, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = tripcloak(
        "anonymise", file, *HERE, *STATIONS, "--l", 3, "--l-places", 2, "--t", 0.6, "--out", out, "--json"
    )
    assert told.code == 0, told.err
    assert told.json["parameters"]["diversity"] == {"tiles": 3, "places": 2}
    assert told.json["parameters"]["t"] == 0.6
    facts = json.loads((out / "release" / "manifest.json").read_text())
    promise = Promise.from_manifest(facts["promise"])
    assert promise.floors == {"tiles": 3, "places": 2}
    assert [part.t for part in promise.by_release] == [0.6]
    assert len(promise.further()) == 3
    readme = (out / "release" / "README.md").read_text()
    page = (out / "release" / "map.html").read_text()
    for words in promise.further():
        assert words in readme
        assert words in page
    audited = tripcloak("audit", out, "--against", file, "--json")
    assert audited.code == 0, audited.out
    measured = tripcloak("metrics", out, "--against", file, "--json")
    assert measured.code == 0, measured.err


def test_an_order_for_more_is_not_met(tripcloak: Tripcloak, file: Path, tmp_path: Path) -> None:
    made = tripcloak("anonymise", file, *HERE, "--l", 3, "--t", 0.6, "--out", tmp_path / "out")
    assert made.code == 0, made.err

    def audited(*order: object) -> Any:
        return tripcloak("audit", tmp_path / "out", "--against", file, *order)

    assert audited("--k", 5, "--l", 3, "--t", 0.6).code == 0
    for order, rule in (("--l", 4), "zones-diverse"), (("--t", 0.5), "destinations-close"):
        told = audited(*order, "--json")
        assert told.code == 1
        assert [finding["rule"] for finding in told.json["findings"] if not finding["ok"]] == [rule]
    assert audited("--l-places", 2).code == 1
    assert audited("--l", 1).code == audited("--t", 1).code == 2


def test_without_them_nothing_is_said(tripcloak: Tripcloak, file: Path, tmp_path: Path) -> None:
    told = tripcloak("anonymise", file, *HERE, "--out", tmp_path / "out", "--json")
    assert not {"diversity", "t"} & set(told.json["parameters"])
    facts = json.loads((tmp_path / "out" / "release" / "manifest.json").read_text())
    assert facts["promise"]["kind"] == "k-anonymity"
    assert not Promise.from_manifest(facts["promise"]).further()


def test_people_read_what_was_promised(tripcloak: Tripcloak, file: Path, tmp_path: Path) -> None:
    told = tripcloak("anonymise", file, *HERE, "--l", 2, "--t", 0.8, "--out", tmp_path / "out")
    words = " ".join((told.out + told.err).replace("│", " ").split())
    assert "at least 2 tiles that occur" in words
    assert "differ from those of all" in words


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--l", 1), 2, "l must be a whole number of at least 2"),
        (("--t", 1), 2, "t is a share of the volume"),
        (("--t", "nan"), 2, "t is a share of the volume"),
        (("--l-places", 3), 2, "--origin-place and --destination-place"),
        (("--l-places", 3, *STATIONS[:2]), 2, "both ends"),
        (("--l-places", 3, *STATIONS[:2], "--destination-place", "nowhere"), 2, "no column 'nowhere'"),
        (("--l", 100_000), 1, "at least 100,000 tiles that occur"),
        (("--t", 0.5, "--time-slot", "1h", "--method", "productcut"), 2, "t-closeness does not know time"),
    ],
)
def test_what_cannot_be_is_refused_and_tells_nothing(
    options: tuple[Any, ...], code: int, words: str, tripcloak: Tripcloak, file: Path, tmp_path: Path
) -> None:
    told = tripcloak("anonymise", file, *HERE, *options, "--out", tmp_path / "out")
    assert told.code == code
    assert words in told.words
    assert not leaks(told.out + told.err, some_trips(600))
    assert not (tmp_path / "out").exists()


def test_station_names_stay_inside(tripcloak: Tripcloak, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert tripcloak("anonymise", file, *HERE, *STATIONS, "--l-places", 2, "--out", out).code == 0
    names = {row["to"] for row in at_stations(some_trips(600))}
    for path in (out / "release").iterdir():
        content = path.read_bytes()
        assert not [name for name in names if name.encode() in content]
