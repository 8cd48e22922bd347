"""Centre of mass, radius of gyration, hull, home and work, against plain definitions and known cases."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.trajectories import measures as oracle
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.measures import (
    PersonTracks,
    agreement,
    compare_anchors,
    home,
    local_seconds,
    paired_tracks,
    shapes,
    work,
)
from tripcloak.trajectories.measures._kernels import gyrations, hull_areas, most_visited
from tripcloak.trajectories.model import Grid
from worlds.trajectories import PARIS, identity_release, made, one_box_release, random_release

PEOPLE = st.lists(
    st.lists(st.tuples(st.integers(0, 90), st.integers(-6, 6), st.integers(-6, 6)), min_size=1, max_size=12),
    min_size=1,
    max_size=4,
)
Person = list[tuple[int, int, int]]


def tracks_of(people: list[Person], grid: Grid | None = None) -> PersonTracks:
    """Return tracks of points given as half steps of (t, x, y), in any order."""
    people = [sorted(person) for person in people]
    offsets = np.cumsum([0, *(len(person) for person in people)])
    columns = np.array([point for person in people for point in person], dtype=np.int64).reshape(-1, 3)
    return PersonTracks(grid or Grid(projection=PARIS), offsets, *columns.T.copy())


@given(PEOPLE)
def test_kernels_agree_with_their_plain_twins(people: list[Person]) -> None:
    tracks = tracks_of(people)
    found = np.array(gyrations(tracks.offsets, tracks.t, tracks.x, tracks.y, 2)).T
    areas = hull_areas(tracks.offsets, tracks.x, tracks.y)
    chosen = tracks.t % 3 > 0
    known, at_x, at_y = most_visited(tracks.offsets, chosen, tracks.x, tracks.y, 4)
    for i, person in enumerate(people):
        t, x, y = zip(*sorted(person), strict=True)
        assert found[i] == pytest.approx(oracle.gyrations(t, x, y, 2), abs=1e-9)
        points = list(zip(x, y, strict=True))
        assert areas[i] == pytest.approx(oracle.hull_areas(points))
        expected = oracle.most_visited(points, [a % 3 > 0 for a in t], 4)
        assert known[i] == (expected is not None)
        assert expected is None or (at_x[i], at_y[i]) == pytest.approx(expected)


@given(PEOPLE, st.integers(-10_000, 10_000), st.integers(-10_000, 10_000))
def test_moving_everything_moves_the_centre_alone(people: list[Person], dx: int, dy: int) -> None:
    tracks = tracks_of(people)
    before = shapes(tracks)
    after = shapes(tracks._replace(x=tracks.x + dx, y=tracks.y + dy))
    assert after.x - before.x == pytest.approx(dx * tracks.km)
    assert after.y - before.y == pytest.approx(dy * tracks.km)
    for name in ("radius", "timed_radius", "hull"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), abs=1e-9)


def test_time_spent_weighs_places() -> None:
    """Ten hours at home and an hour away: the timed radius is smaller than that of the points."""
    hours = [0, 5, 10, 11]
    tracks = tracks_of([[(120 * h, 0 if h < 11 else 100, 0) for h in hours]])
    found = shapes(tracks)
    # Home for 2.5 + 5 + 3 hours, away for half an hour, a step more each; 5 km apart, 1.25 km from home.
    stays = np.array([2.5, 5, 3, 0.5]) + 1 / 60
    squares = np.array([1.25, 1.25, 1.25, 3.75]) ** 2
    assert found.timed_radius[0] == pytest.approx(np.sqrt((stays * squares).sum() / stays.sum()))
    assert found.timed_radius[0] < found.radius[0]


def test_an_identity_release_agrees_in_everything() -> None:
    trajectories = made(users=20)
    original, released = paired_tracks(trajectories, identity_release(trajectories))
    for name in ("t", "x", "y", "offsets"):
        assert getattr(original, name).tolist() == getattr(released, name).tolist()


@given(st.integers(0, 10**6))
def test_rows_of_both_tracks_are_the_same_person(seed: int) -> None:
    trajectories = made(users=5, samples=8, seed=seed)
    release = random_release(trajectories, seed=seed, deleting=True)
    original, released = paired_tracks(trajectories, release)
    kept = np.flatnonzero(release.released_of >= 0)
    assert original.people == released.people == len(kept)
    for row, person in enumerate(kept):
        own = slice(*trajectories.offsets[person : person + 2])
        at = slice(*release.offsets[release.released_of[person] :][:2])
        assert original.x[slice(*original.offsets[row : row + 2])].tolist() == [
            2 * v + 1 for v in trajectories.x[own].tolist()
        ]
        middle = [a + b for a, b in zip(release.boxes.y0[at], release.boxes.y1[at], strict=True)]
        assert released.y[slice(*released.offsets[row : row + 2])].tolist() == middle


def test_one_box_leaves_no_shape() -> None:
    trajectories = made()
    _, released = paired_tracks(trajectories, one_box_release(trajectories))
    found = shapes(released)
    assert not found.radius.any()
    assert not found.hull.any()


def test_agreement_tells_errors_by_the_original() -> None:
    original, released = np.array([0.0, 1.0, 2.0, 4.0]), np.array([1.0, 1.05, 1.0, 8.0])
    found = agreement(original, released)
    assert found.relative_error.n == 3
    assert found.relative_error.mean == pytest.approx((0.05 - 0.5 + 1.0) / 3)
    assert found.within == 0.25
    assert found.band.original.tolist() == [1.0, 2.0, 4.0]
    assert found.band.middle.tolist() == [1.05, 1.0, 8.0]


def at_home_and_work(zone: ZoneInfo) -> PersonTracks:
    """Return one person of January 2024: nights at x = 0, working days at x = 200, weekends at 400."""
    points = []
    for day in range(1, 15):
        for hour in (2, 6, 10, 12, 15, 23):
            moment = datetime(2024, 1, day, hour, 30, tzinfo=zone)
            place = 0 if hour in (2, 6, 23) else 200 if moment.weekday() < 5 else 400
            points.append((int(moment.astimezone(UTC).timestamp()) // 30, place + 1, 1))
    return tracks_of([points])


@pytest.mark.parametrize("name", ["Asia/Tokyo", "America/Los_Angeles", "UTC"])
def test_home_is_where_the_night_is_spent_by_local_clocks(name: str) -> None:
    tracks = at_home_and_work(ZoneInfo(name))
    local = local_seconds(tracks, name)
    assert home(tracks, local).x[0] / tracks.km == pytest.approx(1)
    assert work(tracks, local).x[0] / tracks.km == pytest.approx(201)


def test_nights_and_working_hours_are_those_hours_alone() -> None:
    """One person for every hour of a week that begins on a Monday."""
    hours = range(7 * 24)
    monday = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp())
    tracks = tracks_of([[((monday + 3600 * hour) // 30, 0, 0)] for hour in hours])
    local = local_seconds(tracks, "UTC")
    assert home(tracks, local).known.tolist() == [h % 24 >= 22 or h % 24 < 7 for h in hours]
    assert work(tracks, local).known.tolist() == [9 <= h % 24 < 17 and h < 5 * 24 for h in hours]


def test_the_longitude_tells_the_time_where_nothing_else_does() -> None:
    tokyo = Grid(projection="+proj=laea +lat_0=35.7 +lon_0=139.7")
    tracks = at_home_and_work(ZoneInfo("Asia/Tokyo"))._replace(grid=tokyo)
    assert (local_seconds(tracks) - tracks.seconds == 9 * 3600).all()
    elsewhere = tracks._replace(grid=Grid(projection="+proj=laea +lat_0=5.3 +lon_0=-4.0"))
    assert (local_seconds(elsewhere) == elsewhere.seconds).all()


def test_clocks_change_within_a_trajectory() -> None:
    moments = [datetime(2024, 3, 31, hour, 59, tzinfo=UTC) for hour in (0, 1)]
    tracks = tracks_of([[(int(m.timestamp()) // 30, 0, 0) for m in moments]])
    assert (local_seconds(tracks, "Europe/Paris") - tracks.seconds).tolist() == [3600, 7200]


def test_an_unknown_time_zone_is_an_input_error() -> None:
    with pytest.raises(InputError, match="time zone"):
        local_seconds(tracks_of([[(0, 0, 0)]]), "Mars/Olympus")


def test_anchors_are_compared_person_by_person() -> None:
    night, noon = 2 * 120, 12 * 120
    utc = Grid(projection="+proj=laea +lat_0=0 +lon_0=0")
    before = tracks_of([[(night, 0, 0)], [(night, 0, 0)], [(night, 0, 0)], [(noon, 0, 0)]], utc)
    after = tracks_of([[(night, 12, 16)], [(night, 60, 0)], [(noon, 0, 0)], [(night, 0, 0)]], utc)
    found = compare_anchors(*(home(tracks, local_seconds(tracks)) for tracks in (before, after)))
    assert (found.people, found.lost, found.gained) == (0.5, 0.25, 0.25)
    assert found.distance_km.mean == pytest.approx((1 + 3) / 2)
    assert found.within_1_km == 0.5
