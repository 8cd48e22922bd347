"""The builder of releases fails closed: one step past the line there is no release, on the line there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tripcloak.ground.errors import InternalError
from tripcloak.promises import CoLocation, Containment
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release import writing
from tripcloak.trajectories.release.release import Boxes, TrajectorySolution, build_trajectory_release
from tripcloak.trajectories.release.writing import name_release

PEOPLE = Trajectories.of(
    user=[0, 0, 1, 1], t=[10, 20, 11, 21], x=[5, 6, 7, 8], y=[-3, -2, -1, 0], grid=Grid()
)
BOXES = Boxes(
    *(
        np.array(side)
        for side in ([10, 20] * 2, [12, 22] * 2, [5, 6] * 2, [8, 9] * 2, [-3, -2] * 2, [0, 1] * 2)
    )
)
SOLUTION = TrajectorySolution(np.array([0, 2, 4]), BOXES, np.array([0, 1]), np.arange(4), {})


def built(promise: Any = Containment(k=2), **changes: Any) -> Any:  # noqa: B008
    solution = SOLUTION._replace(**changes)
    return build_trajectory_release(PEOPLE, solution, promise=promise, method="by-hand", parameters={})


def with_edge(side: str, box: int, value: int) -> Boxes:
    changed = getattr(BOXES, side).copy()
    changed[box] = value
    return BOXES._replace(**{side: changed})


def test_what_fits_is_released_as_it_was_decided():
    release = built()
    assert [side.tolist() for side in release.boxes] == [side.tolist() for side in BOXES]
    assert (release.n_released, release.n_boxes, release.input_digest) == (2, 4, PEOPLE.digest)


# The sample of each side that lies on it: one step inwards and the box holds it no longer.
EDGES = {"t0": 10, "t1": 22, "x0": 5, "x1": 9, "y0": -3, "y1": 1}
AT = {"t0": 0, "t1": 3, "x0": 0, "x1": 3, "y0": 0, "y1": 3}


@pytest.mark.parametrize("side", EDGES)
def test_a_sample_one_step_outside_its_box_stops_the_release(side):
    inwards = 1 if side.endswith("0") else -1
    assert getattr(BOXES, side)[AT[side]] == EDGES[side]
    assert built(boxes=with_edge(side, AT[side], EDGES[side] - inwards))
    with pytest.raises(InternalError, match="does not hold its own samples"):
        built(boxes=with_edge(side, AT[side], EDGES[side] + inwards))


def test_where_samples_are_moved_they_may_lie_elsewhere():
    assert built(CoLocation(k=2, delta=5.0), boxes=with_edge("x0", 0, 6))


def test_a_deleted_sample_need_not_lie_anywhere():
    assert (
        built(box_of=np.array([-1, 1, 2, 3]), boxes=with_edge("x0", 0, 6)).deleted.tolist()
        == [True] + [False] * 3
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"released_of": np.array([0])},
        {"released_of": np.array([0, 1, 1])},
        {"box_of": np.arange(3)},
        {"box_of": np.array([0, 1, 2, 3, 3])},
    ],
    ids=["a person too few", "a person too many", "a sample too few", "a sample too many"],
)
def test_everybody_and_every_sample_is_accounted_for(changes):
    with pytest.raises(InternalError, match="left out an input trajectory or sample"):
        built(**changes)


@pytest.mark.parametrize("offsets", [[1, 2, 4], [0, 2, 3], [0, 2, 5], [0, 2, 2, 4], [0, 3, 2, 4]], ids=str)
def test_every_trajectory_has_samples_and_every_sample_one(offsets):
    with pytest.raises(InternalError, match="without samples"):
        built(offsets=np.array(offsets))


@pytest.mark.parametrize(("low", "high"), [("t0", "t1"), ("x0", "x1"), ("y0", "y1")])
def test_a_box_has_an_extent_of_a_step(low, high):
    begin = int(getattr(BOXES, low)[1])
    # Samples are not looked at here, which would say no for a box this small.
    moved = CoLocation(k=2, delta=5.0)
    assert built(moved, boxes=with_edge(high, 1, begin + 1))
    for end in (begin, begin - 1):
        with pytest.raises(InternalError, match="without extent"):
            built(moved, boxes=with_edge(high, 1, end))


def test_boxes_may_meet_in_time_and_not_overlap():
    assert built(boxes=with_edge("t1", 0, 20))
    with pytest.raises(InternalError, match="overlap in time"):
        built(boxes=with_edge("t1", 0, 21))


def test_boxes_of_two_people_may_overlap_in_time():
    assert built(boxes=with_edge("t1", 1, 30))


def test_a_sample_in_the_same_box_of_somebody_else_stops_the_release():
    """The box holds the sample all the same: it is the other's."""
    both = Boxes(
        *(np.array([side.min() if at % 2 == 0 else side.max()] * 2) for at, side in enumerate(BOXES))
    )
    one_each = {"offsets": np.array([0, 1, 2]), "boxes": both}
    assert built(**one_each, box_of=np.array([0, 0, 1, 1]))
    with pytest.raises(InternalError, match="somebody else's trajectory"):
        built(**one_each, box_of=np.array([0, 0, 0, 1]))
    assert built(**one_each, box_of=np.array([1, 1, 0, 0]), released_of=np.array([1, 0]))


def test_what_was_deleted_and_what_was_made_up_is_told():
    release = built(CoLocation(k=2, delta=5.0), box_of=np.array([0, 0, 2, -1]))
    assert release.deleted.tolist() == [False, False, False, True]
    assert release.created.tolist() == [False, True, False, True]
    minutes, wide, high = release.spans()
    assert minutes.tolist() == [2, 2, 2, 2]
    assert (wide.tolist(), high.tolist()) == ([300] * 4, [300] * 4)


def test_exchange_formats_are_left_out_above_so_many_samples(monkeypatch):
    release = built()
    for most, left_out in ((4, None), (3, ["trajectories.geojson", "trajectories.mfjson"])):
        monkeypatch.setattr(writing, "MOST", most)
        assert name_release(release).published.manifest.get("left_out") == left_out


def test_dropped_samples_are_of_people_who_are_there():
    from tripcloak.ground.errors import InputError
    from tripcloak.trajectories.model import Dropped

    assert replace(PEOPLE, dropped=Dropped.of([1], [0], [0], [0]))
    for nobody in (2, -1):
        with pytest.raises(InputError, match="people who have a trajectory"):
            replace(PEOPLE, dropped=Dropped.of([nobody], [0], [0], [0]))
