"""What is drawn behind a map: cut to it, audited, the same in every form, and nothing beside shapes."""

from __future__ import annotations

import hashlib
import json
import shutil

import numpy as np
import pytest
import shapely
from pyarrow import parquet

import tripcloak as tc
from tripcloak.flows.checking import audit_against
from tripcloak.ground.errors import InputError
from tripcloak.pages import background
from tripcloak.pages.background import background_text, read_background, restated_background
from tripcloak.receiving.check import check_release
from tripcloak.reporting.content import Dressing, report_content
from worlds.folders import seal
from worlds.released_flows import raw_trips

BOX = (2.2, 48.7, 2.5, 49.0)
STREET = shapely.LineString([(2.0, 48.8), (2.35, 48.86), (2.7, 48.9)])
LAKE = shapely.Polygon([(2.3, 48.8), (2.36, 48.8), (2.33, 48.85)])
FAR = shapely.LineString([(10.0, 50.0), (11.0, 50.0)])


def written(path, shapes):
    features = [
        {"type": "Feature", "properties": {"name": "secret"}, "geometry": shapely.geometry.mapping(shape)}
        for shape in shapes
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("behind")
    raw = raw_trips(1200).select(["o_lat", "o_lon", "d_lat", "d_lon", "person"])
    names = ["start_lat", "start_lon", "end_lat", "end_lon", "person_id"]
    parquet.write_table(raw.rename_columns(names), folder / "trips.parquet")
    streets = written(folder / "streets.geojson", [STREET, LAKE, FAR])
    tc.anonymise(
        folder / "trips.parquet", method="odkanon", hierarchy="h3:8", background=streets, out=folder / "out"
    )
    return folder


def test_shapes_are_cut_to_the_map_and_carry_nothing_else(tmp_path):
    told = read_background(written(tmp_path / "b.geojson", [STREET, LAKE, FAR]), BOX)
    assert [one["geometry"]["type"] for one in told["features"]] == ["LineString", "Polygon"]
    west, _, east, _ = shapely.bounds(shapely.geometry.shape(told["features"][0]["geometry"]))
    assert 2.0 < west < 2.2
    assert 2.5 < east < 2.7
    assert "secret" not in background_text(told)
    assert restated_background(background_text(told)) == told


def test_vector_tiles_give_the_same_shapes(tmp_path):
    pyogrio = pytest.importorskip("pyogrio", reason="PMTiles are read by pyogrio (extra formats)")
    path = tmp_path / "b.pmtiles"
    pyogrio.raw.write(
        path,
        shapely.to_wkb(np.array([LAKE], dtype=object)),
        [np.arange(1)],
        ["n"],
        driver="PMTiles",
        geometry_type="Polygon",
        crs="EPSG:4326",
        layer="water",
        MINZOOM=4,
        MAXZOOM=12,
    )
    told = read_background(path, BOX)
    drawn = shapely.union_all([shapely.geometry.shape(one["geometry"]) for one in told["features"]])
    assert drawn.symmetric_difference(LAKE).area < 0.02 * LAKE.area


def test_what_stays_too_large_is_refused_in_words(tmp_path, monkeypatch):
    path = written(tmp_path / "b.geojson", [STREET])
    monkeypatch.setattr(background, "LARGEST", 10)
    with pytest.raises(InputError, match="leave out small streets"):
        read_background(path, BOX)
    monkeypatch.setattr(background, "LARGEST_FILE", 10)
    with pytest.raises(InputError, match="give PMTiles"):
        read_background(path, BOX)


def test_a_release_with_a_background_is_audited_as_a_whole(made):
    public = made / "out" / "release"
    told = json.loads((public / "background.geojson").read_text())
    assert background_text(told) in (public / "map.html").read_text(encoding="utf-8")
    assert "`background.geojson`" in (public / "README.md").read_text(encoding="utf-8")
    assert audit_against(made / "out", (str(made / "trips.parquet"),)).safe
    assert check_release(public).untouched
    assert report_content(made / "out", Dressing())["background"] == told


@pytest.mark.parametrize(
    ("forged", "rule"),
    [
        ("other shapes", "map-shows-released-only"),
        ("words beside shapes", "background-as-written"),
        ("another map", "map-as-written"),
        ("no file", "files-complete"),
    ],
)
def test_a_background_that_was_changed_is_noticed(made, tmp_path, forged, rule):
    folder = shutil.copytree(made / "out", tmp_path / "out")
    path, page = folder / "release" / "background.geojson", folder / "release" / "map.html"
    text = path.read_text()
    if forged == "no file":
        path.unlink()
    elif forged == "words beside shapes":
        path.write_text(text.replace('"properties":{}', '"properties":{"lives":"here"}', 1))
    elif forged == "other shapes":
        path.write_text(text.replace("48.", "47."))
    else:
        page.write_text(page.read_text(encoding="utf-8").replace(text, text.replace("48.", "47.")))
    manifest = folder / "release" / "manifest.json"
    told = json.loads(manifest.read_text())
    for file in (path, page):
        if file.exists():
            told["files"][file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    seal(folder)
    broken = audit_against(folder, (str(made / "trips.parquet"),)).broken
    assert rule in broken
    assert forged == "no file" or "digests-match" not in broken
