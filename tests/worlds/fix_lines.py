"""What tests of reading trajectories share: lines of fixes that are good, and the type of their fixture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.reading import ReadTrajectories

HEADER = "user_id,timestamp,lat,lon"
NOON = 1_714_564_800
"""Noon of 1 May 2024, UTC."""


class ReadLines(Protocol):
    def __call__(
        self, lines: Iterable[str], *more: Iterable[str], header: str = HEADER, **options: Any
    ) -> ReadTrajectories: ...


def fix(user: object, seconds: float = 0, lat: object = 48.85, lon: object = 2.35) -> str:
    """Return a line: who, how long after noon, and where."""
    return f"{user},{NOON + seconds},{lat},{lon}"


def walk(user: object, fixes: int = 5, *, lat: float = 48.85, lon: float = 2.35) -> list[str]:
    """Return lines of somebody who walks north, 100 metres or so in five minutes."""
    return [fix(user, 300 * step, f"{lat + 0.001 * step:.6f}", lon) for step in range(fixes)]


def told(trajectories: Trajectories) -> tuple[Any, ...]:
    """Return everything that trajectories hold, to be compared."""
    columns = (trajectories.offsets, trajectories.t, trajectories.x, trajectories.y)
    return (
        trajectories.grid,
        trajectories.users.tolist(),
        *(np.asarray(column).tolist() for column in columns),
    )
