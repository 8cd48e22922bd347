"""Published tables as their readers have them: numbers, outlines, and what the manifest says they cover."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.flows.methods.registry import method_released_as
from tripcloak.flows.release import publication_of
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import public_part, read_manifest
from tripcloak.ledger.outlines import Shapes
from tripcloak.promises import Promise
from tripcloak.records.during import days_of

AXES = ("origin", "destination")


class Coverage(NamedTuple):
    """What a table is about, as far as it is declared: a period of days, and segments by column.

    Examples
    --------
    >>> everybody, women = Coverage(None, {}), Coverage(None, {"sex": "F"})
    >>> women.within(everybody), everybody.within(women)
    (True, False)
    >>> women.apart(Coverage(None, {"sex": "M"})), women.apart(everybody)
    (True, False)
    """

    days: tuple[int, int] | None
    segment: Mapping[str, str]

    def within(self, other: Coverage) -> bool:
        """Return whether all trips of this one are among those of another one."""
        if any(self.segment.get(by) != value for by, value in other.segment.items()):
            return False
        if other.days is None:
            return True
        return self.days is not None and other.days[0] <= self.days[0] <= self.days[1] <= other.days[1]

    def apart(self, other: Coverage) -> bool:
        """Return whether no trip can be in both."""
        if any(other.segment.get(by, value) != value for by, value in self.segment.items()):
            return True
        if self.days is None or other.days is None:
            return False
        return self.days[1] < other.days[0] or other.days[1] < self.days[0]


@dataclass(frozen=True, eq=False)
class PublicTable:
    """The published flows of a release, or of one of its segments.

    Attributes
    ----------
    flows : tuple of arrays
        The origin and the destination of every flow, as rows of the zones of their axis.
    shapes : tuple
        The outlines of the zones of both axes.
    times : list of str, optional
        The time of every flow, where time is an axis.
    clock : tuple
        How time was cut into slots; times of two tables are the same only where these are.
    people : array, optional
        The travellers of every flow, where they are published exactly.
    missing : float
        How many trips between the zones of a flow may be missing in it: none where methods withhold pairs of
        zones whole, as nearly all do; elsewhere all that was withheld; any number where zones are boxes.
    tiles : str
        The tiles that zones are made of.
    total : tuple of int
        The least and the greatest number of trips of the input, withheld ones included.
    base : int
        What trips are multiples of, where they are rounded; 1 where they are exact.
    sums_of : str
        The release whose tables count the same sets of trips: what one holds of another, it counts.
    """

    name: str
    coverage: Coverage
    k: int
    zones: dict[str, Any]
    flows: tuple[Ints, Ints]
    shapes: tuple[Shapes, Shapes]
    trips: Ints
    times: list[str] | None
    clock: tuple[Any, ...]
    people: Ints | None
    missing: float
    tiles: str
    total: tuple[int, float]
    base: int = 1
    sums_of: str = ""

    def __repr__(self) -> str:
        return f"<PublicTable {self.name}: {len(self.trips):,} flows>"

    def least(self, row: int) -> int:
        """Return how many trips a number stands for at least: of a rounded one, never fewer than k."""
        told = int(self.trips[row])
        return told if self.base == 1 else min(told, max(told - self.base + 1, self.k))

    def most(self, row: int) -> int:
        """Return how many trips a number stands for at most."""
        return int(self.trips[row]) + self.base - 1


def read_tables(folder: Path, name: str) -> list[PublicTable]:
    """Return the published tables of a release: its flows, those of every segment that it tells, and sums.

    Totals and other heights are sums of trips between larger zones, or everywhere. None come of noisy
    numbers, which tell nothing exactly.
    """
    from pyarrow import parquet

    facts = read_manifest(folder, "flows")
    promise = Promise.from_manifest(facts.get("promise"))
    if promise.noisy:
        return []
    public = public_part(folder).absolute()
    try:
        columns = _columns(facts, promise, folder)
        zones = parquet.read_table(public.absolute() / "zones.parquet")
        read = _Reader(name, facts, promise, columns, tuple(OutlinedZones.of(zones, axis) for axis in AXES))
        found = [read.table(parquet.read_table(public.absolute() / "flows.parquet"))]
        if promise.segments:
            rows = parquet.read_table(public.absolute() / "segments.parquet")
            segments = np.asarray(rows["segment"].to_pylist(), dtype=np.str_)
            found += [
                read.table(rows.filter(segments == part), part) for part in np.unique(segments).tolist()
            ]
        # Where zones overlap or numbers are rounded, they are sums of what is there already.
        if "tables" in facts and promise.rounding is None and facts["homogeneous"]:
            found += read.sums(public)
        return found
    except (KeyError, TypeError, ValueError, OSError):
        raise InputError(f"{folder}: the published tables cannot be read; check it first") from None


def _columns(facts: Mapping[str, Any], promise: Promise, folder: Path) -> tuple[bool, int]:
    """Return whether travellers are exact, and the least k; an error where trips are not told one by one."""
    told = publication_of(facts, promise)
    if "trips" not in told.columns or "trips" in told.steps:
        raise InputError(f"{folder} does not publish trips exactly, and nothing is added or subtracted of it")
    least = [k for unit, k in promise.thresholds.items() if unit in ("trips", "travellers")]
    return "travellers" in told.columns and "travellers" not in told.steps, math.ceil(min(least))


class OutlinedZones(NamedTuple):
    """The zones of an axis, by id, and their outlines."""

    ids: NDArray[np.str_]
    shapes: Shapes

    @classmethod
    def of(cls, zones: Any, axis: str) -> OutlinedZones:
        """Return those of a table of zones; a ValueError where one has no outline."""
        import shapely

        rows = np.asarray(zones["axis"].to_pylist()) == axis
        ids = np.asarray(zones["zone"].to_pylist(), dtype=np.str_)[rows]
        outlines = np.array(zones["geometry"].to_pylist(), dtype=object)[rows]
        if any(outline is None for outline in outlines):
            raise ValueError("zones without an outline")
        order = np.argsort(ids)
        return cls(ids[order], shapely.make_valid(shapely.from_wkb(outlines[order])))

    @classmethod
    def everywhere(cls) -> OutlinedZones:
        """Return one zone that holds all others."""
        import shapely

        return cls(np.array(["all"]), np.array([shapely.box(-180, -90, 180, 90)], dtype=object))

    def rows(self, names: Any) -> Ints:
        """Return the rows of zones by their ids; a ValueError where one is not there."""
        asked = np.asarray(names, dtype=np.str_)
        at = np.minimum(np.searchsorted(self.ids, asked), len(self.ids) - 1)
        if not np.array_equal(self.ids[at], asked):
            raise ValueError("flows between zones that are not there")
        return at


class _Reader(NamedTuple):
    """What the tables of one release share."""

    name: str
    facts: Mapping[str, Any]
    promise: Promise
    columns: tuple[bool, int]
    zones: tuple[OutlinedZones, ...]

    def table(self, flows: Any, part: str | None = None) -> PublicTable:
        """Return published flows, of all or of a segment."""
        ids = {axis: flows[axis].to_pylist() for axis in AXES}
        time = flows["time"].to_pylist() if "time" in flows.column_names else None
        exact = self.columns[0] and "travellers" in flows.column_names
        how = self.facts["hierarchy"]
        origin, destination = self.zones
        return PublicTable(
            name=self.name if part is None else f"{self.name}, {part}",
            coverage=_coverage(self.facts, self.promise, part),
            k=self.columns[1],
            zones={**ids, **({} if time is None else {"time": time})},
            flows=(origin.rows(ids["origin"]), destination.rows(ids["destination"])),
            shapes=(origin.shapes, destination.shapes),
            trips=flows["trips"].to_numpy().astype(np.int64),
            times=time,
            clock=tuple(how.get(entry) for entry in ("time_slot_minutes", "fold", "timezone")),
            people=flows["travellers"].to_numpy().astype(np.int64) if exact else None,
            missing=self._missing(),
            tiles=str(how["spec"]),
            total=self._total() if part is None else (int(flows["trips"].to_numpy().sum()), math.inf),
            base=1 if self.promise.rounding is None else self.promise.rounding.base,
            sums_of=self.name if part is None else "",
        )

    def sums(self, public: Path) -> list[PublicTable]:
        """Return the tables beside the flows, without those that repeat another, cell by cell."""
        from pyarrow import parquet

        rows = parquet.read_table(public.absolute() / "tables.parquet")
        outlined = self._outlined(public)
        sides = [np.asarray(rows[f"{axis}_level"].to_pylist(), dtype=np.str_) for axis in AXES]
        found, known = [], set()
        for told in self.facts["tables"]["counted"]:
            tiers = [str(told[f"{axis}_level"]) for axis in AXES]
            cells = rows.filter((sides[0] == tiers[0]) & (sides[1] == tiers[1]))
            same = tuple(zip(*(cells[name].to_pylist() for name in (*AXES, "trips")), strict=True))
            if same in known:
                continue
            known.add(same)
            zones = tuple(outlined[axis, tier] for axis, tier in zip(AXES, tiers, strict=True))
            at_most = told["not_counted"].get("at_most")
            table = self._replace(zones=zones).table(cells)
            found.append(
                replace(
                    table,
                    name=f"{self.name}, {tiers[0]} to {tiers[1]}",
                    missing=math.inf if at_most is None else int(at_most),
                )
            )
        return found

    def _outlined(self, public: Path) -> dict[tuple[str, str], OutlinedZones]:
        """Return the zones of every level of both axes; everywhere is one zone."""
        from pyarrow import parquet

        found = {(axis, "own"): zones for axis, zones in zip(AXES, self.zones, strict=True)}
        found |= {(axis, "all"): OutlinedZones.everywhere() for axis in AXES}
        if self.facts["tables"]["levels"]:
            rows = parquet.read_table(public.absolute() / "levels.parquet")
            level = np.asarray(rows["level"].to_pylist(), dtype=np.str_)
            found |= {
                (axis, tier): OutlinedZones.of(rows.filter(level == tier), axis)
                for tier in map(str, self.facts["tables"]["levels"])
                for axis in AXES
            }
        return found

    def _missing(self) -> float:
        if "zone_form" in self.facts:
            return math.inf
        whole = method_released_as(self.facts["method"]).withholds_whole and not self.promise.by_release
        at_most = (self.facts.get("withheld") or {}).get("at_most")
        return 0 if whole else math.inf if at_most is None else int(at_most)

    def _total(self) -> tuple[int, float]:
        told, released = self.facts.get("withheld") or {}, int(self.facts["released"])
        at_most = told.get("at_most")
        least = released + int(told.get("at_least") or 0)
        return least, math.inf if at_most is None else released + int(at_most)


def _coverage(facts: Mapping[str, Any], promise: Promise, part: str | None) -> Coverage:
    during = facts.get("during")
    days = None if during is None else days_of(during)
    segment = dict(facts.get("segment") or {})
    if part is not None:
        by = promise.segmented_by
        # By several columns a segment is known by its name: no other release could be told to be inside.
        segment |= {by[0]: part.partition("=")[2]} if len(by) == 1 else {", ".join(by): part}
    return Coverage(None if days is None else (days.first, days.last), segment)
