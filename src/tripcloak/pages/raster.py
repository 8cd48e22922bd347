"""Raster: zones painted on one small picture, so that any number of them, overlapping or not, stays light."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.pages.outlines import Polygon, Ring

STEPS = 7
"""Shades for every doubling of a density."""
ZERO = 71
"""The shade of a density of one; shades run from 1 to 255, and 0 is nothing at all."""

BATCH = 1 << 16
"""Edges painted at once."""

RAMP = ("#fbf3c1", "#d3ebae", "#9cdcb0", "#5fc3ba", "#3da3c0", "#3f7fc0", "#4b58ad", "#463386", "#2d1658")
"""From few to many: pale straw, sea green, indigo; as told apart by eyes that see red and green alike."""


class MapFrame(NamedTuple):
    """The part of the world that a picture shows, in degrees, and its size in pixels.

    Longitudes run on past 180 degrees where the part lies across that meridian.
    """

    west: float
    south: float
    east: float
    north: float
    width: int
    height: int

    @property
    def meridian(self) -> float:
        """Return the longitude in the middle."""
        return (self.west + self.east) / 2

    def pixels(self, ring: Ring) -> NDArray[np.float64]:
        """Return points of longitude and latitude as pixels from the upper left corner."""
        scale = self.width / (self.east - self.west), self.height / (self.south - self.north)
        pixels: NDArray[np.float64] = (ring - (self.west, self.north)) * scale
        return pixels


def paint(
    shapes: Sequence[Sequence[Polygon]], densities: NDArray[np.float64], frame: MapFrame
) -> NDArray[np.uint8]:
    """Return the shade of every pixel: the sum of the densities of all shapes that cover its middle.

    Parameters
    ----------
    shapes
        One list of polygons a shape, each an outer ring and its holes, in degrees.
    densities
        One number above 0 a shape.
    frame
        What the picture shows.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> paint([[[square]], [[square]]], np.array([1.0, 1.0]), MapFrame(0.0, 0.0, 4.0, 1.0, 4, 1)).tolist()
    [[78, 78, 0, 0]]
    """
    depth = np.zeros((2, frame.height, frame.width + 1))
    for start, end, weight in _edges(shapes, densities, frame):
        _add_crossings(depth, start, end, weight)
    density, covered = depth.cumsum(axis=2)[:, :, :-1]
    covered = covered > 0.5
    # What is left over where large numbers cancel is no density: nothing is thinner than its thinnest zone.
    density = np.maximum(density, densities.min(initial=np.inf))
    shade = np.rint(STEPS * np.log2(density, where=covered, out=np.zeros_like(density))) + ZERO
    return np.where(covered, shade.clip(1, 255), 0).astype(np.uint8)


def density_of(shade: int) -> float:
    """Return the density that a shade stands for.

    >>> density_of(ZERO), density_of(ZERO + 2 * STEPS)
    (1.0, 4.0)
    """
    return float(2.0 ** ((shade - ZERO) / STEPS))


def ramp_colour(share: float) -> tuple[int, int, int]:
    """Return the colour at a share of the ramp, 0 for the least and 1 for the most.

    >>> ramp_colour(0.0), ramp_colour(1.0)
    ((251, 243, 193), (45, 22, 88))
    """
    stops = np.array([[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in RAMP], dtype=float)
    at = np.linspace(0, 1, len(stops))
    red, green, blue = (round(float(np.interp(share, at, stops[:, part]))) for part in range(3))
    return red, green, blue


def png(shades: NDArray[np.uint8], least: int, most: int) -> str:
    """Return a picture as a data address: shades from least to most along the ramp, 0 transparent."""
    height, width = shades.shape
    spread = max(most - least, 1)
    colours = [(0, 0, 0)] + [ramp_colour((shade - least) / spread) for shade in range(1, 256)]
    rows = np.zeros((height, width + 1), dtype=np.uint8)
    rows[:, 1:] = shades
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(part for colour in colours for part in colour)),
        (b"tRNS", b"\x00"),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    ]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in parts)
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _edges(
    shapes: Sequence[Sequence[Polygon]], densities: NDArray[np.float64], frame: MapFrame
) -> list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
    """Return the edges of all rings in batches: where they start and end, and the shape's density, signed.

    The sign makes the outer rings of every shape add and its holes take away, however they are wound.
    """
    batches, starts, ends, weights, held = [], [], [], [], 0
    for shape, density in zip(shapes, densities, strict=True):
        for polygon in shape:
            for place, ring in enumerate(polygon):
                pixels = frame.pixels(ring)
                sign = np.sign(_doubled_area(pixels)) * (-1 if place else 1)
                starts.append(pixels[:-1])
                ends.append(pixels[1:])
                weights.append(np.full(len(pixels) - 1, sign * density))
                held += len(pixels)
        if held > BATCH:
            batches.append((np.concatenate(starts), np.concatenate(ends), np.concatenate(weights)))
            starts, ends, weights, held = [], [], [], 0
    if starts:
        batches.append((np.concatenate(starts), np.concatenate(ends), np.concatenate(weights)))
    return batches


def _doubled_area(ring: NDArray[np.float64]) -> float:
    x, y = ring.T
    return float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum())


def _add_crossings(
    depth: NDArray[np.float64],
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> None:
    """Add, where edges cross the middles of rows of pixels, what changes to the right of the crossing."""
    _, height, columns = depth.shape
    upwards = end[:, 1] < start[:, 1]
    top, bottom = np.where(upwards[:, None], end, start), np.where(upwards[:, None], start, end)
    sign = np.where(upwards, 1.0, -1.0)
    first = np.ceil(top[:, 1] - 0.5).clip(0, height).astype(np.int64)
    beyond = np.ceil(bottom[:, 1] - 0.5).clip(0, height).astype(np.int64)
    rows = (beyond - first).clip(0)
    edge = np.repeat(np.arange(len(rows)), rows)
    row = np.arange(len(edge)) - np.repeat(np.cumsum(rows) - rows, rows) + first[edge]
    slope = (bottom[edge, 0] - top[edge, 0]) / (bottom[edge, 1] - top[edge, 1])
    x = top[edge, 0] + slope * (row + 0.5 - top[edge, 1])
    cell = row * columns + np.ceil(x - 0.5).clip(0, columns - 1).astype(np.int64)
    for layer, change in enumerate((sign * weight, sign * np.sign(weight))):
        depth[layer].ravel()[:] += np.bincount(cell, change[edge], minlength=height * columns)
