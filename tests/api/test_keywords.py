"""Keywords: every option of the command line is one, with the same name and default, and errors name it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

import tripcloak as tc
from tripcloak.api import keywords as typed
from tripcloak.api.flows import ReleasedFlows
from tripcloak.cli.app import built

SRC = Path(tc.__file__).parent

VERBS: dict[str, tuple[Callable[..., Any], Any]] = {
    "anonymise": (tc.anonymise, typed.AnonymiseKeywords),
    "describe": (tc.describe, typed.DescribeKeywords),
    "compare": (tc.compare, typed.CompareKeywords),
    "series": (tc.series, typed.SeriesKeywords),
    "difference": (tc.difference, None),
    "audit": (tc.audit, None),
    "measures": (tc.measures, None),
    "trajectories anonymise": (tc.trajectories.anonymise, typed.AnonymiseTrajectoriesKeywords),
    "trajectories describe": (tc.trajectories.describe, typed.FixKeywords),
    "trajectories compare": (tc.trajectories.compare, typed.CompareTrajectoriesKeywords),
}
PRINTED = {"json", "markdown", "help", "risk", "config", "rule"}
"""What says how the command line is told its options, how it prints, and with which code it exits."""
AFTERWARDS = {"report", "also"}
"""What is a command of its own on a folder that was saved."""
SEVERAL = {"regions"}
"""What makes several releases at once, where a verb returns one: in Python, ask for one box at a time."""
NOT_PYTHON = PRINTED | AFTERWARDS | SEVERAL


def options(command: str) -> dict[str, Any]:
    """Return the options of a command with their defaults, by the keyword that follows from the flag."""
    app = typer.Typer(add_completion=False)
    app.command()(built(command))
    found: Any = typer.main.get_command(app)
    return {
        one.opts[0].removeprefix("--").replace("-", "_"): _value(one)
        for one in found.params
        if one.param_type_name == "option" and one.opts[0].removeprefix("--") not in NOT_PYTHON
    }


def _value(option: Any) -> Any:
    default = None if option.required else option.default
    # Where several may be given, one number stands for text.
    return float(default) if isinstance(default, str) and re.fullmatch(r"[\d.]+", default) else default


@pytest.mark.parametrize("command", VERBS)
def test_every_option_is_a_keyword_with_the_same_default(command: str) -> None:
    verb, _ = VERBS[command]
    parameters = {
        name: None if one.default is one.empty else one.default
        for name, one in inspect.signature(verb).parameters.items()
        if one.kind not in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL) and name != "folder"
    }
    assert parameters.pop("progress") is None
    assert parameters == options(command)
    assert {name: type(value) for name, value in parameters.items() if isinstance(value, bool)} == {
        name: bool for name, value in options(command).items() if isinstance(value, bool)
    }


@pytest.mark.parametrize("command", [name for name, (_, kind) in VERBS.items() if kind is not None])
def test_type_checkers_know_the_same_keywords(command: str) -> None:
    _, kind = VERBS[command]
    beside = {"segment", "segment_joint"} if command == "anonymise" else set()
    assert set(typed.keywords_of(kind)) | beside == set(options(command))


def test_results_have_the_keywords_of_the_verbs_too() -> None:
    for method, verb in ((ReleasedFlows.audit, tc.audit), (ReleasedFlows.measures, tc.measures)):
        own, asked = (inspect.signature(one).parameters for one in (method, verb))
        assert {name: one.default for name, one in own.items() if name not in {"self", "against"}} == {
            name: one.default for name, one in asked.items() if name not in {"folder", "against"}
        }


def test_help_shows_all_keywords() -> None:
    shown = str(inspect.signature(tc.anonymise))
    assert shown.startswith(
        "(data: 'Inputs', /, *, method: 'str | FlowMethod | type[FlowMethod]' = 'twincut', k:"
    )
    assert "k: 'float' = 10" in shown
    assert "person: 'str | None' = None" in shown


@pytest.mark.parametrize("command", [name for name, (_, kind) in VERBS.items() if kind is not None])
def test_help_says_what_every_keyword_means(command: str) -> None:
    verb, _ = VERBS[command]
    words = str(inspect.getdoc(verb))
    told = set(re.findall(r"^([a-z_, ]+)\n    \S", words, flags=re.M))
    named = {name for line in told for name in line.split(", ")}
    assert set(inspect.signature(verb).parameters) <= named
    assert "--" not in re.sub(r"^-+$", "", words, flags=re.M)
    assert max(map(len, words.splitlines())) <= 110


@pytest.mark.parametrize("keyword", ["k", "suppress", "timezone", "method", "hierarchy"])
def test_none_is_not_given(keyword: str, trips: Any, release: ReleasedFlows) -> None:
    asked: Any = {"hierarchy": "h3:7", keyword: None}
    if keyword == "hierarchy":
        asked["zones"] = "h3:7"
    assert tc.anonymise(trips, **asked).facts == release.facts


COMMANDS_ALONE = {
    *("cli", "studio", "analysis", "exposure.py", "attacking.py", "attacks", "trips.py", "keywords.py"),
    "flows/options.py",
}
"""What no verb leads to, and the help of the command line."""
ELSEWHERE = {
    # They name commands that have no verb.
    "trajectories/anonymise.py: ' makes them identical (`tripcloak trajectories attack --kind owner` says "
    "which guesses are right how often)'",
    "ledger/releasing.py: ' --ledger '",
    # They name what makes several releases at once, which no verb does.
    "trajectories/reading/projection.py: '; `tripcloak trajectories anonymise --regions auto` releases "
    "each by itself'",
    "trajectories/report/plain.py: 'a release for each region (`tripcloak trajectories anonymise --regions "
    "auto`)'",
    # They are orders to a compiler.
    "trajectories/methods/gpu.py: '--std=c++17'",
    "trajectories/methods/gpu.py: '--fmad=false'",
    # It stands in the README of releases, for readers who may have the command line alone.
    "ground/signatures.py: '`tripcloak check . --key publisher.pub`'",
}


def spelt_out() -> set[str]:
    """Return the messages that hold a flag as the command line spells it."""
    found = set()
    for path in sorted(SRC.rglob("*.py")):
        inside = path.relative_to(SRC)
        if {*inside.parts, str(inside)} & COMMANDS_ALONE:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found |= {
            f"{inside}: {node.value!r}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents
            if re.search(r"(?<![\w-])--[a-z]", node.value)
        }
    return found


def test_no_message_that_a_verb_may_raise_spells_a_flag_itself() -> None:
    assert spelt_out() <= ELSEWHERE


def test_errors_name_keywords_here_and_flags_on_the_command_line(
    trips: Any, trips_file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tripcloak.cli.run import run

    told = []
    for asked, given in (("k_population", "x"), ("person", "rider"), ("timezone", "Mars")):
        with pytest.raises(tc.InputError) as error:
            tc.anonymise(trips, unit="population", **{asked: given})
        flags = ["--unit", "population", f"--{asked.replace('_', '-')}", given]
        assert run(["anonymise", str(trips_file), *flags, "--out", str(tmp_path / "out")]) == 2
        told.append((str(error.value), capsys.readouterr().err))
    for here, there in told:
        assert re.search(r"\b(k_population|person=|timezone=)", here)
        assert "--" not in here
        assert re.search(r"--(k-population|person|timezone)\b", there)
        assert "=..." not in there


def test_errors_of_threads_and_processes_speak_the_same_way(trips: Any) -> None:
    from tripcloak.ground.spelling import spelt, spelt_as_flags
    from tripcloak.ground.threads import in_threads

    with spelt_as_flags():
        assert list(in_threads(spelt, ["k", "memory"], jobs=2)) == ["--k", "--memory"]
    assert list(in_threads(spelt, ["k", "memory"], jobs=2)) == ["k=...", "memory=..."]
