"""Grid: the steps in which times and places are told, and where on earth they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Whole steps of time and space, and what they mean.

    A sample at step (t, x, y) is a box from the start: it lasts one step and is one step wide and high.
    Step t begins ``start + t * seconds``; step x begins ``x * metres`` east of the projection's centre.

    Attributes
    ----------
    seconds : int
        Length of a step of time.
    metres : int
        Length of a step of space.
    start : int
        When step 0 begins, in seconds since 1970 (UTC); a multiple of ``seconds``.
    projection : str
        PROJ text of a projection in metres, valid wherever the samples are.

    Examples
    --------
    >>> grid = Grid(projection="+proj=laea +lat_0=48.9 +lon_0=2.3")
    >>> grid.steps(seconds=[119.0], x=[250.0], y=[-1.0])
    (array([1], dtype=int32), array([2], dtype=int32), array([-1], dtype=int32))
    """

    seconds: int = 60
    metres: int = 100
    start: int = 0
    projection: str = "+proj=laea +lat_0=0 +lon_0=0"

    def __post_init__(self) -> None:
        if self.seconds < 1 or self.metres < 1:
            raise InputError("a sample lasts one second or more, and is one metre wide or more")
        if self.start % self.seconds:
            raise InputError("the first step of time must begin at a multiple of its length")

    def steps(self, *, seconds: Any, x: Any, y: Any) -> tuple[Ints, Ints, Ints]:
        """Return the steps that hold these times (seconds since 1970) and places (projected metres)."""
        t = np.floor_divide(np.asarray(seconds, dtype=np.float64) - self.start, self.seconds)
        columns = (t, *(np.floor_divide(np.asarray(v, dtype=np.float64), self.metres) for v in (x, y)))
        if any(v.size and not np.abs(v).max() < np.iinfo(np.int32).max for v in columns):
            raise InputError(
                "times or places lie too far apart for steps this small; choose a coarser resolution"
            )
        return tuple(v.astype(np.int32) for v in columns)  # type: ignore[return-value]

    def times(self, t: Ints) -> Ints:
        """Return when steps begin, in seconds since 1970."""
        return self.start + np.asarray(t, dtype=np.int64) * self.seconds

    def places(self, steps: Ints) -> Ints:
        """Return where steps begin, in projected metres."""
        return np.asarray(steps, dtype=np.int64) * self.metres

    def project(self, lon: Any, lat: Any) -> tuple[Floats, Floats]:
        """Return projected metres of longitudes and latitudes."""
        x, y = self._transformer().transform(np.asarray(lon), np.asarray(lat))
        return x, y

    def unproject(self, x: Any, y: Any) -> tuple[Floats, Floats]:
        """Return longitudes and latitudes of projected metres."""
        lon, lat = self._transformer().transform(
            np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), direction="INVERSE"
        )
        return lon, lat

    def _transformer(self) -> Any:
        from pyproj import Transformer

        return Transformer.from_crs("EPSG:4326", self.projection, always_xy=True)
