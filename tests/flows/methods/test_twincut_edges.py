"""TwinCut where there is hardly anything to choose: no division by zero, and the certificate stays true."""

from __future__ import annotations

import numpy as np
import pytest

from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.methods import TwinCut, scouting
from tripcloak.flows.methods.twincut import ALONE
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.hierarchy import Hierarchy
from worlds.cuts import k_of
from worlds.matrices import hierarchy_of

ONE_TILE = Hierarchy.from_parents(["here"], [-1])
FLAT = Hierarchy.from_parents(["a", "b", "c", "all"], [3, 3, 3, -1])
DEEP = hierarchy_of({"all": None, "west": "all", "east": "all", "a": "west", "b": "west", "c": "east"})
WEIGHTLESS = Hierarchy.from_parents(["a", "b", "c", "all"], [3, 3, 3, -1], area_km2=np.zeros(4))


def matrix_of(tree: Hierarchy, ends: list[tuple[int, int]], times: int = 1) -> ODMatrix:
    """Return the same trips so many times each."""
    origins, destinations = np.repeat(np.array(ends), times, axis=0).T
    return ODMatrix.from_trips(tree, tree, origins, destinations)


ALL_PAIRS = [(o, d) for o in range(3) for d in range(3)]

CASES = {
    "one tile": (matrix_of(ONE_TILE, [(0, 0)], 10), 10, "tiles"),
    "a tree of depth one": (matrix_of(FLAT, ALL_PAIRS, 12), 10, "tiles"),
    "all flows equal": (matrix_of(DEEP, ALL_PAIRS, 4), 10, "tiles"),
    "a k that only the root meets": (matrix_of(DEEP, ALL_PAIRS, 2), 18, "tiles"),
    "no loss anywhere": (matrix_of(WEIGHTLESS, ALL_PAIRS, 12), 10, "area"),
    "no loss, and not everything safe": (matrix_of(WEIGHTLESS, [(0, 0)] * 30 + [(1, 1)], 1), 10, "area"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("limit", [0.0, 0.1])
@pytest.mark.parametrize("withhold", ["worst", "unsafe"])
@pytest.mark.parametrize("certify", [None, 0.0, 0.05])
@pytest.mark.parametrize("case", CASES)
def test_hardly_anything_to_choose(case: str, certify: float | None, withhold: str, limit: float) -> None:
    matrix, k, loss = CASES[case]
    method = TwinCut(promise=k_of(k), suppression_limit=limit, loss=loss, certify=certify, withhold=withhold)  # type: ignore[arg-type]
    with np.errstate(all="raise"):
        release = method.anonymise(matrix)
    assert audit_matrix(matrix, release).safe
    bound = release.bound
    if bound is not None:
        assert 0 <= bound.gap < np.inf
        assert bound.value <= mean_loss(release, loss) * (1 + 1e-9)
        assert bound.relaxation == (ALONE if certify == 0 else TwinCut.relaxation)
    if certify != 0:
        assert bound is not None
        assert bound.gap == pytest.approx(0, abs=1e-6)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("limit", [0.0, 0.1])
@pytest.mark.parametrize("certify", [None, 0.0, 0.05])
@pytest.mark.parametrize("case", CASES)
def test_a_scout_finds_hardly_anything(
    case: str, certify: float | None, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the input were large, so that some of the zones alone are looked at."""
    monkeypatch.setattr(scouting, "MANY", 0)
    monkeypatch.setattr(scouting, "DEEP", 0)
    matrix, k, loss = CASES[case]
    method = TwinCut(promise=k_of(k), suppression_limit=limit, loss=loss, certify=certify)  # type: ignore[arg-type]
    with np.errstate(all="raise"):
        release = method.anonymise(matrix)
    assert audit_matrix(matrix, release).safe
    if release.bound is not None:
        assert 0 <= release.bound.gap < np.inf
        assert release.bound.value <= mean_loss(release, loss) * (1 + 1e-9)


def mean_loss(release: Release, loss: str) -> float:
    """Return the mean loss of a release by its own numbers."""
    sizes = [
        (zones.tiles if loss == "tiles" else zones.area_km2)[of]
        for zones, of in (
            (release.origins, release.group_origin),
            (release.destinations, release.group_destination),
        )
    ]
    return float(np.average(sizes[0] + sizes[1], weights=release.trips))
