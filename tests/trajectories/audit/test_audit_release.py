"""The audit in memory says yes to what is safe, and no to every forgery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tripcloak.promises import CoLocation, Containment
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease
from worlds.merged_trajectories import merged_release, with_side
from worlds.trajectories import identity_release, made, one_box_release

MADE = made(users=11, samples=8, seed=1)
SAFE = merged_release(MADE, k=3)


def test_a_safe_release_passes_with_the_right_numbers() -> None:
    audit = audit_release(MADE, SAFE)
    assert audit.safe, audit.findings
    assert audit.smallest_support == audit.numbers["smallest_two_sided_support"] == 3
    assert audit.numbers["distribution"]["support"]["0"] == 3
    assert audit.to_dict()["findings"][0]["ok"] is True


def test_one_box_for_all_hides_everybody_among_all() -> None:
    audit = audit_release(MADE, replace(one_box_release(MADE), promise=Containment(k=11)))
    assert audit.safe
    assert audit.smallest_support == 11


def swap_boxes(release: TrajectoryRelease) -> TrajectoryRelease:
    box_of = release.box_of.copy()
    box_of[[0, -1]] = box_of[[-1, 0]]
    return replace(release, box_of=box_of)


def drop_last(release: TrajectoryRelease) -> TrajectoryRelease:
    end = release.offsets[-2]
    boxes = Boxes(*(side[:end] for side in release.boxes))
    box_of = np.where(release.box_of < end, release.box_of, -1)
    gone = np.where(release.released_of < release.n_released - 1, release.released_of, -1)
    return replace(release, offsets=release.offsets[:-1], boxes=boxes, box_of=box_of, released_of=gone)


def says(**entry: Any) -> Callable[[TrajectoryRelease], TrajectoryRelease]:
    """Return a forgery that promises what makes no sense."""
    promise = type("Told", (), {"to_manifest": lambda self: entry})()
    return lambda release: replace(release, promise=promise)


FORGERIES: dict[str, tuple[Callable[[TrajectoryRelease], TrajectoryRelease], str]] = {
    "k raised": (lambda r: replace(r, promise=Containment(k=4)), "support-reaches-k"),
    "k of one": (says(kind="containment", k=1), "promise-valid"),
    "k not whole": (says(kind="containment", k=2.5), "promise-valid"),
    "unknown promise": (says(kind="trust me", k=3), "promise-valid"),
    "a delta that means nothing": (says(kind="containment", k=3, delta=5.0), "promise-valid"),
    "box shrunk": (lambda r: with_side(r, "x1", 0, int(r.boxes.x1[0]) - 1), "support-reaches-k"),
    "box without extent": (lambda r: with_side(r, "y1", 2, int(r.boxes.y0[2])), "boxes-whole"),
    "boxes overlap": (lambda r: with_side(r, "t1", 0, int(r.boxes.t0[1]) + 1), "boxes-whole"),
    "trajectory dropped": (drop_last, "everybody-accounted"),
    "trajectory dropped, and support": (drop_last, "support-reaches-k"),
    "samples swapped": (swap_boxes, "own-samples-held"),
    "another grid": (lambda r: replace(r, grid=Grid(metres=50)), "input-unchanged"),
    "another input": (lambda r: replace(r, input_digest="0"), "input-unchanged"),
    "two people share one": (
        lambda r: replace(r, released_of=np.where(r.released_of == 1, 0, r.released_of)),
        "everybody-accounted",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_every_forgery_is_found(name: str) -> None:
    forge, rule = FORGERIES[name]
    made_of = made(users=9, samples=8, seed=1)
    audit = audit_release(made_of, forge(merged_release(made_of, k=3)))
    assert not audit.safe
    assert rule in audit.broken


def test_raw_trajectories_are_not_safe() -> None:
    audit = audit_release(MADE, identity_release(MADE))
    assert {"support-reaches-k", "two-sided-support-reaches-k", "nobody-alone"} <= set(audit.broken)
    assert audit.smallest_support == 1


def test_an_empty_box_gives_away_who_is_not_in_it() -> None:
    """Two people share all boxes but one, in which only one of them ever was."""
    two = Trajectories.of(user=[0, 0, 1], t=[0, 5, 0], x=[0, 9, 1], y=[0, 0, 0], grid=Grid())
    columns = np.array([[0, 1, 0, 2, 0, 1], [5, 6, 9, 10, 0, 1]] * 2).T
    release = TrajectoryRelease(
        method="by hand", parameters={}, promise=Containment(k=2), grid=two.grid, input_digest=two.digest,
        offsets=np.array([0, 2, 4]), boxes=Boxes(*columns), released_of=np.arange(2), box_of=np.arange(3),
    )  # fmt: skip
    audit = audit_release(two, release)
    assert audit.smallest_support == 2
    assert audit.numbers["smallest_two_sided_support"] == 0
    assert audit.broken == ("two-sided-support-reaches-k", "nobody-alone")


def points(x: list[int], *, k: int, delta: float) -> tuple[Trajectories, TrajectoryRelease]:
    """Return people who stand still for two steps at these places, and their release as points."""
    n = len(x)
    where = np.repeat(x, 2)
    made_of = Trajectories.of(user=np.repeat(range(n), 2), t=[0, 1] * n, x=where, y=where * 0, grid=Grid())
    release = replace(identity_release(made_of), promise=CoLocation(k=k, delta=delta))
    return made_of, release


def test_colocation_is_checked_to_the_metre_and_linkage_is_not_claimed() -> None:
    audit = audit_release(*points([0, 1, 2, 30, 31, 32], k=3, delta=200.0))
    assert audit.safe
    assert audit.smallest_support == 1
    words = {finding.rule: finding.words for finding in audit.findings}
    assert "not promised" in words["support-reaches-k"]
    assert "does not hold here" in words["support-reaches-k"]
    near = audit_release(*points([0, 1, 2, 30, 31, 32], k=3, delta=199.0))
    assert near.broken == ("companions-reach-k",)
    assert (
        "holds here all the same"
        in {f.rule: f.words for f in audit_release(*points([5, 5], k=2, delta=0.0)).findings}[
            "support-reaches-k"
        ]
    )


def test_colocation_is_about_points() -> None:
    made_of, release = points([0, 1], k=2, delta=500.0)
    wide = with_side(release, "x1", 0, 9)
    assert "companions-reach-k" in audit_release(made_of, wide).broken
    assert "promise-valid" in audit_release(made_of, says(kind="colocation", k=2)(release)).broken


def test_words_tell_neither_ids_nor_small_numbers() -> None:
    audit = audit_release(MADE, identity_release(MADE))
    words = " ".join(finding.words for finding in audit.findings)
    assert "fewer than 10" in words or "11 original" in words
    assert not any(str(user) in words for user in MADE.users)
