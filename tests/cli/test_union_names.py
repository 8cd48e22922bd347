"""Unions of hexagons in releases: one name for the same tiles, true outlines, taken by every command."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
import shapely

from tripcloak.cli.run import run
from tripcloak.hierarchy import member_cells
from worlds.trips import some_trips, write_csv


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trips, and the same with more of them, both released into one ledger."""
    place = tmp_path_factory.mktemp("unions")
    made = ["--hierarchy", "h3:9/binary", "--k", 5, "--suppress", 0.3, "--ledger", place / "ledger"]
    orders: list[list[object]] = [["ledger", "init", place / "ledger"]]
    may, more = some_trips(500), some_trips(500, seed=2)
    for month, rows in (("may", may), ("june", [*may, *more])):
        trips = write_csv(place / f"{month}.csv", rows)
        orders.append(["anonymise", trips, *made, "--out", place / month])
    for order in orders:
        assert run([str(word) for word in order]) == 0
    return place


def outlines(folder: Path) -> dict[str, bytes]:
    """Return the outlines of the zones of a release by their names."""
    zones = pq.read_table(folder / "release" / "zones.parquet")
    return dict(zip(zones["zone"].to_pylist(), zones["geometry"].to_pylist(), strict=True))


def test_a_name_stands_for_the_same_tiles_in_every_release(home: Path) -> None:
    may, june = outlines(home / "may"), outlines(home / "june")
    both = [zone for zone in may.keys() & june.keys() if "/" in zone]
    assert both
    assert all(may[zone] == june[zone] for zone in both)


def test_an_outline_is_that_of_the_cells_that_the_name_tells(home: Path) -> None:
    import h3

    unions = {zone: outline for zone, outline in outlines(home / "may").items() if "/" in zone}
    for zone, outline in unions.items():
        cells = [tile for cell in member_cells(zone) for tile in h3.cell_to_children(cell, 9)]
        tiles = [shapely.Polygon([(lon, lat) for lat, lon in h3.cell_to_boundary(cell)]) for cell in cells]
        drawn, true = shapely.from_wkb(outline), shapely.union_all(shapely.buffer(tiles, 1e-7))
        assert shapely.symmetric_difference(drawn, true).area < 1e-3 * true.area


def test_flows_and_the_map_name_them(home: Path) -> None:
    flows = pq.read_table(home / "may" / "release" / "flows.parquet")
    named = {*flows["origin"].to_pylist(), *flows["destination"].to_pylist()}
    assert named <= outlines(home / "may").keys()
    page = (home / "may" / "release" / "map.html").read_text(encoding="utf-8")
    union = next(zone for zone in sorted(named) if "/" in zone)
    assert union in page or union.replace("/", "\\/") in page


def test_other_commands_take_them(tripcloak, home):
    assert tripcloak("difference", home / "may", home / "june").code == 0
    assert tripcloak("ledger", "check", home / "ledger").code == 0
    again = tripcloak(
        *("anonymise", home / "june.csv", "--zones-from", home / "may", "--k", 5, "--suppress", 0.9),
        *("--out", home / "kept", "--json"),
    )
    assert again.code == 0
    assert outlines(home / "kept").keys() <= outlines(home / "may").keys()
    assert any("/" in zone for zone in outlines(home / "kept"))
    assert tripcloak("audit", home / "kept", "--against", home / "june.csv").code == 0
