"""Where pseudonyms change, counted afresh: who was silent in which zone, and how many at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import BrokenPart
from tripcloak.trajectories.audit.screening import BoxSpans, Samples
from tripcloak.trajectories.audit.told import Told, Where, by_person, where_samples_are

MOST_ROWS = 1_000_000
"""Rectangles that no release has."""


class ZoneRows(NamedTuple):
    """Rectangles of zones in the units of the samples; ends are exclusive."""

    zone: Ints
    x0: Floats
    x1: Floats
    y0: Floats
    y1: Floats


def read_zones(told: Any, metres: float) -> ZoneRows:
    """Return the zones that the owner's record names, or raise :class:`BrokenPart`.

    Parameters
    ----------
    told
        Rows of five whole numbers: number of the zone, and west, east, south and north of a rectangle in
        steps.
    metres
        What a step is in the units of the samples.

    Examples
    --------
    >>> read_zones([[0, 1, 3, 0, 2]], 100.0).x1.tolist()
    [300.0]
    >>> read_zones([[0, 3, 1, 0, 2]], 100.0)
    Traceback (most recent call last):
    tripcloak.ground.rulebook.BrokenPart: the private record does not say where the zones are
    """
    broken = BrokenPart("the private record does not say where the zones are")
    if not isinstance(told, list) or not 0 < len(told) <= MOST_ROWS:
        raise broken
    if not all(isinstance(row, list) and len(row) == 5 for row in told):
        raise broken
    if not all(type(number) is int and abs(number) < 1 << 31 for row in told for number in row):
        raise broken
    rows = np.array(told, np.int64).T
    if (rows[1] >= rows[2]).any() or (rows[3] >= rows[4]).any():
        raise broken
    return ZoneRows(rows[0], *(side * float(metres) for side in rows[1:]))


def mixing_faults(
    samples: Samples, spans: BoxSpans, whose: Ints, zones: ZoneRows, *, k: int, width: float, longest: float
) -> str | None:
    """Return what is wrong with the changes of pseudonyms, or nothing.

    Parameters
    ----------
    samples
        The original trajectories.
    spans
        The released boxes.
    whose
        The original trajectory of each released one.
    zones
        Where people may be silent.
    k, width, longest
        What is promised, in the units of samples and zones.
    """
    if wide := _wide(zones, width):
        return f"{mask_small(wide, 'zones')} are wider than is promised"
    told = by_person(spans, whose)
    if told.overlaps or told.returns:
        return "pieces of one person overlap in time, or one goes on after another has begun"
    where = where_samples_are(samples, told)
    if where.astray:
        return f"{mask_small(where.astray, 'samples')} are neither told as recorded nor in a zone"
    if where.empty:
        return f"{mask_small(where.empty, 'released boxes')} hold no sample of whose they are"
    return _change_faults(samples, told, where, zones, k=k, longest=longest)


def _wide(zones: ZoneRows, width: float) -> int:
    """Return how many zones are wider or higher than they may be."""
    order = np.argsort(zones.zone, kind="stable")
    at = np.flatnonzero(np.diff(zones.zone[order], prepend=-1 - (1 << 31)))
    x0, y0 = (np.minimum.reduceat(side[order], at) for side in (zones.x0, zones.y0))
    x1, y1 = (np.maximum.reduceat(side[order], at) for side in (zones.x1, zones.y1))
    return int(((x1 - x0 > width) | (y1 - y0 > width)).sum())


def _change_faults(
    samples: Samples, told: Told, where: Where, zones: ZoneRows, *, k: int, longest: float
) -> str | None:
    silent = np.flatnonzero(where.change >= 0)
    change = where.change[silent]
    zone = _zones_of(np.asarray(samples.x)[silent], np.asarray(samples.y)[silent], zones)
    least = np.full(len(told.changes), np.iinfo(np.int64).max)
    most = np.full(len(told.changes), -1, np.int64)
    np.minimum.at(least, change, zone)
    np.maximum.at(most, change, zone)
    if (least != most).any() or (most < 0).any():
        return "a pseudonym changes where nobody was silent in a zone"
    begin = np.full(len(told.changes), np.inf)
    np.minimum.at(begin, change, np.asarray(samples.t, np.float64)[silent])
    end = told.sides[0][told.changes].astype(np.float64)
    if (end - told.sides[1][told.changes - 1] > longest).any():
        return "somebody is silent for longer than is promised"
    short = int((~_among(most, begin, end, k)).sum())
    return f"{mask_small(short, 'changes of pseudonyms')} are among fewer than k people" if short else None


def _zones_of(x: Floats, y: Floats, zones: ZoneRows) -> Ints:
    """Return the zone that each place is in, -1 where none is."""
    order = np.argsort(x, kind="stable")
    west, across = x[order], y[order]
    found = np.full(len(x), -1, np.int64)
    for number, x0, x1, y0, y1 in zip(*(side.tolist() for side in zones), strict=True):
        rows = slice(*np.searchsorted(west, (x0, x1), "left"))
        found[order[rows][(y0 <= across[rows]) & (across[rows] < y1)]] = number
    return found


def _among(zone: Ints, begin: Floats, end: Floats, k: int) -> Bools:
    """Return which silences share a moment with k - 1 others of their zone or more, by a sweep over time."""
    enough = np.zeros(len(zone), dtype=bool)
    inside: set[int] = set()
    waiting: set[int] = set()
    # Invariant: inside are the silences of this moment, waiting those of them that have not seen k yet.
    for row, goes_in in _events(zone, begin, end):
        if not goes_in:
            inside.discard(row)
            waiting.discard(row)
            continue
        inside.add(row)
        waiting.add(row)
        if len(inside) >= k:
            enough[list(waiting)] = True
            waiting.clear()
    return enough


def _events(zone: Ints, begin: Floats, end: Floats) -> Iterator[tuple[int, bool]]:
    """Yield who goes in and who comes out, zone by zone and by time; at one moment, who comes out first."""
    n = len(zone)
    times = np.concatenate([begin, end])
    goes_in = np.repeat([True, False], n)
    for event in np.lexsort((goes_in, times, np.tile(zone, 2))).tolist():
        yield event % n, event < n
