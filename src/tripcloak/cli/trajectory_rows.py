"""The rows of a comparison on trajectories, as tables for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tripcloak.cli.screen import number, table

if TYPE_CHECKING:
    from rich.table import Table

    from tripcloak.comparing.trajectories import TrajectoryRow

ABREAST = 4
"""Methods in one table: a terminal is not wide enough for more."""
COMPARED = (
    "method",
    "CPU s",
    "seconds",
    "memory, MB",
    "space error, km",
    "time error, min",
    "created",
    "deleted",
    "places apart",
    "distances apart",
    "moves apart",
    "promise",
    "smallest support",
    "guessed, of 100",
    "audit",
)


def as_tables(title: str, rows: Sequence[TrajectoryRow]) -> Iterator[Table]:
    """Yield tables with one column a method, a few methods each."""
    for start in range(0, len(rows), ABREAST):
        head, *lines = zip(COMPARED, *map(cells, rows[start : start + ABREAST]), strict=True)
        yield table(title, head, lines)


def as_markdown(rows: Sequence[TrajectoryRow]) -> str:
    """Return one table with a line a method."""
    lines = [COMPARED, (":--", *["--:"] * (len(COMPARED) - 1)), *map(cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells(row: TrajectoryRow) -> tuple[str, ...]:
    """Return what is told of a method, in the order of the names above."""
    from tripcloak.promises import Promise

    alike = row.places_apart, row.distances_apart, row.moves_apart
    return (
        row.method,
        *_told((row.cpu_seconds, row.seconds, row.memory_mb), ",.1f"),
        *_told((row.spatial_km, row.time_minutes), ",.3f"),
        *_told((row.created, row.deleted), ".1%"),
        *_told(alike, ".3f"),
        row.promise or "-",
        number(row.smallest_support),
        "-" if row.guessed is None else str(row.guessed),
        Promise.of_kind(row.promise).held if row.safe and row.promise else "NOT SAFE",
    )


def _told(values: Sequence[float | None], form: str) -> list[str]:
    return ["-" if value is None else format(value, form) for value in values]
