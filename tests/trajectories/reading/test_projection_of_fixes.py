"""One projection serves, a study area is taken, or an error says what to do."""

from __future__ import annotations

import numpy as np
import pytest
from pyproj import Geod, Transformer

from tripcloak.ground.errors import InputError
from tripcloak.trajectories.reading.projection import REACH_KM, Cells, box_around, choose_region, within_box
from worlds.fix_lines import ReadLines, fix, told, walk

TOWN = [line for user in range(20) for line in walk(user, 30)]


def cells(*rows: tuple[int, int, int, int]) -> Cells:
    return Cells(*(np.array(column) for column in zip(*rows, strict=True)))


def test_steps_are_the_metres_of_the_projection(read: ReadLines) -> None:
    reading = read([*walk("a"), *walk("b")])
    grid = reading.trajectories.grid
    lat = 48.85 + 0.001 * np.arange(5)
    project = Transformer.from_crs("EPSG:4326", grid.projection, always_xy=True)
    x, y = project.transform(np.full(5, 2.35), lat)
    assert reading.trajectories.x[:5].tolist() == np.floor(x / 100).astype(int).tolist()
    assert reading.trajectories.y[:5].tolist() == np.floor(y / 100).astype(int).tolist()


def test_lengths_are_right_to_one_in_a_hundred_wherever_a_projection_serves() -> None:
    region = choose_region(cells((48, 2, 100, 20)))
    project = Transformer.from_crs("EPSG:4326", region.projection, always_xy=True)
    geod = Geod(ellps="WGS84")
    for bearing in range(0, 360, 30):
        lon, lat, _ = geod.fwd(region.lon, region.lat, bearing, REACH_KM * 1000)
        for way in (0, 45, 90, 135):
            there = geod.fwd(lon, lat, way, 1000.0)
            (x0, y0), (x1, y1) = project.transform(lon, lat), project.transform(there[0], there[1])
            assert abs(np.hypot(x1 - x0, y1 - y0) / 1000.0 - 1) < 0.01


@pytest.mark.parametrize("lon", [-179.0, 179.0])
def test_the_antimeridian_divides_nobody(lon: float, read: ReadLines) -> None:
    reading = read(
        [
            *walk("a", lat=-17.0, lon=179.999),
            *walk("b", lat=-17.0, lon=-179.999),
            *walk("c", lon=lon, lat=-17),
        ]
    )
    x = reading.trajectories.x
    assert reading.cleaning.dropped == {}
    assert abs(int(x[0]) - int(x[5])) <= 3
    assert np.ptp(x) * 100 < 120_000


def test_poles_are_places_too() -> None:
    polar = [(89, lon, 10, 10) for lon in range(-180, 180, 30)]
    region = choose_region(cells(*polar))
    assert region.box is None
    assert region.lat > 85
    far = choose_region(cells(*((south, lon, 100, 50) for south, lon, *_ in polar), (0, 0, 5, 1)))
    assert far.box is not None
    assert (far.box[1], far.box[3], far.lat) == (-180.0, 180.0, 90.0)


def test_few_people_do_not_move_the_centre() -> None:
    bulk = [(48, 2, 5000, 300), (48, 3, 4000, 200)]
    centre = choose_region(cells(*bulk))
    assert choose_region(cells(*bulk, (45, 7, 30, 4))) == centre
    assert choose_region(cells(*bulk, (45, 7, 3000, 400))) != centre


@pytest.mark.parametrize(
    ("people", "k", "moved"), [(4, 5, False), (5, 5, True), (19, 20, False), (20, 20, True)]
)
def test_a_region_follows_from_cells_that_k_people_reach(people: int, k: int, moved: bool) -> None:
    """Some of them in a far corner of the country: below ten they count where no cell has more."""
    town, corner = (48, 2, 5000, 9 if k < 10 else 300), (45, 7, 900, people)
    centre = choose_region(cells(town), k=k)
    assert (choose_region(cells(town, corner), k=k) != centre) == moved
    assert choose_region(cells(town, (-34, 151, 5, k - 1)), k=k)[:2] == centre[:2]


