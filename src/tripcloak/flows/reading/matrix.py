"""From files to the OD matrix, within a memory limit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tripcloak.engines.choice import Engine
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.model.kept import AXES, KeptZones, members_digest, zone_members
from tripcloak.flows.reading.coding import CodedTrips, GatheredTrips, gather_trips
from tripcloak.flows.reading.reach import USUAL, Reach
from tripcloak.flows.reading.zone_ids import note_on_zones, refuse_ids_without_zones, zones_of
from tripcloak.ground.engine import connect, plain_errors
from tripcloak.ground.errors import InputError
from tripcloak.ground.kinds import refuse_other_kinds
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt, spelt_command
from tripcloak.hierarchy import Slots, Tiling, parse_tiling
from tripcloak.hierarchy.time import Days, check_fold, check_slot
from tripcloak.hierarchy.zonefile.columns import Columns
from tripcloak.hierarchy.zonefile.zones import ZoneFile
from tripcloak.promises import Promise
from tripcloak.records.cleaning import OUTSIDE_AREA, OUTSIDE_TILING
from tripcloak.records.notes import no_zone_notes
from tripcloak.records.segments import Segment, SegmentBy, find_segments
from tripcloak.records.source import TripSource
from tripcloak.records.suspicions import counted_ids, no_ids, on_fixes, on_ids, on_places, refuse_swapped
from tripcloak.records.tolerance import refuse_losses
from tripcloak.records.trips import Canonical, clean, narrow, open_canonical

if TYPE_CHECKING:
    import duckdb

    from tripcloak.engines.spark import Cluster

    Opened: TypeAlias = tuple[duckdb.DuckDBPyConnection, Canonical]
    """A connection with the cleaned records of a source as the view ``canonical``, and what is in it."""


_RECORDED = {
    "spec": str,
    "zones": str | None,
    "zone_id": str | None,
    "area": tuple[float, float, float, float] | None,
    "time_slot": int | None,
    "fold": str | None,
    "apart": bool,
    "period": tuple[str, ...] | None,
}
"""What a record says of zones, and of which kind it is."""

KEPT_ZONES = "private/zones.parquet"
"""Where a release holds zones that came from no file, below its folder."""


@dataclass(frozen=True, kw_only=True)
class Zoning:
    """How places become zones, and times slots: the hierarchy's text, and what else it needs.

    Attributes
    ----------
    zones : str, Columns or ZoneFile, optional
        The path of a zones file, or zones in memory, which a release then holds in its private part.
    zone_id : str, optional
        The column of their ids; found from what trips name, else from the columns' names, if not given.
    time_slot : int, optional
        Minutes of a slot, which makes time an axis.
    fold : str, optional
        A period that repeats, over which slots are folded: day, week or 2weeks.
    apart : bool
        Every slot is anonymised on its own, and none is ever merged with another.
    period : Days, optional
        The first and the last day of the trips; found from the data where slots are merged over all time.
    kept : KeptZones, optional
        Zones of an earlier release that are to be used again: hierarchies hold them, whatever occurs.
    """

    spec: str = "h3:10"
    zones: str | Columns | ZoneFile | None = None
    zone_id: str | None = None
    area: tuple[float, float, float, float] | None = None
    time_slot: int | None = None
    fold: str | None = None
    apart: bool = False
    period: Days | None = None
    kept: KeptZones | None = None

    def __post_init__(self) -> None:
        if self.time_slot is not None:
            check_slot(self.time_slot)
        elif self.fold is not None or self.apart or self.period is not None:
            raise InputError(
                f"there are no slots of time to fold or keep apart; give their length ({spelt('slot')})"
            )
        if self.fold is not None:
            check_fold(self.fold)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "spec": self.spec,
            "zones": self.zones if self.zones is None or isinstance(self.zones, str) else KEPT_ZONES,
            **({} if self.zone_id is None else {"zone_id": self.zone_id}),
            "area": None if self.area is None else list(self.area),
            **({} if self.time_slot is None else {"time_slot": self.time_slot}),
            **({} if self.fold is None else {"fold": self.fold}),
            **({"apart": True} if self.apart else {}),
            **({} if self.period is None else {"period": list(self.period.dates)}),
            **({} if self.kept is None else {"kept": True}),
        }

    def told(self, tiling: Tiling, timezone: str | None) -> dict[str, Any]:
        """Return how the zones were made, for everybody: the text, a study area, the slots of time.

        >>> from tripcloak.hierarchy import parse_tiling
        >>> Zoning(spec="H3:8", time_slot=60).told(parse_tiling("h3:8"), "Europe/Paris")
        {'spec': 'h3:8', 'time_slot_minutes': 60, 'timezone': 'Europe/Paris'}

        Of times without a zone none is claimed.
        """
        area, clock = ({} if self.area is None else {"area": list(self.area)}), self.clock()
        zone = {"timezone": timezone} if clock and timezone is not None else {}
        return {"spec": tiling.name, **area, **clock, **zone}

    def clock(self) -> dict[str, Any]:
        """Return how time became slots; nothing where it is no axis."""
        if self.time_slot is None:
            return {}
        fold = {} if self.fold is None else {"fold": self.fold}
        period = {} if self.period is None else {"period": list(self.period.dates)}
        apart = {"slots": "apart"} if self.apart else {}
        return {"time_slot_minutes": self.time_slot, **fold, **period, **apart}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Zoning:
        """Return the zoning that :meth:`to_dict` described."""
        found = {"spec": values["spec"], **{name: values[name] for name in _RECORDED if name in values}}
        found |= {name: tuple(found[name]) for name in ("area", "period") if found.get(name) is not None}
        refuse_other_kinds(found, _RECORDED)
        period = found.pop("period", None)
        return cls(**found, period=Days.read("/".join(period)) if period else None)

    @property
    def spans_weeks(self) -> bool:
        """Return whether slots of time are joined over all time, so that its length is released."""
        return self.time_slot is not None and self.fold is None and not self.apart


@dataclass(frozen=True, eq=False)
class MatrixReading:
    """An input that has been read: the matrix, what became of the rows, and how long it took."""

    trips: CodedTrips
    tiling: Tiling
    zoning: Zoning
    seconds: float
    warnings: tuple[str, ...] = ()
    """What is suspicious in the input; the notes hold it too."""

    def __repr__(self) -> str:
        return f"<MatrixReading: {self.trips.matrix!r} of {self.tiling.name}>"


@contextmanager
def opened(source: TripSource, *, memory: Memory = None, folder: Path | None = None) -> Iterator[Opened]:
    """Give a connection with the cleaned records of a source as the view ``canonical``."""
    with connect(Budget.of(memory).engine, folder) as con:
        yield con, open_canonical(con, source)


def read_matrix(
    source: TripSource,
    zoning: Zoning,
    *,
    promise: Promise = USUAL,
    repeats: bool = False,
    weights: bool = False,
    keyed: bytes | None = None,
    memory: Memory = None,
    folder: Path | None = None,
    engine: str | None = None,
    master: str | None = None,
    cluster: Cluster | None = None,
    stages: Path | None = None,
    within: Opened | None = None,
    segments: Sequence[Segment] = (),
    progress: Progress = silent,
) -> MatrixReading:
    """Return the OD matrix of a source.

    Parameters
    ----------
    promise
        What the edges of a study area or a period that are found from the data are held to.
    repeats
        Whether to keep how many trips each traveller makes in each flow: differential privacy and
        dominance need it.
    weights
        Whether to keep how much population each traveller stands for in each flow.
    keyed
        A key of 16 bytes, or several: the records behind the matrix are then kept, each known by a keyed
        digest that is the same whatever tiles, period or segment are read.
    memory
        How much memory to use, such as ``1GB``; half of the machine's by default.
    folder
        Where what does not fit in memory waits; the system's temporary folder by default.
    engine
        Where flows are counted: ``arrays`` in memory, ``parts`` on disk, or ``spark``; by the input's size.
    master
        Where Spark runs.
    cluster
        Where it runs already: flows stay there as well, for as long as it is there, and are worked on there.
    stages
        The folder of a run that may be taken up again; what is there must be of the same request.
    within
        The same source, opened already, but for its segment and sample.
    segments
        Parts of the input that a cluster counts in the same pass, each by itself.
    """
    started = time.perf_counter()
    reading = opened(source, memory=memory, folder=folder) if within is None else _narrowed(within, source)
    with reading as (con, canonical), plain_errors():
        _refuse_without_start(zoning, canonical)
        reach = Reach(con, canonical, promise)
        zones = zones_of(con, canonical, zoning.spec, zoning.zones, zoning.zone_id)
        tiling = parse_tiling(zoning.spec, zones=zones, area=zoning.area, extent=reach.area)
        refuse_ids_without_zones(con, canonical, tiling)
        _refuse_other_tiles(zoning, tiling, canonical)
        settled = replace(
            zoning,
            zones=zoning.zones if isinstance(zoning.zones, str) else zones,
            zone_id=None if zones is None else zones.id_name,
            area=getattr(tiling, "area", None),
            period=reach.period() if zoning.period is None and zoning.spans_weeks else zoning.period,
        )
        found = settled.area != zoning.area
        # Rows with digests, and those of one segment of several, are read anew.
        stages = stages if keyed is None and within is None else None
        counted = Engine(engine, Budget.of(memory), folder, stages, master)
        how: dict[str, Any] = {
            "slots": None
            if zoning.time_slot is None
            else Slots(zoning.time_slot, zoning.fold, settled.period),
            "outside": OUTSIDE_AREA if found else OUTSIDE_TILING,
            "progress": lambda rows: progress("reading trips", rows, None),
        }
        if counted.on_cluster:
            kept = (repeats, weights), zoning.kept
            how |= {"segments": segments} if cluster is not None and not canonical.has_places else {}
            gathered = _gathered_on_cluster(canonical, source, tiling, counted, cluster, keyed, *kept, **how)
        else:
            gathered = gather_trips(con, canonical, tiling, keyed=keyed, engine=counted, **how)
        if not (source.segment or source.sample or source.during):
            refuse_losses(gathered.cleaning, source.tolerate, canonical.opened)
    # The connection is closed by now, and what it held in memory is there for the flows.
    progress("counting flows", 0, None)
    trips = gathered.finish(counted, (repeats, weights), zoning.kept)
    _refuse_other_members(zoning.kept, trips.matrix)
    if source.tolerate < 1 and source.box is None and source.polygon is None:
        refuse_swapped(trips.where, canonical.columns)
    notes = note_on_zones(zones, zoning.zone_id)
    notes += no_zone_notes(canonical.timezone) if zoning.time_slot is not None else ()
    notes += _area_note(trips, reach) if found else ()
    notes += _period_note(trips, reach) if settled.period != zoning.period else ()
    warnings, known = _suspicions(trips, promise)
    trips = replace(trips, notes=(*warnings, *known, *notes))
    return MatrixReading(trips, tiling, settled, time.perf_counter() - started, warnings)


def _gathered_on_cluster(
    canonical: Canonical,
    source: TripSource,
    tiling: Tiling,
    engine: Engine,
    there: Cluster | None,
    keyed: bytes | None,
    wanted: tuple[bool, bool],
    kept: KeptZones | None,
    **how: Any,
) -> GatheredTrips:
    """Return an input as Spark has read and counted it."""
    from tripcloak.engines.spark import spark_cluster
    from tripcloak.flows.reading.cluster.gathering import gather_on_cluster

    if keyed is not None:
        raise InputError(
            f"records are not kept on a cluster, and a ledger needs them; leave out {spelt('ledger')} or "
            f"{spelt('engine', 'spark')}"
        )
    how |= {"engine": engine, "wanted": wanted, "kept": kept}
    if there is not None:
        return gather_on_cluster(there, canonical, source, tiling, stays=True, **how)
    with spark_cluster(engine.master, engine.folder) as cluster:
        return gather_on_cluster(cluster, canonical, source, tiling, **how)


def _refuse_other_tiles(zoning: Zoning, tiling: Tiling, canonical: Canonical) -> None:
    """Raise where zones are kept that were made in another way than those of this input would be."""
    if zoning.kept is None:
        return
    told, here = dict(zoning.kept.hierarchy), zoning.told(tiling, canonical.timezone)
    if told == here:
        return
    if told.get("timezone") != here.get("timezone"):
        raise InputError(
            f"the times of the zones to keep go by the clock of {told.get('timezone', 'no zone')}, those of "
            f"this input by that of {here.get('timezone', 'no zone')}; say whose they are with "
            f"{spelt('timezone')}"
        )
    raise InputError(
        f"the zones to keep are of {told.get('spec')}, and this input is read as {here['spec']}, or with "
        f"other slots of time or another area; leave out {spelt('hierarchy')} and the others, which are "
        "then taken from the earlier release"
    )


def _refuse_other_members(kept: KeptZones | None, matrix: ODMatrix) -> None:
    """Raise where zones of the same names hold other tiles than those of the earlier release."""
    if kept is None or kept.boxes:
        return
    for axis, (tree, _) in zip(AXES[:2], matrix.axes, strict=False):
        rows = kept.rows(axis, tree)
        other = axis in kept.members and (
            (rows < 0).any() or members_digest(zone_members(tree, rows)) != kept.members[axis]
        )
        if other or (rows < 0).any():
            raise InputError(
                "the hierarchy of this input does not have the zones to keep, or they hold other tiles or "
                f"places; give the very zones that the earlier release was made with ({spelt('zones')})"
            )


def _suspicions(trips: CodedTrips, promise: Promise) -> tuple[tuple[str, ...], list[str]]:
    """Return what is suspicious, and the notes of the reading, in numbers where those are known now."""
    columns, when = trips.canonical.columns, trips.when and trips.when.stray_words()
    warnings = [
        *on_places(trips.where, columns),
        *on_fixes(trips.cleaning, trips.canonical.form, columns),
        *([when] if when else []),
    ]
    column = columns.get("person")
    if column is None:
        return tuple(warnings), list(trips.notes)
    counted = counted_ids(trips.cleaning, column)
    unknown = on_ids(trips.cleaning, column) if _counts_ids(promise) else []
    # Files may call that column differently.
    uncounted = {no_ids(one) for one in (column, *trips.canonical.opened.id_columns)}
    notes = [note for note in trips.notes if counted is None or note not in uncounted]
    return (*warnings, *unknown), notes if unknown or counted is None else [counted, *notes]


def _counts_ids(promise: Promise) -> bool:
    """Return whether ids are counted; where the unit is still open they are, as soon as there are any."""
    try:
        return promise.noisy or "travellers" in promise.thresholds
    except InputError:
        return True


def _refuse_without_start(zoning: Zoning, canonical: Canonical) -> None:
    if zoning.time_slot is not None and not canonical.has_start:
        raise InputError(
            f"slots of time ({spelt('slot')}, {spelt('time_slot')}) need the start of every trip; name it "
            f"with {spelt('start_time')}"
        )


@contextmanager
def opened_by_segment(
    source: TripSource,
    by: Sequence[SegmentBy],
    *,
    people: bool = True,
    memory: Memory = None,
    folder: Path | None = None,
) -> Iterator[tuple[Opened, list[Segment]]]:
    """Give a source, opened once for all its segments by these columns, and the segments.

    Parameters
    ----------
    people
        Whether to count who is in each segment.
    """
    if len({one.column for one in by}) < len(by):
        raise InputError(f"a column parts the input once; one was given twice ({spelt('segment')})")
    carried = tuple(dict.fromkeys((*source.attributes, *(name for one in by for name in one.attributes))))
    with opened(replace(source, attributes=carried), memory=memory, folder=folder) as within:
        canonical = within[1]
        if not canonical.has_start and any(one.minutes is not None for one in by):
            raise InputError(
                f"slots of the day ({spelt('segment')}) need the start of every trip; name it with "
                f"{spelt('start_time')}"
            )
        with plain_errors():
            refuse_losses(clean(canonical), source.tolerate, canonical.opened)
            clock = canonical.timezone or "UTC"
            segments = find_segments(within[0], [one.by_clock_of(clock) for one in by], people=people)
        if not segments:
            raise InputError(
                "no usable trip is left, so there are no segments; see what becomes of the rows with "
                f"{spelt_command('describe')}"
            )
        yield within, segments


@contextmanager
def _narrowed(within: Opened, source: TripSource) -> Iterator[Opened]:
    narrow(within[1], source)
    yield within


def _area_note(trips: CodedTrips, reach: Reach) -> tuple[str, ...]:
    """Return a note if some trips lie outside the study area that was found from them."""
    if "outside_area" not in trips.cleaning.dropped:
        return ()
    return (
        f"some trips go further than {reach.words} do, beyond the study area that was found from the data, "
        f"and are left out; state the area to keep them ({spelt('area')})",
    )


def _period_note(trips: CodedTrips, reach: Reach) -> tuple[str, ...]:
    """Return a note if some trips lie outside the period that was found from them."""
    if "outside_period" not in trips.cleaning.dropped:
        return ()
    return (
        f"some trips were made before or after what {reach.words} reach, outside the period that was found "
        f"from the data, and are left out; state the period to keep them ({spelt('period')})",
    )
