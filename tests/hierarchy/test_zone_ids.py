"""Which column of a zones file holds the ids, zones in several rows, and files of other kinds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import geopandas
import pytest
import shapely

from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.hierarchy import ZoneFile
from tripcloak.hierarchy.tiling import OUTSIDE
from tripcloak.hierarchy.zonefile.columns import Columns
from tripcloak.hierarchy.zonefile.naming import IdsSought, find_ids

TAXI = Columns(
    {
        "OBJECTID": [1, 2, 3, 4],
        "zone": ["Corona", "Corona", "Park", "Airport"],
        "LocationID": [1, 1, 3, 4],
        "borough": ["Queens", "Queens", "Manhattan", "EWR"],
    },
    [shapely.to_wkb(shapely.box(x, 40, x + 1, 41)) for x in range(4)],
)


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        (IdsSought(said="objectid"), "OBJECTID"),
        (IdsSought(likely=("LocationID",)), "LocationID"),
        (IdsSought(seen=["1", "3"]), "LocationID"),
        # Numbers of rows hold one more of the ids, and are not meant all the same.
        (IdsSought(seen=["1", "2", "3"]), "LocationID"),
        # With half of the ids or fewer in any other column, they are.
        (IdsSought(seen=["1", "2"]), "OBJECTID"),
        (IdsSought(seen=["Park", "Airport"]), "zone"),
        (IdsSought(), "zone"),
    ],
)
def test_the_column_of_ids(sought: IdsSought, found: str) -> None:
    assert find_ids(TAXI, sought) == found


def test_a_usual_name_that_tells_zones_apart_comes_first() -> None:
    assert find_ids(Columns({"zone": ["a", "a"], "code": ["1", "2"]}), IdsSought()) == "code"


def test_ids_that_the_file_does_not_hold_are_refused() -> None:
    with pytest.raises(InputError, match=r"no column holds any of them.*it has OBJECTID, zone"):
        find_ids(TAXI, IdsSought(seen=["E1", "E2"]))
    with pytest.raises(InputError, match="column 'borough' holds none of them"):
        find_ids(TAXI, IdsSought(said="borough", seen=["1"]))
    with pytest.raises(MissingColumnError, match="no column has 'id'"):
        find_ids(TAXI, IdsSought(said="id"))


def test_rows_of_one_id_are_one_zone_where_the_column_is_certain() -> None:
    zones = ZoneFile.of(TAXI, IdsSought(said="LocationID"))
    assert zones.ids.tolist() == ["1", "3", "4"]
    assert zones.joined == 1
    assert zones.geometries is not None
    assert zones.geometries[0].equals(shapely.box(0, 40, 2, 41))
    assert zones.attributes["borough"].tolist() == ["Queens", "Manhattan", "EWR"]
    # Rows of one zone that disagree say nothing.
    assert zones.attributes["OBJECTID"].tolist() == ["", "3", "4"]
    with pytest.raises(InputError, match=r"1 occur more than once in column 'zone'.*zone_id"):
        ZoneFile.of(TAXI)


def test_whole_numbers_saved_as_decimals_name_their_zones() -> None:
    areas = Columns({"area": ["8", "32", "32.0"], "lat": [1, 2, 3], "lon": [1, 2, 3]})
    zones = ZoneFile.of(areas, IdsSought(seen=["8.0"]))
    assert zones.ids[zones.keys(["8.0", "32.0", "32"]).astype(int)].tolist() == ["8", "32.0", "32"]
    assert (zones.keys(["8.00", "9.0", "x.0"]) == OUTSIDE).all()
    assert zones.keys([]).tolist() == []


def test_points_of_one_id_are_averaged() -> None:
    blocks = Columns(
        {"block": ["a", "b"], "tract": ["t", "t"], "lat": ["1", "3"], "lon": [5, 5], "aland": [1e6, 2e6]}
    )
    zones = ZoneFile.of(blocks, IdsSought(seen=["t"]))
    assert (zones.lat.tolist(), zones.lon.tolist(), zones.area_km2.tolist()) == ([2.0], [5.0], [3.0])


@pytest.mark.parametrize("name", ["zones.shp", "zones.gpkg", "zones.parquet", "zones.geojson"])
def test_files_of_all_kinds_and_systems_are_read_in_degrees(name: str, tmp_path: Path) -> None:
    boxes = [shapely.box(-3.7, 40.4, -3.6, 40.5), shapely.box(-3.6, 40.4, -3.5, 40.5)]
    frame = geopandas.GeoDataFrame({"ID": ["2807901", "2807902"], "n": [1, 2]}, geometry=boxes, crs=4326)
    projected = frame.to_crs(25830)
    if name.endswith(".parquet"):
        projected.to_parquet(tmp_path / name)
    else:
        projected.to_file(tmp_path / name)
    zones = ZoneFile.read(tmp_path / name)
    assert zones.ids.tolist() == ["2807901", "2807902"]
    assert zones.lon.tolist() == pytest.approx([-3.65, -3.55], abs=1e-4)
    assert zones.geometries is not None
    assert zones.geometries[0].bounds == pytest.approx(boxes[0].bounds, abs=1e-6)
    assert zones.attributes["n"].tolist() == ["1", "2"]


def test_without_what_reads_shapefiles_an_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyogrio", None)
    (tmp_path / "zones.shp").write_bytes(b"x")
    with pytest.raises(InputError, match=r"install 'tripcloak\[formats\]', or convert the file to GeoJSON"):
        ZoneFile.read(tmp_path / "zones.shp")


def test_stations_of_a_bike_share_feed_are_zones(tmp_path: Path) -> None:
    path = tmp_path / "station_information.json"
    stations = [
        {"station_id": "7", "name": "Clark St", "lat": 41.9, "lon": -87.6, "rental_uris": {"ios": "x"}},
        {"station_id": "5", "name": "State St", "lat": 41.8, "lon": -87.6, "capacity": 19},
    ]
    path.write_text(json.dumps({"last_updated": 1700000000, "ttl": 5, "data": {"stations": stations}}))
    zones = ZoneFile.read(path)
    assert (zones.ids.tolist(), zones.lat.tolist()) == (["5", "7"], [41.8, 41.9])
    assert set(zones.attributes) == {"name", "capacity"}
