"""The plan on paper is that of the code: rooms, storeys, the picture, and every module that pages name."""

from __future__ import annotations

import ast
import re
import runpy
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import tripcloak
from test_architecture import STOREYS, WING
from tripcloak.promises import Promise

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tripcloak"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PLAN = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WINGS = ("flows", "trajectories")
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def told_tree() -> tuple[set[str], dict[str, set[str]]]:
    """Return the rooms that the tree lists, and the parts of those that are shown from inside."""
    block = re.search(r"```\nsrc/tripcloak/\n(.*?)```", PLAN, flags=re.S)
    assert block is not None
    rooms: set[str] = set()
    parts: dict[str, set[str]] = {}
    room = ""
    for line in block[1].splitlines():
        indent, name, words = re.fullmatch(r"( +)(\S+) +(\S.*)", line).groups()  # type: ignore[union-attr]
        assert words
        if len(indent) == 2:
            room = name
            assert room not in rooms
            rooms.add(room)
        else:
            assert name not in parts.setdefault(room, set())
            parts[room].add(name)
    return rooms, parts


def there(folder: Path) -> set[str]:
    """Return the modules and packages of a folder, as the tree writes them."""
    packages = {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    return packages | {path.name for path in folder.glob("*.py")}


def test_the_tree_lists_exactly_the_rooms_there_are() -> None:
    rooms, parts = told_tree()
    assert rooms == there(PACKAGE)
    assert set(parts) == {"records/", *(f"{wing}/" for wing in WINGS)}
    assert parts["records/"] == {name for name in there(PACKAGE / "records") if name.endswith("/")}
    for wing in WINGS:
        assert parts[f"{wing}/"] == there(PACKAGE / wing) - {"__init__.py"}, wing


def test_the_storeys_are_those_that_are_enforced() -> None:
    told = re.findall(r"^\| (\d+) \| (`.*`) \|$", PLAN, flags=re.M)
    assert [int(storey) for storey, _ in told] == list(range(len(STOREYS), 0, -1))
    assert [set(re.findall(r"`(\w+)`", rooms)) for _, rooms in reversed(told)] == [*map(set, STOREYS)]


def test_the_picture_is_drawn_anew_and_shows_every_room() -> None:
    folder = ROOT / "docs" / "images"
    picture = (folder / "house.svg").read_text(encoding="utf-8")
    assert runpy.run_path(str(folder / "make_house.py"))["drawn"]() == picture, "run make_house.py"
    names = set(re.findall(r'class="(?:name|title)"[^>]*>([^<]+)<', picture))
    rooms = {room for storey in STOREYS for room in storey if not room.startswith("_")}
    assert {name.rstrip("/") for name in names if name.endswith("/")} == rooms
    inside = {part for name in names - {"the road"} if not name.endswith("/") for part in name.split(" · ")}
    assert inside == {part for parts in WING[:-1] for part in parts} - {"_kernels"}
    ideas = " ".join(re.findall(r'class="idea"[^>]*>([^<]+)<', picture))
    assert not [part for part in WING[-1] if part not in ideas]
    assert not [path.stem for path in (PACKAGE / "ground").glob("[!_]*.py") if path.stem not in ideas]


def rows_of_ideas() -> list[tuple[str, str, list[str]]]:
    found = re.findall(r"^\| (.+) \| `([\w/]+\.py)` \| (`.+`) \|$", PLAN.split("## Who may import")[0], re.M)
    return [(idea, path, re.findall(r"`(\w+)`", names)) for idea, path, names in found]


def test_a_newcomer_finds_what_is_looked_for() -> None:
    rows = rows_of_ideas()
    assert len(rows) >= 40
    assert len({idea for idea, _, _ in rows}) == len(rows)
    rooms = {path.split("/")[0] for _, path, _ in rows}
    assert rooms == {room for storey in STOREYS for room in storey if not room.startswith("_")}
    for idea, path, names in rows:
        assert (PACKAGE / path).is_file(), idea
        assert names, idea
        assert not set(names) - written_in(PACKAGE / path), idea


def written_in(path: Path) -> set[str]:
    """Return the names that a module defines, and not those that it imports."""
    names: set[str] = set()
    for line in ast.parse(path.read_text(encoding="utf-8")).body:
        match line:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
    return names


def test_a_promise_answers_what_the_page_says() -> None:
    table = PLAN.split("## The promise\n")[1].split("\nEvery promise")[0]
    asked = [
        name
        for line in re.findall(r"^\|.*\|.*\|(.*)\|$", table, re.M)
        for name in re.findall("`(.+?)`", line)
    ]
    assert len(asked) > 15
    assert not [name for name in asked if not hasattr(Promise, name)]


@every_page
def test_paths_that_a_page_names_are_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    for path in re.findall(r"`((?:[\w.-]+/)+(?:[\w.-]+)?|[\w-]+\.py)`", text):
        top = path.split("/")[0]
        if path.endswith(".py") or top in rooms | {"tests", "docs", "src", "benchmarks", "examples"}:
            homes = [PACKAGE / path, ROOT / path, page.parent / path]
            # A name without a folder is that of a kind of file, such as `_kernels.py`.
            homes += [] if "/" in path else PACKAGE.rglob(path)
            assert any(home.exists() for home in homes), f"{path} is not there"


@every_page
def test_names_that_a_page_gives_can_be_imported(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`(tripcloak(?:\.\w+)+)`", text):
        assert found(name), f"{name} is not there"
    for name in re.findall(r"\btc\.((?:trajectories\.)?\w+)", text):
        assert found(f"tripcloak.{name}"), f"tc.{name} is not there"
    for module, names in re.findall(r"from (tripcloak[\w.]*) import (\([^)]*\)|[\w, ]+)", text):
        for name in re.findall(r"\w+", names):
            assert found(f"{module}.{name}"), f"{module} has no {name}"


def found(name: str) -> bool:
    """Return whether there is a module, or something in a module, of this name."""
    home, _, last = name.rpartition(".")
    if not home:
        return name == "tripcloak"
    if home == "tripcloak" and hasattr(tripcloak, last):
        return True
    try:
        return hasattr(import_module(home), last) or find_spec(name) is not None
    except ModuleNotFoundError:
        return False
