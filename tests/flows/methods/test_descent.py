"""The compiled loops of the descent: compiled, uncompiled and plain agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import descent as oracle
from oracles.flows.descent import Run
from tripcloak.flows.methods._kernels import cuts as _kernels
from tripcloak.flows.methods.products import pack
from worlds.matrices import hierarchy_of, trees


def forms(name: str) -> pytest.MarkDecorator:
    """Run a test with the compiled kernel and with the same code uncompiled."""
    kernel = getattr(_kernels, name)
    return pytest.mark.parametrize("kernel", [kernel, kernel.py_func], ids=["compiled", "uncompiled"])


@st.composite
def flows_in_zones(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return flows in some order, the zone of every tile, and tile and reach of every flow."""
    zone = draw(st.lists(st.integers(-1, 4), min_size=1, max_size=6))
    n = draw(st.integers(0, 12))
    codes = draw(st.lists(st.integers(0, len(zone) - 1), min_size=n, max_size=n))
    reach = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return draw(st.permutations(range(n))), zone, codes, reach


@forms("sort_flows")
@given(drawn=flows_in_zones())
def test_sort_flows(kernel: Any, drawn: tuple[list[int], list[int], list[int], list[int]]) -> None:
    found = kernel(*(np.array(column, dtype=np.int32) for column in drawn))
    assert found.tolist() == oracle.sort_flows(*drawn)


@st.composite
def runs_of(draw: st.DrawFn, length: int) -> list[tuple[int, int]]:
    """Return stretches of a list that do not overlap; some are left out."""
    edges = sorted(draw(st.sets(st.integers(0, length), max_size=8)) | {0, length})
    runs = [(a, b) for a, b in pairwise(edges) if b > a]
    return [run for run in runs if draw(st.booleans())]


def edges_of(runs: Sequence[tuple[int, int]]) -> tuple[Any, Any]:
    table = np.array(runs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def runs_in(table: Any) -> list[Run]:
    return [Run(*row[:4], tuple(row[4:])) for row in table.T.tolist()]


@forms("open_row")
@given(data=st.data(), axes=st.integers(1, 2), n=st.integers(0, 40))
def test_open_row(kernel: Any, data: st.DataObject, axes: int, n: int) -> None:
    def drawn(size: int, most: int, kind: type) -> Any:
        return np.array(data.draw(st.lists(st.integers(0, most), min_size=size, max_size=size)), dtype=kind)

    zones = tuple(drawn(5, 2, np.int32) for _ in range(axes))
    codes = tuple(drawn(n, 4, np.int32) for _ in range(axes))
    inner = [zone[code] for zone, code in zip(zones, codes, strict=True)][::-1]
    flows = np.lexsort(inner).astype(np.int32)
    table = kernel(flows, zones, codes)
    assert runs_in(table) == oracle.open_row(flows.tolist(), zones, codes)


@forms("sums_upto")
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_sums_upto(kernel: Any, kind: type) -> None:
    flows = [3, 0, 2]
    for some in (flows, []):
        found = kernel(np.array(some, dtype=np.int32), np.array([5, 9, 1, 2], dtype=kind))
        assert found.dtype == kind
        assert found.tolist() == oracle.sums_upto(some, [5, 9, 1, 2])


@st.composite
def row_of(draw: st.DrawFn, leaves: int) -> tuple[list[Run], Any, Any, Any, Any]:
    """Return the runs of a row's combinations, and rank, flow, reach and trips by place.

    Several combinations stand one behind the other, each with ranks that grow.
    """
    parts = draw(st.lists(st.lists(st.integers(0, leaves - 1), min_size=1, max_size=40), max_size=3))
    rank = np.array([r for part in parts for r in sorted(part)], dtype=np.int32)
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    zone = st.integers(0, 9)
    runs = [Run(a, b, 0, 0, (draw(zone), draw(zone), 0)) for a, b in pairwise(ends)]
    flows = np.array(draw(st.permutations(range(len(rank)))), dtype=np.int32)
    reach = np.array([draw(st.integers(0, 4)) for _ in rank], dtype=np.int32)
    trips = np.array([draw(st.integers(1, 9)) for _ in rank], dtype=np.int64)
    return runs, rank, flows, reach, trips


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "uncompiled"])
@given(tree=trees(), data=st.data())
def test_split_and_keep_runs_follow_a_tree_downwards(compiled: bool, tree: Any, data: st.DataObject) -> None:
    split, keep = _kernels.split_runs, _kernels.keep_runs
    if not compiled:
        split, keep = split.py_func, keep.py_func
    lineage = hierarchy_of(tree).lineage
    runs, rank, flows, reach, trips = data.draw(row_of(len(lineage.leaves)))
    table = np.array([(*run[:4], *run.zones) for run in runs], dtype=np.int64).reshape(-1, 7).T.copy()
    upto, number, least = np.append(0, np.cumsum(trips)), -1, data.draw(st.sampled_from([0.0, 5.0, 12.0]))
    for depth, zone in enumerate(lineage.by_rank):
        plain = (rank.tolist(), zone.tolist(), flows.tolist(), reach.tolist(), depth, trips.tolist())
        runs, left = oracle.split_runs(runs, number, *plain, least)
        table = split(table, number, rank, zone, lineage.behind, flows, reach, depth, upto, least)
        assert runs_in(table) == runs
        assert reach.tolist() == left
        safe = np.array([data.draw(st.booleans()) for _ in runs], dtype=bool)
        runs, left = oracle.keep_runs(safe.tolist(), runs, flows.tolist(), reach.tolist(), depth)
        table, volume = keep(safe, table, flows, reach, depth, upto / 2)
        assert runs_in(table) == runs
        assert reach.tolist() == left
        assert volume.tolist() == [run.trips / 2 for run in runs]
        number = 7 * depth


