"""H3 cells as arrays: resolutions, parents, children and text by bit arithmetic.

An H3 cell is 64 bits: a mode (1) in bits 59-62, the resolution in 52-55, the base cell in 45-51, and
fifteen digits of three bits, coarsest first; digits beyond the resolution are 7.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Ints
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
