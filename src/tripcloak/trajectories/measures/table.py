"""The comparison table: several methods side by side (paper 002, table II)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COLUMNS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("spatial_error_km", "mean spatial error (km)", ("spatial_error_km", "mean")),
    ("time_error_minutes", "mean time error (min)", ("time_error_minutes", "mean")),
    ("created", "created samples (%)", ("created",)),
    ("deleted", "deleted samples (%)", ("deleted",)),
    ("median_area_km2", "median area (km2)", ("area_km2_per_original_sample", "median")),
    ("median_minutes", "median duration (min)", ("duration_minutes_per_original_sample", "median")),
    ("cost", "cost (min km)", ("cost",)),
)
"""Key, heading and where the value stands in the measures of a release."""

SHARES = {"created", "deleted"}


def comparison_rows(rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return one flat row a release, ready for JSON: what it is, then the columns of table II and two more.

    Parameters
    ----------
    rows : sequence of (mapping, mapping)
        What a release is (data set, method, k, ...; the same names for all), and what
        :func:`measure_trajectories` says of it.
    """
    return [{**told, **{key: _found(measures, path) for key, _, path in COLUMNS}} for told, measures in rows]


def comparison_table(rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    """Return the table of several releases as Markdown; areas and durations are those of original samples.

    Examples
    --------
    >>> measures = {"spatial_error_km": {"mean": 1.25}, "time_error_minutes": {"mean": 90.0}, "created": 0.0,
    ...             "deleted": 0.018, "cost": 1234.5, "area_km2_per_original_sample": {"median": None},
    ...             "duration_minutes_per_original_sample": {"median": 60.0}}
    >>> print(comparison_table([({"method": "glove"}, measures)]))
    | method | mean spatial error (km) | mean time error (min) | created samples (%) | ...
    |---|---:|---:|---:|---:|---:|---:|---:|
    | glove | 1.25 | 90 | 0 | 1.8 | – | 60 | 1,234 |
    """
    flat = comparison_rows(rows)
    names = list(rows[0][0]) if rows else []
    headings = [*names, *(heading for _, heading, _ in COLUMNS)]
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(names)}{'---:|' * len(COLUMNS)}"]
    for row in flat:
        cells = [str(row[name]) for name in names] + [_cell(key, row[key]) for key, _, _ in COLUMNS]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _found(measures: Mapping[str, Any], path: Sequence[str]) -> float | None:
    found: Any = measures
    for name in path:
        found = found[name]
    return None if found is None else float(found)


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return "–"
    value = 100 * value if key in SHARES else value
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
