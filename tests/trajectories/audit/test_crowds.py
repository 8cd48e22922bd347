"""People in boxes and shared boxes, counted as plain loops count them; forged promises are found out."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import crowds as plain
from tripcloak.promises import KMSamples, Presence
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.audit.crowds import fewest_sharing, people_in_boxes
from tripcloak.trajectories.audit.screening import BoxSpans, Samples
from tripcloak.trajectories.methods.grid import GridGeneralisation
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease


@given(st.integers(0, 10**6), st.sampled_from([2, 9, 60]), st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_people_in_boxes_are_those_of_a_plain_loop(seed: int, reach: int, enough: int) -> None:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, random.integers(1, 12))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    t, x, y = random.integers(0, reach, (3, offsets[-1]))
    low = random.integers(0, reach, (3, 20))
    high = low + random.integers(1, reach, (3, 20))
    sides = [side for pair in zip(low, high, strict=True) for side in pair]
    found = people_in_boxes(
        Samples(offsets, t, x, y), BoxSpans(np.array([0, 20]), *sides), enough=enough, jobs=2
    )
    people = plain.count_inside(plain.listed(offsets, t, x, y), list(zip(*sides, strict=True)))
    assert found.tolist() == [min(enough, number) for number in people]


@given(st.integers(0, 10**6), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_shared_boxes_are_those_of_a_plain_loop(seed: int, m: int) -> None:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, random.integers(1, 9))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    t0 = np.concatenate([np.sort(random.choice(7, length, replace=False)) for length in lengths])
    x0 = random.integers(0, 2, len(t0))
    spans = BoxSpans(offsets, t0, t0 + 1, x0, x0 + 2, x0, x0 + 1)
    assert fewest_sharing(spans, m) == plain.fewest_sharing(plain.listed(offsets, *spans[1:]), m)


def test_many_sets_are_counted_in_several_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["tripcloak.trajectories.audit.crowds"], "AT_ONCE", 3)
    t0 = np.array([0, 1, 2, 0, 1, 2, 0, 1, 4])
    spans = BoxSpans(np.array([0, 3, 6, 9]), t0, t0 + 1, t0, t0 + 1, t0, t0 + 1)
    assert [fewest_sharing(spans, m) for m in (1, 2, 3)] == [1, 1, 1]
    assert fewest_sharing(BoxSpans(np.array([0, 3, 6]), *(side[:6] for side in spans[1:])), 3) == 2


def crowd() -> Trajectories:
    user = np.repeat(np.arange(6), 2)
    return Trajectories.of(user=user, t=[0, 70] * 6, x=user // 3 * 8, y=[0] * 12, grid=Grid())


def released() -> TrajectoryRelease:
    return GridGeneralisation(k=3, cell=400, interval=3600).anonymise(crowd())


def test_a_box_with_fewer_people_than_promised_is_found() -> None:
    assert audit_release(crowd(), released()).safe
    forged = replace(released(), promise=Presence(k=4))
    assert audit_release(crowd(), forged).broken == ("boxes-hold-k",)


def test_samples_outside_their_box_and_of_nobody_are_found() -> None:
    boxes = Boxes(*(np.asarray(side).copy() for side in released().boxes))
    boxes.x1[0] = boxes.x0[0] + 1
    boxes.x0[-1] += 1
    forged = replace(released(), boxes=boxes)
    assert "own-samples-held" in audit_release(crowd(), forged).broken
    nobody = replace(released(), released_of=np.array([0, 1, 2, 3, 4, -1]))
    assert "everybody-accounted" in audit_release(crowd(), nobody).broken
    missing = replace(released(), box_of=np.append(released().box_of[:-1], released().n_boxes))
    assert "own-samples-held" in audit_release(crowd(), missing).broken


def test_what_is_withheld_is_no_fault_where_that_is_promised() -> None:
    release = released()
    short = replace(
        release,
        offsets=release.offsets[:-1],
        boxes=Boxes(*(side[: release.offsets[-2]] for side in release.boxes)),
        released_of=np.array([0, 1, 2, 3, 4, -1]),
        box_of=np.where(release.box_of >= release.offsets[-2], -1, release.box_of),
    )
    # Two of three are left in the box by what is released; three were there.
    assert audit_release(crowd(), short).safe


def test_too_few_who_share_m_samples_are_found() -> None:
    release = released()
    for m in (1, 2):
        assert audit_release(crowd(), replace(release, promise=KMSamples(k=3, m=m))).safe
    assert audit_release(crowd(), replace(release, promise=KMSamples(k=4, m=1))).broken == (
        "m-samples-reach-k",
    )


def test_more_boxes_are_shared_by_fewer() -> None:
    """Each box is two people's, and both boxes are one's."""
    t0, x0 = np.array([0, 1, 0, 1]), np.array([5, 7, 5, 7])
    spans = BoxSpans(np.array([0, 2, 3, 4]), t0, t0 + 1, x0, x0 + 1, x0, x0 + 1)
    assert (fewest_sharing(spans, 1), fewest_sharing(spans, 2)) == (2, 1)
