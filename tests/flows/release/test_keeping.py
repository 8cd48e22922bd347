"""Zones of an earlier release, from small folders written by hand: what is taken over, and what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.model.kept import KeptZones, ZoneMembers, members_digest
from tripcloak.flows.release.keeping import (
    COPY,
    PLAN,
    needs_a_zones_file,
    periods_of,
    plan_of,
    read_copy,
    read_kept,
    write_copy,
    zones_file_of,
)
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import file_digest
from tripcloak.ground.manifest import write_manifest

FLOWS = {"origin": ["b", "a", "a"], "destination": ["c", "c", "d"], "trips": [3, 2, 1]}
ZONES = {
    "axis": ["origin", "origin", "destination", "destination"],
    "zone": ["a", "b", "c", "d"],
    "lat": [1.0, 2.0, 3.0, 4.0],
    "lon": [5.0, 6.0, 7.0, 8.0],
}
MEMBERS = {"members": [["a1", "a2"], ["b"], ["c"], ["d"]]}
A, B = ZoneMembers("a", ["a1", "a2"], 1.0, 5.0), ZoneMembers("b", ["b"], 2.0, 6.0)
FACTS: dict[str, Any] = {
    "format": "tripcloak release 3",
    "kind": "flows",
    "homogeneous": True,
    "hierarchy": {"spec": "h3:8"},
}
SLOTS = {"hierarchy": {"spec": "h3:8", "time_slot_minutes": 60}}


def written(
    place: Path, flows: dict[str, Any] = FLOWS, zones: dict[str, Any] = ZONES, without: str = "", **more: Any
) -> Path:
    """Return the folder of a release that is as small as it gets."""
    public = place / "release"
    public.mkdir(parents=True)
    parquet.write_table(pa.table(flows), public / "flows.parquet")
    parquet.write_table(pa.table(zones), public / "zones.parquet")
    facts = {name: value for name, value in {**FACTS, **more}.items() if name != without}
    write_manifest(public, facts)
    return place


def test_one_cut_an_axis_is_taken_over_and_of_others_the_pairs(tmp_path: Path) -> None:
    kept = read_kept(written(tmp_path / "cuts"))
    assert kept.zones == {"origin": ("a", "b"), "destination": ("c", "d")}
    assert kept.digest == file_digest(tmp_path / "cuts" / "release" / "manifest.json")
    assert (kept.pairs, kept.boxes, kept.members, kept.hierarchy) == (None, False, {}, FACTS["hierarchy"])
    assert read_kept(tmp_path / "cuts" / "release").digest == kept.digest
    boxes = read_kept(written(tmp_path / "boxes", homogeneous=False, zone_form="boxes"))
    assert boxes.boxes
    assert boxes.pairs is not None
    assert boxes.pairs.tolist() == [[0, 0], [0, 1], [1, 0]]


def test_times_are_an_axis_where_the_manifest_and_the_flows_say_so(tmp_path: Path) -> None:
    with_times = {**FLOWS, "time": ["m", "n", "m"]}
    kept = read_kept(written(tmp_path / "both", with_times, **SLOTS))
    assert kept.zones == {"origin": ("a", "b"), "destination": ("c", "d"), "time": ("m", "n")}
    for name, flows, facts in (("flows", with_times, {}), ("manifest", FLOWS, SLOTS)):
        with pytest.raises(InputError, match="an entry of its manifest is missing"):
            read_kept(written(tmp_path / name, flows, **facts))


def test_tiles_below_zones_are_known_by_a_digest_an_axis(tmp_path: Path) -> None:
    kept = read_kept(written(tmp_path, zones={**ZONES, **MEMBERS}))
    assert kept.members == {
        "origin": members_digest([A, B]),
        "destination": members_digest([ZoneMembers("c", ["c"], 3.0, 7.0), ZoneMembers("d", ["d"], 4.0, 8.0)]),
    }


@pytest.mark.parametrize("name", ["flows.parquet", "zones.parquet"])
def test_a_release_that_was_changed_lends_nothing(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path)
    parquet.write_table(pa.table({"other": [1]}), folder / "release" / name)
    with pytest.raises(InputError, match=rf"cannot lend its zones: changed since .*: {name}"):
        read_kept(folder)


@pytest.mark.parametrize("entry", ["homogeneous", "hierarchy"])
def test_a_manifest_without_an_entry_lends_nothing(tmp_path: Path, entry: str) -> None:
    with pytest.raises(InputError, match="an entry of its manifest is missing"):
        read_kept(written(tmp_path, without=entry))


def test_a_release_without_flows_lends_nothing(tmp_path: Path) -> None:
    none = {name: pa.array([], pa.string()) for name in ("origin", "destination")}
    with pytest.raises(InputError, match="an entry of its manifest is missing"):
        read_kept(written(tmp_path, none))


def plan(place: Path, digest: str = "1" * 64, **told: Any) -> KeptZones:
    """Return zones that a file states as the plan of a series."""
    kept = KeptZones.of_pairs({"origin": ["p"], "destination": ["q"]}, digest=digest)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({**kept.to_dict(), **told}), encoding="utf-8")
    return kept


def test_the_plan_of_a_series_lies_in_its_public_part_or_is_it(tmp_path: Path) -> None:
    plan(tmp_path / "series" / "release" / PLAN)
    for folder in (tmp_path / "series", tmp_path / "series" / "release"):
        kept = read_kept(folder)
        assert kept.zones == {"origin": ("p",), "destination": ("q",)}
        assert kept.digest == file_digest(tmp_path / "series" / "release" / PLAN)


def test_the_zones_of_a_release_come_from_its_flows_whatever_lies_beside(tmp_path: Path) -> None:
    plan(written(tmp_path) / PLAN)
    assert read_kept(tmp_path).zones["origin"] == ("a", "b")
    assert periods_of(tmp_path) == {}


@pytest.mark.parametrize("text", ["no JSON", "[1, 2]", "[" * 100_000])
def test_a_plan_that_is_no_document_is_refused(tmp_path: Path, text: str) -> None:
    plan(tmp_path / PLAN)
    (tmp_path / PLAN).write_text(text)
    with pytest.raises(InputError, match="cannot be read as JSON"):
        read_kept(tmp_path)


def test_periods_are_the_releases_beside_the_plan_by_name(tmp_path: Path) -> None:
    plan(tmp_path / "release" / PLAN)
    may, april = (written(tmp_path / name) for name in ("2026-05", "2026-04"))
    (tmp_path / "notes").mkdir()
    assert list(periods_of(tmp_path).items()) == [("2026-04", april), ("2026-05", may)]
    assert list(periods_of(tmp_path / "release")) == ["2026-04", "2026-05"]


def test_the_zones_of_several_releases_are_all_that_one_of_them_has(tmp_path: Path) -> None:
    first = written(tmp_path / "first", zones={**ZONES, **MEMBERS}, zone_form="boxes", homogeneous=False)
    more = {"axis": ["origin", "destination"], "zone": ["e", "c"], "lat": [9.0, 3.0], "lon": [0.0, 7.0]}
    flows = {"origin": ["e"], "destination": ["c"], "trips": [5]}
    second = written(tmp_path / "second", flows, {**more, "members": [["e"], ["c"]]}, hierarchy={"spec": "x"})
    kept = plan_of({"1": first, "2": second})
    assert kept.zones == {"origin": ("a", "b", "e"), "destination": ("c", "d")}
    assert kept.pairs is not None
    assert kept.pairs.tolist() == [[0, 0], [0, 1], [1, 0], [2, 0]]
    own = read_kept(first)
    assert (kept.digest, kept.hierarchy, kept.boxes) == (own.digest, own.hierarchy, True)
    assert kept.members["destination"] == own.members["destination"]
    assert kept.members["origin"] == members_digest([A, B, ZoneMembers("e", ["e"], 9.0, 0.0)])
    lists_none = written(tmp_path / "third")
    assert plan_of({"1": first, "3": lists_none}).members == {}


def test_a_copy_is_read_back_with_where_it_is_from(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="which says what zones it took over"):
        read_copy(tmp_path)
    kept = KeptZones.of_pairs({"origin": ["p"], "destination": ["q"]}, digest="2" * 64)
    (tmp_path / COPY).parent.mkdir()
    write_copy(tmp_path / COPY, kept)
    again = read_copy(tmp_path)
    assert (again.digest, again.zones) == (kept.digest, kept.zones)


def recorded(place: Path, zones: object) -> Path:
    """Return a release whose private record names a zones file."""
    folder = written(place)
    (folder / "private").mkdir()
    (folder / "private" / "run.json").write_text(json.dumps({"tiling": {"zones": zones}}), encoding="utf-8")
    return folder


def test_a_zones_file_is_known_by_the_private_record_if_it_is_still_there(tmp_path: Path) -> None:
    beside = tmp_path / "zones.geojson"
    beside.write_text("{}")
    inside = recorded(tmp_path / "inside", "private/zones.geojson")
    assert zones_file_of(inside) is None
    (inside / "private" / "zones.geojson").write_text("{}")
    for folder in (inside, inside / "release"):
        assert zones_file_of(folder) == str(inside / "private" / "zones.geojson")
    assert zones_file_of(recorded(tmp_path / "beside", str(beside))) == str(beside)
    assert zones_file_of(recorded(tmp_path / "gone", str(tmp_path / "gone.geojson"))) is None
    assert zones_file_of(recorded(tmp_path / "none", None)) is None


def test_without_a_release_or_its_private_record_no_zones_file_is_known(tmp_path: Path) -> None:
    (recorded(tmp_path / "bare", None) / "private" / "run.json").unlink()
    assert zones_file_of(tmp_path / "bare") is None
    private = tmp_path / "no-release" / "private"
    private.mkdir(parents=True)
    private.joinpath("run.json").write_text('{"tiling": {"zones": "private/run.json"}}')
    assert zones_file_of(tmp_path / "no-release") is None


@pytest.mark.parametrize(("spec", "needs"), [("h3:8", False), ("quadtree:5", False), ("dendrogram", True)])
def test_zones_of_a_file_need_it_again(spec: str, needs: bool) -> None:
    kept = KeptZones.of_pairs(
        {"origin": ["p"], "destination": ["q"]}, digest="2" * 64, hierarchy={"spec": spec}
    )
    assert needs_a_zones_file(kept) is needs
