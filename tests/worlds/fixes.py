"""Made-up fixes in files; ids and coordinates are odd, so that a leak is easy to see."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable
from datetime import datetime, timedelta

from worlds.trips import Row

DAY = datetime(2024, 5, 13)


def some_fixes(
    users: int = 12, *, samples: int = 8, seed: int = 1, spread: float = 0.02, days: int = 1
) -> list[Row]:
    """Return fixes of people who move between a few places of a small town, by person and time."""
    draw = random.Random(seed)
    places = [(48.85 + spread * draw.random(), 2.35 + spread * draw.random()) for _ in range(6)]
    rows = []
    for number in range(users):
        name = hashlib.sha256(f"{seed}-{number}".encode()).hexdigest()[:12]
        own = draw.sample(places, 3)
        for minute in sorted(draw.sample(range(days * 1440), samples)):
            lat, lon = draw.choice(own)
            rows.append(
                {
                    "user_id": name,
                    "timestamp": (DAY + timedelta(minutes=minute)).isoformat(" "),
                    "lat": f"{lat + 1e-6 * draw.random():.9f}",
                    "lon": f"{lon + 1e-6 * draw.random():.9f}",
                }
            )
    return rows


def leaked(text: str, rows: Iterable[Row]) -> list[str]:
    """Return the ids and raw coordinates of the rows that a text holds."""
    return [row[name] for row in rows for name in ("user_id", "lat", "lon") if row.get(name, "\0") in text]
