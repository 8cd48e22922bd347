"""Measures of a release as rows of a table: what each is, in words, and its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tripcloak.comparing.rows import LOSS


def measured_rows(measures: Mapping[str, Any]) -> list[list[str]]:
    """Return every measure with its value and what it means; those of parts by the part's name.

    >>> measured_rows({"time_error_minutes": {"mean": 77.52, "median": 48.5}})
    [['time error minutes', 'mean 77.5, median 48.5', '']]
    """
    meanings = {column.key: column.words for column in LOSS}
    rows = []
    for name, value in measures.items():
        if isinstance(value, Mapping) and any(isinstance(part, Mapping) for part in value.values()):
            rows += [
                [f"{row[0]}, {part.replace('_', ' ')}", row[1], ""]
                for part, inner in value.items()
                for row in [*measured_rows({name: inner})]
            ]
        elif (told := _value(value)) is not None:
            rows.append([name.replace("_", " "), told, meanings.get(name, "")])
    return rows


def _value(value: Any) -> str | None:
    if isinstance(value, Mapping):
        picked = {part: told for part, told in value.items() if part in ("mean", "median") or len(value) <= 3}
        parts = [
            f"{part.replace('_', ' ')} {words}" for part, one in picked.items() if (words := _value(one))
        ]
        return ", ".join(parts) or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return (
        f"{value:,}" if isinstance(value, int) else f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    )
