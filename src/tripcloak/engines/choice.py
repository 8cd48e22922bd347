"""Engine: where flows are counted, chosen from the size of the input and the memory that may be used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from tripcloak.engines.mapped import MappedColumns
from tripcloak.engines.work import Stage
from tripcloak.ground.errors import InputError
from tripcloak.ground.memory import Budget
from tripcloak.ground.spelling import spelt

EngineName: TypeAlias = Literal["arrays", "parts", "spark"]
ON_CLUSTER = "spark"
"""The engine that is not of one machine."""
Kept: TypeAlias = Literal["arrays", "parts"]
"""Where one machine keeps flows: those that Spark counts as well, once they come to the driver."""

ARRAY_BYTES = 200
"""Bytes a trip that arrays in memory take at their peak, measured on 10 million with ids and weights."""
PART_BYTES = 90
"""Bytes a trip that rows in codes and parts of flows take on disk together."""
ROWS, FLOWS = "rows", "rows/flows"
"""Stages of a run. The flows lie in the rows that they were counted from, and go with them."""
MANY = 5_000_000
"""Rows from which on it is said before the start what they will take."""
SPARE = 0.85
"""Share of the memory at which mapped columns are let go, so that what comes next finds room."""


def expected_rows(files: Iterable[Path]) -> int | None:
    """Return how many rows files hold, where they say so themselves; None where they must be read."""
    from pyarrow import ArrowException, parquet

    rows = 0
    for file in files:
        if file.suffix not in (".parquet", ".pq"):
            return None
        try:
            rows += parquet.read_metadata(file).num_rows
        except (OSError, ArrowException):
            # Reading it will say what is wrong.
            return None
    return rows


@dataclass(frozen=True)
class Engine:
    """Who counts: ``arrays`` in memory, ``parts`` on disk, counted one by one and mapped, or ``spark``.

    All make the same release, byte for byte.

    Parameters
    ----------
    asked
        What was asked for; by default arrays while they fit the memory, and parts beyond that.
    budget
        The memory that may be used.
    folder
        Where parts wait; by default where all waits.
    stages
        The folder of a run that may be taken up again, where it is one.
    master
        Where Spark runs.

    Examples
    --------
    >>> engine = Engine(None, Budget(10**9))
    >>> engine.for_rows(10**6), engine.for_rows(10**7)
    ('arrays', 'parts')
    """

    asked: str | None
    budget: Budget
    folder: Path | None = None
    stages: Path | None = None
    master: str | None = None

    def __post_init__(self) -> None:
        if self.asked is not None and self.asked not in get_args(EngineName):
            raise InputError(
                f"there is no engine {self.asked!r}; there are: {', '.join(get_args(EngineName))} "
                f"({spelt('engine')})"
            )
        if self.master is not None and not self.on_cluster:
            raise InputError(f"{spelt('master')} is for {spelt('engine', 'spark')}; give both or none")

    @property
    def on_cluster(self) -> bool:
        """Return whether Spark reads and counts."""
        return self.asked == ON_CLUSTER

    def for_rows(self, rows: int) -> Kept:
        """Return where one machine keeps the flows of an input of so many rows."""
        if self.asked is not None and not self.on_cluster:
            return "arrays" if self.asked == "arrays" else "parts"
        return "arrays" if rows * ARRAY_BYTES <= self.budget.total else "parts"

    def columns(self, rows: int) -> MappedColumns | None:
        """Return where flows of so many rows are kept; None for memory."""
        if self.for_rows(rows) == "arrays":
            return None
        memory = int(SPARE * self.budget.total)
        return MappedColumns(memory=memory, folder=self.folder, kept=self.stage(FLOWS))

    def stage(self, name: str) -> Stage | None:
        """Return a stage of the run, where it may be taken up again; what Spark reads and counts is not."""
        return None if self.stages is None or self.on_cluster else Stage(self.stages / name)

    def words(self, rows: int) -> str:
        """Return what an input of so many rows will take, in words.

        >>> print(Engine(None, Budget(10**9)).words(20_000_000))
        20,000,000 rows take about 4 GB as arrays, more than the 1 GB allowed: they are counted in parts, \
        which take about 1.8 GB on disk for a while
        >>> print(Engine("spark", Budget(10**9)).words(20_000_000))
        20,000,000 rows are counted on Spark; their flows take about 1.8 GB of disk of the driver
        """
        memory, disk, allowed = (
            f"{size / 1e9:.2g} GB" for size in (rows * ARRAY_BYTES, rows * PART_BYTES, self.budget.total)
        )
        if self.on_cluster:
            where = f"{memory} of memory" if self.for_rows(rows) == "arrays" else f"{disk} of disk"
            return f"{rows:,} rows are counted on Spark; their flows take about {where} of the driver"
        if self.for_rows(rows) == "arrays":
            return f"{rows:,} rows take about {memory} as arrays, of the {allowed} allowed"
        why = f", more than the {allowed} allowed" if rows * ARRAY_BYTES > self.budget.total else ""
        return (
            f"{rows:,} rows take about {memory} as arrays{why}: they are counted in parts, which take about "
            f"{disk} on disk for a while"
        )
