"""A release written and read back: the same measures, an honest audit, and no mistaking of inputs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.anonymise import AnonymisationOutcome
from tripcloak.flows.checking import audit_against, measure_against
from tripcloak.flows.reading.matrix import read_matrix
from tripcloak.flows.release.reading import read_release
from tripcloak.ground.errors import InputError
from tripcloak.records.source import TripSource
from worlds.folders import is_whole
from worlds.requests import inputs_in, making_in
from worlds.trips import write_csv

FORMS = ("coordinates", "quadtree", "dendrogram", "table", "counts", "commuters", "fixes", "weights")


@pytest.fixture(scope="module")
def released(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], tuple[Path, AnonymisationOutcome]]:
    """A file of a form and the release of it, made once; nobody may change them."""
    folder = tmp_path_factory.mktemp("released")

    @cache
    def of_form(form: str) -> tuple[Path, AnonymisationOutcome]:
        file, order = inputs_in(folder)(form)
        return file, making_in(folder)(file, **order, out=form)

    return of_form


def known(measures):
    return {name: value for name, value in measures.items() if value is not None}


@pytest.mark.parametrize("form", FORMS)
def test_measures_and_audit_agree_with_what_was_told(released, form):
    file, outcome = released(form)
    assert is_whole(outcome.out)
    measured = measure_against(outcome.out, (str(file),))
    assert list(measured) == list(outcome.measures)
    # Sums of metres depend in the last digit on the order of the rows, which is no part of an input.
    assert known(measured) == pytest.approx(known(outcome.measures), rel=1e-12)
    report = audit_against(outcome.out, (str(file),))
    assert report.safe, report.broken
    unit, least = next(iter(outcome.release.promise.thresholds.items()))
    assert report.smallest_support[unit] == pytest.approx(outcome.audit.smallest_support[unit])
    assert report.smallest_support[unit] >= least


def test_what_was_asked_for_is_read_back(released):
    file, made = released("coordinates")
    matrix = read_matrix(TripSource(paths=(str(file),)), made.zoning).trips.matrix
    again, first = read_release(made.out, matrix), made.release
    for name in ("method", "suppression_limit", "homogeneous", "seed", "volume"):
        assert getattr(again, name) == getattr(first, name), name
    assert again.parameters
    assert dict(again.parameters) == dict(first.parameters)
    assert again.promise.sentence() == first.promise.sentence()
    assert again.suppressed.tolist() == first.suppressed.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_an_order_for_more_is_not_met(released, form):
    file, outcome = released(form)
    report = audit_against(outcome.out, (str(file),), k=100_000)
    assert "every-group-safe" in report.broken


@pytest.mark.parametrize("form", FORMS)
def test_another_input_is_noticed(released, input_of, form):
    _, outcome = released(form)
    other, _ = input_of(form, seed=5)
    with pytest.raises(InputError, match="another input"):
        measure_against(outcome.out, (str(other),))
    report = audit_against(outcome.out, (str(other),))
    assert "flows-match-recount" in report.broken


def test_the_same_pairs_with_other_people_are_another_input(released, tmp_path):
    import csv

    file, outcome = released("table")
    with file.open(newline="") as opened:
        rows = [{**row, "person_id": "everybody"} for row in csv.DictReader(opened)]
    other = write_csv(tmp_path / "other.csv", rows)
    with pytest.raises(InputError, match="another input"):
        measure_against(outcome.out, (str(other),))


def test_measures_on_another_volume(released):
    file, outcome = released("coordinates")
    population = measure_against(outcome.out, (str(file),), volume="population")
    assert population["S"] != outcome.measures["S"]
    with pytest.raises(InputError, match="trips or population"):
        measure_against(outcome.out, (str(file),), volume="people")


def test_a_file_that_moved_is_still_the_same_input(released, tmp_path):
    file, outcome = released("coordinates")
    moved = shutil.copy(file, tmp_path / "moved.csv")
    assert audit_against(outcome.out, (str(moved),)).safe
    assert measure_against(outcome.out, (str(moved),)) == outcome.measures


class TestDamage:
    """Folders that were changed after they were made: refused in words, never with wrong numbers."""

    @pytest.fixture
    def made(self, released, tmp_path):
        file, outcome = released("coordinates")
        return shutil.copytree(outcome.out, tmp_path / "out"), file

    @pytest.mark.parametrize("part", ["release/manifest.json", "private/run.json", "private/groups.parquet"])
    @pytest.mark.parametrize("damage", ["gone", "garbage"])
    def test_a_file_that_is_gone_or_garbage(self, made, part, damage):
        out, file = made
        if damage == "gone":
            (out / part).unlink()
        else:
            (out / part).write_bytes(b"\x00garbage")
        with pytest.raises(InputError, match=part.split("/")[1]):
            measure_against(out, (str(file),))

    @pytest.mark.parametrize("key", ["method", "parameters", "promise", "homogeneous", "seed"])
    def test_a_manifest_without_an_entry(self, made, key):
        out, file = made
        path = out / "release" / "manifest.json"
        facts = json.loads(path.read_text())
        del facts[key]
        path.write_text(json.dumps(facts))
        with pytest.raises(InputError, match="changed since"):
            measure_against(out, (str(file),))

    @pytest.mark.parametrize("key", ["source", "tiling"])
    def test_a_record_without_an_entry(self, made, key):
        out, file = made
        path = out / "private" / "run.json"
        run = json.loads(path.read_text())
        del run[key]
        path.write_text(json.dumps(run))
        for check in (measure_against, audit_against):
            with pytest.raises(InputError, match="how the input was read"):
                check(out, (str(file),))

    @pytest.mark.parametrize(
        ("part", "name", "value"),
        [
            ("source", "timezone", ["Europe/Paris"]),
            ("source", "segment", "sex"),
            ("tiling", "spec", 8),
            ("tiling", "spec", ["h3:8"]),
            ("tiling", "area", [1, 2, 3]),
            ("tiling", "apart", "yes"),
        ],
    )
    def test_a_record_with_an_entry_of_another_kind(self, made, part, name, value):
        out, file = made
        path = out / "private" / "run.json"
        run = json.loads(path.read_text())
        run[part][name] = value
        path.write_text(json.dumps(run))
        for check in (measure_against, audit_against):
            with pytest.raises(InputError, match=f"another kind: {name}$"):
                check(out, (str(file),))

    @pytest.mark.parametrize("damage", ["unknown zone", "one end", "twice", "lost", "column", "unsafe"])
    def test_a_table_of_groups_that_was_changed(self, made, damage):
        out, file = made
        path = out / "private" / "groups.parquet"
        table = parquet.read_table(path)
        rows = table.to_pylist()
        if damage == "unknown zone":
            rows[0]["released_origin"] = "nowhere"
        elif damage == "one end":
            rows[0]["released_origin"] = None if rows[0]["released_origin"] else rows[0]["origin"]
        elif damage == "twice":
            rows[1] = rows[0]
        elif damage == "lost":
            del rows[0]
        elif damage == "unsafe":
            rows[0] |= {"released_origin": rows[0]["origin"], "released_destination": rows[0]["destination"]}
        changed = pa.Table.from_pylist(rows, schema=table.schema)
        parquet.write_table(changed.drop_columns("released_origin") if damage == "column" else changed, path)
        with pytest.raises(InputError, match="changed since"):
            measure_against(out, (str(file),))


def test_what_the_groups_table_says(released):
    file, outcome = released("coordinates")
    groups = parquet.read_table(outcome.out / "private" / "groups.parquet")
    reading = read_matrix(TripSource(paths=(str(file),)), outcome.zoning)
    matrix, flows = reading.trips.matrix, reading.trips.matrix.flows
    assert groups.column_names == [
        *("origin", "destination", "trips", "travellers", "population"),
        *("released_origin", "released_destination"),
    ]
    assert groups["origin"].to_pylist() == matrix.origins.zones.ids[flows.origin].tolist()
    assert groups["trips"].to_pylist() == flows.trips.tolist()
    hidden = [zone is None for zone in groups["released_origin"].to_pylist()]
    assert hidden == outcome.release.suppressed.tolist()
    assert hidden == [zone is None for zone in groups["released_destination"].to_pylist()]
    assert all(len(cell) == 15 and int(cell, 16) for cell in groups["origin"].to_pylist())


@pytest.mark.parametrize(
    ("form", "columns"),
    [
        ("dendrogram", {"travellers"}),
        ("counts", set()),
        ("commuters", {"travellers"}),
        ("weights", {"travellers", "population"}),
    ],
)
def test_groups_hold_the_numbers_that_are_known(released, form, columns):
    _, outcome = released(form)
    groups = parquet.read_table(outcome.out / "private" / "groups.parquet")
    assert set(groups.column_names) == columns | {
        *("origin", "destination", "trips", "released_origin", "released_destination")
    }


def test_large_tables_are_written_in_pieces(make, input_of, monkeypatch):
    from tripcloak.flows.release import tables

    file, order = input_of("coordinates")
    whole = make(file, **order).out / "private" / "groups.parquet"
    monkeypatch.setattr(tables, "BATCH", 7)
    pieces = make(file, **order, out="pieces").out / "private" / "groups.parquet"
    assert parquet.read_table(pieces).equals(parquet.read_table(whole))
    assert parquet.ParquetFile(pieces).num_row_groups > 1
