"""Zones files as people have them: outlines that cross themselves, and other systems than degrees."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import shapely
from pyproj import Transformer

from tripcloak.flows.reading.zone_ids import note_on_zones
from tripcloak.hierarchy import ZoneFile
from tripcloak.hierarchy.zonefile.columns import Columns

BOW = shapely.Polygon([(0, 0), (2, 2), (2, 0), (0, 2)])
"""Two triangles that meet in the middle, drawn in one stroke."""
SPIKE = shapely.Polygon([(5, 5), (6, 5), (6, 6), (5, 6), (5, 5), (4, 4), (5, 5)])
FINE = shapely.box(10, 10, 11, 11)


def zones_file(path: Path, shapes: list[shapely.Geometry], crs: str | None = None) -> Path:
    features = [
        {"type": "Feature", "properties": {"zone": f"z{n}"}, "geometry": shapely.geometry.mapping(shape)}
        for n, shape in enumerate(shapes)
    ]
    told = {"type": "name", "properties": {"name": crs}}
    document = {"type": "FeatureCollection", "features": features} | ({"crs": told} if crs else {})
    path.write_text(json.dumps(document))
    return path


def test_outlines_that_cross_themselves_are_repaired_and_counted(tmp_path: Path) -> None:
    zones = ZoneFile.read(zones_file(tmp_path / "zones.geojson", [BOW, SPIKE, FINE]))
    assert zones.repaired == 2
    assert zones.geometries is not None
    assert shapely.is_valid(zones.geometries).all()
    np.testing.assert_allclose(shapely.area(zones.geometries), [2, 1, 1])
    # Both triangles hold their points, and what lay between them does not.
    found = zones.locate(np.array([1.0, 1.0, 1.9]), np.array([0.2, 1.8, 1.0]))
    assert [int(one) if one < 3 else None for one in found] == [0, 0, None]
    (note,) = note_on_zones(zones, "zone")
    assert note.startswith("outlines of the zones file crossed themselves")
    assert note.endswith(": 2 outlines repaired")


def test_sound_outlines_stay_as_they_are_and_nothing_is_told(tmp_path: Path) -> None:
    zones = ZoneFile.read(zones_file(tmp_path / "zones.geojson", [FINE]))
    assert (zones.repaired, zones.projection) == (0, "")
    assert note_on_zones(zones, "zone") == ()
    assert isinstance(zones.outlines, list)
    assert zones.outlines[0]["type"] == "Polygon"


def test_parts_of_one_zone_are_repaired_before_they_are_joined() -> None:
    columns = Columns({"zone": ["a", "a"]}, [BOW.wkt, shapely.box(2, 0, 3, 1).wkt])
    from tripcloak.hierarchy.zonefile.naming import IdsSought

    zones = ZoneFile.of(columns, IdsSought(said="zone"))
    assert (zones.repaired, zones.joined) == (1, 1)
    assert zones.geometries is not None
    assert shapely.area(zones.geometries).tolist() == [3.0]


def test_an_outline_without_any_area_is_none() -> None:
    flat = shapely.Polygon([(0, 0), (1, 0), (2, 0)])
    zones = ZoneFile.of(
        Columns({"zone": ["a", "b"], "lat": [0.0, 1.0], "lon": [0.0, 1.0]}, [flat.wkt, FINE.wkt])
    )
    assert zones.repaired == 1
    assert zones.geometries is not None
    assert shapely.is_missing(zones.geometries).tolist() == [True, False]


@pytest.mark.parametrize("crs", ["EPSG:3857", "urn:ogc:def:crs:EPSG::25832"])
def test_other_systems_are_turned_into_degrees_and_said(tmp_path: Path, crs: str) -> None:
    turn = Transformer.from_crs("OGC:CRS84", crs, always_xy=True).transform
    there = shapely.transform(FINE, lambda xy: np.column_stack(turn(xy[:, 0], xy[:, 1])))
    zones = ZoneFile.read(zones_file(tmp_path / "zones.geojson", [there], crs))
    assert zones.geometries is not None
    np.testing.assert_allclose(shapely.total_bounds(zones.geometries), (10, 10, 11, 11), atol=1e-6)
    (note,) = note_on_zones(zones, "zone")
    assert zones.projection
    assert note == f"the zones file is in {zones.projection}; its outlines were turned into degrees"
