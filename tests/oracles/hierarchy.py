"""Plain twins of the compiled loops of trees: cells by the h3 library, and points counted one by one."""

from __future__ import annotations

from collections.abc import Sequence

import h3.api.basic_int as h3


def encode_cells(lat: Sequence[float], lon: Sequence[float], resolution: int) -> list[int]:
    """Return the H3 cell of every point, by the library."""
    return [h3.latlng_to_cell(y, x, resolution) for y, x in zip(lat, lon, strict=True)]


def count_before(rank: Sequence[int], questions: Sequence[tuple[int, int, int]]) -> list[int]:
    """Return, for every question, how many of the first so many ranks lie from low to below high."""
    return [sum(low <= value < high for value in rank[:upto]) for upto, low, high in questions]
