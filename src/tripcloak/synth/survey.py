"""The made-up survey: its parameters, and its GPS points or trips as a stream of record batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from tripcloak.ground.errors import InputError
from tripcloak.synth.journeys import LONGEST_STEP, Journeys, draw_tracks
from tripcloak.synth.participants import CATEGORIES, Participants, draw_diary, draw_participants
from tripcloak.synth.plan import CityPlan, Floats, Ints, draw_plan, generator
from tripcloak.synth.records import (
    FIRST_MIDNIGHT,
    check_centre,
    check_number,
    check_whole,
    city_schema,
    latitude,
    longitude,
    to_record_batch,
    trait_columns,
)

if TYPE_CHECKING:
    import pyarrow as pa

Form = Literal["points", "trips"]

# A block is drawn from one random stream of its own, so its size is part of what a seed means.
BLOCK_PEOPLE = 128

WAY_OFF = 14.0
"""How many times the usual error is added at most where a trip starts or ends."""

_STREAM = 2
DIGITS = 7


class _Block(NamedTuple):
    """A block of participants with what they did; positioning errors (4, trips) at the ends of trips."""

    first: int
    people: Participants
    journeys: Journeys
    ends: Floats
    rng: np.random.Generator


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A made-up mobility survey, as its parameters; the same parameters give the same rows on every machine.

    The form is that of the NetMob 2025 data (Armenante et al. 2025, section 2.B): participants carry a
    GPS logger for a week, and each stands for a number of people, the weight. Nobody in it exists.

    Parameters
    ----------
    people
        Number of participants; each makes at least two trips.
    seed
        Chooses the street plan and the participants.
    days
        Length of the period, which begins on a Monday.
    form
        ``points``: a row is a GPS point; ``trips``: a row is one of the trips that the points are of.
    centre
        (latitude, longitude) of the centre in degrees.
    radius_km
        Radius of the built-up area; villages and countryside reach half as far again.
    jitter_m
        Standard deviation of the positioning error of a point, in metres north and metres east.
    step_s
        Usual seconds between two points on the way.

    Raises
    ------
    InputError
        When a parameter is out of its range; the message says what the range is.

    Examples
    --------
    >>> first = next(Survey(people=20, seed=7).batches())
    >>> first.column_names
    ['person_id', 'time', 'lat', 'lon', 'weight', 'age', 'sex', 'category']
    >>> first.column("person_id").unique().to_pylist()[:2]
    ['p0000000', 'p0000001']
    """

    people: int = 3300
    seed: int = 1
    days: int = 7
    form: Form = "points"
    centre: tuple[float, float] = (48.758, 18.303)
    radius_km: float = 30.0
    jitter_m: float = 12.0
    step_s: float = 45.0

    def __post_init__(self) -> None:
        check_whole("people", self.people, 1, 10**DIGITS)
        check_whole("seed", self.seed, 0, 2**63 - 1)
        check_whole("days", self.days, 1, 366)
        check_number("radius_km", self.radius_km, 1.0, 200.0)
        check_number("jitter_m", self.jitter_m, 0.0, 500.0)
        check_number("step_s", self.step_s, 5.0, LONGEST_STEP)
        check_centre(self.centre)
        if self.form not in get_args(Form):
            raise InputError(f"form: expected {' or '.join(get_args(Form))}, found {self.form!r}")

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns.

        Examples
        --------
        >>> Survey(form="trips").schema.names[-3:]
        ['age', 'sex', 'category']
        """
        import pyarrow as pa

        category = pa.field("category", pa.string(), nullable=False)
        if self.form == "trips":
            return city_schema().append(category)
        first = [("person_id", pa.string()), ("time", pa.timestamp("us")), ("lat", pa.float64())]
        columns = [pa.field(*column, nullable=False) for column in (*first, ("lon", pa.float64()))]
        return pa.schema(
            [*columns, *(city_schema().field(name) for name in ("weight", "age", "sex")), category]
        )

    def table(self) -> pa.Table:
        """All rows as one Arrow table in memory, which ``to_pandas()`` makes a data frame.

        Examples
        --------
        >>> Survey(people=2, form="trips").table().column_names[:2]
        ['trip_id', 'person_id']
        """
        import pyarrow as pa

        return pa.Table.from_batches(self.batches())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Record batches of the rows, by person and then by time; one block of people is in memory at a time.

        Examples
        --------
        >>> sum(batch.num_rows for batch in Survey(people=5, form="trips").batches()) > 10
        True
        """
        plan = draw_plan(self.seed, self.radius_km * 1000.0)
        trips = 0
        for first in range(0, self.people, BLOCK_PEOPLE):
            block = self._block(plan, first)
            yield self._points(block) if self.form == "points" else self._trips(block, trips)
            trips += block.journeys.start.size

    def _block(self, plan: CityPlan, first: int) -> _Block:
        rng = generator(self.seed, _STREAM, first)
        people = draw_participants(rng, plan, min(BLOCK_PEOPLE, self.people - first))
        journeys = draw_diary(rng, plan, people, days=self.days)
        ends = rng.standard_normal((4, journeys.start.size)) * self.jitter_m
        # Loggers wake late and people park round the corner: now and then an end is a good way off.
        ends *= 1.0 + WAY_OFF * np.square(np.square(rng.random(journeys.start.size)))
        return _Block(first, people, journeys, ends, rng)

    def _points(self, block: _Block) -> pa.RecordBatch:
        import pyarrow as pa

        tracks = draw_tracks(
            block.rng, block.journeys, ends=block.ends, jitter_m=self.jitter_m, step=self.step_s
        )
        person_id, *traits = trait_columns(block.people, tracks.person, block.first, DIGITS)
        columns = [
            person_id,
            pa.array(FIRST_MIDNIGHT + tracks.time.astype("m8[s]")),
            pa.array(latitude(tracks.north, self.centre)),
            pa.array(longitude(tracks.east, self.centre)),
            *traits,
            _categories(block.people, tracks.person),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _trips(self, block: _Block, first_trip: int) -> pa.RecordBatch:
        import pyarrow as pa

        trips = to_record_batch(
            block.people,
            block.journeys,
            jitter=block.ends,
            centre=self.centre,
            first_trip=first_trip,
            first_person=block.first,
            person_digits=DIGITS,
        )
        columns = [*trips.columns, _categories(block.people, block.journeys.person)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _categories(people: Participants, person: Ints) -> pa.Array:
    import pyarrow as pa

    names = pa.array(CATEGORIES)
    return names.take(pa.array(people.category[person]))
