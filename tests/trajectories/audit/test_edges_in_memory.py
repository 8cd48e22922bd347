"""Every rule of the audit in memory at its very edge: one step past the line fails, the line holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tripcloak.promises import CoLocation, Containment
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.audit.containment import Supports
from tripcloak.trajectories.audit.memory import shape_faults
from tripcloak.trajectories.audit.promise import (
    Stated,
    companion_faults,
    lone_faults,
    support_faults,
    two_sided_faults,
)
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease
from worlds.merged_trajectories import merged_release, with_side
from worlds.trajectories import identity_release, made

MADE = made(users=6, samples=4, seed=1)
SAFE = merged_release(MADE, k=3)


def broken(release: TrajectoryRelease, people: Trajectories = MADE) -> tuple[str, ...]:
    return audit_release(people, release).broken


def test_nothing_is_broken_to_begin_with():
    assert broken(SAFE) == ()


PROMISE = Stated("containment", 3)


@pytest.mark.parametrize(
    ("support", "two_sided", "members", "wrong"),
    [
        ([3, 4], [3, 3], [2, 3], ()),
        ([2, 4], [3, 3], [2, 3], (support_faults,)),
        ([3, 4], [3, 2], [2, 3], (two_sided_faults,)),
        ([3, 4], [3, 3], [1, 3], (lone_faults,)),
        ([3, 4], [3, 3], [2, 0], (lone_faults,)),
    ],
)
def test_k_is_enough_and_one_fewer_is_not(support, two_sided, members, wrong):
    counts = Supports(*map(np.array, (support, two_sided, members)))
    for fault in (support_faults, two_sided_faults, lone_faults):
        assert (fault(counts, PROMISE) is not None) == (fault in wrong)


def test_k_less_one_others_are_enough_and_one_fewer_is_not():
    stated = Stated("colocation", 3, 5.0)
    assert companion_faults(np.array([2, 3]), stated) is None
    assert companion_faults(np.array([1, 3]), stated) is not None


def test_one_released_trajectory_fewer_than_k_holds_somebody():
    """Two groups of three: whoever promised four of them is one short, and three are just enough."""
    assert broken(replace(SAFE, promise=Containment(k=4))) == (
        "support-reaches-k",
        "two-sided-support-reaches-k",
    )


@pytest.mark.parametrize("side", ["t0", "t1", "x0", "x1", "y0", "y1"])
def test_an_edge_one_step_inwards_leaves_somebody_out(side):
    release = merged_release(MADE, k=3)
    step = 1 if side.endswith("0") else -1
    wider = with_side(release, side, 0, int(getattr(release.boxes, side)[0]) - step)
    if side not in {"t1"}:
        assert broken(wider) == ()
    narrower = broken(with_side(release, side, 0, int(getattr(release.boxes, side)[0]) + step))
    assert {"support-reaches-k", "two-sided-support-reaches-k"} <= set(narrower) or "boxes-whole" in narrower


@pytest.mark.parametrize(("low", "high"), [("t0", "t1"), ("x0", "x1"), ("y0", "y1")])
def test_a_box_without_extent_is_none(low, high):
    release = identity_release(MADE)
    begin = int(getattr(release.boxes, low)[1])
    assert "boxes-whole" not in broken(release)
    assert "boxes-whole" in broken(with_side(release, high, 1, begin))


def test_boxes_may_meet_in_time_and_not_overlap():
    people = Trajectories.of(user=[0, 0, 1], t=[5, 9, 5], x=[0] * 3, y=[0] * 3, grid=Grid())
    release = identity_release(people)
    assert "boxes-whole" not in broken(with_side(release, "t1", 0, 9), people)
    assert "boxes-whole" in broken(with_side(release, "t1", 0, 10), people)
    # The last of one and the first of the next are of different people.
    assert "boxes-whole" not in broken(with_side(release, "t1", 1, 30), people)


@pytest.mark.parametrize("offsets", [[1], [0], []], ids=str)
def test_a_release_of_nothing_is_none(offsets):
    empty = Boxes(*(np.empty(0, np.int32) for _ in Boxes._fields))
    assert "boxes-whole" in broken(replace(SAFE, offsets=np.array(offsets, dtype=np.int64), boxes=empty))


def test_offsets_begin_at_nothing_end_at_everything_and_leave_nobody_empty():
    good = SAFE.offsets
    for wrong in (
        np.concatenate(([1], good[1:])),
        np.concatenate((good[:-1], [good[-1] - 1])),
        np.concatenate((good[:-1], [good[-1] + 1])),
        np.concatenate((good[:2], good[1:])),
    ):
        assert "boxes-whole" in broken(replace(SAFE, offsets=wrong))
    shorter = SAFE.boxes._replace(y1=SAFE.boxes.y1[:-1])
    assert "boxes-whole" in broken(replace(SAFE, boxes=shorter))


def own_boxes(release: TrajectoryRelease, sample: int, box: int) -> TrajectoryRelease:
    box_of = release.box_of.copy()
    box_of[sample] = box
    return replace(release, box_of=box_of)


def test_a_sample_in_the_same_box_of_somebody_else_is_found():
    """The first two people have the same boxes, so that the sample lies in the other's as well."""
    other = int(SAFE.box_of[0] + SAFE.offsets[1])
    assert [side[other] for side in SAFE.boxes] == [side[SAFE.box_of[0]] for side in SAFE.boxes]
    assert broken(own_boxes(SAFE, 0, other)) == ("own-samples-held",)


