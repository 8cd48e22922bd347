"""A release as its readers have it: from public files alone, and clear words where one is missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from tripcloak.flows.release.reading import PublishedZones, read_published
from tripcloak.ground.errors import InputError
from worlds.released_flows import Folder, World, raw_trips


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    world = World.of(raw_trips(800), "h3:8")
    return world.publish(tmp_path_factory.mktemp("published") / "out", world.release())


def test_it_tells_what_the_public_files_tell(folder: Folder) -> None:
    found = read_published(folder.path)
    flows = parquet.read_table(folder.public("flows.parquet")).to_pylist()
    for row, flow in enumerate(flows):
        assert found.zones["origin"].ids[found.origin[row]] == flow["origin"]
        assert found.zones["destination"].ids[found.destination[row]] == flow["destination"]
        assert found.volume[row] == flow["trips"]
    assert found.time is None
    assert len(found.zones["time"].ids) == 0
    zones = parquet.read_table(folder.public("zones.parquet")).to_pylist()
    own = [zone for zone in zones if zone["axis"] == "origin"]
    assert found.zones["origin"].ids.tolist() == [zone["zone"] for zone in own]
    assert found.zones["origin"].tiles.tolist() == [zone["tiles"] for zone in own]
    assert [shape.wkb for shape in found.zones["origin"].shapes] == [zone["geometry"] for zone in own]
    assert found.facts == folder.facts


def test_nothing_private_is_read(folder: Folder, tmp_path: Path) -> None:
    """Not from the folder, nor from the public part alone, whatever it is called."""
    whole = tmp_path / "whole"
    shutil.copytree(folder.path / "release", whole / "release")
    shutil.copytree(folder.path / "release", tmp_path / "other name")
    for place in (whole, whole / "release", tmp_path / "other name"):
        assert read_published(place).volume.sum() == read_published(folder.path).volume.sum()


@pytest.mark.parametrize("name", ["flows.parquet", "zones.parquet"])
def test_a_missing_table_is_named(folder: Folder, tmp_path: Path, name: str) -> None:
    shutil.copytree(folder.path, tmp_path / "out")
    (tmp_path / "out" / "release" / name).unlink()
    with pytest.raises(InputError, match="is not a whole release"):
        read_published(tmp_path / "out")


@pytest.mark.parametrize("text", ["{", "[]", None])
@pytest.mark.parametrize("within", [True, False])
def test_a_broken_manifest_is_named(folder: Folder, tmp_path: Path, text: str | None, within: bool) -> None:
    public = tmp_path / "out" / ("release" if within else "public")
    shutil.copytree(folder.path / "release", public)
    if text is None:
        (public / "manifest.json").unlink()
    else:
        (public / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="manifest"):
        read_published(public if not within else tmp_path / "out")


def test_a_manifest_without_a_volume_is_no_whole_release(folder: Folder, tmp_path: Path) -> None:
    shutil.copytree(folder.path, tmp_path / "out")
    facts = folder.facts
    del facts["volume"]
    (tmp_path / "out" / "release" / "manifest.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match="is not a whole release"):
        read_published(tmp_path / "out")


@pytest.mark.parametrize("ids", [["b", "d", "a"], []])
def test_a_zone_that_the_table_lacks_is_noticed(ids: list[str]) -> None:
    known = np.array(ids, dtype=np.str_)
    zones = PublishedZones(known, np.full(len(ids), None, dtype=object), np.ones(len(ids), dtype=np.int64))
    assert zones.rows(np.array(ids[::-1], dtype=np.str_)).tolist() == list(range(len(ids)))[::-1]
    with pytest.raises(InputError, match="name a zone that the table of zones does not have"):
        zones.rows(np.array(["c"]))
