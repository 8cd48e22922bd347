"""Boxes on whole numbers, whose areas can be counted square by square."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely
from hypothesis import strategies as st
from numpy.typing import NDArray

SIDE = 6


class Box(NamedTuple):
    """A box from its lower left to its upper right corner."""

    west: int
    south: int
    east: int
    north: int

    @property
    def squares(self) -> set[tuple[int, int]]:
        return {(x, y) for x in range(self.west, self.east) for y in range(self.south, self.north)}


def shapes(boxes: Sequence[Box]) -> NDArray[Any]:
    return np.array([shapely.box(*box) for box in boxes], dtype=object)


@st.composite
def some_boxes(draw: st.DrawFn) -> Box:
    """A box with an area, somewhere on the board."""
    west, south = draw(st.integers(0, SIDE - 1)), draw(st.integers(0, SIDE - 1))
    return Box(west, south, draw(st.integers(west + 1, SIDE)), draw(st.integers(south + 1, SIDE)))


@st.composite
def boards(draw: st.DrawFn) -> list[Box]:
    """Boxes that cover the board and never overlap: cut at some columns and rows."""
    cuts = st.sets(st.integers(1, SIDE - 1), max_size=3)
    columns, rows = ([0, *sorted(draw(cuts)), SIDE] for _ in range(2))
    return [
        Box(west, south, east, north) for west, east in pairwise(columns) for south, north in pairwise(rows)
    ]


@st.composite
def drawn_worlds(draw: st.DrawFn) -> tuple[list[Box], list[Box]]:
    """Released zones, and drawn zones that cover the board or only a part of it."""
    zones = draw(st.lists(some_boxes(), min_size=1, max_size=5))
    drawn = draw(boards())
    kept = draw(st.lists(st.booleans(), min_size=len(drawn), max_size=len(drawn)))
    some = [box for box, keep in zip(drawn, kept, strict=True) if keep]
    return zones, some or drawn


def share(zone: Box, drawn: Box) -> float:
    """Return which share of a zone lies in a drawn one, square by square."""
    return len(zone.squares & drawn.squares) / len(zone.squares)
