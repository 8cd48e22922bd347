"""What a promise may ask for, at both ends: the last number that makes sense, and the next one."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.promises import (
    AllOf,
    AveragePeople,
    CoLocation,
    Containment,
    DifferentialPrivacy,
    Dominance,
    EverySegment,
    HiddenChoices,
    KAnonymity,
    KMAnonymity,
    LDiversity,
    PPercent,
    Promise,
    Rounding,
    TCloseness,
)
from tripcloak.promises.dominance import exact_share
from tripcloak.promises.segments import SegmentName

PEOPLE = KAnonymity(k=10, unit="travellers")
ABOVE_NOTHING, BELOW_ALL = 1e-6, 1 - 1e-6
SMALLEST = math.ulp(0.0)


def noise(**given: Any) -> Promise:
    return DifferentialPrivacy(**{"epsilon": 1.0, "mechanism": "noise", **given})


EDGES: dict[str, tuple[Callable[[Any], Promise], list[Any], list[Any]]] = {
    "k": (lambda k: KAnonymity(k=k), [2, 2**53], [1, 2**53 + 2]),
    "k of average people": (lambda k: AveragePeople(k=k), [2], [1, 2.5]),
    "ids of travellers": (
        lambda unit: KAnonymity(k=2, unit=unit, id_is="card"), ["travellers"], ["trips", "population", None]
    ),
    "l": (lambda least: LDiversity(l=least), [2, 2**31 - 1], [1, 2**31]),
    "t": (lambda t: TCloseness(t=t), [SMALLEST, math.nextafter(1, 0)], [0, 1]),
    "share": (lambda share: Dominance(share=share), [ABOVE_NOTHING, BELOW_ALL], [0, 1, 1e-7, 0.1234567]),
    "of": (lambda of: Dominance(of=of), [("trips",), ("population",)], [(), ("travellers",), ("trips", "x")]),
    "p": (lambda p: PPercent(p=p), [ABOVE_NOTHING, 100], [0, 100.000001, 1e-7]),
    "k of hidden choices": (lambda k: HiddenChoices(k=k), [2], [1, 2.5]),
    "times": (lambda times: HiddenChoices(times=times), [2, 10], [1, 11]),
    "unit of hidden choices": (lambda unit: HiddenChoices(unit=unit), [None, "trips"], ["people"]),
    "m": (lambda m: KMAnonymity(promise=PEOPLE, m=m), [1, 3], [0, 4, 1.5]),
    "segments": (
        lambda names: EverySegment(promise=PEOPLE, parts=tuple(map(SegmentName, names))), [["a"]], [[]]
    ),
    "epsilon": (lambda epsilon: noise(epsilon=epsilon), [SMALLEST, 1e308], [0, -1, math.inf, math.nan]),
    "delta": (lambda delta: noise(delta=delta), [0, math.nextafter(1, 0)], [-SMALLEST, 1, math.nan]),
    "contributions": (lambda most: noise(contributions=most), [1], [0]),
    "unit of noise": (lambda unit: noise(unit=unit), ["trip", "traveller"], ["travellers"]),
    "ids of noise": (
        lambda unit: noise(unit=unit, id_is="card"), ["traveller"], ["trip"]
    ),
    "kinds of ids of noise": (lambda id_is: noise(id_is=id_is), ["card", None, "unknown"], ["dog"]),
    "k of trajectories": (lambda k: Containment(k=k), [2], [1]),
    "ids of trajectories": (lambda id_is: Containment(id_is=id_is), ["card"], ["dog"]),
    "delta of trajectories": (lambda delta: CoLocation(k=2, delta=delta), [0.0], [-SMALLEST, math.inf]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("make", "given"),
    [pytest.param(make, one, id=f"{name} {one}") for name, (make, kept, _) in EDGES.items() for one in kept],
)
def test_the_last_that_makes_sense_is_taken(make: Callable[[Any], Promise], given: Any) -> None:
    assert isinstance(make(given), Promise)


@pytest.mark.parametrize(
    ("make", "given"),
    [pytest.param(make, one, id=f"{name} {one}") for name, (make, _, not_) in EDGES.items() for one in not_],
)
def test_the_next_one_is_refused(make: Callable[[Any], Promise], given: Any) -> None:
    with pytest.raises(InputError):
        make(given)


def test_a_share_has_six_digits_and_no_more() -> None:
    assert exact_share(0.123456) == Fraction(123456, 10**6)
    with pytest.raises(InputError, match="at most six digits"):
        exact_share(0.1234567)


def weighed(people: int, population: float) -> Any:
    told = SimpleNamespace(people=people, population=population)
    return SimpleNamespace(units=("trips", "population"), represented=told, id_is="unknown", axes=(0, 1))


def test_the_mean_of_k_people_is_told_and_of_one_fewer_is_not() -> None:
    assert AveragePeople(k=10).resolve(weighed(10, 10.0)) == KAnonymity(k=10, unit="population")
    with pytest.raises(ImpossibleRequestError, match="fewer than 10 people"):
        AveragePeople(k=10).resolve(weighed(9, 90.0))


def test_a_threshold_of_two_is_one_and_one_of_one_is_none() -> None:
    """Rounded up: 1.01 people are two."""
    assert AveragePeople(k=2).resolve(weighed(200, 101.0)) == KAnonymity(k=2, unit="population")
    with pytest.raises(InputError, match="too small"):
        AveragePeople(k=2).resolve(weighed(200, 100.0))


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "hidden choices", "k": 10, "unit": "trips", "up_to": 21},
        {"kind": "hidden choices", "k": 10, "unit": "trips", "up_to": 10},
        {"kind": "hidden choices", "k": 10, "unit": "trips", "up_to": 110},
        {"kind": "hidden choices", "k": 10.0, "unit": "trips", "up_to": 20},
        {"kind": "hidden choices", "k": 10, "unit": "trips", "up_to": 20, "secret": "s"},
        {"kind": "every segment", "by": "sex", "names": ["a"], "promise": PEOPLE.to_manifest()},
        {"kind": "every segment", "by": ["sex"], "names": [1], "promise": PEOPLE.to_manifest()},
        {"kind": "every segment", "by": ["sex"], "names": [], "promise": PEOPLE.to_manifest()},
    ],
    ids=str,
)
def test_entries_one_step_off_are_not_read(entry: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Promise.from_manifest(entry)


@pytest.mark.parametrize(("units", "unit"), [(("trips",), "trips"), (("trips", "travellers"), "travellers")])
def test_hidden_choices_count_people_where_they_are_told_apart(units: tuple[str, ...], unit: str) -> None:
    matrix: Any = SimpleNamespace(units=units)
    assert HiddenChoices(k=3).resolve(matrix).unit == unit
    assert HiddenChoices(k=3, unit="trips").resolve(matrix).unit == "trips"


def test_each_part_of_several_promises_is_asked_for_what_it_is_decided_by() -> None:
    ten, close, parts = KAnonymity(k=10), TCloseness(t=0.5), Dominance(share=0.5)
    hidden = HiddenChoices(k=10, unit="travellers")
    together = AllOf(promises=(ten, close, parts, hidden))
    assert together.monotone == AllOf(promises=(ten, close))
    assert together.by_product == (parts, hidden)
    assert together.by_release == (close,)
    assert together.by_group == AllOf(promises=(ten, parts, hidden))
    assert together.openly == AllOf(promises=(ten, close, parts))
    assert AllOf(promises=(ten, parts)).monotone == ten


@pytest.mark.parametrize(
    ("unit", "id_is", "hidden"),
    [
        ("trip", None, "every trip (not person) ("),
        ("traveller", "person", "every person ("),
        ("traveller", "vehicle", "every vehicle (not person) ("),
        ("traveller", None, "every traveller ("),
    ],
)
def test_noise_says_whose_presence_it_hides(unit: str, id_is: Any, hidden: str) -> None:
    assert hidden in noise(unit=unit, id_is=id_is).sentence()


def test_a_base_is_two_or_more_and_a_whole_number() -> None:
    assert Rounding().base == 5
    assert Rounding(base=2).rounding == Rounding(base=2)
    with pytest.raises(InputError, match="multiples of 2 or more; got 1"):
        Rounding(base=1)
    told = Rounding(base=2, sums=False).to_manifest()
    assert Promise.from_manifest(told) == Rounding(base=2, sums=False)
    for other in ({"base": 2.0}, {"sums": 0}, {"more": 1}):
        with pytest.raises((InputError, ValueError)):
            Promise.from_manifest({**told, **other})


@pytest.mark.parametrize(
    ("by", "names"), [(["sex", 3], ["a"]), (["sex"], ["a", None]), ("sex", ["a"]), (["sex"], "a")]
)
def test_every_segment_of_a_manifest_has_a_name(by: Any, names: Any) -> None:
    told = EverySegment(promise=PEOPLE, parts=(SegmentName("a"),), by=("sex",)).to_manifest()
    assert Promise.from_manifest(told).to_manifest() == told
    with pytest.raises(InputError):
        Promise.from_manifest({**told, "by": by, "names": names})
