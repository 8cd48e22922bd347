"""Compiled loops of the hierarchy package: H3 encoding of points, and points in boxes.

A point is put on the nearest of the twenty faces of the icosahedron, projected onto that face's plane,
rounded to the hexagonal lattice there, and divided by seven again and again to read off its digits. The
lattice uses two axes 120 degrees apart, so a hexagon is a pair of integers (i, j). A table, taken from the
h3 library by `h3_encode`, then gives the base cell and by how much the digits turn.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints

# Inside the circle inscribed in a face no other face can be nearer (the circle's cosine is 0.93417...).
INSCRIBED = 0.9342
# Nearer to a face's centre than a thousandth of a radian the h3 library itself loses digits.
CENTRAL = 1 - 0.5e-6
FACE_TIE = 1e-11


@njit(cache=True, nogil=True)
def encode_cells(
    lat: Floats,
    lon: Floats,
    resolution: int,
    frames: Floats,
    base_cell: NDArray[np.int64],
    turns: NDArray[np.int8],
    turned: NDArray[np.uint64],
    digit_of: NDArray[np.int64],
    header: np.uint64,
    margin: float,
) -> NDArray[np.uint64]:
    """Return the cell of every point, or 0 where rounding could decide otherwise than the h3 library.

    Parameters
    ----------
    lat, lon
        Degrees.
    frames
        Per face its centre and the two axes of its plane, scaled so that the lattice has unit spacing.
    base_cell, turns
        Per face and corner of the coarsest lattice: the base cell (-1 unknown) and, by leading digit, how
        many sixths of a full turn its digits are turned (-1 unknown).
    turned
        Digit after a number of turns.
    digit_of
        Digit of a step (i, j) from the parent's centre, at 3 i + j + 4.
    header
        The bits outside base cell and digits.
    margin
        Least distance from a cell's edge, in units of the lattice, at which a point is decided.
    """
    cells = np.zeros(len(lat), dtype=np.uint64)
    face = int(np.int64(0))
    for p in range(len(lat)):
        phi, lam = math.radians(lat[p]), math.radians(lon[p])
        flat = math.cos(phi)
        x, y, z = flat * math.cos(lam), flat * math.sin(lam), math.sin(phi)
        face, depth = _nearest_face(x, y, z, face, frames)
        if not 0.0 < depth < CENTRAL:
            continue
        frame = frames[face]
        u = (x * frame[1, 0] + y * frame[1, 1] + z * frame[1, 2]) / depth
        v = (x * frame[2, 0] + y * frame[2, 1] + z * frame[2, 2]) / depth
        i, j, inside = _nearest_hexagon(u, v)
        if inside < margin:
            continue
        i, j, digits, leading = _divide(i, j, resolution, digit_of)
        if base_cell[face, i + 2, j + 2] < 0 or turns[face, i + 2, j + 2, leading] < 0:
            continue
        row = turned[turns[face, i + 2, j + 2, leading]]
        cell = header | (np.uint64(base_cell[face, i + 2, j + 2]) << np.uint64(45))
        for r in range(1, resolution + 1):
            shift = np.uint64(3 * (15 - r))
            cell |= row[(digits >> shift) & np.uint64(7)] << shift
        cells[p] = cell
    return cells


@njit(cache=True, nogil=True)
def _nearest_face(x: float, y: float, z: float, guess: int, frames: Floats) -> tuple[int, float]:
    """Return the nearest face and the cosine of the angle to its centre, negative where two faces tie."""
    # Records come in runs from one city, so the last point's face is nearly always right.
    best = x * frames[guess, 0, 0] + y * frames[guess, 0, 1] + z * frames[guess, 0, 2]
    if best > INSCRIBED:
        return guess, best
    face, best, second = guess, -2.0, -2.0
    for f in range(len(frames)):
        cosine = x * frames[f, 0, 0] + y * frames[f, 0, 1] + z * frames[f, 0, 2]
        if cosine > best:
            face, best, second = f, cosine, best
        elif cosine > second:
            second = cosine
    return face, best if best - second > FACE_TIE else -1.0


@njit(cache=True, nogil=True)
def _nearest_hexagon(u: float, v: float) -> tuple[int, int, float]:
    """Return the hexagon (i, j) that holds a point of the plane, and how far inside its edge it lies."""
    # Three coordinates that add up to 0: round each, then mend the one that was rounded furthest.
    a = u + v / math.sqrt(3.0)
    c = -2.0 * v / math.sqrt(3.0)
    b = -a - c
    near_a, near_b, near_c = math.floor(a + 0.5), math.floor(b + 0.5), math.floor(c + 0.5)
    if near_a + near_b + near_c != 0:
        off_a, off_b, off_c = abs(a - near_a), abs(b - near_b), abs(c - near_c)
        if off_a >= off_b and off_a >= off_c:
            near_a = -near_b - near_c
        elif off_b >= off_c:
            near_b = -near_a - near_c
        else:
            near_c = -near_a - near_b
    a, b, c = a - near_a, b - near_b, c - near_c
    return int(near_a), int(-near_c), 1.0 - max(abs(a - b), abs(b - c), abs(c - a))


@njit(cache=True, nogil=True)
def _divide(i: int, j: int, resolution: int, digit_of: NDArray[np.int64]) -> tuple[int, int, np.uint64, int]:
    """Return the coarsest hexagon above (i, j), the digits that lead down to it, and the leading digit."""
    digits, leading = np.uint64(0), 0
    for r in range(resolution, 0, -1):
        # Odd resolutions are turned one way against their parents, even ones the other way. (n + 3) // 7
        # is n / 7 rounded; seven being odd, it never stands half-way.
        if r % 2:
            up_i, up_j = (3 * i - j + 3) // 7, (i + 2 * j + 3) // 7
            centre_i, centre_j = 2 * up_i + up_j, 3 * up_j - up_i
        else:
            up_i, up_j = (2 * i + j + 3) // 7, (3 * j - i + 3) // 7
            centre_i, centre_j = 3 * up_i - up_j, up_i + 2 * up_j
        digit = digit_of[3 * (i - centre_i) + (j - centre_j) + 4]
        digits |= np.uint64(digit) << np.uint64(3 * (15 - r))
        leading = digit if digit else leading
        i, j = up_i, up_j
    return i, j, digits, leading


@njit(cache=True, nogil=True)
def count_before(rank: Ints, upto: Ints, low: Ints, high: Ints) -> Ints:
    """Return, for every question, how many of the first ``upto`` ranks lie in ``low`` to below ``high``.

    ``upto`` ascends. A tree of partial sums (Fenwick's) over the ranks takes log n steps each.
    """
    n = len(rank)
    sums = np.zeros(n + 1, dtype=np.int64)
    found = np.empty(len(upto), dtype=np.int64)
    entered = 0
    for question in range(len(upto)):
        # Invariant: exactly the first `entered` ranks are in the sums.
        while entered < upto[question]:
            at = rank[entered] + 1
            while at <= n:
                sums[at] += 1
                at += at & -at
            entered += 1
        total = 0
        at = high[question]
        while at > 0:
            total += sums[at]
            at -= at & -at
        at = low[question]
        while at > 0:
            total -= sums[at]
            at -= at & -at
        found[question] = total
    return found
