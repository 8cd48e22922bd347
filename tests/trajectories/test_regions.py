"""Where fixes span the world, regions are proposed that k people reach, and released each by itself."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.ground.errors import InputError, OutputExistsError, TripcloakError
from tripcloak.records.area import Area
from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
from tripcloak.trajectories.checking import audit_trajectories_against
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource
from tripcloak.trajectories.reading.projection import (
    MOST_REGIONS,
    Cells,
    choose_region,
    propose_regions,
    within_box,
)
from tripcloak.trajectories.reading.reading import describe_fixes
from tripcloak.trajectories.regions import anonymise_regions, half_open, read_regions, refuse_overlap
from worlds.fleets import NOON, Fix, fixes_csv
from worlds.folders import contents


def cells(*rows: tuple[int, int, int]) -> Cells:
    """Return cells by corner and people; everybody has ten fixes there."""
    south, west, people = (np.array(column) for column in zip(*rows, strict=True))
    return Cells(south, west, people * 10, people)


def test_neighbouring_cells_are_one_region_and_far_ones_are_others() -> None:
    found = propose_regions(cells((40, -75, 30), (40, -74, 25), (41, -74, 12), (51, -1, 20)))
    assert found == ((40.0, -75.0, 42.0, -73.0), (51.0, -1.0, 52.0, 0.0))


@pytest.mark.parametrize(("people", "k", "regions"), [(9, 5, 1), (10, 5, 2), (19, 20, 1), (20, 20, 2)])
def test_a_region_follows_from_what_k_people_reach_and_ten(people: int, k: int, regions: int) -> None:
    assert len(propose_regions(cells((40, -75, 40), (51, -1, people)), k)) == regions


def test_stray_fixes_neither_make_a_region_nor_move_its_edges() -> None:
    town = propose_regions(cells((40, -75, 300)))
    assert propose_regions(cells((40, -75, 300), (41, -75, 9), (0, 0, 9), (-80, 179, 1))) == town


def test_a_region_may_lie_across_the_antimeridian() -> None:
    assert propose_regions(cells((-18, 179, 20), (-18, -180, 30))) == ((-18.0, 179.0, -17.0, -179.0),)
    assert propose_regions(cells((-18, 179, 20))) == ((-18.0, 179.0, -17.0, 180.0),)


def test_a_place_of_few_beside_a_large_one_is_not_worth_a_region() -> None:
    assert len(propose_regions(cells((40, -75, 100), (51, -1, 20)))) == 2
    assert len(propose_regions(cells((40, -75, 100), (51, -1, 19)))) == 1
    # Nine in ten are in a region already.
    assert len(propose_regions(cells((40, -75, 100), (40, -74, 100), (40, -73, 43), (51, -1, 27)))) == 1
    assert len(propose_regions(cells((40, -75, 100), (40, -74, 100), (40, -73, 42), (51, -1, 27)))) == 2


def test_nobody_anywhere_makes_no_region() -> None:
    assert propose_regions(cells((40, -75, 9))) == ()


ANYWHERE = st.lists(
    st.tuples(st.integers(-90, 89), st.integers(-180, 179), st.integers(1, 40)),
    min_size=1,
    max_size=60,
    unique_by=lambda row: row[:2],
)


@given(rows=ANYWHERE, near=st.booleans())
def test_regions_never_overlap_and_each_is_served_by_one_projection(
    rows: list[tuple[int, int, int]], near: bool
) -> None:
    rows = [(south % 20, west % 25, people) for south, west, people in rows] if near else rows
    made = cells(*{row[:2]: row for row in rows}.values())
    found = propose_regions(made)
    refuse_overlap(found)
    assert len(found) <= MOST_REGIONS
    for box in found:
        assert (made.people[within_box(made.south + 0.5, made.west + 0.5, box)] >= 10).any()
        assert choose_region(made, box).box is None


def town(north: float, east: float, people: range) -> list[Fix]:
    """Return people who walk about a town for a while, some a little later than others."""
    return [
        (
            f"p{who}",
            NOON + int(north) * 100_000 + 600 * at + 60 * (who % 3),
            north + 0.001 * ((who + at) % 4),
            east,
        )
        for who in people
        for at in range(3)
    ]


YORK, PARIS = (40.7, -74.1), (48.8, 2.3)
TWO_TOWNS = [*town(*YORK, range(14)), *town(*PARIS, range(11, 24))]
"""Three people are in both."""


@pytest.fixture
def request_of(tmp_path: Path):  # type: ignore[no-untyped-def]
    def make(fixes: list[Fix], k: int = 2) -> TrajectoryRequest:
        (tmp_path / "fixes.csv").write_text(fixes_csv(fixes, "user_id,time,lat,lon"))
        source = TrajectorySource(paths=(str(tmp_path / "fixes.csv"),))
        return TrajectoryRequest(
            source=source, method=find_trajectory_method("glove")(k=k), out=tmp_path / "out"
        )

    return make


def test_an_input_of_two_continents_is_refused_with_boxes_to_type(request_of) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError) as refused:
        describe_fixes(request_of(TWO_TOWNS).source)
    words = str(refused.value)
    assert "40,-75,41,-74" in words
    assert "48,2,49,3" in words
    assert "--regions auto" in words


def test_regions_are_proposed_where_one_projection_serves_a_whole_country(request_of) -> None:  # type: ignore[no-untyped-def]
    apart = [*town(*PARIS, range(12)), *town(43.3, 5.4, range(20, 32))]
    told = describe_fixes(request_of(apart).source)
    (note,) = [note for note in told.notes if "km apart" in note]
    assert "48,2,49,3" in note
    assert "43,5,44,6" in note
    assert not any(
        "km apart" in note for note in describe_fixes(request_of(town(*PARIS, range(24))).source).notes
    )


def test_each_region_is_a_release_of_its_own_and_people_count_in_each(request_of) -> None:  # type: ignore[no-untyped-def]
    request = request_of(TWO_TOWNS)
    outcomes = anonymise_regions(request)
    assert [outcome.trajectories.n_users for outcome in outcomes] == [14, 13]
    assert [outcome.out.name for outcome in outcomes] == ["region-1", "region-2"]
    for outcome in outcomes:
        assert audit_trajectories_against(outcome.out, request.source.paths).safe
    with pytest.raises(OutputExistsError):
        anonymise_regions(request)


def test_one_region_with_too_few_and_nothing_is_written(request_of) -> None:  # type: ignore[no-untyped-def]
    request = request_of([*town(*YORK, range(14)), *town(*PARIS, range(14, 17))], k=4)
    boxes = read_regions("40,-75,41,-73;48,2,49,3")
    with pytest.raises(TripcloakError):
        anonymise_regions(request, boxes)
    assert not (request.out / "region-1").exists()


def failing_at(call: int, write: Callable[..., None]) -> Callable[..., None]:
    """Return a way to write releases for which there is no room from some call on."""
    calls = iter(range(1, 100))

    def limited(*given: object, **more: object) -> None:
        if next(calls) == call:
            raise OSError(errno.ENOSPC, "full")
        write(*given, **more)

    return limited


def test_a_disk_that_fills_at_the_last_region_leaves_what_was_there(request_of, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """All of them are written, or none: also over releases that stand there."""
    # A verb of this name stands before the room.
    road = import_module("tripcloak.trajectories.anonymise")
    request, write = request_of(TWO_TOWNS), road.write_trajectory_release
    monkeypatch.setattr(road, "write_trajectory_release", failing_at(2, write))
    with pytest.raises(InputError, match="no room left"):
        anonymise_regions(request)
    assert not request.out.exists()
    monkeypatch.setattr(road, "write_trajectory_release", write)
    anonymise_regions(request, read_regions("40,-75,41,-74;48,2,49,3"))
    stood = contents(request.out)
    monkeypatch.setattr(road, "write_trajectory_release", failing_at(2, write))
    with pytest.raises(InputError, match="no room left"):
        anonymise_regions(replace(request, force=True))
    assert contents(request.out) == stood


def test_regions_of_an_earlier_run_do_not_stay_beside_new_ones(request_of) -> None:  # type: ignore[no-untyped-def]
    request = request_of(TWO_TOWNS)
    anonymise_regions(request)
    (only,) = anonymise_regions(replace(request, force=True), [(48, 2, 49, 3)])
    assert sorted(path.name for path in request.out.iterdir()) == ["region-1"]
    assert only.out == request.out / "region-1"
    assert audit_trajectories_against(only.out, request.source.paths).safe


def test_a_fix_on_a_shared_edge_is_in_one_region(request_of) -> None:  # type: ignore[no-untyped-def]
    """The edge belongs to the region north or east of it, and an audit reads it so again."""
    fixes = [*town(48.5, 2.0, range(5)), *town(48.5, 1.7, range(5, 10)), *town(48.5, 2.3, range(10, 15))]
    west, east = anonymise_regions(request_of(fixes), [(48, 1, 49, 2), (48, 2, 49, 3)])
    assert (west.trajectories.n_users, east.trajectories.n_users) == (5, 10)
    for outcome in (west, east):
        assert audit_trajectories_against(outcome.out, outcome.reading.source.paths).safe


@given(
    lat=st.sampled_from([-90.0, 0.0, 1.0, 89.0, 90.0]) | st.floats(-90, 90),
    lon=st.sampled_from([-180.0, -170.0, 0.0, 170.0, 180.0]) | st.floats(-180, 180),
)
def test_boxes_that_cover_the_earth_hold_every_place_once(lat: float, lon: float) -> None:
    tall, wide = (-90.0, 0.0, 1.0, 89.0, 90.0), (-180.0, -170.0, 0.0, 170.0, 180.0)
    boxes = [
        half_open((south, west, north, east))
        for south, north in pairwise(tall)
        for west, east in [*pairwise(wide[1:-1]), (170.0, -170.0)]
    ]
    at = [bool(within_box(np.array([lat]), np.array([lon]), box)[0]) for box in boxes]
    assert sum(at) == 1
    sql = " UNION ALL ".join(f"SELECT {Area(box=box).in_box(repr(lat), repr(lon))}" for box in boxes)
    assert [inside for (inside,) in duckdb.sql(sql).fetchall()] == at


def test_regions_of_vehicles_are_told_of_vehicles(request_of) -> None:  # type: ignore[no-untyped-def]
    request = request_of(TWO_TOWNS)
    cabs = replace(request.source, id_is="vehicle")
    with pytest.raises(InputError) as refused:
        describe_fixes(cabs)
    assert "Most vehicles are in" in str(refused.value)
    assert "of the vehicles" in str(refused.value)
    assert "people" not in str(refused.value)
    with pytest.raises(InputError, match="reached by 20 vehicles"):
        anonymise_regions(replace(request, source=cabs, method=find_trajectory_method("glove")(k=20)))
    few = request_of(town(*YORK, range(3)), k=4)
    with pytest.raises(TripcloakError, match="needs 4 vehicles or more"):
        anonymise_trajectories(replace(few, source=replace(few.source, id_is="vehicle")))


def test_regions_that_cannot_be(request_of) -> None:  # type: ignore[no-untyped-def]
    request = request_of(town(*YORK, range(9)))
    with pytest.raises(InputError, match="reached by 10 people"):
        anonymise_regions(request)
    with pytest.raises(InputError, match="overlap"):
        anonymise_regions(request, [(40, -75, 41, -73), (40.5, -74, 42, -70)])
    with pytest.raises(InputError, match="expected auto, or boxes"):
        read_regions("automatic")
    boxed = TrajectorySource(paths=request.source.paths, box=(40, -75, 41, -73))
    with pytest.raises(InputError, match="boxes themselves"):
        anonymise_regions(TrajectoryRequest(source=boxed, method=request.method, out=request.out))
