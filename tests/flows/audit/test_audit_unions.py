"""Releases over H3 with unions of siblings: honest ones pass, a union that is not what it says is caught."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h3
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.audit import audit_folder, audit_matrix
from tripcloak.flows.methods import ODkAnon, ProductCut, TwinCut
from tripcloak.flows.methods.method import FlowMethod
from tripcloak.ground.rulebook import Verdict
from tripcloak.hierarchy import member_cells
from tripcloak.promises import KAnonymity
from worlds.released_flows import TEN_TRAVELLERS, Folder, World, raw_trips

Rows = list[dict[str, Any]]


def audit(world: World, folder: Path) -> Verdict:
    with world.connection() as con:
        return audit_folder(folder, con)


@pytest.fixture(scope="module")
def world() -> World:
    """Return a city whose zones may be unions."""
    return World.of(raw_trips(), "h3:9/binary")


@pytest.fixture(scope="module")
def honest(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an honest release with many unions on both axes."""
    out = tmp_path_factory.mktemp("honest") / "out"
    method = TwinCut(promise=KAnonymity(k=2, unit="trips"), suppression_limit=0.3)
    world.publish(out, method.anonymise(world.matrix))
    return out


def zones_of(folder: Path) -> list[str]:
    return sorted(set(parquet.read_table(folder / "release" / "flows.parquet")["origin"].to_pylist()))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", [ODkAnon, ProductCut])
@pytest.mark.parametrize("spec", ["h3:9/binary", "h3:8/root=2/binary", "h3:8/binary/root=2"])
def test_honest_releases_pass(method: type[FlowMethod], spec: str, tmp_path: Path) -> None:
    world = World.of(raw_trips(), spec)
    release = method(promise=TEN_TRAVELLERS, suppression_limit=0.1).anonymise(world.matrix)
    world.publish(tmp_path / "out", release)
    assert any("/" in zone for zone in zones_of(tmp_path / "out"))
    assert [finding for finding in audit(world, tmp_path / "out").findings if not finding.ok] == []
    assert audit_matrix(world.matrix, release).broken == ()
    assert "`8928308280fffff/0236` is the union" in Folder(tmp_path / "out").public("README.md").read_text()


def test_a_release_of_the_world_passes(tmp_path: Path) -> None:
    raw = raw_trips()
    across = raw.set_column(2, "d_lat", pa.array(-np.asarray(raw["d_lat"])))
    world = World.of(across, "h3:5/binary")
    world.publish(tmp_path / "out", world.release(KAnonymity(k=190, unit="travellers"), 0.0))
    assert audit(world, tmp_path / "out").broken == ()


def rename(folder: Folder, old: str, new: str) -> None:
    """Give an origin zone another name in every table alike."""

    def change(column: str) -> Callable[[Rows], None]:
        def edit(rows: Rows) -> None:
            for row in rows:
                if row[column] == old and row.get("axis") != "destination":
                    row[column] = new

        return edit

    folder.edit_flows(change("origin"))
    folder.edit_groups(change("released_origin"))
    folder.edit_rows("release/zones.parquet", change("zone"))


def some_union(zones: list[str]) -> str:
    return next(zone for zone in zones if len(zone.partition("/")[2]) == 2)


def other_digits(zones: list[str]) -> tuple[str, str]:
    old = some_union(zones)
    parent, _, digits = old.partition("/")
    return old, f"{parent}/{'23' if digits != '23' else '45'}"


def other_parent(zones: list[str]) -> tuple[str, str]:
    old = some_union(zones)
    parent, _, digits = old.partition("/")
    return old, f"{h3.grid_ring(parent, 1)[0]}/{digits}"


def one_member(zones: list[str]) -> tuple[str, str]:
    old = some_union(zones)
    return old, member_cells(old)[0]


def no_union(zones: list[str]) -> tuple[str, str]:
    old = some_union(zones)
    parent, _, digits = old.partition("/")
    return old, f"{parent}/{digits}1"


def swapped_digits(zones: list[str]) -> tuple[str, str]:
    old = some_union(zones)
    parent, _, digits = old.partition("/")
    return old, f"{parent}/{digits[::-1]}"


@pytest.mark.parametrize("forge", [other_digits, other_parent, one_member, no_union, swapped_digits])
def test_a_union_that_does_not_hold_its_tiles_is_caught(
    forge: Callable[[list[str]], tuple[str, str]], world: World, honest: Path, tmp_path: Path
) -> None:
    shutil.copytree(honest, tmp_path / "out")
    folder = Folder(tmp_path / "out")
    rename(folder, *forge(zones_of(folder.path)))
    folder.refresh()
    assert "zones-contain-tiles" in audit(world, folder.path).broken


def test_unions_that_overlap_are_caught(world: World, honest: Path, tmp_path: Path) -> None:
    """A pair replaced by the four that hold it overlaps the other pair."""
    shutil.copytree(honest, tmp_path / "out")
    folder = Folder(tmp_path / "out")
    zones = zones_of(folder.path)
    pair = next(
        zone
        for zone in zones
        if zone.endswith(("/06", "/23"))
        and any(
            part in zones
            for part in (zone[:-2] + "06", zone[:-2] + "23", *member_cells(zone[:-2] + "0236"))
            if part != zone
        )
    )
    rename(folder, pair, pair[:-2] + "0236")
    folder.refresh()
    broken = audit(world, folder.path).broken
    assert "zones-disjoint" in broken
    assert "zones-contain-tiles" not in broken, "the four do hold the tiles of the pair"


@pytest.mark.parametrize(("column", "amount"), [("height", 1), ("tiles", 7), ("lat", 0.001), ("lon", -0.001)])
def test_a_wrong_size_or_place_is_caught(
    column: str, amount: float, world: World, honest: Path, tmp_path: Path
) -> None:
    shutil.copytree(honest, tmp_path / "out")
    folder = Folder(tmp_path / "out")

    def change(rows: Rows) -> None:
        next(row for row in rows if "/" in row["zone"])[column] += amount

    folder.edit_rows("release/zones.parquet", change)
    folder.refresh()
    found = {finding.rule: finding.words for finding in audit(world, folder.path).findings if not finding.ok}
    assert "wrong size or place" in found["zones-table-matches"]


def test_plain_h3_has_no_unions(world: World, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "out")
    folder = Folder(tmp_path / "out")
    folder.edit_manifest(lambda facts: facts["hierarchy"].update(spec="h3:9"))
    broken = audit(world, folder.path).broken
    assert {"zones-contain-tiles", "zones-table-matches"} <= set(broken)
