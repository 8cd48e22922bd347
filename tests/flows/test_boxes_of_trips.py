"""Releases in boxes, the whole road: written, audited, read back and measured; what their words say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from oracles.readback import contents
from tripcloak.flows.checking import audit_against, measure_against
from tripcloak.flows.reading.matrix import read_matrix
from tripcloak.flows.release.reading import read_release
from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import read_manifest
from tripcloak.hierarchy import BoxZones, read_box_names
from tripcloak.records.source import TripSource
from worlds.folders import is_whole, read_public

FORMS = ("coordinates", "quadtree", "dendrogram", "table", "counts", "weights")


@pytest.mark.parametrize("form", FORMS)
def test_boxes_written_are_boxes_read(make, input_of, form):
    file, order = input_of(form)
    outcome = make(file, method="mondrian", **order)
    assert is_whole(outcome.out)
    matrix = read_matrix(TripSource(paths=(str(file),)), order["zoning"]).trips.matrix
    again = read_release(outcome.out, matrix)
    assert released_pairs(again) == released_pairs(outcome.release)
    for zones in (again.origins, again.destinations):
        assert isinstance(zones, BoxZones)
    measured = measure_against(outcome.out, (str(file),))
    known = {name: value for name, value in outcome.measures.items() if value is not None}
    assert {name: value for name, value in measured.items() if value is not None} == pytest.approx(
        known, rel=1e-12
    )
    report = audit_against(outcome.out, (str(file),))
    assert report.safe, report.broken


def released_pairs(release):
    """Return the names, tiles and numbers of every group."""
    columns = [
        column[group].tolist()
        for _, zones, group in release.axes
        for column in (zones.ids, zones.tiles, zones.tiles_observed)
    ]
    return sorted(zip(*columns, release.trips.tolist(), strict=True))


@pytest.mark.parametrize("form", ["coordinates", "table"])
def test_the_public_part_speaks_of_boxes(make, input_of, form):
    file, order = input_of(form)
    out = make(file, method="mondrian", **order).out
    public, facts = read_public(out), read_manifest(out)
    assert facts["zone_form"] == "boxes"
    assert set(facts["tile_km2"]) == set(facts["box_grid_degrees"]) == {"origins", "destinations"}
    assert facts["homogeneous"] is False
    assert facts["withheld"]["at_least"] == 0
    assert all("members" not in zone and zone["height"] == 0 for zone in public.zones)
    read_box_names(np.array([zone["zone"] for zone in public.zones]))
    words = " ".join((out / "release" / "README.md").read_text(encoding="utf-8").split())
    assert "Boxes of different flows overlap" in words
    assert "height (0 for every box)" in words
    assert "holds the tiles whose centres lie between" in words
    assert f"steps of {facts['box_grid_degrees']['origins']:g} degrees" in words
    assert ("so that every edge fits three tiles or more" in words) == (form == "table")
    assert "those of different flows overlap" in public.map_words


def test_the_public_part_of_other_methods_speaks_of_no_boxes(make, input_of):
    file, order = input_of("coordinates")
    out = make(file, **order).out
    assert not {"zone_form", "tile_km2", "box_grid_degrees"} & set(read_manifest(out))
    assert "box" not in (out / "release" / "README.md").read_text(encoding="utf-8").lower()
    assert "boxes" not in read_public(out).map_words


def test_boxes_around_points_are_on_the_map(make, input_of):
    file, order = input_of("table")
    public = read_public(make(file, method="mondrian", k=2, units=("trips",), zoning=order["zoning"]).out)
    assert all(zone["area_km2"] > 0 for zone in public.zones)
    assert "which have no outline" not in public.map_words


@pytest.mark.parametrize(
    "change",
    [
        lambda name: "box_nonsense",
        lambda name: name.replace("box_", "8928308280fffff_"),
        lambda name: None,
        lambda name: name[:-1] + ("1" if name[-1] != "1" else "2"),
    ],
    ids=["nonsense", "a cell", "nothing", "another edge"],
)
def test_other_boxes_than_were_made_are_noticed(make, input_of, change: Callable[[str], str | None]):
    file, order = input_of("coordinates")
    out: Path = make(file, method="mondrian", **order).out
    table = out / "private" / "groups.parquet"
    rows = parquet.read_table(table)
    names = rows["released_origin"].to_pylist()
    names[0] = change(names[0])
    parquet.write_table(
        rows.set_column(rows.schema.get_field_index("released_origin"), "released_origin", [names]), table
    )
    matrix = read_matrix(TripSource(paths=(str(file),)), order["zoning"]).trips.matrix
    with pytest.raises(InputError, match="was changed since"):
        read_release(out, matrix)
    assert not audit_against(out, (str(file),)).safe


def test_reading_twice_gives_the_same(make, input_of):
    file, order = input_of("coordinates")
    out = make(file, method="mondrian", **order).out
    matrix = read_matrix(TripSource(paths=(str(file),)), order["zoning"]).trips.matrix
    assert contents(read_release(out, matrix)) == contents(read_release(out, matrix))
