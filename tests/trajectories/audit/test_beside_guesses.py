"""What manifests say of links and of dummies told apart, and of what they promise, judged at the edges."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tripcloak.ground.rulebook import BrokenPart, NotPromised
from tripcloak.trajectories.audit.promise import read_stated
from tripcloak.trajectories.audit.rules import manifest as rules

MIXING = {"kind": "mixing", "k": 5, "width": 500, "longest": 3600}
PROFILE = {"kind": "disclosure", "sd": 0.4, "ld": 0.25, "dst": 2.0, "cell": 500}
CONTAINED = {"kind": "containment", "k": 5}


def case(promise: dict[str, Any], facts: dict[str, Any], whose: Any = ()) -> Any:
    stated = SimpleNamespace(promise=read_stated(promise))
    return SimpleNamespace(manifest=stated, facts=facts, whose=np.asarray(whose))


def links(changes: int, told: Any, /, **other: Any) -> Any:
    """Return what is said of links that were told of so many changes, of as many people."""
    entry = dict.fromkeys(rules.INNER["links"][1:-1], told) | {"alike": 3.5}
    entry = {"changes": changes, **entry, **other}
    whose = np.repeat(np.arange(changes), 2)
    return rules.links_told_safely(case(MIXING, {"links": entry}, whose))


@pytest.mark.parametrize(
    ("changes", "told", "other", "fine"),
    [
        (100, 47, {}, True),
        (99, 47, {}, False),
        (99, 40, {}, True),
        (10, 40, {}, True),
        (9, 40, {}, False),
        (9, None, {"alike": None}, True),
        (9, None, {}, False),
        (100, None, {"alike": None}, False),
        (100, 100, {}, True),
        (100, 101, {}, False),
        (100, -1, {}, False),
        (100, 47.0, {}, False),
        (100, True, {}, False),
        (100, 47, {"alike": 0.9}, False),
        (100, 47, {"alike": 1.0}, True),
        (100, 47, {"alike": 3.55}, False),
        (100, 47, {"alike": 3}, False),
        (100, 47, {"alike": 1e7}, False),
        (100, 47, {"changes": 99}, False),
        (100, 47, {"changes": 100.0}, False),
        (100, 47, {"timing": "often"}, False),
    ],
)
def test_links_are_whole_numbers_of_a_hundred(changes: int, told: Any, other: Any, fine: bool) -> None:
    assert (links(changes, told, **other) is None) is fine


def test_of_more_than_a_thousand_changes_a_thousand_are_tried() -> None:
    whose = np.zeros(1200, int)
    entry = {"changes": 1000, **dict.fromkeys(rules.INNER["links"][1:-1], 3), "alike": 3.5}
    assert rules.links_told_safely(case(MIXING, {"links": entry}, whose)) is None
    assert rules.links_told_safely(case(MIXING, {"links": {**entry, "changes": 1199}}, whose))


def test_links_are_told_of_pieces_and_dummies_of_dummies_alone() -> None:
    for rule, name in ((rules.links_told_safely, "links"), (rules.apart_told_safely, "apart")):
        assert isinstance(rule(case(CONTAINED, {})), NotPromised)
        assert "are told" in str(rule(case(CONTAINED, {name: {"people": 1}})))
    for told in (None, "often", {}, {"changes": 3}):
        assert "does not say" in str(rules.links_told_safely(case(MIXING, {"links": told}, [0, 0])))
    for told in (None, "often", {}, {"blind": 1, "right": 2, "people": 3}):
        assert "does not say" in str(rules.apart_told_safely(case(PROFILE, {"apart": told}, [0, -1])))


@pytest.mark.parametrize(
    ("people", "right", "blind", "fine"),
    [
        (100, 47, 33, True),
        # Who looks at others may do worse than by chance.
        (100, 17, 33, True),
        (99, 47, 30, False),
        (99, 40, 30, True),
        (9, None, None, True),
        (9, 40, 30, False),
        (100, 101, 33, False),
        (100, None, None, False),
    ],
)
def test_dummies_told_apart_are_of_people_alone(people: int, right: Any, blind: Any, fine: bool) -> None:
    # As many dummies as people stand beside them, and are nobody's.
    whose = np.concatenate([np.arange(people), np.full(people, -1)])
    told = {"people": people, "right": right, "blind": blind}
    assert (rules.apart_told_safely(case(PROFILE, {"apart": told}, whose)) is None) is fine


def test_a_guess_beside_dummies_is_of_people_and_never_worse_than_a_blind_one() -> None:
    whose = np.concatenate([np.arange(100), np.full(200, -1)])
    for people, right, fine in ((100, 99, True), (300, 99, False), (100, 20, False)):
        told = {"people": people, "right": right, "blind": 33}
        found = rules.guess_told_safely(case(PROFILE, {"guess": told}, whose))
        assert (found is None) is fine


@pytest.mark.parametrize(
    ("promise", "change"),
    [
        *((MIXING, change) for change in ({"width": 0}, {"longest": 0}, {"width": 5.0}, {"k": 1}, {"m": 2})),
        *((PROFILE, {name: value}) for name in ("sd", "ld") for value in (0, 1, "0.4", True, -0.1)),
        *((PROFILE, change) for change in ({"dst": -1}, {"cell": 0}, {"cell": 1.5}, {"k": 5}, {"dst": None})),
    ],
)
def test_numbers_that_promise_nothing_are_found(promise: dict[str, Any], change: dict[str, Any]) -> None:
    assert read_stated(promise)
    with pytest.raises(BrokenPart, match="the promise is none"):
        read_stated({**promise, **change})


def test_edges_of_what_may_be_promised_are_taken() -> None:
    assert read_stated({**MIXING, "width": 1, "longest": 1}).parted
    least = read_stated({**PROFILE, "dst": 0, "cell": 1, "sd": 0.001, "ld": 0.999}).profile
    assert least == (0.001, 0.999, 0, 1)
    assert read_stated(MIXING).spoken == ("5", "5", "500", "3600")
    assert read_stated(PROFILE).spoken == ("0.4", "0.25", "2", "500")
