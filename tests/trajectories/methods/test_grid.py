"""Grids: cells that k people share, one width for all, one a person, or one a person and region."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import h3.api.basic_int as h3
import numpy as np
import pytest

from oracles.trajectories import crowds as plain
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods.grid import GridGeneralisation
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.trajectories import made

PARTITIONS = ("common", "individual", "irregular")


def widths(release: TrajectoryRelease) -> set[int]:
    return set((release.boxes.x1 - release.boxes.x0).tolist())


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("k", [2, 5])
def test_every_box_holds_k_people_and_lies_on_cells_and_slots(partition: str, k: int) -> None:
    people = made(users=80, samples=20, seed=5, days=1, spread=15)
    release = GridGeneralisation(k=k, partition=partition, cell=300, withheld=0.5).anonymise(people)
    boxes = list(zip(*(side.tolist() for side in release.boxes), strict=True))
    counted = plain.count_inside(plain.listed(people.offsets, people.t, people.x, people.y), boxes)
    assert min(counted) >= k
    assert all((side % 3 == 0).all() for side in release.boxes[2:])
    assert all(((side + release.grid.start // 60) % 60 == 0).all() for side in release.boxes[:2])
    assert audit_release(people, release).safe


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("k", [2, 5])
def test_every_box_around_hexagons_holds_k_people_of_one_hexagon(partition: str, k: int) -> None:
    people = made(users=80, samples=20, seed=5, days=1, spread=15)
    release = GridGeneralisation(k=k, partition=partition, cells="h3", resolution=10, withheld=0.5).anonymise(
        people
    )
    boxes = list(zip(*(side.tolist() for side in release.boxes), strict=True))
    samples = plain.listed(people.offsets, people.t, people.x, people.y)
    assert min(plain.count_inside(samples, boxes)) >= k
    assert audit_release(people, release).safe
    assert release.parameters["resolution"] == 10
    assert "cell" not in release.parameters
    # Counted by the library alone: of the hexagons a box is around, one has k people in one of its slots.
    lon, lat = people.grid.unproject((people.x + 0.5) * 100.0, (people.y + 0.5) * 100.0)
    slot = (people.t + people.grid.start // 60) // 60
    crowds = [
        _crowds(lat, lon, slot, people.owner, level) for level in range(release.facts["widest_level"] + 1)
    ]
    for box, (t0, t1, x0, x1, y0, y1) in enumerate(boxes):
        inside = (x0 <= people.x) & (people.x < x1) & (y0 <= people.y) & (people.y < y1)
        inside &= (t0 <= people.t) & (people.t < t1)
        assert any((crowd[inside] >= k).any() for crowd in crowds), box


def _crowds(lat: Any, lon: Any, slot: Any, owner: Any, level: int) -> Any:
    """Return how many people each sample's hexagon had in the slot, at a level above resolution 10."""
    places = zip(lat.tolist(), lon.tolist(), slot.tolist(), strict=True)
    keys = [(h3.cell_to_parent(h3.latlng_to_cell(a, b, 10), 10 - level), when) for a, b, when in places]
    people: dict[Any, set[int]] = {}
    for key, one in zip(keys, owner.tolist(), strict=True):
        people.setdefault(key, set()).add(one)
    return np.array([len(people[key]) for key in keys])


def test_hexagons_of_frequent_stays_and_sensitive_places_are_wider() -> None:
    x = np.tile([1, 51, 91], 3)
    people = Trajectories.of(
        user=np.repeat(np.arange(3), 3), t=np.tile(np.arange(3) * 60, 3), x=x, y=np.ones(9), grid=Grid()
    )
    lon, lat = people.grid.unproject([5150.0], [150.0])
    release = GridGeneralisation(
        k=3, partition="irregular", cells="h3", frequent=1.0, doublings=2, sensitive=f"{lat[0]},{lon[0]}"
    ).anonymise(people)
    home, given, other = (release.boxes.x1 - release.boxes.x0)[slice(*release.offsets[:2])].tolist()
    assert given > 5 * max(home, other)


def test_resolutions_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="H3 has resolutions 0 to 15; got 16"):
        GridGeneralisation(k=2, cells="h3", resolution=16)
    with pytest.raises(InputError, match="cells='h3' only"):
        GridGeneralisation(k=2, resolution=8)
    with pytest.raises(InputError, match="their resolution says; leave the width of cells out"):
        GridGeneralisation(k=2, cells="h3", cell=500)
    with pytest.raises(InputError, match="one of square, h3"):
        GridGeneralisation(k=2, cells="triangle")


def test_slots_in_a_row_in_one_cell_are_one_box() -> None:
    # The picture of the survey: eight points become three cells with the times between which they were seen.
    x, t = [1, 2, 2, 11, 12, 13, 11, 12], range(8)
    user = np.repeat([0, 1], 8)
    twice = Trajectories.of(
        user=user, t=[*t] * 2, x=x * 2, y=[0, 0, 0, 0, 0, 0, 11, 11] * 2, grid=Grid(seconds=60, metres=100)
    )
    release = GridGeneralisation(k=2, cell=1000, interval=60).anonymise(twice)
    first = slice(*release.offsets[:2])
    assert release.boxes.t0[first].tolist() == [0, 3, 6]
    assert release.boxes.t1[first].tolist() == [3, 6, 8]
    assert release.boxes.x0[first].tolist() == [0, 10, 10]
    assert release.boxes.y0[first].tolist() == [0, 0, 10]


def test_several_cells_in_one_slot_become_one_rectangle() -> None:
    both = Trajectories.of(user=[0, 0, 1, 1], t=[0, 5, 0, 5], x=[1, 25, 1, 25], y=[3] * 4, grid=Grid())
    release = GridGeneralisation(k=2, cell=1000, interval=600).anonymise(both)
    assert release.n_boxes == 2
    assert widths(release) == {30}


