"""The matrix and its release as tables of one connection, and the recount of every group."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.flows.audit.grids import grid_of
from tripcloak.flows.audit.promise import StatedParts, read_stated
from tripcloak.flows.model import ODMatrix, PeopleElsewhere
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.rulebook import BrokenPart, Rulebook
from tripcloak.hierarchy import BoxZones

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


AXES = ("origin", "destination", "time")
FLOWS_A_BATCH = 1 << 17
ROWS_A_PASS = 8_000_000
"""Rows of (group, person) counted at once, so that the table of distinct ones stays within the limit."""


class Form(Enum):
    """What released zones are: rows of the tree, boxes, or zones of a grid that are known by name."""

    TREE = "tree"
    BOXES = "boxes"
    NAMES = "names"
    UNKNOWN = "unknown"


class MatrixCase:
    """A matrix and its release as tables: flows, groups, and the recount of every group."""

    def __init__(self, matrix: ODMatrix, release: Release, con: duckdb.DuckDBPyConnection) -> None:
        self.matrix = matrix
        self.release = release
        self.con = con
        self.extents: dict[str, Floats] = {}
        self._recounted = False

    def load(self, part: str) -> None:
        """Make the tables, or raise what is wrong with the arrays."""
        if not self._recounted:
            self._register()
            self._recount()
            self._recounted = True

    def value(self, query: str) -> Any:
        """Return the first value of a query's first row."""
        for value, *_ in self.con.execute(query).fetchall():
            return value
        return None

    @cached_property
    def promise(self) -> StatedParts:
        """Return what is promised, as the manifest will state it: the promise's own code decides nothing."""
        return read_stated(self.release.promise.to_manifest(), self.axes)

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the names of the axes: time is one where the matrix has slots."""
        return AXES[: len(self.matrix.axes)]

    def form(self, axis: str) -> Form:
        """Return what the released zones of an axis are, which decides how they are read."""
        _, zones, _ = self.release.axes[AXES.index(axis)]
        tree, _ = self.matrix.axes[AXES.index(axis)]
        if isinstance(zones, BoxZones):
            return Form.BOXES
        if zones is tree.zones or np.array_equal(zones.ids, tree.zones.ids):
            return Form.TREE
        return Form.UNKNOWN if grid_of(tree.name) is None else Form.NAMES

    @property
    def in_trees(self) -> bool:
        """Return whether the released zones of all axes are those of the hierarchies."""
        return all(self.form(axis) is Form.TREE for axis in self.axes)

    @property
    def numbers(self) -> dict[str, Any]:
        """Return the release's own numbers per group, by unit, where it has them."""
        r = self.release
        told = {"trips": r.trips, "travellers": r.travellers, "population": r.population}
        return {unit: numbers for unit, numbers in told.items() if numbers is not None}

    def _register(self) -> None:
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
        elsewhere = self.matrix.parts
        if isinstance(elsewhere, PeopleElsewhere):
            groups = self.release.group_of_flow
            for counted in elsewhere.people_by_number(groups, different_people):
                self._add_people(*counted)
            return
        for turn, turns in self.passes():
            self._add_people(*different_people(*self._people_in(turn, turns)))

    def _add_people(self, number: Ints, travellers: Ints) -> None:
        """Add how many different people some groups have to the table of them."""
        self.con.register("counted", _table(number=number, travellers=travellers))
        self.con.execute("insert into people select number, travellers from counted")
        self.con.unregister("counted")

    def _people_in(self, turn: int, turns: int) -> tuple[Ints, Ints]:
        """Return (group, person) of all flows of the groups of a turn and each of their travellers."""
        travellers = self.matrix.flows.travellers
        assert travellers is not None
        numbers, people = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for start in range(0, self.matrix.n_flows, FLOWS_A_BATCH):
            group = self.release.group_of_flow[start : start + FLOWS_A_BATCH]
            flows = np.flatnonzero((group >= 0) & (group % turns == turn))
            first = travellers.offsets[start + flows]
            sizes = travellers.offsets[start + flows + 1] - first
            numbers.append(np.repeat(group[flows], sizes))
            before = np.cumsum(sizes) - sizes
            people.append(travellers.people[np.repeat(first - before, sizes) + np.arange(sizes.sum())])
        return np.concatenate(numbers), np.concatenate(people)

    def passes(self) -> list[tuple[int, int]]:
        """Return (turn, turns) of the passes in which people are counted."""
        assert self.matrix.flows.travellers is not None
        turns = 1 + len(self.matrix.flows.travellers.people) // ROWS_A_PASS
        return [(turn, turns) for turn in range(turns)]

    def presence(self) -> pa.RecordBatchReader:
        """Return (group, person) of every flow and each of its travellers, as a stream."""
        return self._stream({})

    def parts(self, volume: str) -> pa.RecordBatchReader:
        """Return (group, person, part) likewise, with what each traveller has of the flow's volume."""
        flows = self.matrix.flows
        part = flows.repeats if volume == "trips" else flows.weights
        if part is None or flows.travellers is None:
            raise BrokenPart(f"the matrix does not tell what each traveller has of a flow's {volume}")
        return self._stream({"part": part.astype(np.int64) if volume == "trips" else part})

    def _stream(self, more: dict[str, Any]) -> pa.RecordBatchReader:
        """Return (group, person) and more of every flow and each of its travellers, as a stream."""
        import pyarrow as pa

        kinds = {name: pa.from_numpy_dtype(column.dtype) for name, column in more.items()}
        schema = pa.schema({"number": pa.int32(), "person": pa.int32(), **kinds})

        def batches() -> Iterator[pa.RecordBatch]:
            travellers = self.matrix.flows.travellers
            assert travellers is not None
            for start in range(0, self.matrix.n_flows, FLOWS_A_BATCH):
                edges = travellers.offsets[start : start + FLOWS_A_BATCH + 1]
                group = self.release.group_of_flow[start : start + FLOWS_A_BATCH]
                own = slice(edges[0], edges[-1])
                columns = (
                    np.repeat(group, np.diff(edges)),
                    travellers.people[own],
                    *(column[own] for column in more.values()),
                )
                arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
                yield pa.record_batch(arrays, schema=schema)

        return pa.RecordBatchReader.from_batches(schema, batches())


def _table(**columns: Any) -> pa.Table:
    import pyarrow as pa

    return pa.table(columns)


def different_people(number: Ints, person: Ints) -> tuple[Ints, Ints]:
    """Return each number once, and how many different people stand beside it; runs where they are.

    >>> different_people(np.array([7, 7, 7, 9]), np.array([1, 2, 1, 2]))
    (array([7, 9]), array([2, 1]))
    """
    if not len(number):
        return number.astype(np.int64), np.empty(0, np.int64)
    if min(number.min(), person.min()) >= 0 and max(number.max(), person.max()) < 2**31:
        # One number for both sorts in a tenth of the time; those of a cluster may be too long for it.
        keys = np.sort(number.astype(np.int64) << 32 | person)
        number = keys[np.append(True, keys[1:] != keys[:-1])] >> 32
    else:
        order = np.lexsort((person, number))
        number, person = number[order], person[order]
        first = np.append(True, (number[1:] != number[:-1]) | (person[1:] != person[:-1]))
        number = number[first]
    starts = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
    return number[starts], np.diff(np.append(starts, len(number)))


BOOK: Rulebook[MatrixCase] = Rulebook()
