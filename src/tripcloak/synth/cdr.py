"""Made-up call detail records: their parameters, and the calls as a stream of record batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tripcloak.ground.errors import InputError
from tripcloak.synth.country import Antennas, Country, draw_antennas, draw_country
from tripcloak.synth.movers import draw_calls, draw_stays, serving
from tripcloak.synth.plan import Floats
from tripcloak.synth.records import (
    FIRST_MIDNIGHT,
    check_centre,
    check_number,
    check_whole,
    latitude,
    longitude,
    person_ids,
    strings,
)

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_CALLS, BLOCK_DAYS = 400_000, 57_344
"""Calls of a batch, about, and days that its users live, at most."""

BUSY = 8640
"""Calls a day and user, at most on average: one every ten seconds."""

_MOST_USERS = 10**9


@dataclass(frozen=True, kw_only=True)
class Cdr:
    """Made-up call detail records, as their parameters; the same parameters give the same rows everywhere.

    Users move by exploration and preferential return (Song et al. 2010) between home, work and other places
    of a country that does not exist. Each call is located at the nearest antenna. Every user has a random
    stream of their own.

    Parameters
    ----------
    users
        Number of users; each calls at least once.
    samples
        Calls of a user over the whole period, on average; users differ.
    days
        Length of the period, which begins on a Monday at midnight UTC, which is also the local time.
    seed
        Chooses the country, the antennas and the users; more users are added to the same ones.
    antennas
        Number of antennas.
    equal
        Whether each user calls exactly ``samples`` times.
    positions
        Whether calls carry the position of the antenna, or its id alone.
    centre
        (latitude, longitude) of the country's centre in degrees.
    radius_km
        Radius of the country.

    Raises
    ------
    InputError
        When a parameter is out of its range; the message says what the range is.

    Examples
    --------
    >>> cdr = Cdr(users=10, samples=20, equal=True)
    >>> sum(batch.num_rows for batch in cdr.batches())
    200
    >>> cdr.schema.names
    ['user_id', 'timestamp', 'antenna_id', 'lat', 'lon']
    """

    users: int = 1000
    samples: int = 144
    days: int = 14
    seed: int = 1
    antennas: int = 2000
    equal: bool = False
    positions: bool = True
    centre: tuple[float, float] = (15.0, -15.0)
    radius_km: float = 150.0

    def __post_init__(self) -> None:
        check_whole("users", self.users, 1, _MOST_USERS)
        check_whole("days", self.days, 1, 366)
        check_whole("samples", self.samples, 1, BUSY * self.days)
        check_whole("seed", self.seed, 0, 2**63 - 1)
        check_whole("antennas", self.antennas, 2, 50_000)
        check_number("radius_km", self.radius_km, 20.0, 280.0)
        check_centre(self.centre)
        for name in ("equal", "positions"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name}: expected True or False, found {getattr(self, name)!r}")

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns of calls.

        Examples
        --------
        >>> Cdr(positions=False).schema.names
        ['user_id', 'timestamp', 'antenna_id']
        """
        import pyarrow as pa

        columns = [
            ("user_id", pa.string()),
            ("timestamp", pa.timestamp("us", tz="UTC")),
            ("antenna_id", pa.int32()),
        ]
        columns += [(name, pa.float64()) for name in ("lat", "lon") if self.positions]
        return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])

    @property
    def block_users(self) -> int:
        """Users of a record batch, so that their calls and their days take little memory.

        Examples
        --------
        >>> Cdr(samples=400).block_users, Cdr(samples=10).block_users
        (1000, 4096)
        """
        return max(1, min(BLOCK_DAYS // self.days, BLOCK_CALLS // self.samples))

    def stations(self) -> pa.RecordBatch:
        """Antennas and where they are: ``antenna_id``, ``lat``, ``lon``.

        Examples
        --------
        >>> stations = Cdr(antennas=500).stations()
        >>> stations.num_rows, stations.schema.names
        (500, ['antenna_id', 'lat', 'lon'])
        """
        import pyarrow as pa

        lat, lon = self._degrees(self._draw_antennas(self._draw_country()))
        columns = [("antenna_id", pa.int32()), ("lat", pa.float64()), ("lon", pa.float64())]
        schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])
        numbers = np.arange(self.antennas, dtype=np.int32)
        return pa.RecordBatch.from_arrays([pa.array(numbers), pa.array(lat), pa.array(lon)], schema=schema)

    def table(self) -> pa.Table:
        """All calls as one Arrow table in memory, which ``to_pandas()`` makes a data frame.

        Examples
        --------
        >>> Cdr(users=5, samples=3, equal=True).table().num_rows
        15
        """
        import pyarrow as pa

        return pa.Table.from_batches(self.batches())

    def batches(self, block_users: int | None = None, *, first: int = 0) -> Iterator[pa.RecordBatch]:
        """Record batches, one a block of users; the rows and their order do not depend on the block's size.

        Only one block of users is in memory at a time. A user's calls follow each other in time. Users
        before ``first`` are left out: so several processes can make parts of the same calls.

        Examples
        --------
        >>> cdr = Cdr(users=5, samples=3, equal=True)
        >>> [batch.num_rows for batch in cdr.batches(block_users=2)]
        [6, 6, 3]
        >>> [batch.num_rows for batch in cdr.batches(block_users=2, first=3)]
        [6]
        """
        if block_users is None:
            block_users = self.block_users
        check_whole("block_users", block_users, 1, _MOST_USERS)
        check_whole("first", first, 0, _MOST_USERS)
        return self._batches(block_users, first)

    def _batches(self, step: int, begin: int) -> Iterator[pa.RecordBatch]:
        country = self._draw_country()
        antennas = self._draw_antennas(country)
        for first in range(begin, self.users, step):
            yield self._block(country, antennas, first, min(first + step, self.users))

    def _block(self, country: Country, antennas: Antennas, first: int, last: int) -> pa.RecordBatch:
        import pyarrow as pa

        users = np.arange(first, last)
        stays = draw_stays(country, antennas, self.seed, users, days=self.days)
        calls = draw_calls(self.seed, users, samples=self.samples, equal=self.equal, days=self.days)
        antenna = serving(calls, stays, antennas, days=self.days)
        digits = max(7, len(str(self.users - 1)))
        columns = [
            strings(person_ids(users, digits), calls.user),
            pa.array(FIRST_MIDNIGHT + calls.time.astype("m8[s]"), self.schema.field("timestamp").type),
            pa.array(antenna.astype(np.int32)),
        ]
        if self.positions:
            columns += [pa.array(degrees[antenna]) for degrees in self._degrees(antennas)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _draw_country(self) -> Country:
        return draw_country(self.seed, self.radius_km * 1000.0)

    def _draw_antennas(self, country: Country) -> Antennas:
        return draw_antennas(country, self.seed, self.antennas)

    def _degrees(self, antennas: Antennas) -> tuple[Floats, Floats]:
        return latitude(antennas.at[:, 1], self.centre), longitude(antennas.at[:, 0], self.centre)
