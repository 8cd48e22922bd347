"""Grid generalisation: everybody is told by cells and slots, as coarse as it takes for k people in each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Presence, TrajectoryPromise
from tripcloak.trajectories.methods.cells import (
    ABOUT_CELL,
    ABOUT_INTERVAL,
    Lattice,
    check_lengths,
    codes_of,
    firsts_of,
)
from tripcloak.trajectories.methods.method import HidingMethod
from tripcloak.trajectories.methods.tilings import Hexagons, Sides, Squares, Tiling
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectorySolution

FINEST = 15
"""H3's finest resolution."""
WIDTH = 500
"""Metres of the finest square, unless another is asked for."""
USUAL = 8
"""The resolution of H3 whose cells are nearest to squares of 500 metres and their doubles: 0.74 km2."""


@dataclass(frozen=True, kw_only=True)
class GridGeneralisation(HidingMethod):
    """Grid generalisation (Gidofalvi, Huang and Pedersen 2007), with k people in every box.

    Place is cut into cells and time into slots, for everybody alike. What is released of a person in a slot
    is the rectangle around the cell, or the cells, that hold all samples of that slot; slots in a row with
    the same rectangle are one box. How wide a cell is, the partition says; it is widened until k people
    were in it.

    From the paper come the three partitions; that k people be in every box is Gruteser and Grunwald's (2003),
    and decides the levels, which the paper leaves to each person. A rectangle of several cells counts as safe
    where one of its cells is. What is not safe in the widest cell either is withheld.

    Parameters
    ----------
    partition
        ``common``: cells of one width for everybody. ``individual``: of one width a person. ``irregular``: of
        a width for each person and region, wider where the person stays often.
    cells
        ``square``: squares, which are doubled. ``h3``: hexagons of H3, of which the parent is taken; k people
        are in the hexagon, and the rectangle around it is released.
    cell
        Metres of the finest square.
    resolution
        H3's resolution of the finest hexagon, 0 to 15.
    interval
        Seconds of a slot.
    withheld
        The share of samples that may be withheld: of all, and of one person where widths are a person's own.
    frequent
        From which share of a person's slots on a cell is a place where the person stays often
        (``irregular``).
    sensitive
        Places that are sensitive for everybody, beside those: latitude and longitude in degrees, with a
        semicolon between two places (``irregular``). They are not published.
    doublings
        How often cells of both are doubled at least, or how often their parent is taken (``irregular``).

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> made = Trajectories.of(user=[0, 1, 2, 3], t=[0, 1, 2, 3], x=[1, 2, 30, 31], y=[0] * 4, grid=Grid())
    >>> release = GridGeneralisation(k=2, cell=1000, interval=600).anonymise(made)
    >>> release.boxes.x0.tolist(), release.boxes.x1.tolist()
    ([0, 0, 30, 30], [10, 10, 40, 40])
    """

    name: ClassVar[str] = "grid"
    summary: ClassVar[str] = "cells and slots, as coarse as k people in each of them ask for"
    source: ClassVar[str] = "Gidofalvi, Huang and Pedersen 2007, grid-based anonymisation"
    makes: ClassVar[type[TrajectoryPromise]] = Presence

    partition: str = option(
        "common",
        help="Whose cells: one width for all, one a person, or one a person and region.",
        metavar="NAME",
        values=("common", "individual", "irregular"),
    )
    cells: str = option(
        "square",
        help="What cells are: squares and their doubles, or hexagons of H3 and their parents.",
        metavar="NAME",
        values=("square", "h3"),
    )
    cell: int | None = option(None, unset="500", **ABOUT_CELL)
    resolution: int | None = option(
        None, help="H3: resolution of the finest cells, up to 15.", unset="8", metavar="N", least=0
    )
    interval: int = option(3600, **ABOUT_INTERVAL)
    withheld: float = option(0.1, help="Share of samples that may be withheld.", metavar="SHARE", least=0)
    frequent: float = option(
        0.2,
        help="Irregular: share of a person's slots that makes a cell one of frequent stays.",
        metavar="SHARE",
        least=0,
    )
    sensitive: str | None = option(
        None,
        help="Irregular: places that are sensitive for everybody, 'lat,lon;lat,lon'.",
        unset="frequent stays alone",
        metavar="PLACES",
    )
    doublings: int = option(
        1,
        help="Irregular: how often cells of frequent stays and sensitive places are doubled at least.",
        metavar="N",
        least=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_lengths(self.width, self.interval)
        if not 0 <= self.withheld < 1:
            raise InputError(
                f"the share that may be withheld is 0 or more and below 1; got {self.withheld:g}"
            )
        if self.sensitive is not None and self.partition != "irregular":
            raise InputError(f"sensitive places are of use for {spelt('partition', 'irregular')} only")
        if self.resolution is not None and self.cells != "h3":
            raise InputError(f"a resolution is of use for {spelt('cells', 'h3')} only")
        if self.cell is not None and self.cells == "h3":
            raise InputError("how wide cells of H3 are, their resolution says; leave the width of cells out")
        if self.finest > FINEST:
            raise InputError(f"H3 has resolutions 0 to {FINEST}; got {self.finest}")
        _places(self.sensitive)

    @property
    def width(self) -> int:
        """Return the metres of the finest square, where it is these."""
        return WIDTH if self.cell is None else self.cell

    @property
    def finest(self) -> int:
        """Return the resolution of H3's finest cells, where it is these."""
        return USUAL if self.resolution is None else self.resolution

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that play a part; where sensitive places are is not published."""
        left_out, told = (
            ("resolution", {"cell": self.width})
            if self.cells == "square"
            else ("cell", {"resolution": self.finest})
        )
        all_of_them = {**super().parameters(), **told}
        return {name: all_of_them[name] for name in all_of_them if name not in ("sensitive", left_out)}

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return everybody told by cells and slots, what cannot be safe left out."""
        lattice = Lattice.of(trajectories.grid, cell=self.width, interval=self.interval)
        tiling: Tiling = (
            Squares.over(trajectories, lattice)
            if self.cells == "square"
            else Hexagons(trajectories.grid, self.finest)
        )
        moments = _moments(trajectories, lattice, tiling)._replace(
            given=_cells_of(self.sensitive, trajectories, tiling)
        )
        safe = np.stack(list(_safe(moments, self.k, progress)))
        levels = _LEVELS[self.partition](self, moments, safe)
        kept = safe[levels, np.arange(len(levels))]
        self._require(moments, kept, safe[-1])
        return _released(trajectories, lattice, moments, levels, kept)

    def _require(self, moments: _Moments, kept: Bools, widest: Bools) -> None:
        lost = float(moments.samples[~kept].sum()) / float(moments.samples.sum())
        # Of each person a share may be withheld, and what cannot be safe at all: never more than both.
        allowed = self.withheld if self.partition == "common" else min(1.0, 2 * self.withheld)
        if lost > allowed or not kept.any():
            raise ImpossibleRequestError(
                f"not possible: with slots of {self.interval:,} seconds too many samples lie where fewer "
                f"than {self.k} people were recorded at the time, however wide cells are; lengthen the slots "
                f"({spelt('interval', 24 * self.interval)}), or ask for a smaller k{_enough(moments, widest)}"
            )


def _enough(moments: _Moments, widest: Bools) -> str:
    """Return words for a share withheld with which there is a release, where one as large as 95 % does."""
    lost = float(moments.samples[~widest].sum()) / float(moments.samples.sum())
    share = math.ceil(20 * lost) / 20
    return f"; as it is, {spelt('withheld', share)} would do" if share < 1 else ""


class _Moments(NamedTuple):
    """Every person's slots, by person and time: the cells of all samples, and how many samples."""

    owner: Ints
    slot: Ints
    samples: Ints
    of_sample: Ints
    tiling: Tiling
    moment: Ints
    """Of every different cell that somebody was in within a slot: whose moment."""
    cells: Ints
    """And which of the finest cells."""
    corner: Ints
    """Of every moment the cell by which its region is known."""
    given: Ints = np.empty(0, np.int64)
    """The cells of sensitive places."""

    def sides(self, rows: Ints, level: int) -> Sides:
        """Return the rectangles around all cells of some moments, at a level."""
        row = np.full(len(self.owner), -1, np.int64)
        row[rows] = np.arange(len(rows))
        ours = np.flatnonzero(row[self.moment] >= 0)
        begins = np.searchsorted(row[self.moment[ours]], np.arange(len(rows)))
        west, east, south, north = self.tiling.rectangles(self.tiling.wider(self.cells[ours], level), level)
        low = (np.minimum.reduceat(side, begins) for side in (west, south))
        high = (np.maximum.reduceat(side, begins) for side in (east, north))
        (x0, y0), (x1, y1) = low, high
        return x0, x1, y0, y1

    def regions(self, level: int) -> Ints:
        """Return a number for each person and region of a level, by moment."""
        return codes_of(self.owner, self.tiling.wider(self.corner, level))


def _moments(trajectories: Trajectories, lattice: Lattice, tiling: Tiling) -> _Moments:
    slot = lattice.slots(trajectories.t)
    cells = tiling.cells(trajectories.x, trajectories.y)
    owner = trajectories.owner
    begins = np.ones(len(owner), dtype=bool)
    begins[1:] = (owner[1:] != owner[:-1]) | (slot[1:] != slot[:-1])
    at, of_sample = np.flatnonzero(begins), np.cumsum(begins) - 1
    stays = np.ones(len(owner), dtype=bool)
    stays[1:] = begins[1:] | (cells[1:] != cells[:-1])
    sizes = np.diff(np.append(at, len(owner)))
    corner = tiling.corners(cells, at)
    return _Moments(owner[at], slot[at], sizes, of_sample, tiling, of_sample[stays], cells[stays], corner)


class _Cells(NamedTuple):
    """Different cells of slots, and who was in which of them: rows of a moment and a cell."""

    slot: Ints
    cell: Ints
    """One of the finest cells within it."""
    moment: Ints
    place: Ints

    @classmethod
    def of(cls, moments: _Moments) -> _Cells:
        """Return the finest cells; somebody may be told to be in one several times."""
        place = codes_of(moments.slot[moments.moment], moments.cells)
        first = firsts_of(place)
        return cls(moments.slot[moments.moment[first]], moments.cells[first], moments.moment, place)

    def wider(self, tiling: Tiling, level: int) -> _Cells:
        """Return the cells of a level, whoever was in one of them told once."""
        code = codes_of(self.slot, tiling.wider(self.cell, level))
        first, place, moment = firsts_of(code), code[self.place], self.moment
        # Rows of a moment lie beside each other, and most have but one.
        alone = np.ones(len(moment), dtype=bool)
        alone[1:] &= moment[1:] != moment[:-1]
        alone[:-1] &= moment[1:] != moment[:-1]
        both = np.unique(moment[~alone] * len(first) + place[~alone])
        moment = np.concatenate([moment[alone], both // len(first)])
        place = np.concatenate([place[alone], both % len(first)])
        order = np.argsort(moment, kind="stable")
        return _Cells(self.slot[first], self.cell[first], moment[order], place[order])


def _safe(moments: _Moments, k: int, progress: Progress) -> Iterator[Bools]:
    """Yield of which moments one of the cells of a level was one of k people in that slot, by level."""
    cells = _Cells.of(moments)
    for level in range(moments.tiling.coarsest + 1):
        progress("counting people in cells", level, None)
        # Invariant: the cells of this level are made up of those of the level before.
        cells = cells.wider(moments.tiling, level)
        crowded = np.bincount(cells.place) >= k
        found = np.zeros(len(moments.owner), dtype=bool)
        found[cells.moment[crowded[cells.place]]] = True
        yield found


def _common(method: GridGeneralisation, moments: _Moments, safe: Bools) -> Ints:
    """Return the first level at which no more than the limit is withheld, for everybody; the last if none."""
    lost = (~safe * moments.samples).sum(axis=1)
    fits = np.flatnonzero(lost <= method.withheld * moments.samples.sum())
    return np.full(len(moments.owner), fits[0] if len(fits) else len(safe) - 1)


def _individual(method: GridGeneralisation, moments: _Moments, safe: Bools) -> Ints:
    """Return for each person the first level at which no more than the limit is withheld, or can be safe."""
    people = int(moments.owner[-1]) + 1
    lost = np.stack([np.bincount(moments.owner, moments.samples * ~one, minlength=people) for one in safe])
    allowed = np.maximum(method.withheld * np.bincount(moments.owner, moments.samples), lost[-1])
    first: Ints = np.argmax(lost <= allowed, axis=0)
    return first[moments.owner]


def _irregular(method: GridGeneralisation, moments: _Moments, safe: Bools) -> Ints:
    """Return for each person and region the first level at which all slots in it are safe that can be."""
    first = np.where(safe.any(axis=0), np.argmax(safe, axis=0), len(safe) - 1)
    wider = _stays_often(method, moments) | _at_given(moments)
    first = np.maximum(first, np.where(wider, method.doublings, 0))
    levels: Ints = np.minimum(first, len(safe) - 1)
    # Invariant: at levels above this one, a region that somebody has at that level is had so at all times.
    for level in range(len(safe) - 1, 0, -1):
        region = moments.regions(level)
        coarse = np.zeros(int(region.max()) + 1, dtype=bool)
        coarse[region[levels >= level]] = True
        levels = np.maximum(levels, np.where(coarse[region], level, 0))
    return levels


def _stays_often(method: GridGeneralisation, moments: _Moments) -> Bools:
    """Return which moments are in a cell where their person spends that share of all slots, or more."""
    place = moments.regions(0)
    share = np.bincount(place)[place] / np.bincount(moments.owner)[moments.owner]
    often: Bools = share >= method.frequent
    return often


def _at_given(moments: _Moments) -> Bools:
    """Return which moments have the cell of a sensitive place within their rectangle."""
    touched = np.zeros(len(moments.owner), dtype=bool)
    if not len(moments.given):
        return touched
    x0, x1, y0, y1 = moments.sides(np.arange(len(touched)), 0)
    for west, east, south, north in zip(*moments.tiling.rectangles(moments.given, 0), strict=True):
        touched |= (x0 <= west) & (east <= x1) & (y0 <= south) & (north <= y1)
    return touched


def _cells_of(sensitive: str | None, trajectories: Trajectories, tiling: Tiling) -> Ints:
    """Return the cell that each sensitive place is in."""
    lat, lon = np.array(_places(sensitive), np.float64).reshape(-1, 2).T
    if not len(lat):
        return np.empty(0, np.int64)
    x, y = (np.floor(side / trajectories.grid.metres) for side in trajectories.grid.project(lon, lat))
    return tiling.cells(x.astype(np.int64), y.astype(np.int64))


def _places(sensitive: str | None) -> list[tuple[float, float]]:
    """Return latitudes and longitudes, or raise where the text tells none.

    >>> _places("48.85,2.35; 48.9,2.4"), _places(None)
    ([(48.85, 2.35), (48.9, 2.4)], [])
    """
    told = []
    for place in [] if sensitive is None else sensitive.split(";"):
        try:
            lat, lon = (float(side) for side in place.split(","))
        except ValueError:
            lat = lon = math.nan
        if not (abs(lat) <= 90 and abs(lon) <= 180):
            raise InputError(
                f"{spelt('sensitive')}: places are latitude and longitude in degrees with a semicolon "
                "between two of them, such as 48.85,2.35;48.9,2.4; one of them is not"
            )
        told.append((lat, lon))
    return told


_LEVELS = {"common": _common, "individual": _individual, "irregular": _irregular}


def _released(
    trajectories: Trajectories, lattice: Lattice, moments: _Moments, levels: Ints, kept: Bools
) -> TrajectorySolution:
    """Return the boxes of what is kept; slots in a row with the same cells are one box."""
    rows = np.flatnonzero(kept)
    owner, slot, level = moments.owner[rows], moments.slot[rows], levels[rows]
    around = np.empty((4, len(rows)), np.int64)
    for one in np.unique(level).tolist():
        some = np.flatnonzero(level == one)
        around[:, some] = moments.sides(rows[some], one)
    begin = slot * lattice.slot - lattice.first
    sides = Boxes(begin, begin + lattice.slot, *around)
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = (owner[1:] != owner[:-1]) | (slot[1:] != slot[:-1] + 1)
    for side in sides[2:]:
        begins[1:] |= side[1:] != side[:-1]
    at = np.flatnonzero(begins)
    boxes = Boxes(
        sides.t0[at], np.append(sides.t1[at[1:] - 1], sides.t1[-1]), *(side[at] for side in sides[2:])
    )
    box_of = np.full(len(moments.owner), -1, np.int64)
    box_of[rows] = np.cumsum(begins) - 1
    people, first = np.unique(owner[at], return_index=True)
    released_of = np.full(trajectories.n_users, -1, np.int64)
    released_of[people] = np.arange(len(people))
    facts = {
        "mean_level": float(np.average(level, weights=moments.samples[rows])),
        "widest_level": int(level.max()),
    }
    return TrajectorySolution(np.append(first, len(at)), boxes, released_of, box_of[moments.of_sample], facts)