def spread() -> Trajectories:
    """Return three who share a cell all day, and three of whom each pair shares one only if it is wide."""
    user = np.repeat(np.arange(6), 4)
    x = np.where(user < 3, 1, 101 + (user - 3) * 10)
    return Trajectories.of(user=user, t=np.tile([0, 60, 120, 180], 6), x=x, y=np.zeros(24), grid=Grid())


def test_one_width_for_all_or_one_a_person() -> None:
    common, individual = (
        GridGeneralisation(k=3, partition=name, cell=1000, withheld=0.0).anonymise(spread())
        for name in ("common", "individual")
    )
    assert len(widths(common)) == 1
    assert widths(common) == {max(widths(individual))}
    assert len(widths(individual)) == 2


def test_places_of_frequent_stays_are_coarser_where_they_are_told_apart() -> None:
    user = np.repeat(np.arange(3), 5)
    x = np.tile([1, 1, 1, 51, 91], 3)
    people = Trajectories.of(user=user, t=np.tile(np.arange(5) * 60, 3), x=x, y=np.zeros(15), grid=Grid())
    release = GridGeneralisation(k=3, partition="irregular", cell=1000, frequent=0.5, doublings=2).anonymise(
        people
    )
    mine = slice(*release.offsets[:2])
    assert (release.boxes.x1 - release.boxes.x0)[mine].tolist() == [40, 10, 10]


def test_sensitive_places_that_are_given_are_coarser_for_everybody_and_not_published() -> None:
    x = np.tile([1, 51, 91], 3)
    people = Trajectories.of(
        user=np.repeat(np.arange(3), 3), t=np.tile(np.arange(3) * 60, 3), x=x, y=np.ones(9), grid=Grid()
    )
    lon, lat = people.grid.unproject([5300.0], [300.0])
    asked = {"k": 3, "partition": "irregular", "cell": 1000, "frequent": 1.0, "doublings": 2}
    method = GridGeneralisation(**asked, sensitive=f"{lat[0]},{lon[0]};70,70")  # type: ignore[arg-type]
    release = method.anonymise(people)
    assert (release.boxes.x1 - release.boxes.x0)[slice(*release.offsets[:2])].tolist() == [10, 40, 10]
    assert "sensitive" not in release.parameters
    for told in ("48.8", "91,0", "a,b", ""):
        with pytest.raises(InputError, match="latitude and longitude in degrees"):
            GridGeneralisation(**asked, sensitive=told)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="irregular"):
        GridGeneralisation(k=3, sensitive="1,1")


def test_a_persons_regions_never_overlap_by_halves() -> None:
    people = made(users=60, samples=30, seed=2, days=1, spread=15)
    release = GridGeneralisation(k=4, partition="irregular", cell=200, withheld=0.9).anonymise(people)
    for begin, end in pairwise(release.offsets.tolist()):
        boxes = [side[begin:end].tolist() for side in release.boxes[2:]]
        single = {box for box in zip(*boxes, strict=True) if box[1] - box[0] == box[3] - box[2]}
        for x0, x1, y0, y1 in single:
            for a0, a1, b0, b1 in single:
                meets = x0 < a1 and a0 < x1 and y0 < b1 and b0 < y1
                assert not meets or (x0, x1, y0, y1) == (a0, a1, b0, b1) or x1 - x0 > 2 or a1 - a0 > 2


def test_moments_with_too_few_people_are_withheld_up_to_the_limit() -> None:
    user = [0, 1, 2, 0, 1, 2, 0]
    t = [0, 0, 0, 60, 60, 60, 600]
    people = Trajectories.of(user=user, t=t, x=[1] * 7, y=[0] * 7, grid=Grid())
    release = GridGeneralisation(k=3, withheld=0.2).anonymise(people)
    assert release.deleted.tolist() == [False, False, True, False, False, False, False]
    with pytest.raises(ImpossibleRequestError, match="fewer than 3 people were recorded"):
        GridGeneralisation(k=3, withheld=0.1).anonymise(people)


@pytest.mark.parametrize("partition", ["common", "individual", "irregular"])
def test_a_share_that_would_do_is_told_and_does(partition: str) -> None:
    dice = np.random.default_rng(4)
    user, (t, x, y) = np.repeat(np.arange(12), 9), dice.integers(0, 400, (3, 108))
    sparse = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    asked: dict[str, Any] = {"k": 3, "interval": 600, "partition": partition}
    with pytest.raises(ImpossibleRequestError, match="would do") as refused:
        GridGeneralisation(**asked).anonymise(sparse)
    share = float(str(refused.value).partition("withheld=")[2].partition(" ")[0])
    assert GridGeneralisation(**asked, withheld=share).anonymise(sparse).n_released
    with pytest.raises(ImpossibleRequestError, match=r"smaller k$"):
        GridGeneralisation(**asked | {"k": 12, "interval": 60}).anonymise(sparse)


def test_whoever_knows_everything_finds_nearly_everybody() -> None:
    people = made(users=200, samples=30, seed=3, days=1, spread=15)
    release = GridGeneralisation(k=5, withheld=0.5).anonymise(people)
    guess = guess_owner(people, release)
    assert guess is not None
    assert guess.right is not None
    assert guess.right >= 90


def test_parameters_that_mean_nothing_are_refused() -> None:
    for asked in ({"withheld": 1.0}, {"cell": 0}, {"interval": 0}, {"partition": "odd"}, {"k": 1}):
        with pytest.raises(InputError):
            GridGeneralisation(**asked)  # type: ignore[arg-type]
