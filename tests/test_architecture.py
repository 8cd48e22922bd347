"""The house plan, enforced: who may import whom, what stays out of which room, and how large a file grows."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tripcloak.flows.methods import METHODS
from tripcloak.promises import Promise

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tripcloak"

# From the ground up. A room may import every room of a lower storey, and no other of its own.
STOREYS = (
    ("ground", "_version"),
    ("hierarchy", "synth"),
    ("promises",),
    ("records",),
    ("pages", "engines"),
    ("flows", "trajectories"),
    ("comparing", "analysis", "fairness", "receiving", "ledger", "exporting"),
    ("reporting",),
    ("api", "studio"),
    ("cli",),
)
STOREY_OF = {room: storey for storey, rooms in enumerate(STOREYS) for room in rooms}

# Inside a wing, left to right; what decides, what measures and what judges never meet.
WING = (
    ("model",),
    ("_kernels", "stays", "reading", "release"),
    ("methods", "measures", "audit", "attacks"),
    ("report",),
    (
        "options",
        "keywords",
        "protection",
        "few",
        "notes",
        "publish",
        "rewriting",
        "checking",
        "describe",
        "anonymise",
        "planning",
        "resuming",
        "series",
        "attacking",
        "linking",
        "regions",
        "trips",
    ),
)
APART = ({"methods"}, {"measures"}, {"audit", "attacks"})

# What opens files knows how columns are called and how public formats look, and nothing of trips.
KNOWN_TO_FILES = {"columns", "file_counts", "presets", "schema"}

# The front doors, of the house and of a wing: they gather public names.
FRONT = {"tripcloak", "tripcloak.__main__", "tripcloak.trajectories"}

FRAMES = {"api"}
"""The rooms at the edge, where data frames come in and go out."""
KEPT_OUT = {"pandas", "geopandas", "polars", "matplotlib", "plotly", "seaborn"}
VAGUE = {"utils", "util", "helpers", "helper", "core", "common", "misc"}
FORMATTED = {".py", ".js", ".ts", ".css"}
LONGEST = 600


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


def part_of(module: str) -> str:
    """Return the part of a wing that a module belongs to; nothing outside the wings."""
    return [*module.split("."), "", ""][2] if room_of(module) in {"flows", "trajectories"} else ""


def reached_from(modules: set[str]) -> set[str]:
    """Return all that some modules import, directly or at any remove."""
    asked: dict[str, set[str]] = {}
    for one in imports():
        asked.setdefault(one.by, set()).add(one.of)
    reached, waiting = set(), set(modules)
    while waiting:
        module = waiting.pop()
        reached.add(module)
        waiting |= asked.get(module, set()) - reached
    return reached


def test_every_room_has_its_place_in_the_plan() -> None:
    rooms = {room_of(module_name(path)) for path in sources()} - {"", "__main__"}
    assert rooms == set(STOREY_OF), f"give {sorted(rooms ^ set(STOREY_OF))} a storey, or take it away"


def test_nothing_imports_what_stands_on_it() -> None:
    offences = [
        str(one)
        for one in inside()
        if STOREY_OF.get(room_of(one.of), len(STOREYS)) >= STOREY_OF[room_of(one.by)]
    ]
    assert inside(), "no import was found at all"
    assert not offences


def test_the_wings_never_meet() -> None:
    for wing, other in (("flows", "trajectories"), ("trajectories", "flows")):
        own = {one.by for one in imports() if room_of(one.by) == wing} - FRONT
        assert own
        assert not [module for module in reached_from(own) if room_of(module) == other]


@pytest.mark.parametrize("wing", ["flows", "trajectories"])
def test_inside_a_wing_nothing_imports_to_its_right(wing: str) -> None:
    place = {part: at for at, parts in enumerate(WING) for part in parts}
    parts = {part_of(module_name(path)) for path in sources() if room_of(module_name(path)) == wing} - {""}
    assert parts <= set(place), f"give {sorted(parts - set(place))} a place"
    offences = [
        str(one)
        for one in imports()
        if room_of(one.by) == room_of(one.of) == wing
        and one.by not in FRONT
        and part_of(one.by) != part_of(one.of)
        and place.get(part_of(one.by), -1) < place.get(part_of(one.of), -1)
    ]
    assert not offences


@pytest.mark.parametrize("wing", ["flows", "trajectories"])
@pytest.mark.parametrize("group", APART, ids=lambda group: "-".join(sorted(group)))
def test_methods_measures_and_audit_never_meet(wing: str, group: set[str]) -> None:
    """Not even at one remove: an auditor that shares code with the method proves nothing."""
    own = {one.by for one in imports() if room_of(one.by) == wing and part_of(one.by) in group}
    others = set().union(*APART) - group
    assert own
    assert not [
        module for module in reached_from(own) if room_of(module) == wing and part_of(module) in others
    ]


@pytest.mark.parametrize("wing", ["flows", "trajectories"])
def test_audits_import_the_ground_and_what_was_released_and_nothing_else(wing: str) -> None:
    """No reader's room, no records, and no promise: an auditor reads all of that with code of its own."""
    allowed = {"ground", "hierarchy", "_version"}
    parts = {"audit", "model", "release", "_kernels"}
    offences = [
        str(one)
        for one in imports()
        if room_of(one.by) == wing
        and part_of(one.by) == "audit"
        and one.of.split(".")[0] == "tripcloak"
        and room_of(one.of) not in allowed
        and not (room_of(one.of) == wing and part_of(one.of) in parts)
    ]
    assert not offences


