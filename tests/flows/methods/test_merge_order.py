"""The merge order of ODkAnon: compiled, uncompiled and plain agree."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.kernels import Tree, children, covering, merge_order, path, tiles
from tripcloak.flows.methods._kernels import cuts as _kernels
from worlds.matrices import hierarchy_of, trees

KERNELS = {"compiled": _kernels.merge_order, "uncompiled": _kernels.merge_order.py_func}


class AxisInput(NamedTuple):
    """What the kernel is told of one axis."""

    parent: list[int]
    occurring: list[int]
    cost: list[int]
    rank: list[int]
    top: int
    active: int


def axis_input(tree: Tree, trips_at: dict[str, int]) -> AxisInput:
    """Return the facts of one axis, counted the slow way."""
    ids = [str(name) for name in hierarchy_of(tree).zones.ids]
    cost = {zone: sum(n for tile, n in trips_at.items() if zone in path(tree, tile)) for zone in ids}
    above = [tree[zone] for zone in ids]
    return AxisInput(
        parent=[-1 if up is None else ids.index(up) for up in above],
        occurring=[sum(cost[child] > 0 for child in children(tree, zone)) for zone in ids],
        cost=[cost[zone] for zone in ids],
        rank=[sorted(ids).index(zone) for zone in ids],
        top=ids.index(covering(tree, trips_at)),
        active=len(trips_at),
    )


@st.composite
def axes(draw: st.DrawFn) -> AxisInput:
    """Return a random tree with trips at some of its tiles; small numbers, so that costs tie."""
    tree = draw(trees(24))
    trips_at = draw(
        st.dictionaries(st.sampled_from(tiles(tree)), st.integers(1, 3), min_size=1, max_size=len(tree))
    )
    return axis_input(tree, trips_at)


def run(kernel: Any, o: AxisInput, d: AxisInput, tolerance: float) -> tuple[list[tuple[int, int]], int]:
    """Return the kernel's merges as (axis, zone) in their order, and its number of steps."""
    when_o, when_d, steps = kernel(
        (np.array(o.parent, np.int32), np.array(d.parent, np.int32)),
        (np.array(o.occurring), np.array(d.occurring)),
        (np.array(o.cost), np.array(d.cost)),
        (np.array(o.rank), np.array(d.rank)),
        (o.top, d.top),
        (o.active, d.active),
        tolerance,
    )
    merged = [
        (int(step), axis, zone)
        for axis, when in enumerate((when_o, when_d))
        for zone, step in enumerate(when)
        if step != _kernels.NEVER
    ]
    assert sorted(step for step, _, _ in merged) == list(range(1, steps + 1))
    return [(axis, zone) for _, axis, zone in sorted(merged)], steps


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@given(o=axes(), d=axes(), percent=st.sampled_from([0, 3, 50]))
def test_the_kernel_merges_as_the_plain_twin(kernel: Any, o: AxisInput, d: AxisInput, percent: int) -> None:
    merges, steps = run(kernel, o, d, percent / 100)
    expected = merge_order(
        (o.parent, d.parent),
        (o.occurring, d.occurring),
        (o.cost, d.cost),
        (o.rank, d.rank),
        (o.top, d.top),
        Fraction(percent, 100),
    )
    assert merges == expected
    assert steps == len(expected)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_one_tile_on_each_axis_leaves_nothing_to_merge(kernel: Any) -> None:
    chain: Tree = {"all": None, "some": "all", "tile": "some"}
    axis = axis_input(chain, {"tile": 3})
    assert run(kernel, axis, axis, 0.03) == ([], 0)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_an_exhausted_axis_hands_over_to_the_other(kernel: Any) -> None:
    single = axis_input({"tile": None}, {"tile": 4})
    tree: Tree = {"all": None, "ab": "all", "a": "ab", "b": "ab", "c": "all"}
    many = axis_input(tree, {"a": 1, "b": 2, "c": 1})
    ids = [str(name) for name in hierarchy_of(tree).zones.ids]
    expected = [ids.index("ab"), ids.index("all")]
    assert run(kernel, single, many, 0.03)[0] == [(1, zone) for zone in expected]
    assert run(kernel, many, single, 0.03)[0] == [(0, zone) for zone in expected]
