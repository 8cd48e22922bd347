"""Where on earth the fixes are, and the one projection in metres that serves them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import FEW
from tripcloak.ground.spelling import spelt
from tripcloak.trajectories.reading.tracks import Tracks, distance_km

REACH_KM = 1750.0
"""So far from the centre of an equal-area projection lengths are wrong by one in a hundred."""

MOST = 0.9
"""The share of fixes, and of people, that a study area must hold to be taken without asking."""

PEOPLE = "people"
"""What those are called whose fixes they are, unless their ids stand for something else."""

_HALF_HEIGHT = 11
"""Degrees from the middle of a study area to its northern and southern edge."""

_ROWS, _COLUMNS = 180, 360
_CANDIDATES = 50
_CHUNK = 1 << 20

Box = tuple[float, float, float, float]


class Region(NamedTuple):
    """Where a projection serves: its centre, and the study area where fixes beyond it must be left out."""

    lat: float
    lon: float
    box: Box | None = None

    @property
    def projection(self) -> str:
        """Return the PROJ text of the equal-area projection around the centre."""
        return f"+proj=laea +lat_0={self.lat:g} +lon_0={self.lon:g} +datum=WGS84 +units=m +no_defs"


class Cells(NamedTuple):
    """The cells of one degree in which there are fixes.

    Attributes
    ----------
    south, west : array of int64
        Their corner.
    fixes, people : array of int64
        How many fixes, and how many different people, are in each.
    """

    south: Ints
    west: Ints
    fixes: Ints
    people: Ints


def choose_region(
    cells: Cells,
    box: Box | None = None,
    *,
    k: int | None = None,
    centre: tuple[float, float] | None = None,
    called: str = PEOPLE,
) -> Region:
    """Return the region that serves all fixes, or the study area that holds nearly all of them.

    It is published, so it follows from cells that k people reach (ten, where there are such cells): one
    person far away does not move it. The centre is rounded to a tenth of a degree; edges of a study area
    are whole degrees around it.

    Parameters
    ----------
    box
        The area that was asked for, if any: south, west, north, east.
    k
        How many people must reach a cell; where nothing is promised, all cells do where none is crowded.
    centre
        The centre that was found before, if any.
    called
        What messages call those whose fixes they are.

    Raises
    ------
    InputError
        The fixes are too far apart for one projection, or no cell is reached by k people.

    Examples
    --------
    >>> cells = Cells(*(np.array(column) for column in ([39, 40], [116, 116], [900, 100], [20, 15])))
    >>> choose_region(cells)
    Region(lat=39.9, lon=116.5, box=None)
    """
    if centre is not None:
        return Region(*centre)
    if box is not None:
        return _of_box(cells, box, k, called)
    crowded = _crowded(cells, k, called)
    for middle in (_mean(crowded), _middle(crowded)):
        if _farthest_km(crowded, middle).max() <= REACH_KM:
            if _farthest_km(cells, middle).max() <= REACH_KM:
                return middle
            return _enough(cells, middle._replace(box=box_around(middle)), k, called)
    return _enough(cells, _densest(crowded), k, called)


def _enough(cells: Cells, region: Region, k: int | None, called: str) -> Region:
    """Return a region with a study area, or raise where that does not hold nearly all fixes."""
    if cells.fixes[_cells_within(cells, region.box)].sum() < MOST * cells.fixes.sum():
        raise InputError(too_far_apart(cells, k, called))
    return region


def _of_box(cells: Cells, box: Box, k: int | None, called: str) -> Region:
    """Return the region of a box that was asked for: around its middle, or else around those in it."""
    south, west, north, east = box
    middle = _middle_of(box)
    corners = [(lat, lon) for lat in (south, north) for lon in (west, east)]
    if max(float(distance_km(middle.lat, middle.lon, *corner)) for corner in corners) <= REACH_KM:
        return middle
    crowded = _crowded(cells, k, called)
    for around in (_mean(crowded), _middle(crowded)):
        if _farthest_km(cells, around).max() <= REACH_KM:
            return around
    raise InputError(
        "the box is too large: one projection in metres serves places within about "
        f"{REACH_KM:,.0f} km of its centre, and the fixes in the box lie further apart; make it smaller"
    )


def _crowded(cells: Cells, k: int | None, called: str) -> Cells:
    """Return the cells that many people reach: ten and k of them, or k of them where there are no others."""
    for least in (max(FEW, k or 0), k or 0):
        many = cells.people >= least
        if many.any():
            return Cells(*(column[many] for column in cells))
    raise InputError(
        f"no part of the earth, one degree wide, is reached by {k:,} {called}, so that a projection would "
        f"tell where fewer are; give {spelt('box', 'south,west,north,east')}"
    )


def too_far_apart(cells: Cells, k: int | None, called: str = PEOPLE) -> str:
    """Return words for the error that no projection serves, with the regions that there are."""
    why = (
        "the fixes lie too far apart: one projection in metres serves places within about "
        f"{REACH_KM:,.0f} km of its centre, and no such region holds {MOST:.0%} of the fixes and of the "
        f"{called}"
    )
    regions = propose_regions(cells, k)
    if not regions:
        box = spelt("box", "south,west,north,east")
        return f"{why}. Choose one with {box} (in degrees, such as 35,-10,45,5)"
    return f"{why}. {where_people_are(regions, called)}"


def where_people_are(regions: Sequence[Box], called: str = PEOPLE) -> str:
    """Return the boxes around most of them, to be typed one at a time, and how to release all of them."""
    boxes = " or ".join(spelt("box", ",".join(f"{edge:g}" for edge in box)) for box in regions)
    all_of_them = "; `tripcloak trajectories anonymise --regions auto` releases each by itself"
    return f"Most {called} are in {boxes}{all_of_them if len(regions) > 1 else ''}"


SPAN_KM = 500.0
"""So far apart, places that many people reach are no longer one region; boxes are proposed then."""

MOST_REGIONS = 8
WORTH = 0.2
"""A region begins with a cell of this share of the people in the first one: among few, nobody hides well."""

_WIDEST = 5
"""Degrees from south to north that a region has at most, and about as many from west to east."""


def propose_regions(cells: Cells, k: int | None = None) -> tuple[Box, ...]:
    """Return boxes of whole degrees around where most people are, which do not overlap.

    They follow from cells that k people reach, and ten: stray fixes of a few make no region and move no
    edge. Each begins with the cell of most people that is in no region yet, and grows while there are
    such cells beside it, until nine in ten of those who are in such cells are in a region, or only places
    are left where a fifth as many are as in the first.

    Parameters
    ----------
    k
        How many people must reach a cell, beside ten.

    Examples
    --------
    >>> columns = ([40, 40, 51, 10], [-75, -74, -1, 10], [900, 800, 500, 99], [30, 25, 20, 9])
    >>> propose_regions(Cells(*(np.array(column) for column in columns)))
    ((40.0, -75.0, 41.0, -73.0), (51.0, -1.0, 52.0, 0.0))
    """
    many = cells.people >= max(FEW, k or 0)
    crowded = Cells(*(column[many] for column in cells))
    places = list(zip(crowded.south.tolist(), crowded.west.tolist(), strict=True))
    order = np.lexsort((crowded.west, crowded.south, -crowded.people))
    people = dict(zip(places, crowded.people.tolist(), strict=True))
    left, found, held = set(places), list[_Block](), 0
    for row in order:
        enough = len(found) == MOST_REGIONS or held >= MOST * crowded.people.sum()
        if enough or crowded.people[row] < WORTH * crowded.people[order[0]]:
            break
        if places[row] in left:
            found.append(_grown(places[row], left, found))
            held += sum(people[place] for place in left & found[-1].cells())
            left -= found[-1].cells()
    return tuple(block.box for block in found)


def span_km(cells: Cells, k: int | None = None) -> float:
    """Return how far apart the outermost cells are that k people reach, and ten; 0 where there are none.

    >>> far = Cells(*(np.array(column) for column in ([40, 51], [-75, -1], [900, 500], [30, 20])))
    >>> round(span_km(far), -2)
    5600.0
    """
    many = cells.people >= max(FEW, k or 0)
    south, west = cells.south[many] + 0.5, cells.west[many] + 0.5
    if len(south) < 2:
        return 0.0
    # The farthest from the farthest is far enough to say how far.
    first = int(np.argmax(distance_km(south[0], west[0], south, west)))
    return float(np.max(distance_km(south[first], west[first], south, west)))


class _Block(NamedTuple):
    """Some degrees of latitude and longitude: the corner, and how many there are."""

    south: int
    west: int
    height: int
    width: int

    @property
    def box(self) -> Box:
        east = _turned(self.west + self.width)
        return (
            float(self.south),
            float(self.west),
            float(self.south + self.height),
            180.0 if east == -180 else east,
        )

    def cells(self) -> set[tuple[int, int]]:
        return {
            (self.south + up, (self.west + right + 180) % _COLUMNS - 180)
            for up in range(self.height)
            for right in range(self.width)
        }

    def wider(self) -> Iterator[_Block]:
        """Yield the block with one more row or column on each side, where it may have that."""
        south, west, height, width = self
        further = min(_COLUMNS // 2, round(_WIDEST / max(np.cos(np.radians(south + height / 2)), 0.02)))
        if height < _WIDEST:
            if south + height < _ROWS // 2:
                yield self._replace(height=height + 1)
            if south > -_ROWS // 2:
                yield self._replace(south=south - 1, height=height + 1)
        if width < further:
            yield self._replace(width=width + 1)
            yield self._replace(west=(west - 1 + 180) % _COLUMNS - 180, width=width + 1)


def _grown(seed: tuple[int, int], crowded: set[tuple[int, int]], others: Sequence[_Block]) -> _Block:
    """Return the block around a seed, as wide as there are crowded cells beside it and no other block."""
    taken: set[tuple[int, int]] = set().union(*(block.cells() for block in others))
    block = _Block(*seed, 1, 1)
    while True:
        for wider in block.wider():
            new = wider.cells() - block.cells()
            if new & crowded and not new & taken:
                block = wider
                break
        else:
            return block


def tally_cells(tracks: Tracks, skipped: Bools) -> Cells:
    """Return the cells of one degree in which there are fixes that are not to be skipped."""
    fixes = np.zeros(_ROWS * _COLUMNS, dtype=np.int64)
    visits = []
    for rows in _chunks(len(tracks.lat)):
        taken = np.flatnonzero(~skipped[rows]) + rows.start
        cell = _cell_of(tracks.lat[taken], tracks.lon[taken])
        fixes += np.bincount(cell, minlength=len(fixes))
        owner = np.searchsorted(tracks.offsets, taken, side="right") - 1
        visit = owner * len(fixes) + cell
        # People stay where they are: most visits repeat the one before.
        visits.append(np.unique(visit[np.diff(visit, prepend=-1) != 0]))
    people = np.bincount(np.unique(np.concatenate(visits)) % len(fixes), minlength=len(fixes))
    at = np.flatnonzero(fixes)
    return Cells(at // _COLUMNS - 90, at % _COLUMNS - 180, fixes[at], people[at])


def within_box(lat: Floats, lon: Floats, box: Box) -> Bools:
    """Return which places lie in a box, edges included.

    Examples
    --------
    >>> within_box(np.array([0.0, 0.0]), np.array([-179.0, 0.0]), (-1, 170, 1, -170)).tolist()
    [True, False]
    """
    south, west, north, east = box
    across = (lon >= west) | (lon <= east) if west > east else (lon >= west) & (lon <= east)
    inside: Bools = (lat >= south) & (lat <= north) & across
    return inside


def _middle_of(box: Box) -> Region:
    """Return the middle of a box; of one that goes all around a pole, the pole."""
    south, west, north, east = box
    width = (east - west) % 360 or 360
    if width == 360 and max(north, -south) == 90:
        return Region(90.0 if north == 90 else -90.0, 0.0)
    return _centre((south + north) / 2, west + width / 2)


def _mean(cells: Cells) -> Region:
    """Return the mean place of people."""
    weight = cells.people
    lat, lon = np.radians(cells.south + 0.5), np.radians(cells.west + 0.5)
    x, y, z = (
        float((weight * part).sum())
        for part in (np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat))
    )
    return _centre(np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x)))


def _middle(cells: Cells) -> Region:
    """Return the middle of the extent; of longitudes, that beside their widest gap."""
    west = np.unique(cells.west)
    gap = np.diff(west, append=west[0] + 360)
    begin = west[(np.argmax(gap) + 1) % len(west)]
    width = 361 - gap.max()
    return _centre((cells.south.min() + cells.south.max() + 1) / 2, begin + width / 2)


def _densest(cells: Cells) -> Region:
    """Return the region around the most people: its centre is theirs, its edges are whole degrees."""
    order = np.lexsort((cells.west, cells.south, -cells.people))[:_CANDIDATES]
    near = [_distance(cells, cells.south[c] + 0.5, cells.west[c] + 0.5) <= REACH_KM / 2 for c in order]
    best = near[int(np.argmax([cells.people[close].sum() for close in near]))]
    centre = _mean(Cells(*(column[best] for column in cells)))
    box = box_around(centre)
    # The middle of the area is the centre, so that the area by itself leads to the same projection.
    return _middle_of(box)._replace(box=box)


def box_around(centre: Region) -> Box:
    """Return the widest box of whole degrees around a centre whose corners a projection there serves."""
    south = max(-90.0, float(np.ceil(centre.lat - _HALF_HEIGHT)))
    north = min(90.0, float(np.floor(centre.lat + _HALF_HEIGHT)))
    half = np.arange(1, 181)
    rows = (south, centre.lat, north)
    away = [distance_km(centre.lat, centre.lon, row, centre.lon + half) for row in rows]
    # The middle of whole degrees is up to half a degree from the centre.
    width = int(half[np.max(away, axis=0) <= REACH_KM - 80][-1])
    if width == 180:
        return south, -180.0, north, 180.0
    west, east = np.ceil(centre.lon - width), np.floor(centre.lon + width)
    return south, _turned(west), north, _turned(east)


def _cells_within(cells: Cells, box: Box | None) -> Bools:
    assert box is not None
    return within_box(cells.south + 0.5, cells.west + 0.5, box)


def _farthest_km(cells: Cells, centre: Region) -> Floats:
    """Return how far the farthest corner of each cell is from a centre."""
    corners = [
        distance_km(centre.lat, centre.lon, cells.south + up, cells.west + right)
        for up in (0, 1)
        for right in (0, 1)
    ]
    farthest: Floats = np.max(corners, axis=0)
    return farthest


def _distance(cells: Cells, lat: float, lon: float) -> Floats:
    away: Floats = distance_km(lat, lon, cells.south + 0.5, cells.west + 0.5)
    return away


def _centre(lat: float, lon: float) -> Region:
    return Region(round(float(lat), 1), round(_turned(lon), 1))


def _turned(lon: float) -> float:
    """Return a longitude from -180 to 180."""
    return float((lon + 180) % 360 - 180)


def _cell_of(lat: Floats, lon: Floats) -> Ints:
    row = np.minimum(np.floor(lat).astype(np.int64) + 90, _ROWS - 1)
    return row * _COLUMNS + (np.floor(lon).astype(np.int64) + 180) % _COLUMNS


def _chunks(size: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, size)) for start in range(0, size, _CHUNK))
