"""Whether words on stderr lead on: they name a command that exists, or an option with a value."""

from __future__ import annotations

import re

from tripcloak.cli.app import COMMANDS, parameters_of

NO_VALUE = {"is", "must", "takes", "says", "and", "or", "with", "goes", "names", "keeps", "makes", "to", "in"}
"""Words that follow a flag where a sentence is about it."""


def leads_on(words: str, command: str) -> bool:
    """Return whether the words of an error of a command name what to type next, or what to leave out."""
    said = named_commands(words) or named_options(words, command) or said_elsewhere(words)
    return bool(said or re.search("leave out --[a-z]", words))


def named_commands(words: str) -> list[str]:
    """Return the commands that words name; fails for one that does not exist."""
    found = []
    for said in re.findall(r"[`']tripcloak ((?:[a-z]+ ?)+|-h|--help)", words):
        parts = said.split()
        name = next((" ".join(parts[:n]) for n in (2, 1) if " ".join(parts[:n]) in COMMANDS), None)
        assert name or said in {"-h", "--help"}, f"there is no command {said}"
        found.append(name or said)
    return found


def named_options(words: str, command: str) -> list[str]:
    """Return the options that words name with a value, or that need none; fails for one that there is not."""
    params = {flag: one for one in parameters_of(command) for flag in (*one.opts, *one.secondary_opts)}
    found = []
    for flag, value in re.findall(r"(--[a-z][a-z-]*)(?:[ =]([^\s)]+))?", words):
        # Of commands that stand in backticks the options are their own.
        if flag in params and (
            getattr(params[flag], "is_flag", False) or value.strip(";:,.") not in NO_VALUE | {""}
        ):
            found.append(flag)
    return found


def said_elsewhere(words: str) -> bool:
    """Return whether words name what is typed outside the program, or in the shell."""
    elsewhere = ("pip install", "TRIPCLOAK_DEBUG=1", "TMPDIR", "`ls FOLDER`", "`psql ADDRESS`")
    return any(said in words for said in elsewhere)
