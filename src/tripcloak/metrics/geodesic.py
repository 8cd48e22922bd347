"""Lengths on the WGS 84 ellipsoid, quick and exact to a millimetre."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.hierarchy import Zones


class Places:
    """The representative points of zones, ready for many lengths.

    Examples
    --------
    >>> from tripcloak.hierarchy import Hierarchy
    >>> points = {"lat": np.array([0.0, 0.0, 0.0]), "lon": np.array([0.0, 1.0, 0.5])}
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1], **points)
    >>> places = Places(tree.zones)
    >>> places.metres_to(places, np.array([0, 0]), np.array([1, 2])).round(3).tolist()
    [111319.491, 55659.745]
    >>> places.metres_from(np.array([0.0]), np.array([180.0]), np.array([0])).round(3).tolist()
    [20003931.459]
    """

    def __init__(self, zones: Zones) -> None:
        from tripcloak.metrics._kernels import places

        self.lat, self.lon = zones.lat, zones.lon
        self.table = places(self.lat, self.lon)

    def metres_from(self, lat: Floats, lon: Floats, rows: Ints) -> Floats:
        """Return the metres from points in degrees to zones; NaN where a zone has no point."""
        from tripcloak.metrics._kernels import metres_to

        metres = metres_to(lat, lon, self.table, rows)
        return _mend_long(metres, lat, lon, self.lat, self.lon, rows)

    def metres_to(self, other: Places, rows: Ints, other_rows: Ints) -> Floats:
        """Return the metres from zones to other zones; NaN where either has no point."""
        from tripcloak.metrics._kernels import metres_between

        metres = metres_between(self.table, rows, other.table, other_rows)
        return _mend_long(metres, self.lat[rows], self.lon[rows], other.lat, other.lon, other_rows)


def _mend_long(
    metres: Floats, lat: Floats, lon: Floats, to_lat: Floats, to_lon: Floats, rows: Ints
) -> Floats:
    """Return the lengths with those beyond the short formula's reach measured by the full geodesic."""
    from tripcloak.metrics._kernels import TOO_LONG

    far = np.flatnonzero(metres == TOO_LONG)
    if far.size:
        from pyproj import Geod

        ends = rows[far]
        _, _, metres[far] = Geod(ellps="WGS84").inv(lon[far], lat[far], to_lon[ends], to_lat[ends])
    return metres
