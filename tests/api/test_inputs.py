"""What may be given: the same rows give the same release, whatever holds them; and nothing bad is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import geopandas
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
import shapely

import tripcloak as tc
from tripcloak import InputError, MissingColumnError
from tripcloak.api.inputs import Points, take
from tripcloak.ground.errors import EmptyInputError
from tripcloak.records.files.frames import Frame, LoadedFrame


class Capsule:
    """Something that offers a stream of Arrow, and is nothing else that anybody knows."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def as_objects(table: pa.Table) -> pd.DataFrame:
    frame = table.to_pandas()
    return frame.astype({"person_id": object, "sex": object})


def with_gaps(table: pa.Table) -> pd.DataFrame:
    """Whole numbers beside missing ones, as pandas has had them for long."""
    return table.to_pandas().convert_dtypes()


HOLDERS: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": pa.Table.to_pandas,
    "pandas of objects": as_objects,
    "pandas with its own missing values": with_gaps,
    "pandas categories": lambda table: table.to_pandas().astype({"person_id": "category"}),
    "pandas in nanoseconds": lambda table: table.to_pandas().astype({"start_time": "datetime64[ns]"}),
    "pandas, person in the index": lambda table: table.to_pandas().set_index("person_id"),
    "pandas, two levels in the index": lambda table: table.to_pandas().set_index(["person_id", "start_time"]),
    "pandas, rows in another order": lambda table: table.to_pandas().sample(frac=1, random_state=1),
    "Polars": pl.from_arrow,
    "Polars categories": lambda table: pl.DataFrame(table).with_columns(
        pl.col("person_id").cast(pl.Categorical)
    ),
    "Polars, lazy": lambda table: pl.DataFrame(table).lazy().filter(pl.col("age") >= 0),
    "Arrow table": lambda table: table,
    "Arrow batches": lambda table: table.to_reader(),
    "Arrow batch": lambda table: table.combine_chunks().to_batches()[0],
    "Arrow dataset": pyarrow.dataset.dataset,
    "capsule": Capsule,
    "DuckDB relation": lambda table: duckdb.connect().from_arrow(table).filter("age >= 0"),
    "several": lambda table: [table.slice(0, 1000).to_pandas(), pl.DataFrame(table.slice(1000))],
}


@pytest.fixture(scope="session")
def from_file(trips_file: Path) -> tc.ReleasedFlows:
    return tc.anonymise(str(trips_file), k=10, zones="h3:7")


def without_files(cleaning: dict[str, Any]) -> dict[str, Any]:
    """Return what became of the rows, whatever table each was in."""
    return {name: value for name, value in cleaning.items() if name != "files"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("holder", HOLDERS)
def test_the_same_rows_give_the_same_release(
    holder: str, city: pa.Table, from_file: tc.ReleasedFlows
) -> None:
    release = tc.anonymise(HOLDERS[holder](city), k=10, zones="h3:7")
    assert release.to_arrow("flows").equals(from_file.to_arrow("flows"))
    assert release.to_arrow("zones").equals(from_file.to_arrow("zones"))
    assert release.private.to_arrow("groups").equals(from_file.private.to_arrow("groups"))
    told, expected = (made.private.run["cleaning"] for made in (release, from_file))
    assert without_files(told) == without_files(expected)
    assert sum(one["read"] for one in told["files"]) == told["read"]


def test_paths_may_be_paths_globs_and_several(trips_file: Path, from_file: tc.ReleasedFlows) -> None:
    for given in (trips_file, str(trips_file.parent / "*.parquet"), [trips_file], trips_file.parent):
        assert tc.describe(given, zones="h3:7").numbers["trips"] == 3_000
    assert from_file.private.run["source"]["paths"] == [str(trips_file)]


def test_the_index_is_read_where_it_has_a_name_and_the_notes_say_so(trips: pd.DataFrame) -> None:
    found = tc.describe(trips.set_index("person_id"))
    assert "the index 'person_id' was read as a column" in found.notes
    assert found.columns["person"] == "person_id"
    plain = tc.describe(trips.set_index(np.arange(len(trips)) * 3))
    assert not [note for note in plain.notes if "index" in note]


def test_an_index_without_a_name_is_pointed_at_where_a_column_is_missing(trips: pd.DataFrame) -> None:
    frame = trips.set_index("start_lat").rename_axis(None)
    with pytest.raises(MissingColumnError, match="index has no name and was not looked at"):
        tc.describe(frame)
    with pytest.raises(MissingColumnError) as error:
        tc.describe(trips.drop(columns="start_lat"))
    assert "index" not in str(error.value)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, "", "NA", "nan"])
