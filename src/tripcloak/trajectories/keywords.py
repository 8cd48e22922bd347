"""The keywords of the commands on trajectories: one declaration for Python and command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tripcloak.ground.options import Option
from tripcloak.pages.presenting import PRESENTED
from tripcloak.records.keywords import (
    ENGINE,
    ID_IS,
    KEPT_IN,
    MASTER,
    MEMORY,
    NEEDS_APPROVALS,
    SIGN,
    STATIONS,
    TEXT,
    TIMEZONE,
    TOLERATE,
    column,
    columns_given,
    reading,
)
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS, find_trajectory_method

if TYPE_CHECKING:
    from tripcloak.records.files.frames import Input
    from tripcloak.trajectories.methods.method import TrajectoryMethod
    from tripcloak.trajectories.reading import TrajectorySource

READING = (
    reading(
        "preset",
        "A public format such as geolife, tdrive or foursquare; see `tripcloak presets`.",
        metavar="NAME",
    ),
    reading("where", "Only rows for which this holds.", metavar="SQL"),
    reading("box", "Drop what lies outside this box (degrees).", metavar="S,W,N,E", reads="box"),
    reading("polygon", "Drop what lies outside this GeoJSON area.", metavar="FILE", reads="path"),
    reading("since", "Drop what is earlier, such as 2024-05-01.", metavar="TIME"),
    reading("until", "Drop this moment and what is later.", metavar="TIME"),
    replace(ID_IS, unset="told by the column's name"),
    TIMEZONE,
    *TEXT,
    TOLERATE,
    STATIONS,
    reading(
        "sample_users", "Only so many people, drawn by a hash.", metavar="N", kind="whole number", unset="all"
    ),
    reading("seed", "The same seed draws the same people.", metavar="N", kind="whole number", default=1),
)
COLUMNS = (
    column("person", "Whose fix it is."),
    column("time", "When."),
    column("lat", "Latitude."),
    column("lon", "Longitude."),
    column("antenna", "Base station, with --stations."),
    column("origin_lat", "Trips: latitude of the origin."),
    column("origin_lon", "Trips: longitude of the origin."),
    column("destination_lat", "Trips: latitude of the destination."),
    column("destination_lon", "Trips: longitude of the destination."),
    column("start_time", "Trips: when they begin."),
    column("end_time", "Trips: when they end."),
)
SAMPLES = (
    Option(
        name="seconds",
        help="Length of a sample.",
        unset="found from the times",
        metavar="SECONDS",
        kind="whole number",
        group="samples",
    ),
    Option(
        name="metres",
        help="Width of a sample.",
        unset="found from the places",
        metavar="METRES",
        kind="whole number",
        group="samples",
    ),
    Option(
        name="max_speed",
        help="Drop samples that nobody can have reached.",
        unset="1000",
        metavar="KM/H",
        kind="number",
        group="samples",
    ),
)
INPUT = (*SAMPLES, *READING, *COLUMNS, MEMORY)
"""How an input is read, for every command that takes one."""

K = Option(
    name="k",
    help="Among how many trajectories each one hides.",
    metavar="K",
    kind="whole number",
    default=5,
    group="privacy",
)
FORMATS = Option(
    name="formats",
    help="What to write beside Parquet: csv, geojson, mfjson.",
    unset="csv up to 2,000,000 samples, the others up to 200,000",
    metavar="NAMES",
    reads="names",
    group="run",
)
ON_MAP = tuple(
    replace(one, help="Label towns on the map (extra places).") if one.name == "names" else one
    for one in PRESENTED
)
WORKED_BY = (
    replace(
        ENGINE,
        help="Who compares and merges people: arrays on one machine, or spark; the release is the same.",
        unset="arrays",
        values=("arrays", "spark"),
    ),
    MASTER,
)
CHARGED_BY = replace(KEPT_IN, help="Charge the noise of the release to this ledger, and record it there.")
ORDERED_K = replace(K, help="The k that was ordered, if it should be at least this.", default=None)


def keywords(command: str) -> tuple[Option, ...]:
    """Return the keywords of a command on trajectories, beside its input and where its output goes.

    Parameters
    ----------
    command
        ``anonymise``, ``compare``, ``describe``, ``audit`` or ``measures``; anything else reads an input.

    Examples
    --------
    >>> [one.name for one in keywords("anonymise") if one.group == "method option"][:3]
    ['neighbours', 'constraint', 'picking']
    """
    if command == "anonymise":
        recorded = (CHARGED_BY, NEEDS_APPROVALS)
        own = (_method(), K, FORMATS, *ON_MAP, SIGN, *recorded)
        return (*own, *INPUT, *WORKED_BY, *TRAJECTORY_METHODS.shared_options())
    if command == "compare":
        return (_METHODS, replace(K, default=2), *INPUT, *TRAJECTORY_METHODS.shared_options())
    return {"audit": (ORDERED_K, SIGN, MEMORY), "measures": (MEMORY,)}.get(command, INPUT)


def _method() -> Option:
    *others, last = TRAJECTORY_METHODS
    words = f"{', '.join(others)} or {last}; see `tripcloak trajectories methods`."
    return Option(name="method", help=words, metavar="NAME", default="k-scale", group="run")


_METHODS = Option(
    name="methods",
    help="Methods separated by commas, or all.",
    metavar="NAMES",
    default="k-scale,glove,w4m",
    reads="names",
    group="compared",
)


def trajectory_source(inputs: Sequence[Input], given: Mapping[str, Any]) -> TrajectorySource:
    """Return what to read and how, from inputs and the values of keywords.

    >>> trajectory_source(["calls.csv"], {"person": "user", "sample_users": 9, "seed": 1}).sample
    (9, 1)
    """
    from tripcloak.trajectories.reading import TrajectorySource

    drawn = {"sample_users", "seed"}
    named = {one.name for one in (*READING, *SAMPLES)} - drawn
    return TrajectorySource(
        paths=tuple(inputs),
        columns=columns_given(COLUMNS, given),
        sample=None if given.get("sample_users") is None else (given["sample_users"], given["seed"]),
        **{name: given[name] for name in named if given.get(name) is not None},
    )


def trajectory_method(given: Mapping[str, Any]) -> TrajectoryMethod:
    """Return the method that is asked for, with its own options, from the values of keywords.

    >>> trajectory_method({"method": "w4m", "k": 3, "delta": 500.0}).delta
    500.0
    """
    kind = find_trajectory_method(given["method"])
    own = TRAJECTORY_METHODS.own(given["method"], TRAJECTORY_METHODS.asked(given))
    return kind.asked(given["k"], **own)


def trajectory_methods(given: Mapping[str, Any]) -> list[TrajectoryMethod]:
    """Return the methods that are asked for, each with those of the options that it has.

    >>> [one.name for one in trajectory_methods({"methods": ("w4m", "glove"), "k": 3, "delta": 500.0})]
    ['w4m', 'glove']
    """
    names = tuple(TRAJECTORY_METHODS) if tuple(given["methods"]) == ("all",) else given["methods"]
    kinds = {name: find_trajectory_method(name) for name in names}
    own = TRAJECTORY_METHODS.own_of_each(kinds, TRAJECTORY_METHODS.asked(given))
    return [kinds[name].asked(given["k"], **own[name]) for name in names]
