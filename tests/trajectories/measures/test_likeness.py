"""Likeness of original and release as a whole: a slow twin, and what must come out of plain cases."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from tripcloak.promises import Containment
from tripcloak.trajectories.measures.likeness import KM, SIDE, SLOT, WIDE, divergence, likeness
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import (
    Boxes,
    TrajectoryRelease,
    TrajectorySolution,
    build_trajectory_release,
)

Row = tuple[int, int, int, int, int, int]


def people(seed: int, n: int = 12) -> Trajectories:
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(n), 9)
    t, x, y = (random.integers(0, high, len(user)) for high in (4000, 90, 60))
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


def told(made: Trajectories, tracks: list[list[Row]]) -> TrajectoryRelease:
    """Return a release of these boxes, that are nobody's in particular."""
    offsets = np.concatenate(([0], np.cumsum([len(track) for track in tracks])))
    boxes = Boxes(*(np.array(side) for side in zip(*(row for track in tracks for row in track), strict=True)))
    of = np.full(made.n_users, -1)
    solution = TrajectorySolution(offsets, boxes, of, np.full(made.n_samples, -1), {})
    return build_trajectory_release(made, solution, promise=Containment(k=2), method="by hand", parameters={})


def itself(made: Trajectories) -> list[list[Row]]:
    rows = [
        (t, t + 1, x, x + 1, y, y + 1)
        for t, x, y in zip(made.t.tolist(), made.x.tolist(), made.y.tolist(), strict=True)
    ]
    return [rows[a:b] for a, b in pairwise(made.offsets.tolist())]


def slots(track: list[Row]) -> dict[int, Row]:
    """Return the first box in every slot."""
    found: dict[int, Row] = {}
    for row in track:
        for slot in range(row[0] * 60 // SLOT, (row[1] * 60 - 1) // SLOT + 1):
            found.setdefault(slot, row)
    return found


def middle(row: Row) -> tuple[float, float]:
    return 50.0 * (row[2] + row[3]), 50.0 * (row[4] + row[5])


def slow_distances(tracks: list[list[Row]]) -> np.ndarray:
    kinds = np.zeros(len(KM) - 1)
    for track in tracks:
        of = slots(track)
        steps = [(of[slot], of[slot + 1]) for slot in of if slot + 1 in of]
        for one, other in steps:
            km = math.dist(middle(one), middle(other)) / 1000
            kinds[max(i for i, low in enumerate(KM[:-1]) if low <= km)] += 1 / len(steps)
    return kinds


def slow_tables(tracks: list[list[Row]], west: float, south: float, cell: float) -> tuple[Counter, Counter]:
    places: Counter[object] = Counter()
    moves: Counter[object] = Counter()

    def wide(row: Row) -> tuple[int, int] | None:
        x, y = middle(row)
        at = math.floor((x - west) / (WIDE * cell)), math.floor((y - south) / (WIDE * cell))
        return at if all(0 <= side < SIDE // WIDE for side in at) else None

    for track in tracks:
        of = slots(track)
        for row in of.values():
            # So many points of the box that each falls in a cell of its own share.
            grid = [(i + 0.5) / 40 for i in range(40)]
            for u in grid:
                for v in grid:
                    x = 100 * (row[2] + u * (row[3] - row[2]))
                    y = 100 * (row[4] + v * (row[5] - row[4]))
                    at = math.floor((x - west) / cell), math.floor((y - south) / cell)
                    inside = all(0 <= side < SIDE for side in at)
                    places[at if inside else None] += 1 / (1600 * len(of))  # type: ignore[assignment]
        steps = [(of[slot], of[slot + 1]) for slot in of if slot + 1 in of]
        for one, other in steps:
            if wide(one) != wide(other):
                moves[wide(one), wide(other)] += 1 / len(steps)  # type: ignore[assignment]
    return places, moves


def apart(one: Counter, other: Counter) -> float | None:
    keys = list({*one, *other})
    return divergence(*(np.array([side[key] for key in keys], float) for side in (one, other)))


def test_a_release_of_the_originals_is_the_same() -> None:
    made = people(0)
    assert likeness(made, told(made, itself(made))) == (0.0, 0.0, 0.0)
    shuffled = itself(made)[::-1]
    assert likeness(made, told(made, shuffled)) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_elsewhere_and_nowhere_have_nothing_in_common() -> None:
    made = people(1)
    away = [[(a, b, c + 10**4, d + 10**4, e, f) for a, b, c, d, e, f in track] for track in itself(made)]
    found = likeness(made, told(made, away))
    assert found.places is not None
    assert found.places > 0.85
    assert found.distances == pytest.approx(0.0, abs=1e-9)
    assert found.moves == 1.0
    still = likeness(made, told(made, [[(0, 1, 5, 6, 5, 6)]]))
    assert (still.distances, still.moves) == (1.0, 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_it_equals_a_slow_twin(seed: int) -> None:
    made, random = people(seed), np.random.default_rng(seed)
    tracks = []
    for track in itself(people(seed + 10, 5)):
        wide = random.integers(1, 30, 2)
        begins = [row[0] for row in track]
        ends = [min(row[0] + 200, later) for row, later in zip(track, [*begins[1:], 9999], strict=True)]
        tracks.append(
            [
                (row[0], max(end, row[0] + 1), row[2], row[2] + wide[0], row[4], row[4] + wide[1])
                for row, end in zip(track, ends, strict=True)
                if end > row[0]
            ]
        )
    found = likeness(made, told(made, tracks))
    assert found.distances == pytest.approx(
        divergence(slow_distances(itself(made)), slow_distances(tracks)), abs=1e-9
    )
    points = [
        (*middle(row), 1 / len(slots(track))) for track in itself(made) for row in slots(track).values()
    ]
    ends = []
    for side in (0, 1):
        ordered = sorted((point[side], point[2]) for point in points)
        total = np.cumsum([weight for _, weight in ordered])
        ends.append([ordered[int(np.searchsorted(total, cut * total[-1]))][0] for cut in (0.025, 0.975)])
    cell = max(high - low for low, high in ends) * (1 + 1e-9) / SIDE
    west, south = ((low + high - SIDE * cell) / 2 for low, high in ends)
    before, after = (slow_tables(some, west, south, cell) for some in (itself(made), tracks))
    assert found.moves == pytest.approx(apart(before[1], after[1]), abs=1e-9)
    assert found.places == pytest.approx(apart(before[0], after[0]), abs=0.01)


def test_where_originals_have_no_two_slots_nothing_is_told_of_moves() -> None:
    made = Trajectories.of(user=[0, 1], t=[0, 5], x=[1, 8], y=[0, 0], grid=Grid())
    found = likeness(made, told(made, itself(made)))
    assert (found.distances, found.moves) == (None, None)
    assert found.places == 0.0