def test_what_is_missing_is_missing_as_in_files(trips: pd.DataFrame, missing: Any) -> None:
    frame = trips.astype({"person_id": object, "start_lat": object})
    frame.loc[[3, 4, 5], "person_id"] = missing
    frame.loc[[7, 8], "start_lat"] = missing
    found = tc.describe(frame)
    assert found.to_dict()["cleaning"]["dropped"] == {"missing_coordinate": 2}
    assert any("no id in 'person_id'" in note for note in found.notes)


def test_a_column_of_several_kinds_is_read_as_text_and_the_notes_say_so(trips: pd.DataFrame) -> None:
    frame = trips.astype({"person_id": object, "start_lat": object})
    frame.loc[3, "person_id"] = 17
    frame.loc[4, "start_lat"] = "Rue de la Paix"
    found = tc.describe(frame)
    assert found.to_dict()["cleaning"]["dropped"] == {"unparsable": 1}
    assert [note for note in found.notes if "holds values of several kinds and was read as text" in note]
    assert "Paix" not in " ".join(found.notes)


def test_a_column_that_does_not_matter_may_hold_anything(trips: pd.DataFrame) -> None:
    frame = trips.assign(diary=[object() for _ in range(len(trips))], dup_1=1)
    assert tc.describe(frame).numbers["trips"] == len(trips)


