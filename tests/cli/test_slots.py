"""tripcloak anonymise --slot and --fold: one matrix per slot, the clock, and what is refused."""

from __future__ import annotations

import csv
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tripcloak.flows.methods import NestedCut, SlotBySlot
from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.promises import KAnonymity
from tripcloak.records.source import TripSource
from worlds.trips import Row, leaks, some_trips, without, write_csv

QUICK = ("--k", 3, "--hierarchy", "h3:7")
PERIOD_DAYS = {"day": 1, "week": 7, "2weeks": 14}


def flows(out: Path) -> list[Row]:
    with (out / "release" / "flows.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def starting(rows: list[Row], *times: str) -> list[Row]:
    """Return the rows with these start times, in turn."""
    return [{**row, "start_time": times[at % len(times)]} for at, row in enumerate(rows)]


def test_every_slot_is_a_matrix_of_its_own(
    tripcloak: Any, tmp_path: Path, trips: Path, rows: list[Row]
) -> None:
    out = tmp_path / "out"
    told = tripcloak("anonymise", trips, *QUICK, "--slot", "1d", "--out", out, "--json")
    assert (told.code, told.err) == (0, "")
    found = told.json
    assert found["method"] == "twincut"
    clock = {"time_slot_minutes": 1440, "slots": "apart"}
    assert {name: found["parameters"][name] for name in clock} == clock
    assert found["metrics"]["G_time"] == 1
    assert found["homogeneous"] is False
    assert {flow["time"] for flow in flows(out)} <= {row["start_time"][:10] for row in rows}
    assert found["zones"]["times"] == len({flow["time"] for flow in flows(out)})
    told = tripcloak("audit", out, "--against", trips)
    assert told.code == 0
    assert not leaks(told.out + (out / "release" / "flows.csv").read_text(), rows)


def test_what_people_see_names_the_times(tripcloak: Any, tmp_path: Path, trips: Path) -> None:
    told = tripcloak(
        *("anonymise", trips, *QUICK, "--slot", "6h", "--fold", "day", "--method", "odkanon"),
        *("--out", tmp_path / "out"),
    )
    assert (told.code, told.err) == (0, "")
    assert re.search(r"times\s*│\s*3 ", told.out)  # nobody travels before ten
    readme = (tmp_path / "out" / "release" / "README.md").read_text()
    assert "every slot was anonymised on its own" in " ".join(readme.split())


SLOTS = ("--slot", "1h")
AXIS = ("--method", "productcut", "--time-slot", "1h")


@pytest.mark.parametrize(
    ("fold", "options", "name"),
    [
        ("day", SLOTS, r"T\d\d"),
        ("week", SLOTS, r"[1-7]-[A-Z][a-z]{2} T\d\d"),
        ("2weeks", SLOTS, r"[AB] [1-7]-[A-Z][a-z]{2} T\d\d"),
        ("week", AXIS, r"[1-7]-[A-Z][a-z]{2}( T\d\d)?"),
    ],
)
def test_a_folded_release_knows_no_dates(
    tripcloak: Any, tmp_path: Path, rows: list[Row], fold: str, options: tuple[str, ...], name: str
) -> None:
    """Dates moved by whole periods change nothing."""
    times = [f"{row['start_time'][:11]}{10 + at % 2}:30:00" for at, row in enumerate(rows)]
    moved = [later(time, PERIOD_DAYS[fold] * (7 * at % 5)) for at, time in enumerate(times)]
    tables = []
    for number, some in enumerate((times, moved)):
        path = write_csv(tmp_path / f"{number}.csv", starting(rows, *some))
        out = tmp_path / f"out{number}"
        order = ("anonymise", path, "--k", 2, "--hierarchy", "h3:6", *options, "--fold", fold)
        told = tripcloak(*order, "--suppress", 0.4, "--out", out, "--json")
        assert told.code == 0, told.words
        assert told.json["parameters"]["fold"] == fold
        tables.append((out / "release" / "flows.csv").read_text())
    assert tables[0] == tables[1]
    assert tripcloak("audit", out, "--against", path).code == 0
    released = [flow["time"] for flow in flows(out)]
    assert any(re.fullmatch(name, time) for time in released)
    assert not any(re.search(r"\d{4}-", time) for time in released)


def later(time: str, days: int) -> str:
    return str(datetime.fromisoformat(time) + timedelta(days=days))


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), fold=st.sampled_from(sorted(PERIOD_DAYS)))
def test_moving_trips_by_whole_periods_gives_the_same_release(
    tmp_path: Path, data: st.DataObject, fold: str
) -> None:
    rows = some_trips(60, seed=data.draw(st.integers(0, 99)), people=9)
    periods = data.draw(st.lists(st.integers(-60, 60), min_size=len(rows), max_size=len(rows)))
    moved = [
        later(row["start_time"], PERIOD_DAYS[fold] * number)
        for row, number in zip(rows, periods, strict=True)
    ]
    method = SlotBySlot.of(NestedCut(promise=KAnonymity(k=2), suppression_limit=0.9))
    found = []
    for some in (rows, starting(rows, *moved)):
        path = write_csv(tmp_path / "trips.csv", some)
        place = Zoning(spec="h3:6", time_slot=360, fold=fold, apart=True)
        matrix = read_matrix(TripSource(paths=(str(path),)), place).trips.matrix
        release = method.anonymise(matrix)
        found.append((matrix.digest(), release.group_of_flow.tolist(), release.trips.tolist()))
    assert found[0] == found[1]


