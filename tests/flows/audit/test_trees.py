"""The auditor's own tree of zones: what is none is refused, and zones are found in it by every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.audit.encoding import tiling_of
from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.flows.audit.rules.outlines import _lacks_its_area
from tripcloak.flows.audit.rules.privacy import _all_pairs
from tripcloak.flows.audit.trees import check_pairs, load_tree
from tripcloak.ground.rulebook import BrokenPart

Row = dict[str, Any]
Cases = Callable[..., FlowEvidence]

QUADTREE = {
    "0": (None, 2, 16),
    "00": ("0", 1, 4),
    "03": ("0", 1, 4),
    "001": ("00", 0, 1),
    "030": ("03", 0, 1),
}
TRACTS = {"all": (None, 2, 3), "north": ("all", 1, 2), "a": ("north", 0, 1), "b": ("north", 0, 1)}
TRACTS["c"] = ("all", 0, 1)


def rows_of(zones: dict[str, tuple[str | None, int, int]]) -> list[Row]:
    """Return the rows of a tree, the same for both axes."""
    return [
        {"axis": axis, "zone": zone, "parent": parent, "height": height, "tiles": tiles}
        for axis in ("origin", "destination")
        for zone, (parent, height, tiles) in zones.items()
    ]


@pytest.fixture
def case_of(tmp_path: Path) -> Iterator[Cases]:
    """A release of which the auditor has the tree alone."""

    def made(rows: list[Row], spec: str, **stated: Any) -> FlowEvidence:
        (tmp_path / "private").mkdir()
        schema = pa.schema({"axis": pa.string(), "zone": pa.string(), "parent": pa.string()})
        schema = schema.append(pa.field("height", pa.int64())).append(pa.field("tiles", pa.int64()))
        parquet.write_table(pa.Table.from_pylist(rows, schema), tmp_path / "private" / "hierarchy.parquet")
        case = object.__new__(FlowEvidence)
        grid = spec.startswith("quadtree")
        promise = SimpleNamespace(resolution=None, grid=grid, spec=spec, slot=None, boxes=False, names=None)
        vars(case).update(promise=promise, recorded={}, con=con, folder=tmp_path, facts=stated, tiling=None)
        vars(case).update(_loaders={"tree": load_tree}, _loaded={}, _tables={})
        return case

    with duckdb.connect(config={"threads": 1}) as con:
        yield made


@pytest.mark.parametrize(("zones", "spec"), [(QUADTREE, "quadtree:2"), (TRACTS, "table:x")])
def test_a_true_tree_is_taken_and_every_tile_is_found_in_it(case_of: Cases, zones: Any, spec: str) -> None:
    case = case_of(rows_of(zones), spec)
    load_tree(case)
    assert case.value("select count(*) from audit_tree") == 2 * len(zones)
    low = [zone for zone, (_, height, _) in zones.items() if height == 0]
    root, above = next(iter(zones)), zones[low[0]][0]
    pairs = [
        (low[0], root),
        (low[0], above),
        (low[0], low[0]),
        (low[0], low[1]),
        (low[1], root),
        (above, root),
    ]
    table = ", ".join(f"('{tile}', '{zone}')" for tile, zone in pairs)
    # What is no tile lies in no zone, and one tile not in another.
    assert check_pairs(case, "origin", f"select * from (values {table})") == (6, 2)


def changed(name: str, **values: Any) -> Callable[[list[Row]], list[Row]]:
    """Return what changes one row of a tree."""

    def change(rows: list[Row]) -> list[Row]:
        return [
            {**row, **values} if (row["zone"], row["axis"]) == (name, "destination") else row for row in rows
        ]

    return change


def without(zone: str) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [row for row in rows if (row["zone"], row["axis"]) != (zone, "origin")]


def both(*changes: Callable[[list[Row]], list[Row]]) -> Callable[[list[Row]], list[Row]]:
    def change(rows: list[Row]) -> list[Row]:
        for one in changes:
            rows = one(rows)
        return rows

    return change


BROKEN = {
    "two roots": (changed("00", parent=None), "exactly one root"),
    "no root": (without("0"), "exactly one root"),
    "one zone twice": (lambda rows: [*rows, rows[-1]], "occurs twice"),
    "a ring": (both(changed("00", parent="001"), changed("001", parent="00")), "never reach the root"),
    "a parent that is none": (changed("030", parent="09"), "never reach the root"),
    "a height too many": (changed("0", height=3), "height or tiles do not fit"),
    "a tile that stands higher": (changed("030", height=1), "height or tiles do not fit"),
    "fewer tiles than children have": (changed("0", tiles=7), "height or tiles do not fit"),
    "a parent of another name": (changed("030", zone="020"), "not a quarter"),
    "more tiles than four times the child's": (changed("03", tiles=5), "not a quarter"),
    "fewer tiles than a whole cell has": (changed("03", tiles=3), "not a quarter"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_no_tree_is_refused(case_of: Cases, broken: str) -> None:
    change, words = BROKEN[broken]
    with pytest.raises(BrokenPart, match=words):
        load_tree(case_of(change(rows_of(QUADTREE)), "quadtree:2"))


def test_a_tree_that_is_complete_has_exactly_the_tiles_of_its_children(case_of: Cases) -> None:
    # Grids leave out tiles that nobody reached; lists of zones do not.
    with pytest.raises(BrokenPart, match="height or tiles do not fit"):
        load_tree(case_of(changed("all", tiles=4)(rows_of(TRACTS)), "table:x"))


@pytest.mark.parametrize(("height", "pairs"), [(0, 3 * 2), (1, 2 * 1), (2, 1)])
def test_pairs_there_could_be_are_those_of_the_zones_of_a_height(
    case_of: Cases, height: int, pairs: int
) -> None:
    # At height 1 there are two origins: `c` stands alone below the root, `a` and `b` are part of `north`.
    origins = [row for row in rows_of(TRACTS) if row["axis"] == "origin"]
    flat = {"all": (None, 1, 2), "a": ("all", 0, 1), "b": ("all", 0, 1)}
    destinations = [row for row in rows_of(flat) if row["axis"] == "destination"]
    case = case_of([*origins, *destinations], "table:x", parameters={"height": height})
    load_tree(case)
    assert _all_pairs(case, SimpleNamespace(study_area="all")) == pairs  # type: ignore[arg-type]


QUARTERS = object()
"""Stands for zones whose names say where they lie."""


@pytest.mark.parametrize(
    ("names", "resolution", "stated", "lacks"),
    [
        (QUARTERS, None, {}, True),
        (QUARTERS, None, {"hierarchy": {"area": [0, 0, 1, 1]}}, False),
        (QUARTERS, None, {"hierarchy": {"spec": "quadtree:2"}}, True),
        (QUARTERS, 8, {}, False),
        (None, None, {}, False),
    ],
)
def test_only_a_quadtree_needs_to_be_told_how_it_lies(
    names: Any, resolution: int | None, stated: Any, lacks: bool
) -> None:
    promise = SimpleNamespace(names=names, resolution=resolution, spec="quadtree:2")
    case: Any = SimpleNamespace(promise=promise, facts=stated, recorded={}, tiling=None)
    assert _lacks_its_area(case) is lacks
    case.recorded = {"tiling": {"area": [0, 0, 1, 1]}}
    assert not _lacks_its_area(case)
    assert tiling_of(case, case) is case
