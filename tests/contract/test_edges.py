"""Every registered method at the edge: maps of one tile, limits next to everything, odd weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oracles.flows.kernels import Tree
from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.promises import AllOf, KAnonymity, LDiversity
from worlds.matrices import grid, hierarchy_of
from worlds.methods import HELD_TO_IT

pytestmark = pytest.mark.parametrize("method", HELD_TO_IT.values(), ids=HELD_TO_IT)

CHAIN: Tree = {"all": None, "part": "all", "tile": "part"}


def matrix_of(method: type[FlowMethod], tree: Tree, ends: Any, **columns: Any) -> ODMatrix:
    """Return a matrix; tiles have a place if and only if the method draws zones of its own."""
    hierarchy = hierarchy_of(tree, places=grid(tree) if method.draws_zones else None)
    return ODMatrix.from_trips(hierarchy, hierarchy, *np.array(ends, dtype=np.int32).T, **columns)


@pytest.mark.parametrize("tree", [{"tile": None}, CHAIN], ids=["one zone", "a chain"])
def test_a_map_of_one_tile_is_released_or_refused(method: type[FlowMethod], tree: Tree) -> None:
    matrix = matrix_of(method, tree, [(0, 0)] * 5)
    release = method(promise=KAnonymity(k=5), suppression_limit=0.5).anonymise(matrix)
    assert release.trips.tolist() == [5]
    with pytest.raises(ImpossibleRequestError, match="at least 6 trips"):
        method(promise=KAnonymity(k=6, unit="trips"), suppression_limit=0.5).anonymise(matrix)


@pytest.mark.parametrize("limit", [1 - 2.0**-53, 1 - 1e-13, 0.999])
@pytest.mark.parametrize("weighted", [False, True], ids=["trips", "population"])
def test_a_limit_next_to_everything_still_releases_something(
    method: type[FlowMethod], limit: float, weighted: bool
) -> None:
    tree: Tree = {"all": None, "a": "all", "b": "all"}
    ends = [(0, 0), (0, 0), (1, 1), (1, 0)]
    columns = {"weight": np.array([1.1, 2.3, 1e-7, 5.9])} if weighted else {}
    promise = KAnonymity(k=2, unit="population" if weighted else "trips")
    matrix = matrix_of(method, tree, ends, **columns)
    release = method(promise=promise, suppression_limit=limit).anonymise(matrix)
    assert release.n_groups >= 1


def test_weights_a_thousand_billion_times_apart_are_told_apart(method: type[FlowMethod]) -> None:
    """A rare light flow is suppressed before a heavy one, whatever the price of doing so."""
    tree: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}
    ends = [(o, d) for o in range(4) for d in range(4)]
    weight = np.array([1e9 if o != 3 else 1e-3 for o, _ in ends])
    matrix = matrix_of(method, tree, ends, weight=weight)
    release = method(promise=KAnonymity(k=10, unit="population"), suppression_limit=1e-6).anonymise(matrix)
    assert release.population is not None
    hidden = weight[release.suppressed].sum()
    assert hidden <= 1e-6 * weight.sum()
    assert release.population.sum() + hidden == pytest.approx(weight.sum())
    if release.bound is not None:
        assert release.bound.value >= 2
        assert np.isfinite(release.bound.gap)


def test_more_places_than_there_are_are_refused(method: type[FlowMethod]) -> None:
    matrix = matrix_of(method, CHAIN, [(0, 0)] * 5)
    wanted = AllOf(promises=(KAnonymity(k=2), LDiversity(l=2)))
    refusal = (InputError, "zones of its own") if method.draws_zones else (ImpossibleRequestError, "2 tiles")
    with pytest.raises(refusal[0], match=refusal[1]):
        method(promise=wanted).anonymise(matrix)


def test_a_flow_without_a_trip_is_no_flow(method: type[FlowMethod]) -> None:
    with pytest.raises(InputError, match="at least one flow"):
        method(promise=KAnonymity(k=2)).anonymise(matrix_of(method, CHAIN, np.empty((0, 2))))
