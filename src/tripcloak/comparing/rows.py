"""Rows of a comparison: what came of one method at one k and one limit, and what that cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tripcloak.flows.methods import FlowMethod
from tripcloak.promises import KAnonymity, Promise

Made = TypeVar("Made")


class Cost(NamedTuple):
    """What it took to get from the input to the release."""

    cpu_s: float
    wall_s: float
    peak_mb: float | None


def timed(work: Callable[[], Made]) -> tuple[Made, Cost]:
    """Return what a piece of work returns, and what it took; memory is what it held beyond what was there.

    >>> made, cost = timed(lambda: 6 * 7)
    >>> made, cost.wall_s < 1
    (42, True)
    """
    # Linux forgets the highest mark so far when asked to; where it may not, the mark of the start stays.
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _memory("VmRSS")
    wall, cpu = time.perf_counter(), time.process_time()
    made = work()
    spent = time.process_time() - cpu, time.perf_counter() - wall
    highest = _memory("VmHWM")
    peak = None if before is None or highest is None else max(highest - before, 0.0)
    return made, Cost(*spent, peak)


def _memory(name: str) -> float | None:
    """Return one of the kernel's figures on this process, in MB; None where the kernel has none."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024 / 1e6
    return None


MEASURES = (
    *("S", "G", "G_observed", "E", "D", "C_DM", "C_AVG", "GDM_mean", "GDM_median", "GDM_std"),
    *("CPC", "trip_length_emd_km", "top_flow_agreement"),
)
"""The measures of a row, by their symbols, in the order of tables."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One method to run, with the k and the limit that it is given."""

    method: FlowMethod
    k: float
    unit: str
    limit: float

    @property
    def asked(self) -> dict[str, Any]:
        """Return what every row of this trial says, whatever comes of it."""
        return {"method": self.method.name, "k": self.k, "unit": self.unit, "limit": self.limit}


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """What came of a trial; for the eyes of the data owner, not for publishing.

    Attributes
    ----------
    k, limit : float, optional
        What was asked for; None where the method heeds neither, as with noise.
    reason : str, optional
        Why there is no release, in words; None where there is one.
    promise : str
        The kind of promise that stands behind the release: k-anonymity, k^m-anonymity or differential
        privacy.
    shared : bool, optional
        Whether all flows share one set of zones per axis that never overlap.
    measures : mapping
        Measures of the release by their symbols; None where one does not exist.
    smallest, people : optional
        The smallest number of people behind a released flow, and what they are: travellers where the
        input tells them apart, trips otherwise.
    safe : bool, optional
        What the audit says; None where it has nothing to judge, as with noisy numbers.
    broken : tuple of str
        The rules of the audit that do not hold.
    cpu_s, wall_s, peak_mb : float, optional
        From the matrix to the release: processor and clock seconds, and memory beyond the matrix.
    bound, gap, relaxation : optional
        A proven lower bound on the loss, how far above it the release is, in percent, and of what.
    note : str, optional
        Something a reader of the row should know.
    """

    method: str
    k: float | None
    unit: str
    limit: float | None
    reason: str | None = None
    promise: str = KAnonymity.kind
    epsilon: float | None = None
    groups: int | None = None
    origins: int | None = None
    destinations: int | None = None
    shared: bool | None = None
    measures: Mapping[str, float | None] = field(default_factory=dict)
    smallest: float | None = None
    people: str | None = None
    safe: bool | None = None
    broken: tuple[str, ...] = ()
    cpu_s: float | None = None
    wall_s: float | None = None
    peak_mb: float | None = None
    bound: float | None = None
    gap: float | None = None
    relaxation: str | None = None
    note: str | None = None

    @property
    def ran(self) -> bool:
        """Return whether there is a release."""
        return self.reason is None

    @property
    def promised(self) -> type[Promise]:
        """Return what stands behind the release, to be asked."""
        return Promise.of_kind(self.promise)

    @property
    def audit(self) -> str | None:
        """Return what the audit says, in a word."""
        if not self.ran:
            return None
        if self.safe is None:
            return "not judged"
        return "safe" if self.safe else "NOT SAFE"

    def record(self) -> dict[str, Any]:
        """Return plain values under the names that the files use, always the same ones in the same order.

        >>> row = ComparisonRow(method="twincut", k=10, unit="travellers", limit=0.1, reason="took too long")
        >>> {name: value for name, value in row.record().items() if value is not None}
        {'method': 'twincut', 'k': 10, 'unit': 'travellers', 'suppression_limit': 0.1, 'ran': False,
         'reason': 'took too long'}
        """
        known = {name: self.measures.get(name) for name in MEASURES}
        return {
            "method": self.method,
            "k": self.k,
            "unit": self.unit,
            "suppression_limit": self.limit,
            "ran": self.ran,
            "reason": self.reason,
            "promise": self.promise if self.ran else None,
            "epsilon": self.epsilon,
            "groups": self.groups,
            "origin_zones": self.origins,
            "destination_zones": self.destinations,
            "shared_zones": self.shared,
            **known,
            "smallest_group": self.smallest,
            "smallest_group_unit": self.people,
            "audit": self.audit,
            "broken_rules": ", ".join(self.broken) or None,
            "cpu_s": self.cpu_s,
            "wall_s": self.wall_s,
            "peak_memory_mb": self.peak_mb,
            "bound": self.bound,
            "bound_gap_percent": self.gap,
            "bound_of": self.relaxation,
            "note": self.note,
        }
