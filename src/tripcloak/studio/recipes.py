"""The same run to take away: as a command line, as a TOML file, as a notebook."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from tripcloak.studio.settings import arguments, command_words


def command_line(
    wing: str, command: str, path: str, settings: Mapping[str, Any], *, out: str, release: str = "out"
) -> str:
    """Return the line that does the same in a terminal.

    >>> command_line("trips", "anonymise", "my trips.csv", {"k": 5}, out="out")
    "tripcloak anonymise 'my trips.csv' --k=5 --out out"
    >>> command_line("trips", "audit", "trips.csv", {}, out="out")
    'tripcloak audit out --against trips.csv'
    """
    words = ["tripcloak", *command_words(wing, command)]
    if command == "audit":
        words += [release, "--against", path, *arguments(wing, command, settings)]
    else:
        words += [path, *arguments(wing, command, settings)]
    if writes(command):
        words += ["--out", out]
    return shlex.join(words)


def toml(wing: str, command: str, path: str, settings: Mapping[str, Any], *, out: str) -> str:
    """Return the file that ``tripcloak COMMAND --config run.toml`` takes.

    >>> print(toml("trips", "anonymise", "trips.csv", {"k": 5, "attribute": ["age"]}, out="out"))
    # tripcloak anonymise --config run.toml
    inputs = ["trips.csv"]
    out = "out"
    k = 5
    attribute = ["age"]
    """
    words = " ".join(command_words(wing, command))
    inputs = {"against" if command == "audit" else "inputs": [path]}
    rows = {**inputs, **({"out": out} if writes(command) else {}), **settings}
    folder = " out" if command == "audit" else ""
    first = f"# tripcloak {words}{folder} --config run.toml"
    return "\n".join([first, *(f"{name} = {toml_value(value)}" for name, value in rows.items())])


def toml_value(value: Any) -> str:
    """Return a value as TOML has it.

    >>> toml_value(True), toml_value(0.1), toml_value('a "b"'), toml_value(["x"])
    ('true', '0.1', '"a \\\\"b\\\\""', '["x"]')
    """
    # A text of JSON is one of TOML, and so are numbers, switches and lists of them.
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def python(wing: str, command: str, path: str, settings: Mapping[str, Any], *, out: str) -> str:
    """Return the lines of Python that do the same.

    >>> print(python("trips", "anonymise", "trips.csv", {"k": 5}, out="out"))
    import tripcloak as tc
    <BLANKLINE>
    release = tc.anonymise("trips.csv", k=5, out="out")
    release
    """
    home = "tc.trajectories" if wing == "trajectories" and command != "audit" else "tc"
    given = {**settings, **({"out": out} if writes(command) else {})}
    first = [out, path] if command == "audit" else [path]
    told = [*map(literal, first), *(f"{name}={literal(value)}" for name, value in given.items())]
    name = {"anonymise": "release", "audit": "verdict", "compare": "found"}.get(command, "summary")
    return f"import tripcloak as tc\n\n{name} = {home}.{command}({', '.join(told)})\n{name}"


def literal(value: Any) -> str:
    """Return a value as Python has it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)


def notebook(wing: str, command: str, path: str, settings: Mapping[str, Any], *, out: str) -> dict[str, Any]:
    """Return the same as a notebook of two cells.

    >>> notebook("trips", "describe", "trips.csv", {}, out="out")["cells"][1]["source"][-1]
    'summary'
    """
    words = " ".join(command_words(wing, command))
    lines = python(wing, command, path, settings, out=out).splitlines(keepends=True)
    return {
        "cells": [
            {"cell_type": "markdown", "id": "what", "metadata": {}, "source": [f"# tripcloak {words}"]},
            {
                "cell_type": "code",
                "id": "run",
                "metadata": {},
                "execution_count": None,
                "outputs": [],
                "source": lines,
            },
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def writes(command: str) -> bool:
    """Return whether a command writes a folder."""
    return command in ("anonymise", "compare")
