"""Rules on a matrix and its release, each at its edge, on a few rows in memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.audit.matrix import counts, tables, zones
from tripcloak.ground.rulebook import NotPromised


def rounded(numbers: list[int] | None, *, base: int | None = 3, sums: bool = True) -> Any:
    """Return a release of four flows of four trips each between two zones a side, and what is published."""
    release = SimpleNamespace(
        n_groups=4,
        trips=np.full(4, 4),
        rounded=None if numbers is None else np.array(numbers),
        group_origin=np.array([0, 0, 1, 1]),
        group_destination=np.array([0, 1, 0, 1]),
    )
    promised = None if base is None else SimpleNamespace(base=base, sums=sums)
    return SimpleNamespace(release=release, promise=SimpleNamespace(rounding=promised))


@pytest.mark.parametrize(
    ("numbers", "sums", "words"),
    [
        # Off by 1 up or 1 down, or by 2 up: each close; a row of 2 and 1 is off by as much as the base.
        ([3, 3, 6, 3], True, None),
        ([3, 6, 6, 3], True, None),
        ([6, 6, 3, 3], True, "are too far"),
        ([6, 3, 6, 3], True, "are too far"),
        ([6, 6, 3, 3], False, None),
        ([3, 3, 3, 3], True, "are too far"),
        ([3, 3, 3, 3], False, None),
        ([9, 3, 3, 3], False, "are too far"),
        ([3, 3, 6, 4], True, "no multiples"),
        ([3, 3, 6], True, "no multiples"),
    ],
)
def test_numbers_and_promised_sums_are_less_than_a_step_off(
    numbers: list[int], sums: bool, words: str | None
) -> None:
    found: Any = counts.sums_close(rounded(numbers, sums=sums))
    assert found is None if words is None else words in found


def test_numbers_are_rounded_where_that_is_promised_and_only_there() -> None:
    assert isinstance(counts.sums_close(rounded(None, base=None)), NotPromised)
    for case in (rounded(None), rounded([3, 3, 6, 3], base=None)):
        assert "and not both" in str(counts.sums_close(case))


def test_a_tile_lies_in_all_zones_above_it_however_deep_its_branch_is() -> None:
    """Zone 4 is the root; tiles 0 and 1 lie in zone 3, tile 2 at once below the root."""
    tree: Any = SimpleNamespace(parent=np.array([3, 3, 4, 4, -1]))
    tile = np.array([0, 1, 2, 0, 2, 0, 2])
    zone = np.array([3, 4, 4, 4, 3, tables.EVERYWHERE, tables.EVERYWHERE])
    assert tables._lies_in(tree, tile, zone).tolist() == [True, True, True, True, False, True, True]


def test_scaled_numbers_are_counted_from_origins_to_destinations(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = SimpleNamespace(parent=np.array([2, 2, -1]), zones=SimpleNamespace(height=np.array([0, 0, 1])))
    flows = SimpleNamespace(
        travellers=SimpleNamespace(people=np.array([7, 8, 7]), offsets=np.array([0, 2, 3])),
        repeats=np.array([1, 2, 3]),
        trips=np.array([3, 3]),
    )
    matrix = SimpleNamespace(
        flows=flows, n_flows=2, axes=((tree, np.array([0, 1])), (tree, np.array([1, 0])))
    )
    release = SimpleNamespace(
        group_of_flow=np.array([0, 1]), n_groups=2, trips=np.array([5, 6]), homogeneous=True
    )
    given: list[Any] = []
    monkeypatch.setattr(counts, "scaled_numbers", lambda *told, **how: given.append((told, how)))
    counts._numbers(SimpleNamespace(matrix=matrix, release=release), SimpleNamespace(norms=(1.0,)))  # type: ignore[arg-type]
    ((_, rows, _, published, recount), how) = given[0]
    assert [column.tolist() for column in rows] == [[7, 8, 7], [0, 0, 1], [1, 1, 0], [1, 2, 3], [0, 0, 1]]
    assert (published.tolist(), recount.tolist(), how) == ([5, 6], [3, 3], {"one_height": True})


def test_close_destinations_are_promised_of_zones_of_trees_alone() -> None:
    case: Any = SimpleNamespace(
        promise=SimpleNamespace(closeness=0.5), release=SimpleNamespace(volume="trips"), in_trees=False
    )
    assert "of zones of its own" in str(zones.destinations_close(case))
    case.promise.closeness = None
    assert isinstance(zones.destinations_close(case), NotPromised)


def test_noisy_numbers_are_not_promised_to_add_up() -> None:
    case: Any = SimpleNamespace(promise=SimpleNamespace(privacy=object()))
    assert isinstance(counts.totals_add_up(case), NotPromised)


def test_zones_that_nobody_knows_hold_no_tile() -> None:
    case: Any = SimpleNamespace(
        axes=("origin",),
        release=SimpleNamespace(axes=((None, range(3), None),)),
        value=lambda query: 0,
        form=lambda axis: zones.Form.UNKNOWN,
    )
    assert "nor known by name" in str(zones.zones_contain_tiles(case))
    case.value = lambda query: 1
    assert "do not exist" in str(zones.zones_contain_tiles(case))


@pytest.mark.parametrize(
    ("reached", "words"),
    [
        # One segment is told; somebody of the two others must be able to hide behind one that is not small.
        ([True, False, False], "so many segments"),
        ([True, True, False], None),
        ([False, True, True], "fewer than 3 trips of a segment"),
    ],
)
def test_segments_that_are_not_told_hide_one_that_is_not_small(
    reached: list[bool], words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {name: {"trips": np.array([enough])} for name, enough in zip("abc", reached, strict=True)}
    promise = SimpleNamespace(segments=tuple(parts), where_safe=True, thresholds={"trips": 3})
    told = SimpleNamespace(segments=[SimpleNamespace(name=name) for name in parts])
    monkeypatch.setattr(counts, "segments_told", lambda release, parts: [[True], [False], [False]])
    monkeypatch.setattr(counts, "_reached", lambda case, part: parts[part.name])
    case: Any = SimpleNamespace(promise=promise, release=SimpleNamespace(promise=told))
    found: Any = counts.segments_safe(case)
    assert found is None if words is None else words in found
