"""Dual decomposition: whatever is shared and moved, no pair of cuts goes below what is proven."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows import cuts as plain
from oracles.flows import decomposition as oracle
from tripcloak.flows.methods import TwinCut
from tripcloak.flows.methods._kernels import decomposition as _kernels
from tripcloak.flows.methods.decomposition import Decomposition
from tripcloak.flows.methods.products import SafeProducts, find_products
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import InputError
from worlds.cuts import Request, k_of, requests
from worlds.depth import size
from worlds.matrices import diced_tree, hierarchy_of, seeds

MANY = size(2, 3) * settings().max_examples


def products_of(request: Request) -> SafeProducts:
    """Return the products under the loss that is any table of numbers."""
    matrix = request.case.matrix()
    return find_products(matrix, request.promise.resolve(matrix), request.table)


# --- the bound -------------------------------------------------------------------------------------


@settings(max_examples=MANY)
@given(
    request=requests(max_zones=8, max_rows=20, any_withholding=True),
    price=st.sampled_from([0.1, 1.0, 7.0, 100.0]),
    aims=st.lists(st.floats(0.5, 3.0), min_size=1, max_size=30),
)
def test_the_bound_never_exceeds_the_best_of_all_pairs_of_cuts(
    request: Request, price: float, aims: list[float]
) -> None:
    """Wherever the steps aim at, also below the optimum or far above it."""
    products, boxes = products_of(request), request.table_boxes
    reached = plain.twin_frontier(boxes, plain.pairs_of_cuts(boxes))
    optimum = plain.least_mean(reached, boxes.total, request.limit * boxes.total * (1 + 1e-12))
    keeps_safe = request.withhold == "unsafe"
    proof = Decomposition(products, products.budget(request.limit), price, keeps_safe=keeps_safe)
    before = 0.0
    for aim in aims:
        proof.round(aim * optimum)
        assert before <= proof.bound <= optimum * (1 + 1e-9) + 1e-12
        before = proof.bound


@pytest.fixture(scope="module")
def busy() -> ODMatrix:
    """Trips between two trees of forty zones, some ways far busier than others."""
    dice = Random(5)
    trees = [hierarchy_of(diced_tree(dice, 40)) for _ in range(2)]
    ends = np.array([[int(tree.n_tiles * dice.random() ** 2) for tree in trees] for _ in range(900)]).T
    return ODMatrix.from_trips(trees[0], trees[1], *ends)


def test_the_longer_the_proof_the_closer_the_bound(busy: ODMatrix) -> None:
    gaps = []
    for effort in (0, None):
        method = TwinCut(promise=k_of(6), suppression_limit=0.1, certify=effort)
        bound = method.anonymise(busy).bound
        assert bound is not None
        gaps.append(bound.gap)
    nested, shared = gaps
    assert nested > 10
    assert shared < nested / 5


def test_two_problems_that_agree_prove_that_nothing_is_better() -> None:
    """All travel between two far ends: one cut of each axis is best for every zone of the other."""
    tree = hierarchy_of({"all": None, "west": "all", "east": "all", "a": "west", "b": "west", "c": "east"})
    matrix = ODMatrix.from_trips(tree, tree, np.repeat([0, 2], 9), np.repeat([2, 0], 9))
    release = TwinCut(promise=k_of(3), suppression_limit=0.1).anonymise(matrix)
    assert release.bound is not None
    assert (release.bound.value, release.bound.gap) == (2.0, 0.0)


def test_the_fixed_effort_is_the_same_every_time(busy: ODMatrix) -> None:
    bounds = {TwinCut(promise=k_of(6), suppression_limit=0.1).anonymise(busy).bound for _ in range(2)}
    assert len(bounds) == 1


def test_a_time_for_the_proof_is_kept(busy: ODMatrix, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[float] = []
    once = Decomposition.round

    def spy(self: Decomposition, reached: float) -> None:
        rounds.append(reached)
        once(self, reached)

    monkeypatch.setattr(Decomposition, "round", spy)
    TwinCut(promise=k_of(6), suppression_limit=0.1, certify=0).anonymise(busy)
    assert not rounds
    release = TwinCut(promise=k_of(6), suppression_limit=0.1, certify=0.2).anonymise(busy)
    assert rounds
    assert release.bound is not None


@pytest.mark.parametrize("wrong", [-1.0, np.inf, np.nan])
def test_a_time_that_is_none_is_refused(wrong: float) -> None:
    with pytest.raises(InputError, match="time for the proof must be 0 seconds or more"):
        TwinCut(certify=wrong)


# --- the kernels -----------------------------------------------------------------------------------


@st.composite
def shares(draw: st.DrawFn) -> tuple[SafeProducts, dict[str, Any]]:
    """Return products, and losses, volumes, shifts and choices in small whole numbers."""
    products, dice = products_of(draw(requests())), draw(seeds)
    n = len(products)
    return products, {
        "saving": np.array([float(dice.choice([0, 1, 2, 4, -3])) for _ in range(n)]),
        "volume": np.array([float(dice.randrange(5)) for _ in range(n)]),
        "shift": np.array([float(dice.randrange(-6, 7)) for _ in range(n)]),
        "chosen": tuple(np.array([dice.random() < 0.5 for _ in range(n)]) for _ in range(2)),
        "pull": np.array([float(dice.randrange(-2, 3)) for _ in range(n)]),
    }


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(given_shares=shares(), first=st.sampled_from([0, 1]))
def test_the_best_nested_cut_is_that_of_the_plain_twin(mode: str, given_shares: Any, first: int) -> None:
    products, numbers = given_shares
    second, kernel = 1 - first, _kernels.best_nested
    tile = [zone < tree.n_tiles for tree, zone in zip(products.axes, products.zone, strict=True)]
    whole = products.zone[second] == products.axes[second].root
    arguments = numbers["shift"], products.up[first], products.up[second], whole, tile[first], tile[second]
    n = len(products)
    sums, chosen, margin = np.empty((2, n)), np.empty(n, dtype=bool), np.ones(n)
    saved = (kernel if mode == "compiled" else kernel.py_func)(*arguments, sums, chosen, margin)
    best = oracle.best_nested(*(array.tolist() for array in arguments))
    assert saved == best.saved
    # Of two equal ways the undivided one is taken by both.
    assert set(np.flatnonzero(chosen)) == best.chosen
    zones = {int(zone) for zone in products.zone[first][sorted(best.chosen)]}
    assert all(margin[p] >= 0 for p in np.flatnonzero(whole) if int(products.zone[first][p]) in zones)
    plainly = oracle.margins(*(array.tolist() for array in arguments))
    assert {p: margin[p] for p in np.flatnonzero(whole).tolist()} == plainly


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(given_shares=shares(), first=st.sampled_from([0, 1]), room=st.sampled_from([0.0, 1.0, 3.0, 9.0]))
def test_zones_are_ruled_out_as_by_the_plain_twin(
    mode: str, given_shares: Any, first: int, room: float
) -> None:
    products, numbers = given_shares
    up, zone = products.up[first], products.zone[first]
    whole = np.flatnonzero(products.zone[1 - first] == products.axes[1 - first].root)
    margin = np.where(zone < products.axes[first].n_tiles, np.inf, numbers["shift"])
    known = np.zeros((2, len(products.axes[first])), dtype=bool)
    # One zone that is known already stays as it is.
    known[0, int(zone[-1])] = True
    before = known.copy()
    kernel = _kernels.rule_out if mode == "compiled" else _kernels.rule_out.py_func
    new = kernel(margin, whole, up, zone, room, *known)
    plainly = oracle.rule_out(margin.tolist(), whole.tolist(), up.tolist(), zone.tolist(), room)
    for z in range(known.shape[1]):
        wanted = (True, False) if z == zone[-1] else plainly.get(z, (False, False))
        assert tuple(known[:, z].tolist()) == wanted
    assert new == (known & ~before).sum()


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(given_shares=shares())
def test_savings_are_shared_and_moved_as_by_the_plain_twins(mode: str, given_shares: Any) -> None:
    products, n = given_shares
    kernels = [_kernels.share_savings, _kernels.pull_apart, _kernels.move_shift]
    share, pull_apart, move = kernels if mode == "compiled" else [kernel.py_func for kernel in kernels]
    saving, plainly, halves = n["saving"], n["saving"].tolist(), np.empty((2, len(products)))
    share(saving, n["shift"], *halves)
    assert tuple(half.tolist() for half in halves) == oracle.share_savings(plainly, n["shift"].tolist())
    pull, before, volume = n["pull"].copy(), n["pull"].tolist(), n["volume"]
    told = pull_apart(saving, volume, n["chosen"], 0.5, pull)
    chosen = tuple(some.tolist() for some in n["chosen"])
    pulls, sums = oracle.pull_apart(plainly, volume.tolist(), chosen, 0.5, before)
    assert pull.tolist() == pulls
    assert told == pytest.approx(sums)
    shift = n["shift"].copy()
    move(saving, pull, 0.25, shift)
    assert shift.tolist() == pytest.approx(oracle.move_shift(plainly, pulls, 0.25, n["shift"].tolist()))
