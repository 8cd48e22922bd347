"""From files to the OD matrix, within a memory limit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tripcloak.flows.reading.coding import CodedTrips, code_trips
from tripcloak.ground.engine import connect, plain_errors
from tripcloak.ground.errors import InputError
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Tiling, parse_tiling
from tripcloak.hierarchy.time import check_fold, check_slot
from tripcloak.hierarchy.zonefile.zones import ZoneFile
from tripcloak.records.segments import Segment, SegmentBy, find_segments
from tripcloak.records.source import TripSource
from tripcloak.records.trips import Canonical, narrow, open_canonical

if TYPE_CHECKING:
    import duckdb

    Opened: TypeAlias = tuple[duckdb.DuckDBPyConnection, Canonical]
    """A connection with the cleaned records of a source as the view ``canonical``, and what is in it."""
    import duckdb


KEPT_ZONES = "private/zones.parquet"
"""Where a release holds zones that came from no file, below its folder."""


@dataclass(frozen=True, kw_only=True)
class Zoning:
    """How places become zones, and times slots: the hierarchy's text, and what else it needs.

    Attributes
    ----------
    zones : str or ZoneFile, optional
        The path of a zones file, or zones in memory, which a release then holds in its private part.
    time_slot : int, optional
        Minutes of a slot, which makes time an axis.
    fold : str, optional
        A period that repeats, over which slots are folded: day, week or 2weeks.
    apart : bool
        Every slot is anonymised on its own, and none is ever merged with another.
    """

    spec: str = "h3:10"
    zones: str | ZoneFile | None = None
    area: tuple[float, float, float, float] | None = None
    time_slot: int | None = None
    fold: str | None = None
    apart: bool = False

    def __post_init__(self) -> None:
        if self.time_slot is not None:
            check_slot(self.time_slot)
        elif self.fold is not None or self.apart:
            raise InputError(
                f"there are no slots of time to fold or keep apart; give their length ({spelt('slot')})"
            )
        if self.fold is not None:
            check_fold(self.fold)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "spec": self.spec,
            "zones": KEPT_ZONES if isinstance(self.zones, ZoneFile) else self.zones,
            "area": None if self.area is None else list(self.area),
            **({} if self.time_slot is None else {"time_slot": self.time_slot}),
            **({} if self.fold is None else {"fold": self.fold}),
            **({"apart": True} if self.apart else {}),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Zoning:
        """Return the zoning that :meth:`to_dict` described."""
        area = values.get("area")
        return cls(
            spec=values["spec"],
            zones=values.get("zones"),
            area=None if area is None else tuple(area),
            time_slot=values.get("time_slot"),
            fold=values.get("fold"),
            apart=values.get("apart", False),
        )


@dataclass(frozen=True, eq=False)
class MatrixReading:
    """An input that has been read: the matrix, what became of the rows, and how long it took."""

    trips: CodedTrips
    tiling: Tiling
    zoning: Zoning
    seconds: float

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
    repeats: bool = False,
    memory: Memory = None,
    folder: Path | None = None,
    within: Opened | None = None,
    progress: Progress = silent,
) -> MatrixReading:
    """Return the OD matrix of a source.

    Parameters
    ----------
    repeats
        Whether to keep how many trips each traveller makes in each flow; differential privacy needs it.
    memory
        How much memory to use, such as ``1GB``; half of the machine's by default.
    folder
        Where what does not fit in memory waits; the system's temporary folder by default.
    within
        The same source, opened already, but for its segment and sample.
    """
    started = time.perf_counter()
    reading = opened(source, memory=memory, folder=folder) if within is None else _narrowed(within, source)
    with reading as (con, canonical), plain_errors():
        tiling = parse_tiling(
            zoning.spec, zones=zoning.zones, area=zoning.area, extent=lambda: common_extent(con, canonical)
        )
        trips = code_trips(
            con,
            canonical,
            tiling,
            time_slot=zoning.time_slot,
            fold=zoning.fold,
            repeats=repeats,
            memory=Budget.of(memory).arrays,
            folder=folder,
            progress=lambda rows: progress("reading trips", rows, None),
        )
    settled = replace(zoning, area=getattr(tiling, "area", None))
    if settled.area != zoning.area:
        trips = with_note_on_area(trips)
    return MatrixReading(trips, tiling, settled, time.perf_counter() - started)


@contextmanager
def opened_by_segment(
    source: TripSource,
    by: Sequence[SegmentBy],
    *,
    memory: Memory = None,
    folder: Path | None = None,
) -> Iterator[tuple[Opened, list[Segment]]]:
    """Give a source, opened once for all its segments by these columns, and the segments."""
    if len({one.column for one in by}) < len(by):
        raise InputError(f"a column parts the input once; one was given twice ({spelt('segment')})")
    carried = tuple(dict.fromkeys((*source.attributes, *(one.column for one in by))))
    with opened(replace(source, attributes=carried), memory=memory, folder=folder) as within:
        with plain_errors():
            segments = find_segments(within[0], by)
        if not segments:
            raise InputError("no usable trip is left, so there are no segments")
        yield within, segments


@contextmanager
def _narrowed(within: Opened, source: TripSource) -> Iterator[Opened]:
    narrow(within[1], source)
    yield within


AT_AN_EDGE = 10
"""Travellers who reach or pass each edge of an extent."""


def common_extent(con: duckdb.DuckDBPyConnection, canonical: Canonical) -> tuple[float, float, float, float]:
    """Return south, west, north, east of the kept trip ends, but for what few people reach.

    On every side lies the outermost coordinate that 10 travellers (trips, where there is no id) reach
    or pass: a study area is published, and must not tell how far a single one goes. An edge is still
    somebody's own place; callers must widen the extent.
    """
    if canonical.endpoints != "points":
        raise InputError(f"a quadtree over zone ids needs {spelt('area')}: south,west,north,east")
    nth, (known, one) = AT_AN_EDGE, _one_of(canonical)
    ((found, south, west, north, east),) = con.execute(
        "with ones as (select min(least(o_lat, d_lat)) as south, min(least(o_lon, d_lon)) as west, "
        "max(greatest(o_lat, d_lat)) as north, max(greatest(o_lon, d_lon)) as east "
        f"from (select *, {one} as one from canonical where reason = 0 and {known}) group by one) "
        f"select count(*), min(south, {nth})[{nth}], min(west, {nth})[{nth}], "
        f"max(north, {nth})[{nth}], max(east, {nth})[{nth}] from ones"
    ).fetchall()
    if found == 0:
        raise InputError(f"no usable trip is left, so the study area cannot be found; give {spelt('area')}")
    # With fewer, the edges might stand the wrong way round.
    if found < 2 * nth:
        raise InputError(
            f"a study area is found from {2 * nth} {_counted(canonical)} or more, so that it does not tell "
            f"how far a single one goes; there are fewer here: give {spelt('area', 'south,west,north,east')}"
        )
    return south, west, north, east


def with_note_on_area(trips: CodedTrips) -> CodedTrips:
    """Return the trips, with a note if some lie outside the study area that was found from them."""
    if "outside_tiling" not in trips.cleaning.dropped:
        return trips
    note = (
        f"some trips go further than {AT_AN_EDGE} {_counted(trips.canonical)} do, beyond the study area that "
        f"was found from the data, and are left out; state the area to keep them ({spelt('area')})"
    )
    return replace(trips, notes=(*trips.notes, note))


def _one_of(canonical: Canonical) -> tuple[str, str]:
    """Return SQL for the rows of which one can say whose they are, and for whose (or which trip) they are."""
    if canonical.has_person:
        return "person is not null", "person"
    return "true", "mark" if "mark" in canonical.names else "row_number() over ()"


def _counted(canonical: Canonical) -> str:
    return "travellers" if canonical.has_person else "trips"