def test_a_region_that_k_people_do_not_reach_must_be_asked_for() -> None:
    few = cells((48, 2, 5000, 4), (45, 7, 900, 4))
    assert choose_region(few, k=4).box is None
    with pytest.raises(InputError, match=r"reached by 5 people.*box="):
        choose_region(few, k=5)
    assert choose_region(few, (44, 1, 50, 9), k=5) == (47.0, 5.0, None)
    assert choose_region(few, k=5, centre=(47.0, 4.5)) == (47.0, 4.5, None)


def test_one_person_abroad_does_not_show_in_the_grid(read: ReadLines) -> None:
    abroad = [fix("abroad", 400_000 + at, -33.86, 151.2) for at in range(3)]
    town, both = read(TOWN, k=5), read([*TOWN, *abroad], k=5)
    assert both.trajectories.grid == town.trajectories.grid
    assert both.cleaning.dropped == {"outside_area": 3}
    assert told(both.trajectories) == told(town.trajectories)


def test_a_long_country_fits_by_its_middle() -> None:
    region = choose_region(cells((40, 0, 9000, 900), (69, 0, 900, 90)))
    assert region == (55.0, 0.5, None)


def test_a_study_area_is_taken_where_nearly_all_are(read: ReadLines) -> None:
    tourists = [fix(user, 400_000, -33.86, 151.2) for user in range(12)]
    reading = read([*TOWN, *tourists])
    assert reading.cleaning.dropped == {"outside_area": 12}
    assert reading.trajectories.n_users == 20
    note = next(note for note in reading.notes if "study area" in note)
    assert "12 fixes outside it are left out" in note
    box = reading.source.box
    assert box is not None
    assert all(edge == int(edge) for edge in box)
    assert within_box(np.array([48.85]), np.array([2.35]), box).all()


def test_what_was_settled_reads_the_same_again(read: ReadLines) -> None:
    lines = [*TOWN, *(fix(user, 400_000, -33.86, 151.2) for user in range(12)), fix(3, 310, 30, 30)]
    first = read(lines)
    kept = {name: value for name, value in first.source.to_dict().items() if name != "paths"}
    again = read(lines, **(kept | {"box": tuple(kept["box"])}))
    assert told(again.trajectories) == told(first.trajectories)
    assert again.cleaning.dropped["outside_box"] == first.cleaning.dropped["outside_area"]
    assert again.source == first.source


@pytest.mark.parametrize(
    "place", [(-33.86, 151.2), (0.5, 30.0), (45.0, 179.9), (45.0, -179.9), (-80.0, 10.0)]
)
def test_edges_of_an_area_lead_back_to_it(place: tuple[float, float]) -> None:
    south, west = (int(np.floor(edge)) for edge in place)
    far = (60, 60) if south < 0 else (-60, 60)
    region = choose_region(cells((south, west, 1000, 50), (*far, 10, 2)))
    assert region.box is not None
    inside = cells((south, west, 1000, 50))
    # One who is far away does not move the centre: it is that of those who are there.
    assert region._replace(box=None) == choose_region(inside)
    assert region.box == box_around(region)
    apart = choose_region(cells((south, west, 10_000, 50), (*far, 10, 12)))
    assert apart.box is not None
    assert choose_region(inside, apart.box) == apart._replace(box=None)


def test_the_whole_world_needs_a_box(read: ReadLines) -> None:
    towns = [(40.7, -74.0), (51.5, 0.1), (35.6, 139.7)]
    lines = [
        line
        for n, (lat, lon) in enumerate(towns)
        for user in range(5)
        for line in walk(f"{n}{user}", lat=lat, lon=lon)
    ]
    with pytest.raises(InputError, match=r"too far apart.*box='south,west,north,east'") as error:
        read(lines)
    assert not any(town in str(error.value) for town in ("40.7", "51.5", "139.7"))
    reading = read(lines, box=(51, -1, 52, 1))
    assert reading.trajectories.n_users == 5
    assert "+lat_0=51.5 +lon_0=0 " in reading.trajectories.grid.projection
    with pytest.raises(InputError, match="the box is too large"):
        read(lines, box=(-80, -179, 80, 179))
    # A large box does no harm where the fixes in it are close together.
    assert read(lines[:25], box=(-80, -179, 80, 179)).trajectories.n_users == 5


def test_people_count_too_when_an_area_is_taken(read: ReadLines) -> None:
    homes = [fix(f"far{user}", 0, -33.86, 151.2) for user in range(10)]
    with pytest.raises(InputError, match="too far apart"):
        read([*TOWN, *homes])