@forms("sum_losses")
@given(data=st.data(), n=st.integers(0, 20))
def test_sum_losses(kernel: Any, data: st.DataObject, n: int) -> None:
    runs = data.draw(runs_of(n))
    whole = st.lists(st.integers(0, 9).map(float), min_size=n, max_size=n)
    volume, lead = data.draw(whole), data.draw(whole)
    loss = [3.0, 0.5, 7.0]
    rank = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    found = kernel(
        *edges_of(runs), np.array(volume), np.array(lead), np.array(rank, dtype=np.int32), np.array(loss)
    )
    assert found.tolist() == oracle.sum_losses(runs, volume, lead, rank, loss)


@forms("place_products")
@given(data=st.data(), axes=st.integers(2, 3))
def test_place_products(kernel: Any, data: st.DataObject, axes: int) -> None:
    trees_of = tuple(hierarchy_of(data.draw(trees())) for _ in range(axes))
    n = data.draw(st.integers(1, 12))
    zones = np.array(
        [[data.draw(st.integers(0, len(tree) - 1)) for _ in range(n)] for tree in trees_of], dtype=np.int32
    )
    sizes = np.array([len(tree) for tree in trees_of])
    parent = np.concatenate([tree.parent for tree in trees_of]).astype(np.int32)
    keys, above = kernel(zones, parent, np.cumsum(sizes) - sizes, sizes)
    assert keys.view(np.uint64).tolist() == pack(trees_of, zones).tolist()
    for found, expected in zip(
        above, oracle.place_products(zones.tolist(), [tree.parent.tolist() for tree in trees_of]), strict=True
    ):
        for key, product in zip(found, expected, strict=True):
            told = None if product is None else pack(trees_of, np.array(product)[:, None])[0]
            assert key == (-1 if told is None else told)


@forms("sum_by_zone")
@given(data=st.data(), axes=st.integers(1, 3), n=st.integers(0, 10))
def test_sum_by_zone(kernel: Any, data: st.DataObject, axes: int, n: int) -> None:
    losses = [data.draw(st.lists(st.integers(0, 99).map(float), min_size=3, max_size=3)) for _ in range(axes)]
    zones = [data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) for _ in range(axes)]
    found = kernel(
        np.array(zones, dtype=np.int32).reshape(axes, n), np.concatenate(losses), 3 * np.arange(axes)
    )
    assert found.tolist() == oracle.sum_by_zone(zones, losses)
