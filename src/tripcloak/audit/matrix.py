"""The quick audit right after anonymising: arrays against arrays, before a file is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.audit.closeness import too_far_sql
from tripcloak.audit.findings import TOLERANCE, AuditReport, least, some
from tripcloak.audit.overlap import overlaps_sql
from tripcloak.audit.rulebook import BrokenPart, Rulebook
from tripcloak.matrix import ODMatrix
from tripcloak.release import Release

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

AXES = ("origin", "destination", "time")
FLOWS_A_BATCH = 1 << 17
ROWS_A_PASS = 8_000_000
"""Rows of (group, person) counted at once, so that the table of distinct ones stays within the limit."""


def audit_matrix(matrix: ODMatrix, release: Release, *, memory: str = "512MB") -> AuditReport:
    """Return what a recount of the matrix says about a release of it.

    Parameters
    ----------
    matrix, release
        The input flows, and what was made of them.
    memory
        Limit for the recount, such as ``512MB``; what does not fit goes to disk.

    Examples
    --------
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> from tripcloak.release import build_release
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 1]), np.array([1, 1, 1]))
    >>> release = build_release(
    ...     matrix, method="by hand", parameters={}, criterion=KAnonymity(k=2, unit="trips"),
    ...     suppression_limit=0, origin_zone=np.array([2, 2]), destination_zone=np.array([1, 1]),
    ...     suppressed=np.array([False, False]), homogeneous=True,
    ... )
    >>> report = audit_matrix(matrix, release)
    >>> report.safe, report.smallest_support
    (True, {'trips': 3})
    """
    from tripcloak.trips.engine import connect

    with connect(memory) as con:
        case = MatrixCase(matrix, release, con)
        findings = BOOK.judge(case)
        return AuditReport.of(findings, case.smallest_support())


class MatrixCase:
    """A matrix and its release as tables: flows, groups, the trees, and the recount of every group."""

    def __init__(self, matrix: ODMatrix, release: Release, con: duckdb.DuckDBPyConnection) -> None:
        self.matrix = matrix
        self.release = release
        self.con = con
        self._recounted = False

    def load(self, part: str) -> None:
        """Make the tables, or raise what is wrong with the arrays."""
        if not self._recounted:
            self._register()
            self._recount()
            self._recounted = True

    def value(self, query: str) -> Any:
        """Return the first value of a query's first row."""
        rows = self.con.execute(query).fetchall()
        return rows[0][0] if rows else None

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the names of the axes: time is one where the matrix has slots."""
        return AXES[: len(self.matrix.axes)]

    @property
    def numbers(self) -> dict[str, Any]:
        """Return the release's own numbers per group, by unit, where it has them."""
        r = self.release
        told = {"trips": r.trips, "travellers": r.travellers, "population": r.population}
        return {unit: numbers for unit, numbers in told.items() if numbers is not None}

    def smallest_support(self) -> dict[str, float]:
        """Return, per threshold, the support of the smallest released group in the recount."""
        try:
            self.load("recount")
        except BrokenPart:
            return {}
        units = self.release.criterion.thresholds
        found = {unit: self.value(f"select min({unit}) from recount where number >= 0") for unit in units}
        return {str(unit): number for unit, number in found.items() if number is not None}

    def _register(self) -> None:
        import pyarrow as pa

        flows, release = self.matrix.flows, self.release
        columns = {
            "number": release.group_of_flow,
            "origin": flows.origin,
            "destination": flows.destination,
            "time": flows.slot,
            "trips": flows.trips,
            "population": flows.population,
        }
        groups = {
            "number": np.arange(release.n_groups, dtype=np.int32),
            "origin": release.group_origin,
            "destination": release.group_destination,
            **({} if self.matrix.times is None else {"time": release.group_time}),
            **self.numbers,
        }
        self.put("flows", {name: column for name, column in columns.items() if column is not None})
        self.put("groups", groups)
        for axis, (tree, _) in zip(self.axes, self.matrix.axes, strict=True):
            up = pa.array(tree.parent, mask=tree.parent < 0)
            self.con.register(
                f"{axis}_tree", pa.table({"zone": np.arange(len(tree), dtype=np.int32), "parent": up})
            )

    def put(self, table: str, columns: dict[str, Any]) -> None:
        """Make a table of columns of one length."""
        import pyarrow as pa

        if len({len(column) for column in columns.values()}) != 1:
            raise BrokenPart(f"the columns of the {table} differ in length")
        self.con.register(table, pa.table(columns))

    def _recount(self) -> None:
        population = "null" if self.matrix.flows.population is None else "population"
        self.con.execute(
            f"""create temp table volumes as select number, count(*) as flows, sum(trips)::bigint as trips,
            fsum({population}::double) as population from flows group by number"""
        )
        self.con.execute("create temp table people (number integer, travellers bigint)")
        travellers = "volumes.trips"
        if self.matrix.flows.travellers is not None:
            self._count_people()
            travellers = "coalesce(people.travellers, 0)"
        elif not self.matrix.each_trip_is_a_person:
            travellers = "null::bigint"
        self.con.execute(
            f"""create temp table recount as
            select number, flows, trips, population, {travellers} as travellers
            from volumes left join people using (number)"""
        )

    def _count_people(self) -> None:
        travellers = self.matrix.flows.travellers
        assert travellers is not None
        passes = 1 + len(travellers.people) // ROWS_A_PASS
        for turn in range(passes):
            self.con.register("presence", self._presence())
            self.con.execute(
                f"""insert into people select number, count(*) from (
                    select distinct number, person from presence
                    where number >= 0 and number % {passes} = {turn}
                ) group by number"""
            )
            self.con.unregister("presence")

    def _presence(self) -> pa.RecordBatchReader:
        """Return (group, person) of every flow and each of its travellers, as a stream."""
        import pyarrow as pa

        schema = pa.schema({"number": pa.int32(), "person": pa.int32()})

        def batches() -> Iterator[pa.RecordBatch]:
            travellers = self.matrix.flows.travellers
            assert travellers is not None
            for start in range(0, self.matrix.n_flows, FLOWS_A_BATCH):
                edges = travellers.offsets[start : start + FLOWS_A_BATCH + 1]
                group = self.release.group_of_flow[start : start + FLOWS_A_BATCH]
                columns = np.repeat(group, np.diff(edges)), travellers.people[edges[0] : edges[-1]]
                arrays = [pa.array(column, pa.int32()) for column in columns]
                yield pa.record_batch(arrays, schema=schema)

        return pa.RecordBatchReader.from_batches(schema, batches())