def test_where_clocks_are_put_back_both_passes_of_the_hour_hide_together(
    tripcloak: Any, tmp_path: Path
) -> None:
    """In Paris it was half past two twice on 27 October 2024: at 00:30 and at 01:30 UTC."""
    rows = [{**row, "person_id": f"p{at}"} for at, row in enumerate(some_trips(12))]
    path = write_csv(tmp_path / "trips.csv", starting(rows, "2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z"))
    order = ("anonymise", path, "--k", 10, "--hierarchy", "h3:3", "--slot", "1h")
    told = tripcloak(*order, "--timezone", "Europe/Paris", "--out", tmp_path / "paris", "--json")
    assert told.code == 0, told.words
    assert [(flow["time"], flow["trips"]) for flow in flows(tmp_path / "paris")] == [("2024-10-27T02", "12")]
    assert tripcloak("audit", tmp_path / "paris", "--against", path).code == 0
    # By the clock of Greenwich these are two hours of six people each.
    told = tripcloak(*order, "--out", tmp_path / "utc")
    assert told.code == 1
    assert "some slots of time, taken whole, do not hold at least 10 people" in told.words
    assert "--fold" in told.words
    assert not (tmp_path / "utc").exists()


def test_where_clocks_are_put_forward_the_missing_hour_has_no_slot(tripcloak: Any, tmp_path: Path) -> None:
    """In Paris clocks went from two to three on 31 March 2024, at 01:00 UTC."""
    rows = [{**row, "person_id": f"p{at}"} for at, row in enumerate(some_trips(18))]
    times = ("2024-03-31T00:30:00Z", "2024-03-31T01:30:00Z", "2024-03-31 02:30:00")
    path = write_csv(tmp_path / "trips.csv", starting(rows, *times))
    order = ("anonymise", path, "--k", 5, "--hierarchy", "h3:3", "--slot", "1h", "--timezone", "Europe/Paris")
    for fold, names in ((None, ["2024-03-31T01", "2024-03-31T03"]), ("day", ["T01", "T03"])):
        out = tmp_path / f"out-{fold}"
        told = tripcloak(*order, *(() if fold is None else ("--fold", fold)), "--out", out, "--json")
        assert told.code == 0, told.words
        # A clock time that never was counts as the hour after.
        assert [(flow["time"], flow["trips"]) for flow in flows(out)] == list(
            zip(names, ("6", "12"), strict=True)
        )
        assert tripcloak("audit", out, "--against", path).code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--fold week", "no slots of time to fold or keep apart; give their length (--slot)"),
        ("--slot 1h --time-slot 1h", "--slot keeps slots apart and --time-slot makes time an axis"),
        ("--slot 1h --fold month", "one of day, week, 2weeks; found 'month'"),
        ("--slot 7min", "divisor of 60 minutes"),
        ("--slot 5h", "whole hours that divide a day"),
        ("--slot soon", "takes a time such as 15min, 1h or 1d"),
        ("--slot 1h --time-weight 2", "give their length with --time-slot"),
        ("--slot 1h --method mondrian", "mondrian cannot be run slot by slot"),
        ("--slot 1h --method laplace --epsilon 1", "laplace cannot be run slot by slot"),
        ("--slot 1h --t 0.5", "t-closeness does not know slots of time"),
        ("--slot 1h --start-time none", "--start-time"),
    ],
)
def test_what_is_wrong_is_named(
    tripcloak: Any, untouched: Any, tmp_path: Path, trips: Path, options: str, words: str
) -> None:
    with untouched():
        told = tripcloak("anonymise", trips, *QUICK, "--out", tmp_path / "out", *options.split())
    assert (told.code, told.out) == (2, "")
    assert words in told.words


def test_an_input_without_times_is_refused(tripcloak: Any, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "trips.csv", without(some_trips(50), "start_time"))
    told = tripcloak("anonymise", path, "--slot", "1h", "--out", tmp_path / "out")
    assert told.code == 2
    assert "slots of time (--slot, --time-slot) need the start of every trip" in told.words


def test_segments_and_slots_go_together_apart(tripcloak: Any, tmp_path: Path, rows: list[Row]) -> None:
    ids = sorted({row["person_id"] for row in rows})
    parted = [{**row, "side": "ab"[ids.index(row["person_id"]) % 2]} for row in rows]
    path = write_csv(tmp_path / "parted.csv", parted)
    options = ("--segment", "side", "--slot", "6h", "--fold", "day", "--draws", 0)
    found = tripcloak("anonymise", path, *QUICK, *options, "--out", tmp_path / "out", "--json").json
    assert list(found["segments"]) == ["side=a", "side=b"]
    assert all(one["parameters"]["slots"] == "apart" for one in found["segments"].values())
