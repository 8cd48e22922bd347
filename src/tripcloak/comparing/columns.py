"""Columns of a comparison: what each is called, what it means, and how its values are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from tripcloak.promises import DifferentialPrivacy, KAnonymity, KMAnonymity

Form = Literal["text", "whole", "share", "figure", "metres", "seconds", "megabytes", "percent", "yes"]


Record = Mapping[str, Any]
"""One row of a comparison, by the names that its files use."""


class Advice(NamedTuple):
    """What to use at one k and one limit: the method (None if there is none), in words, and the reasons."""

    k: float
    limit: float
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
        "smallest_group", "people", "the smallest number of people behind a released flow", "whole"
    ),
    ComparisonColumn("audit", "audit", "what a recount by other code says", "text"),
    ComparisonColumn("promise", "promise", "what protects people", "text"),
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
