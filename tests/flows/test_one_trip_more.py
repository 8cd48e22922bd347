"""One trip more that is withheld or dropped changes nothing public, to the last byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tripcloak.flows.anonymise import AnonymisationOutcome
from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.ground.errors import HierarchyError, InputError
from tripcloak.hierarchy.time import Days
from tripcloak.promises import AllOf, AveragePeople, KAnonymity, Promise
from tripcloak.records.source import TripSource
from worlds.requests import Make
from worlds.trips import Row, some_trips, without, write_csv

TOWN = [{**row, "start_time": f"2024-05-{6 + n % 14:02} 08:15:00"} for n, row in enumerate(some_trips(400))]


def more(row: Row = TOWN[0], **changed: str) -> Row:
    """Return a trip of somebody who is not in the town's records."""
    return {**row, "person_id": "one more", **changed}


def public_bytes(outcome: AnonymisationOutcome) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((outcome.out / "release").iterdir())}


@pytest.fixture
def both(make: Make, tmp_path: Path) -> Callable[..., list[AnonymisationOutcome]]:
    """The same order of two inputs: the town, and the town with further rows."""

    def made(further: list[Row], **order: Any) -> list[AnonymisationOutcome]:
        return [
            make(write_csv(tmp_path / f"{name}.csv", TOWN + rows), out=name, **order)
            for name, rows in (("without", []), ("with", further))
        ]

    return made


ABROAD = {"start_lat": "-33.86", "start_lon": "151.2", "end_lat": "-33.9", "end_lon": "151.1"}


@pytest.mark.parametrize("method", ["twincut", "productcut", "odkanon", "oigh"])
def test_a_withheld_trip_abroad(both: Any, method: str) -> None:
    without_it, with_it = both([more(**ABROAD)], method=method, zoning=Zoning(spec="h3:8"), limit=0.15)
    assert with_it.release.suppressed.sum() == without_it.release.suppressed.sum() + 1
    files, others = public_bytes(without_it), public_bytes(with_it)
    facts, other_facts = (json.loads(one["manifest.json"]) for one in (files, others))
    if facts["bound"] is not None:
        # The best that is possible with a trip more is not the same, in whole percent.
        for told, named in ((facts, files), (other_facts, others)):
            told["bound"] = None
            for name in ("README.md", "manifest.json"):
                named.pop(name)
                told["files"].pop(name, None)
        assert facts == other_facts
    assert files == others


def test_a_trip_of_an_earlier_year(both: Any) -> None:
    """It would make all time two years longer; it is left out, and the owner is told."""
    zoning = Zoning(spec="h3:7", time_slot=60)
    without_it, with_it = both(
        [more(start_time="2022-02-02 08:15:00")], method="productcut", zoning=zoning, limit=0.15
    )
    assert public_bytes(without_it) == public_bytes(with_it)
    assert with_it.cleaning.dropped == {"outside_period": 1}
    assert [note for note in with_it.notes if "period=" in note]
    assert with_it.zoning.period == Days.read("2024-05-06/2024-05-19")


def test_trips_beyond_a_quadtrees_area(both: Any) -> None:
    """Fifteen people go north; twenty must be in every flow, so the area does not show them."""
    north = [more(person_id=f"north {n}", end_lat=f"{50 + n / 10}") for n in range(15)]
    without_it, with_it = both(north, k=20, zoning=Zoning(spec="quadtree:5"), limit=0.15)
    assert with_it.cleaning.dropped == {"outside_area": 15}
    assert public_bytes(without_it) == public_bytes(with_it)


def test_dropped_rows_of_one_person(both: Any) -> None:
    """Twenty-five rows of one person, and of four: no number, and no words in place of one."""
    far = [more(person_id=f"far {n % 4}", end_lat="10") for n in range(25)] + [more(end_lat="nan")] * 25
    without_it, with_it = both(far, zoning=Zoning(spec="h3:8"), box=(48.0, 2.0, 49.0, 3.0))
    assert with_it.cleaning.dropped == {"missing_coordinate": 25, "outside_box": 25}
    assert with_it.cleaning.people == {"missing_coordinate": 1, "outside_box": 4}
    assert public_bytes(without_it) == public_bytes(with_it)


# --- what is found from the data, at the very edge ----------------------------------------------------


def found(tmp_path: Path, rows: list[Row], promise: Promise | None = None, **zoning: Any) -> Any:
    file = write_csv(tmp_path / "trips.csv", rows)
    asked = {} if promise is None else {"promise": promise}
    return read_matrix(TripSource(paths=(str(file),)), Zoning(**{"spec": "h3:7", **zoning}), **asked)