BOOK: Rulebook[MatrixCase] = Rulebook()


@BOOK.rule("every-flow-accounted", "recount")
def every_flow_accounted(case: MatrixCase) -> str | None:
    """Every input flow is in one released group or withheld, and no group is empty."""
    groups = case.release.n_groups
    found = case.value(f"select count(*) from recount where number between 0 and {groups - 1}")
    lost = case.value(f"select count(*) from recount where number not between -1 and {groups - 1}")
    return "some flows are in no group, or some groups have no flow" if lost or found != groups else None


@BOOK.rule("every-group-safe", "recount")
def every_group_safe(case: MatrixCase) -> str | None:
    """Every released group reaches every threshold in a recount of the matrix."""
    if not case.release.n_groups:
        return "nothing is released"
    for unit, k in case.release.criterion.thresholds.items():
        short = case.value(
            f"select count(*) from groups left join recount using (number) "
            f"where not coalesce(recount.{unit}, 0) >= {least(unit, k)!r}"
        )
        if short:
            return f"{some(short, 'groups')} hold fewer than {k:g} {unit}"
    return None


@BOOK.rule("flows-match-recount", "recount")
def flows_match_recount(case: MatrixCase) -> str | None:
    """Every number of the release equals the recount of its group, and no pair of zones occurs twice."""
    if case.value(f"select count(*) > count(distinct ({', '.join(case.axes)})) from groups"):
        return "a pair of zones is released twice"
    differ = " or ".join(
        f"not coalesce(abs(groups.{unit} - recount.{unit}) <= {TOLERANCE!r} * recount.{unit}, false)"
        for unit in case.numbers
    )
    wrong = case.value(f"select count(*) from groups left join recount using (number) where {differ}")
    return f"{some(wrong, 'groups')} differ from the recount" if wrong else None


@BOOK.rule("totals-add-up", "recount")
def totals_add_up(case: MatrixCase) -> str | None:
    """Released and withheld volume add up to the matrix's."""
    volume = case.release.volume
    released = float(case.value(f"select coalesce(sum({volume}), 0) from groups"))
    withheld = float(case.value(f"select coalesce(sum({volume}), 0) from recount where number < 0"))
    total = float(case.value(f"select sum({volume}) from flows"))
    if abs(released + withheld - total) > TOLERANCE * total:
        return f"released and withheld {volume} do not add up to the input's"
    return None


@BOOK.rule("suppression-within-limit", "recount")
def suppression_within_limit(case: MatrixCase) -> str | None:
    """The withheld share of the volume is within the limit."""
    volume, limit = case.release.volume, case.release.suppression_limit
    withheld = float(case.value(f"select coalesce(sum({volume}), 0) from recount where number < 0"))
    total = float(case.value(f"select sum({volume}) from flows"))
    return f"more than {limit:.2%} are withheld" if withheld > limit * total * (1 + TOLERANCE) else None


