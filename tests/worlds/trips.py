"""Made-up trips in files of every form; ids and coordinates are odd, so that a leak is easy to see."""

from __future__ import annotations

import csv
import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

Row = dict[str, str]

IDS = ("person_id",)
COORDINATES = ("start_lat", "start_lon", "end_lat", "end_lon")


def some_trips(n: int = 400, *, people: int = 40, seed: int = 1, spread: float = 0.02) -> list[Row]:
    """Return trips between random places of a small town, each person making several."""
    draw = random.Random(seed)
    ids = [hashlib.sha256(f"{seed}-{number}".encode()).hexdigest()[:12] for number in range(people)]
    return [
        {
            "person_id": draw.choice(ids),
            "start_lat": f"{48.85 + spread * draw.random():.9f}",
            "start_lon": f"{2.35 + spread * draw.random():.9f}",
            "end_lat": f"{48.85 + spread * draw.random():.9f}",
            "end_lon": f"{2.35 + spread * draw.random():.9f}",
            "start_time": f"2024-05-{10 + number % 20} {draw.randrange(10, 24)}:{draw.randrange(10, 60)}:00",
            "weight": f"{50 + 100 * draw.random():.2f}",
        }
        for number in range(n)
    ]


def without(rows: Iterable[Row], *columns: str) -> list[Row]:
    """Return the rows without some columns."""
    return [{name: value for name, value in row.items() if name not in columns} for row in rows]


def write_csv(path: Path, rows: Sequence[Row], columns: Sequence[str] | None = None) -> Path:
    """Write rows as CSV and return the path."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns if columns is not None else list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def personal(rows: Iterable[Row]) -> set[str]:
    """Return every id and raw coordinate as it stands in the file."""
    return {row[name] for row in rows for name in (*IDS, *COORDINATES) if name in row}


def leaks(text: str, rows: Iterable[Row]) -> list[str]:
    """Return the ids and raw coordinates of the rows that a text holds."""
    return [secret for secret in personal(rows) if secret in text]


def write_zones(path: Path, n: int = 16, *, seed: int = 4) -> Path:
    """Write a zones file of points with the county of each, and return its path."""
    draw = random.Random(seed)
    rows = [
        {
            "zone": f"z{number:02d}",
            "lat": f"{48.8 + 0.2 * draw.random():.4f}",
            "lon": f"{2.3 + 0.2 * draw.random():.4f}",
            "county": f"county {number % 4}",
        }
        for number in range(n)
    ]
    return write_csv(path, rows)


def zone_trips(n: int = 900, *, zones: int = 16, people: int = 60, seed: int = 2) -> list[Row]:
    """Return trips between the zones of :func:`write_zones`, some pairs far more usual than others."""
    draw = random.Random(seed)
    ids = [hashlib.sha256(f"{seed}-{number}".encode()).hexdigest()[:12] for number in range(people)]
    return [
        {
            "person_id": draw.choice(ids),
            "origin": f"z{int(zones * draw.random() ** 2):02d}",
            "destination": f"z{int(zones * draw.random() ** 2):02d}",
        }
        for _ in range(n)
    ]


def counted(rows: Iterable[Row], name: str = "trips") -> list[Row]:
    """Return an OD table with the number of trips of every pair."""
    pairs = Counter((row["origin"], row["destination"]) for row in rows)
    return [{"origin": o, "destination": d, name: str(n)} for (o, d), n in sorted(pairs.items())]
