"""Zones files of every kind, good and bad."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from pyproj import Geod

from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.hierarchy import OUTSIDE, ZoneFile

BOXES = {"b": shapely.box(11, 48, 11.2, 48.1), "a": shapely.box(11.2, 48, 11.4, 48.1)}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def geojson(tmp_path: Path, features: list[dict]) -> Path:
    document = {"type": "FeatureCollection", "features": features}
    return write(tmp_path / "zones.geojson", json.dumps(document))


def feature(geometry: shapely.Geometry | None, properties: dict, **more: object) -> dict:
    shape = None if geometry is None else shapely.geometry.mapping(geometry)
    return {"type": "Feature", "geometry": shape, "properties": properties, **more}


def test_every_format_gives_the_same_zones(tmp_path: Path) -> None:
    geojson_path = geojson(
        tmp_path, [feature(box, {"zone": name, "county": "X"}) for name, box in BOXES.items()]
    )
    rows = "".join(f'{name};X;"{box.wkt}"\n' for name, box in BOXES.items())
    csv_path = write(tmp_path / "zones.csv", "zone;county;wkt\n" + rows)
    packed = tmp_path / "zones.csv.gz"
    packed.write_bytes(gzip.compress(csv_path.read_bytes()))
    columns = {"zone": list(BOXES), "county": ["X", "X"], "geometry": [box.wkb for box in BOXES.values()]}
    parquet_path = tmp_path / "zones.parquet"
    pq.write_table(pa.table(columns), parquet_path)
    duck_path = tmp_path / "duck.parquet"
    query = f"select zone, county, wkt::GEOMETRY as shape_of_it from read_csv('{csv_path}')"
    duckdb.sql(f"copy ({query}) to '{duck_path}'")
    for path in (geojson_path, csv_path, packed, parquet_path, duck_path):
        zones = ZoneFile.read(path)
        assert zones.ids.tolist() == ["a", "b"]
        np.testing.assert_allclose(zones.lat, 48.05)
        np.testing.assert_allclose(zones.lon, [11.3, 11.1])
        assert zones.attribute("COUNTY").tolist() == ["X", "X"]
        exact = abs(Geod(ellps="WGS84").geometry_area_perimeter(BOXES["a"])[0]) / 1e6
        np.testing.assert_allclose(zones.area_km2, exact)
        assert shapely.equals(zones.geometries, [BOXES["a"], BOXES["b"]]).all()


def test_ids_stay_the_text_that_people_know(tmp_path: Path) -> None:
    tracts = ZoneFile.read(write(tmp_path / "t.csv", "GEOID,INTPTLAT,INTPTLON\n06075010100,+37.80,-122.41\n"))
    assert tracts.ids.tolist() == ["06075010100"]
    path = tmp_path / "n.parquet"
    pq.write_table(pa.table({"LocationID": [10, 2], "lat": [1.0, 2.0], "lng": [3.0, 4.0]}), path)
    numbered = ZoneFile.read(path)
    assert numbered.ids.tolist() == ["10", "2"]
    assert numbered.lat.tolist() == [1.0, 2.0]
    pq.write_table(pa.table({"LocationID": [10.0, 2.0], "lat": [1.0, 2.0], "lng": [3.0, 4.0]}), path)
    assert ZoneFile.read(path).ids.tolist() == ["10", "2"]


def test_ids_come_from_a_named_column_or_the_features_own(tmp_path: Path) -> None:
    path = write(tmp_path / "z.csv", "id,block,lat,lon\n1,x,1,2\n2,y,3,4\n")
    assert ZoneFile.read(path).ids.tolist() == ["1", "2"]
    assert ZoneFile.read(path, id_column="Block").ids.tolist() == ["x", "y"]
    features = [feature(box, {"colour": "red"}, id=name) for name, box in BOXES.items()]
    assert ZoneFile.read(geojson(tmp_path, features)).ids.tolist() == ["a", "b"]


def test_areas_are_taken_from_columns_where_there_is_no_outline(tmp_path: Path) -> None:
    assert ZoneFile.read(write(tmp_path / "k.csv", "id,lat,lon,area_km2\na,1,2,7.5\n")).area_km2.tolist() == [
        7.5
    ]
    assert ZoneFile.read(write(tmp_path / "m.csv", "id,lat,lon,ALAND\na,1,2,5e6\n")).area_km2.tolist() == [
        5.0
    ]
    assert np.isnan(ZoneFile.read(write(tmp_path / "n.csv", "id,lat,lon\na,1,2\n")).area_km2).all()


def test_holes_do_not_count_as_area(tmp_path: Path) -> None:
    ring = shapely.box(0, 0, 1, 1).difference(shapely.box(0.25, 0.25, 0.75, 0.75))
    whole = ZoneFile.read(geojson(tmp_path, [feature(shapely.box(0, 0, 1, 1), {"id": 1})])).area_km2[0]
    zones = ZoneFile.read(geojson(tmp_path, [feature(ring, {"id": 1})]))
    assert zones.area_km2[0] == pytest.approx(whole * 0.75, rel=1e-3)


def test_points_as_geometry_give_places_but_no_outlines(tmp_path: Path) -> None:
    zones = ZoneFile.read(geojson(tmp_path, [feature(shapely.Point(5, 6), {"id": "mast"})]))
    assert (zones.lat.tolist(), zones.lon.tolist(), zones.geometries) == ([6.0], [5.0], None)
    assert zones.outline(np.array([0]))["type"] == "Polygon"


def test_an_outline_cut_at_the_antimeridian_keeps_its_middle(tmp_path: Path) -> None:
    island = shapely.MultiPolygon([shapely.box(178, -18, 180, -16), shapely.box(-180, -18, -179, -16)])
    zones = ZoneFile.read(geojson(tmp_path, [feature(island, {"id": "Fiji"})]))
    assert (zones.lat[0], zones.lon[0]) == (pytest.approx(-17), pytest.approx(179.5))


def test_places_missing_from_columns_come_from_outlines(tmp_path: Path) -> None:
    text = f'id,lat,lon,geometry\na,1,2,"{BOXES["a"].wkt}"\nb,,,"{BOXES["b"].wkt}"\n'
    zones = ZoneFile.read(write(tmp_path / "z.csv", text))
    np.testing.assert_allclose(zones.lat, [1, 48.05])
    np.testing.assert_allclose(zones.lon, [2, 11.1])


def test_names_and_points_lead_to_zones() -> None:
    outlines = [box.wkb for box in (BOXES["a"], BOXES["b"])]
    zones = ZoneFile(np.array(["a", "b"]), np.array([48.05] * 2), np.array([11.3, 11.1]), {}, outlines)
    assert zones.keys(["b", "a", "c", "aa", ""]).tolist() == [1, 0, *[int(OUTSIDE)] * 3]
    lat, lon = np.array([48.05, 48.05, 48.05, 50.0]), np.array([11.21, 11.1, 11.2, 11.1])
    # The third point stands on the edge between both: the first zone by id takes it.
    assert zones.locate(lat, lon).tolist() == [0, 1, 0, int(OUTSIDE)]
    without = ZoneFile(zones.ids, zones.lat, zones.lon)
    assert without.locate(lat, lon).tolist() == [0, 1, *without.locate(lat[2:3], lon[2:3]).tolist(), 1]


def test_the_nearest_place_is_nearest_on_the_globe() -> None:
    rng = np.random.default_rng(0)
    lat, lon = rng.uniform(-85, 85, 60), rng.uniform(-180, 180, 60)
    zones = ZoneFile(np.array([f"{n:02}" for n in range(60)]), lat, lon)
    at_lat, at_lon = rng.uniform(-85, 85, 200), rng.uniform(-180, 180, 200)
    for key, a, b in zip(zones.locate(at_lat, at_lon), at_lat, at_lon, strict=True):
        # Haversine, the plain way.
        half = np.sin(np.radians(lat - a) / 2) ** 2
        half += np.cos(np.radians(a)) * np.cos(np.radians(lat)) * np.sin(np.radians(lon - b) / 2) ** 2
        assert key == np.argmin(half)


@pytest.mark.parametrize(
    ("name", "text", "error", "words"),
    [
        ("z.csv", "colour,lat,lon\nred,1,2\n", MissingColumnError, "it has colour, lat, lon"),
        ("z.csv", "id,name\na,b\n", MissingColumnError, "no coordinates.*It has id, name"),
        ("z.csv", "id,lat,lon\na,1,2\na,3,4\n", InputError, "1 occur more than once in column 'id'"),
        ("z.csv", "id,lat,lon\na,1,2\n,3,4\n", InputError, "1 of 2 zones have no id"),
        ("z.csv", "id,lat,lon\na,1,2\nb,,\n", InputError, "1 of 2 zones have neither"),
        ("z.csv", "id,lat,lon\na,north,2\n", InputError, "'lat' must hold numbers"),
        ("z.csv", "id,lat,lon\na,913175,120121\n", InputError, "EPSG:4326"),
        ("z.csv", "id,lat,lon\na,1\n", InputError, "3 fields"),
        ("z.csv", "id,lat,lon\n", InputError, "no zones"),
        ("z.csv", "", InputError, "no zones"),
        ("z.csv", "id,wkt\na,POLYGON((0 0\n", InputError, "no WKB, WKT or GeoJSON"),
        ("z.geojson", "{", InputError, "FeatureCollection"),
        ("z.geojson", '{"type": "Point"}', InputError, "FeatureCollection"),
        ("z.geojson", '{"type": "FeatureCollection", "features": []}', InputError, "no zones"),
        ("z.parquet", "not parquet", InputError, "not a readable Parquet file"),
        ("z.csv.gz", "not gzip", InputError, "not readable"),
        ("z.shp", "", InputError, "not a readable shapefile"),
        ("z.kml", "", InputError, "ends in .parquet"),
    ],
)
def test_a_bad_file_is_refused_in_words_to_act_on(
    tmp_path: Path, name: str, text: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ZoneFile.read(write(tmp_path / name, text))


def test_a_missing_file_and_a_missing_column_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no zones file .*nowhere\.csv"):
        ZoneFile.read(tmp_path / "nowhere.csv")
    zones = ZoneFile.read(write(tmp_path / "z.csv", "id,lat,lon,county\na,1,2,X\n"))
    with pytest.raises(MissingColumnError, match="no column 'state'; it has county"):
        zones.attribute("state")
    with pytest.raises(MissingColumnError, match="'plate'"):
        ZoneFile.read(tmp_path / "z.csv", id_column="plate")


def test_projected_outlines_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="EPSG:4326"):
        ZoneFile.read(geojson(tmp_path, [feature(shapely.box(9e5, 1e5, 9.1e5, 1.1e5), {"id": 1})]))


def test_a_geometry_of_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "z.parquet"
    pq.write_table(pa.table({"id": ["a"], "geometry": [[[1.0, 2.0]]]}), path)
    with pytest.raises(InputError, match="WKB or WKT"):
        ZoneFile.read(path)


@pytest.mark.parametrize(
    "text",
    [
        "id,lat,lon\nphone-77,48.12345,11.5\nphone-77,48.2,11.6\n",
        "phone-77,48.12345,11.5\nphone-78,48.2,11.6\n",
    ],
)
def test_trips_given_as_zones_by_mistake_are_not_quoted(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        ZoneFile.read(path)
    assert "phone-77" not in str(raised.value)
    assert "48.12345" not in str(raised.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_text_is_read_by_what_it_is(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "z.csv"
    path.write_bytes("id,lat,lon\nOpéra,48.87,2.33\nÉtoile,48.87,2.29\n".encode(encoding))
    assert sorted(ZoneFile.read(path).ids.tolist()) == ["Opéra", "Étoile"]


def test_text_of_no_encoding_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "z.csv"
    path.write_bytes(b"id,lat,lon\nOp\x81ra,48.87,2.33\n")
    with pytest.raises(InputError, match="save it as CSV in UTF-8"):
        ZoneFile.read(path)
