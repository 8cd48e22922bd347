"""Parts and their total from one run: nothing to subtract, because they add up by construction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from tripcloak.flows.anonymise import AnonymisationOutcome, AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against
from tripcloak.flows.keywords import segments
from tripcloak.flows.methods import TwinCut
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError
from tripcloak.ledger.difference import difference
from tripcloak.promises import KAnonymity
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource
from worlds.trips import some_trips, write_csv


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = some_trips(700, people=70)
    people = sorted({row["person_id"] for row in rows})
    for row in rows:
        row["sex"] = "FFM"[people.index(row["person_id"]) % 3]
    return write_csv(tmp_path_factory.mktemp("raw") / "trips.csv", rows)


def made(trips: Path, out: Path, **changes: Any) -> AnonymisationOutcome:
    order: dict[str, Any] = {
        "source": TripSource(paths=(str(trips),), timezone="Europe/Paris"),
        "method": TwinCut(promise=KAnonymity(k=4), suppression_limit=0.15),
        "zoning": Zoning(spec="h3:8"),
        "out": out,
    }
    return anonymise(AnonymisationRequest(**(order | changes)))


def parted_by(*texts: str) -> tuple[SegmentBy, ...]:
    return tuple(SegmentBy.parse(text) for text in texts)


def rows_of(out: Path, table: str) -> dict[tuple[str, ...], int]:
    found = parquet.read_table(out / "release" / f"{table}.parquet").to_pylist()
    keys = [name for name in ("origin", "destination", "segment") if name in found[0]]
    return {tuple(row[name] for name in keys): row["trips"] for row in found}


def told_sums(out: Path) -> dict[tuple[str, ...], int]:
    sums: dict[tuple[str, ...], int] = {}
    for (origin, destination, _), trips in rows_of(out, "segments").items():
        sums[origin, destination] = sums.get((origin, destination), 0) + trips
    return sums


def test_releases_one_by_one_tell_of_few(trips: Path, tmp_path: Path) -> None:
    """What the others are compared with: without protection there is something to find."""
    source = TripSource(paths=(str(trips),))
    for name, where in (("all", None), ("women", "sex = 'F'"), ("men", "sex = 'M'")):
        made(trips, tmp_path / name, source=replace(source, where=where))
    found = difference([tmp_path / name for name in ("all", "women", "men")])
    assert len(found.facts) > 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("by", [("sex",), ("start_time:6h",), ("sex", "start_time:12h")])
@pytest.mark.parametrize("where_safe", [False, True])
def test_a_total_and_its_parts_tell_nothing_together(
    trips: Path, tmp_path: Path, by: tuple[str, ...], where_safe: bool
) -> None:
    method = TwinCut(promise=KAnonymity(k=2), suppression_limit=0.3)
    publish = "both" if by == ("sex",) else "rounded"
    changes = {"every_segment": parted_by(*by), "where_safe": where_safe, "publish": publish}
    made(trips, tmp_path / "out", **changes, method=method)
    found = difference([tmp_path / "out"])
    assert found.safe, found.words()
    assert len(found.releases) > 2
    report = audit_against(tmp_path / "out", (str(trips),))
    assert report.safe, report.broken
    totals, sums = rows_of(tmp_path / "out", "flows"), told_sums(tmp_path / "out")
    if where_safe:
        # Two people are the fewest who may be left in a total, and each makes a trip at least.
        assert all(totals[flow] == n or totals[flow] - n >= 2 for flow, n in sums.items())
    else:
        assert totals == sums


def test_where_it_is_safe_the_zones_are_those_of_everybody(trips: Path, tmp_path: Path) -> None:
    alone = made(trips, tmp_path / "alone")
    told = made(trips, tmp_path / "told", every_segment=parted_by("sex"), where_safe=True)
    every = made(trips, tmp_path / "every", every_segment=parted_by("sex"))
    assert rows_of(tmp_path / "told", "flows") == rows_of(tmp_path / "alone", "flows")
    assert every.release.n_groups < told.release.n_groups == alone.release.n_groups
    assert any("told by segment; the others in totals alone" in note for note in told.notes)
    assert 0 < len(rows_of(tmp_path / "told", "segments")) < 2 * told.release.n_groups


def test_slots_of_the_day_follow_the_clock(tmp_path: Path) -> None:
    """Half past four in UTC is half past six in Paris in summer: another slot."""
    rows = [
        {**row, "start_time": f"2024-05-10 {4 + 6 * (n % 2):02}:30:00Z"}
        for n, row in enumerate(some_trips(60))
    ]
    path = write_csv(tmp_path / "trips.csv", rows)
    night, morning, noon = "00:00-06:00", "06:00-12:00", "12:00-18:00"
    for zone, names in (("UTC", [night, morning]), ("Europe/Paris", [morning, noon])):
        out = tmp_path / names[0][:2]
        source = TripSource(paths=(str(path),), timezone=zone)
        method = TwinCut(promise=KAnonymity(k=2), suppression_limit=0.9)
        one = made(path, out, source=source, every_segment=parted_by("start_time:6h"), method=method)
        promise = one.release.promise
        assert [part.name for part in promise.segments] == [f"start_time={name}" for name in names]
        assert promise.segmented_by == (f"start_time:6h@{zone}",)
        assert audit_against(out, (str(path),)).safe


def test_slots_of_the_day_must_divide_it_and_need_times(tmp_path: Path) -> None:
    for text in ("start_time:5h", "start_time:0h", "start_time:7min"):
        with pytest.raises(InputError, match="divide a day"):
            SegmentBy.parse(text)
    assert [SegmentBy.parse(f"start_time:{text}").minutes for text in ("24h", "90min", "1h")] == [
        1440,
        90,
        60,
    ]
    rows = [{name: row[name] for name in row if name != "start_time"} for row in some_trips(30)]
    path = write_csv(tmp_path / "trips.csv", rows)
    with pytest.raises(InputError, match="need the start of every trip"):
        made(path, tmp_path / "out", every_segment=parted_by("start_time:6h"))


def test_where_it_is_safe_is_about_one_release() -> None:
    asked = {"segment": ("sex",), "segment_where_safe": True}
    with pytest.raises(InputError, match="one release of all segments"):
        segments({**asked, "segment_joint": False})
    assert segments({**asked, "segment_joint": True}) == parted_by("sex")


def test_one_release_alone_needs_several_tables(trips: Path, tmp_path: Path) -> None:
    made(trips, tmp_path / "alone")
    with pytest.raises(InputError, match="not two tables"):
        difference([tmp_path / "alone"])
    with pytest.raises(InputError, match="two folders or more"):
        difference([])


@pytest.mark.parametrize(
    ("people", "told"),
    [
        ((3, 3, 3), (True, True, True)),
        ((3, 4, 2), (False, True, False)),
        ((3, 4, 0), (False, True, False)),
        ((2, 2, 9), (False, False, False)),
        ((2, 2, 2), (False, False, False)),
    ],
)
def test_what_is_not_safe_takes_the_smallest_that_is_with_it(
    people: tuple[int, ...], told: tuple[bool, ...]
) -> None:
    from tripcloak.promises import SegmentsWhereSafe
    from tripcloak.promises.segments import SegmentName

    promise = SegmentsWhereSafe(promise=KAnonymity(k=3, unit="trips"), parts=tuple(map(SegmentName, "abc")))
    trips = [np.array([n]) for n in people]
    found = promise.tells([n >= 3 for n in trips], trips)
    assert tuple(bool(one[0]) for one in found) == told
