"""From declared options to those of the command line, and options that several commands share."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from operator import getitem
from pathlib import Path
from typing import Annotated, Any

import typer

from tripcloak.cli.configuration import Config
from tripcloak.cli.rules import RuleOption
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import Option
from tripcloak.ground.spelling import called
from tripcloak.records.keywords import MEMORY

PANELS = {
    "privacy": "Privacy",
    "compared": "What is compared",
    "zones": "Zones",
    "samples": "Samples",
    "segments": "Segments",
    "reading": "Rows of the input",
    "counts": "Tables of zones and counts",
    "column": "Columns of the input",
    "method option": "Options of single methods",
}
"""The heading that options of a group stand under; those of other groups stand on top."""

TYPES: Mapping[str, Any] = {
    "text": str,
    "texts": list[str],
    "number": float,
    "whole number": int,
    "switch": bool,
}

Given = Mapping[str, Any]
"""The value of every keyword of a command, by its name."""

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Files, globs or folders: CSV (also .gz, .bz2, .zst), Parquet, .zip, .tar, .xlsx, GeoJSON, OMX, "
        "MF-JSON; a database (postgresql://ana@host/city#trips, city.duckdb#trips); - for stdin.",
        show_default=False,
    ),
]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder written by anonymise.")]
Against = Annotated[
    list[str], typer.Option(metavar="INPUT", help="The raw input: one or several files, globs or folders.")
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON object on stdout and nothing else there.")
]
Report = Annotated[
    bool, typer.Option("--report", metavar="", help="Write the report of the release as well.")
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        metavar="FORMAT",
        help="Export the release, too: gpkg, omx, ... (see tripcloak export --formats) into DIR/exports, or "
        "a database, postgresql://user@host/name#schema. May be given several times.",
        show_default=False,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", metavar="", help="Replace what an earlier run has left there.")
]


class Command:
    """A command, with keywords that are declared elsewhere in place of its parameter ``given``."""

    def __init__(self, keywords: Callable[[], Iterable[Option]], run: Callable[..., None]) -> None:
        self._keywords = keywords
        self._run = run
        self.__doc__ = run.__doc__

    def declared(self) -> tuple[Option, ...]:
        """Return its keywords that are declared elsewhere."""
        return tuple(self._keywords())

    def built(self) -> Callable[..., None]:
        """Return it as a function that Typer can read: with one parameter for every option."""
        declared = self.declared()

        def run(**values: Any) -> None:
            values.pop("config", None)
            values.pop("rule", None)
            given = {one.name: one.take(values.pop(one.name)) for one in declared}
            self._run(given=given, **values)

        own = [one for one in inspect.signature(self._run).parameters.values() if one.name != "given"]
        parameters = [one.replace(kind=one.KEYWORD_ONLY) for one in own]
        parameters += [parameter(one) for one in declared]
        config = inspect.Parameter("config", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Config)
        parameters.append(config)
        if {"k", "unit"} <= {one.name for one in declared}:
            parameters.append(
                inspect.Parameter("rule", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=RuleOption)
            )
        # Typer reads a command's options from its signature and its annotations, and its help from its words.
        run.__dict__["__signature__"] = inspect.Signature(parameters)
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__doc__ = self.__doc__
        return run


def takes(keywords: Callable[[], Iterable[Option]]) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator of commands that get the values of these keywords as ``given``.

    They are asked for when the command line is built: methods may have been registered until then.
    """
    return lambda run: Command(keywords, run)


def parameter(one: Option) -> inspect.Parameter:
    """Return an option as a parameter with all that Typer wants to know.

    >>> parameter(Option(name="k", help="How many.", kind="number", default=10)).default
    10
    """
    flags = (one.flag,)
    if one.kind == "switch" and one.default is None:
        flags = (f"{one.flag}/--no-{one.flag.removeprefix('--')}",)
    said = typer.Option(
        *flags,
        metavar="" if one.kind == "switch" else one.metavar,
        help=marked_up(one),
        show_default=False,
        rich_help_panel=PANELS.get(one.group),
    )
    kind = str if one.reads is not None else TYPES[one.kind]
    default = str(one.default) if one.reads is not None and one.default is not None else one.default
    # Written as a call: a type that is made at run time is none in the eyes of a type checker.
    annotation = getitem(Annotated, (kind if default is not None else kind | None, said))
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def marked_up(one: Option) -> str:
    r"""Return what an option means, and its default, as text with markup.

    >>> marked_up(Option(name="polyline", help="Path as [[lon,lat],...].", unset="found"))
    'Path as \\[\\[lon,lat],...]. [dim]\\[default: found][/dim]'
    """
    words = one.words.replace("[", r"\[")
    return f"{words} [dim]\\[default: {one.told_default}][/dim]" if one.told_default else words


Memory = Annotated[str | None, typer.Option(metavar=MEMORY.metavar, help=marked_up(MEMORY))]


def holds_trajectories(folder: Path) -> bool:
    """Return whether a folder holds a release of trajectories, and not of flows; its manifest says it."""
    from tripcloak.ground.manifest import read_manifest

    return bool(read_manifest(folder)["kind"] == "trajectories")


def refuse_options_of_flows(folder: Path, given: Given, known: Iterable[Option]) -> None:
    """Raise where more was given than a release of trajectories knows."""
    beyond = {name for name, value in given.items() if value is not None} - {one.name for one in known}
    for name in sorted(beyond):
        raise InputError(f"{called(name)} is for releases of flows; {folder} holds a release of trajectories")
