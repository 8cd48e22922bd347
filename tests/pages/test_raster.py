"""Painting: every pixel holds the sum of the densities of what covers its middle, whatever the shapes."""

from __future__ import annotations

import base64
import struct
import zlib
from itertools import pairwise

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.pages.raster import STEPS, ZERO, MapFrame, density_of, paint, png, ramp_colour

FRAME = MapFrame(0.0, 0.0, 8.0, 6.0, 16, 12)
BY_COVER = 2.0 ** np.arange(6)


@st.composite
def polygons(draw: st.DrawFn) -> shapely.Polygon:
    """A star-shaped area about some place in or near the frame, wound either way, perhaps with a hole."""
    x, y = draw(st.floats(-1, 9)), draw(st.floats(-1, 7))
    radii = np.array(draw(st.lists(st.floats(0.8, 5), min_size=3, max_size=9)))
    turns = np.linspace(0, 2 * np.pi, len(radii), endpoint=False)
    ring = np.column_stack([x + radii * np.cos(turns), y + radii * np.sin(turns)])
    hole = np.column_stack([x + 0.3 * np.cos(turns), y + 0.3 * np.sin(turns)])
    area = shapely.Polygon(ring, [hole] if len(radii) > 4 and draw(st.booleans()) else [])
    return area.reverse() if draw(st.booleans()) else area


def rings(area: shapely.Polygon) -> list[np.ndarray]:
    return [np.array(ring.coords) for ring in (area.exterior, *area.interiors)]


@settings(max_examples=60)
@given(st.lists(polygons(), min_size=1, max_size=5))
def test_pixels_hold_the_sum_of_what_covers_their_middle(areas):
    densities = BY_COVER[: len(areas)]
    shades = paint([[rings(area)] for area in areas], densities, FRAME)
    x, y = np.meshgrid(np.arange(16) / 2 + 0.25, 6 - (np.arange(12) / 2 + 0.25))
    inside = np.array([shapely.contains_xy(area, x, y) for area in areas])
    near = np.array([shapely.distance(area.boundary, shapely.points(x, y)) < 1e-9 for area in areas])
    total = (densities[:, None, None] * inside).sum(axis=0)
    expected = np.where(total > 0, np.rint(STEPS * np.log2(np.where(total > 0, total, 1))) + ZERO, 0)
    clear = ~near.any(axis=0)
    assert (shades[clear] == expected[clear]).all()


def test_far_and_huge_shapes_are_cut_at_the_frame():
    huge = np.array([[-1e3, -1e3], [1e3, -1e3], [1e3, 1e3], [-1e3, 1e3], [-1e3, -1e3]])
    shades = paint([[[huge]], [[huge + 5000]]], np.array([1.0, 64.0]), FRAME)
    assert (shades == ZERO).all()


def test_nothing_is_nothing_and_extreme_densities_stay_in_range():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    shades = paint([[[square]], [[square + np.array([4, 0])]]], np.array([1e-30, 1e30]), FRAME)
    assert set(np.unique(shades)) == {0, 1, 255}
    assert not paint([], np.array([]), FRAME).any()


def test_a_picture_reads_back():
    shades = paint([[[np.array([[0, 0], [4, 0], [4, 6], [0, 6], [0, 0.0]])]]], np.array([4.0]), FRAME)
    data = base64.b64decode(png(shades, ZERO, ZERO + 4 * STEPS).removeprefix("data:image/png;base64,"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        name, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size]) == (zlib.crc32(name + content),)
        chunks[name], at = content, at + 12 + size
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(12, 17)
    assert (rows[:, 1:] == shades).all()
    assert not rows[:, 0].any()
    at = 3 * int(shades[0, 0])
    assert tuple(chunks[b"PLTE"][at : at + 3]) == ramp_colour(0.5)
    assert chunks[b"tRNS"] == b"\x00"
    assert density_of(int(shades[0, 0])) == 4.0


def test_the_ramp_only_darkens():
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(ramp_colour, np.linspace(0, 1, 65))]
    assert all(a > b for a, b in pairwise(light))
