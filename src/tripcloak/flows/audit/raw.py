"""The raw input counted afresh: who is in which flow, and in which released group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.flows.audit.encoding import Encoder, H3Encoder, NamedEncoder, TilingEncoder, tiling_of
from tripcloak.flows.audit.evidence import FlowEvidence, column_names
from tripcloak.flows.audit.queries import segment_sql
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.tiling import OUTSIDE, Tiling

if TYPE_CHECKING:
    import pyarrow as pa

POINTS = ("o_lat", "o_lon", "d_lat", "d_lon")
IDS = ("o_id", "d_id")
PLACES = ("o_place", "d_place")
UNTIMED, TIMED = "o, d", "o, d, t"
FUNCTION = "audit_tile"
WITHHELD = 0
"""The pair of every flow that no released flow holds."""


@dataclass(frozen=True)
class RawInput:
    """The view ``canonical`` of the raw input, and what it takes to read it as the release did.

    Attributes
    ----------
    tiling : Tiling, optional
        For hierarchies other than H3; rebuilt from the release's own record if not given.
    each_trip_is_a_person : bool
        The input is a table of people in which everybody is counted once.
    """

    tiling: Tiling | None = None
    each_trip_is_a_person: bool = False

    def load(self, case: FlowEvidence) -> None:
        """Make ``audit_presence`` (a row per flow and person), ``audit_input`` (flows), ``audit_names``.

        ``audit_places`` says which places were seen in which tile, if the raw input names any.
        """
        columns = _view_columns(case)
        encoder = self._encoder(case)
        try:
            _encode(case, columns, encoder)
            case.keep("audit_presence", _presence(columns, _keys(case)))
            case.keep("audit_names", "select key, name from audit_reader", _names(case, encoder))
            case.keep("audit_input", self._flows(columns, _keys(case)))
            case.keep("audit_places", _seen(columns))
            if case.promise.segments:
                case.keep("audit_segment_presence", _presence(columns, f"{_keys(case)}, segment"))
            case.con.execute("drop table audit_trips")
        except Exception as error:
            raise _explained(error) from None

    def _flows(self, columns: Sequence[str], keys: str) -> str:
        time = "t as time," if keys == TIMED else ""
        return f"""
            select o.name as origin, d.name as destination, {time} trips, travellers, population from (
                select {keys}, sum(trips)::bigint as trips, fsum(weight) as population,
                       {self._travellers(columns, "count(person)")} as travellers
                from audit_presence group by {keys}
            ) flow join audit_names o on o.key = flow.o join audit_names d on d.key = flow.d
        """

    def recount(self, case: FlowEvidence) -> None:
        """Make ``audit_recount``: every released pair with its support, and pair 0 for what is withheld.

        And ``audit_shared``: the support of all pairs that share what a reader may know, if not all.
        """
        for part in ("flows", "groups", "raw"):
            case.load(part)
        columns, axes = _view_columns(case), case.promise.axes
        names = {
            "axes": ", ".join(axes),
            "keys": _keys(case),
            "released": ", ".join(f"released_{axis}" for axis in axes),
            "complete": " and ".join(f"released_{axis} is not null" for axis in axes),
            "match": " and ".join(f"pair.{axis} = flow.released_{axis}" for axis in axes),
            "slot": ", flow.time as t" if _keys(case) == TIMED else "",
            "nothing": ", ".join("null" for _ in axes),
        }
        case.keep("audit_pairs", _PAIRS.format(**names))
        case.keep("audit_links", _LINKS.format(**names))
        travellers = self._travellers(columns, "people.travellers", "volume.trips")
        case.keep("audit_recount", _RECOUNT.format(travellers=travellers, **names))
        if case.promise.known_items is not None:
            itemsets = enumerate(combinations(axes, case.promise.known_items))
            sharing = " union all ".join(
                _SHARING.format(n=n, known=", ".join(known)) for n, known in itemsets
            )
            case.keep("audit_shared", _SHARED.format(sharing=sharing, travellers=travellers, **names))

    def _travellers(self, columns: Sequence[str], distinct: str, trips: str = "sum(trips)") -> str:
        """Return SQL for a number of travellers: null where the input cannot tell people apart."""
        if "person" in columns:
            return f"coalesce({distinct}, 0)::bigint"
        return f"{trips}::bigint" if self.each_trip_is_a_person else "null::bigint"

    def _encoder(self, case: FlowEvidence) -> Encoder:
        if case.promise.resolution is not None:
            root = re.search(r"/root=([0-9a-f]{15})\b", case.promise.spec)
            return H3Encoder(case.promise.resolution, root and root[1])
        tiling = tiling_of(case, self.tiling)
        if tiling is not None:
            return TilingEncoder(tiling)
        if set(POINTS) <= set(_view_columns(case)):
            raise InputError(
                "the records hold coordinates: the audit needs the zones that the release was made with"
            )
        case.load("tree")
        return NamedEncoder(
            [name for (name,) in case.rows("select distinct zone from audit_tree where height = 0")]
        )


def _view_columns(case: FlowEvidence) -> tuple[str, ...]:
    import duckdb

    try:
        columns = column_names(case.con, "canonical")
    except duckdb.CatalogException:
        raise InputError("the audit needs the raw input: a view named 'canonical'") from None
    if "reason" not in columns or not (set(POINTS) <= set(columns) or set(IDS) <= set(columns)):
        raise InputError(
            f"the view 'canonical' needs the columns reason, and {', '.join(POINTS)} or o_id, d_id"
        )
    if case.promise.slot is not None and "start_time" not in columns:
        raise InputError(
            f"the release has times, so the audit needs the start of every trip ({spelt('start_time')})"
        )
    return columns


def _encode(case: FlowEvidence, columns: Sequence[str], encoder: Encoder) -> None:
    """Make ``audit_trips``: every raw record that counts, with its tiles as keys and its slot by name."""
    points = set(POINTS) <= set(columns)
    ends = (f"{FUNCTION}(o_lat, o_lon)", f"{FUNCTION}(d_lat, d_lon)")
    if not points:
        ends = (f"{FUNCTION}(o_id::varchar)", f"{FUNCTION}(d_id::varchar)")
    others = [name for name in (*PLACES, "person", "weight", "trips", "mark") if name in columns]
    if case.promise.slot is not None:
        others.append(f"{_slot_of(case)} as t")
    if case.promise.segments:
        others.append(f"{segment_sql(case.promise.segmented_by, columns)} as segment")
    kinds: list[Any] = ["double", "double"] if points else ["varchar"]
    vectorised: Any = "arrow"
    case.con.create_function(FUNCTION, _vectorised(encoder, points), kinds, "ubigint", type=vectorised)
    try:
        case.keep(
            "audit_trips",
            f"""select * from (
                select {", ".join([f"{ends[0]} as o", f"{ends[1]} as d", *others])}
                from canonical where reason = 0
            ) where o <> {OUTSIDE} and d <> {OUTSIDE}{_in_a_slot(case)}""",
        )
    finally:
        case.con.remove_function(FUNCTION)


def _vectorised(encoder: Encoder, points: bool) -> Any:
    """Return the encoder as a function over Arrow columns."""
    import pyarrow as pa

    # The engine evaluates these annotations, so they name nothing that is imported for typing alone.
    def of_points(lat: Any, lon: Any) -> Any:
        return pa.array(encoder.of_points(np.asarray(lat, dtype=float), np.asarray(lon, dtype=float)))

    def of_ids(ids: Any) -> Any:
        return pa.array(encoder.of_ids(ids.to_pylist()))

    return of_points if points else of_ids


def _slot_of(case: FlowEvidence) -> str:
    told = case.promise
    assert told.slot is not None
    return _slot(told.slot, told.timezone, told.fold, told.period)


def _slot(minutes: int, timezone: str, fold: str | None, period: tuple[date, date] | None) -> str:
    """Return SQL for the name of the slot in which a trip starts, by the clock of a time zone."""
    local = f"timezone('{timezone}', start_time)"
    bucket = f"time_bucket(interval '{minutes} minutes', {local})"
    if fold is None:
        form = {60: "%Y-%m-%dT%H", 1440: "%Y-%m-%d"}.get(minutes, "%Y-%m-%dT%H:%M")
        name = f"strftime({bucket}, '{form}')"
    else:
        name = _folded_slot(bucket, minutes, fold)
    return f"case when year({local}) between 1000 and 9999 and {_within(local, period)} then {name} end"


def _within(local: str, period: tuple[date, date] | None) -> str:
    """Return SQL that is true where a time by the clock is in a period, if there is one."""
    return "true" if period is None else f"({local})::date between date '{period[0]}' and date '{period[1]}'"


def _folded_slot(bucket: str, minutes: int, fold: str) -> str:
    """Return SQL for the name of a slot in a period that repeats."""
    clock = f"strftime({bucket}, '{'T%H' if minutes == 60 else 'T%H:%M'}')"
    if fold == "day":
        return "'every day'" if minutes == 1440 else clock
    day = f"isodow({bucket}) || strftime({bucket}, '-%a')"
    # The Monday before the epoch begins a week A.
    weeks = f"floor(date_diff('day', date '1969-12-29', ({bucket})::date) / 7)::bigint"
    letter = f"case when ({weeks} % 2) = 0 then 'A ' else 'B ' end || " if fold == "2weeks" else ""
    return f"{letter}{day}" if minutes == 1440 else f"{letter}{day} || ' ' || {clock}"


def _in_a_slot(case: FlowEvidence) -> str:
    return "" if case.promise.slot is None else " and t is not null"


def _keys(case: FlowEvidence) -> str:
    """Return the columns that tell flows apart."""
    return UNTIMED if case.promise.slot is None else TIMED


def _presence(columns: Sequence[str], keys: str) -> str:
    """Return SQL for one row per flow and person, exact duplicates counted once."""
    person = "person" if "person" in columns else "null::integer as person"
    trips = "trips" if "trips" in columns else "1 as trips"
    weight = "weight::double as weight" if "weight" in columns else "null::double as weight"
    each = f"select {keys}, {person}, {trips}, {weight} from audit_trips"
    if "mark" in columns:
        # Few marks repeat, so only the rows that carry one are compared as a whole.
        who = "person, " if "person" in columns else ""
        each = f"""
            with repeated as (
                select mark from audit_trips where mark is not null group by mark having count(*) > 1
            )
            {each} where mark not in (select mark from repeated) or mark is null
            union all
            select {keys}, {person}, any_value({trips.partition(" as")[0]}) as trips,
                   any_value({weight.partition(" as")[0]}) as weight
            from audit_trips where mark in (select mark from repeated) group by {who}mark, {keys}
        """
    return f"""
        select {keys}, person, sum(trips) as trips, fsum(weight) as weight from ({each})
        group by {keys}, person
    """


def _seen(columns: Sequence[str]) -> str:
    """Return SQL for every place and tile that occur together, end by end."""
    origin, destination = PLACES if set(PLACES) <= set(columns) else ("null", "null")
    return f"""
        select distinct axis, name as tile, place from (
            select 'origin' as axis, o as key, {origin}::varchar as place from audit_trips
            union all
            select 'destination', d, {destination}::varchar from audit_trips
        ) join audit_names using (key) where place is not null
    """


def _names(case: FlowEvidence, encoder: Encoder) -> pa.RecordBatchReader:
    import pyarrow as pa

    found = "select o as key from audit_presence union select d from audit_presence order by key"
    keys = np.array([key for (key,) in case.rows(found)], dtype=np.uint64)
    return pa.table({"key": keys, "name": pa.array(encoder.names(keys), pa.string())}).to_reader()


def _explained(error: Exception) -> Exception:
    """Return the engine's errors in words that quote no data."""
    import duckdb

    if isinstance(error, duckdb.OutOfMemoryException | duckdb.InterruptException):
        return error
    if isinstance(error, duckdb.Error):
        return InputError(
            "the raw input cannot be read: it is damaged, or not what the release was made from"
        )
    return error


