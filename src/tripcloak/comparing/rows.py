"""Rows of a comparison: what came of one method at one k and one limit, and the columns that tell it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from tripcloak.flows.methods import FlowMethod
from tripcloak.promises import DifferentialPrivacy, KAnonymity, KMAnonymity, Promise

Form = Literal["text", "whole", "share", "figure", "metres", "seconds", "megabytes", "percent", "yes"]


Record = Mapping[str, Any]
"""One row of a comparison, by the names that its files use."""


class Advice(NamedTuple):
    """What to use at one k and one limit: the method (None if there is none), in words, and the reasons."""

    k: float
    limit: float | None
    method: str | None
    headline: str
    words: Sequence[str]


class ComparisonColumn(NamedTuple):
    """One column: its key in the records, its short name, its meaning, and the form of its values."""

    key: str
    name: str
    words: str
    form: Form
    better: Literal["lower", "higher", None] = None


ASKED = (
    ComparisonColumn("method", "method", "what made the release", "text"),
    ComparisonColumn("k", "k", "the smallest support of a released flow that was asked for", "whole"),
    ComparisonColumn("suppression_limit", "limit", "the share of the volume that may be withheld", "share"),
)
LOSS = (
    ComparisonColumn("S", "S", "share of the volume that is withheld", "share", "lower"),
    ComparisonColumn("G", "G", "tiles in the two zones of a released trip, on average", "figure", "lower"),
    ComparisonColumn(
        "G_observed", "G obs.", "the same, only tiles that occur in the input", "figure", "lower"
    ),
    ComparisonColumn(
        "GDM_mean", "GDM m", "metres from the true to the released place, mean", "metres", "lower"
    ),
    ComparisonColumn("GDM_median", "median", "the same, median", "metres", "lower"),
    ComparisonColumn(
        "CPC", "CPC", "share that the rebuilt and the true matrix have in common", "figure", "higher"
    ),
    ComparisonColumn("CPC_shares", "CPC sh.", "the same of shares, whatever the totals", "figure", "higher"),
    ComparisonColumn(
        "E", "E", "volume on the wrong pair of tiles; never rank by it alone", "figure", "lower"
    ),
    ComparisonColumn("D", "D", "the same between distributions", "figure", "lower"),
    ComparisonColumn("C_AVG", "C_AVG", "average group in multiples of k", "figure", "lower"),
    ComparisonColumn(
        "C_DM", "C_DM", "discernability: each trip is charged the size of its group", "figure", "lower"
    ),
)
RELEASE = (
    ComparisonColumn("groups", "flows", "released flows (groups of input flows)", "whole"),
    ComparisonColumn("origin_zones", "origins", "different origin zones", "whole"),
    ComparisonColumn("destination_zones", "dest.", "different destination zones", "whole"),
    ComparisonColumn("shared_zones", "shared", "all flows share one set of zones that never overlap", "yes"),
    ComparisonColumn(
        "smallest_group",
        "smallest",
        "what is behind the smallest released flow: ids, else trips",
        "whole",
    ),
    ComparisonColumn("audit", "audit", "what a recount by other code says", "text"),
    ComparisonColumn("promise", "promise", "what protects those who are counted", "text"),
    ComparisonColumn("bound_gap_percent", "gap", "proven distance from the best of its kind", "percent"),
    ComparisonColumn("cpu_s", "CPU s", "processor seconds from matrix to release", "seconds", "lower"),
    ComparisonColumn(
        "wall_s", "s", "clock seconds, with other methods running beside it", "seconds", "lower"
    ),
    ComparisonColumn("peak_memory_mb", "MB", "memory at its peak, beyond the matrix", "megabytes", "lower"),
)

COMPARED = (KAnonymity, KMAnonymity, DifferentialPrivacy)
PROMISES = {promise.kind: promise.meaning for promise in COMPARED}
SHORT = {**{promise.kind: promise.brief for promise in COMPARED}, "not judged": "-"}
"""What tables write, where there is little room."""
OVERLAP = (
    "Where zones are not shared, each origin has destination zones of its own, or each flow a box of its "
    "own: finer, but zones of different flows overlap and cannot be added up."
)
INTERNAL = "Internal, not for publication: these measures are computed from data that is not released."


def asked_columns(records: Sequence[Mapping[str, Any]]) -> tuple[ComparisonColumn, ...]:
    """Return the columns that tell rows apart: the method, and k and the limit where they differ."""
    varying = [
        column
        for column in ASKED[1:]
        if len({record[column.key] for record in records if record[column.key] is not None}) > 1
    ]
    return ASKED[0], *varying


def full_name(record: Record, records: Sequence[Record]) -> str:
    """Return a row's method, with its k and limit where rows differ in them.

    >>> rows = [{"method": "oigh", "k": k, "suppression_limit": 0.1} for k in (5, 10)]
    >>> full_name(rows[1], rows)
    'oigh, k 10'
    """
    told = [
        f"{column.name} {written(column, record[column.key])}"
        for column in asked_columns(records)[1:]
        if record[column.key] is not None
    ]
    return ", ".join([record["method"], *told])


def written(column: ComparisonColumn, value: Any) -> str:
    """Return a value as people read it.

    >>> by_key = {column.key: column for column in (*LOSS, *RELEASE)}
    >>> written(by_key["S"], 0.09999), written(by_key["G"], 77.4187), written(by_key["G"], 11313.4)
    ('10.0 %', '77.4', '11,313')
    >>> written(by_key["C_DM"], 21_598_922_167), written(by_key["shared_zones"], False)
    ('2.16e10', 'no')
    >>> written(by_key["GDM_mean"], None)
    '-'
    """
    return "-" if value is None else _WRITTEN[column.form](value)


def short(column: ComparisonColumn, value: Any) -> str:
    """Return a value as tables with little room write it."""
    text = written(column, value)
    return SHORT.get(text, text) if column.form == "text" else text


def _figure(value: float) -> str:
    if abs(value) >= 1e6:
        digits, power = f"{value:.2e}".split("e")
        return f"{digits}e{int(power)}"
    size = abs(value)
    decimals = 3 if size < 1 else 2 if size < 10 else 1 if size < 100 else 0
    return f"{value:,.{decimals}f}"


def _percent(value: float) -> str:
    if 0 < value < 0.1:
        return "<0.1 %"
    return f"{value:.1f} %" if value < 10 else f"{value:,.0f} %"


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


_WRITTEN: dict[Form, Callable[[Any], str]] = {
    "text": str,
    "whole": "{:,.0f}".format,
    "metres": "{:,.0f}".format,
    "megabytes": "{:,.0f}".format,
    "share": lambda value: f"{100 * value:.1f} %",
    "figure": lambda value: _figure(float(value)),
    "seconds": _seconds,
    "percent": _percent,
    "yes": lambda value: "yes" if value else "no",
}


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
    *("CPC", "CPC_shares", "trip_length_emd_km", "top_flow_agreement"),
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
        The smallest number behind a released flow, and of what: travellers where the input has ids,
        whatever these stand for, trips otherwise.
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
    zone_km2 : float, optional
        The size of a typical zone.
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
    zone_km2: float | None = None

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
