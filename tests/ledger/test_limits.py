"""What limits on withheld trips leave little room for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.ledger import limits
from tripcloak.ledger.difference import within
from tripcloak.ledger.disclosure import ABSENT, Disclosure, Whole
from tripcloak.ledger.limits import facts_of_limits
from tripcloak.ledger.prevention import refuse_new_facts
from tripcloak.ledger.releasing import _refuse_another_mean
from tripcloak.promises import AveragePeople, KAnonymity
from tripcloak.promises.allof import all_of


def told(name: str, groups: list[int], *, at_most: int, at_least: int = 0, k: int = 4) -> Disclosure:
    """Return a release of trips of ten people, more than one each; the last ones may be absent."""
    there = [number for number, group in enumerate(groups) if group != ABSENT]
    record = np.array(there, dtype=np.uint64) + np.uint64(1)
    group = np.array([groups[number] for number in there], dtype=np.int32)
    trips = np.bincount(group[group >= 0])
    released = int(trips.sum())
    return Disclosure(
        name=name,
        record=record,
        person=record % np.uint64(10) + np.uint64(100),
        group=group,
        trips=trips,
        k=k,
        zones={"origin": np.arange(len(trips)).astype(str)},
        whole=Whole(released + at_least, released + at_most, len(there)),
    )


def test_a_release_that_tells_more_beside_a_tight_limit_is_refused() -> None:
    first = told("first", [0] * 10 + [1] * 8 + [-1] * 2, at_most=3)
    second = told("second", [0] * 19 + [-1], at_most=1)
    (fact,) = facts_of_limits([first, second], 4)
    assert (fact.words(), fact.people, fact.releases) == ("between 1 and 2 trips", 2, (0, 1))
    with pytest.raises(ImpossibleRequestError, match="limits on what is withheld are so tight"):
        refuse_new_facts([first], [second])
    # What followed before is no reason to refuse what adds nothing.
    refuse_new_facts([first, second], [told("third", [0] * 10 + [-1] * 10, at_most=19)])
    wide = told("wide", [0] * 10 + [1] * 8 + [-1] * 2, at_most=9)
    assert facts_of_limits([wide, told("second", [0] * 19 + [-1], at_most=9)], 4) == []


def test_what_left_an_input_follows_from_limits_of_both() -> None:
    before = told("before", [0] * 19 + [-1], at_most=1)
    after = told("after", [0] * 17 + [ABSENT] * 3, at_most=0)
    found = within([before, after])
    by_limits = [fact for fact in found.facts.found if fact.kind == "limits"]
    assert [(fact.least, fact.most, fact.people) for fact in by_limits] == [(2, 3, 3)]
    assert found.certificate(by_limits[0]) == (
        "between 2 and 3 trips, as inputs have no more trips in all, by their limits, than "
        "20 (before), 17 (after)"
    )
    assert found.to_dict()["certificates"][-1]["terms"][0] == {
        "times": 1,
        "release": "before",
        "published": 20,
    }


def test_a_band_tells_how_many_there_are_at_least() -> None:
    # Six are withheld, five at least; of these another release tells four.
    first = told("first", [0] * 14 + [-1] * 6, at_least=5, at_most=7)
    second = told("second", [-1] * 14 + [0] * 4 + [-1] * 2, at_most=19)
    assert [fact.words() for fact in facts_of_limits([first, second], 4)] == ["between 1 and 3 trips"]


def test_with_too_many_numbers_to_look_at_a_tight_limit_is_taken_to_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Of both it is known that no more than three are withheld, and not that somebody is.
    both = [told(name, [0] * 18 + [-1] * 2, at_most=3) for name in ("first", "second")]
    assert facts_of_limits(both, 4) == []
    monkeypatch.setattr(limits, "MOST_ATOMS", 1)
    assert len(facts_of_limits(both, 4)) == 1


def test_a_mean_weight_is_not_told_of_other_people_again() -> None:
    tree, here = Hierarchy.from_parents(["here"], [-1]), np.zeros(3, dtype=np.int32)
    weights, asked = np.array([10.0, 20.0, 60.0]), all_of([KAnonymity(k=2), AveragePeople(k=2)])
    three = ODMatrix.from_trips(tree, tree, here, here, weight=weights, person=np.arange(3))
    two = ODMatrix.from_trips(tree, tree, here[1:], here[1:], weight=weights[1:], person=np.arange(2))
    first = replace(told("first", [0] * 20, at_most=9), made={"promise": asked.resolve(three).stated()})
    _refuse_another_mean(asked, three, [first])
    _refuse_another_mean(all_of([KAnonymity(k=2), KAnonymity(k=80, unit="population")]), two, [first])
    with pytest.raises(InputError, match="tell the weight of somebody who came or left"):
        _refuse_another_mean(asked, two, [first])
