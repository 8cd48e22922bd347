"""Every rule of cleaning takes the rows it should; numbers of one pass equal a plain recount."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.ground.engine import connect
from tripcloak.records.source import TripSource
from tripcloak.records.trips import open_canonical
from worlds.depth import size
from worlds.trip_readings import Read, ReadPaths, WriteParquet, WriteText

GOOD = {
    "user_id": "p1",
    "o_lat": "48.85",
    "o_lon": "2.35",
    "d_lat": "48.86",
    "d_lon": "2.36",
    "start_time": "2024-05-01 08:00:00",
    "end_time": "2024-05-01 09:00:00",
    "weight": "1.5",
}
BOX = (48.0, 2.0, 49.0, 3.0)


def as_csv(rows: list[Mapping[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(GOOD), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "kept"),
        ({"o_lat": "here"}, "unparsable"),
        ({"weight": "heavy"}, "unparsable"),
        ({"end_time": "soon"}, "unparsable"),
        ({"start_time": "infinity"}, "unparsable"),
        ({"o_lat": "here", "d_lon": ""}, "unparsable"),
        ({"d_lon": ""}, "missing_coordinate"),
        ({"d_lon": "NA"}, "missing_coordinate"),
        ({"o_lon": "NaN"}, "missing_coordinate"),
        ({"o_lat": "-inf"}, "missing_coordinate"),
        ({"o_lat": "90.001", "o_lon": "95"}, "out_of_range"),
        ({"d_lon": "-180.5"}, "out_of_range"),
        ({"o_lat": "95", "o_lon": "200"}, "out_of_range"),
        ({"o_lat": "-122.4", "o_lon": "37.7"}, "swapped"),
        ({"o_lat": "0", "o_lon": "0.0"}, "null_island"),
        ({"d_lat": "0", "d_lon": "-0"}, "null_island"),
        ({"o_lat": "0"}, "kept"),
        ({"o_lat": "90", "o_lon": "-180"}, "kept"),
        ({"end_time": "2024-05-01 07:59:59"}, "end_before_start"),
        ({"end_time": "2024-05-01 08:00:00"}, "kept"),
        ({"end_time": ""}, "kept"),
        ({"start_time": ""}, "kept"),
        ({"weight": ""}, "missing_weight"),
        ({"weight": "nan"}, "missing_weight"),
        ({"weight": "-0.5"}, "negative_weight"),
        ({"weight": "0"}, "kept"),
        ({"user_id": ""}, "kept"),
        ({"d_lon": "", "weight": "-1"}, "missing_coordinate"),
    ],
)
def test_each_rule(change: dict[str, str], reason: str, write_text: WriteText, read: ReadPaths) -> None:
    result = read(write_text("a.csv", as_csv([GOOD | change, GOOD, GOOD])))
    assert Counter(result.by_reason()) == Counter({"kept": 2}) + Counter({reason: 1})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "kept"),
        ({"o_lat": "48.0", "o_lon": "3.0"}, "kept"),
        ({"o_lat": "47.9"}, "outside_box"),
        ({"d_lon": "3.1"}, "outside_box"),
        ({"d_lat": "0", "d_lon": "0"}, "null_island"),
        ({"o_lat": "91"}, "out_of_range"),
        ({"o_lat": "2.35", "o_lon": "48.85", "d_lat": "2.36", "d_lon": "48.86"}, "swapped"),
        ({"o_lat": "2.35", "o_lon": "48.85"}, "outside_box"),
    ],
)
def test_the_box(change: dict[str, str], reason: str, write_text: WriteText, read: ReadPaths) -> None:
    result = read(write_text("a.csv", as_csv([GOOD | change, GOOD, GOOD])), box=BOX)
    assert Counter(result.by_reason()) == Counter({"kept": 2}) + Counter({reason: 1})


def test_a_box_across_the_antimeridian(write_text: WriteText, read: ReadPaths) -> None:
    fiji = {"o_lat": "-17", "o_lon": "179", "d_lat": "-17", "d_lon": "-179"}
    rows = [GOOD | fiji, GOOD | fiji | {"d_lon": "170"}, GOOD | fiji | {"o_lon": "0"}]
    result = read(write_text("a.csv", as_csv(rows)), box=(-20, 175, -10, -175))
    assert result.by_reason() == {"kept": 1, "outside_box": 2}


def test_the_polygon(write_text: WriteText, read: ReadPaths) -> None:
    ring = [[2, 48], [3, 48], [2, 49], [2, 48]]
    hole = {"type": "Polygon", "coordinates": [ring]}
    shape = {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "properties": {}, "geometry": hole}],
    }
    polygon = write_text("area.geojson", json.dumps(shape))
    end = {"d_lat": "48.1", "d_lon": "2.1"}
    changes = [
        {"o_lat": "48.2", "o_lon": "2.2"},
        {"o_lat": "48", "o_lon": "2.5"},
        {"o_lat": "48.9", "o_lon": "2.9"},
        {"o_lat": "50", "o_lon": "2.2"},
        {"o_lat": "", "o_lon": "2.2"},
        {"o_lat": "2.2", "o_lon": "48.2", "d_lat": "2.1", "d_lon": "48.1"},
    ]
    path = write_text("a.csv", as_csv([GOOD | end | change for change in changes]))
    result = read(path, polygon=str(polygon))
    assert result.by_reason() == {"kept": 2, "outside_polygon": 2, "missing_coordinate": 1, "swapped": 1}
    # A second input on the same connection has a polygon of its own.
    elsewhere = [[0, 0], [1, 0], [0, 1], [0, 0]]
    polygon = write_text("area.geojson", json.dumps({"type": "Polygon", "coordinates": [elsewhere]}))
    assert "kept" not in read(path, polygon=str(polygon)).by_reason()


def test_a_polygon_and_a_box_on_many_rows_and_threads(read: ReadPaths, con: object, tmp_path: Path) -> None:
    path, polygon = tmp_path / "a.parquet", tmp_path / "area.geojson"
    n = 50_000
    lat = [48 + (i * 7919 % n) / n for i in range(n)]
    lon = [2 + (i * 104_729 % n) / n for i in range(n)]
    pq.write_table(pa.table({"o_lat": lat, "o_lon": lon, "d_lat": lat[::-1], "d_lon": lon[::-1]}), path)
    triangle = [[2, 48], [3, 48], [2, 49], [2, 48]]
    polygon.write_text(json.dumps({"type": "Polygon", "coordinates": [triangle]}))

    def inside(i: int) -> bool:
        return (lat[i] - 48) + (lon[i] - 2) <= 1

    expected = sum(inside(i) and inside(n - 1 - i) for i in range(n))
    kept = read(path, polygon=str(polygon)).by_reason()["kept"]
    # The slope of the triangle is a rounding error thick.
    assert abs(kept - expected) <= 2


@pytest.mark.parametrize("text", ["not json", "{}", '{"type": "Point", "coordinates": [2, 48]}', "[1]"])
def test_a_polygon_file_without_a_polygon(text: str, write_text: WriteText, read: ReadPaths) -> None:
    polygon = write_text("area.geojson", text)
    with pytest.raises(Exception, match="expected GeoJSON"):
        read(write_text("a.csv", as_csv([GOOD])), polygon=str(polygon))


def test_broken_lines_are_counted(write_text: WriteText, read: ReadPaths) -> None:
    text = "origin,destination,trips\nA,B,3\nA\nA,B,3,4\nA,B,x\nC,D,1\n"
    report = read(write_text("a.csv", text)).report
    assert (report.rows, report.kept, report.dropped) == (5, 2, {"unparsable": 3})


def test_broken_lines_are_those_of_one_scan_of_this_input(write_text: WriteText, read: ReadPaths) -> None:
    first = read(write_text("a.csv", "origin,destination\nA,B\nA\nA,B\n"))
    assert [first.report.rows, first.report.rows] == [3, 3]
    second = read(write_text("b.csv", "origin,destination\nA,B\nA,B\n"))
    assert second.report.dropped == {}


def test_bad_utf8_is_a_broken_line_where_it_should_be_such(tmp_path: Path, read: ReadPaths) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"origin,destination\nA,\xff\xfe\nA,B\n")
    assert read(path, encoding="utf-8").report.dropped == {"unparsable": 1}


def test_typed_columns_are_taken_as_they_are(write_parquet: WriteParquet, read: ReadPaths) -> None:
    times = [datetime(2024, 5, 1, 8), datetime(2024, 5, 1, 9), None]
    path = write_parquet(
        "a.parquet",
        {
            "o_lat": pa.array([48.5, math.nan, None], pa.float32()),
            "o_lon": [2.5, 2.5, 2.5],
            "d_lat": pa.array([48, 48, 48], pa.int32()),
            "d_lon": [2.5, 2.5, 2.5],
            "started_at": pa.array(times, pa.timestamp("ms")),
            "ended_at": pa.array(times, pa.timestamp("us", tz="UTC")),
        },
    )
    result = read(path)
    assert result.by_reason() == {"kept": 1, "missing_coordinate": 2}
    assert result.rows("o_lat, d_lat, epoch(start_time), epoch(end_time)") == [
        (48.5, 48.0, times[0].replace(tzinfo=UTC).timestamp(), times[0].replace(tzinfo=UTC).timestamp())
    ]


CELLS = {
    "user_id": st.sampled_from(["p1", "p2", "", "NULL"]),
    "o_lat": st.sampled_from(["48.85", "0", "", "x", "91", "-122.4", "nan", "2.35"]),
    "o_lon": st.sampled_from(["2.35", "0", "NA", "37.7", "181", "inf", "48.85"]),
    "d_lat": st.sampled_from(["48.86", "0", "-90", "2.36", "1e3"]),
    "d_lon": st.sampled_from(["2.36", "0", "", "y", "48.86"]),
    "start_time": st.sampled_from(
        ["2024-05-01 08:00:00", "2024-05-01T10:00:00+02:00", "", "noon", "1714550400"]
    ),
    "end_time": st.sampled_from(["2024-05-01 08:00:00", "2024-05-01T09:00:00Z", "N/A", "?"]),
    "weight": st.sampled_from(["1.5", "0", "-1", "", "NaN", "w"]),
}
MISSING = {"", "NA", "N/A", "NULL", "null", "None", "nan", "NaN", "\\N"}


@settings(max_examples=size(2, 3) * settings().max_examples // 3)
@given(rows=st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=60), boxed=st.booleans())
def test_one_pass_equals_a_plain_recount(rows: list[dict[str, str]], boxed: bool) -> None:
    box = BOX if boxed else None
    expected = Counter(plain_reason(row, box) for row in rows)
    with tempfile.TemporaryDirectory() as folder, connect(threads=1) as con:
        path = os.path.join(folder, "a.csv")
        Path(path).write_text(as_csv(rows), encoding="utf-8")
        result = Read(open_canonical(con, TripSource(paths=(path,), box=box)), con)
        assert result.by_reason() == expected


NUMBERS = st.sampled_from([48.85, 2.35, 0.0, None, math.nan, math.inf, -math.inf, 91.0, 181.0, -122.4])
TIMES = st.sampled_from([None, datetime(2024, 5, 1, 8), datetime(2024, 5, 1, 9)])
TYPED = {name: TIMES if name.endswith("time") else NUMBERS for name in GOOD if name != "user_id"}


@settings(max_examples=size(2, 3) * settings().max_examples // 3)
@given(rows=st.lists(st.fixed_dictionaries(TYPED), min_size=1, max_size=40), boxed=st.booleans())
def test_one_pass_over_typed_columns_equals_a_plain_recount(rows: list[dict[str, Any]], boxed: bool) -> None:
    box = BOX if boxed else None
    expected = Counter(plain_reason({name: as_text(cell) for name, cell in row.items()}, box) for row in rows)
    with tempfile.TemporaryDirectory() as folder, connect(threads=1) as con:
        path = os.path.join(folder, "a.parquet")
        types = {name: pa.timestamp("us") if name.endswith("time") else pa.float64() for name in TYPED}
        columns = {name: pa.array([row[name] for row in rows], type_) for name, type_ in types.items()}
        pq.write_table(pa.table(columns), path)
        result = Read(open_canonical(con, TripSource(paths=(path,), box=box)), con)
        assert result.by_reason() == expected


def as_text(cell: object) -> str:
    return "" if cell is None else str(cell)


def plain_reason(row: Mapping[str, str], box: tuple[float, float, float, float] | None) -> str:
    """Return the reason of a row of CELLS by the words of the documentation, one rule at a time."""
    cells = {name: plain_number(row[name]) for name in ("o_lat", "o_lon", "d_lat", "d_lon", "weight")}
    start, end = plain_time(row["start_time"]), plain_time(row["end_time"])
    if "bad" in (*cells.values(), start, end):
        return "unparsable"
    o_lat, o_lon, d_lat, d_lon, weight = cells.values()
    ends = [(o_lat, o_lon), (d_lat, d_lon)]
    place = plain_place([(a, b) for a, b in ends], box)
    if place != "kept":
        return place
    if isinstance(start, float) and isinstance(end, float) and end < start:
        return "end_before_start"
    if not isinstance(weight, float) or not math.isfinite(weight):
        return "missing_weight"
    return "negative_weight" if weight < 0 else "kept"


def plain_place(ends: list[tuple[object, object]], box: tuple[float, float, float, float] | None) -> str:
    if not all(isinstance(x, float) and math.isfinite(x) for end in ends for x in end):
        return "missing_coordinate"
    places = [(float(str(lat)), float(str(lon))) for lat, lon in ends]

    def fits(points: list[tuple[float, float]], area: tuple[float, float, float, float]) -> bool:
        south, west, north, east = area
        return all(south <= lat <= north and west <= lon <= east for lat, lon in points)

    earth = (-90.0, -180.0, 90.0, 180.0)
    turned = [(lon, lat) for lat, lon in places]
    if not fits(places, box or earth) and fits(turned, box or earth):
        return "swapped"
    if not fits(places, earth):
        return "out_of_range"
    if (0.0, 0.0) in places:
        return "null_island"
    return "kept" if box is None or fits(places, box) else "outside_box"


def plain_number(cell: str) -> float | str | None:
    if cell in MISSING - {"nan", "NaN"}:
        return None
    try:
        return float(cell)
    except ValueError:
        return "bad"


def plain_time(cell: str) -> float | str | None:
    if cell in MISSING:
        return None
    if cell.isdigit():
        return float(cell)
    try:
        moment = datetime.fromisoformat(cell)
    except ValueError:
        return "bad"
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
