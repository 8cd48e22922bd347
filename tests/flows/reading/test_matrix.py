"""Reading: memory limits in words, places as plain values, and the extent of a quadtree."""

from __future__ import annotations

import pytest

from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.ground.errors import InputError
from tripcloak.records.source import TripSource
from worlds.trips import some_trips, without, write_csv, zone_trips


@pytest.mark.parametrize("area", [None, (48.0, 2.0, 49.0, 3.0)])
@pytest.mark.parametrize("time_slot", [None, 60])
def test_places_survive_being_written_down(area, time_slot):
    zoning = Zoning(spec="quadtree:7", zones="zones.csv", area=area, time_slot=time_slot)
    assert Zoning.from_dict(zoning.to_dict()) == zoning


def test_a_quadtree_finds_its_area_and_remembers_it(tmp_path):
    file = write_csv(tmp_path / "trips.csv", some_trips(50))
    reading = read_matrix(TripSource(paths=(str(file),)), Zoning(spec="quadtree:6"))
    assert reading.zoning.area == (48.85, 2.35, 48.9, 2.4)
    again = read_matrix(TripSource(paths=(str(file),)), reading.zoning)
    assert again.trips.matrix.digest() == reading.trips.matrix.digest()


def test_only_rows_that_are_kept_make_the_area(tmp_path):
    rows = some_trips(50)
    far = {**rows[0], "start_lat": "-33.9", "start_lon": "151.2"}
    file = write_csv(tmp_path / "trips.csv", [*rows, far])
    source = TripSource(paths=(str(file),), box=(48.0, 2.0, 49.0, 3.0))
    assert read_matrix(source, Zoning(spec="quadtree:6")).zoning.area == (48.85, 2.35, 48.9, 2.4)


def test_zone_ids_have_no_extent(tmp_path):
    file = write_csv(tmp_path / "trips.csv", zone_trips(20))
    with pytest.raises(InputError, match="area="):
        read_matrix(TripSource(paths=(str(file),)), Zoning(spec="quadtree:6"))


def test_an_area_cannot_be_found_without_trips(tmp_path):
    rows = [{**row, "end_lat": "nan"} for row in some_trips(20)]
    file = write_csv(tmp_path / "trips.csv", rows)
    with pytest.raises(InputError, match="no usable trip"):
        read_matrix(TripSource(paths=(str(file),)), Zoning(spec="quadtree:6"))


def town_and_far_trips(far: int) -> list[dict[str, str]]:
    """Return the trips of a town, and those of so many people who go far north and east of it."""
    rows = some_trips(300)
    return rows + [
        {**rows[i], "person_id": f"far{i}", "end_lat": f"{57.12 + i / 10}", "end_lon": f"{9.93 + i / 10}"}
        for i in range(far)
    ]


@pytest.mark.parametrize(
    ("far", "columns", "left_out"),
    [
        (1, (), 1),
        (9, (), 9),
        # One of ten people in the north lies on the edge; nine go further.
        (10, (), 9),
        (9, ("person_id",), 9),
        (9, ("person_id", "start_time"), 9),
    ],
)
def test_a_study_area_does_not_tell_how_far_few_people_go(tmp_path, far, columns, left_out):
    file = write_csv(tmp_path / "trips.csv", without(town_and_far_trips(far), *columns))
    source = TripSource(paths=(str(file),))
    reading = read_matrix(source, Zoning(spec="quadtree:6"))
    north, east = (48.9, 2.4) if far < 10 else (57.15, 9.95)
    assert reading.zoning.area == (48.85, 2.35, north, east)
    assert reading.trips.cleaning.dropped == {"outside_area": left_out}
    assert [note for note in reading.trips.notes if "area=" in note]
    stated = read_matrix(source, Zoning(spec="quadtree:6", area=(48.0, 2.0, 59.0, 12.0)))
    assert stated.trips.cleaning.dropped == {}
    assert not [note for note in stated.trips.notes if "area=" in note]


def test_one_person_who_travels_far_often_is_still_one(tmp_path):
    rows = [{**row, "person_id": "far0"} for row in town_and_far_trips(50)[300:]]
    file = write_csv(tmp_path / "trips.csv", some_trips(300) + rows)
    assert read_matrix(TripSource(paths=(str(file),)), Zoning(spec="quadtree:6")).zoning.area == (
        48.85,
        2.35,
        48.9,
        2.4,
    )


def test_a_trip_that_is_written_ten_times_is_one(tmp_path):
    rows = without(some_trips(300) + 10 * town_and_far_trips(1)[300:], "person_id")
    reading = read_matrix(
        TripSource(paths=(str(write_csv(tmp_path / "trips.csv", rows)),)), Zoning(spec="quadtree:6")
    )
    assert reading.zoning.area == (48.85, 2.35, 48.9, 2.4)


@pytest.mark.parametrize("columns", [(), ("person_id",)])
def test_few_people_do_not_make_an_area(tmp_path, columns):
    rows = some_trips(300, people=19) if not columns else some_trips(19)
    file = write_csv(tmp_path / "trips.csv", without(rows, *columns))
    with pytest.raises(InputError, match=r"20 tr.* or more.*area="):
        read_matrix(TripSource(paths=(str(file),)), Zoning(spec="quadtree:6"))
