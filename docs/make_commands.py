"""Writes commands.md, every command with its options, as the command line declares them: ``make docs``."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from tripcloak.cli.app import COMMANDS, below, found, parameters_of

PAGE = Path(__file__).parent / "commands.md"
HEAD = """\
# Command line

Every command and option, made from the commands themselves by `make docs`. Options may stand in a file:
`tripcloak anonymise --config run.toml`, see [a run as a file](configuration.md).
"""


def rendered() -> str:
    """Return the page."""
    return "\n".join([HEAD, *(section(name) for name in COMMANDS if not below(name))]).rstrip() + "\n"


def section(name: str) -> str:
    """Return what is said of one command."""
    words = inspect.cleandoc(found(name).__doc__ or "")
    text, _, examples = words.partition("[bold]Example")
    lines = [line.strip() for line in examples.splitlines()[1:] if line.strip()]
    shown = "```\n" + "\n".join(lines) + "\n```\n" if lines else ""
    rows = [row(one) for one in parameters_of(name)]
    table = "| option | what it is |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    return f"## tripcloak {name}\n\n{plain(text).strip()}\n\n{shown}\n{table}"


def row(one: Any) -> str:
    """Return the row of an option."""
    flags = (
        ", ".join(f"`{flag}`" for flag in one.opts if flag.startswith("-")) or f"`{one.metavar or one.name}`"
    )
    value = f" `{one.metavar}`" if flags.startswith("`-") and one.metavar else ""
    words = re.sub(r"\s+", " ", plain(getattr(one, "help", "") or "")).replace("|", "\\|")
    return f"| {flags}{value.replace('|', ' or ')} | {words} |"


def plain(text: str) -> str:
    """Return text without the markup of the terminal."""
    return re.sub(r"\[/?(?:bold|dim)\]", "", text).replace("\\[", "[")


if __name__ == "__main__":
    PAGE.write_text(rendered(), encoding="utf-8")
