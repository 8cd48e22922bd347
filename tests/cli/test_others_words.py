"""What others wrote into files of a release or an input: it is read with distrust, and shown as it is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tripcloak.fairness.page import fairness_markdown
from tripcloak.pages.markdown import shown
from worlds.fixes import some_fixes
from worlds.trips import some_trips, write_csv, write_zones, zone_trips

DEEP = {
    "arrays": "[" * 200_000 + "]" * 200_000,
    "objects": '{"a":' * 900 + "1" + "}" * 900,
    "collections": '{"type": "GeometryCollection", "geometries": [' * 300 + "]}" * 300,
    "features": '{"type": "FeatureCollection", "features": [' * 300 + "]}" * 300,
}


def with_condition(out: Path, where: object) -> None:
    """Write a condition into the private record of how the input was read."""
    path = out / "private" / "run.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    run["source"]["where"] = where
    path.write_text(json.dumps(run), encoding="utf-8")


@pytest.mark.parametrize("wing", [(), ("trajectories",)], ids=["flows", "trajectories"])
def test_an_audit_runs_no_query_that_stands_in_a_release(tripcloak: Any, tmp_path: Path, wing: Any) -> None:
    """Before, the audit read any file that the condition named, and told by its verdict what it held."""
    out, secret = tmp_path / "out", tmp_path / "secret.csv"
    secret.write_text("word\nopen sesame\n", encoding="utf-8")
    rows = some_fixes() if wing else some_trips(200)
    inputs = write_csv(tmp_path / "input.csv", rows)
    method = ("--k", 2, "--method", "glove") if wing else ("--k", 5, "--hierarchy", "h3:7")
    honest = ("--where", f"{next(iter(rows[0]))} <> 'nobody'")
    assert tripcloak(*wing, "anonymise", inputs, *method, *honest, "--out", out).code == 0
    assert tripcloak("audit", out, "--against", inputs).code == 0
    for where in (
        f"exists (from read_text('{secret}') where content like '%sesame%')",
        f"true) union all by name (select * from read_csv('{secret}') where (true",
        "true; create table x as select 1",
        7,
    ):
        with_condition(out, where)
        told = tripcloak("audit", out, "--against", inputs)
        assert told.code == 2, where
        assert "the condition given with --where" in told.words
        assert "sesame" not in told.err + told.out


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_nested_json_is_refused_in_words(tripcloak: Any, tmp_path: Path, text: str) -> None:
    trips = write_csv(tmp_path / "trips.csv", zone_trips(50))
    deep = tmp_path / "deep.geojson"
    deep.write_text(text, encoding="utf-8")
    zones = ("--hierarchy", "table:county", "--zones", deep)
    for order in (
        ("anonymise", trips, *zones, "--out", tmp_path / "out"),
        ("describe", trips, "--polygon", deep),
    ):
        told = tripcloak(*order)
        assert told.code == 2, told.err
        assert "deep.geojson" in told.words
        assert "Traceback" not in told.err


def test_nested_json_in_the_metadata_of_parquet_is_passed_over(tripcloak: Any, tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import csv, parquet

    trips = write_csv(tmp_path / "trips.csv", zone_trips(300))
    zones = csv.read_csv(write_zones(tmp_path / "zones.csv"))
    for text in (DEEP["arrays"], "nonsense", "[]", '{"primary_column": ["county"]}'):
        parquet.write_table(zones.replace_schema_metadata({"geo": text}), tmp_path / "zones.parquet")
        told = tripcloak(
            "describe", trips, "--zones", tmp_path / "zones.parquet", "--hierarchy", "table:county"
        )
        assert told.code == 0, told.err
    assert isinstance(zones, pa.Table)


def test_the_files_of_a_release_are_closed_to_others(tripcloak: Any, tmp_path: Path) -> None:
    rows = some_trips(300)
    sex = {one: "FM"[at % 2] for at, one in enumerate(sorted({row["person_id"] for row in rows}))}
    trips = write_csv(tmp_path / "trips.csv", [{**row, "sex": sex[row["person_id"]]} for row in rows])
    fixes = write_csv(tmp_path / "fixes.csv", some_fixes())
    quick = ("--k", 5, "--hierarchy", "h3:7")
    mask = os.umask(0o002)
    try:
        orders = {
            "flows": ("anonymise", trips, *quick),
            "parted": ("anonymise", trips, *quick, "--segment", "sex", "--draws", 1),
            "paths": ("trajectories", "anonymise", fixes, "--k", 2, "--method", "glove"),
        }
        for name, order in orders.items():
            for force in ((), ("--force",)):
                assert tripcloak(*order, "--out", tmp_path / name, *force).code == 0
    finally:
        os.umask(mask)
    folders = [path for name in orders for path in (tmp_path / name).rglob("private")]
    assert len(folders) == 4
    for folder in folders:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


NASTY = "a|b `c` [d](javascript:e) ![f](g) <img src=x onerror=h> *i* _j_ \\k\n# l"


def test_names_are_shown_letter_by_letter_in_markdown() -> None:
    row = {"trips": 50, "travellers": 9, "origins": 1, "destinations": 1, "groups": 1, "G": 2.0, "GDM": 3.0}
    row |= {"S": 0.1, "G_at_equal_size": None, "GDM_at_equal_size": None}
    facts = {
        "segments": [{**row, "segment": NASTY}, {**row, "segment": "sex=F"}],
        "pays_most": NASTY,
        "pays_least": "sex=F",
        "times": 2.0,
        "explained_by_size": None,
        "withheld": {NASTY: "it is too small"},
    }
    page = fairness_markdown(facts)
    table = [line for line in page.splitlines() if line.startswith("|")]
    assert len(table) == 4
    assert {line.replace("\\|", "").count("|") for line in table} == {12}
    assert page.count(shown(NASTY)) == 3
    for mark in ("`", "[d]", "<img", "*i*", "_j_", "\n# l"):
        assert mark not in page.replace("\\`", "").replace("\\[", "").replace("\\*", "").replace("\\_", "")
