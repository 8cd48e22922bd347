"""Help: an example for every command, and quick to come up."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tripcloak as package
from tripcloak.cli.app import COMMANDS as ALL

COMMANDS = tuple(ALL)
GROUPS = {"synth", "score", "ledger", "trajectories"}
HEAVY = {
    "numpy",
    "duckdb",
    "pyarrow",
    "numba",
    "scipy",
    "shapely",
    "sklearn",
    "pyproj",
    "h3",
    "jinja2",
    "pandas",
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_shows_an_example(tripcloak, command, flag):
    told = tripcloak(*command.split(), flag)
    assert (told.code, told.err) == (0, "")
    assert re.search(r"Examples?\b", told.out)
    examples = told.out.split("Example", 1)[1].split("╭", 1)[0]
    assert f"\n   tripcloak {command}" in examples or command in GROUPS
    assert "\n tripcloak" not in examples
    assert "<bool>" not in told.out


def test_the_first_page_lists_all_commands_and_where_to_start(tripcloak):
    told = tripcloak("--help")
    assert (told.code, told.err) == (0, "")
    assert all(command.split()[0] in told.out for command in COMMANDS)
    assert "tripcloak demo" in told.out


@pytest.mark.parametrize("command", [[], ["synth"], ["trajectories"]])
def test_without_a_command_help_is_printed(tripcloak, command):
    told = tripcloak(*command)
    assert told.code == 2
    assert "Usage" in told.out + told.err
    assert "Commands" in told.out + told.err


def test_examples_in_the_help_are_commands_that_exist(tripcloak):
    """Every option of every example is one that a command of the example knows."""
    pages = {command: tripcloak(*command.split(), "--help").out for command in set(COMMANDS) - GROUPS}
    for command, page in sorted(pages.items()):
        text = page.split("Example", 1)[1].split("╭", 1)[0]
        named = {other for other in pages if f"tripcloak {other} " in " ".join(text.split())} | {command}
        known = {option for one in named for option in options_on(pages[one].split("╭", 1)[1])}
        assert options_on(text) <= known


def options_on(text):
    return set(re.findall(r" (--[a-z-]+)", text))


def test_help_shows_brackets_as_they_are(tripcloak):
    assert "[[lon,lat],...]" in tripcloak("anonymise", "--help").out


def test_the_version_is_the_packages(tripcloak):
    told = tripcloak("--version")
    assert (told.code, told.out) == (0, f"tripcloak {package.__version__}\n")


WEIGHED = """
import resource, sys
sys.argv = ["tripcloak", *sys.argv[1:]]
from tripcloak.cli import main
try:
    main()
except SystemExit as end:
    assert end.code == 0
spent = resource.getrusage(resource.RUSAGE_SELF)
print(",".join(sys.modules), spent.ru_utime + spent.ru_stime, sep="|", file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["anonymise", "--help"], ["trajectories", "anonymise", "--help"], ["--version"]],
    ids=" ".join,
)
def test_help_is_quick_and_loads_nothing_heavy(arguments):
    limit = 0.4 if len(arguments) == 1 else 0.6
    modules, seconds = weighed(arguments, limit)
    assert not HEAVY & modules
    assert seconds < limit


@pytest.mark.parametrize(
    "arguments", [["--help"], ["anonymise", "--help"], ["trajectories", "anonymise", "--help"]], ids=" ".join
)
def test_help_is_quick_where_python_writes_no_bytecode(arguments, tmp_path):
    home = Path(package.__file__).parent
    shutil.copytree(home, tmp_path / "tripcloak", ignore=shutil.ignore_patterns("__pycache__"))
    modules, seconds = weighed(arguments, 0.6, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(tmp_path))
    assert not HEAVY & modules
    assert seconds < 0.6
    assert not list(tmp_path.rglob("__pycache__"))


def weighed(arguments, limit, **environment):
    """Return the modules that a command loads and its CPU seconds, at best: others use the machine too."""
    command = [sys.executable, "-c", WEIGHED, *arguments]
    seconds = math.inf
    for _ in range(8):
        ended = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, **environment}
        )
        modules, taken = ended.stderr.strip().split("|")
        seconds = min(seconds, float(taken))
        if seconds < limit:
            break
    return {name.split(".")[0] for name in modules.split(",")}, seconds
