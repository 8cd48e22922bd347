"""Options from a file: ``--config run.toml``, whose keys are the names of options, ``inputs`` and ``out``."""

import glob
import json
import os
import tomllib
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from tripcloak.ground.errors import InputError, MissingFileError
from tripcloak.ground.given_paths import given_path

NOT_IN_A_FILE = {"config", "help", "version"}
PLACES = {"FILE", "DIR", "KEY"}
"""What options are shown with that take where something is."""


_CONTEXT: ContextVar[typer.Context | None] = ContextVar("context", default=None)
"""What the running command was asked for."""


def _read(context: typer.Context, value: str | None) -> str | None:
    _CONTEXT.set(context)
    if value is not None:
        told = read_configuration(given_path(value), context.command.params)
        # A rule that was given before it asks for less than a file does.
        context.default_map = {**(context.default_map or {}), **told}
    return value


Config = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Take options from this TOML file: keys are their names, and inputs and out. "
        "What stands on the command line wins.",
        is_eager=True,
        expose_value=False,
        callback=_read,
        show_default=False,
    ),
]
"""The option of every command that runs on an input."""


def read_configuration(file: Path, parameters: list[Any]) -> dict[str, Any]:
    """Return the options of a file by the names of a command's parameters.

    Parameters
    ----------
    file
        A TOML file.
    parameters
        Those of the command, as Typer knows them.
    """
    try:
        rows = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingFileError(f"there is no file {file} to take options from") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file} is no TOML file that can be read: {error}") from None
    known = {one.name: one for one in parameters if one.name not in NOT_IN_A_FILE}
    found = {}
    for key, value in rows.items():
        name = key.replace("-", "_")
        if name not in known:
            near = get_close_matches(name, known, 1, 0.4)
            hint = f"; did you mean {near[0]}?" if near else f"; it may hold {', '.join(sorted(known))}"
            raise InputError(f"{file} holds a key {key} that is no option of this command{hint}")
        found[name] = _value(file, key, value, known[name])
    return found


def _value(file: Path, key: str, value: Any, parameter: Any) -> Any:
    """Return a value as the command line would have read it."""
    several = parameter.multiple or parameter.nargs == -1
    if several:
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
            raise InputError(f"{key} in {file} takes a list of texts; got {value!r}")
        return values
    if getattr(parameter, "is_flag", False):
        if not isinstance(value, bool):
            raise InputError(f"{key} in {file} is true or false; got {value!r}")
        return value
    if isinstance(value, bool | dict | list):
        raise InputError(f"{key} in {file} takes one value; got {value!r}")
    return str(value)


def echo_configuration(private: Path) -> None:
    """Write what this command was asked for as a file that asks for the same, into the private part.

    Inputs and other files are told by their whole paths, so that it works from any folder.
    """
    context = _CONTEXT.get()
    if context is None or not private.is_dir():
        return
    given = {
        name: value
        for name, value in context.params.items()
        if name not in NOT_IN_A_FILE | {"json", "force", "out"} and _was_given(context, name)
    }
    places = {one.name for one in context.command.params if one.name == "inputs" or one.metavar in PLACES}
    lines = [f"# tripcloak {_command(context)} --config run.toml --out again"]
    lines += [
        f"{name} = {_toml(value, is_place=name in places)}"
        for name, value in given.items()
        if value is not None
    ]
    aside = private / "run.toml.partial"
    # Nobody else may read it at any moment.
    with open(aside, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("\n".join(lines) + "\n")
    aside.replace(private / "run.toml")


def _was_given(context: Any, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _command(context: Any) -> str:
    return str(context.info_name).removeprefix("tripcloak ")


def _toml(value: Any, *, is_place: bool) -> str:
    """Return a value as TOML has it: texts, numbers, switches and lists are those of JSON."""
    if isinstance(value, list | tuple):
        return json.dumps([_whole(str(one)) if is_place else str(one) for one in value])
    if is_place or isinstance(value, Path):
        value = _whole(str(value))
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def _whole(given: str) -> str:
    """Return where a file, a pattern or a database is, as it may be told in any folder."""
    place, (file, mark, rows) = given_path(given), given.partition("#")
    if place.exists():
        return str(place.absolute())
    if "://" in file:
        return given
    if mark and given_path(file).is_file():
        return f"{given_path(file).absolute()}#{rows}"
    return str(place.absolute()) if glob.has_magic(given) else given