def test_what_opens_files_knows_nothing_of_trips() -> None:
    files = "tripcloak.records.files."
    asked = [one for one in imports() if one.by.startswith(files) and room_of(one.of) == "records"]
    outside = {one for one in asked if not one.of.startswith(files)}
    assert outside
    assert not [str(one) for one in outside if one.of.split(".")[2] not in KNOWN_TO_FILES]


def promise_classes() -> set[str]:
    """Return the names of the classes in the room of promises that are promises."""
    return {
        node.name
        for path, tree in sources().items()
        if room_of(module_name(path)) == "promises"
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and any(getattr(base, "id", "").endswith("Promise") for base in node.bases)
    }


def is_auditor(module: str) -> bool:
    return part_of(module) == "audit"


def test_whoever_asks_what_was_promised_asks_the_promise() -> None:
    """Neither its class nor its kind: what a promise means is written down once, with the promise."""
    classes = promise_classes()
    assert {"KAnonymity", "DifferentialPrivacy", "Containment", "TCloseness"} <= classes
    kinds = set(Promise._kinds)
    offences = []
    for path, tree in sources().items():
        module = module_name(path)
        if room_of(module) == "promises" or is_auditor(module):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called_name(node) in {"isinstance", "issubclass"}:
                named = {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node.args[1])}
                if named & (classes | {"Promise"}):
                    offences.append(f"{module} line {node.lineno} asks for the class of a promise")
            if isinstance(node, ast.Compare):
                said = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
                if said & kinds:
                    offences.append(f"{module} line {node.lineno} asks for the kind of a promise")
    assert not offences


ASKED_OF_THE_PROMISE = {"privacy", "known_items", "closeness", "floors", "segments", "by_release"}


def test_nobody_finds_out_what_was_promised_by_what_is_missing() -> None:
    offences = [
        f"{module_name(path)} line {node.lineno} asks whether {left.attr} is None"
        for path, tree in sources().items()
        if not is_auditor(module_name(path)) and room_of(module_name(path)) != "promises"
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and isinstance(left := node.left, ast.Attribute)
        and left.attr in ASKED_OF_THE_PROMISE
        and any(isinstance(right, ast.Constant) and right.value is None for right in node.comparators)
    ]
    assert not offences


def is_kernel(module: str) -> bool:
    return "_kernels" in module.split(".")


def test_numba_lives_in_kernels_only() -> None:
    users = {one.by for one in imports() if one.of.split(".")[0] == "numba"}
    assert users
    assert all(is_kernel(module) for module in users)


def test_a_gpu_is_asked_in_one_place() -> None:
    assert {one.by for one in imports() if one.of.split(".")[0] == "cupy"} == {
        "tripcloak.trajectories.methods.gpu"
    }


