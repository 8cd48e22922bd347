"""What a reader does with a release: the code of its README runs, and cells are cells and no formulas."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely
from pyarrow import parquet

from tripcloak.flows.audit import audit_folder
from tripcloak.flows.publish import write_zones
from tripcloak.flows.release.tables import POINTS, flows_over_time
from tripcloak.flows.report.opening import how_to_open
from tripcloak.flows.rewriting import rewritten_flows
from tripcloak.hierarchy import ZoneFile
from tripcloak.hierarchy.zonefile.columns import Columns
from tripcloak.promises import KAnonymity
from worlds.released_flows import TOWNS, Folder, World, raw_trips

ODD_IDS = ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "\tx", "'=y", "''quoted", "plain"]


@pytest.fixture(scope="module")
def hexagons(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    world = World.of(raw_trips())
    return world.publish(tmp_path_factory.mktemp("opened") / "out", world.release())


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Folder]:
    """A release between zones whose ids a spreadsheet would run."""
    middle = TOWNS.mean(axis=0)
    east = middle[1] + np.linspace(-0.08, 0.08, len(ODD_IDS) + 1)
    west, east = east[:-1], east[1:]
    shapes = [shapely.to_wkb(shapely.box(w, 48, e, 50)) for w, e in zip(west, east, strict=True)]
    zones = ZoneFile.of(Columns({"zone": ODD_IDS, "part": ["=all"] * 8}, shapes))
    world = World.of(raw_trips(), "table:part", zones=zones)
    return world, world.publish(
        tmp_path_factory.mktemp("odd") / "out", world.release(KAnonymity(k=2, unit="travellers"), 0.4)
    )


def test_the_code_of_the_readme_runs_as_it_stands(hexagons: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = hexagons.public("README.md").read_text(encoding="utf-8")
    assert how_to_open(hexagons.facts) in readme
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert len(blocks) == 2
    monkeypatch.chdir(hexagons.public(""))
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    flows, zones = names["flows"], names["zones"]
    assert len(names["lines"]) == len(flows)
    assert names["lines"].crs == "OGC:CRS84"
    assert len(names["origins"]) + len(names["destinations"]) == len(zones)
    # What the page warns of: zones that occur at both ends count twice.
    assert flows.merge(zones, left_on="origin", right_on="zone").trips_x.sum() > flows.trips.sum()


def test_flows_carry_the_points_of_their_zones_and_lines_join_them(hexagons: Folder) -> None:
    flows, zones = (parquet.read_table(hexagons.public(f"{name}.parquet")) for name in ("flows", "zones"))
    assert flows.column_names[-4:] == list(POINTS)
    place = {(row["axis"], row["zone"]): (row["lat"], row["lon"]) for row in zones.to_pylist()}
    lines = parquet.read_table(hexagons.public("lines.parquet"))
    assert lines.column_names == [*flows.column_names[:-4], "geometry"]
    shapes = shapely.from_wkb(lines["geometry"].to_pylist())
    for row, line in zip(flows.to_pylist(), shapes, strict=True):
        start, end = place["origin", row["origin"]], place["destination", row["destination"]]
        assert (row["origin_lat"], row["origin_lon"]) == pytest.approx(start, abs=6e-8)
        assert (row["destination_lat"], row["destination_lon"]) == pytest.approx(end, abs=6e-8)
        assert list(line.coords) == [
            (row["origin_lon"], row["origin_lat"]), (row["destination_lon"], row["destination_lat"])
        ]  # fmt: skip
    assert not set(POINTS) & set(flows_over_time(flows).column_names)


def test_cells_that_would_run_are_guarded_and_read_back(odd: tuple[World, Folder]) -> None:
    world, folder = odd
    flows = parquet.read_table(folder.public("flows.parquet")).to_pylist()
    named = {row[axis] for row in flows for axis in ("origin", "destination")}
    assert {"=cmd|' /C calc'!A0", "+1", "-1"} & named
    with folder.public("flows.csv").open(encoding="utf-8", newline="") as file:
        told = list(csv.DictReader(file))
    assert not [row for row in told if row["origin"][:1] in "=+-@\t" or row["destination"][:1] in "=+-@\t"]
    read = [(_plain(row["origin"]), _plain(row["destination"]), int(row["trips"])) for row in told]
    assert read == [(row["origin"], row["destination"], row["trips"]) for row in flows]
    with world.connection() as con:
        verdict = audit_folder(folder.path, con, tiling=world.tiling)
    assert verdict.broken == ()
    assert all(finding.ok for finding in rewritten_flows(folder.path) if finding.rule == "flows-as-written")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda text: text.replace("'=", "=", 1), "csv-equals-parquet"),
        (lambda text: text.replace("'", "''", 1), "csv-equals-parquet"),
    ],
)
def test_an_unguarded_cell_is_noticed(
    odd: tuple[World, Folder], tmp_path: Path, change: Any, rule: str
) -> None:
    import shutil

    world, folder = odd
    forged = Folder(shutil.copytree(folder.path, tmp_path / "forged"))
    forged.edit_text("flows.csv", change)
    forged.refresh()
    with world.connection() as con:
        assert rule in audit_folder(forged.path, con, tiling=world.tiling).broken


@pytest.mark.parametrize("column", POINTS)
def test_points_elsewhere_are_noticed(hexagons: Folder, tmp_path: Path, column: str) -> None:
    import shutil

    forged = Folder(shutil.copytree(hexagons.path, tmp_path / "forged"))

    def change(rows: list[dict[str, Any]]) -> None:
        rows[0][column] += 2e-7

    forged.edit_flows(change)
    forged.refresh()
    world = World.of(raw_trips())
    with world.connection() as con:
        assert audit_folder(forged.path, con).broken == ("zones-table-matches",)


def test_lines_are_what_the_flows_say(hexagons: Folder, tmp_path: Path) -> None:
    import shutil

    forged = Folder(shutil.copytree(hexagons.path, tmp_path / "forged"))
    path = forged.public("lines.parquet")
    lines = parquet.read_table(path)
    parquet.write_table(lines.append_column("more", pa.array([1] * len(lines))), path)
    forged.refresh()
    assert "flows-as-written" in [finding.rule for finding in rewritten_flows(forged.path) if not finding.ok]


@pytest.mark.parametrize("column", ["area_km2", "lat", "lon", "geometry"])
def test_zones_are_drawn_anew_from_their_names(hexagons: Folder, tmp_path: Path, column: str) -> None:
    import shutil

    forged = Folder(shutil.copytree(hexagons.path, tmp_path / "forged"))
    table = parquet.read_table(forged.public("zones.parquet"))
    values = table[column].to_pylist()
    # Less than any measuring would notice, and room for a message.
    values[0] = _nudged(values[0]) if column == "geometry" else np.nextafter(values[0], 90.0)
    place = table.column_names.index(column)
    write_zones(forged.public(""), table)
    assert _rewritten(forged) == []
    write_zones(forged.public(""), table.set_column(place, table.field(place), [values]))
    assert "zones-as-written" in _rewritten(forged)


def _nudged(outline: bytes) -> bytes:
    shape = shapely.from_wkb(outline)
    return shapely.to_wkb(shapely.transform(shape, lambda xy: np.nextafter(xy, 90.0)))


def _rewritten(folder: Folder) -> list[str]:
    """Return which files of zones are not what this version writes."""
    broken = [finding.rule for finding in rewritten_flows(folder.path) if not finding.ok]
    return [rule for rule in broken if rule == "zones-as-written"]


def _plain(text: str) -> str:
    """Return a text as it was before it was guarded."""
    return text[1:] if re.match(r"'+[=+\-@\t\r\n]", text) else text
