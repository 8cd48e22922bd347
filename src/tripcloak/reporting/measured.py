"""Measures of a release as rows of a table: what each is, in words, and its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tripcloak.comparing.rows import LOSS

FURTHER = {
    "GDM_std": "how much that distance varies (standard deviation)",
    "trip_length_emd_km": "how far lengths of trips are off, as a distribution",
    "top_flow_agreement": "whether the busiest flows keep their ranks, from -1 to 1",
    "area_km2": "size of a released box",
    "duration_minutes": "how long a released box lasts",
    "area_km2_per_original_sample": "size of the box that stands for an original sample",
    "duration_minutes_per_original_sample": "how long the box lasts that stands for an original sample",
    "spatial_error_km": "from where a sample was to the middle of its box",
    "time_error_minutes": "from when a sample was to the middle of its time",
    "created": "released samples that stand for none of their person, as a share",
    "deleted": "samples that nothing released stands for",
    "deleted_users": "people that nothing released stands for",
    "cost": "minutes times km that a person's samples were stretched by",
    "centre_of_mass_km": "how far the middle of all places of a person moves",
    "radius_of_gyration": "how far a person gets about, km",
    "radius_of_gyration_by_time": "the same, places weighted by the time spent there",
    "hull": "area that a person's places span, km²",
    "home": "where a person is most often at night",
    "work": "where a person is most often in working hours",
    "entropy": "bits that the next place of a person tells",
    "entropy_difference": "bits that the next place of a person tells",
    "predictability": "how often the next place could be foretold at best",
    "entropy_basis": "what entropy and predictability were measured on",
}
"""What measures mean that no comparison lists."""


def measured_rows(measures: Mapping[str, Any]) -> list[list[str]]:
    """Return every measure with its value and what it means; those of parts by the part's name.

    >>> measured_rows({"time_error_minutes": {"mean": 77.52, "median": 48.5}})
    [['time error minutes', 'mean 77.5, median 48.5', 'from when a sample was to the middle of its time']]
    """
    meanings = {column.key: column.words for column in LOSS} | FURTHER
    rows = []
    for name, value in measures.items():
        if isinstance(value, Mapping) and any(isinstance(part, Mapping) for part in value.values()):
            rows += [
                [f"{row[0]}, {part.replace('_', ' ')}", row[1], meanings.get(name, "")]
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
