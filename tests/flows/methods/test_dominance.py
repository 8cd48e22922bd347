"""Dominance and the p percent rule: optimal under them, kept at the very edge, caught by either audit."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from oracles.flows import cuts as plain
from oracles.flows.kernels import Row
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.methods import METHODS, ProductCut
from tripcloak.flows.methods.productcut import partition_search
from tripcloak.flows.methods.products import find_products
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.errors import ImpossibleRequestError, InputError, InternalError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import AllOf, Dominance, KAnonymity, PPercent, Promise, TCloseness, all_of
from worlds.cuts import Request, requests
from worlds.matrices import NOBODY, seeds

PLACES = np.array([48.0, 48.1, 48.2, 48.3, 48.05, 48.25, 48.15])
TREE = Hierarchy.from_parents(
    ["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1], lat=PLACES, lon=PLACES - 46
)
TEN = KAnonymity(k=10, unit="travellers")


def largest(rows: list[Row], volume: str) -> tuple[Fraction, Fraction, Fraction]:
    """Return what all rows hold, and what the two people with most of it have."""
    parts: Counter[int] = Counter()
    for row in rows:
        parts[row.person] += Fraction(row.trips if volume == "trips" else row.weight)
    total = sum(parts.values(), Fraction(0))
    first, second = [*sorted((n for person, n in parts.items() if person != NOBODY), reverse=True), 0, 0][:2]
    return total, Fraction(first), Fraction(second)


def holds(rule: Promise, rows: list[Row]) -> bool:
    for volume in rule.of:  # type: ignore[attr-defined]
        total, first, second = largest(rows, volume)
        if isinstance(rule, Dominance) and first > Fraction(repr(rule.share)) * total:
            return False
        if isinstance(rule, PPercent) and total - first - second < Fraction(repr(rule.p)) / 100 * first:
            return False
    return True


@given(request=requests(), dice=seeds)
def test_partitions_are_the_best_of_all_that_keep_the_rule(request: Request, dice: Random) -> None:
    """A box that breaks the rule may be split, and one of its parts released: nothing is pruned by it."""
    assume(request.case.has_person)
    volumes = ("trips", "population") if request.case.has_weight else ("trips",)
    rule = dice.choice([Dominance, PPercent])(of=volumes[: dice.randint(1, 2)])
    rule = replace(rule, share=dice.choice([0.25, 0.5])) if isinstance(rule, Dominance) else rule
    boxes = replace(request.table_boxes, also=lambda box, rows: holds(rule, rows))
    matrix = request.case.matrix()
    promise = all_of((request.promise, rule)).resolve(matrix)
    products = find_products(matrix, promise, request.table)
    search = partition_search(products, ProductCut().may_split(products), request.limit)
    unit = boxes.total / products.total
    for price in (0.0, 0.5, 2.0, 6.0, 1e6):
        offer = search.offer(price)
        assert offer.cost * unit == pytest.approx(plain.least_cost(boxes, price), rel=1e-9, abs=1e-9)
        home = products.place(offer.plan)
        assert products.flow_volume[home < 0].sum() == offer.hidden


def one_flow(trips: list[int], weight: list[float] | None = None, nobody: int = 0) -> ODMatrix:
    """Return one flow between two tiles in which person i makes so many trips."""
    person = np.repeat(np.arange(len(trips)), trips)
    person = np.append(person, np.full(nobody, NOBODY))
    ends = np.zeros(len(person), dtype=int)
    weights = {} if weight is None else {"weight": np.array(weight)[person]}
    return ODMatrix.from_trips(TREE, TREE, ends, ends, person=person, repeats=True, weights=True, **weights)


def released(matrix: ODMatrix, promise: Promise) -> Release:
    flows = matrix.flows
    return build_release(
        matrix, method="by hand", parameters={}, promise=promise, suppression_limit=0,
        origin_zone=flows.origin, destination_zone=flows.destination,
        suppressed=np.zeros(matrix.n_flows, dtype=bool), homogeneous=True,
    )  # fmt: skip


EDGES = [
    # One has 10 of 20 trips: half of them, and no more.
    (Dominance(share=0.5), [10, *[1] * 10], 0, True),
    (Dominance(share=0.5), [11, *[1] * 10], 0, False),
    (Dominance(share=0.29), [29, *[1] * 71], 0, True),
    (Dominance(share=0.29), [30, *[1] * 71], 0, False),
    # Trips without an id are part of the flow, and nobody's.
    (Dominance(share=0.5), [11, *[1] * 10], 1, True),
    # 100 of one, 20 of the next: the rest must be 10 at least.
    (PPercent(p=10), [100, 20, *[1] * 10], 0, True),
    (PPercent(p=10), [101, 20, *[1] * 10], 0, False),
    (PPercent(p=10), [100, 20, *[1] * 9], 1, True),
]


@pytest.mark.parametrize(("rule", "trips", "nobody", "kept"), EDGES, ids=str)
def test_the_very_edge(rule: Any, trips: list[int], nobody: int, kept: bool) -> None:
    promise = AllOf(promises=(TEN, rule))
    matrix = one_flow(trips, nobody=nobody)
    # Built without the rule, so that the audit is asked, and not the builder.
    unasked = replace(released(matrix, TEN), promise=promise)
    assert ("no-traveller-dominates" not in audit_matrix(matrix, unasked).broken) == kept
    if kept:
        assert audit_matrix(matrix, released(matrix, promise)).safe
    else:
        with pytest.raises(InternalError, match="not safe"):
            released(matrix, promise)


@pytest.mark.parametrize(("heaviest", "kept"), [(10.0, True), (10.5, False)])
def test_so_it_is_on_population(heaviest: float, kept: bool) -> None:
    promise = AllOf(promises=(TEN, Dominance(share=0.5, of=("population",))))
    matrix = one_flow([1] * 11, weight=[heaviest, *[1.0] * 10])
    unasked = replace(released(matrix, TEN), promise=promise)
    assert audit_matrix(matrix, unasked).safe == kept
    assert bool(promise.safe(_groups(matrix)).all()) == kept


def _groups(matrix: ODMatrix) -> Any:
    from tripcloak.flows.model import group_flows

    return group_flows(matrix, matrix.flows.origin, matrix.flows.destination)


def crowd() -> ODMatrix:
    """Return flows between four tiles, in some of which one person makes most trips."""
    dice = np.random.default_rng(5)
    origin, destination, person = (dice.integers(0, high, 4000) for high in (4, 4, 300))
    busy = np.tile(np.arange(4), 60)
    return ODMatrix.from_trips(
        TREE,
        TREE,
        np.concatenate((origin, busy, np.zeros(900, int))),
        np.concatenate((destination, busy, np.ones(900, int))),
        person=np.concatenate((person, np.full(240, 300), np.full(900, 301))),
        repeats=True,
    )


def answer(method: Any, matrix: ODMatrix) -> Release | str:
    """Return a method's release, or why there is none."""
    try:
        release: Release = method.anonymise(matrix)
    except ImpossibleRequestError as error:
        return str(error)
    return release


