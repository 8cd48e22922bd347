"""Records known again: digests by SipHash, the same whatever is read, and none without the key."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracles.flows import siphash as twin
from tripcloak.engines.choice import Engine
from tripcloak.flows.model import KeyedRecords
from tripcloak.flows.reading import _kernels as kernels
from tripcloak.flows.reading.coding import code_trips
from tripcloak.flows.reading.keyed import RecordDigests, point_words, rekeyed
from tripcloak.flows.reading.matrix import MatrixReading, Zoning, opened, read_matrix
from tripcloak.ground.errors import InternalError
from tripcloak.ground.memory import Budget
from tripcloak.hierarchy import parse_tiling
from tripcloak.records.source import TripSource
from worlds.trips import some_trips, without, write_csv, zone_trips

KEY, OTHER = bytes(range(16)), bytes(range(16, 32))
HALVES = np.uint64(0x0706050403020100), np.uint64(0x0F0E0D0C0B0A0908)

# Of the reference implementation, for the key 00 .. 0f and the messages 00 01 02 ... of each length.
PUBLISHED = {
    0: "310e0edd47db6f72",
    1: "fd67dc93c539f874",
    7: "37d1018bf50002ab",
    8: "6224939a79f5f593",
    15: "e545be4961ca29a1",
    16: "db9bc2577fcc2a3f",
    63: "724506eb4c328a95",
}


@pytest.mark.parametrize("length", PUBLISHED)
def test_digests_are_those_that_were_published(length: int) -> None:
    message, expected = bytes(range(length)), int.from_bytes(bytes.fromhex(PUBLISHED[length]), "little")
    data = np.frombuffer(b"x" + message, dtype=np.uint8)
    assert twin.siphash(KEY, message) == expected
    assert kernels.siphash_texts(data, np.array([1, 1 + length]), *HALVES).tolist() == [expected]


@given(st.lists(st.binary(max_size=40), max_size=6), st.binary(min_size=16, max_size=16))
def test_digests_of_texts_are_those_of_the_plain_twin(texts: list[bytes], key: bytes) -> None:
    halves = np.frombuffer(key, dtype="<u8")
    offsets = np.cumsum([0, *map(len, texts)])
    found = kernels.siphash_texts(np.frombuffer(b"".join(texts), dtype=np.uint8), offsets, *halves)
    assert found.tolist() == twin.siphash_texts(key, texts)


WORDS = st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=5), st.binary(min_size=16, max_size=16))
def test_digests_of_words_and_permutations_are_those_of_the_plain_twin(
    rows: list[tuple[int, ...]], key: bytes
) -> None:
    words, halves = np.array(rows, dtype=np.uint64).reshape(-1, 3), np.frombuffer(key, dtype="<u8")
    assert kernels.siphash_words(words.T.copy(), *halves).tolist() == twin.siphash_words(key, rows)
    flat = [word for row in rows for word in row]
    permuted = kernels.permuted_words(words.ravel(), *halves)
    assert permuted.tolist() == twin.permuted_words(key, flat) == rekeyed(words.ravel(), key).tolist()
    assert len(set(permuted.tolist())) == len(set(flat))


@pytest.mark.parametrize("way", ["compiled", "plain"])
@given(st.lists(st.one_of(WORDS, st.integers(5, 7)), max_size=90))
@example([7, 5] * 40)
def test_sorted_digests_are_those_of_a_stable_sort(way: str, digests: list[int]) -> None:
    """However many begin alike, or are equal."""
    sort = {"compiled": kernels.sort_digests, "plain": kernels.sort_digests.py_func}[way]
    found = sort(np.array(digests, dtype=np.uint64))
    assert tuple(column.tolist() for column in found) == twin.sort_digests(digests)


def test_records_of_nobody_are_their_own() -> None:
    record, people = np.array([40, 50, 60], dtype=np.uint64), np.array([7, 8], dtype=np.uint64)
    row, number = np.array([2, 0, 1], dtype=np.int32), np.array([1, -1, 0], dtype=np.int32)
    told = record, row, number, people
    expected = twin.people_of_records(*(column.tolist() for column in told))
    assert expected == [7, 8, 60]
    for whose in (kernels.people_of_records, kernels.people_of_records.py_func):
        assert whose(*told).tolist() == expected


def test_texts_of_a_slice_are_its_own() -> None:
    digests, texts = RecordDigests(KEY), pa.array(["ab", None, "cde", "f", ""])
    whole = digests.of_texts(texts)
    assert digests.of_texts(texts.slice(2)).tolist() == whole[2:].tolist()
    assert whole[[0, 2, 3, 4]].tolist() == twin.siphash_texts(KEY, [b"ab", b"cde", b"f", b""])


@pytest.mark.parametrize("key", [b"", b"short", bytes(17)])
def test_a_key_has_sixteen_bytes_or_some_times_as_many(key: bytes) -> None:
    with pytest.raises(InternalError, match="16 bytes"):
        RecordDigests(key)


def test_places_next_to_each_other_are_different_words() -> None:
    places = [(0, 0), (0, -1), (-1, 0), (1, 0), (-1, -1), (900000000, -1800000000)]
    words = point_words(*np.array(places, dtype=float).T)
    assert len(set(words.tolist())) == len(places)


def read(
    path: Path | list[Path], spec: str = "h3:8", *, key: bytes = KEY, **options: object
) -> MatrixReading:
    zoning = {name: options.pop(name) for name in ("time_slot", "zones") if name in options}
    paths = tuple(str(one) for one in (path if isinstance(path, list) else [path]))
    source = TripSource(paths=paths, **options)  # type: ignore[arg-type]
    return read_matrix(source, Zoning(spec=spec, **zoning), keyed=key)  # type: ignore[arg-type]


def records(reading: MatrixReading) -> KeyedRecords:
    found = reading.trips.records
    assert found is not None
    assert all(a < b for a, b in pairwise(found.record.tolist()))
    return found


def pairs(found: KeyedRecords) -> list[tuple[int, ...]]:
    """Return what must be the same whatever is read of an input: records, people, trips."""
    weight = np.ones(len(found), np.int64) if found.weight is None else found.weight
    return list(zip(found.record.tolist(), found.person.tolist(), weight.tolist(), strict=True))


def assert_fits(reading: MatrixReading) -> None:
    """Hold the records to the matrix they were read with: trips and people of every flow."""
    found, flows = records(reading), reading.trips.matrix.flows
    weight = np.ones(len(found), np.int64) if found.weight is None else found.weight
    assert np.bincount(found.flow, weight, len(flows.trips)).tolist() == flows.trips.tolist()
    if flows.travellers is not None:
        people = [set(found.person[found.flow == flow].tolist()) for flow in range(len(flows.trips))]
        known = found.person != found.record
        told = [set(found.person[(found.flow == flow) & known].tolist()) for flow in range(len(people))]
        assert [len(one) for one in told] == np.diff(flows.travellers.offsets).tolist()


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, KeyedRecords]:
    rows = some_trips(120, people=30)
    rows = [{**row, "sex": "FM"[n % 2], "trip_id": str(n)} for n, row in enumerate(rows)]
    rows[5] = {**rows[5], "person_id": ""}
    # Equal but for the id of the trip: three records, not one.
    rows += [{**rows[0], "trip_id": f"again{n}"} for n in range(2)]
    path = write_csv(tmp_path_factory.mktemp("town") / "trips.csv", rows)
    return path, records(read(path))


def test_records_fit_the_matrix(town: tuple[Path, KeyedRecords]) -> None:
    path, found = town
    assert_fits(read(path))
    assert len(found) == 122
    assert np.count_nonzero(found.person == found.record) == 1
    assert len(set(found.person.tolist()) - set(found.record.tolist())) <= 30


@pytest.mark.parametrize(
    "options",
    [
        {"spec": "h3:10"},
        {"spec": "quadtree:7"},
        {"time_slot": 60},
        {"attributes": ("sex",)},
        {"weight": False},
    ],
    ids=str,
)
def test_the_same_records_whatever_is_asked_of_them(
    town: tuple[Path, KeyedRecords], options: dict[str, object]
) -> None:
    path, found = town
    if options.pop("weight", True) is False:
        options["columns"] = {"weight": "none"}
    reading = read(path, **{"spec": "h3:8", **options})  # type: ignore[arg-type]
    assert pairs(records(reading)) == pairs(found)
    assert_fits(reading)


@pytest.mark.parametrize("files", [1, 3])
def test_the_same_records_in_any_order_and_in_any_number_of_files(
    town: tuple[Path, KeyedRecords], tmp_path: Path, files: int
) -> None:
    path, found = town
    head, *lines = path.read_text().splitlines()
    random.Random(files).shuffle(lines)
    parts = [tmp_path / f"{n}.csv" for n in range(files)]
    for n, part in enumerate(parts):
        part.write_text("\n".join([head, *lines[n::files]]))
    assert pairs(records(read(parts))) == pairs(found)


def test_the_same_records_where_they_do_not_fit_in_memory(town: tuple[Path, KeyedRecords]) -> None:
    path, found = town
    with opened(TripSource(paths=(str(path),))) as (con, canonical):
        engine = Engine("parts", Budget(2000))
        coded = code_trips(con, canonical, parse_tiling("h3:8"), keyed=KEY, engine=engine)
    assert coded.records is not None
    assert pairs(coded.records) == pairs(found)


def test_part_of_the_input_holds_part_of_the_records(town: tuple[Path, KeyedRecords]) -> None:
    path, found = town
    whole, parts = set(pairs(found)), []
    for sex in "FM":
        asked = records(read(path, where=f"sex = '{sex}'"))
        assert pairs(asked) == pairs(records(read(path, segment={"sex": sex})))
        parts.append(set(pairs(asked)))
    assert parts[0] | parts[1] == whole
    assert not parts[0] & parts[1]
    drawn = set(pairs(records(read(path, sample=(7, 1)))))
    assert drawn < whole
    assert len({person for _, person, _ in drawn}) == 7


def test_what_is_left_of_equal_records_is_known_again(tmp_path: Path) -> None:
    rows = without(some_trips(8, people=3), "start_time")
    three = records(read(write_csv(tmp_path / "three.csv", [*rows, rows[0], rows[0]])))
    two = records(read(write_csv(tmp_path / "two.csv", [rows[0], *rows])))
    assert len(three) == 10
    assert set(pairs(two)) < set(pairs(three))
    assert len(two) == 9


def test_repeated_rows_are_dropped_before_records_are_numbered(tmp_path: Path) -> None:
    rows = some_trips(20, people=5)
    once, again = (records(read(write_csv(tmp_path / f"{n}.csv", rows + rows[:n]))) for n in (0, 10))
    assert pairs(once) == pairs(again)


def test_another_key_gives_other_digests_of_the_same_people(town: tuple[Path, KeyedRecords]) -> None:
    path, found = town
    other = records(read(path, key=OTHER))
    assert not set(other.record.tolist()) & set(found.record.tolist())
    assert not set(other.person.tolist()) & set(found.person.tolist())
    assert sizes(other) == sizes(found)


def sizes(found: KeyedRecords) -> list[int]:
    return sorted(np.unique(found.person, return_counts=True)[1].tolist())


def test_further_keys_permute_the_digests(town: tuple[Path, KeyedRecords]) -> None:
    path, found = town
    both = records(read(path, key=KEY + OTHER))
    moved = sorted(
        zip(rekeyed(found.record, OTHER).tolist(), rekeyed(found.person, OTHER).tolist(), strict=True)
    )
    assert [pair[:2] for pair in pairs(both)] == moved


@pytest.mark.parametrize("change", ["person_id", "start_lat", "end_lon", "start_time"])
def test_whatever_makes_up_a_record_changes_its_digest(tmp_path: Path, change: str) -> None:
    rows = some_trips(6, people=3)
    values = {"person_id": "else", "start_lat": "48.8512345", "end_lon": "2.3612345"}
    rows[2] = {**rows[2], change: values.get(change, "2024-05-11 09:09:09")}
    before, after = (
        records(read(write_csv(tmp_path / f"{n}.csv", one)))
        for n, one in enumerate([some_trips(6, people=3), rows])
    )
    assert len(set(pairs(before)) - set(pairs(after))) == 1


def test_tables_of_zones_have_records_too(tmp_path: Path) -> None:
    rows = [{**row, "trips": str(1 + n % 3)} for n, row in enumerate(zone_trips(40))]
    path = write_csv(tmp_path / "zones.csv", rows)
    zones = sorted({row[end] for row in rows for end in ("origin", "destination")})
    lines = [{"zone": name, "lat": f"{48 + n / 50}", "lon": f"{2 + n / 70}"} for n, name in enumerate(zones)]
    places = str(write_csv(tmp_path / "places.csv", lines))
    reading = read(path, "dendrogram", zones=places)
    assert_fits(reading)
    found = records(reading)
    assert found.weight is not None
    fewer = [row for row in rows if row["trips"] != "2"]
    part = records(read(write_csv(tmp_path / "fewer.csv", fewer), "dendrogram", zones=places))
    assert set(pairs(part)) < set(pairs(found))


def test_without_a_key_no_record_is_kept(town: tuple[Path, KeyedRecords]) -> None:
    reading = read_matrix(TripSource(paths=(str(town[0]),)), Zoning(spec="h3:8"))
    assert reading.trips.records is None


def test_trips_made_of_fixes_are_records(tmp_path: Path) -> None:
    rows = [
        {
            "user": f"u{who}",
            "time": f"2024-05-10 0{hour}:{minute:02}:00",
            "lat": f"{48.85 + minute / 1e4 + who / 1e3}",
            "lon": f"{2.35 + hour / 100}",
        }
        for who in range(4)
        for hour in range(3)
        for minute in range(0, 10, 2)
    ]
    reading = read(write_csv(tmp_path / "fixes.csv", rows), silence=900.0)
    assert_fits(reading)
    assert len(records(reading)) == 12
    rows.reverse()
    again = read(write_csv(tmp_path / "again.csv", rows), spec="h3:10", silence=900.0)
    assert pairs(records(again)) == pairs(records(reading))