NOT_ON_THE_GPU_ROAD = {
    "h3",
    "duckdb",
    "typer",
    "rich",
    "jinja2",
    "shapely",
    "pyproj",
    "cryptography",
    "openpyxl",
}


def test_the_road_to_a_gpu_is_free_of_what_machines_for_it_lack() -> None:
    """Made-up calls in, a method, its release and its audit: nothing of that loads more than arrays need."""
    road = (
        "synth.cdr",
        "trajectories.methods.kscale",
        "trajectories.methods.glove",
        "trajectories.methods.gpu",
    )
    judged = ("trajectories.release.published", "trajectories.audit.memory")
    names = [f"tripcloak.{name}" for name in (*road, *judged)]
    asked = (
        "import sys, importlib; [importlib.import_module(name) for name in sys.argv[1:]]; print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", asked, *names], check=True, capture_output=True, text=True)
    loaded = {name.split(".")[0] for name in ran.stdout.split()}
    assert "tripcloak" in loaded
    assert not loaded & NOT_ON_THE_GPU_ROAD


def test_kernels_take_arrays_and_know_nothing_of_the_house() -> None:
    # They may call each other: a compiled loop inside another one needs no arrays in between.
    asked = [one for one in imports() if is_kernel(one.by) and not is_kernel(one.of)]
    ours = [one for one in asked if one.of.split(".")[0] == "tripcloak"]
    assert not [str(one) for one in ours if one.of != "tripcloak.ground.arrays"]


def test_no_query_is_recursive() -> None:
    """One that is cancelled may never come back (DuckDB 2.0), so trees are climbed step by step."""
    assert not [str(path) for path in sources() if "with recursive" in path.read_text().lower()]


def test_tables_are_read_by_whole_paths() -> None:
    """Arrow takes a path that begins with file: or s3: for a place elsewhere, unless it is a whole one."""
    calls = [call for path in sources() for call in path.read_text().split("parquet.read_table(")[1:]]
    assert len(calls) > 20
    assert [call[:60] for call in calls if ".absolute()" not in call[:60]] == []


def test_data_frames_and_plots_stay_at_the_edge() -> None:
    users = {room_of(one.by) for one in imports() if one.of.split(".")[0] in KEPT_OUT}
    assert users == FRAMES


def test_spark_is_spoken_to_by_one_module() -> None:
    assert {one.by for one in imports() if one.of.split(".")[0] in ("pyspark", "py4j")} == {
        "tripcloak.engines.spark"
    }


ORACLES = ROOT / "tests" / "oracles"


def functions_in(trees: Iterable[ast.Module]) -> set[str]:
    """Return the public functions that modules define."""
    found = (node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name for node in found if not node.name.startswith("_")}


def asked_of_oracles(tree: ast.Module) -> set[str]:
    """Return the functions of oracles that a module uses, as ``twin(...)`` or ``oracle.twin(...)``."""
    bound = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "oracles"
        for alias in node.names
    }
    used = {bound[node.id] for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in bound}
    attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return used | {
        node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id in bound
    }


def test_every_kernel_has_a_plain_twin_that_it_is_held_to() -> None:
    """A twin is a function of the same name in the oracles, and some test asks it."""
    kernels = functions_in(tree for path, tree in sources().items() if is_kernel(module_name(path)))
    twins = functions_in(ast.parse(path.read_text()) for path in ORACLES.rglob("*.py"))
    texts = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    asked = set().union(*(asked_of_oracles(ast.parse(text)) for text in texts if "oracles" in text))
    assert {"number_into", "merge_order", "encode_cells", "least_common"} <= kernels
    assert kernels <= twins, f"write a plain twin of {sorted(kernels - twins)}"
    assert kernels <= asked, f"hold them to their twins: {sorted(kernels - asked)}"


def test_files_are_no_barns() -> None:
    files = [
        path
        for folder in ("src", "tests", "benchmarks", "web/src")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in FORMATTED and "built" not in path.parts
    ]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    assert not {name: n for name, n in lengths.items() if n > LONGEST}


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
