"""Settings of a run: the declared options as JSON, and what was chosen as arguments of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal

from tripcloak.ground.errors import InputError
from tripcloak.ground.options import Option

Wing = Literal["trips", "trajectories"]
WINGS: tuple[Wing, ...] = ("trips", "trajectories")

COMMANDS = ("describe", "anonymise", "compare", "audit")
"""What a run may be."""

READING_GROUPS = {"column", "reading", "counts", "samples"}
"""Options on what is in a file: once corrected, they hold for every run on it."""


def options_of(wing: str, command: str) -> tuple[Option, ...]:
    """Return the options of a command, as its method and its wing declare them.

    >>> [one.name for one in options_of("trips", "anonymise")][:3]
    ['method', 'k', 'unit']
    """
    if command not in COMMANDS:
        raise InputError(f"there is no command {command!r}; a run is one of {', '.join(COMMANDS)}")
    if wing == "trips":
        from tripcloak.flows.keywords import keywords
    elif wing == "trajectories":
        from tripcloak.trajectories.keywords import keywords
    else:
        raise InputError(f"an input holds {' or '.join(WINGS)}, not {wing!r}")
    return keywords(command)


def methods_of(wing: str) -> list[dict[str, Any]]:
    """Return the methods of a wing: name, a line of what each does, and the names of its own options.

    >>> methods_of("trips")[0]["name"]
    'twincut'
    """
    from tripcloak.flows.methods.registry import METHODS
    from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS

    known: Any = METHODS if wing == "trips" else TRAJECTORY_METHODS
    return [
        {
            "name": name,
            "summary": known.fact(name, "summary"),
            "source": known.fact(name, "source"),
            "options": [one.name for one in known.options(name)],
        }
        for name in known
    ]


def as_json(one: Option) -> dict[str, Any]:
    """Return an option as plain values.

    >>> as_json(Option(name="k", help="How many.", kind="number", default=10))["default"]
    10
    """
    return {
        "name": one.name,
        "flag": one.flag,
        "help": one.help,
        "kind": one.kind,
        "values": list(one.values),
        "default": one.default if isinstance(one.default, bool | int | float | str | None) else None,
        "told_default": one.told_default,
        "group": one.group,
        "metavar": one.metavar,
        "least": one.least,
        "names_a_path": one.reads == "path",
        "methods": list(one.methods),
    }


def checked(wing: str, command: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that differ from what holds anyway, each of a kind that its option takes.

    >>> checked("trips", "anonymise", {"k": "5", "suppress": 0.1, "unit": None, "with_margins": True})
    {'k': 5.0, 'with_margins': True}
    >>> checked("trips", "anonymise", {"kk": 5})
    Traceback (most recent call last):
    tripcloak.InputError: there is no setting kk of anonymise; did you mean k?
    """
    known = {one.name: one for one in options_of(wing, command)}
    kept = {}
    for name, value in settings.items():
        if name not in known:
            near = get_close_matches(name, known, 1, 0.4)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise InputError(f"there is no setting {name} of {command}{hint}")
        plain = _plain(known[name], value)
        if plain is None or plain == known[name].default:
            continue
        known[name].take(plain)
        kept[name] = plain
    return kept


def _plain(one: Option, value: Any) -> Any:
    """Return a value as its kind has it; text that is empty is nothing."""
    if value is None or value in ("", []):
        return None
    if one.kind == "texts":
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise one.refusal("takes a list of texts")
        return [text for text in texts if text] or None
    if one.kind == "switch":
        if not isinstance(value, bool):
            raise one.refusal(f"is true or false; got {value!r}")
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise one.refusal(f"takes {one.metavar or 'a value'}; got {type(value).__name__}")
    if "\0" in str(value):
        raise one.refusal("holds a character that no option may hold")
    if one.kind in ("number", "whole number") and one.reads is None:
        try:
            number = float(value)
        except ValueError:
            raise one.refusal(f"takes a number; got {value!r}") from None
        return int(number) if one.kind == "whole number" and number.is_integer() else number
    return value


def arguments(wing: str, command: str, settings: Mapping[str, Any]) -> list[str]:
    """Return settings as flags of the command line; a value never stands alone, so none is taken for a flag.

    >>> arguments("trips", "anonymise", {"k": 5, "attribute": ["age", "sex"], "with_margins": True})
    ['--k=5', '--attribute=age', '--attribute=sex', '--with-margins']
    """
    known = {one.name: one for one in options_of(wing, command)}
    told: list[str] = []
    for name, value in settings.items():
        flag = known[name].flag
        if value is True:
            told.append(flag)
        elif value is False:
            told.append(f"--no-{flag.removeprefix('--')}")
        else:
            several: Sequence[Any] = value if isinstance(value, list) else [value]
            told += [f"{flag}={written(one)}" for one in several]
    return told


def written(value: Any) -> str:
    """Return a value as people write it.

    >>> written(5.0), written(0.1), written("h3:9")
    ('5', '0.1', 'h3:9')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def command_words(wing: str, command: str) -> list[str]:
    """Return the words that name a command.

    >>> command_words("trajectories", "anonymise"), command_words("trips", "audit")
    (['trajectories', 'anonymise'], ['audit'])
    """
    return ["trajectories", command] if wing == "trajectories" else [command]
