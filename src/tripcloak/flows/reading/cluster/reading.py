"""The first step on a cluster: every task reads some rows, and cleans and codes them as one machine does."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from errno import ENOENT
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tripcloak.engines.spark import task_folder
from tripcloak.engines.spool import Spool
from tripcloak.flows.reading.cluster.seen import Seen
from tripcloak.flows.reading.coding import BATCH, GatheredTrips, row_columns, selected_columns
from tripcloak.ground.arrays import Ints
from tripcloak.ground.engine import close_to_files, connect, plain_errors
from tripcloak.ground.errors import InputError, TripcloakError
from tripcloak.ground.exact_files import exact_path
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Slots
from tripcloak.hierarchy.tiling import Tiling
from tripcloak.records.area import open_area
from tripcloak.records.cleaning import REASONS
from tripcloak.records.files.distant import bring_one, is_distant
from tripcloak.records.files.encodings import object_to_encoding
from tripcloak.records.files.frames import Frame
from tripcloak.records.files.tables import Table, literal
from tripcloak.records.opening import Rows, rejected_lines
from tripcloak.records.segments import Segment, number_sql
from tripcloak.records.source import TripSource
from tripcloak.records.stations import open_stations
from tripcloak.records.trips import Canonical

if TYPE_CHECKING:
    import duckdb

TASK_ROWS = 1_000_000
"""Rows that a task reads, about; row groups of Parquet are never cut."""
MEMORY = "1GB"
"""What the SQL engine of a task may use."""
NO_ID = np.uint64(2**64 - 1)
"""In place of the hash of a person, where a row has none."""


@dataclass(frozen=True)
class ReadTask:
    """Rows of one file: which of all files, its name, the table it is of, and SQL of its rows, cleaned."""

    file: int
    name: str
    table: Table = field(repr=False)
    sql: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class CodingPlan:
    """All that a task must know beside its rows; the same for all tasks."""

    canonical: Canonical
    source: TripSource
    tiling: Tiling
    slots: Slots | None
    outside: int
    encoding_said: bool
    segments: tuple[Segment, ...] = ()
    """Those that rows are told to be in."""

    @property
    def columns(self) -> dict[str, Any]:
        """Return the columns of a row in codes, and their types."""
        columns = row_columns(self.canonical) | ({} if self.slots is None else {"slot": np.int64})
        return columns | ({"segment": np.int32} if self.segments else {})

    @property
    def selected(self) -> list[str]:
        """Return the SQL columns that make those."""
        columns = selected_columns(self.canonical, self.slots)
        return columns + ([f"{number_sql(self.segments)} as segment"] if self.segments else [])

    @property
    def files(self) -> int:
        """Return how many files are counted apart."""
        return self.canonical.files if self.canonical.has_file else 1

    def gatherer(self) -> GatheredTrips:
        """Return what takes rows, in memory."""
        spool = Spool(self.columns, memory=1 << 40)
        return GatheredTrips(self.canonical, self.tiling, spool, self.slots, self.outside)

    def nothing(self) -> Seen:
        """Return what is seen of no rows."""
        return Seen(
            tally=np.zeros((self.files, len(REASONS) + 1), np.int64),
            broken=np.zeros(self.canonical.files, np.int64),
        )


def plan_reading(
    canonical: Canonical,
    source: TripSource,
    tiling: Tiling,
    slots: Slots | None,
    outside: int,
    segments: Sequence[Segment] = (),
) -> tuple[CodingPlan, list[ReadTask]]:
    """Return what tasks must know, and the tasks that read an input together, or raise where they cannot."""
    _refuse_what_needs_one_machine(canonical, source)
    rows = canonical.opened
    # A connection stays where it is, and notes are made once.
    alone = replace(canonical, opened=cast(Rows, None), notes=[])
    plan = CodingPlan(
        canonical=alone,
        source=source,
        tiling=tiling,
        slots=slots,
        outside=outside,
        encoding_said=rows.encoding_said,
        segments=tuple(segments),
    )
    names, tasks = rows.file_names, []
    of_place = [(table, path) for table in rows.tables for path in table.files]
    for place, (table, file) in enumerate(of_place):
        bare = replace(table.only(file), scan="", probe="")
        for some in _row_ranges(canonical.connection, table, file, source):
            tasks.append(ReadTask(place, names[place], bare, canonical.of_file(place, source, some)))
    return plan, tasks


def _refuse_what_needs_one_machine(canonical: Canonical, source: TripSource) -> None:
    instead = f"leave out {spelt('engine', 'spark')}"
    if any(isinstance(one, Frame) for one in source.paths):
        raise InputError(
            f"a cluster reads files, and not tables in memory; write it to Parquet, or {instead}"
        )
    if canonical.form == "points":
        raise InputError(f"GPS fixes are put in order on one machine; make trips of them first, or {instead}")
    if source.sample is not None:
        raise InputError(f"a sample is drawn on one machine; {instead}")


def _row_ranges(
    con: duckdb.DuckDBPyConnection, table: Table, file: str, source: TripSource
) -> Sequence[tuple[int, int] | None]:
    """Return the rows of each task that reads a file: whole row groups of Parquet; else all at once."""
    if table.rejects is not None or source.stations is not None:
        return [None]
    with plain_errors(Path(file).name, has_condition=False):
        groups = con.execute(
            "SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata(?) ORDER BY row_group_id",
            [file],
        ).fetchall()
    edges, last = [0], 0
    for _, rows in groups:
        last += int(rows)
        if last - edges[-1] >= TASK_ROWS:
            edges.append(last)
    if last > edges[-1]:
        edges.append(last)
    return list(pairwise(edges))


def read_rows(plan: CodingPlan, tasks: Iterator[ReadTask]) -> Iterator[tuple[Seen, bytes]]:
    """Yield rows in codes, pickled, each time with what was seen of them; runs on the cluster.

    What is wrong with the input is yielded as well, and not raised: Spark would try again in vain.
    """
    for task in tasks:
        wrong = None
        try:
            yield from _read(plan, task)
        except TripcloakError as error:
            wrong = str(error)
        except FileNotFoundError:
            wrong = f"{task.name}: not every machine of the cluster sees this file; put it where all do"
        if wrong is not None:
            yield replace(plan.nothing(), failed=(wrong,)), b""


def _at_hand(con: duckdb.DuckDBPyConnection, task: ReadTask) -> ReadTask:
    """Return a task whose file this machine sees; a copy that another one made is made here as well."""
    file, address = task.table.files[0], task.table.paths[0]
    if Path(file).exists():
        return task
    folder = task_folder()
    if folder is None or not is_distant(address):
        raise FileNotFoundError(ENOENT, "no such file on this machine")
    here = exact_path(con, bring_one(address, folder))
    return replace(
        task, table=replace(task.table, files=(here,)), sql=task.sql.replace(literal(file), literal(here))
    )


def _read(plan: CodingPlan, task: ReadTask) -> Iterator[tuple[Seen, bytes]]:
    with connect(MEMORY, task_folder(), threads=1) as con, plain_errors(task.name):
        task = _at_hand(con, task)
        con.execute("SET preserve_insertion_order = true")
        open_area(con, None, plan.source.polygon)
        if plan.source.stations is not None:
            open_stations(con, plan.source.stations)
        if plan.source.where is not None:
            close_to_files(con, task.table.files)
        wanted = ", ".join(plan.selected)
        gathered = plan.gatherer()
        for batch in con.sql(f"select {wanted} from ({task.sql})").to_arrow_reader(BATCH):
            gathered.add(batch)
            if len(gathered.spool) >= 2 * TASK_ROWS:
                yield _coded(plan, gathered, plan.nothing().broken)
                gathered = plan.gatherer()
        broken = plan.nothing().broken
        if task.table.rejects is not None:
            if not plan.encoding_said:
                object_to_encoding(con, [task.table.rejects])
            broken[task.file] = rejected_lines(con, task.table)[0]
        yield _coded(plan, gathered, broken)


def _coded(plan: CodingPlan, gathered: GatheredTrips, broken: Ints) -> tuple[Seen, bytes]:
    """Return what was seen of rows, and the rows: tiles by number with the keys of these, people by hash."""
    columns = {name: gathered.spool.column(name) for name in gathered.spool.names}
    if "person" in columns:
        number = columns["person"]
        columns["person"] = np.where(number < 0, NO_ID, np.append(gathered.people.keys, NO_ID)[number])
    columns["origin_keys"] = gathered.origins.keys
    columns["destination_keys"] = gathered.destinations.keys
    return Seen.of(gathered, broken), pickle.dumps(columns, protocol=5)
