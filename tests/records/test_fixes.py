"""GPS fixes become trips: by silence, by trip id, by seats; compared with a plain walk along the fixes."""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tripcloak.ground.engine import connect
from tripcloak.ground.errors import MissingColumnError
from tripcloak.records.source import TripSource
from tripcloak.records.trips import open_canonical
from worlds.depth import size
from worlds.trip_readings import Read, ReadPaths, WriteText

ENDS = "person, epoch(start_time), epoch(end_time), o_lat, o_lon, d_lat, d_lon"


def test_a_long_silence_starts_a_new_trip(write_text: WriteText, read: ReadPaths) -> None:
    lines = ["p,0,10,20", "p,180,11,21", "p,361,12,22", "p,400,13,23", "q,500,14,24", "q,90,15,25", "r,7,1,1"]
    path = write_text("a.csv", "user_id,timestamp,lat,lon\n" + "\n".join(lines))
    result = read(path)
    assert result.canonical.form == "points"
    assert result.rows(ENDS) == [("p", 0, 180, 10, 20, 11, 21), ("p", 361, 400, 12, 22, 13, 23)]
    report = result.report
    assert (report.word, report.kept, report.dropped) == ("trips", 2, {"single_fix": 3})
    assert report.before is not None
    assert (report.before.word, report.before.rows, report.before.kept) == ("fixes", 7, 7)
    assert read(path, silence=500).rows(ENDS) == [
        ("p", 0, 400, 10, 20, 13, 23),
        ("q", 90, 500, 15, 25, 14, 24),
    ]


def test_bad_fixes_are_left_out_and_counted_before_trips_are_made(
    write_text: WriteText, read: ReadPaths
) -> None:
    good = ["p,0,10,20", "p,60,11,21", "p,120,12,22"]
    bad = [
        "p,130,0,0",
        "p,140,,22",
        "p,150,99,200",
        "p,160,x,22",
        ",170,12,22",
        "p,,12,22",
        "p,180",
        "p,190,100,20",
    ]
    result = read(write_text("a.csv", "user_id,time,lat,lon\n" + "\n".join(bad + good)))
    assert result.rows(ENDS) == [("p", 0, 120, 10, 20, 12, 22)]
    before = result.report.before
    assert before is not None
    assert before.dropped == {
        "unparsable": 2,
        "missing_person": 1,
        "missing_time": 1,
        "missing_coordinate": 1,
        "swapped": 1,
        "out_of_range": 1,
        "null_island": 1,
    }
    assert (before.kept, before.rows) == (3, 11)


def test_a_trip_id_separates_trips_even_without_silence(write_text: WriteText, read: ReadPaths) -> None:
    lines = ["p,1,0,10,20", "p,1,60,11,21", "p,2,61,12,22", "p,2,90,13,23", "p,1,95,14,24"]
    path = write_text("a.csv", "user_id,trip_id,time,lat,lon\n" + "\n".join(lines))
    assert [row[1:3] for row in read(path).rows(ENDS)] == [(0, 95), (61, 90)]
    assert [row[1:3] for row in read(path, columns={"trip_id": "none"}).rows(ENDS)] == [(0, 95)]


