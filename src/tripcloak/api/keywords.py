"""The keywords of the verbs, for readers and type checkers; their defaults are those of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict

from tripcloak.api.method_options import (
    AnonymiseOptions,
    FlowOptions,
    SeriesOptions,
    Time,
    TrajectoryOptions,
)

if TYPE_CHECKING:
    from tripcloak.api.inputs import Table
    from tripcloak.flows.methods import FlowMethod
    from tripcloak.trajectories.methods.method import TrajectoryMethod

Box = str | Sequence[float]
"""South, west, north and east in degrees, as numbers or as text with commas."""


class RowKeywords(TypedDict, total=False):
    """How the rows of an input are read, whatever it holds."""

    preset: str | None
    where: str | None
    box: Box | None
    polygon: str | PathLike[str] | None
    id_is: str | None
    timezone: str | None
    time_format: str | Sequence[str] | None
    decimal: str | None
    encoding: str | None
    tolerate: float | str
    stations: str | PathLike[str] | None
    memory: str | None
    person: str | None
    origin_lat: str | None
    origin_lon: str | None
    destination_lat: str | None
    destination_lon: str | None
    start_time: str | None
    end_time: str | None
    lat: str | None
    lon: str | None
    time: str | None
    antenna: str | None


class TripKeywords(RowKeywords, total=False):
    """How a table of trips is read, and which zones its places become."""

    form: str | None
    silence: float
    people_once: bool | None
    zone_prefix: int | None
    attribute: str | Sequence[str] | None
    origin: str | None
    destination: str | None
    origin_place: str | None
    destination_place: str | None
    weight: str | None
    trips: str | None
    trip_id: str | None
    fare: str | None
    polyline: str | None
    hierarchy: str | None
    zone_id: str | None
    zones: str | PathLike[str] | Table | None
    area: Box | None


class FixKeywords(RowKeywords, total=False):
    """How a table of fixes is read, and how fine its samples are."""

    since: str | None
    until: str | None
    sample_users: int | None
    seed: int
    seconds: int | None
    metres: int | None
    max_speed: float | None


class AnonymiseKeywords(TripKeywords, AnonymiseOptions, total=False):
    """The keywords of ``anonymise``."""

    method: str | FlowMethod | type[FlowMethod]
    k: float
    unit: str | Sequence[str] | None
    k_population: float | str | None
    suppress: float
    engine: str | None
    master: str | None
    publish: str
    round: int | None
    with_margins: bool
    with_levels: int | str | Sequence[int] | None
    zones_from: str | PathLike[str] | None
    title: str | None
    names: str | None
    background: str | PathLike[str] | None
    sign: str | PathLike[str] | None
    ledger: str | PathLike[str] | None
    ledger_mode: str
    needs_approvals: int | None
    l: int | None  # noqa: E741
    l_places: int | None
    t: float | None
    dominance: float | None
    p_percent: float | None
    hide_choices: bool
    hide_up_to: int
    secret: str | PathLike[str] | None
    segment_where_safe: bool
    draws: int
    time_slot: Time | None
    slot: Time | None
    fold: str | None
    period: str | None
    out: str | PathLike[str] | None
    force: bool


class SeriesKeywords(TripKeywords, SeriesOptions, total=False):
    """The keywords of ``series``."""

    method: str
    periods: str | None
    pilot: str | None
    cumulative: bool
    k: float
    unit: str | Sequence[str] | None
    k_population: float | str | None
    suppress: float
    publish: str
    title: str | None
    names: str | None
    background: str | PathLike[str] | None
    sign: str | PathLike[str] | None
    ledger: str | PathLike[str] | None
    needs_approvals: int | None
    l: int | None  # noqa: E741
    dominance: float | None
    p_percent: float | None
    time_slot: Time | None
    fold: str | None
    out: str | PathLike[str] | None
    force: bool


class DescribeKeywords(TripKeywords, total=False):
    """The keywords of ``describe``."""

    k: float


class CompareKeywords(TripKeywords, FlowOptions, total=False):
    """The keywords of ``compare``."""

    methods: str | Sequence[str]
    k: float | str | Sequence[float]
    unit: str | Sequence[str] | None
    k_population: float | str | None
    suppress: float | str | Sequence[float]
    dominance: float | None
    p_percent: float | None
    hide_choices: bool
    hide_up_to: int
    secret: str | PathLike[str] | None
    time_limit: Time
    jobs: int | None
    out: str | PathLike[str] | None
    force: bool


class AnonymiseTrajectoriesKeywords(FixKeywords, TrajectoryOptions, total=False):
    """The keywords of ``trajectories.anonymise``."""

    method: str | TrajectoryMethod | type[TrajectoryMethod]
    k: int
    formats: str | Sequence[str] | None
    engine: str | None
    master: str | None
    title: str | None
    names: str | None
    background: str | PathLike[str] | None
    sign: str | PathLike[str] | None
    ledger: str | PathLike[str] | None
    needs_approvals: int | None
    out: str | PathLike[str] | None
    force: bool


class CompareTrajectoriesKeywords(FixKeywords, TrajectoryOptions, total=False):
    """The keywords of ``trajectories.compare``."""

    methods: str | Sequence[str]
    k: int
    out: str | PathLike[str] | None
    force: bool


def keywords_of(kind: Any) -> tuple[str, ...]:
    """Return the names in a table of keywords.

    >>> keywords_of(DescribeKeywords)[-1]
    'k'
    """
    return tuple(kind.__annotations__)
