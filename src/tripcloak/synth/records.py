"""Trips as Arrow record batches in the field's usual column names, and checks of parameters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.errors import InputError
from tripcloak.synth.journeys import Journeys
from tripcloak.synth.plan import Floats, Ints
from tripcloak.synth.residents import People

if TYPE_CHECKING:
    import pyarrow as pa


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Raise unless a value is a whole number from ``low`` to ``high``."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InputError(f"{name}: expected a whole number from {low} to {high}, found {value!r}")


def check_number(name: str, value: object, low: float, high: float) -> None:
    """Raise unless a value is a number from ``low`` to ``high``."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise InputError(f"{name}: expected a number from {low:g} to {high:g}, found {value!r}")


def check_centre(centre: object) -> None:
    """Raise unless a value is a (latitude, longitude) pair in degrees."""
    if not isinstance(centre, tuple) or len(centre) != 2:
        raise InputError(f"centre: expected a (latitude, longitude) pair in degrees, found {centre!r}")
    check_number("centre latitude", centre[0], -80.0, 80.0)
    check_number("centre longitude", centre[1], -180.0, 180.0)


# A Monday after which no European clock changes for seven weeks.
FIRST_MIDNIGHT = np.datetime64("2024-09-02T00:00:00", "us")

METRES_A_DEGREE = 111_195.0


def city_schema() -> pa.Schema:
    """Names and types of the columns of a made-up city.

    Examples
    --------
    >>> city_schema().field("person_id").type
    DataType(string)
    """
    import pyarrow as pa

    columns = [
        ("trip_id", pa.int64()),
        ("person_id", pa.string()),
        ("start_time", pa.timestamp("us")),
        ("end_time", pa.timestamp("us")),
        ("start_lat", pa.float64()),
        ("start_lon", pa.float64()),
        ("end_lat", pa.float64()),
        ("end_lon", pa.float64()),
        ("weight", pa.float64()),
        ("age", pa.int16()),
        ("sex", pa.string()),
    ]
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])


def to_record_batch(
    people: People,
    journeys: Journeys,
    *,
    jitter: Floats,
    centre: tuple[float, float],
    first_trip: int,
    first_person: int,
    person_digits: int,
) -> pa.RecordBatch:
    """Record batch of a block's trips; ``jitter`` holds metres north and east at start and end."""
    import pyarrow as pa

    size = journeys.person.size
    person_id, *traits = trait_columns(people, journeys.person, first_person, person_digits)
    columns = [
        pa.array(np.arange(first_trip, first_trip + size)),
        person_id,
        pa.array(FIRST_MIDNIGHT + journeys.start.astype("m8[s]")),
        pa.array(FIRST_MIDNIGHT + journeys.end.astype("m8[s]")),
        pa.array(latitude(journeys.origin[:, 1] + jitter[0], centre)),
        pa.array(longitude(journeys.origin[:, 0] + jitter[1], centre)),
        pa.array(latitude(journeys.destination[:, 1] + jitter[2], centre)),
        pa.array(longitude(journeys.destination[:, 0] + jitter[3], centre)),
        *traits,
    ]
    return pa.RecordBatch.from_arrays(columns, schema=city_schema())


def trait_columns(people: People, person: Ints, first_person: int, person_digits: int) -> list[pa.Array]:
    """Id, weight, age and sex of the person of every row."""
    import pyarrow as pa

    names = person_ids(first_person + np.arange(people.age.size), person_digits)
    letters = np.where(people.female, np.uint8(ord("F")), np.uint8(ord("M")))[:, None]
    return [
        strings(names, person),
        pa.array(people.weight[person]),
        pa.array(people.age[person]),
        strings(letters, person),
    ]


def latitude(north: Floats, centre: tuple[float, float]) -> Floats:
    """Degrees of points that many metres north of the centre."""
    # Six decimals are a tenth of a metre: finer digits would only carry rounding noise.
    return np.round(centre[0] + north / METRES_A_DEGREE, 6)


def longitude(east: Floats, centre: tuple[float, float]) -> Floats:
    """Degrees of points that many metres east of the centre."""
    a_degree = METRES_A_DEGREE * math.cos(math.radians(centre[0]))
    degrees = np.round(centre[1] + east / a_degree, 6)
    if abs(centre[1]) < 90.0:
        return degrees
    # Beyond the antimeridian the numbers start again from the other side.
    wrapped: Floats = np.round(degrees - 360.0 * np.floor((degrees + 180.0) / 360.0), 6)
    return wrapped


def person_ids(number: Ints, digits: int) -> NDArray[np.uint8]:
    """ASCII codes (people, digits + 1) of 'p' and the person's number with leading zeros."""
    codes = np.empty((number.size, digits + 1), dtype=np.uint8)
    codes[:, 0] = ord("p")
    for place in range(digits):
        codes[:, digits - place] = ord("0") + number // 10**place % 10
    return codes


def strings(codes: NDArray[np.uint8], index: Ints) -> pa.Array:
    """Arrow strings of equal length, one for each index into the rows of ASCII codes."""
    import pyarrow as pa

    width = codes.shape[1]
    offsets = np.arange(0, (index.size + 1) * width, width, dtype=np.int32)
    text = np.ascontiguousarray(codes[index])
    return pa.StringArray.from_buffers(index.size, pa.py_buffer(offsets), pa.py_buffer(text))
