"""The data sets: made-up ones of the papers' size and shape, or files of your own.

What the papers tell of theirs is in :data:`benchmarks.papers.published.SIZES`. Of the thesis's three,
only the centre of the city is used there, and how many trips that leaves is not told. For Turin it
follows from C_AVG times k times the 1 x 89 groups of OIGH: about 789 k. Ours has 788 k.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.stations import Stations
from tripcloak import City, TripSource, Zoning, read_matrix, write_city
from tripcloak.flows.model import ODMatrix

EARTH_KM = 6371.0

ENOUGH_TRIPS = 5_000
"""Hours with fewer trips are left out, as in section 4.4 of the ATG paper."""


class Data(Protocol):
    """Something that gives matrices."""

    def matrices(self, number: int) -> Iterator[ODMatrix]:
        """Yield up to this many matrices."""


@dataclass(frozen=True, kw_only=True)
class CityTrips:
    """Trips of the made-up city; one matrix, with the raw trip ends.

    ``centre_km`` keeps only trips within a box that reaches so far from the centre, as in section 4.1 of
    the thesis.
    """

    trips: int
    people: int
    radius_km: float
    centre_km: float
    tiles: str = "h3:10"
    seed: int = 1

    def matrices(self, number: int) -> Iterator[ODMatrix]:
        """Yield one matrix: a year or a month is one table in the thesis."""
        with tempfile.TemporaryDirectory(prefix="tripcloak-papers-") as folder:
            path = Path(folder) / "city.parquet"
            city = City(trips=self.trips, people=self.people, radius_km=self.radius_km, seed=self.seed)
            write_city(city, path)
            yield from GivenTrips(path=str(path), tiles=self.tiles, box=self._box(city)).matrices(number)

    def _box(self, city: City) -> tuple[float, float, float, float]:
        lat, lon = city.centre
        up = math.degrees(self.centre_km / EARTH_KM)
        wide = up / math.cos(math.radians(lat))
        return (lat - up, lon - wide, lat + up, lon + wide)


@dataclass(frozen=True, kw_only=True)
class GivenTrips:
    """Trips in files of your own: one matrix, or one for each of some busy hours."""

    path: str
    tiles: str = "h3:10"
    zones: str | None = None
    preset: str | None = None
    where: str | None = None
    box: tuple[float, float, float, float] | None = None
    hourly: bool = False
    seed: int = 1

    def matrices(self, number: int) -> Iterator[ODMatrix]:
        """Yield the whole table, or this many of its busy hours, drawn at random."""
        source = TripSource(paths=(self.path,), preset=self.preset, where=self.where, box=self.box)
        place = Zoning(spec=self.tiles, zones=self.zones, time_slot=60 if self.hourly else None)
        # Methods that add noise stand in the tables on zones only, and ask how often people repeat a flow.
        repeats = self.zones is not None and not self.hourly
        matrix = read_matrix(source, place, repeats=repeats).trips.matrix
        yield from self._hours(matrix, number) if self.hourly else (matrix,)

    def _hours(self, matrix: ODMatrix, number: int) -> Iterator[ODMatrix]:
        flows = matrix.flows
        assert flows.slot is not None
        busy = np.flatnonzero(np.bincount(flows.slot, flows.trips) > ENOUGH_TRIPS)
        rng = np.random.default_rng(self.seed)
        for hour in np.sort(rng.choice(busy, min(number, len(busy)), replace=False)):
            at = flows.slot == hour
            yield ODMatrix.from_trips(
                matrix.origins,
                matrix.destinations,
                flows.origin[at],
                flows.destination[at],
                trips=flows.trips[at],
            )


_SENEGAL = Stations(tiles=1_666, trips=41_027)

MADE: dict[str, Data] = {
    "paris": CityTrips(trips=55_000, people=18_000, radius_km=13, centre_km=7),
    "turin": CityTrips(trips=1_750_000, people=500_000, radius_km=6.8, centre_km=3.6),
    "porto": CityTrips(trips=2_480_000, people=248_000, radius_km=4, centre_km=2.8),
    "nyc": Stations(
        tiles=263,
        trips=15_009,
        towns=1,
        box=(40.7, -74.0, 40.8, -73.9),
        mass=1.6,
        decay=5,
        near=0.02,
        chance=0.6,
    ),
    "civ": Stations(
        tiles=1_221, trips=5_400, box=(5.0, -8.0, 10.0, -3.0), mass=0.5, decay=2.4, near=0.02, chance=1.3
    ),
    "senegal_crop": replace(_SENEGAL, trips=29_614, western=599),
    "senegal": _SENEGAL,
    "senegal_split": replace(_SENEGAL, trips=956_742, parts=(0.4, 0.3, 0.2, 0.1)),
    "senegal_big": replace(_SENEGAL, trips=956_742),
}
"""One for each data set of the papers, under its name there."""

_SMALL_SENEGAL = Stations(tiles=60, trips=1_500, towns=5)

SMALL: dict[str, Data] = {
    "paris": CityTrips(trips=4_000, people=1_000, radius_km=5, centre_km=3, tiles="h3:9"),
    "turin": CityTrips(trips=20_000, people=6_000, radius_km=3, centre_km=2, tiles="h3:9"),
    "porto": CityTrips(trips=30_000, people=3_000, radius_km=2, centre_km=1.5, tiles="h3:9"),
    "nyc": Stations(tiles=40, trips=1_500, towns=1, spread=0.05, mass=1.6, decay=5, near=0.02, chance=0.6),
    "civ": Stations(tiles=60, trips=600, towns=5, mass=0.5, decay=2.4, near=0.02, chance=1.3),
    "senegal_crop": replace(_SMALL_SENEGAL, western=30),
    "senegal": _SMALL_SENEGAL,
    "senegal_split": replace(_SMALL_SENEGAL, trips=6_000, parts=(0.4, 0.3, 0.2, 0.1)),
    "senegal_big": replace(_SMALL_SENEGAL, trips=6_000),
}
"""The same in small: to see every table within a minute, and for the tests."""

_FORMS: dict[str, type[Any]] = {form.__name__: form for form in (CityTrips, GivenTrips, Stations)}


def to_dict(data: Data) -> dict[str, Any]:
    """Return plain values for JSON."""
    return {"form": type(data).__name__, **asdict(data)}  # type: ignore[call-overload]


def from_dict(values: dict[str, Any]) -> Data:
    """Return the data set that :func:`to_dict` described."""
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    made: Data = _FORMS[plain.pop("form")](**plain)
    return made
