"""ODkAnon equals its literal, step-by-step twin, and the examples worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows.kernels import Row, Tree, odkanon, safe
from oracles.readback import group_pairs, released_as
from tripcloak.flows.methods import ODkAnon
from tripcloak.flows.methods import odkanon as odkanon_module
from tripcloak.flows.release import Release
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.promises import KAnonymity, Promise, Unit
from worlds.depth import size
from worlds.matrices import DYADIC_WEIGHTS, Case, cases, limits, promises, seeds

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "odkanon_small.json").read_text())
AXES = ("origins", "destinations")


def both(case: Case, promise: Promise, limit: float, levels: int = 3) -> Release:
    """Return our release after holding it against the literal twin."""
    matrix = case.matrix()
    release = ODkAnon(promise=promise, suppression_limit=limit, levels=levels).anonymise(matrix)
    expected = odkanon(case.rows, case.trees, case.thresholds(promise), limit=limit, levels=levels)
    assert released_as(matrix, release) == expected.released_as
    return release


@settings(max_examples=size(3, 6) * settings().max_examples)
@given(data=st.data())
def test_it_equals_the_literal_twin(data: st.DataObject) -> None:
    case = data.draw(cases(weights=DYADIC_WEIGHTS))
    promise = data.draw(promises(case))
    assume(safe(case.rows, case.thresholds(promise)))
    both(case, promise, data.draw(limits), data.draw(st.integers(0, 4)))


@pytest.mark.parametrize("unit", ["trips", "travellers", "population"])
@given(data=st.data())
def test_it_equals_the_literal_twin_on_busy_matrices(unit: Unit, data: st.DataObject) -> None:
    """Two full trees of 3 x 3 tiles with many trips, where the search stops half-way."""
    tree: Tree = {"r": None} | dict.fromkeys("abc", "r") | {a + b: a for a in "abc" for b in "xyz"}
    dice = data.draw(seeds)
    tile = [zone for zone in tree if len(zone) == 2]
    rows = tuple(
        Row(dice.choice(tile), dice.choice(tile), dice.randint(-1, 40), dice.choice(DYADIC_WEIGHTS))
        for _ in range(data.draw(st.integers(40, 160)))
    )
    case = Case(trees=(tree, tree), rows=rows, has_person=True, has_weight=True)
    with pytest.MonkeyPatch.context() as patch:
        # Half of the flows judge first: cells that lie half there tell nothing.
        patch.setattr(odkanon_module, "ONE_IN", 2)
        both(case, KAnonymity(k=data.draw(st.integers(2, 4)), unit=unit), data.draw(limits), 1)


@pytest.mark.parametrize("example", GOLDEN["cases"], ids=lambda example: example["name"])
def test_examples_worked_by_hand(example: dict[str, Any]) -> None:
    rows = tuple(Row(o, d, trips=n) for o, d, n in GOLDEN["trips"])
    case = Case(trees=(GOLDEN["origins"], GOLDEN["destinations"]), rows=rows, has_trips=True)
    limit, levels, k = example["limit"], example["levels"], GOLDEN["k"]
    twin = odkanon(rows, case.trees, {"trips": k}, limit=limit, levels=levels)
    assert [[AXES[step.axis], step.zone, step.cost] for step in twin.steps] == example["steps"]
    release = both(case, KAnonymity(k=k), limit, levels)
    told = [[*pair, int(n)] for pair, n in zip(group_pairs(release), release.trips, strict=True)]
    assert sorted(told) == sorted(example["released"])
    sent = released_as(case.matrix(), release)
    assert [list(pair) for pair, zones in sent.items() if zones is None] == example["suppressed"]


FOUR: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}


def four(*pairs: str, trips: int = 1) -> Case:
    return Case(
        trees=(FOUR, FOUR), rows=tuple(Row(pair[0], pair[1], trips=trips) for pair in pairs), has_trips=True
    )


def test_a_single_tile_is_released_as_it_is() -> None:
    case = Case(trees=({"here": None}, {"here": None}), rows=(Row("here", "here"),) * 3)
    release = both(case, KAnonymity(k=3), 0.1)
    assert (group_pairs(release), release.trips.tolist()) == ([("here", "here")], [3])


def test_a_safe_matrix_is_left_alone() -> None:
    release = both(four("ac", "bd", "ca", trips=5), KAnonymity(k=5), 0.5)
    assert group_pairs(release) == [("a", "c"), ("b", "d"), ("c", "a")]
    assert not release.suppressed.any()


def test_one_trip_a_flow() -> None:
    release = both(four(*(o + d for o in "abcd" for d in "abcd")), KAnonymity(k=4), 0.0)
    assert group_pairs(release) == [(o, d) for o in ("ab", "cd") for d in ("ab", "cd")]
    assert release.trips.tolist() == [4, 4, 4, 4]


def test_all_trips_equal() -> None:
    case = four(*["ab"] * 6)
    assert group_pairs(both(case, KAnonymity(k=6), 0.1)) == [("a", "b")]
    with pytest.raises(ImpossibleRequestError):
        both(case, KAnonymity(k=7), 0.1)


def test_k_of_everything_reaches_the_top_and_withholds_nothing() -> None:
    case = four(*(o + d for o in "abcd" for d in "abcd"))
    release = both(case, KAnonymity(k=16), 0.9, levels=0)
    assert group_pairs(release) == [("all", "all")]
    assert not release.suppressed.any()


def test_the_root_is_the_lowest_zone_that_covers_what_is_left() -> None:
    case = four("ac", "bd", "ad", "bc")
    assert group_pairs(both(case, KAnonymity(k=4), 0.0)) == [("ab", "cd")]


def test_an_axis_of_one_tile_is_never_generalised() -> None:
    case = four("aa", "ab", "ac", "ad")
    assert group_pairs(both(case, KAnonymity(k=2), 0.0)) == [("a", "ab"), ("a", "cd")]


def test_ties_go_by_zone_id_not_by_height() -> None:
    # B, A (above B alone) and Z all cost 4. By id A goes before Z, although A is higher.
    tree: Tree = {"r": None, "A": "r", "B": "A", "m1": "B", "m2": "B", "Z": "r", "z1": "Z", "z2": "Z"}
    rows = tuple(Row(tile, "s", trips=2) for tile in ("m1", "m2", "z1", "z2"))
    case = Case(trees=(tree, {"s": None}), rows=rows, has_trips=True)
    assert sorted(group_pairs(both(case, KAnonymity(k=4), 0.0))) == [("A", "s"), ("Z", "s")]


def test_chains_are_climbed_one_zone_at_a_time() -> None:
    chain: Tree = {"r": None, "p3": "r", "p2": "p3", "p1": "p2", "p": "p1", "q": "r"}
    rows = (Row("p", "p"), Row("q", "p"), Row("p", "q"))
    case = Case(trees=(chain, chain), rows=rows)
    assert group_pairs(both(case, KAnonymity(k=3), 0.0)) == [("r", "r")]
    both(case, KAnonymity(k=2), 0.4, levels=0)


def test_limit_zero_withholds_nothing() -> None:
    case = four("ac", "ac", "ac", "bd")
    assert not both(case, KAnonymity(k=2), 0.0, levels=0).suppressed.any()
    assert both(case, KAnonymity(k=2), 0.5, levels=0).suppressed.tolist() == [False, True]


def test_levels_decide_what_is_hopeless() -> None:
    # "bd" joins "ac" one height up, so a filter that looks that far keeps it.
    case = four("ac", "ac", "ac", "bd")
    assert not both(case, KAnonymity(k=2), 0.5, levels=1).suppressed.any()
    assert both(case, KAnonymity(k=2), 0.5, levels=0).suppressed.sum() == 1


def test_the_filter_keeps_to_the_share_of_the_volume() -> None:
    # One height up "ac" and "ad" are safe together, "ca" and "cc" never. Two of four rows may go, but
    # the second would make 18 of the 28 trips withheld, more than half.
    rows = [Row(pair[0], pair[1], trips=n) for pair, n in (("ac", 5), ("ad", 5), ("ca", 9), ("cc", 9))]
    case = Case(trees=(FOUR, FOUR), rows=tuple(rows), has_trips=True)
    release = both(case, KAnonymity(k=10), 0.5, levels=1)
    assert release.suppressed.tolist() == [False, False, True, False]


def test_a_filter_that_would_leave_too_little_withholds_nothing() -> None:
    case = four("ac", "bd", "ca", "db")
    release = both(case, KAnonymity(k=3), 0.5, levels=0)
    assert not release.suppressed.any()


@pytest.mark.parametrize("levels", [-1, -5])
def test_levels_must_not_be_negative(levels: int) -> None:
    with pytest.raises(InputError, match="levels"):
        ODkAnon(levels=levels)


@pytest.mark.parametrize("tolerance", [-0.1, float("nan")])
def test_tolerance_must_not_be_negative(tolerance: float) -> None:
    with pytest.raises(InputError, match="tolerance"):
        ODkAnon(tolerance=tolerance)


def test_it_says_how_it_was_run() -> None:
    release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0.2, levels=1).anonymise(
        four("ac", "ac").matrix()
    )
    assert (release.method, release.suppression_limit) == ("odkanon", 0.2)
    assert release.parameters == {"levels": 1, "tolerance": 0.03}
    assert release.promise == KAnonymity(k=2, unit="trips")
    assert np.isfinite(release.seconds)
    assert release.seconds >= 0
