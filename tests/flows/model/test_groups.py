"""Groups: who shares a pair of zones, and what stands behind them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.kernels import Row, flows_of, lift, support
from oracles.readback import flow_pairs
from tripcloak.flows.model import Groups, group_flows
from tripcloak.ground.errors import InputError
from worlds.matrices import Case, cases


def grouped_at(case: Case, heights: tuple[int, int], kept: list[bool]) -> tuple[Groups, list[list[Row]]]:
    """Return the groups when every tile is lifted, ours and the oracle's, in the order of the zones."""
    matrix = case.matrix()
    zones = [
        tree.lift(height)[tile]
        for tree, height, tile in zip(
            case.hierarchies, heights, (matrix.flows.origin, matrix.flows.destination), strict=True
        )
    ]
    groups = group_flows(matrix, zones[0], zones[1], keep=np.array(kept))
    assert groups is not None
    flows = flows_of(case.rows)
    places = [{str(zone): row for row, zone in enumerate(tree.zones.ids)} for tree in case.hierarchies]
    expected: dict[tuple[int, int], list[Row]] = {}
    for stays, (pair, rows) in zip(kept, flows.items(), strict=True):
        if stays:
            key = [places[side][lift(case.trees[side], pair[side], heights[side])] for side in range(2)]
            expected.setdefault((key[0], key[1]), []).extend(rows)
    assert flow_pairs(matrix) == list(flows)
    assert list(zip(groups.origin.tolist(), groups.destination.tolist(), strict=True)) == sorted(expected)
    return groups, [expected[key] for key in sorted(expected)]


@given(case=cases(), data=st.data())
def test_support_is_a_plain_recount(case: Case, data: st.DataObject) -> None:
    kept = [data.draw(st.booleans()) for _ in flows_of(case.rows)]
    heights = data.draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))
    groups, expected = grouped_at(case, heights, kept)
    assert (groups.of_flow < 0).tolist() == [not stays for stays in kept]
    for unit in case.units:
        counted = "trips" if unit == "travellers" and case.people_once else unit
        recount = [support(rows, counted) for rows in expected]
        assert groups.support(unit).tolist() == pytest.approx(recount, rel=1e-12)


@given(case=cases(), data=st.data())
def test_a_cap_changes_nothing_below_it(case: Case, data: st.DataObject) -> None:
    kept = [data.draw(st.booleans()) for _ in flows_of(case.rows)]
    groups, _ = grouped_at(case, (data.draw(st.integers(0, 4)), 2), kept)
    cap = data.draw(st.sampled_from([1, 2, 3, 50, 2**53]))
    if "travellers" in case.units:
        exact = groups.support("travellers")
        capped = groups.support("travellers", cap=cap)
        assert np.minimum(capped, cap).tolist() == np.minimum(exact, cap).tolist()


@given(case=cases(), at_most=st.integers(0, 12))
def test_grouping_gives_up_beyond_its_limit(case: Case, at_most: int) -> None:
    matrix = case.matrix()
    groups = group_flows(matrix, matrix.flows.origin, matrix.flows.destination, at_most=at_most)
    assert (groups is None) == (matrix.n_flows > at_most)
    if groups is not None:
        assert groups.of_flow.tolist() == list(range(matrix.n_flows))


def test_nothing_kept_makes_no_group() -> None:
    case = Case(trees=({"a": None}, {"a": None}), rows=(Row("a", "a", person=3),), has_person=True)
    groups, expected = grouped_at(case, (0, 0), [False])
    assert (len(groups), expected, groups.of_flow.tolist()) == (0, [], [-1])
    for unit in case.units:
        assert groups.support(unit).tolist() == []


def test_a_unit_the_input_cannot_tell_is_refused() -> None:
    case = Case(trees=({"a": None}, {"a": None}), rows=(Row("a", "a"),))
    groups, _ = grouped_at(case, (0, 0), [True])
    for unit in ("travellers", "population"):
        with pytest.raises(InputError, match=f"cannot be counted on {unit}.*only tells trips"):
            groups.support(unit)
