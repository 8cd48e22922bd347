"""What the ids of an input stand for: said by the caller, known of a format, or told by name and use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tripcloak.ground.spelling import called, spelt
from tripcloak.promises.counted import ID_KINDS, ONES, UNKNOWN
from tripcloak.records.columns import plain_name

if TYPE_CHECKING:
    import duckdb

    from tripcloak.records.presets import Preset

WORDS: dict[str, tuple[str, ...]] = {
    "person": (
        "person", "people", "user", "uid", "traveller", "traveler", "individual", "participant", "respondent",
        "customer", "client", "member", "rider", "passenger", "agent", "employee", "student", "patient",
        "resident", "citizen", "worker", "commuter", "cyclist", "pedestrian", "human", "driver",
    ),
    "vehicle": (
        "vehicle", "veh", "taxi", "cab", "car", "bike", "bicycle", "scooter", "moped", "motorcycle", "ebike",
        "escooter", "truck", "lorry", "bus", "van", "tram", "train", "fleet", "medallion", "hacklicense",
        "plate", "licenseplate", "licenceplate", "vin", "rolling", "vessel", "ship", "boat",
    ),
    "device": (
        "device", "imei", "imsi", "msisdn", "phone", "mobile", "sim", "subscriber", "caller", "handset",
        "maid", "caid", "adid", "idfa", "gaid", "mac", "terminal", "tracker", "logger", "gps", "obu",
        "beacon", "app",
    ),
    "card": ("card", "smartcard", "ticket", "tag", "badge", "pass", "farecard", "wallet"),
    "household": ("household", "hh", "hhid", "family", "dwelling", "home", "house"),
}  # fmt: skip
"""Words by which names of columns tell what their ids stand for."""

KINDS = {word: kind for kind, words in WORDS.items() for word in words}
AFFIXES = ("id", "ids", "no", "nr", "num", "number", "hash", "hashed", "key", "code", "uuid", "anon")
LOOKED_AT = 100_000
"""Rows from the top of the input that are looked at."""

OVERLAP_SECONDS = 300
OVERLAPPING = 0.1
"""Share of ids with trips that overlap in time, from which on an id cannot be one person or one vehicle."""
BUSY_TRIPS, BUSY_HOURS, BUSY = 12, 18, 0.5
"""Trips a day or hours of a day that nobody fills alone, and the share of ids that do."""
CHAINED_DEGREES, CHAINED = 0.005, 0.25
"""How near a trip begins to where the last one ended, and the share of trips that do, of vehicles."""


class Use(NamedTuple):
    """How ids are used: shares of ids that overlap with themselves or never rest, and of trips in a chain."""

    overlapping: float
    busy: float
    chained: float

    @property
    def by_one_person(self) -> bool:
        """Return whether an id may be one person."""
        return self.overlapping < OVERLAPPING and self.busy < BUSY


def kind_by_name(column: str) -> str | None:
    """Return what the name of a column says that its ids are; None where it says nothing, or two things.

    Examples
    --------
    >>> [kind_by_name(name) for name in ("user_id", "bikeid", "IMEI", "CardNo", "hh_id", "id", "driver_cab")]
    ['person', 'vehicle', 'device', 'card', 'household', None, None]
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column)
    parts = {_bare(part) for part in re.split(r"[^0-9A-Za-z]+", spaced)} | {_bare(plain_name(column))}
    found = {KINDS[part] for part in parts if part in KINDS}
    return found.pop() if len(found) == 1 else None


def _bare(part: str) -> str:
    """Return a part of a name without what only says that it is an id."""
    bare = part.lower()
    for affix in AFFIXES:
        if bare not in KINDS:
            bare = bare.removesuffix(affix) if bare.removesuffix(affix) in KINDS else bare
            bare = bare.removeprefix(affix) if bare.removeprefix(affix) in KINDS else bare
    return bare


class Identity(NamedTuple):
    """What ids stand for, and what the owner of the data should know about it."""

    kind: str
    notes: tuple[str, ...] = ()