@BOOK.rule("zones-contain-tiles", "recount")
def zones_contain_tiles(case: MatrixCase) -> str | None:
    """Every released zone is an ancestor of the tiles it stands for, or the tile itself."""
    for axis in case.axes:
        pairs = f"select distinct flows.{axis}, groups.{axis} from flows join groups using (number)"
        wrong = case.value(
            f"""with recursive pairs(tile, zone) as ({pairs}), climb(here, zone) as (
                select tile, zone from pairs
                union all
                select tree.parent, climb.zone from climb join {axis}_tree tree on tree.zone = climb.here
                where climb.here <> climb.zone and tree.parent is not null
            )
            select (select count(*) from pairs) - (select count(*) from climb where here = zone)"""
        )
        if wrong:
            return f"{some(wrong, f'{axis} tiles')} were sent to a zone that does not hold them"
    return None


@BOOK.rule("zones-disjoint", "recount")
def zones_disjoint(case: MatrixCase) -> str | None:
    """In a release that promises it, zones of one axis do not overlap and each tile goes to one zone."""
    for axis in case.axes if case.release.homogeneous else ():
        nested = case.value(
            f"""with recursive released as (select distinct {axis} as zone from groups),
            climb(zone, above) as (
                select zone, parent from {axis}_tree join released using (zone) where parent is not null
                union all
                select climb.zone, tree.parent from climb join {axis}_tree tree on tree.zone = climb.above
                where tree.parent is not null
            )
            select count(distinct climb.zone) from climb join released on released.zone = climb.above"""
        )
        if nested:
            return f"{some(nested, f'{axis} zones')} lie inside another released {axis} zone"
    return None


@BOOK.rule("flows-never-overlap", "recount")
def flows_never_overlap(case: MatrixCase) -> str | None:
    """In a release with times, no two flows share a pair of places at the same time."""
    if case.matrix.times is None:
        return None
    case.con.execute("create or replace temp table released as select * from groups")
    for axis in case.axes:
        _lineage(case, axis)
    pairs = case.value(overlaps_sql("released", case.axes, "{axis}_lineage"))
    return f"{some(pairs, 'pairs of released flows')} overlap" if pairs else None


@BOOK.rule("zones-diverse", "recount")
def zones_diverse(case: MatrixCase) -> str | None:
    """Every released zone covers as many different places that occur in the matrix as promised."""
    for what, least_of in case.release.criterion.floors.items():
        for axis in AXES[:2]:
            covered = _places_below(case, axis) if what == "places" else _tiles_below(axis)
            narrow = case.value(
                f"""select count(*) from (select distinct {axis} as zone from groups)
                left join ({covered}) using (zone) where coalesce(n, 0) < {least_of}"""
            )
            if narrow:
                return f"{some(narrow, f'{axis} zones')} cover fewer than {least_of:,} {what} that occur"
    return None


def _tiles_below(axis: str) -> str:
    """Return SQL for the number of tiles with flows below every zone."""
    return f"""with recursive climb(tile, here) as (
            select distinct {axis}, {axis} from flows
            union all
            select climb.tile, tree.parent from climb join {axis}_tree tree on tree.zone = climb.here
            where tree.parent is not null
        )
        select here as zone, count(distinct tile) as n from climb group by here"""


def _places_below(case: MatrixCase, axis: str) -> str:
    """Return SQL for the number of places below every zone; the matrix knows no more of them than that."""
    covered = case.matrix.covers("places")[AXES.index(axis)]
    case.put(f"{axis}_places", {"zone": np.arange(len(covered), dtype=np.int32), "n": covered})
    return f"select zone, n from {axis}_places"


@BOOK.rule("destinations-close", "recount")
def destinations_close(case: MatrixCase) -> str | None:
    """The destinations of every released origin zone are as close to those of all as promised."""
    closeness, volume = case.release.closeness, case.release.volume
    if closeness is None:
        return None
    zones = case.release.destinations
    case.put("sizes", {"zone": np.arange(len(zones), dtype=np.int32), "tiles": zones.tiles.astype(float)})
    far = case.value(
        too_far_sql(
            f"select origin, destination, round_even({volume}::double, 0) as volume from groups",
            lineage=_lineage(case, "destination"),
            sizes="select * from sizes",
            t=closeness.t,
        )
    )
    return f"the destinations of {some(far, 'origin zones')} give away more than promised" if far else None


def _lineage(case: MatrixCase, axis: str) -> str:
    """Make a table (zone, above) of an axis: every released zone with itself and those that hold it."""
    case.con.execute(
        f"""create or replace temp table {axis}_lineage as
        with recursive zones as (select distinct {axis} as zone from groups),
        climb(zone, above) as (
            select zone, zone from zones
            union all
            select climb.zone, tree.parent from climb join {axis}_tree tree on tree.zone = climb.above
            where tree.parent is not null
        )
        select climb.zone, climb.above from climb join zones on zones.zone = climb.above"""
    )
    return f"{axis}_lineage"
