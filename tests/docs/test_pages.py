"""The pages people read first: their commands run, their outputs are real, their links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from tripcloak.cli.app import COMMANDS
from tripcloak.cli.run import run as tripcloak
from tripcloak.flows.audit.rules import BOOK
from tripcloak.flows.rewriting import REWRITINGS
from tripcloak.ground.folders import PUBLIC_FILES
from tripcloak.promises import AveragePeople, Promise
from tripcloak.synth import City, write_city
from tripcloak.trajectories.audit.rules import BOOK as TRAJECTORY_BOOK
from tripcloak.trajectories.rewriting import REWRITINGS as TRAJECTORY_REWRITINGS
from worlds.depth import DEEP

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
RUN = [
    "README.md",
    "docs/python.md",
    "docs/promise.md",
    "docs/architecture.md",
    "docs/methods/odkanon.md",
    "docs/methods/time.md",
    "docs/people.md",
    "docs/series.md",
    "docs/trajectories-and-trips.md",
]
DEEP_ALONE = {
    "docs/methods/odkanon.md",
    "docs/methods/time.md",
    "docs/people.md",
    "docs/trajectories-and-trips.md",
}
"""Pages that take minutes, and are run by deep runs alone."""
MATCHING = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A fenced block of a page, and the text up to the next one."""

    kind: str
    text: str
    after: str


def blocks(page: str) -> list[Block]:
    parts = re.split(r"^```(\w*)\n(.*?)^```\n", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    return [Block(*parts[i : i + 3]) for i in range(1, len(parts), 3)]


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Yield each command of a block with the output shown below it."""
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's city."""
    file: Path = tmp_path_factory.mktemp("demo") / "trips.parquet"
    write_city(City(trips=200_000, seed=1), file)
    return file


@pytest.fixture
def place(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the demo's city in it, as trips.parquet; one stands in it, at a narrow terminal."""
    shutil.copy(demo, tmp_path / "trips.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


Run: TypeAlias = Callable[[str], str]


def run(command: list[str] | str, place: Path) -> str:
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": beside, "PYTHONUTF8": "1"}
    shell = isinstance(command, str)
    done = subprocess.run(
        command, cwd=place, env=environment, shell=shell, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def carried_out(capsys: pytest.CaptureFixture[str]) -> Run:
    """What a command prints; our own is carried out here, where nothing has to start."""

    def printed(command: str) -> str:
        name, *arguments = shlex.split(command)
        if name != "tripcloak":
            return run(command, Path.cwd())
        capsys.readouterr()
        code = tripcloak(arguments)
        told = capsys.readouterr()
        assert code == 0, f"{command}\n{told.err}"
        return told.out

    return printed


@pytest.mark.parametrize("page", [page for page in RUN if DEEP or page not in DEEP_ALONE])
def test_what_a_page_shows_is_what_happens(page: str, place: Path, carried_out: Run) -> None:
    """Blocks run in the order of the page, in a folder with nothing but the demo's city."""
    typed = False
    for block in blocks(page):
        if block.kind == "console":
            for command, shown in commands(block):
                # The first one is typed into a shell, so that a newcomer's first command is sure to be there.
                first = page == "README.md" and not typed
                typed = True
                check_output(shown, run(command, place) if first else carried_out(command))
        elif block.kind == "python":
            printed = said_by(block.text, in_small(block, place))
            # Printed lines stand in comments behind the calls, or in the text below the block.
            missing = [line for line in printed.splitlines() if line not in block.text + block.after]
            assert not missing, f"{page} does not show {missing}"


def said_by(code: str, place: Path) -> str:
    """Return what a script prints that is run here, where nothing has to be loaded."""
    told = io.StringIO()
    with contextlib.chdir(place), contextlib.redirect_stdout(told):
        exec(compile(code, "<page>", "exec"), {"__name__": "__main__"})
    return told.getvalue()


def in_small(block: Block, place: Path) -> Path:
    """Return where to run a block: those that compare methods, and show no number of it, with fewer trips."""
    if "tc.compare(" not in block.text:
        return place
    few = place / "few"
    few.mkdir()
    write_city(City(trips=20_000, seed=1), few / "trips.parquet")
    return few


@pytest.mark.skipif(not DEEP, reason="takes a minute; run by make test-deep")
def test_the_long_commands_of_a_page_run_in_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, carried_out: Run
) -> None:
    """The page about people, with fewer of them: every command works and prints the rows that are shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    ran = 0
    for block in blocks("docs/people.md"):
        if block.kind == "python":
            said_by(block.text, tmp_path)
        for command, shown in commands(block) if block.kind in ("console", "shellsession") else ():
            told = carried_out(command.replace("--people 3300", "--people 400"))
            rows = re.findall(r"^│ ([a-zA-Z][^│=]*?) *│", shown, flags=re.M)
            assert not [row for row in rows if row not in told], command
            ran += 1
    assert ran > 9


def test_what_the_page_on_the_ledger_shows_is_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process and on a small city: no number of it is shown."""
    write_city(City(trips=5_000, seed=1), tmp_path / "trips.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for block in blocks("docs/ledger.md"):
        for command, shown in commands(block):
            capsys.readouterr()
            code = tripcloak(shlex.split(command)[1:])
            told = capsys.readouterr()
            assert code == 0, f"{command}\n{told.err}"
            check_output(shown, told.out)
    assert (tmp_path / "ledger/chain/00000004.json").is_file()


def check_output(shown: str, printed: str) -> None:
    checker = doctest.OutputChecker()
    difference = checker.output_difference(doctest.Example("", shown), printed, MATCHING)
    assert checker.check_output(shown, printed, MATCHING), difference


def test_the_runnable_pages_hold_something_to_run() -> None:
    kinds = {page: {block.kind for block in blocks(page)} for page in RUN}
    assert kinds["README.md"] >= {"console", "python"}
    assert all(found & {"console", "python"} for found in kinds.values())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not link.startswith(("https://", "http://", "mailto:")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}, which is not there"


def test_the_table_of_contents_names_every_page() -> None:
    listed = set(re.findall(r"\]\(([^)#\s]+)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert pages - {"index.md"} <= listed


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md"])
def test_pages_list_every_public_file(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not [name for name in PUBLIC_FILES if name not in text]


def test_the_first_page_names_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"(?:\$ |`)tripcloak (\w+)", text)) | set(re.findall("`(metrics)`", text))
    assert shown == {name.split()[0] for name in COMMANDS}


def test_the_promise_names_every_rule_of_the_audit() -> None:
    rules = [*(rule.name for rule in BOOK), *(one.rule for one in REWRITINGS)]
    for page in ("promise.md", "audit.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert not [rule for rule in rules if f"`{rule}`" not in text], page


def test_the_page_on_trajectories_names_every_rule_of_their_audit() -> None:
    text = (ROOT / "docs" / "trajectory-audit.md").read_text(encoding="utf-8")
    rules = [*(rule.name for rule in TRAJECTORY_BOOK), *(one.rule for one in TRAJECTORY_REWRITINGS)]
    assert not [rule for rule in rules if f"`{rule}`" not in text]


def test_a_page_names_every_kind_of_promise() -> None:
    text = (ROOT / "docs" / "kinds-of-promises.md").read_text(encoding="utf-8")
    # A threshold that is left to the mean weight is settled before anything is released.
    kinds = set(Promise._kinds) - {AveragePeople.kind}
    assert not [kind for kind in kinds if f"`{kind}`" not in text]
    classes = {one.__name__ for one in Promise._kinds.values()}
    assert not [name for name in classes if f"| `{name}` |" not in text]
