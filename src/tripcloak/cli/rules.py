"""--rule: options as public rules of data owners ask for them."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import typer

from tripcloak.ground.errors import InputError


class Rule(NamedTuple):
    """Options that a public rule amounts to, where it comes from, and where ours differs."""

    options: Mapping[str, Any]
    words: str
    source: str


RULES: Mapping[str, Rule] = {
    "cnil-10": Rule(
        {"k": 10},
        "At least 10 people behind every flow.",
        "What the French regulator (CNIL) accepts for matrices of trips from phones.",
    ),
    "mds-10": Rule(
        {"k": 10, "unit": "trips"},
        "At least 10 trips behind every flow.",
        "Mobility Data Specification, Provider API, Reports: counts below k = 10 are not told.",
    ),
    "flowkit-15": Rule(
        {"k": 16, "unit": "travellers"},
        "More than 15 subscribers behind every flow.",
        "FlowKit: aggregates of 15 or fewer subscribers are redacted.",
    ),
    "chicago-3": Rule(
        {"k": 3, "unit": "trips", "time_slot": "15min"},
        "At least 3 trips behind every flow in times rounded to 15 minutes.",
        "City of Chicago, taxi and ride-hailing trips: a census tract is told where it has three trips or "
        "more in 15 minutes. That looks at each end alone; here it is asked of both ends together.",
    ),
    "opensafely": Rule(
        {"k": 8, "unit": "travellers", "round": "5"},
        "Numbers up to 7 are withheld, the others told as multiples of 5.",
        "OpenSAFELY, checking of outputs: redact up to 7, round to the nearest 5. Our multiples are chosen "
        "so that sums stay close.",
    ),
}
"""Every rule by its name."""


def _taken(context: typer.Context, value: str | None) -> str | None:
    if value is None:
        return None
    if value not in RULES:
        raise InputError(f"--rule must be one of {', '.join(RULES)} (see `tripcloak rules`); got {value!r}")
    # What a file or the command line says of an option wins.
    told = {name: str(option) for name, option in RULES[value].options.items()}
    context.default_map = {**told, **(context.default_map or {})}
    return value


RuleOption = Annotated[
    str | None,
    typer.Option(
        "--rule",
        metavar="NAME",
        help="Options as a public rule asks for them: " + ", ".join(RULES) + " (see tripcloak rules). "
        "What else is said of an option wins.",
        is_eager=True,
        expose_value=False,
        callback=_taken,
        show_default=False,
    ),
]
"""The option of commands that protect something."""


def spelt_out(options: Mapping[str, Any]) -> str:
    """Return options as they would be typed.

    >>> spelt_out({"k": 3, "time_slot": "15min"})
    '--k 3 --time-slot 15min'
    """
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in options.items())
