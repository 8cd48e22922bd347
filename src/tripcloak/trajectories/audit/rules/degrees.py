"""Rules about boxes in degrees: they enclose those in metres, and are no wider than rounding makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats
from tripcloak.ground.masking import mask_small
from tripcloak.trajectories.audit.evidence import BOOK, TrajectoryEvidence

ROUNDING_TOLERANCE = 1e-9
"""Degrees by which rounding of the projection may differ."""

SCALE = 1e6
"""Degrees are told to the sixth decimal."""

MARGIN, SHARE = 3e-6, 0.011
"""Degrees that rounding outwards adds at most, and the share of a box that bent edges do."""

ALONG = (0.0, 0.25, 0.5, 0.75)
"""Where on each edge of a box it is looked at; edges are bent in degrees."""

BATCH = 1 << 18


class DegreesPart(NamedTuple):
    """Some of the different boxes, a row each: stated degrees, and those of points around them."""

    west: Floats
    south: Floats
    east: Floats
    north: Floats
    lon: Floats
    lat: Floats


@BOOK.rule("degrees-enclose-metres")
def degrees_enclose_metres(case: TrajectoryEvidence) -> str | None:
    """Every box in degrees encloses the one in metres and is hardly wider: it tells no other place."""
    outside = wide = 0
    for part in _parts(case):
        outside += int((~_encloses(part)).sum())
        wide += int((~_is_tight(part)).sum())
    if outside:
        return f"{mask_small(outside, 'different boxes')} in degrees do not enclose the one in metres"
    return (
        f"{mask_small(wide, 'different boxes')} in degrees are wider or finer than rounding makes them"
        if wide
        else None
    )


def _parts(case: TrajectoryEvidence) -> Iterator[DegreesPart]:
    columns = case.numbers(
        "SELECT DISTINCT x_min::DOUBLE AS x0, x_max::DOUBLE AS x1, y_min::DOUBLE AS y0, y_max::DOUBLE AS y1, "
        f"lon_min, lat_min, lon_max, lat_max FROM {case.table}"
    )
    for start in range(0, len(columns["x0"]), BATCH):
        sides = [column[start : start + BATCH, None] for column in columns.values()]
        x0, x1, y0, y1, west, south, east, north = sides
        lon, lat = case.project(*_outline(x0, x1, y0, y1), back=True)
        # A box across the 180th meridian runs on past 180.
        yield DegreesPart(
            west,
            south,
            east,
            north,
            west - ROUNDING_TOLERANCE + (lon - west + ROUNDING_TOLERANCE) % 360.0,
            lat,
        )


def _outline(x0: Floats, x1: Floats, y0: Floats, y1: Floats) -> tuple[Floats, Floats]:
    """Return points around each box, corners among them."""
    along = np.array(ALONG)[None, :]
    flat = 0 * along
    x = np.hstack([x0 + (x1 - x0) * along, x1 + flat, x1 - (x1 - x0) * along, x0 + flat])
    y = np.hstack([y0 + flat, y0 + (y1 - y0) * along, y1 + flat, y1 - (y1 - y0) * along])
    return x, y


def _encloses(part: DegreesPart) -> Bools:
    held: Bools = (part.south - ROUNDING_TOLERANCE <= part.lat) & (
        part.lat <= part.north + ROUNDING_TOLERANCE
    )
    held &= _goes_around(part) | (part.lon <= part.east + ROUNDING_TOLERANCE)
    return np.asarray(held.all(axis=1))


def _goes_around(part: DegreesPart) -> Bools:
    """Return which boxes hold a pole, and so all longitudes."""
    around: Bools = part.east - part.west >= 360.0
    return around


def _is_tight(part: DegreesPart) -> Bools:
    tight = (part.west >= -180.0) & (part.west < 180.0)
    for side in part[:4]:
        tight &= np.rint(side * SCALE) / SCALE == side
    around = _goes_around(part)
    tight &= np.where(
        around, (part.west == -180.0) & (part.east == 180.0), _close(part.west, part.east, part.lon)
    )
    # Around a pole latitudes go up to it, further than any edge.
    south = np.where(around & (part.south == -90.0), part.lat.min(axis=1, keepdims=True), part.south)
    north = np.where(around & (part.north == 90.0), part.lat.max(axis=1, keepdims=True), part.north)
    tight &= _close(south, north, part.lat)
    rows: Bools = tight[:, 0]
    return rows


def _close(low: Floats, high: Floats, around: Floats) -> Bools:
    """Return whether two edges are hardly further out than points around a box, by how its edges bend."""
    least, most = around.min(axis=1, keepdims=True), around.max(axis=1, keepdims=True)
    edges = around[:, (np.arange(4)[:, None] * len(ALONG) + np.arange(len(ALONG) + 1)) % around.shape[1]]
    bend = np.abs(np.diff(edges, 2, axis=2)).max(axis=(1, 2))[:, None]
    slack = MARGIN + np.maximum(SHARE * (most - least), bend)
    close: Bools = (least - low <= slack) & (high - most <= slack)
    return close