_PAIRS = """
    select row_number() over (order by {axes}) as pair, {axes} from (
        select {axes} from audit_flows
        union
        select {released} from audit_groups where {complete}
    )
"""

_LINKS = """
    select o.key as o, d.key as d{slot}, pair.pair from audit_groups flow
    join audit_names o on o.name = flow.origin join audit_names d on d.name = flow.destination
    join audit_pairs pair on {match}
"""

_RECOUNT = f"""
    with counted as (
        select coalesce(pair, {WITHHELD}) as pair, person, trips, weight
        from audit_presence left join audit_links using ({{keys}})
    ),
    volume as (
        select pair, sum(trips)::bigint as trips, fsum(weight) as population from counted group by pair
    ),
    people as (
        select pair, count(*) as travellers, max(trips) as largest from (
            select pair, person, sum(trips) as trips from counted where person is not null
            group by pair, person
        ) group by pair
    ),
    pairs as (select pair, {{axes}} from audit_pairs union all select {WITHHELD}, {{nothing}})
    select pair, {{axes}}, coalesce(volume.trips, 0) as trips,
           {{travellers}} as travellers, volume.population, people.largest
    from pairs left join volume using (pair) left join people using (pair)
"""

_SHARING = "select {n} as items, pair, dense_rank() over (order by {known}) as share from audit_pairs"

_SHARED = """
    with sharing as ({sharing}),
    counted as (
        select items, share, person, trips, weight
        from audit_presence join audit_links using ({keys}) join sharing using (pair)
    ),
    volume as (
        select items, share, sum(trips)::bigint as trips, fsum(weight) as population
        from counted group by items, share
    ),
    people as (
        select items, share, count(*) as travellers from (
            select distinct items, share, person from counted where person is not null
        ) group by items, share
    )
    select items, share, coalesce(volume.trips, 0) as trips, {travellers} as travellers, volume.population
    from (select distinct items, share from sharing)
    left join volume using (items, share) left join people using (items, share)
"""
