"""k^m-anonymity: every choice of known items counted by hand, and what the methods rely on."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.kernels import path, safe
from tripcloak.flows.model import Groups, ODMatrix, group_flows
from tripcloak.ground.errors import InputError
from tripcloak.promises import AllOf, KAnonymity, KMAnonymity
from worlds.cuts import Request, requests

drawn = st.one_of(requests(max_zones=7), requests(max_zones=6, with_time=True))


def grouped(matrix: ODMatrix, levels: Any, keep: Any = None) -> Groups:
    """Return the flows grouped at one height per axis."""
    zones = [tree.lift(level)[tile] for (tree, tile), level in zip(matrix.axes, levels, strict=False)]
    found = group_flows(matrix, zones[0], zones[1], time_zone=zones[2] if len(zones) > 2 else None, keep=keep)
    assert found is not None
    return found


@given(request=drawn, m=st.integers(1, 3), levels=st.tuples(*[st.integers(0, 3)] * 3), data=st.data())
def test_a_group_is_safe_if_all_that_shares_any_m_of_its_items_is(
    request: Request, m: int, levels: Any, data: st.DataObject
) -> None:
    boxes, matrix = request.boxes, request.case.matrix()
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=matrix.n_flows, max_size=matrix.n_flows)))
    groups = grouped(matrix, levels, keep)
    columns = [column for column in (groups.origin, groups.destination, groups.time) if column is not None]
    zones = zip(*columns, strict=True)
    ids = [tree.zones.ids for tree, _ in matrix.axes]
    named = [tuple(str(i[z]) for i, z in zip(ids, zone, strict=True)) for zone in zones]
    tiles = zip(*(tree.zones.ids[tile].tolist() for tree, tile in matrix.axes), strict=True)
    kept = [flow for flow, stays in zip(tiles, keep, strict=True) if stays]
    verdicts = KMAnonymity(promise=request.promise, m=m).resolve(matrix).safe(groups)
    for box, verdict in zip(named, verdicts, strict=True):
        axes = range(len(box))
        assert verdict == all(
            safe(
                [
                    row
                    for flow in kept
                    if all(box[axis] in path(boxes.trees[axis], flow[axis]) for axis in known)
                    for row in boxes.flows[flow]
                ],
                boxes.thresholds,
            )
            and all(boxes._occurring(axis, box[axis]) >= boxes.least_tiles for axis in known if axis < 2)
            for known in combinations(axes, min(m, len(box)))
        )


@given(request=drawn, m=st.integers(1, 2))
def test_coarser_zones_and_more_flows_never_make_a_flow_less_safe(request: Request, m: int) -> None:
    matrix = request.case.matrix()
    promise = KMAnonymity(promise=request.promise, m=m).resolve(matrix)
    half = np.arange(matrix.n_flows) % 2 == 0
    some = {}
    for levels in product(range(3), repeat=len(matrix.axes)):
        for keep in (half, None):
            groups = grouped(matrix, levels, keep)
            some[levels, keep is None] = np.append(promise.safe(groups), False)[groups.of_flow]
    for (low, whole), (high, all_of_it) in product(some, repeat=2):
        if whole <= all_of_it and all(a <= b for a, b in zip(low, high, strict=True)):
            assert not (some[low, whole] & ~some[high, all_of_it]).any()


def test_it_asks_for_what_its_promise_asks_for() -> None:
    both = AllOf(promises=(KAnonymity(k=10, unit="travellers"), KAnonymity(k=20, unit="trips")))
    held = KMAnonymity(promise=both, m=2)
    assert (held.thresholds, held.floors) == (both.thresholds, {})
    assert held.sentence().startswith(
        "at least 10 travellers and at least 20 trips, which may be one person's, for whoever knows any 2"
    )
    assert "a single flow may hold fewer" in held.sentence()


@pytest.mark.parametrize("m", [0, -1, 4, 1.5])
def test_items_that_a_trip_does_not_have_are_refused(m: Any) -> None:
    with pytest.raises(InputError, match="from 1 to 3"):
        KMAnonymity(promise=KAnonymity(k=2), m=m)
