"""What to type after an error: the command or the option that leads on, found from its kind and its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tripcloak.ground.errors import (
    AuditFailedError,
    ImpossibleRequestError,
    InternalError,
    MissingFileError,
    OutputExistsError,
    TripcloakError,
    UnreadableFileError,
)
from tripcloak.ground.options import Kind, Option

EXAMPLES: Mapping[str, str] = {
    "hierarchy": "h3:9",
    "zones": "zones.geojson",
    "preset": "nyc-tlc",
    "form": "trips",
    "where": "\"city = 'Paris'\"",
    "m": "1",
    "silence": "180",
    "id_is": "person",
    "timezone": "Europe/Paris",
    "time_format": "'%d/%m/%Y %H:%M'",
    "encoding": "windows-1252",
    "zone_prefix": "11",
    "memory": "1GB",
    "unit": "travellers",
    "k": "10",
    "k_population": "auto",
    "suppress": "10%",
    "l": "3",
    "l_places": "3",
    "t": "0.5",
    "dominance": "50%",
    "p_percent": "10",
    "slot": "1h",
    "time_slot": "1h",
    "fold": "day",
    "period": "2024-05-01/2024-05-31",
    "volume": "trips",
    "jobs": "2",
    "seconds": "600",
    "metres": "200",
    "max_speed": "200",
    "since": "2024-05-01",
    "until": "2024-05-31",
    "sample_users": "1000",
    "formats": "geojson",
    "regions": "auto",
    "by": "stays",
    "known": "4",
    "kind": "points",
    "rule": "volume",
    "seed": "1",
    "time_limit": "5min",
}
"""Values of options that are no matter of the data; of others the word that stands for them is shown."""

LISTED = {"method": "methods", "methods": "methods", "preset": "presets"}
"""Options whose values a command lists."""

BY_KIND: tuple[tuple[type[TripcloakError], str], ...] = (
    (MissingFileError, "`ls FOLDER` shows what is in a folder"),
    (UnreadableFileError, "save or unpack it anew, then `tripcloak {room}describe FILE`"),
    (ImpossibleRequestError, "`tripcloak {room}describe FILE` tells what is possible"),
    (AuditFailedError, "`tripcloak {room}describe FILE` tells what is possible"),
    (InternalError, "another method may do: `tripcloak {room}methods` lists them"),
)
"""What to type after an error of a kind, wherever it comes up."""

PLACES = ("--out", "--html", "--against", "--force", "--json")
"""Options whose names are words like any other."""

READING = ("describe", "anonymise", "compare", "exposure", "attack", "trips")
FOLDERS = ("audit", "measures", "analyse", "reconstruct", "metrics")

_VALUE = "|".join(
    (
        r"'[^']+'",
        r'"[^"]+"',
        r"[~/][^\s;]*",
        r"[^\s,;:]*[\d:%=][^\s;]*",
        r"[A-Z][A-Z,_/]*\b",
        r"(?:none|auto|dendrogram|point|comma|trips|travellers|stays|full)\b",
        r"[a-z0-9]+-[a-z0-9-]+",
    )
)
"""What stands behind a flag where it is a value, and no next word of the sentence."""

_COMMAND = re.compile(r"tripcloak [a-z]|pip install |TRIPCLOAK_DEBUG=1|TMPDIR")


def next_step(error: TripcloakError, command: str, typed: Sequence[str]) -> str:
    """Return what to type after an error, as a sentence; nothing where the error says it itself.

    Parameters
    ----------
    command
        The command that ended in the error, such as ``trajectories audit``; nothing where none was found.
    typed
        What was typed after it.

    Examples
    --------
    >>> from tripcloak.ground.errors import InputError
    >>> next_step(InputError("trips.csv is empty"), "anonymise", ["trips.csv"])
    '`tripcloak describe FILE` shows what a file holds and how it is read'
    >>> next_step(InputError("k must be at least 2; got 1"), "describe", ["trips.csv", "--k", "1"])
    'the same with `--k 10`; `tripcloak describe --help` says what it takes'
    >>> next_step(InputError("see `tripcloak presets`"), "describe", [])
    ''
    """
    words, options = str(error), options_of(command)
    if says_it_itself(words, options):
        return ""
    return (
        _by_kind(error, command, typed)
        or _by_option(words, options, command, typed)
        or _by_database(typed)
        or _by_command(command)
    )


def options_of(command: str) -> dict[str, Option]:
    """Return the options of a command by their flags."""
    from tripcloak.cli.app import found, parameters_of
    from tripcloak.cli.options import Command

    one = found(command) if command else None
    declared = {option.name: option for option in one.declared()} if isinstance(one, Command) else {}
    return {
        flag: declared.get(param.name) or _described(param)
        for param in parameters_of(command)
        for flag in (*param.opts, *param.secondary_opts)
        if flag.startswith("--")
    }


def _described(param: Any) -> Option:
    """Return an option that a command declares itself."""
    default = param.default if isinstance(param.default, str | int | float) else None
    kind: Kind = "switch" if getattr(param, "is_flag", False) else "text"
    return Option(
        name=param.name, help=param.help or "", kind=kind, default=default, metavar=param.metavar, group="run"
    )


def says_it_itself(words: str, options: Iterable[str]) -> bool:
    """Return whether words name a command to type, a switch, or an option with a value.

    >>> says_it_itself("say --decimal comma", ["--decimal"]), says_it_itself("--k is wrong", ["--k"])
    (True, False)
    """
    if _COMMAND.search(words) or re.search(r"--force\b|leave out --[a-z]", words):
        return True
    named = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    return bool(named) and re.search(rf"(?:{named}) (?:{_VALUE})", words) is not None


def example(option: Option) -> str:
    """Return a value that an option takes, or the word that stands for one where the data decides.

    >>> example(Option(name="box", help="", metavar="S,W,N,E"))
    'S,W,N,E'
    """
    if option.kind == "switch":
        return ""
    if option.default not in (None, False):
        return option.told_default
    if option.values:
        return option.values[0]
    return EXAMPLES.get(option.name, option.metavar or "VALUE")


def _by_kind(error: TripcloakError, command: str, typed: Sequence[str]) -> str:
    if isinstance(error, OutputExistsError):
        named = next((name for name in ("--html", "--out") if name in typed), None)
        if named is None:
            return f"`tripcloak {command} NAME`, with another name"
        return f"the same with another place: `{named} {'FILE' if named == '--html' else 'DIR'}`"
    step = next((words for kind, words in BY_KIND if isinstance(error, kind)), "")
    return step.format(room=_room(command))


def _by_option(words: str, options: Mapping[str, Option], command: str, typed: Sequence[str]) -> str:
    """Return the option that an error is about, with a value: one that was typed rather than another."""
    given = [name for name in (text.partition("=")[0] for text in typed) if name in options]
    named = [name for name in re.findall(r"--[a-z][a-z-]*", words) if name in options]
    about = [name for name in named if name in given]
    about += [name for name in given if name not in PLACES and re.search(_in_words(name), words)]
    for option in (options[name] for name in (*about, *named)):
        if option.name in LISTED:
            return f"`tripcloak {_listing(option, command)}` lists what {option.flag} may be"
        if option.group == "method option":
            return f"`tripcloak {_room(command)}methods` lists the options of each method"
        told = f"{option.flag} {example(option)}".strip()
        return f"the same with `{told}`; `tripcloak {command} --help` says what it takes"
    return ""


def _in_words(flag: str) -> str:
    """Return a pattern of the name of an option where words mean it: k, the time limit, the suppression."""
    name = flag.removeprefix("--").removesuffix("s" if len(flag) > 4 else "").replace("-", "[ _-]")
    return rf"\b{name}\b" if len(name) < 3 else rf"\b{name}"


def _by_database(typed: Sequence[str]) -> str:
    named = any(text.startswith(("postgresql://", "postgres://")) for text in typed)
    return "`psql ADDRESS` shows whether the server answers, and its tables with `\\dt`" if named else ""


def _by_command(command: str) -> str:
    room, last = _room(command), command.split()[-1:]
    if last == ["describe"]:
        flags = f"`tripcloak {command} --help` the flags that name columns"
        return f"`tripcloak presets` lists the public formats, {flags}"
    if last and last[0] in READING:
        return f"`tripcloak {room}describe FILE` shows what a file holds and how it is read"
    if last and last[0] in FOLDERS:
        return "`tripcloak check DIR` tells what is the matter with a release"
    if last == ["check"]:
        return "`tripcloak anonymise FILE --out DIR` makes a release, whose folder this takes"
    return f"`tripcloak {command} --help`".replace("  ", " ") + " says what it takes"


def _listing(option: Option, command: str) -> str:
    return LISTED[option.name] if option.name == "preset" else f"{_room(command)}methods"


def _room(command: str) -> str:
    """Return the group of commands that one belongs to, with a space behind it."""
    return "trajectories " if command.startswith("trajectories") else ""