EXACT = [name for name in METHODS if not METHODS[name].noisy]


@pytest.mark.parametrize("name", EXACT)
def test_every_method_keeps_it_or_says_who_can(name: str) -> None:
    matrix, promise = crowd(), AllOf(promises=(TEN, Dominance(share=0.3)))
    own = {"multiplier": 20.0} if name == "atg-soft" else {}
    method = METHODS[name](promise=promise, suppression_limit=0.3, **own)
    release = answer(method, matrix)
    if isinstance(release, str):
        assert not method.judges_products
        assert "twincut, nestedcut, productcut" in release
        return
    assert "no-traveller-dominates" not in audit_matrix(matrix, release).broken
    assert audit_matrix(matrix, release).safe
    # Asked for nothing of the kind, it releases the flow that one person makes.
    alone = METHODS[name](promise=TEN, suppression_limit=0.3, **own).anonymise(matrix)
    assert "no-traveller-dominates" in audit_matrix(matrix, replace(alone, promise=promise)).broken


def test_a_limit_too_small_says_what_would_do() -> None:
    matrix, promise = crowd(), AllOf(promises=(TEN, Dominance(share=0.05)))
    for name in ("twincut", "nestedcut", "productcut", "atg-dual", "quadtree-knapsack", "odkanon"):
        with pytest.raises(ImpossibleRequestError, match="not possible"):
            METHODS[name](promise=promise, suppression_limit=0.1).anonymise(matrix)


def test_what_it_does_not_go_with() -> None:
    matrix = crowd()
    with pytest.raises(InputError, match="does not go together"):
        METHODS["twincut"](promise=AllOf(promises=(TEN, Dominance(), TCloseness(t=0.5)))).anonymise(matrix)
    unknown = ODMatrix.from_trips(TREE, TREE, np.zeros(20, int), np.zeros(20, int))
    with pytest.raises(InputError, match="person or vehicle id"):
        METHODS["twincut"](promise=AllOf(promises=(KAnonymity(k=2), Dominance()))).anonymise(unknown)
    with pytest.raises(InputError, match="give it together with k-anonymity"):
        METHODS["twincut"](promise=Dominance())
