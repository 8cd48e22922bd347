"""Reading: memory limits in words, places as plain values, and the extent of a quadtree."""

from __future__ import annotations

import pytest

from made_trips import some_trips, write_csv, zone_trips
from tripcloak.errors import InputError
from tripcloak.trips import TripSource
from tripcloak.workflow.reading import Place, engine_memory, memory_budget, read_matrix


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("200MB", 200 * 10**6),
        ("1GB", 10**9),
        ("1.5 gb", 1_500_000_000),
        (" 512MiB ", 512 * 2**20),
        ("2TB", 2 * 10**12),
        ("300000kb", 3 * 10**8),
    ],
)
def test_sizes_in_words(words, size):
    assert memory_budget(words) == size


@pytest.mark.parametrize("words", ["", "1", "GB", "-1GB", "1 GB!", "1PB", "one GB", "199MB", "nanGB", "1e9B"])
def test_sizes_that_are_none(words):
    with pytest.raises(InputError, match="memory limit"):
        memory_budget(words)


def test_half_of_the_machine_by_default():
    assert 10**8 < memory_budget(None) < 10**14
    assert engine_memory("1GB") == "400MB"


@pytest.mark.parametrize("area", [None, (48.0, 2.0, 49.0, 3.0)])
@pytest.mark.parametrize("time_slot", [None, 60])
def test_places_survive_being_written_down(area, time_slot):
    place = Place(spec="quadtree:7", zones="zones.csv", area=area, time_slot=time_slot)
    assert Place.from_dict(place.to_dict()) == place


def test_a_quadtree_finds_its_area_and_remembers_it(tmp_path):
    file = write_csv(tmp_path / "trips.csv", some_trips(50))
    reading = read_matrix(TripSource(paths=(str(file),)), Place(spec="quadtree:6"))
    assert reading.place.area == (48.85, 2.35, 48.9, 2.4)
    again = read_matrix(TripSource(paths=(str(file),)), reading.place)
    assert again.trips.matrix.digest() == reading.trips.matrix.digest()


def test_only_rows_that_are_kept_make_the_area(tmp_path):
    rows = some_trips(50)
    far = {**rows[0], "start_lat": "-33.9", "start_lon": "151.2"}
    file = write_csv(tmp_path / "trips.csv", [*rows, far])
    source = TripSource(paths=(str(file),), box=(48.0, 2.0, 49.0, 3.0))
    assert read_matrix(source, Place(spec="quadtree:6")).place.area == (48.85, 2.35, 48.9, 2.4)


def test_zone_ids_have_no_extent(tmp_path):
    file = write_csv(tmp_path / "trips.csv", zone_trips(20))
    with pytest.raises(InputError, match="--area"):
        read_matrix(TripSource(paths=(str(file),)), Place(spec="quadtree:6"))


def test_an_area_cannot_be_found_without_trips(tmp_path):
    rows = [{**row, "end_lat": "nan"} for row in some_trips(20)]
    file = write_csv(tmp_path / "trips.csv", rows)
    with pytest.raises(InputError, match="no usable trip"):
        read_matrix(TripSource(paths=(str(file),)), Place(spec="quadtree:6"))
