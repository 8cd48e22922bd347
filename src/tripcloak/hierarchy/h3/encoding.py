"""H3 encoding: points to cells, equal to the h3 library and several times as fast on many points.

The compiled kernel decides every point that lies clear of a cell's edge; the few others go to the library.
What the kernel must know of the grid (where the faces lie, which base cell is where, how digits turn) is
read off the library's own answers, so there is one source of truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats
from tripcloak.hierarchy.geometry import to_degrees, unit_vectors
from tripcloak.hierarchy.h3.cells import FINEST
from tripcloak.hierarchy.tiling import Keys

MANY_POINTS = 50_000
"""From here on loading the compiled kernel pays."""

# A step (i, j) to each of the seven children of a hexagon, in the order of H3's digits.
_STEPS = ((0, 0), (-1, -1), (0, 1), (-1, 0), (1, 0), (0, -1), (1, 1))
# Each digit after a sixth of a turn anticlockwise.
_TURN = (0, 5, 3, 1, 6, 4, 2, 7)
# Both computations are good to about 1e-14 radians where the kernel decides; keep well clear of that.
_DOUBT_RADIANS = 1e-12
_LEAST_DOUBT = 1e-9
_PROBE_RESOLUTION = 4


def encode_points(lat: Floats, lon: Floats, resolution: int) -> Keys:
    """Return the H3 cell of every point.

    Examples
    --------
    >>> hex(encode_points(np.array([40.6892]), np.array([-74.0445]), 10)[0])
    '0x8a2a1072b59ffff'
    """
    lat, lon = np.ascontiguousarray(lat, dtype=float), np.ascontiguousarray(lon, dtype=float)
    if len(lat) < MANY_POINTS:
        return library_cells(lat, lon, resolution)
    cells = kernel_cells(lat, lon, resolution)
    undecided = np.flatnonzero(cells == 0)
    cells[undecided] = library_cells(lat[undecided], lon[undecided], resolution)
    return cells


def library_cells(lat: Floats, lon: Floats, resolution: int) -> Keys:
    """Return the H3 cell of every point, one call of the h3 library each."""
    from h3.api.basic_int import latlng_to_cell

    points = zip(lat.tolist(), lon.tolist(), strict=True)
    return np.fromiter((latlng_to_cell(a, b, resolution) for a, b in points), np.uint64, count=len(lat))


def kernel_cells(lat: Floats, lon: Floats, resolution: int) -> Keys:
    """Return the H3 cell of every point that lies clear of an edge, 0 for the others."""
    header = np.uint64(1 << 59 | resolution << 52 | (1 << 3 * (FINEST - resolution)) - 1)
    return _run(lat, lon, resolution, _learn_grid(), header)


class _Grid(NamedTuple):
    """Base cell per face and coarse hexagon, and the turns of its digits by leading digit (-1 unknown)."""

    base_cell: NDArray[np.int64]
    turns: NDArray[np.int8]


def _run(lat: Floats, lon: Floats, resolution: int, grid: _Grid, header: np.uint64) -> Keys:
    from tripcloak.hierarchy._kernels import encode_cells

    digit_of = np.zeros(9, dtype=np.int64)
    for digit, (i, j) in enumerate(_STEPS):
        digit_of[3 * i + j + 4] = digit
    frames, spacing = _frames(resolution)
    margin = max(_DOUBT_RADIANS / spacing, _LEAST_DOUBT)
    turned = _turned().astype(np.uint64)
    return encode_cells(lat, lon, resolution, frames, *grid, turned, digit_of, header, margin)


@cache
def _learn_grid() -> _Grid:
    """Return the grid's tables, read off the library at probe points all over the globe.

    An entry whose probes disagree, or that no probe met, stays unknown: the kernel then decides nothing.
    """
    lat, lon = _probes()
    # With every hexagon of every face numbered apart and nothing turned, the kernel tells what it saw.
    blank = _Grid(np.arange(500, dtype=np.int64).reshape(20, 5, 5), np.zeros((20, 5, 5, 8), dtype=np.int8))
    seen = _run(lat, lon, _PROBE_RESOLUTION, blank, np.uint64(1 << 63))
    clear = seen != 0
    truth = library_cells(lat[clear], lon[clear], _PROBE_RESOLUTION)
    place = ((seen[clear] >> np.uint64(45)) & np.uint64(511)).astype(np.int64)
    base = ((truth >> np.uint64(45)) & np.uint64(127)).astype(np.int64)
    raw, true = _digits(seen[clear]), _digits(truth)
    leading = np.take_along_axis(raw, np.argmax(raw != 0, axis=1)[:, None], axis=1)[:, 0]
    turns = np.full((500, 8), -1, dtype=np.int8)
    for number, turn in enumerate(_turned()):
        fails = np.zeros((500, 8), dtype=bool)
        meets = np.zeros((500, 8), dtype=bool)
        np.logical_or.at(fails, (place, leading), (turn[raw] != true).any(axis=1))
        meets[place, leading] = True
        turns[meets & ~fails] = number
    turns[:, 0] = 0
    base_cell = np.full(500, -1, dtype=np.int64)
    base_cell[place] = base
    base_cell[np.unique(place[base != base_cell[place]])] = -1
    return _Grid(base_cell.reshape(20, 5, 5), turns.reshape(20, 5, 5, 8))


def _digits(cells: Keys) -> NDArray[np.int64]:
    shifts = np.array([3 * (FINEST - r) for r in range(1, _PROBE_RESOLUTION + 1)], dtype=np.uint64)
    return ((cells[:, None] >> shifts) & np.uint64(7)).astype(np.int64)


def _turned() -> NDArray[np.int64]:
    """Return each digit after 0 to 5 sixths of a turn."""
    rows = [np.arange(8)]
    for _ in range(5):
        rows.append(np.array(_TURN)[rows[-1]])
    return np.array(rows)


def _probes(number: int = 40_000) -> tuple[Floats, Floats]:
    """Return points spread evenly over the globe (a Fibonacci spiral), and more about every corner."""
    step = np.arange(number) + 0.5
    lat = np.degrees(np.arcsin(1 - 2 * step / number))
    lon = (step * 360 * (math.sqrt(5) - 1) / 2) % 360 - 180
    angle = np.arange(600) * 2 * math.pi * (math.sqrt(5) - 1) / 2
    reach = 0.25 * np.exp(-np.arange(600) / 150)
    around = []
    for corner in _corners():
        east = np.cross(corner, np.roll(corner, 1))
        east /= np.linalg.norm(east)
        ring = np.outer(np.cos(angle) * reach, east) + np.outer(np.sin(angle) * reach, np.cross(corner, east))
        around.append(corner + ring)
    near_lat, near_lon = to_degrees(np.concatenate(around))
    return np.concatenate([lat, near_lat]), np.concatenate([lon, near_lon])


def _frames(resolution: int) -> tuple[Floats, float]:
    """Return (centre, axis, axis) per face with the axes scaled to the lattice, and the lattice's spacing."""
    corners = _corners()
    trios = [trio for trio in combinations(range(12), 3) if _adjacent(corners, trio)]
    centre = corners[trios].sum(axis=1)
    centre /= np.linalg.norm(centre, axis=1, keepdims=True)
    ahead = corners[[trio[0] for trio in trios]]
    # A corner of a face lies two steps of the coarsest lattice from the face's centre.
    depth = (ahead * centre).sum(axis=1, keepdims=True)
    ahead = ahead / depth - centre
    coarsest = float(np.linalg.norm(ahead, axis=1).mean()) / 2
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    left = np.cross(centre, ahead)
    # Seven cells make one parent: the spacing shrinks by the square root of 7, and odd resolutions are
    # turned by the angle that this takes.
    turn = math.asin(math.sqrt(3 / 28)) if resolution % 2 else 0.0
    spacing = coarsest / math.sqrt(7) ** resolution
    axis_u = (math.cos(turn) * ahead + math.sin(turn) * left) / spacing
    axis_v = (math.cos(turn) * left - math.sin(turn) * ahead) / spacing
    return np.stack([centre, axis_u, axis_v], axis=1), spacing


def _corners() -> Floats:
    """Return the twelve corners of H3's icosahedron as unit vectors: the centres of the pentagons."""
    from h3.api.basic_int import cell_to_latlng, get_pentagons

    lat, lon = np.array([cell_to_latlng(cell) for cell in get_pentagons(0)]).T
    return unit_vectors(lat, lon)


def _adjacent(corners: Floats, trio: Iterable[int]) -> bool:
    return all(float(corners[a] @ corners[b]) > 0.4 for a, b in combinations(trio, 2))
