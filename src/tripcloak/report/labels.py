"""Labels beside points of a plot, placed so that they lie neither on each other nor on a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

LETTER, LINE = 6.5, 14.0
"""Width of a letter and height of a line, in pixels, at the size that labels are set in."""
NEAR = 60.0
"""Points not further apart than this crowd each other."""
GAP = 3.5
"""From the edge of a point to the nearest edge of its label."""


class Box(NamedTuple):
    """A rectangle, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """Return the area that two rectangles share.

        >>> Box(0, 0, 4, 4).overlap(Box(2, 2, 6, 6)), Box(0, 0, 1, 1).overlap(Box(2, 2, 3, 3))
        (4, 0)
        """
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(across, 0) * max(down, 0)


class Spot(NamedTuple):
    """A point on the plot and the radius of its mark, in pixels."""

    x: float
    y: float
    radius: float


class Label(NamedTuple):
    """Where a text goes: its left end and its baseline, and whether a line leads to its point."""

    x: float
    y: float
    box: Box
    led: bool


def place_labels(points: Sequence[Spot], texts: Sequence[str], room: Box) -> list[Label]:
    """Return one label a point, in the order of the points.

    The first place of each that is free is taken, from beside the point to ever further up and down;
    where none is, the one that covers least.

    Examples
    --------
    >>> labels = place_labels([Spot(50, 50, 6), Spot(50, 52, 6)], ["one", "two"], Box(0, 0, 200, 100))
    >>> labels[0].box.overlap(labels[1].box) == 0
    True
    """
    marks = [Box(x - r, y - r, x + r, y + r) for x, y, r in points]
    placed: list[Label] = []
    for spot, text in zip(points, texts, strict=True):
        taken = [*marks, *(label.box for label in placed)]
        best: tuple[float, Label] | None = None
        near = [other.y for other in points if abs(other.y - spot.y) < NEAR and abs(other.x - spot.x) < NEAR]
        for label in _places(spot, LETTER * len(text), downwards=spot.y > sum(near) / len(near)):
            covered = sum(label.box.overlap(other) for other in taken) + _outside(label.box, room)
            if best is None or covered < best[0]:
                best = covered, label
            if covered == 0:
                break
        assert best is not None
        placed.append(best[1])
    return placed


def _places(spot: Spot, width: float, *, downwards: bool) -> Iterator[Label]:
    """Yield where a label may go, nearest first: right, left, above, below, then further away.

    Of a crowd, the lower points look downwards first, so that lines to labels do not cross.
    """
    x, y, away = spot.x, spot.y, spot.radius + GAP
    for left, middle in ((x + away, y), (x - away - width, y)):
        yield _label(left, middle, width, led=False)
    for middle in (y - away - LINE / 2, y + away + LINE / 2):
        yield _label(x - width / 2, middle, width, led=False)
    for step in range(1, 16):
        for lines in (step, -step) if downwards else (-step, step):
            for left in (x + 2 * away, x - 2 * away - width):
                yield _label(left, y + lines * LINE, width, led=True)


def _label(left: float, middle: float, width: float, *, led: bool) -> Label:
    box = Box(left, middle - LINE / 2, left + width, middle + LINE / 2)
    return Label(left, middle + 4, box, led)


def _outside(box: Box, room: Box) -> float:
    """Return the area of a label that lies outside of the room for labels; that is worse than any overlap."""
    area = (box.right - box.left) * (box.bottom - box.top)
    outside = area - box.overlap(room)
    return 10 * outside if outside > 1e-6 else 0.0
