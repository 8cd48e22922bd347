"""H3 cells as arrays: resolutions, parents, children and text by bit arithmetic, and points to cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Floats, Ints, to_read
from tripcloak.hierarchy.geometry import to_degrees, unit_vectors
from tripcloak.hierarchy.tiling import OUTSIDE, Keys

FINEST = 15

PENTAGONS = (4, 14, 24, 38, 49, 58, 63, 72, 83, 97, 107, 117)
"""The twelve base cells that sit on the corners of the icosahedron."""

_BASE_CELLS = 122
TEXT_WIDTH = 15
_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8).astype(np.uint32)


def base_cells() -> Keys:
    """Return the 122 cells of resolution 0, which cover the world.

    >>> cells_to_text(base_cells()[:2]).tolist()
    ['8001fffffffffff', '8003fffffffffff']
    """
    numbers = np.arange(_BASE_CELLS, dtype=np.uint64) << np.uint64(45)
    return numbers | np.uint64(1 << 59) | _unused(0)


def resolution_of(cells: Keys) -> Ints:
    """Return the resolution of every cell.

    >>> resolution_of(np.array([0x8A2A1072B59FFFF, 0x8001FFFFFFFFFFF], dtype=np.uint64)).tolist()
    [10, 0]
    """
    return ((cells >> np.uint64(52)) & np.uint64(15)).astype(np.int64)


def base_cell_of(cells: Keys) -> Ints:
    """Return the base cell (0 to 121) of every cell.

    >>> base_cell_of(np.array([0x8A2A1072B59FFFF], dtype=np.uint64)).tolist()
    [21]
    """
    return ((cells >> np.uint64(45)) & np.uint64(127)).astype(np.int64)


def parent_cells(cells: Keys, resolution: int) -> Keys:
    """Return the ancestor of every cell at a resolution; the cells must not be coarser than it.

    >>> cells_to_text(parent_cells(np.array([0x8A2A1072B59FFFF], dtype=np.uint64), 5)).tolist()
    ['852a1073fffffff']
    """
    return (cells & ~np.uint64(15 << 52)) | np.uint64(resolution << 52) | _unused(resolution)


def last_digits(cells: Keys) -> Ints:
    """Return which child of its parent every cell is, as H3's digit: 0 the centre, 1 to 6 around it.

    Cells of resolution 0 have no parent, and no digit that means anything.

    >>> last_digits(np.array([0x8A2A1072B59FFFF, 0x852A1073FFFFFFF], dtype=np.uint64)).tolist()
    [3, 4]
    """
    shift = (3 * (FINEST - resolution_of(cells))).astype(np.uint64)
    return ((cells >> shift) & np.uint64(7)).astype(np.int64)


def child_cells(cells: Keys, digit: Ints) -> Keys:
    """Return the child of every cell that has this digit; a pentagon has no child 1.

    >>> cells_to_text(child_cells(np.array([0x852A1073FFFFFFF], dtype=np.uint64), np.array([0]))).tolist()
    ['862a10707ffffff']
    """
    finer = resolution_of(cells) + 1
    shift = (3 * (FINEST - finer)).astype(np.uint64)
    # The child's digit reads 7 in its parent, so the other bits of 7 are taken away.
    return (cells + np.uint64(1 << 52)) ^ ((7 - digit).astype(np.uint64) << shift)


def is_pentagon(cells: Keys) -> Bools:
    """Return which cells are pentagons: every used digit of a pentagonal base cell is 0.

    >>> is_pentagon(np.array([0x8009FFFFFFFFFFF, 0x8A2A1072B59FFFF], dtype=np.uint64)).tolist()
    [True, False]
    """
    used = np.uint64((1 << 45) - 1) & ~_unused_by_resolution()[resolution_of(cells)]
    centred: Bools = (cells & used) == 0
    return np.logical_and(np.isin(base_cell_of(cells), PENTAGONS), centred)


def descendants(cells: Keys, resolution: int) -> Ints:
    """Return the number of cells of a finer resolution inside every cell.

    A hexagon has seven children. A pentagon has six, one of which is again a pentagon.

    >>> pentagon, hexagon = 0x8009FFFFFFFFFFF, 0x8001FFFFFFFFFFF
    >>> descendants(np.array([pentagon, hexagon], dtype=np.uint64), 2).tolist()
    [41, 49]
    """
    hexagons: Ints = np.power(np.int64(7), resolution - resolution_of(cells))
    pentagons: Ints = 1 + 5 * (hexagons - 1) // 6
    return np.where(is_pentagon(cells), pentagons, hexagons)


def cells_to_text(cells: Keys) -> NDArray[np.str_]:
    """Return the hexadecimal text of every cell; cells of one resolution sort alike as text.

    >>> cells_to_text(np.array([0x8A2A1072B59FFFF], dtype=np.uint64)).tolist()
    ['8a2a1072b59ffff']
    """
    shifts = np.arange(4 * (TEXT_WIDTH - 1), -1, -4, dtype=np.uint64)
    nibbles = (np.asarray(cells, dtype=np.uint64)[:, None] >> shifts) & np.uint64(15)
    return np.ascontiguousarray(_HEX[nibbles]).view(f"<U{TEXT_WIDTH}").ravel()


def text_to_cells(ids: Sequence[str] | NDArray[np.str_]) -> Keys:
    """Return the cell that every text names, or OUTSIDE where it names none.

    >>> [hex(cell) for cell in text_to_cells(["8A2A1072B59FFFF", "8a2a1072b59ffff "]).tolist()]
    ['0x8a2a1072b59ffff', '0xffffffffffffffff']
    >>> bool(text_to_cells(["Main Street"])[0] == OUTSIDE)
    True
    """
    texts = np.asarray(ids, dtype=np.str_)
    fits = np.strings.str_len(texts) == TEXT_WIDTH
    # A short text is padded with zero characters, which are no digits, so it cannot pass as a number.
    letters = np.ascontiguousarray(texts.astype(f"<U{TEXT_WIDTH}")).view(np.uint32)
    letters = letters.reshape(len(texts), TEXT_WIDTH)
    value = np.full(128, 255, dtype=np.uint8)
    value[_HEX] = np.arange(16)
    value[_HEX[10:] - 32] = np.arange(10, 16)
    nibbles = value[np.minimum(letters, 127)]
    fits &= (nibbles < 16).all(axis=1)
    cells = np.zeros(len(texts), dtype=np.uint64)
    for column in range(TEXT_WIDTH):
        cells = (cells << np.uint64(4)) | (nibbles[:, column] & np.uint8(15)).astype(np.uint64)
    return np.where(fits & is_cell(cells), cells, OUTSIDE)


def is_cell(cells: Keys) -> Bools:
    """Return which numbers are cells of the H3 grid.

    >>> is_cell(np.array([0x8A2A1072B59FFFF, 0x8A2A1072B59FFF0, 7], dtype=np.uint64)).tolist()
    [True, False, False]
    """
    cells = np.asarray(cells, dtype=np.uint64)
    resolution, base = resolution_of(cells), base_cell_of(cells)
    valid: Bools = ((cells >> np.uint64(56)) == 8) & (base < _BASE_CELLS)
    leading = np.zeros(len(cells), dtype=np.int64)
    for r in range(1, FINEST + 1):
        digit = ((cells >> np.uint64(3 * (FINEST - r))) & np.uint64(7)).astype(np.int64)
        used = resolution >= r
        valid &= used != (digit == 7)
        leading = np.where(used & (leading == 0), digit, leading)
    # Direction 1 is the sixth of a hexagon that a pentagon lacks.
    valid &= ~(np.isin(base, PENTAGONS) & (leading == 1))
    return valid


def _unused(resolution: int) -> np.uint64:
    return np.uint64((1 << (3 * (FINEST - resolution))) - 1)


def _unused_by_resolution() -> Keys:
    return np.array([_unused(r) for r in range(FINEST + 1)], dtype=np.uint64)


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
    return encode_cells(
        to_read(lat), to_read(lon), resolution, frames, *grid, turned, digit_of, header, margin
    )


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
