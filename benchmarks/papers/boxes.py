"""E and D of releases whose zones are boxes, as the ATG paper has them (section 4.3).

The measures of tripcloak spread a group over zones of the hierarchy only. Where all tiles are known,
as on a dendrogram, a box can be spread as well: evenly over the pairs of tiles whose centres it holds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tripcloak.hierarchy import BoxZones, Hierarchy, tile_centres
from tripcloak.matrix import ODMatrix
from tripcloak.release import Release


def rebuilt_from_boxes(matrix: ODMatrix, release: Release) -> dict[str, float]:
    """Return E and D; nothing where zones are no boxes, or where tiles that do not occur are not listed."""
    origins, destinations = release.origins, release.destinations
    if not (isinstance(origins, BoxZones) and isinstance(destinations, BoxZones) and matrix.origins.complete):
        return {}
    from_tiles, to_tiles = _held(matrix.origins, origins), _held(matrix.destinations, destinations)
    cells = np.zeros((matrix.origins.n_tiles, matrix.destinations.n_tiles))
    for o, d, trips in zip(release.group_origin, release.group_destination, release.trips, strict=True):
        cells[np.ix_(from_tiles[o], to_tiles[d])] += trips / (len(from_tiles[o]) * len(to_tiles[d]))
    rebuilt = cells[matrix.flows.origin, matrix.flows.destination]
    before, after = matrix.total("trips"), release.trips.sum()
    on_empty = max(0.0, float(after - rebuilt.sum()))
    misplaced = np.abs(rebuilt - matrix.flows.trips).sum()
    bent = np.abs(rebuilt / after - matrix.flows.trips / before).sum()
    return {"E": float((misplaced + on_empty) / before), "D": float(bent + on_empty / after)}


def _held(tree: Hierarchy, boxes: BoxZones) -> list[NDArray[np.int64]]:
    """Return the tiles that every box holds."""
    lat, lon = tile_centres(tree)
    return [
        np.flatnonzero((south <= lat) & (lat <= north) & (west <= lon) & (lon <= east))
        for south, west, north, east in zip(*boxes.corners, strict=True)
    ]
