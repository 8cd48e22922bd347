"""Synthesisers of others: what they are given, what is made of what they give, and whom they hide."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tripcloak.comparing import peers
from tripcloak.comparing.compare import ComparisonPlan, _notes_on_options
from tripcloak.comparing.peers import AIM, MOST_ZONES, MST, PEERS, AdaptiveGrid
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import ImpossibleRequestError, InputError, MissingExtraError
from tripcloak.hierarchy import Hierarchy, QuadtreeTiling
from tripcloak.records.source import TripSource

MBI = """
class Domain:
    def __init__(self, names, sizes): self.names, self.sizes = names, sizes
class Dataset:
    def __init__(self, columns, domain): self.columns, self.domain = columns, domain
    def to_dict(self): return self.columns
"""
BUDGET = """
def cdp_rho(epsilon, delta): return epsilon**2
def cdp_eps(rho, delta): return rho**0.5
"""
GIVEN = """
given = []
def MST(data, epsilon, delta):
    print("measuring")
    given.append((data.domain.sizes, epsilon, delta))
    return data
"""
FAILING = "def adagrid(*given, **asked): raise KeyError('a secret')"
MADE = {"src/mbi.py": MBI, "mechanisms/cdp2adp.py": BUDGET, "mechanisms/mst.py": GIVEN}
MADE |= {"mechanisms/adaptive_grid.py": FAILING}
TREE = replace(Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1]), complete=True)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What looks like a checkout of mbi; its mechanism gives back what it is given."""
    for name, text in MADE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv(peers.MBI_HOME, str(tmp_path))
    monkeypatch.setattr(peers, "find_spec", lambda name: name)
    for name in MADE:
        monkeypatch.delitem(sys.modules, Path(name).stem, raising=False)
    yield tmp_path
    for name in MADE:
        sys.modules.pop(Path(name).stem, None)


def trips(*pairs: tuple[int, int, int]) -> ODMatrix:
    origin, destination, person = np.array(pairs).T
    return ODMatrix.from_trips(TREE, TREE, origin, destination, person=person, repeats=True)


def test_what_a_mechanism_gives_is_released_pair_by_pair(checkout, capsys):
    matrix = trips((0, 1, 1), (0, 1, 2), (1, 0, 3))
    release = MST(epsilon=2.0).anonymise(matrix)
    told = zip(release.group_origin, release.group_destination, release.trips, strict=True)
    ids = release.axes[0][1].ids
    assert {(str(ids[o]), str(ids[d]), int(n)) for o, d, n in told} == {("a", "b", 2), ("b", "a", 1)}
    assert release.group_of_flow.min() >= 0
    assert capsys.readouterr().out == "", "mechanisms print; that is nobody's business"


def test_a_traveller_of_several_trips_gets_so_much_less_of_the_budget(checkout):
    matrix = trips(*((0, 1, 7) for _ in range(20)))
    release = MST(epsilon=2.0, delta=1e-5, contributions=4).anonymise(matrix)
    ((sizes, epsilon, delta),) = sys.modules["mst"].given
    # A rho of epsilon squared here, a sixteenth of it for four records.
    assert (sizes, epsilon, delta) == ([2, 2], 0.5, 1e-5)
    assert release.trips.tolist() == [4]
    assert release.promise.sentence() == (
        "differential privacy of every person (epsilon 2, delta 1e-05, at most 4 trips each)"
    )


def test_without_ids_a_single_trip_is_hidden(checkout):
    matrix = ODMatrix.from_trips(TREE, TREE, np.array([0, 0]), np.array([1, 1]))
    release = MST(epsilon=2.0).anonymise(matrix)
    assert sys.modules["mst"].given[0][1] == 2.0
    assert "every trip (not person)" in release.promise.sentence()


def test_zones_are_as_fine_as_few_enough_zones_allow(checkout):
    tiling = QuadtreeTiling(6, (0.0, 0.0, 8.0, 8.0))
    tree = tiling.hierarchy(np.unique(tiling.encode(np.array([1.0, 7.0]), np.array([1.0, 7.0]))))
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([1, 0]))
    release = MST(epsilon=2.0).anonymise(matrix)
    ((sizes, *_),) = sys.modules["mst"].given
    assert sizes == [64, 64], "256 are one too many for mst, and few enough for the others"
    assert 256 <= MOST_ZONES < 1024
    assert dict(release.promise.details)["zone_height"] == 3


def test_a_mechanism_that_fails_says_so_and_tells_nothing(checkout):
    with pytest.raises(ImpossibleRequestError, match=r"adaptive-grid of mbi .* KeyError") as told:
        AdaptiveGrid(epsilon=1.0).anonymise(trips((0, 1, 1)))
    assert "secret" not in str(told.value)


def test_what_is_not_installed_is_told_how_to_get(monkeypatch):
    monkeypatch.delenv(peers.MBI_HOME, raising=False)
    with pytest.raises(MissingExtraError, match="peers-dp"):
        AIM(epsilon=1.0).check_request()
    with pytest.raises(InputError, match="epsilon"):
        AIM().check_request()


def test_peers_are_compared_where_they_are_and_noise_is_asked_for(checkout, monkeypatch):
    source = TripSource(paths=("trips.csv",))
    assert set(PEERS) <= set(ComparisonPlan(source=source, epsilon=1.0).names)
    assert not set(PEERS) & set(ComparisonPlan(source=source).names)
    assert ComparisonPlan(source=source, methods=("mst",), epsilon=1.0).names == ("mst",)
    plan = ComparisonPlan(source=source, epsilon=1.0, options={"contributions": 3})
    assert plan.own_options()["aim"] == {"contributions": 3}
    assert not any("mbi" in note for note in _notes_on_options(plan))
    monkeypatch.delenv(peers.MBI_HOME)
    assert not set(PEERS) & set(plan.names)
    assert any("MBI_HOME" in note for note in _notes_on_options(plan))
