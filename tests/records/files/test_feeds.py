"""Documents of shared vehicles: trips by MDS, vehicles by GBFS, and what is neither."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tripcloak.ground.errors import InputError
from tripcloak.records.files.feeds import feed_rows, is_feed
from worlds.trip_readings import WriteText

BIKE = {"bike_id": "b7", "lat": 48.85, "lon": 2.35}


@pytest.mark.parametrize(
    ("document", "feed"),
    [
        ({"last_updated": 1, "data": {"bikes": [BIKE]}}, True),
        ({"version": "2.0.0", "trips": [{"trip_id": "t"}]}, True),
        ([{"trip_id": "t"}], True),
        ({"type": "FeatureCollection", "features": [{"properties": {"data": 1}}]}, False),
        ({"type": "Point"}, False),
    ],
)
def test_the_beginning_tells_documents_of_vehicles_from_features(
    document: Any, feed: bool, write_text: WriteText
) -> None:
    assert is_feed(write_text("any.json", json.dumps(document))) is feed


def test_ends_of_trips_come_from_routes_or_locations(write_text: WriteText) -> None:
    def point(lon: float, lat: float) -> dict[str, Any]:
        return {"type": "Feature", "geometry": {"type": "Point", "coordinates": [lon, lat]}}

    trips = [
        {"trip_id": "a", "route": {"features": [point(2.3, 48.8), point(2.4, 48.9)]}},
        {
            "trip_id": "b",
            "start_location": {"lat": 1.0, "lng": 2.0},
            "end_location": {"lat": 3.0, "lng": 4.0},
        },
        {"trip_id": "c", "route": {"features": []}},
    ]
    path = write_text("trips.json", json.dumps({"data": {"trips": trips}}))
    assert list(feed_rows(path, path.name)) == [
        ["trip_id", "start_lat", "start_lng", "end_lat", "end_lng"],
        ["a", "48.8", "2.3", "48.9", "2.4"],
        ["b", "1.0", "2.0", "3.0", "4.0"],
        ["c", "", "", "", ""],
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"data": {"stations": []}}', "no list of trips, bikes or vehicles"),
        ('{"data": {"bikes": [7]}}', "no list of trips, bikes or vehicles"),
        ('{"data": {"bikes": []}}', "holds no trips and no vehicles"),
        ('{"data": ', "no list of trips, bikes or vehicles"),
    ],
)
def test_other_documents_are_refused(text: str, words: str, write_text: WriteText) -> None:
    path = write_text("feed.json", text)
    with pytest.raises(InputError, match=words):
        list(feed_rows(path, path.name))
