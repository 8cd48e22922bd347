"""One row of the bench's table."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """What was measured, and what it must not exceed (or, with ``at_least``, fall below)."""

    what: str
    measured: float
    limit: float
    unit: str
    peak_mb: float | None = None
    remark: str = ""
    at_least: bool = False

    @property
    def ok(self) -> bool:
        """Return whether the limit holds."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def __str__(self) -> str:
        memory = "" if self.peak_mb is None else f"{self.peak_mb:,.0f}"
        verdict = "ok" if self.ok else "MISSED"
        bound = "at least " if self.at_least else ""
        limit = "" if math.isinf(self.limit) else f"{bound}{self.limit:g} {self.unit}"
        measured = f"{self.measured:,.2f} {self.unit}"
        return f"| {self.what} | {measured} | {limit} | {memory} | {verdict} | {self.remark} |"


@dataclass(frozen=True)
class Skipped:
    """Something that could not be measured here, and why; it misses no limit."""

    what: str
    reason: str
    ok: bool = True

    def __str__(self) -> str:
        return f"| {self.what} | not measured | | | | {self.reason} |"