def test_times_with_a_zone_are_that_moment(trips: pd.DataFrame) -> None:
    aware = trips.assign(start_time=trips.start_time.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    by_slot = {"zones": "h3:5", "time_slot": "6h", "fold": "day", "method": "productcut", "k": 5}
    naive, zoned = (tc.anonymise(frame, **by_slot) for frame in (trips, aware))
    assert naive.to_arrow().equals(zoned.to_arrow())


def test_times_with_a_zone_and_without_are_told_apart(calls: pa.Table) -> None:
    frame = calls.to_pandas()
    # Half of them lose their zone, and are then of the zone that is named.
    mixed = frame.assign(
        timestamp=[
            moment.tz_localize(None) if row % 2 else moment for row, moment in enumerate(frame.timestamp)
        ]
    )
    mixed["timestamp"] = mixed.timestamp.astype(object)
    found = tc.trajectories.describe(mixed, timezone="Asia/Tokyo")
    assert any("some have none" in note for note in found.notes)
    shifted = tc.trajectories.describe(frame, timezone="Asia/Tokyo")
    assert found.to_dict()["gap_minutes"] != shifted.to_dict()["gap_minutes"]


def test_names_that_differ_in_case_alone_are_kept_apart(trips: pd.DataFrame) -> None:
    frame = trips.assign(PERSON_ID="x")
    assert tc.describe(frame).numbers["travellers"] == 300


def test_names_that_are_no_text(trips: pd.DataFrame) -> None:
    frame = trips.set_axis(range(len(trips.columns)), axis=1)
    with pytest.raises(MissingColumnError, match="numbers for names"):
        tc.describe(frame)
    named = {"origin_lat": 4, "origin_lon": 5, "destination_lat": 6, "destination_lon": 7}
    found = tc.describe(frame, **{role: str(column) for role, column in named.items()})
    assert found.numbers["trips"] == len(trips)


def test_points_are_fixes_in_whatever_system_they_are(calls: pa.Table) -> None:
    frame = calls.to_pandas()
    plain = frame.drop(columns=["lat", "lon"])
    points = geopandas.GeoDataFrame(plain, geometry=geopandas.points_from_xy(frame.lon, frame.lat), crs=4326)

    def told(table: Any) -> dict[str, Any]:
        found = tc.trajectories.describe(table).to_dict()
        return {**found, "cleaning": without_files(found["cleaning"])}

    assert told(points) == told(points.to_crs(3857)) == told(calls)
    unsaid = tc.trajectories.describe(points.set_crs(None, allow_override=True))
    assert any("does not say its coordinate system" in note for note in unsaid.notes)


def test_points_are_ends_of_trips_where_they_are_named(trips: pd.DataFrame) -> None:
    ends = {
        "home": geopandas.points_from_xy(trips.start_lon, trips.start_lat, crs=4326),
        "work": geopandas.points_from_xy(trips.end_lon, trips.end_lat, crs=4326),
    }
    plain = trips.drop(columns=["start_lat", "start_lon", "end_lat", "end_lon"])
    frame = geopandas.GeoDataFrame(plain.assign(**ends), geometry="home")
    release = tc.anonymise(frame, zones="h3:7", origin="home", destination="work")
    assert release.to_arrow().equals(tc.anonymise(trips, zones="h3:7").to_arrow())


def test_shapes_that_are_no_points_are_refused_where_they_are_named_and_else_passed_over(
    trips: pd.DataFrame,
) -> None:
    west, south = trips.start_lon, trips.start_lat
    frame = geopandas.GeoDataFrame(trips, geometry=shapely.box(west, south, west + 1, south + 1), crs=4326)
    assert tc.describe(frame).numbers["trips"] == len(trips)
    with pytest.raises(InputError, match="other shapes than points"):
        tc.describe(frame, origin="geometry")


ENDS, TURNED = ("start", "end"), (("lat", "lon"), ("lon", "lat"))

BAD: dict[str, tuple[Callable[[pd.DataFrame], Any], dict[str, Any], type[Exception], str]] = {
    "without the columns": (lambda t: t[["age"]], {}, MissingColumnError, "Columns found: age"),
    "no rows": (lambda t: t.iloc[:0], {}, EmptyInputError, "holds no rows"),
    "no columns": (lambda t: pd.DataFrame(), {}, EmptyInputError, "has no columns"),
    "nothing": (lambda t: [], {}, InputError, "no input was given"),
    "a dict": (lambda t: {"lat": [48.8566]}, {}, InputError, "got a dict"),
    "a column": (lambda t: t.start_lat, {}, InputError, "got a Series"),
    "an array": (lambda t: t.start_lat.to_numpy(), {}, InputError, "got a ndarray"),
    "two columns of one name": (
        lambda t: pd.concat([t, t[["age"]]], axis=1),
        {},
        InputError,
        "several columns called age",
    ),
    "a row of data for names": (
        lambda t: t.set_axis([str(cell) for cell in t.iloc[0]], axis=1),
        {},
        MissingColumnError,
        "first row read as names",
    ),
    "lists for coordinates": (
        lambda t: t.assign(start_lat=[[1.0]] * len(t)),
        {},
        InputError,
        r"cannot be the latitude of the origin \(origin_lat=\.\.\.\)",
    ),
    "text for coordinates": (
        lambda t: t.assign(start_lat=t.person_id),
        {},
        InputError,
        "nearly all values of column 'start_lat'",
    ),
    "no such column": (lambda t: t, {"person": "rider"}, MissingColumnError, r"no column 'rider' \(person="),
    "no condition": (lambda t: t, {"where": "nonsense >"}, InputError, "condition given with where="),
    "coordinates swapped": (
        lambda t: t.rename(columns={f"{end}_{a}": f"{end}_{b}" for end in ENDS for a, b in TURNED}),
        {"box": (48.0, 17.0, 49.5, 19.5)},
        InputError,
        "Try origin_lat=",
    ),
    "no such zone of time": (lambda t: t, {"timezone": "Mars"}, InputError, r"time zone \(timezone="),
    "a broken lazy frame": (
        lambda t: pl.DataFrame(t).lazy().with_columns(pl.col("sex").cast(pl.Int64).alias("start_lat")),
        {},
        InputError,
        "a lazy data frame could not be read",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_words_that_hold_no_value(name: str, trips: pd.DataFrame) -> None:
    make, keywords, kind, words = BAD[name]
    frame = trips.astype(object) if name == "a row of data for names" else trips
    with pytest.raises(kind, match=words) as error:
        tc.describe(make(frame), **keywords)
    told = str(error.value)
    assert error.value.__cause__ is None
    for value in (trips.person_id[0], str(trips.start_lat[0]), str(trips.start_lon[0])):
        assert value not in told
    assert "--" not in told


def test_a_source_shows_nothing_of_a_frame(trips: pd.DataFrame, city: pa.Table) -> None:
    (frame,) = take(trips, Points())
    for source in (tc.TripSource(paths=(frame,)), tc.TrajectorySource(paths=(frame,))):
        assert "<a data frame of 11 columns>" in repr(source)
        assert source.to_dict()["paths"] == ["a data frame of 11 columns"]
        assert type(source).from_dict(source.to_dict()).paths == ("a data frame of 11 columns",)
    for wrong in ((trips,), trips, [city], 7, None):
        with pytest.raises(InputError, match="an input is a path or a table") as error:
            tc.TripSource(paths=wrong)  # type: ignore[arg-type]
        assert len(str(error.value)) < 70


def test_what_goes_wrong_in_a_frame_is_told_without_its_words() -> None:
    def load(names: list[str]) -> LoadedFrame:
        raise RuntimeError("cell 48.8566 of Alice")

    with pytest.raises(InputError, match=r"a data frame could not be read \(RuntimeError\)") as error:
        Frame(["lat"], load).load(["lat"])
    assert error.value.__cause__ is None
    assert "Alice" not in str(error.value)


def test_only_what_may_matter_is_turned_to_arrow(city: pa.Table) -> None:
    asked: list[list[str]] = []

    def load(names: list[str]) -> LoadedFrame:
        asked.append(names)
        return LoadedFrame(city.select(names))

    tc.describe(Frame(city.column_names, load), where="sex = 'F'", attribute="age")  # type: ignore[arg-type]
    assert set(asked[0]) == set(city.column_names)
    asked.clear()
    tc.describe(Frame(city.column_names, load))  # type: ignore[arg-type]
    assert {"sex", "age"}.isdisjoint(asked[0])
