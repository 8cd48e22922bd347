"""Crates: every file is told with its digest, every reference leads somewhere, the copy is the release."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tripcloak.exporting.crate import FILES, Details, write_crate
from tripcloak.ground.errors import InputError
from worlds.released_flows import World, raw_trips

DETAILS = Details(
    title="Trips in May",
    licence="https://creativecommons.org/licenses/by/4.0/",
    publisher="A city",
    contact="data@example.org",
    date="2024-06-01",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    world = World.of(raw_trips(), "h3:7")
    return world.publish(tmp_path / "out", world.release()).path


def read(crate: Path, name: str) -> Any:
    return json.loads((crate / name).read_text(encoding="utf-8"))


def references(content: Any) -> set[str]:
    if isinstance(content, dict):
        own = {content["@id"]} if set(content) == {"@id"} else set()
        return own.union(*(references(value) for value in content.values()))
    return set().union(*(references(one) for one in content)) if isinstance(content, list) else set()


def test_a_crate_is_the_release_and_what_is_said_of_it(folder: Path, tmp_path: Path) -> None:
    crate = write_crate(folder, tmp_path / "crate", DETAILS)
    assert {path.name for path in crate.iterdir()} == {"release", *FILES}
    for path in (folder / "release").iterdir():
        assert (crate / "release" / path.name).read_bytes() == path.read_bytes()
    told = {one["@id"]: one for one in read(crate, "ro-crate-metadata.json")["@graph"]}
    outside = ("https://w3id.org/ro/crate/",)
    assert not {one for one in references(list(told.values())) - set(told) if not one.startswith(outside)}
    files = [one for one in told.values() if one["@type"] == "File" and "sha256" in one]
    assert len(files) == len(list((folder / "release").iterdir())) - 1
    for one in files:
        assert hashlib.sha256((crate / one["@id"]).read_bytes()).hexdigest() == one["sha256"]
    assert "Trips in May" in (crate / "CITATION.txt").read_text()


def test_columns_and_distributions_are_those_of_the_files(folder: Path, tmp_path: Path) -> None:
    crate = write_crate(folder, tmp_path / "crate", DETAILS)
    for table in read(crate, "croissant.json")["recordSet"]:
        names = parquet.read_schema(crate / "release" / f"{table['name']}.parquet").names
        assert [field["source"]["extract"]["column"] for field in table["field"]] == names
    parts = read(crate, "mobilitydcat-ap.jsonld")["dcat:distribution"]
    assert all((crate / part["@id"]).is_file() for part in parts)


def test_what_was_changed_is_not_packed(folder: Path, tmp_path: Path) -> None:
    (folder / "release" / "flows.csv").write_text("changed")
    with pytest.raises(InputError, match="is not the file that the manifest states"):
        write_crate(folder, tmp_path / "crate", DETAILS)
    assert not (tmp_path / "crate").exists()


@pytest.mark.parametrize(
    ("name", "value"), [("licence", "mine"), ("contact", "me"), ("date", "May"), ("title", " ")]
)
def test_details_are_what_catalogues_take(name: str, value: str) -> None:
    with pytest.raises(InputError, match=name):
        Details(**{**DETAILS.__dict__, name: value})
