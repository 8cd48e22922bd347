"""Slots folded over a period that repeats."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy.time import FOLDS, Slots, fold_slots, folded_hierarchy

MINUTES = (5, 15, 60, 120, 360, 1440)


@given(
    moment=st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)),
    minutes=st.sampled_from(MINUTES),
    fold=st.sampled_from(sorted(FOLDS)),
)
def test_moments_at_the_same_place_share_a_slot(moment: datetime, minutes: int, fold: str) -> None:
    minute = (moment - datetime(1970, 1, 1)) // timedelta(minutes=1)
    again = minute + FOLDS[fold]
    here, there = (Slots(minutes, fold).number(np.array([m]))[0] for m in (minute, again))
    assert here == there
    assert 0 <= here < FOLDS[fold] // minutes
    if fold == "week":
        assert here * minutes // 1440 == moment.weekday()
    if fold == "day":
        assert here == (moment.hour * 60 + moment.minute) // minutes


@given(minutes=st.sampled_from(MINUTES), fold=st.sampled_from(sorted(FOLDS)), data=st.data())
def test_tiles_stand_in_the_order_of_time(minutes: int, fold: str, data: st.DataObject) -> None:
    """Coding finds a slot's tile by its place among the slots that occur."""
    last = FOLDS[fold] // minutes - 1
    places = data.draw(st.sets(st.integers(0, last), min_size=1, max_size=20))
    tree = folded_hierarchy(np.array(sorted(places)), minutes, fold)
    alone = [str(folded_hierarchy(np.array([place]), minutes, fold).zones.ids[0]) for place in sorted(places)]
    assert tree.zones.ids[: tree.n_tiles].tolist() == alone
    assert tree.zones.tiles[-1] == FOLDS[fold] // minutes


def test_neighbouring_weeks_alternate_between_a_and_b() -> None:
    hours = np.arange(4) * 168
    weeks = fold_slots(hours, 60, "2weeks") // 168
    assert (weeks[:-1] != weeks[1:]).all()


def test_another_fold_is_refused() -> None:
    with pytest.raises(HierarchyError, match="day, week, 2weeks"):
        folded_hierarchy(np.array([0]), 60, "month")