def test_a_trip_id_alone_is_enough(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("a.csv", "trip_id,time,lat,lon\n1,0,10,20\n1,60,11,21\n2,0,1,1\n2,9,2,2\n")
    result = read(path)
    assert not result.canonical.has_person
    assert result.rows("o_lat, d_lat") == [(1, 2), (10, 11)]


def test_an_empty_id_column_is_refused_or_replaced_by_the_trip_id(
    write_text: WriteText, read: ReadPaths
) -> None:
    with pytest.raises(MissingColumnError, match="'user_id' is empty"):
        read(write_text("a.csv", "user_id,time,lat,lon\n,0,10,20\n"))
    both = write_text("b.csv", "user_id,trip_id,time,lat,lon\n,1,0,10,20\n,1,9,11,21\n")
    assert read(both).rows("o_lat, d_lat") == [(10, 11)]


def test_the_area_is_for_the_ends_of_trips_not_for_fixes_on_the_way(
    write_text: WriteText, read: ReadPaths
) -> None:
    lines = ["p,0,10,20", "p,60,50,60", "p,120,11,21", "q,0,10,20", "q,60,50,60"]
    path = write_text("a.csv", "user_id,time,lat,lon\n" + "\n".join(lines))
    result = read(path, box=(0, 0, 30, 30))
    assert [row[:3] for row in result.rows(ENDS)] == [("p", 0, 120)]
    assert result.report.dropped == {"outside_box": 1}


def test_weights_and_attributes_are_those_of_the_first_fix(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("a.csv", "user_id,time,lat,lon,weight,mode\np,60,11,21,5,bus\np,0,10,20,3,walk\n")
    assert read(path, attributes=("mode",)).rows("weight, attr_mode") == [(3, "walk")]


FIXES = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", None]),
        st.sampled_from([1, 2]),
        st.one_of(st.none(), st.integers(0, 1500)),
        st.sampled_from([10.0, 11.0, 0.0, None]),
        st.sampled_from([20.0, 0.0]),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=size(2, 3) * settings().max_examples // 3)
@given(fixes=FIXES, silence=st.sampled_from([60, 180, 400]), with_trips=st.booleans())
def test_trips_equal_a_plain_walk_along_the_fixes(
    fixes: list[tuple[str | None, int, int | None, float | None, float]], silence: int, with_trips: bool
) -> None:
    assume(any(fix[0] for fix in fixes))
    expected = plain_trips(fixes, silence, with_trips)
    names = ("user_id", "trip_id", "time", "lat", "lon")
    types = (pa.string(), pa.int64(), pa.int64(), pa.float64(), pa.float64())
    with tempfile.TemporaryDirectory() as folder, connect(threads=1) as con:
        path = os.path.join(folder, "a.parquet")
        arrays = [pa.array(column, t) for column, t in zip(zip(*fixes, strict=True), types, strict=True)]
        pq.write_table(pa.table(arrays, names), path)
        columns = {} if with_trips else {"trip_id": "none"}
        source = TripSource(paths=(path,), silence=silence, columns=columns)
        result = Read(open_canonical(con, source), con)
        rows = result.rows(f"{ENDS}, reason <> 0", kept=False)
        assert rows == sorted(expected)


def plain_trips(
    fixes: list[tuple[str | None, int, int | None, float | None, float]], silence: int, with_trips: bool
) -> list[tuple[object, ...]]:
    """Return trips with a mark for those of a single fix, walking along each person's sorted fixes."""
    tracks: dict[tuple[str, int], list[tuple[int, float, float]]] = defaultdict(list)
    for person, trip, time, lat, lon in fixes:
        if person is not None and time is not None and lat is not None and (lat, lon) != (0, 0):
            tracks[person, trip if with_trips else 0].append((time, lat, lon))
    trips: list[tuple[object, ...]] = []
    for (person, _), track in tracks.items():
        track.sort()
        pieces = [[track[0]]]
        for fix in track[1:]:
            if fix[0] - pieces[-1][-1][0] > silence:
                pieces.append([])
            pieces[-1].append(fix)
        for piece in pieces:
            (start, *origin), (end, *destination) = piece[0], piece[-1]
            trips.append((person, start, end, *origin, *destination, len(piece) == 1))
    return trips


def test_call_records_become_trips_between_base_stations(write_text: WriteText, read: ReadPaths) -> None:
    stations = write_text("stations.csv", "id,lat,lon\nA1,14.7,-17.4\nA2,14.8,-17.3\n")
    lines = ["s1,0,A1", "s1,60,A2", "s1,90,A9", "s2,0,", "s2,10,A2"]
    path = write_text("calls.csv", "subscriber,call_time,cell_id\n" + "\n".join(lines))
    result = read(path, preset="cdr", stations=str(stations))
    assert result.rows(ENDS) == [("s1", 0, 60, 14.7, -17.4, 14.8, -17.3)]
    before = result.report.before
    assert before is not None
    assert before.dropped == {"unknown_antenna": 2}
