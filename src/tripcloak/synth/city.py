"""The made-up city: its parameters, and its trips as a stream of record batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError
from tripcloak.synth.journeys import draw_journeys
from tripcloak.synth.plan import CityPlan, draw_plan, generator
from tripcloak.synth.records import check_centre, check_number, check_whole, to_record_batch
from tripcloak.synth.residents import draw_residents

if TYPE_CHECKING:
    import pyarrow as pa

# A block is drawn from one random stream of its own, so its size is part of what a seed means.
BLOCK_TRIPS = 163_840
BLOCK_PEOPLE = 32_768

TRIPS_A_PERSON = 10
TRIPS_A_DAY = 3

_LARGEST = 10**12
_STREAM = 1


@dataclass(frozen=True, kw_only=True)
class City:
    """A made-up city, as its parameters; the same parameters give the same trips on every machine.

    Parameters
    ----------
    trips
        Number of trips, exactly.
    seed
        Chooses the street plan and the people. The plan depends on nothing else but ``radius_km``, so
        more trips are more people in the same city.
    people
        Number of people; each makes at least one trip. By default one for every ten trips.
    days
        Length of the period, which begins on a Monday. Over short periods people make fewer trips each.
    centre
        (latitude, longitude) of the city's centre in degrees.
    radius_km
        Radius of the built-up area; villages and countryside reach half as far again.
    jitter_m
        Standard deviation of the positioning error at a trip's end, in metres north and metres east.

    Raises
    ------
    InputError
        When a parameter is out of its range; the message says what the range is.

    Examples
    --------
    >>> city = City(trips=1000, seed=7)
    >>> sum(batch.num_rows for batch in city.batches())
    1000
    >>> next(city.batches()).column_names[:4]
    ['trip_id', 'person_id', 'start_time', 'end_time']
    """

    trips: int = 200_000
    seed: int = 1
    people: int | None = None
    days: int = 28
    centre: tuple[float, float] = (48.758, 18.303)
    radius_km: float = 15.0
    jitter_m: float = 12.0

    def __post_init__(self) -> None:
        check_whole("trips", self.trips, 1, _LARGEST)
        check_whole("seed", self.seed, 0, 2**63 - 1)
        check_whole("days", self.days, 1, 3660)
        check_number("radius_km", self.radius_km, 1.0, 200.0)
        check_number("jitter_m", self.jitter_m, 0.0, 500.0)
        check_centre(self.centre)
        if self.people is not None:
            check_whole("people", self.people, 1, self.trips)
            if self.trips > self.people * self.days * TRIPS_A_DAY:
                raise InputError(
                    f"trips: expected at most {TRIPS_A_DAY} a person and day on average, found {self.trips} "
                    f"trips for {self.people} people over {self.days} days; ask for more people or more days"
                )

    @property
    def residents(self) -> int:
        """Number of people who make the trips: ``people``, or what follows from ``trips`` and ``days``.

        Examples
        --------
        >>> City(trips=1000).residents, City(trips=1000, people=300).residents
        (100, 300)
        """
        if self.people is not None:
            return self.people
        return -(-self.trips // min(TRIPS_A_PERSON, 2 * self.days))

    def batches(self, batch_size: int = BLOCK_TRIPS) -> Iterator[pa.RecordBatch]:
        """Record batches of at most ``batch_size`` trips; the rows and their order do not depend on it.

        Only one block of people is in memory at a time. A person's trips follow each other in time.

        Examples
        --------
        >>> [batch.num_rows for batch in City(trips=25, people=5).batches(batch_size=10)]
        [10, 10, 5]
        """
        check_whole("batch_size", batch_size, 1, _LARGEST)
        return self._batches(batch_size)

    def table(self) -> pa.Table:
        """All trips as one Arrow table in memory, which ``to_pandas()`` makes a data frame.

        Examples
        --------
        >>> City(trips=25, people=5).table().num_rows
        25
        """
        import pyarrow as pa

        return pa.Table.from_batches(self.batches())

    def _batches(self, batch_size: int) -> Iterator[pa.RecordBatch]:
        plan = draw_plan(self.seed, self.radius_km * 1000.0)
        people = self.residents
        step = max(1, min(BLOCK_PEOPLE, BLOCK_TRIPS * people // self.trips))
        for number, first in enumerate(range(0, people, step)):
            block = self._block(plan, number, first, min(first + step, people))
            for offset in range(0, block.num_rows, batch_size):
                yield block.slice(offset, batch_size)

    def _block(self, plan: CityPlan, number: int, first: int, last: int) -> pa.RecordBatch:
        # Whole-number shares of the trips, so that the blocks add up to exactly `trips`.
        first_trip = self.trips * first // self.residents
        last_trip = self.trips * last // self.residents
        rng = generator(self.seed, _STREAM, number)
        residents = draw_residents(rng, plan, people=last - first, trips=last_trip - first_trip)
        journeys = draw_journeys(rng, plan, residents, days=self.days)
        return to_record_batch(
            residents,
            journeys,
            jitter=rng.standard_normal((4, last_trip - first_trip)) * self.jitter_m,
            centre=self.centre,
            first_trip=first_trip,
            first_person=first,
            person_digits=max(7, len(str(self.residents - 1))),
        )
