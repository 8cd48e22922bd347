"""The compiled loop of stays: where somebody has left the place of the samples before."""

from __future__ import annotations

from numba import njit

from tripcloak.ground.arrays import Bools, Floats, Ints


@njit(cache=True, nogil=True)
def mark_arrivals(offsets: Ints, x: Floats, y: Floats, radius: float, arrives: Bools) -> None:
    """Mark every sample that lies more than ``radius`` away from the one that began its place."""
    for one in range(len(offsets) - 1):
        anchor = offsets[one]
        for sample in range(offsets[one], offsets[one + 1]):
            # The place of the samples before began at the anchor.
            away = (x[sample] - x[anchor]) ** 2 + (y[sample] - y[anchor]) ** 2
            if sample == anchor or away > radius * radius:
                anchor = sample
                arrives[sample] = True
