"""Columns are found by their usual names, by flags, and otherwise an error says what to do."""

from __future__ import annotations

import pytest

from tripcloak.ground.errors import MissingColumnError
from tripcloak.records.columns import assign_columns

COORDINATES = ("origin_lat", "origin_lon", "destination_lat", "destination_lon")


@pytest.mark.parametrize(
    "names",
    [
        ("start_lat", "start_lon", "end_lat", "end_lon"),
        ("start_lat", "start_lng", "end_lat", "end_lng"),
        ("origin_lat", "origin_lon", "destination_lat", "destination_lon"),
        ("o_lat", "o_lon", "d_lat", "d_lon"),
        ("lat_o", "lon_o", "lat_d", "lon_d"),
        ("pickup_latitude", "pickup_longitude", "dropoff_latitude", "dropoff_longitude"),
        (
            "Pickup Centroid Latitude",
            "Pickup Centroid Longitude",
            "Dropoff Centroid Latitude",
            "Dropoff Centroid Longitude",
        ),
        (
            "start station latitude",
            "start station longitude",
            "end station latitude",
            "end station longitude",
        ),
        ("startlat", "startlong", "endlat", "endlong"),
        ("from_lat", "from_lon", "to_lat", "to_lon"),
        ("Origin.Latitude", "Origin.Longitude", "Dest.Latitude", "Dest.Longitude"),
    ],
)
def test_usual_coordinate_names(names: tuple[str, ...]) -> None:
    found = assign_columns(("x", *names))
    assert found.form == "trips"
    assert found.endpoints == "points"
    assert tuple(found.columns[role] for role in COORDINATES) == names


@pytest.mark.parametrize(
    ("origin", "destination"),
    [
        ("origin", "destination"),
        ("O", "D"),
        ("from", "to"),
        ("PULocationID", "DOLocationID"),
        ("h_geocode", "w_geocode"),
        ("start_h3", "end_h3"),
        ("h3_o", "h3_d"),
        ("from_station_id", "to_station_id"),
        ("Origin Zone", "Destination Zone"),
    ],
)
def test_usual_zone_names(origin: str, destination: str) -> None:
    found = assign_columns((destination, origin, "x"))
    assert (found.form, found.endpoints) == ("zones", "zones")
    assert (found.columns["origin"], found.columns["destination"]) == (origin, destination)


@pytest.mark.parametrize(
    "name", ["trips", "count", "n", "flow", "volume", "commuters", "persons", "people", "S000", "jobs"]
)
def test_a_number_of_trips_makes_a_table_of_counts(name: str) -> None:
    assert assign_columns(("origin", "destination", name)).form == "counts"
    assert assign_columns(("o_lat", "o_lon", "d_lat", "d_lon", name)).form == "counts"


@pytest.mark.parametrize(
    "name",
    [
        "person_id",
        "user_id",
        "UserID",
        "vehicle_id",
        "taxi_id",
        "bike_id",
        "bikeid",
        "Bike ID",
        "device_id",
        "imsi",
        "caid",
        "uid",
        "id_person",
        "medallion",
    ],
)
def test_usual_person_names(name: str) -> None:
    assert assign_columns(("o", "d", name)).columns["person"] == name


@pytest.mark.parametrize("name", ["trip_id", "ride_id", "id", "tripid", "usertype", "passenger_count"])
def test_the_id_of_a_trip_is_no_person(name: str) -> None:
    assert "person" not in assign_columns(("o", "d", name)).columns


def test_a_person_goes_before_a_vehicle() -> None:
    assert assign_columns(("o", "d", "vehicle_id", "user_id")).columns["person"] == "user_id"


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("start_time", "end_time"),
        ("started_at", "ended_at"),
        ("starttime", "stoptime"),
        ("tpep_pickup_datetime", "tpep_dropoff_datetime"),
        ("pickup_datetime", "dropoff_datetime"),
        ("Trip Start Timestamp", "Trip End Timestamp"),
    ],
)
def test_usual_times(start: str, end: str) -> None:
    columns = assign_columns(("o", "d", end, start)).columns
    assert (columns["start_time"], columns["end_time"]) == (start, end)


@pytest.mark.parametrize("name", ["weight", "weight_indiv", "expansion_factor", "population"])
def test_usual_weights(name: str) -> None:
    assert assign_columns(("o", "d", name)).columns["weight"] == name


def test_gps_fixes_and_paths() -> None:
    fixes = assign_columns(("user_id", "timestamp", "lat", "lon", "trip_id"))
    assert fixes.form == "points"
    assert fixes.columns["trip_id"] == "trip_id"
    assert assign_columns(("TAXI_ID", "TIMESTAMP", "POLYLINE")).form == "polyline"


def test_coordinates_go_before_zones_unless_zones_are_asked_for() -> None:
    names = ("start_lat", "start_lng", "end_lat", "end_lng", "start_station_id", "end_station_id")
    assert assign_columns(names).endpoints == "points"
    asked = assign_columns(names, given={"origin": "start_station_id", "destination": "end_station_id"})
    assert asked.endpoints == "zones"
    assert assign_columns(names, form="zones").columns["origin"] == "start_station_id"


def test_given_names_win_and_forgive_case() -> None:
    names = ("o", "d", "user_id", "Household")
    assert assign_columns(names, given={"person": "household"}).columns["person"] == "Household"
    assert "person" not in assign_columns(names, given={"person": "none"}).columns


def test_a_wrong_given_name_lists_the_columns() -> None:
    with pytest.raises(MissingColumnError, match=r"no column 'rider' \(person=\.\.\.\).*o, d, user_id"):
        assign_columns(("o", "d", "user_id"), given={"person": "rider"})


@pytest.mark.parametrize(
    ("names", "keywords", "silent"),
    [
        (("start_lat", "start_lon", "end_lat"), ["destination_lon="], ["origin_lat="]),
        (("user_id", "lat", "lon"), ["time="], ["origin_lat="]),
        (("origin", "x"), ["destination="], []),
        (("a", "b"), ["origin_lat=", "destination_lon=", "polyline="], []),
    ],
)
def test_missing_columns_name_the_keywords(
    names: tuple[str, ...], keywords: list[str], silent: list[str]
) -> None:
    with pytest.raises(MissingColumnError) as caught:
        assign_columns(names)
    message = str(caught.value)
    assert f"Columns found: {', '.join(names)}" in message
    assert all(keyword in message for keyword in keywords)
    assert not any(f"{keyword}'NAME'" in message for keyword in silent)


def test_a_form_that_was_asked_for_is_kept() -> None:
    names = ("user_id", "time", "lat", "lon", "origin", "destination")
    assert assign_columns(names).form == "zones"
    assert assign_columns(names, form="points").form == "points"
    with pytest.raises(MissingColumnError, match="trips="):
        assign_columns(names, form="counts")