def earlier(people: int, trips: int = 1, **changed: str) -> list[Row]:
    """Return trips of so many people four weeks before all others."""
    return [
        more(person_id=f"early {n % people}", start_time="2024-04-10 08:00:00", weight="2.0", **changed)
        for n in range(people * trips)
    ]


@pytest.mark.parametrize(
    ("promise", "rows", "first"),
    [
        (KAnonymity(k=5), earlier(4, trips=3), "2024-05-06"),
        (KAnonymity(k=5), earlier(5), "2024-04-08"),
        (KAnonymity(k=5, unit="trips"), earlier(1, trips=4), "2024-05-06"),
        (KAnonymity(k=5, unit="trips"), earlier(5), "2024-04-08"),
        (KAnonymity(k=11, unit="population"), earlier(5), "2024-05-06"),
        (KAnonymity(k=10, unit="population"), earlier(5), "2024-04-08"),
        (AllOf(promises=(KAnonymity(k=5), KAnonymity(k=11, unit="population"))), earlier(5), "2024-05-06"),
        (AllOf(promises=(KAnonymity(k=6), KAnonymity(k=10, unit="population"))), earlier(5), "2024-05-06"),
        (AveragePeople(k=5), earlier(1), "2024-05-06"),
    ],
)  # fmt: skip
def test_a_period_is_what_as_many_reach_as_every_flow_must_hold(
    promise: Promise, rows: list[Row], first: str, tmp_path: Path
) -> None:
    reading = found(tmp_path, TOWN + rows, promise, time_slot=60)
    assert reading.zoning.period.dates == (first, "2024-05-19")
    left_out = {"outside_period": len(rows)} if first == "2024-05-06" else {}
    assert reading.trips.cleaning.dropped == left_out
    assert reading.trips.matrix.times.zones.tiles[-1] == (2 if left_out else 6) * 7 * 24


def test_a_period_that_is_asked_for_is_taken_whoever_reaches_it(tmp_path: Path) -> None:
    rows = TOWN + earlier(1)
    reading = found(tmp_path, rows, time_slot=60, period=Days.read("2024-04-01/2024-05-12"))
    tree = reading.trips.matrix.times
    assert (str(tree.zones.ids[-1]), int(tree.zones.tiles[-1])) == ("all time", 6 * 7 * 24)
    later = sum(row["start_time"] >= "2024-05-13" for row in rows)
    assert reading.trips.cleaning.dropped == {"outside_period": later}
    assert not [note for note in reading.trips.notes if "period=" in note]
    again = Zoning.from_dict(reading.zoning.to_dict())
    assert again == reading.zoning


def test_folded_slots_and_slots_apart_need_no_period(tmp_path: Path) -> None:
    for how in ({"fold": "week"}, {"apart": True}):
        assert found(tmp_path, TOWN + earlier(1), time_slot=60, **how).zoning.period is None


def test_too_few_for_a_period_are_asked_for_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"500 travellers or more.*period="):
        found(tmp_path, TOWN, KAnonymity(k=500), time_slot=60)
    apart = [{**row, "person_id": row["start_time"][:10]} for row in TOWN]
    with pytest.raises(InputError, match=r"too few travel at the same time.*period="):
        found(tmp_path, apart, KAnonymity(k=13), time_slot=60)
    with pytest.raises(InputError, match="no slots of time"):
        Zoning(period=Days.read("2024-04-01/2024-05-12"))
    for text in ("2024-05-12/2024-04-01", "2024-05-12", "2024-02-30/2024-03-01", "soon/later"):
        with pytest.raises(HierarchyError, match="first and its last day"):
            Days.read(text)


@pytest.mark.parametrize(
    ("k", "far", "north"), [(20, 19, 48.9), (20, 20, 57.15), (5, 4, 48.9), (5, 5, 57.15)]
)
def test_an_area_is_what_as_many_reach_as_every_flow_must_hold(
    k: int, far: int, north: float, tmp_path: Path
) -> None:
    rows = [more(person_id=f"north {n}", end_lat=f"{57.12 + n / 10}") for n in range(far)]
    reading = found(tmp_path, TOWN + rows, KAnonymity(k=k), spec="quadtree:5")
    assert reading.zoning.area[2] == north
    rows = without(rows, "person_id")
    reading = found(tmp_path, without(TOWN, "person_id") + rows, KAnonymity(k=k), spec="quadtree:5")
    assert reading.zoning.area[2] == north
