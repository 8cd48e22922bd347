"""Tilings from text, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tripcloak.ground.errors import HierarchyError, InputError
from tripcloak.hierarchy import H3BinaryTiling, H3Tiling, QuadtreeTiling, ZoneFile, parse_tiling


@pytest.fixture
def zones(tmp_path: Path) -> Path:
    path = tmp_path / "zones.csv"
    path.write_text("id,lat,lon,county,state\na,1,2,A,X\nb,1,3,A,X\n")
    return path


@pytest.mark.parametrize(
    "spec",
    ["h3:10", "h3:0", "h3:10/root=5", "h3:10/binary", "h3:10/root=5/binary", "h3:9/root=851fb467fffffff",
     "quadtree:9", "dendrogram",
     "table:county,state"],
)  # fmt: skip
def test_a_tilings_name_is_its_text(spec: str, zones: Path) -> None:
    assert parse_tiling(spec, zones=zones, area=(0, 0, 1, 1)).name == spec


def test_text_is_read_as_people_write_it(zones: Path) -> None:
    assert parse_tiling(" H3:7 ") == H3Tiling(7)
    assert parse_tiling("h3:7/Binary/root=3") == parse_tiling("h3:7/root=3/binary") == H3BinaryTiling(7, 3)
    assert parse_tiling("h3:7/binary") != H3Tiling(7)
    assert parse_tiling("Table: county , state", zones=ZoneFile.read(zones)).name == "table:county,state"


def test_a_quadtree_takes_the_area_or_finds_one_about_the_extent() -> None:
    asked = []

    def extent() -> tuple[float, float, float, float]:
        asked.append(True)
        return (0.01, 0.01, 0.99, 0.99)

    assert parse_tiling("quadtree:3", area=(0, 0, 2, 2), extent=extent) == QuadtreeTiling(3, (0, 0, 2, 2))
    assert not asked
    assert parse_tiling("quadtree:3", extent=extent) == QuadtreeTiling(3, (0, 0, 1, 1))
    assert parse_tiling("quadtree:3", extent=(0.01, 0.01, 0.99, 0.99)).area == (0, 0, 1, 1)


@pytest.mark.parametrize(
    "spec",
    ["", "h3", "h3:", "h3:x", "h3:-1", "h3:10/roof=5", "h3:10/root=", "h3:10/binary/binary",
     "h3:10/binary/root=5/binary", "h3:10/root=5/root=5", "h3:10/", "h3:10/binary/", "quadtree",
     "quadtree:1.5", "dendrogram:", "dendrogram:3", "table", "table:", "table:county,,state", "s2:10"],
)  # fmt: skip
def test_malformed_text_is_refused_with_the_forms_listed(spec: str, zones: Path) -> None:
    with pytest.raises(InputError, match="h3:10, h3:10/root=5, h3:10/binary, quadtree:9, table:county,state"):
        parse_tiling(spec, zones=zones, area=(0, 0, 1, 1))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("dendrogram", "needs a zones file"),
        ("table:county", "needs a zones file"),
        ("quadtree:5", "study area"),
    ],
)
def test_what_is_missing_is_named(spec: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_tiling(spec)


def test_numbers_off_the_scale_are_refused() -> None:
    with pytest.raises(HierarchyError, match="0 to 15"):
        parse_tiling("h3:16")


def test_importing_hierarchies_loads_nothing_heavy() -> None:
    heavy = ("shapely", "scipy", "pyproj", "pyarrow", "duckdb", "numba", "h3")
    code = f"import sys, tripcloak.hierarchy; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
