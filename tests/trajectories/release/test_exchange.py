"""GeoJSON and Moving Features JSON of released trajectories, held to their standards."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from pyarrow import parquet

from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes
from worlds.released_trajectories import written
from worlds.trajectories import made, random_release, released

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
BOX = ("lon_min", "lat_min", "lon_max", "lat_max")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    people = made(users=12, samples=30, days=1, spread=300)
    return written(tmp_path_factory.mktemp("exchange") / "out", people, random_release(people))


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[dict[str, Any]]:
    return parquet.read_table(folder / "release" / "samples.parquet").to_pylist()


def load(folder: Path, kind: str) -> Any:
    return json.loads((folder / "release" / f"trajectories.{kind}").read_text(encoding="utf-8"))


def test_geojson_has_one_valid_polygon_a_sample(folder: Path, rows: list[dict[str, Any]]) -> None:
    collection = load(folder, "geojson")
    assert set(collection) == {"type", "features"}
    assert len(collection["features"]) == len(rows)
    for feature, row in zip(collection["features"], rows, strict=True):
        assert set(feature) == {"type", "geometry", "properties"}
        assert feature["type"] == "Feature"
        shape = shapely.from_geojson(json.dumps(feature["geometry"]))
        assert shape.is_valid
        assert shape.bounds == tuple(row[side] for side in BOX)
        # RFC 7946, 3.1.6: outer rings go against the clock.
        assert shapely.is_ccw(shape.exterior)
        told = feature["properties"]
        assert set(told) == {"trajectory", "t_start", "t_end"}
        assert told["trajectory"] == row["trajectory"]
        assert all(datetime.fromisoformat(told[name]) == row[name] for name in ("t_start", "t_end"))


def test_a_box_across_the_180th_meridian_is_cut_in_two(tmp_path: Path) -> None:
    grid = Grid(projection="+proj=laea +lat_0=-17 +lon_0=180")
    people = Trajectories.of(user=["a", "b"], t=[1, 1], x=[-20, 20], y=[0, 0], grid=grid)
    sides = [np.full(2, step) for step in (1, 2, -30, 30, -5, 5)]
    one = released(people, np.arange(3), Boxes(*sides), np.arange(2), np.arange(2))
    collection = load(written(tmp_path / "out", people, one), "geojson")
    for feature in collection["features"]:
        assert feature["geometry"]["type"] == "MultiPolygon"
        west, east = shapely.from_geojson(json.dumps(feature["geometry"])).geoms
        assert west.bounds[2] == 180
        assert east.bounds[0] == -180
        assert 179.9 < west.bounds[0] < 180
        assert -180 < east.bounds[2] < -179.9


def test_moving_features_keep_the_requirements_of_the_standard(folder: Path) -> None:
    """OGC 19-045r3: requirements 2.6 to 2.12, 2.19, 2.20, 2.28, 2.38, 2.39 and 2.44 to 2.46."""
    collection = load(folder, "mfjson")
    assert collection["type"] == "FeatureCollection"
    assert len(collection["features"]) > 1
    assert collection["crs"] == {"type": "Name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    assert collection["trs"] == {"type": "Name", "properties": {"name": "urn:ogc:data:time:iso8601"}}
    for feature in collection["features"]:
        assert feature["type"] == "Feature"
        start, end = feature["time"]
        assert RFC3339.fullmatch(start)
        assert start <= end
        geometry = feature["temporalGeometry"]
        assert geometry["type"] == "MovingGeometryCollection"
        assert geometry["prisms"]
        for prism in geometry["prisms"]:
            assert prism["type"] == "MovingPolygon"
            assert prism["interpolation"] == "Step"
            times = prism["datetimes"]
            # Step needs two instants, all different and growing, with one polygon each.
            assert len(times) == len(prism["coordinates"]) >= 2
            assert all(RFC3339.fullmatch(time) and start <= time <= end for time in times)
            assert all(one < other for one, other in pairwise(times))
            for polygon in prism["coordinates"]:
                assert [len(ring) for ring in polygon] == [5]
                assert polygon[0][0] == polygon[0][-1]


def test_moving_features_are_where_the_samples_are_and_nowhere_in_gaps(
    folder: Path, rows: list[dict[str, Any]]
) -> None:
    """Every sample is a stretch of a prism with its polygon, and there are no other stretches."""
    told: Counter[Any] = Counter()
    for feature in load(folder, "mfjson")["features"]:
        assert feature["id"] == feature["properties"]["trajectory"]
        for prism in feature["temporalGeometry"]["prisms"]:
            for (start, end), polygon in zip(
                pairwise(prism["datetimes"]), prism["coordinates"][:-1], strict=True
            ):
                ring = np.array(polygon[0])
                box = (*ring.min(axis=0).tolist(), *ring.max(axis=0).tolist())
                told[feature["id"], datetime.fromisoformat(start), datetime.fromisoformat(end), box] += 1
    expected = Counter(
        (row["trajectory"], row["t_start"], row["t_end"], tuple(row[side] for side in BOX)) for row in rows
    )
    assert told == expected


def test_samples_that_adjoin_make_one_prism(tmp_path: Path) -> None:
    people = Trajectories.of(user=["a"] * 3 + ["b"], t=[1, 2, 9, 1], x=[0, 5, 0, 0], y=[0] * 4, grid=Grid())
    sides = (side + d for side in (people.t, people.x, people.y) for d in (0, 1))
    one = released(people, people.offsets, Boxes(*sides), np.arange(2), np.arange(4))
    features = load(written(tmp_path / "out", people, one), "mfjson")["features"]
    prisms = [[len(p["datetimes"]) for p in f["temporalGeometry"]["prisms"]] for f in features]
    assert sorted(prisms) == [[2], [3, 2]]
