"""The original trips between drawn zones, as only the data owner can place them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.model.matrix import TripEnds
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import OUTSIDE, Hierarchy, ZoneFile
from tripcloak.promises import Volume


class Ends(NamedTuple):
    """Where some trips start and end: rows of the drawn zones (-1 is none of them), slot and volume."""

    origin: Ints
    destination: Ints
    slot: Ints
    volume: Floats


def original_ends(matrix: ODMatrix, drawn: ZoneFile, volume: Volume) -> Iterator[Ends]:
    """Yield all original trips, placed in drawn zones: by their raw ends, else by the centres of their tiles.

    Slots are 0 throughout where time is no axis.
    """
    for points in _flows_as_points(matrix, volume) if matrix.points is None else matrix.points():
        origin, destination = (
            np.where(rows == OUTSIDE, -1, rows.astype(np.int64))
            for rows in (
                drawn.locate(points.origin_lat, points.origin_lon),
                drawn.locate(points.destination_lat, points.destination_lon),
            )
        )
        slot = np.zeros(len(origin), np.int64) if points.slot is None else points.slot.astype(np.int64)
        weighed = matrix.points is None or volume == "population"
        weight = points.weight if weighed else None
        yield Ends(origin, destination, slot, np.ones(len(origin)) if weight is None else weight)


def _flows_as_points(matrix: ODMatrix, volume: Volume) -> Iterator[TripEnds]:
    flows = matrix.flows
    origin = _centres(matrix.origins, flows.origin)
    destination = _centres(matrix.destinations, flows.destination)
    yield TripEnds(
        flows.origin,
        flows.destination,
        *origin,
        *destination,
        matrix.volume(volume).astype(float),
        flows.slot,
    )


def _centres(tree: Hierarchy, tile: Ints) -> tuple[Floats, Floats]:
    lat, lon = tree.zones.lat[tile], tree.zones.lon[tile]
    if not np.isfinite(lat + lon).all():
        raise InputError(
            "the original trips have no coordinates, and neither have the tiles of their hierarchy, so they "
            "cannot be placed in other zones"
        )
    return lat, lon
