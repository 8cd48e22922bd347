"""Frames: how many released trajectories are where, time after time, on one small raster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.arrays import Floats, Ints
from tripcloak.report.raster import STEPS, ZERO
from tripcloak.trajectories import Boxes

CELLS = 128
"""Cells along the longer side of the raster."""
BINS = 168
"""Frames at most; a week by the hour."""
BATCH = 1 << 20
NICE = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 20160, 40320)
"""Minutes that people find easy to think in."""


class Frames(NamedTuple):
    """Trajectories per cell, averaged over each bin of time, and where the cells and bins lie in steps.

    Attributes
    ----------
    shades : array of uint8, bins x rows x columns
        0 for nothing, else the logarithm of the number: see :func:`tripcloak.report.raster.density_of`.
        Rows run from south to north.
    present : array of float
        Trajectories that are somewhere, averaged over each bin.
    start, length : int
        When the first bin begins and how long each lasts, in steps of time.
    west, south, cell : int
        Where the first cell begins and how wide each is, in steps of space.
    """

    shades: NDArray[np.uint8]
    present: Floats
    start: int
    length: int
    west: int
    south: int
    cell: int


def paint_frames(boxes: Boxes, home: tuple[int, int, int, int], seconds: int) -> Frames:
    """Return what a film of the release shows, whatever the number of boxes.

    Every box stands for one trajectory, spread evenly over all cells and bins that it touches.

    Parameters
    ----------
    boxes
        Generalised samples in steps.
    home
        West, south, east and north of what is shown, in steps; what lies beyond is left out.
    seconds
        The length of a step of time.

    Examples
    --------
    >>> box = Boxes(*(np.array([step]) for step in (0, 60, 0, 2, 0, 1)))
    >>> film = paint_frames(box, (0, 0, 4, 1), 60)
    >>> film.length, film.shades[0].tolist()
    (1, [[64, 64, 0, 0]])
    """
    west, south, east, north = home
    start, end = int(boxes.t0.min()), int(boxes.t1.max())
    length = _bin_length(end - start, seconds)
    cell = -(-max(east - west, north - south) // CELLS)
    shape = tuple(
        -(-size // unit) for size, unit in ((end - start, length), (north - south, cell), (east - west, cell))
    )
    change = np.zeros(tuple(size + 1 for size in shape))
    for at in range(0, len(boxes.t0), BATCH):
        part = Boxes(*(side[at : at + BATCH].astype(np.int64) for side in boxes))
        spans = [
            _spanned(part.t0 - start, part.t1 - start, length),
            _spanned(part.y0 - south, part.y1 - south, cell),
            _spanned(part.x0 - west, part.x1 - west, cell),
        ]
        _add(change, spans, (part.t1 - part.t0) / length)
    for axis in range(3):
        np.cumsum(change, axis=axis, out=change)
    density = change[:-1, :-1, :-1]
    return Frames(_shades(density), density.sum(axis=(1, 2)), start, length, west, south, cell)


def _bin_length(span: int, seconds: int) -> int:
    """Return the shortest easy length, in steps, of which no more than all bins are needed."""
    lengths = (minutes * 60 // seconds for minutes in NICE if minutes * 60 % seconds == 0)
    return next((length for length in lengths if length * BINS >= span), -(-span // BINS))


def _spanned(low: Ints, high: Ints, unit: int) -> tuple[Ints, Ints]:
    """Return the first cell that each span touches, and the one after its last."""
    return low // unit, (high - 1) // unit + 1


def _add(change: Floats, spans: list[tuple[Ints, Ints]], weight: Floats) -> None:
    """Add boxes as changes at their eight corners, so that sums along all axes fill them."""
    for low, high in spans:
        weight = weight / (high - low)
    sizes = change.shape
    inside = [
        (np.clip(low, 0, size - 1), np.clip(high, 0, size - 1))
        for (low, high), size in zip(spans, sizes, strict=True)
    ]
    flat = change.reshape(-1)
    for corner in range(8):
        ends = [corner >> axis & 1 for axis in range(3)]
        cell = np.ravel_multi_index([pair[end] for pair, end in zip(inside, ends, strict=True)], sizes)
        flat += np.bincount(cell, weight if sum(ends) % 2 == 0 else -weight, minlength=len(flat))


def _shades(density: Floats) -> NDArray[np.uint8]:
    # What is left over where large numbers cancel is no density: below a ten-thousandth nobody is there.
    seen = density > 1e-4
    shade = np.rint(STEPS * np.log2(density, where=seen, out=np.zeros_like(density))) + ZERO
    return np.where(seen, shade.clip(1, 255), 0).astype(np.uint8)
