"""--rule: options as public rules of data owners ask for them."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import typer

from tripcloak.ground.errors import InputError


class Rule(NamedTuple):
    """Options that a public rule amounts to, where it comes from, where ours differs, where to read it."""

    options: Mapping[str, Any]
    words: str
    source: str
    address: str


RULES: Mapping[str, Rule] = {
    "cnil-10": Rule(
        {"k": 10},
        "At least 10 people behind every flow.",
        "What the French regulator (CNIL) accepts for matrices of trips, as Matet and others report it "
        "(Transportation Research Part C 154, 2023).",
        "https://doi.org/10.1016/j.trc.2023.104236",
    ),
    "mds-10": Rule(
        {"k": 10, "unit": "trips"},
        "At least 10 trips behind every flow.",
        "Mobility Data Specification, Provider, Reports (Metrics before version 2), 'Data Redaction': a "
        "count of fewer than 10 trips is told as -1; here it is withheld.",
        "https://github.com/openmobilityfoundation/mobility-data-specification/wiki/MDS-Data-Redaction",
    ),
    "flowkit-15": Rule(
        {"k": 16, "unit": "travellers"},
        "More than 15 subscribers behind every flow.",
        "FlowKit, redacted aggregates of flowmachine: rows of 15 or fewer subscribers are left out.",
        "https://github.com/Flowminder/FlowKit",
    ),
    "chicago-3": Rule(
        {"k": 3, "unit": "trips", "time_slot": "15min"},
        "At least 3 trips behind every flow in times rounded to 15 minutes.",
        "City of Chicago, 'Census Tract Rules for Taxi and TNP Datasets' (29 July 2019): where fewer than "
        "three trips begin, or fewer than three end, in a census tract in 15 minutes, both tracts of the "
        "trip are left out and its community areas told. That looks at each end alone, and two trips may "
        "stand in public; here at least three share both ends and the slot they begin in.",
        "http://dev.cityofchicago.org/open%20data/data%20portal/2019/04/12/tnp-taxi-privacy.html",
    ),
    "opensafely": Rule(
        {"k": 8, "unit": "travellers", "round": "5"},
        "Numbers up to 7 are withheld, the others told as multiples of 5.",
        "OpenSAFELY, disclosure control of measures: numbers up to seven are suppressed, then all are "
        "rounded to the nearest five. Our multiples are chosen so that sums stay close.",
        "https://github.com/opensafely-core/ehrql/pull/1746",
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
