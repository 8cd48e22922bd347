"""Public files that cannot be read, or say more: each a failed rule, at its edge."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.audit.evidence import load_table
from tripcloak.flows.audit.matrix import counts as matrix_counts
from tripcloak.flows.audit.queries import segment_sql
from tripcloak.flows.audit.rules import files
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import BrokenPart
from worlds.made_evidence import made


def case_at(place: Path, **told: Any) -> Any:
    case = made()
    case.public, case.path = lambda name: place / name, lambda name: place / name
    plain: dict[str, Any] = {"slot": None, "axes": ("origin", "destination"), "columns": ("trips",)}
    plain |= {"told": SimpleNamespace(summed=("trips",)), "grid": True}
    case.promise = SimpleNamespace(**{**plain, **told})
    case.facts = {"columns": ["trips"]}
    case.table(
        "audit_flows", "origin varchar, destination varchar, trips int", [("a", "b", 3), ("a", "a", 4)]
    )
    return case.table("audit_zones", "axis varchar, zone varchar, trips int", [])


@pytest.mark.parametrize("reader", [files._csv_header, files._geojson_columns, files._page])
def test_a_file_that_is_missing_or_no_text_is_a_broken_part(tmp_path: Path, reader: Any) -> None:
    case = case_at(tmp_path)
    for content in (None, b"\xff\xfe\x00"):
        for name in ("flows.csv", "zones.geojson", "map.html"):
            if content is not None:
                (tmp_path / name).write_bytes(content)
        with pytest.raises(BrokenPart, match=r"cannot be read|is not a GeoJSON"):
            reader(case)


def test_a_text_table_that_is_missing_is_a_broken_part(tmp_path: Path) -> None:
    with pytest.raises(BrokenPart, match=r"release/flows\.csv cannot be read as CSV"):
        files._csv_rows(case_at(tmp_path), "flows", ["trips"])


HEADER = "origin,destination,trips,origin_lat,origin_lon,destination_lat,destination_lon"


def columns(place: Path, case: Any, header: str = HEADER, **properties: Any) -> Any:
    (place / "flows.csv").write_text(f"{header}\n")
    feature = {"properties": {"axis": "origin", "zone": "a", "trips": 1, **properties}}
    (place / "zones.geojson").write_text(json.dumps({"features": [feature]}))
    return files.only_protected_columns(case)


def test_no_table_has_a_column_that_no_threshold_covers(tmp_path: Path) -> None:
    case = case_at(tmp_path)
    assert columns(tmp_path, case) is None
    assert "zones.geojson holds a column" in columns(tmp_path, case, travellers=3)
    assert "flows.csv holds a column" in columns(tmp_path, case, f"{HEADER},travellers")
    for told in (None, "trips", ["trips", "travellers"], []):
        case.facts = {"columns": told}
        assert "lists other columns" in columns(tmp_path, case)
    case.facts = {"columns": ["trips"]}
    case.table("audit_zones", "axis varchar, zone varchar, population int", [])
    assert "zones.parquet holds a column" in columns(tmp_path, case)
    case.table("audit_flows", "origin varchar, destination varchar, trips int, travellers int", [])
    assert "flows.parquet holds a column" in columns(tmp_path, case)


def test_names_and_members_stand_only_where_they_may(tmp_path: Path) -> None:
    case = case_at(tmp_path)
    assert "flows.csv holds a column" in columns(tmp_path, case, f"{HEADER},origin_name,destination_name")
    assert "zones.geojson holds a column" in columns(tmp_path, case, name="A")
    assert "zones.geojson holds a column" in columns(tmp_path, case, members=["a"])
    case.promise.grid = False
    case.facts["names"] = {}
    named = f"{HEADER},origin_name,destination_name"
    assert columns(tmp_path, case, named, name="A", members=["a"]) is None


DATA: dict[str, Any] = {
    "volume": "trips",
    "flows": {"origin": [0, 0], "destination": [1, 0], "trips": [3, 4]},
    "origin": {"zone": ["a"], "trips": [7]},
    "destination": {"zone": ["a", "b"], "trips": [4, 3]},
}


def test_a_map_shows_the_released_flows_and_no_others(tmp_path: Path) -> None:
    case = case_at(tmp_path)
    assert files._wrong_flows(case, DATA) is None
    flows = DATA["flows"]
    for wrong in ({"trips": [3, 5]}, {"origin": [0, 0], "destination": [1, 1]}):
        assert "shows other flows" in str(files._wrong_flows(case, {**DATA, "flows": {**flows, **wrong}}))
    for more in ({"travellers": [1, 2]}, {"segment": [1, 2]}):
        assert "other columns" in str(files._wrong_flows(case, {**DATA, "flows": {**flows, **more}}))
    assert "other columns" in str(files._wrong_flows(case, {**DATA, "raw": []}))
    assert files._wrong_flows(case, {**DATA, "towns": [], "background": None}) is None


def test_a_map_shows_sums_over_time(tmp_path: Path) -> None:
    case = case_at(tmp_path, slot=60, columns=("trips", "travellers"))
    timed = "origin varchar, destination varchar, time varchar, trips int, travellers int"
    rows = [("a", "b", "T08", 1, 1), ("a", "b", "T09", 2, 2), ("a", "a", "T08", 4, 4)]
    case.table("audit_flows", timed, rows)
    assert files._wrong_flows(case, DATA) is None
    case.promise.slot = None
    assert files._wrong_flows(case, DATA) is not None


def test_a_map_shows_the_sums_of_its_zones(tmp_path: Path) -> None:
    case = case_at(tmp_path)
    assert files._wrong_zones(case, DATA) is None
    for axis, wrong in (("origin", {"trips": [8]}), ("destination", {"zone": ["a", "c"]})):
        said = files._wrong_zones(case, {**DATA, axis: {**DATA[axis], **wrong}})
        assert said == f"release/map.html shows other {axis} zones than were released"
    longer = {**DATA["origin"], "height": [1, 2]}
    assert "other origin zones" in str(files._wrong_zones(case, {**DATA, "origin": longer}))
    for odd in ({**DATA["origin"], "travellers": [1]}, {"zone": ["a"]}):
        assert "other columns" in str(files._wrong_zones(case, {**DATA, "origin": odd}))


def test_behind_the_zones_is_what_stands_elsewhere_in_the_release(tmp_path: Path) -> None:
    case, towns = case_at(tmp_path), [{"name": "Aville"}]
    behind: Any = files._wrong_behind
    assert behind(case, {}) is None
    assert behind(case, {"towns": [], "background": None}) is None
    assert "labels other towns" in behind(case, {"towns": towns})
    case.facts["names"] = {"towns": towns}
    assert behind(case, {"towns": towns}) is None
    assert "labels other towns" in behind(case, {})
    case.facts["names"] = {}
    assert behind(case, {}) is None
    assert "draws other shapes" in behind(case, {"background": {"lines": []}})
    case.facts["background"] = "x"
    (tmp_path / files.BACKGROUND).write_text('{"lines": []}')
    assert behind(case, {"background": {"lines": []}}) is None
    assert "draws other shapes" in behind(case, {})


def test_a_table_that_is_missing_damaged_or_empty_somewhere_is_a_broken_part(tmp_path: Path) -> None:
    case = case_at(tmp_path)
    with pytest.raises(BrokenPart, match=r"private/groups\.parquet is missing"):
        load_table(case, "groups")
    (tmp_path / "private").mkdir()
    path = tmp_path / "private" / "groups.parquet"
    path.write_bytes(b"no table")
    with pytest.raises(BrokenPart, match="cannot be read as Parquet"):
        load_table(case, "groups")
    ends = {name: ["a", "b"] for name in ("origin", "destination")}
    groups = {**ends, "trips": [1, 2], "released_origin": ["a", None], "released_destination": ["a", None]}
    parquet.write_table(pa.table(groups), path)
    load_table(case, "groups")
    assert case.value("select count(*) from audit_groups") == 2
    parquet.write_table(pa.table({**groups, "origin": ["a", None]}), path)
    with pytest.raises(BrokenPart, match="empty cells"):
        load_table(case, "groups")


def test_segments_need_their_column_and_a_plain_name() -> None:
    with pytest.raises(InputError, match="parted by sex, and the raw input was read without it"):
        segment_sql(["sex"], ["attr_age"])
    with pytest.raises(BrokenPart, match="must be a plain name"):
        segment_sql(["it's"], ["attr_it's"])


def test_a_matrix_without_repeats_does_not_tell_who_has_most() -> None:
    flows = SimpleNamespace(travellers=object(), repeats=None, trips=np.array([3]))
    release = SimpleNamespace(group_of_flow=np.array([0]), n_groups=1, trips=np.array([4]))
    case: Any = SimpleNamespace(matrix=SimpleNamespace(flows=flows), release=release)
    for norms in ((), (1.0,)):
        with pytest.raises(BrokenPart, match="how many trips each traveller makes"):
            matrix_counts._numbers(case, SimpleNamespace(norms=norms))  # type: ignore[arg-type]
    flows.travellers = None
    told = matrix_counts._numbers(case, SimpleNamespace(norms=(1.0,)))  # type: ignore[arg-type]
    assert (told.published.tolist(), told[1].tolist()) == ([4], [3])
