"""Repair of t-closeness: every method's release ends close, safe and within its limit, or stays as it was."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows.kernels import Pair, Row, Tree, below, flows_of, path, safe, support
from oracles.readback import contents, group_pairs, released_as
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.methods import METHODS, ProductCut, TwinCut
from tripcloak.flows.methods.losses import find_loss
from tripcloak.flows.methods.method import Solution
from tripcloak.flows.methods.repair import repair
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.progress import silent
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import AllOf, KAnonymity, LDiversity, Promise, TCloseness
from worlds.depth import size
from worlds.matrices import Case, cases, limits

NEVER_DEAR: dict[str, dict[str, Any]] = {"atg-soft": {"multiplier": 1e15}}
"""A price that nothing here exceeds: a tenth of a tiny map would suppress everything."""

TREE: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}
BY_TRIPS = KAnonymity(k=2, unit="trips")

# Closeness is not defined for zones that a method draws itself, and noise knows no k.
# Suppression alone generalises nothing, so it refuses most requests before there is anything to repair.
ON_TREES = [
    name
    for name, method in METHODS.items()
    if not (method.draws_zones or method.noisy or name == "suppression")
]


def and_close(promise: Promise, t: float) -> Promise:
    return AllOf(promises=(promise, TCloseness(t=t)))


class Request:
    """A case, a promise on it that can be met, a limit and a t."""

    def __init__(self, case: Case, promise: Promise, limit: float, t: float) -> None:
        self.case, self.promise, self.limit, self.t = case, promise, limit, t

    def release(self, name: str, *, close: bool = True) -> Release:
        """Return a method's release, with or without the promise of closeness."""
        promise = and_close(self.promise, self.t) if close else self.promise
        shared = {"promise": promise, "suppression_limit": self.limit}
        return METHODS[name](**shared, **NEVER_DEAR.get(name, {})).anonymise(self.case.matrix())


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Return a request that can be met."""
    case = draw(cases())
    k = KAnonymity(k=draw(st.integers(2, 6)), unit=draw(st.sampled_from([None, *case.units])))
    promise: Promise = k
    assume(safe(case.rows, case.thresholds(k)))
    if draw(st.booleans()):
        promise = AllOf(promises=(k, LDiversity(l=2)))
        assume(all(len({row[axis] for row in case.rows}) >= 2 for axis in (0, 1)))
    return Request(case, promise, draw(limits), draw(st.sampled_from([0.02, 0.1, 0.3, 0.5])))


def plain_distances(release: Release, tree: Tree, unseen: int) -> list[float]:
    """Return the distance of every released origin zone, with zones taken apart tile by tile."""
    volume = np.rint(release.support(release.volume))
    total = volume.sum()
    pairs = group_pairs(release)
    sizes = {zone: len(below(tree, zone)) + unseen * (below(tree, zone) != [zone]) for _, zone in pairs}
    found = []
    for origin in {origin for origin, _ in pairs}:
        own = {zone: v for (o, zone), v in zip(pairs, volume, strict=True) if o == origin}
        for one, other in combinations(own, 2):
            assert not set(below(tree, one)) & set(below(tree, other))
        far = 0.0
        for zone, v in own.items():
            share = 0.0
            for (_, other), w in zip(pairs, volume, strict=True):
                if zone in path(tree, other):
                    share += w / total
                elif other in path(tree, zone):
                    share += w / total * sizes[zone] / sizes[other]
            far += max(0.0, v / sum(own.values()) - share)
        found.append(far)
    return found


@pytest.mark.one_in(2)
@settings(max_examples=size(1, 2) * settings().max_examples // 2)
@pytest.mark.parametrize("name", ON_TREES)
@given(request=requests())
def test_every_method_ends_close_safe_and_within_its_limit(name: str, request: Request) -> None:
    case = request.case
    matrix = case.matrix()
    release = request.release(name)
    assert release.promise.by_release == (TCloseness(t=request.t),)
    assert release.promise.by_group == request.promise.resolve(matrix)
    assert max(plain_distances(release, case.trees[1], case.unseen_tiles)) <= request.t + 1e-9
    sent = released_as(matrix, release)
    groups: dict[Pair, list[Row]] = {}
    for pair, rows in flows_of(case.rows).items():
        zones = sent[pair]
        if zones is not None:
            assert all(zones[axis] in path(case.trees[axis], pair[axis]) for axis in (0, 1))
            groups.setdefault(zones, []).extend(rows)
    k = request.promise.promises[0] if isinstance(request.promise, AllOf) else request.promise
    for zones, rows in groups.items():
        assert safe(rows, case.thresholds(k))
        if request.promise.floors:
            tiles = [set(below(tree, zone)) for tree, zone in zip(case.trees, zones, strict=True)]
            assert all(len(tiles[axis] & {row[axis] for row in case.rows}) >= 2 for axis in (0, 1))
    hidden = [row for row in case.rows if sent[row.origin, row.destination] is None]
    total = support(case.rows, release.volume)
    assert support(hidden, release.volume) <= request.limit * total * (1 + 1e-9)


@pytest.mark.one_in(3)
@settings(max_examples=settings().max_examples // 2)
@pytest.mark.parametrize("name", ON_TREES)
@given(request=requests())
def test_released_products_never_overlap(name: str, request: Request) -> None:
    release, trees = request.release(name), request.case.trees
    pairs = group_pairs(release)
    held = [[set(below(tree, zone)) for tree, zone in zip(trees, pair, strict=True)] for pair in pairs]
    for one, other in combinations(held, 2):
        assert not (one[0] & other[0] and one[1] & other[1])
    for axis in (0, 1) if release.homogeneous else ():
        zones = {pair[axis] for pair in pairs}
        for first, second in combinations(zones, 2):
            assert not set(below(trees[axis], first)) & set(below(trees[axis], second))


@pytest.mark.one_in(3)
@settings(max_examples=settings().max_examples // 2)
@pytest.mark.parametrize("name", ON_TREES)
@given(request=requests())
def test_what_is_close_already_stays_as_it_is(name: str, request: Request) -> None:
    plain, closed = request.release(name, close=False), request.release(name)
    assert closed.homogeneous == plain.homogeneous
    near = max(plain_distances(plain, request.case.trees[1], request.case.unseen_tiles))
    if near <= request.t - 1e-9:
        assert contents(replace(plain, promise=closed.promise)) == contents(closed)
    elif near > request.t + 1e-9:
        assert closed.bound is None
        assert group_pairs(closed) != group_pairs(plain) or (closed.suppressed != plain.suppressed).any()


@pytest.mark.one_in(3)
@settings(max_examples=settings().max_examples // 4)
@pytest.mark.parametrize("name", ON_TREES)
@given(request=requests(), data=st.data())
def test_row_order_does_not_matter_and_the_audit_agrees(
    name: str, request: Request, data: st.DataObject
) -> None:
    rows = tuple(data.draw(st.permutations(request.case.rows)))
    other = Request(replace(request.case, rows=rows), request.promise, request.limit, request.t)
    release = request.release(name)
    assert contents(other.release(name)) == contents(release)
    assert audit_matrix(request.case.matrix(), release).broken == ()


# --- by hand -----------------------------------------------------------------------------------------


def odd_one_out(odd: int) -> Case:
    """Return origins a, b, c that send as many to each destination, and d that sends all to one."""
    rows = [Row(o, d) for o in "abc" for d in "abcd" for _ in range(10)]
    return Case(trees=(TREE, TREE), rows=(*rows, *([Row("d", "a")] * odd)))


def origins_of(release: Release) -> set[str]:
    return {origin for origin, _ in group_pairs(release)}


def test_an_odd_origin_is_withheld_where_the_limit_allows_it() -> None:
    matrix = odd_one_out(4).matrix()
    request: dict[str, Any] = {"promise": and_close(BY_TRIPS, 0.2)}
    release = TwinCut(**request, suppression_limit=0.05).anonymise(matrix)
    assert origins_of(release) == {"a", "b", "c"}
    assert matrix.flows.trips[release.suppressed].tolist() == [4]


def test_without_room_it_is_merged_with_its_siblings() -> None:
    matrix = odd_one_out(4).matrix()
    request: dict[str, Any] = {"promise": and_close(BY_TRIPS, 0.2)}
    release = TwinCut(**request, suppression_limit=0).anonymise(matrix)
    assert origins_of(release) == {"a", "b", "cd"}
    assert not release.suppressed.any()
    assert release.homogeneous
    assert release.bound is None


def test_a_tiny_t_leaves_one_origin() -> None:
    matrix = odd_one_out(40).matrix()
    for method in (TwinCut, ProductCut):
        release = method(promise=and_close(BY_TRIPS, 1e-6), suppression_limit=0).anonymise(matrix)
        assert origins_of(release) == {"all"}


def repaired(
    matrix: ODMatrix, promise: Promise, *starts: Solution, t: float, limit: float, loss: str = "tiles"
) -> Solution:
    return repair(
        matrix,
        and_close(promise, t),
        starts,
        limit=limit,
        loss=find_loss(loss),
        progress=silent,
    )  # fmt: skip


class Fixed:
    """A solution made by hand over a tree of four tiles on both axes."""

    def __init__(self, rows: list[Row], sent: dict[Pair, Pair | None], homogeneous: bool = True) -> None:
        self.matrix = Case(trees=(TREE, TREE), rows=tuple(rows)).matrix()
        ids = self.matrix.origins.zones.ids.tolist()
        pairs = [sent[pair] for pair in flows_of(rows)]
        self.solution = Solution(
            # A withheld flow may say anything of where it would have gone.
            origin_zone=np.array([-1 if pair is None else ids.index(pair[0]) for pair in pairs]),
            destination_zone=np.array([-1 if pair is None else ids.index(pair[1]) for pair in pairs]),
            suppressed=np.array([pair is None for pair in pairs]),
            homogeneous=homogeneous,
        )

    def repaired(self, t: float, limit: float, k: int = 3) -> Release:
        """Return the release of the repaired solution."""
        promise = KAnonymity(k=k, unit="trips")
        solution = repaired(self.matrix, promise, self.solution, t=t, limit=limit)
        return build_release(
            self.matrix, method="by hand", parameters={}, promise=and_close(promise, t),
            suppression_limit=limit, **solution._asdict(),
        )  # fmt: skip


def test_withheld_flows_come_back_where_merging_makes_them_safe() -> None:
    rows = [Row("a", "a")] * 9 + [Row("a", "c")] * 2 + [Row("b", "c")] * 2 + [Row("b", "b")] * 9
    rows += [Row(o, d) for o in "cd" for d in "ab" for _ in range(9)]
    sent: dict[Pair, Pair | None] = {(o, d): (o, d) for o, d in flows_of(rows)}
    sent["a", "c"] = sent["b", "c"] = None
    fixed = Fixed(rows, sent)
    release = fixed.repaired(t=0.3, limit=0.1)
    assert ("ab", "c") in group_pairs(release)
    assert not release.suppressed.any()


def test_destinations_of_merged_origins_take_the_coarser_of_two_cuts() -> None:
    rows = [Row("a", d) for d in "abcd" for _ in range(3)] + [Row("b", d) for d in "ab" for _ in range(12)]
    rows += [Row(o, d) for o in "cd" for d in "abcd" for _ in range(6)]
    sent: dict[Pair, Pair | None] = {}
    for origin, destination in flows_of(rows):
        whole = "ab" if destination in "ab" else "cd"
        sent[origin, destination] = (origin, {"a": whole, "b": destination}.get(origin, whole))
    release = Fixed(rows, sent, homogeneous=False).repaired(t=0.3, limit=0)
    assert {pair for pair in group_pairs(release) if pair[0] == "ab"} == {("ab", "ab"), ("ab", "cd")}
    assert not release.homogeneous


def test_labels_inside_a_failing_zone_are_merged_into_it() -> None:
    """In a product partition a coarse label may fail while finer ones lie inside it."""
    rows = [Row(o, d) for o in "ab" for d in "ab" for _ in range(8)] + [Row(o, "d") for o in "ab"] * 8
    rows += [Row(o, d) for o in "cd" for d in "ab" for _ in range(20)]
    sent: dict[Pair, Pair | None] = {(o, d): (o, d) for o, d in flows_of(rows)}
    sent["a", "d"] = sent["b", "d"] = ("ab", "d")
    release = Fixed(rows, sent, homogeneous=False).repaired(t=0.35, limit=0)
    found = {pair for pair in group_pairs(release) if pair[0] not in ("c", "d")}
    assert found == {("ab", "a"), ("ab", "b"), ("ab", "d")}


def test_a_release_that_is_not_close_is_never_built() -> None:
    matrix = odd_one_out(40).matrix()
    f = matrix.flows
    with pytest.raises(InternalError, match="too far from the others"):
        build_release(
            matrix, method="by hand", parameters={}, promise=and_close(BY_TRIPS, 0.1), suppression_limit=0,
            origin_zone=f.origin, destination_zone=f.destination,
            suppressed=f.trips < 0, homogeneous=True,
        )  # fmt: skip


def test_time_is_no_axis_of_closeness() -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    times = Hierarchy.from_parents(["00", "01", "day"], [2, 2, -1])
    ends = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    matrix = ODMatrix.from_trips(tree, tree, *ends, times=times, slot=np.array([0, 0, 1, 1]))
    with pytest.raises(InputError, match="t-closeness does not know time"):
        ProductCut(promise=and_close(BY_TRIPS, 0.3)).anonymise(matrix)


def test_closeness_is_no_parameter_of_the_method() -> None:
    assert not any("closeness" in method().parameters() for method in METHODS.values())


def test_the_loss_of_the_method_is_what_is_held_small() -> None:
    """Metres need places: without them the repair is refused as the method itself would be."""
    matrix = odd_one_out(40).matrix()
    f = matrix.flows
    solution = Solution(f.origin, f.destination, f.trips < 0, homogeneous=True)
    with pytest.raises(InputError, match="the loss metres needs zones with a geometry"):
        repaired(matrix, BY_TRIPS, solution, t=0.01, limit=0, loss="metres")
