"""Erasures that wait for company are counted: who left, and is still in a number that stands."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.waiting import could_be_alike, waiting_for_company


def told(groups: dict[int, int], whose: list[int]) -> Disclosure:
    """Return a release, given the group of each of its records."""
    record = np.array(sorted(groups), dtype=np.uint64)
    group = np.array([groups[one] for one in sorted(groups)], dtype=np.int32)
    person = np.array([whose[one] for one in sorted(groups)], dtype=np.uint64) + np.uint64(1000)
    trips = np.bincount(group[group >= 0], minlength=3)
    return Disclosure(name="", record=record, person=person, group=group, trips=trips, k=2)


@st.composite
def erasures(draw: st.DrawFn) -> tuple[list[dict[int, int]], list[int]]:
    """Draw two releases of twenty records, two at most gone in the second, and whose they are."""
    groups = st.lists(st.integers(-1, 2), min_size=20, max_size=20)
    before, after = (dict(enumerate(draw(groups))) for _ in range(2))
    for gone in draw(st.sets(st.integers(0, 19), max_size=2)):
        del after[gone]
    return [before, after], draw(st.lists(st.integers(0, 8), min_size=20, max_size=20))


@given(erasures())
def test_who_waits_is_gone_from_a_group_of_which_others_are_withheld(
    world: tuple[list[dict[int, int]], list[int]],
) -> None:
    (before, after), whose = world
    waiting = {
        whose[gone]
        for gone in before.keys() - after.keys()
        if before[gone] >= 0 and any(before[one] == before[gone] and after[one] == -1 for one in after)
    }
    found = waiting_for_company([(7, True, told(before, whose))], told(after, whose))
    assert found == (len(waiting), (7,))


def test_each_is_counted_once_whatever_releases_they_were_in() -> None:
    whose = list(range(30))
    before = told(dict.fromkeys(range(30), 0), whose)
    after = told(dict.fromkeys(range(1, 30), -1), whose)
    assert waiting_for_company([(1, True, before), (2, True, before)], after) == (1, (1, 2))


def test_of_another_period_people_count_who_are_gone_altogether() -> None:
    whose = [0, 0, *range(2, 30)]
    before = told(dict.fromkeys(range(30), 0), whose)
    one_trip_less = told(dict.fromkeys(range(1, 30), -1), whose)
    assert waiting_for_company([(1, True, before)], one_trip_less) == (1, (1,))
    assert waiting_for_company([(1, False, before)], one_trip_less) == (0, (1,))
    assert waiting_for_company([(1, False, before)], told(dict.fromkeys(range(2, 30), -1), whose)) == (
        1,
        (1,),
    )


def test_other_records_are_another_matter() -> None:
    whose = list(range(30))
    before = told(dict.fromkeys(range(30), 0), whose)
    assert waiting_for_company([(1, True, before)], told(dict.fromkeys(range(3, 30), -1), whose)) == (3, (1,))
    assert waiting_for_company([(1, True, before)], told(dict.fromkeys(range(4, 30), -1), whose)) == (0, ())
    assert could_be_alike(27, 30)
    assert not could_be_alike(26, 30)
