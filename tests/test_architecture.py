"""The house plan, enforced: who may import whom, what stays out of which room, and how large a file grows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tripcloak.algorithms import METHODS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tripcloak"

# Left to right. A room may import every room of an earlier tier, and no other of its own tier.
TIERS = (
    ("errors", "arrays", "findings", "_version"),
    ("hierarchy",),
    ("matrix",),
    ("trips", "synth"),
    ("criteria",),
    ("release",),
    ("algorithms", "metrics", "audit", "trajectories"),
    ("analysis", "io", "report", "spark"),
    ("workflow",),
    ("studio", "cli"),
)
TIER_OF = {room: tier for tier, rooms in enumerate(TIERS) for room in rooms}

# An auditor has to know where the files of a release folder lie, and nothing else of who wrote them.
ASIDE = {("audit", "tripcloak.io.folder")}

# The front doors: they gather the public names of the whole house.
FRONT = {"tripcloak", "tripcloak.__main__"}

PURE = {"hierarchy", "matrix", "criteria", "release", "algorithms", "metrics", "audit"}
KEPT_OUT = {"pandas", "geopandas", "polars", "pyspark", "matplotlib", "plotly", "seaborn"}
VAGUE = {"utils", "util", "helpers", "helper", "core", "common", "misc"}
FORMATTED = {".py", ".js", ".ts", ".css"}


class Import(NamedTuple):
    """One import: the module that asks, and the module asked for."""

    by: str
    of: str
    line: int

    def __str__(self) -> str:
        return f"{self.by} line {self.line} imports {self.of}"


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    return [*module.split("."), ""][1]


@cache
def sources() -> dict[Path, ast.Module]:
    """Return every module of the package, parsed."""
    return {path: ast.parse(path.read_text(), str(path)) for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports() -> tuple[Import, ...]:
    """Return every import of the package, those inside functions and under TYPE_CHECKING too."""
    return tuple(found for path, tree in sources().items() for found in imports_in(path, tree))


def imports_in(path: Path, tree: ast.Module) -> Iterator[Import]:
    name = module_name(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(name, alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, path)
            # `from tripcloak import io` asks for a room, `from tripcloak.io import x` for its module.
            yield from (
                Import(name, f"{base}.{a.name}" if base == "tripcloak" else base, node.lineno)
                for a in node.names
            )
        elif isinstance(node, ast.Call) and called_name(node) in {"import_module", "__import__"}:
            for told in node.args[:1]:
                if isinstance(told, ast.Constant) and isinstance(told.value, str):
                    yield Import(name, told.value, node.lineno)


def absolute(node: ast.ImportFrom, path: Path) -> str:
    """Return the module of a from-import, with leading dots resolved."""
    if node.level == 0:
        return node.module or ""
    package = path.parent.relative_to(PACKAGE.parent).parts
    base = package[: len(package) - node.level + 1]
    return ".".join((*base, *([node.module] if node.module else [])))


def called_name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def inside() -> list[Import]:
    """Return the imports from room to room."""
    return [
        one
        for one in imports()
        if one.of.split(".")[0] == "tripcloak" and one.by not in FRONT and room_of(one.by) != room_of(one.of)
    ]


def test_every_room_has_its_place_in_the_plan() -> None:
    rooms = {room_of(module_name(path)) for path in sources()} - {"", "__main__"}
    assert rooms <= set(TIER_OF), f"give {sorted(rooms - set(TIER_OF))} a tier"
    assert {"hierarchy", "matrix", "criteria", "release", "algorithms"} <= rooms


def test_nothing_imports_to_its_right() -> None:
    offences = [
        str(one)
        for one in inside()
        if TIER_OF.get(room_of(one.of), len(TIERS)) >= TIER_OF[room_of(one.by)]
        and (room_of(one.by), one.of) not in ASIDE
    ]
    assert inside(), "no import was found at all"
    assert not offences


def test_what_may_be_imported_from_aside_is_itself_far_left() -> None:
    for _, module in ASIDE:
        reached = {room_of(one.of) for one in inside() if one.by == module}
        assert all(TIER_OF[room] <= TIER_OF["release"] for room in reached)


@pytest.mark.parametrize("room", ["algorithms", "metrics", "audit"])
def test_algorithms_metrics_and_audit_never_meet(room: str) -> None:
    """Not even at one remove: an auditor that shares code with the algorithm proves nothing."""
    others = {"algorithms", "metrics", "audit"} - {room}
    reached, waiting = set(), {one.by for one in imports() if room_of(one.by) == room}
    while waiting:
        module = waiting.pop()
        reached.add(module)
        waiting |= {one.of for one in inside_of(module)} - reached
    assert not [module for module in reached if room_of(module) in others]


def inside_of(module: str) -> list[Import]:
    return [one for one in imports() if one.by == module and one.of.startswith("tripcloak.")]


def test_numba_lives_in_kernels_only() -> None:
    users = {one.by for one in imports() if one.of.split(".")[0] == "numba"}
    assert users
    assert {name.rsplit(".", 1)[1] for name in users} == {"_kernels"}


def test_kernels_take_arrays_and_know_nothing_of_the_house() -> None:
    # They may call each other: a compiled loop inside another one needs no arrays in between.
    asked = [one for one in imports() if one.by.endswith("._kernels") and not one.of.endswith("._kernels")]
    assert not [str(one) for one in asked if room_of(one.of) in set(TIER_OF) - {"arrays"}]


# What decides, what judges and what measures never share code, in the room of trajectories too.
APART = (
    {"methods", "merging"},
    {"audit", "attacks"},
    {"measures"},
)


def test_trajectories_are_audited_and_measured_by_code_of_its_own() -> None:
    def part_of(module: str) -> str:
        return [*module.split("."), "", ""][2] if room_of(module) == "trajectories" else ""

    group_of = {part: group for group, parts in enumerate(APART) for part in parts}
    asked = [(group_of.get(part_of(one.by)), group_of.get(part_of(one.of)), one) for one in imports()]
    assert any(by == 0 for by, _, _ in asked)
    assert not [str(one) for by, of, one in asked if by is not None and of is not None and by != of]


def test_no_query_is_recursive() -> None:
    """One that is cancelled may never come back (DuckDB 2.0), so trees are climbed step by step."""
    assert not [str(path) for path in sources() if "with recursive" in path.read_text().lower()]


def test_data_frames_and_plots_stay_out_of_the_pure_rooms() -> None:
    offences = [str(one) for one in imports() if room_of(one.by) in PURE and one.of.split(".")[0] in KEPT_OUT]
    assert not offences


def test_every_kernel_of_matrix_and_algorithms_has_a_plain_twin() -> None:
    twins = {
        node.name
        for path in (ROOT / "tests").rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    kernels = {
        node.name
        for path, tree in sources().items()
        if path.stem == "_kernels" and room_of(module_name(path)) in {"matrix", "algorithms"}
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    assert {"number_keys", "merge_order"} <= kernels
    assert kernels <= twins, f"write a plain twin of {sorted(kernels - twins)}"


def test_files_stay_under_400_lines() -> None:
    files = [
        path
        for folder in ("src", "tests", "benchmarks")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in FORMATTED and "node_modules" not in path.parts
    ]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    assert not {name: n for name, n in lengths.items() if n >= 400}


def test_names_say_what_is_inside() -> None:
    paths = [path.relative_to(ROOT) for folder in (PACKAGE, ROOT / "tests") for path in folder.rglob("*")]
    assert not [str(path) for path in paths if VAGUE & {Path(part).stem for part in path.parts}]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_a_frozen_bundle_of_named_parameters(name: str) -> None:
    method = METHODS[name]
    assert is_dataclass(method)
    assert method.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert all(field.kw_only for field in fields(method))
    assert method.name == name
    assert method.summary
    assert method.source
    assert hash(method()) == hash(method())
