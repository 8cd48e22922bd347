"""A planted city: square zones of three kinds, whose trips are made by two people at a time.

With k = 2 nothing has to be generalised or withheld, so a release of it is as true as the original.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from worlds.trips import Row, write_csv

SIDE = 6
DEGREES = 0.01
AREA = "0,0,0.08,0.08"
"""Study area of a quadtree with three cuts: 8 x 8 tiles of a hundredth of a degree."""
PEAKS = {"homes": (8, 18), "offices": (18, 8), "bars": (23, 20)}


def kind_of(zone: int) -> str:
    """Return the kind of a zone: zones are numbered row by row."""
    return tuple(PEAKS)[zone % 3]


def planted_trips(trips: int = 2500, *, seed: int = 1) -> list[Row]:
    """Return trips that start and end at the hours of the zones they belong to, each made twice."""
    draw = np.random.default_rng(seed)
    rows: list[Row] = []
    for number in range(trips):
        zone, partner = draw.integers(0, SIDE * SIDE, 2).tolist()
        starts = bool(draw.integers(0, 2))
        hour = int(draw.normal(PEAKS[kind_of(zone)][0 if starts else 1], 1.5)) % 24
        ends = (zone, partner) if starts else (partner, zone)
        minute = int(draw.integers(0, 60))
        for person in range(2):
            rows.append(
                {
                    "person_id": f"p{2 * number + person}",
                    **_place("start", ends[0]),
                    **_place("end", ends[1]),
                    "start_time": f"2024-05-{6 + number % 7:02d} {hour:02d}:{minute:02d}:00",
                }
            )
    return rows


def write_planted(path: Path, trips: int = 2500, *, seed: int = 1) -> Path:
    """Write the trips as CSV and return the path."""
    return write_csv(path, planted_trips(trips, seed=seed))


def squares(path: Path, corners: Sequence[tuple[float, float]], size: float = DEGREES) -> Path:
    """Write squares with these south-west corners (longitude, latitude) as GeoJSON: z0, z1 and so on."""
    features = [
        {"type": "Feature", "properties": {"zone": f"z{row}"}, "geometry": _square(west, south, size)}
        for row, (west, south) in enumerate(corners)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


def city_corners(rows: int = SIDE) -> list[tuple[float, float]]:
    """Return the south-west corners of the city's zones, or of its southern rows only."""
    return [(column * DEGREES, row * DEGREES) for row in range(rows) for column in range(SIDE)]


def _place(end: str, zone: int) -> Row:
    row, column = divmod(zone, SIDE)
    return {f"{end}_lat": f"{(row + 0.5) * DEGREES:.6f}", f"{end}_lon": f"{(column + 0.5) * DEGREES:.6f}"}


def _square(west: float, south: float, size: float) -> dict[str, Any]:
    east, north = west + size, south + size
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {"type": "Polygon", "coordinates": [ring]}
