"""What tests of reading share: an input as it came out of the view, and the types of their fixtures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import duckdb

from tripcloak.records.cleaning import REASONS, CleaningReport
from tripcloak.records.trips import Canonical, clean


@dataclass(frozen=True)
class Read:
    """What came out of an input."""

    canonical: Canonical
    con: duckdb.DuckDBPyConnection

    @property
    def report(self) -> CleaningReport:
        return clean(self.canonical)

    def rows(self, columns: str = "*", *, kept: bool = True) -> list[tuple[Any, ...]]:
        """Return rows of the view in a fixed order, the kept ones only unless told otherwise."""
        condition = "WHERE reason = 0" if kept else ""
        return self.con.execute(f"SELECT {columns} FROM canonical {condition} ORDER BY ALL").fetchall()

    def by_reason(self) -> dict[str, int]:
        """Return the rows of the view by the name of their reason."""
        names = {0: "kept"} | {reason.number: reason.name for reason in REASONS}
        rows = self.con.execute("SELECT reason, count(*) FROM canonical GROUP BY reason").fetchall()
        return {names[number]: n for number, n in rows}


class ReadPaths(Protocol):
    def __call__(self, *paths: Path | str, **options: Any) -> Read: ...


class WriteText(Protocol):
    def __call__(self, name: str, text: str) -> Path: ...


class WriteParquet(Protocol):
    def __call__(self, name: str, columns: Mapping[str, Any]) -> Path: ...