@pytest.mark.parametrize("side", ["t0", "t1", "x0", "x1", "y0", "y1"])
def test_a_sample_one_step_outside_its_own_box_is_found(side):
    """Two samples at two corners of one box, so that every side of it is needed."""
    people = Trajectories.of(user=[0, 0], t=[0, 1], x=[0, 1], y=[0, 1], grid=Grid())
    release = TrajectoryRelease(
        method="by hand",
        parameters={},
        promise=Containment(k=2),
        grid=people.grid,
        input_digest=people.digest,
        offsets=np.array([0, 1]),
        boxes=Boxes(*(np.array([v]) for v in (0, 2) * 3)),
        released_of=np.array([0]),
        box_of=np.array([0, 0]),
    )
    inwards = 1 if side.endswith("0") else -1
    edge = int(getattr(release.boxes, side)[0])
    assert "own-samples-held" not in broken(release, people)
    assert "own-samples-held" not in broken(with_side(release, side, 0, edge - inwards), people)
    assert "own-samples-held" in broken(with_side(release, side, 0, edge + inwards), people)


def test_the_last_sample_of_the_last_person_cannot_be_deleted_unseen():
    """Minus one is also how the last box of all is reached."""
    assert SAFE.box_of[-1] == SAFE.n_boxes - 1
    assert broken(own_boxes(SAFE, -1, -1)) == ("own-samples-held",)


@pytest.mark.parametrize("box", [-1, SAFE.n_boxes], ids=["deleted", "in no box"])
def test_a_sample_without_a_box_is_found(box):
    assert broken(own_boxes(SAFE, 0, box)) == ("own-samples-held",)


def test_samples_and_people_are_accounted_for_one_by_one():
    for box_of in (SAFE.box_of[:-1], np.append(SAFE.box_of, 0)):
        assert broken(replace(SAFE, box_of=box_of)) == ("own-samples-held",)
    for people in (SAFE.released_of[:-1], np.append(SAFE.released_of, 0)):
        assert set(broken(replace(SAFE, released_of=people))) == {"everybody-accounted", "own-samples-held"}


def test_everybody_has_one_released_trajectory_of_their_own():
    gone = SAFE.released_of.copy()
    gone[-1] = -1
    assert "everybody-accounted" in broken(replace(SAFE, released_of=gone))
    twice = SAFE.released_of.copy()
    twice[-1] = twice[0]
    assert "everybody-accounted" in broken(replace(SAFE, released_of=twice))
    # Where samples may be moved, people may be deleted, and their trajectories with them.
    moved = replace(identity_release(MADE), promise=CoLocation(k=2, delta=1e9))
    assert "everybody-accounted" not in broken(moved)
    assert "everybody-accounted" in broken(replace(moved, released_of=np.append(moved.released_of, -1)))
    assert "everybody-accounted" in broken(replace(moved, released_of=gone))


def test_points_are_one_step_wide_and_no_more():
    still = Trajectories.of(user=[0, 1], t=[0, 0], x=[0, 1], y=[0, 0], grid=Grid())
    points = replace(identity_release(still), promise=CoLocation(k=2, delta=100.0))
    assert broken(points, still) == ()
    for side in ("t1", "x1", "y1"):
        wide = with_side(points, side, 0, int(getattr(points.boxes, side)[0]) + 1)
        assert "companions-reach-k" in broken(wide, still)


def test_samples_that_are_no_trajectorys_are_nothing_released():
    assert shape_faults(SAFE) is None
    nobodys = replace(SAFE, offsets=np.array([0]))
    assert shape_faults(nobodys) == "nothing is released"
    nothing = replace(SAFE, offsets=np.array([0]), boxes=Boxes(*(side[:0] for side in SAFE.boxes)))
    assert shape_faults(nothing) == "nothing is released"
