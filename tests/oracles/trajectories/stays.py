"""Stays in plain Python: one sample after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tripcloak.trajectories.stays import Visits


def mark_arrivals(x: Sequence[float], y: Sequence[float], radius: float) -> list[bool]:
    """Return whether each sample of one person lies further than this from the one that began its place."""
    arrives: list[bool] = []
    for i in range(len(x)):
        began = max((j for j in range(i) if arrives[j]), default=None)
        arrives.append(began is None or (x[i] - x[began]) ** 2 + (y[i] - y[began]) ** 2 > radius**2)
    return arrives


def find_stays(visits: Visits, metres: float, minutes: float) -> list[tuple[float, ...]]:
    """Return the stays of every trajectory: who, from when to when, and where."""
    found = []
    for one in range(len(visits.offsets) - 1):
        first, last = visits.offsets[one], visits.offsets[one + 1]
        arrives = mark_arrivals(visits.x[first:last], visits.y[first:last], metres)
        edges = [first + i for i, new in enumerate(arrives) if new]
        for a, b in zip(edges, [*edges[1:], last], strict=True):
            begins, ends = visits.begins[a], visits.ends[b - 1]
            if ends - begins >= minutes * 60:
                found.append((one, begins, ends, np.mean(visits.x[a:b]), np.mean(visits.y[a:b])))
    return found