def identify(
    columns: Sequence[str],
    *,
    said: str | None = None,
    preset: Preset | None = None,
    named: bool = False,
    use: Use | None = None,
) -> Identity:
    """Return what the ids in a column stand for.

    The caller's word counts before all; then the format that was asked for, where the column is its own;
    then the column's name, unless its use contradicts it. Where nothing tells, that is what is said.

    Parameters
    ----------
    columns
        The raw columns that ids are read from, one for every kind of table.
    said
        The caller's word.
    named
        The caller named the column, so that it need not be the format's own.
    use
        How the ids are used, where times tell.

    Examples
    --------
    >>> identify(["bike_id"]).kind, identify(["id"]).kind, identify(["id"], said="person").kind
    ('vehicle', 'unknown', 'person')
    >>> identify(["user"], use=Use(overlapping=0.4, busy=0.0, chained=0.2)).kind
    'unknown'
    """
    column = str(columns[0])
    if said is not None:
        return Identity(said, _notes_on_said(column, said, use))
    kinds = {kind_by_name(str(one)) for one in columns}
    kind = kinds.pop() if len(kinds) == 1 else None
    if preset is not None and preset.id_is is not None and not named:
        kind = preset.id_is
    elif use is not None and not use.by_one_person:
        if kind == "person":
            return Identity(UNKNOWN, (_unlike(column, use), ask(column)))
        moves = use.chained >= CHAINED and use.overlapping < OVERLAPPING
        kind = kind or ("vehicle" if moves else None)
    if kind is None:
        return Identity(UNKNOWN, (ask(column),))
    return Identity(kind, () if kind == "person" else (_not_people(column, kind),))


def ask(column: str) -> str:
    """Return the note that asks what ids stand for."""
    return (
        f"nothing tells whether the ids of column {column!r} are people, so what is published calls them ids "
        f"of unknown kind: say what they stand for with {spelt('id_is', '|'.join(ID_KINDS))}"
    )


def _not_people(column: str, kind: str) -> str:
    several = ONES[kind].several
    return (
        f"column {column!r} tells {several} apart, not people: travellers are counted as distinct {several} "
        f"(say otherwise with {called('id_is')})"
    )


def _unlike(column: str, use: Use) -> str:
    why = "have trips that overlap in time" if use.overlapping >= OVERLAPPING else "are used round the clock"
    return f"many ids of column {column!r} {why}, as no single person's would be"


def _notes_on_said(column: str, said: str, use: Use | None) -> tuple[str, ...]:
    """Return what speaks against the caller's word, and what it means where it is not people."""
    if said != "person":
        return (_not_people(column, said),)
    other, against = kind_by_name(column), []
    if other not in (None, "person"):
        against.append(f"the name of column {column!r} speaks of {ONES[str(other)].several}")
    if use is not None and not use.by_one_person:
        against.append(_unlike(column, use))
    taken = f"they are counted as people, as {spelt('id_is', said)} says"
    return tuple(f"{words}; {taken}" for words in against)


def look_at_use(con: duckdb.DuckDBPyConnection, view: str, names: Sequence[str]) -> Use | None:
    """Return how the ids at the top of a view of trips are used; None where there are no times."""
    if not {"person", "start_time", "end_time"} <= set(names):
        return None
    placed = {"o_lat", "o_lon", "d_lat", "d_lon"} <= set(names)
    ends = "o_lat, o_lon, d_lat, d_lon" if placed else "0 o_lat, 9 o_lon, 0 d_lat, 0 d_lon"
    # Of a large input always the same rows, so that the same file is called the same every time.
    con.execute("SET preserve_insertion_order = true")
    try:
        ((ids, overlapping, busy, chained),) = con.execute(_use_sql(view, ends)).fetchall()
    finally:
        con.execute("SET preserve_insertion_order = false")
    return Use(float(overlapping), float(busy), float(chained or 0)) if ids else None


def _use_sql(view: str, ends: str) -> str:
    """Return SQL for the number of ids, and the shares that tell how they are used."""
    return f"""
        WITH top AS (
            SELECT hash(person) AS one, start_time AS began, end_time AS ended, {ends} FROM {view}
            WHERE reason = 0 AND person IS NOT NULL AND start_time IS NOT NULL LIMIT {LOOKED_AT}
        ), chain AS (
            SELECT one, began, epoch(began) AS s, lag(epoch(ended)) OVER trips AS before,
                   abs(o_lat - lag(d_lat) OVER trips) + abs(o_lon - lag(d_lon) OVER trips) AS away
            FROM (SELECT DISTINCT * FROM top) WINDOW trips AS (PARTITION BY one ORDER BY began, ended)
        ), days AS (
            SELECT one, date_trunc('day', began) AS day, count(*) AS n, count(DISTINCT hour(began)) AS hours
            FROM chain GROUP BY ALL
        ), filled AS (
            SELECT one, avg(n) >= {BUSY_TRIPS} OR max(hours) >= {BUSY_HOURS} AS never_rests
            FROM days GROUP BY one
        ), whole AS (
            SELECT one, coalesce(bool_or(s < before - {OVERLAP_SECONDS}), false) AS torn,
                   count(*) FILTER (away <= {CHAINED_DEGREES}) AS near, count(away) AS steps
            FROM chain GROUP BY one
        )
        SELECT count(*), avg(torn::INT), avg(never_rests::INT), sum(near) / nullif(sum(steps), 0)
        FROM whole JOIN filled USING (one)
        """
