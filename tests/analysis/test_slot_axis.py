"""Slots of a release, from the names of its times alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tripcloak.analysis.slot_axis import SlotAxis, slot_axis
from tripcloak.flows.release.reading import Published, PublishedZones
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.hierarchy import Slots
from tripcloak.hierarchy.time import FOLDS


def axis_of(times: list[str], **hierarchy: Any) -> SlotAxis:
    """Return the slots of a release with one flow at every time."""
    n = len(times)
    ids = np.array(times, dtype=np.str_)
    zones = {"time": PublishedZones(ids, np.full(n, None, dtype=object), np.ones(n, dtype=np.int64))}
    ends = np.zeros(n, dtype=np.int64)
    facts = {"hierarchy": {"spec": "h3:8", **hierarchy}}
    return slot_axis(Published(facts, ends, ends, np.arange(n) if n else None, np.ones(n), zones))


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("minutes", [15, 60, 360])
def test_every_time_of_a_folded_hierarchy_is_known(fold: str, minutes: int) -> None:
    """Each covers as many slots as its hierarchy says, and all slots of the period are there."""
    number = FOLDS[fold] // minutes
    tree = Slots(minutes, fold).hierarchy(np.arange(number))
    found = axis_of(tree.zones.ids.tolist(), time_slot_minutes=minutes, fold=fold)
    assert found.names.tolist() == tree.zones.ids[:number].tolist()
    covered = found.shares.astype(bool).sum(axis=1)
    np.testing.assert_array_equal(covered, tree.zones.tiles)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    np.testing.assert_array_equal(found.places(tree), np.arange(number))


def test_days_that_are_named_have_all_their_hours() -> None:
    found = axis_of(["2024-05-01T08", "2024-05-02/morning", "2024-05-02"], time_slot_minutes=60)
    assert (len(found.names), found.fold) == (48, None)
    dense = found.shares.toarray()
    assert np.flatnonzero(dense[0]).tolist() == [8]
    assert np.flatnonzero(dense[1]).tolist() == list(range(30, 36))
    assert np.flatnonzero(dense[2]).tolist() == list(range(24, 48))
    assert found.names[8] == "2024-05-01T08"


def test_more_than_a_week_is_folded_over_the_week() -> None:
    """The same hour of two Wednesdays is one slot; all time is every slot alike."""
    found = axis_of(["2024-05-01T08", "2024-05-08T08", "2024-W19", "all time"], time_slot_minutes=60)
    assert (len(found.names), found.fold) == (168, "week")
    dense = found.shares.toarray()
    assert [found.names[slot] for slot in np.flatnonzero(dense[0])] == ["3-Wed T08"]
    np.testing.assert_array_equal(dense[0], dense[1])
    np.testing.assert_allclose(dense[2], 1 / 168)
    assert dense[3].sum() == pytest.approx(1)
    assert found.places(Slots(60).hierarchy(np.array([475_000]))).tolist() == [-1]


def test_all_time_is_every_slot_that_is_named_at_all() -> None:
    dense = axis_of(["2024-05-01T08", "all time"], time_slot_minutes=60).shares.toarray()
    np.testing.assert_allclose(dense[1], 1 / 24)


def test_a_release_without_time_says_how_to_make_one() -> None:
    with pytest.raises(InputError, match="--slot 1h --fold day"):
        axis_of([])


@pytest.mark.parametrize(
    ("times", "hierarchy"),
    [(["all time"], {}), (["every day"], {"fold": "day"}), (["2024-05-01"], {})],
    ids=["all time", "every day", "one day"],
)
def test_times_that_tell_nothing_about_hours_are_said_to(times: list[str], hierarchy: Any) -> None:
    with pytest.raises(ImpossibleRequestError, match="says nothing about hours; raise --time-weight"):
        axis_of(times, time_slot_minutes=60, **hierarchy)


@pytest.mark.parametrize(
    ("times", "hierarchy"),
    [
        (["soon", "T08"], {"fold": "day"}),
        (["2024-05-01T08", "yesterday"], {}),
        (["2024-05-01T08", "2024-05-01T25"], {}),
        (["2024-05-01T08", "2024-W77"], {}),
    ],
)
def test_a_time_that_is_none_is_named(times: list[str], hierarchy: Any) -> None:
    with pytest.raises(InputError, match="names a time that its slots do not have"):
        axis_of(times, time_slot_minutes=60, **hierarchy)
