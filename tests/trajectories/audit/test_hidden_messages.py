"""Nothing can be hidden in the public files by whoever sets the digests right."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from forgeries.trajectories import (
    K,
    audit_of_forged,
    entry,
    manifest,
    samples,
    written,
)
from tripcloak.trajectories.audit import audit_folder
from tripcloak.trajectories.audit.rules import files as tables
from tripcloak.trajectories.checking import ReadInput
from tripcloak.trajectories.reading import read_trajectories
from tripcloak.trajectories.release import published as trajectory_samples
from worlds.merged_trajectories import merged_release

Forge = Callable[[Path], None]
GEOJSON, MFJSON = "trajectories.geojson", "trajectories.mfjson"


def stated(**changes: Any) -> Forge:
    return lambda folder: manifest(folder, **changes)


def inside(name: str, **changes: Any) -> Forge:
    return lambda folder: manifest(folder, **{name: {**entry(folder, name), **changes}})


def reworded(name: str, old: str, new: str) -> Forge:
    """Replace some text of a public file, once."""

    def forge(folder: Path) -> None:
        path = folder / "release" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        if name != "manifest.json":
            manifest(folder)

    return forge


def features_turned(name: str) -> Forge:
    """Let the features of a collection, one a line, come in another order."""

    def forge(folder: Path) -> None:
        path = folder / "release" / name
        head, *features, foot = path.read_text().splitlines()
        turned = [line.removesuffix(",") for line in reversed(features)]
        path.write_text("\n".join([head, ",\n".join(turned), foot, ""]))
        assert json.loads(path.read_text())["features"]
        manifest(folder)

    return forge


def entries_turned(folder: Path) -> None:
    path = folder / "release" / "manifest.json"
    facts = json.loads(path.read_text())
    path.write_text(json.dumps(dict(reversed(facts.items())), indent=2) + "\n")


def bytes_before_the_footer(folder: Path) -> None:
    path = folder / "release" / "samples.parquet"
    whole = path.read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    path.write_bytes(whole[:-footer] + MESSAGE.encode() + whole[-footer:])
    assert parquet.read_table(path).num_rows
    manifest(folder)


def written_otherwise(**options: Any) -> Forge:
    """Write the same rows with other options of the Parquet writer."""

    def forge(folder: Path) -> None:
        path = folder / "release" / "samples.parquet"
        rows = parquet.read_table(path)
        parquet.write_table(rows, path, **{"compression": "zstd", "store_schema": False, **options})
        manifest(folder)

    return forge


def kept_with_the_columns(folder: Path) -> None:
    path = folder / "release" / "samples.parquet"
    rows = parquet.read_table(path)
    with parquet.ParquetWriter(path, rows.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata({"who": MESSAGE})
    manifest(folder)


def first_row(change: str) -> Forge:
    return lambda folder: samples(folder, f"UPDATE s SET {change} WHERE rowid = 0")


MESSAGE = "dGhleSBsaXZlIGhlcmU"

FORGERIES: dict[str, tuple[Forge, str]] = {
    "method with capitals": (stated(method=MESSAGE), "manifest-whole"),
    "method too long": (stated(method="a" * 64), "manifest-whole"),
    "version of words": (stated(version=f"0.1.0+{MESSAGE}"), "manifest-whole"),
    "parameter of words": (stated(parameters={"note": MESSAGE}), "manifest-whole"),
    "name of a parameter": (stated(parameters={MESSAGE: 1}), "manifest-whole"),
    "parameters within parameters": (stated(parameters={"note": {"a": 1}}), "manifest-whole"),
    "many parameters": (stated(parameters={f"{chr(97 + i)}": i for i in range(26)}), "manifest-whole"),
    "a long number": (stated(parameters={"note": 10**40}), "manifest-whole"),
    "a number in other letters": (
        reworded("manifest.json", '"start": 0', '"start": 0.0e5'), "manifest-whole"
    ),
    "an entry twice": (
        reworded("manifest.json", '"kind"', f'"kind": "{MESSAGE}",\n  "kind"'), "manifest-whole"
    ),
    "blanks in the manifest": (reworded("manifest.json", '"kind"', '\t"kind"'), "manifest-whole"),
    "order of the manifest": (entries_turned, "manifest-whole"),
    "digests beside digests": (stated(files={"who": MESSAGE}), "digests-match"),
    "a delta of containment": (inside("promise", delta=10**30), "promise-valid"),
    "more in the promise": (inside("promise", note=MESSAGE), "promise-valid"),
    "other words on the promise": (inside("promise", sentence=MESSAGE), "promise-valid"),
    "a number in the words": (inside("promise", sentence=f"k = {K}: {K} trajectories, 17"), "promise-valid"),
    "more in the projection": (
        reworded("manifest.json", "+no_defs", f"+no_defs +title={MESSAGE}"), "promise-valid"
    ),
    "a finer grid": (inside("grid", metres=50), "grid-of-the-input"),
    "a finer clock": (inside("grid", seconds=30), "grid-of-the-input"),
    "a grid begun later": (inside("grid", start=60), "grid-of-the-input"),
    "another centre": (
        inside("grid", projection="+proj=laea +lat_0=1.5 +lon_0=2.5 +datum=WGS84 +units=m +no_defs"),
        "grid-of-the-input",
    ),
    "pseudonyms of words": (
        lambda folder: samples(folder, "UPDATE s SET trajectory = 'x' || trajectory"), "pseudonyms-fresh"
    ),
    "bytes before the footer": (bytes_before_the_footer, "parquet-holds-no-more"),
    "an entry of the Parquet file": (kept_with_the_columns, "only-allowed-columns"),
    "an entry, byte by byte": (kept_with_the_columns, "parquet-holds-no-more"),
    "lengths of parts": (written_otherwise(row_group_size=50), "parquet-holds-no-more"),
    "an index of pages": (written_otherwise(write_page_index=True), "parquet-holds-no-more"),
    "another compression": (written_otherwise(compression="gzip"), "parquet-holds-no-more"),
    "another schema beside": (written_otherwise(store_schema=True), "parquet-holds-no-more"),
    "csv: a blank line": (reworded("samples.csv", "\n", "\n\n"), "csv-equals-parquet"),
    "csv: more zeros": (reworded("samples.csv", "00Z", "00.000Z"), "csv-equals-parquet"),
    "csv: quotes": (reworded("samples.csv", '"t_start"', "t_start"), "csv-equals-parquet"),
    "degrees too wide": (first_row("lon_min = lon_min - 0.01"), "degrees-enclose-metres"),
    "degrees too high": (first_row("lat_max = lat_max + 0.01"), "degrees-enclose-metres"),
    "degrees too fine": (first_row("lat_max = lat_max + 1e-8"), "degrees-enclose-metres"),
    "degrees once around": (
        first_row("lon_min = lon_min + 360, lon_max = lon_max + 360"), "degrees-enclose-metres"
    ),
    "degrees all around": (first_row("lon_min = -190, lon_max = 190"), "degrees-enclose-metres"),
    **{
        f"{name}: {words}": (forge, f"{name.partition('.')[2]}-equals-samples")
        for name in (GEOJSON, MFJSON)
        for words, forge in (
            ("another order", features_turned(name)),
            ("another type", reworded(name, '"Feature"', f'"{MESSAGE}"')),
            ("type of the collection", reworded(name, '"FeatureCollection"', f'"{MESSAGE}"')),
            ("a member more", reworded(name, '"features"', f'"note":"{MESSAGE}","features"')),
            ("a member twice", reworded(name, '"type":"Feature"', f'"type":"{MESSAGE}","type":"Feature"')),
            ("a name beside the pseudonym", reworded(name, '"properties":{', '"properties":{"who":3,')),
            ("blanks", reworded(name, "\n]}", " \t\n]}")),
            ("something after the end", reworded(name, "\n]}\n", "\n]}\n\n")),
            ("digits", reworded(name, "Z", ".000Z")),
        )
    },
    "mfjson: another interpolation": (
        reworded(MFJSON, '"interpolation":"Step"', f'"interpolation":"{MESSAGE}"'), "mfjson-equals-samples"
    ),
    "mfjson: another system": (reworded(MFJSON, "CRS84", MESSAGE), "mfjson-equals-samples"),
    "mfjson: another time": (reworded(MFJSON, '"time":["2', '"time":["3'), "mfjson-equals-samples"),
    "geojson: rings of more": (
        reworded(GEOJSON, ']]]},"properties"', ']],[]]},"properties"'), "geojson-equals-samples"
    ),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FORGERIES)
def test_no_message_goes_unseen(name: str, safe: Path, raw: ReadInput, tmp_path: Path) -> None:
    audit = audit_of_forged(*FORGERIES[name], safe, raw, tmp_path)
    assert MESSAGE not in str(audit.findings)


def test_setting_the_digests_right_is_no_forgery(safe: Path, raw: ReadInput, tmp_path: Path) -> None:
    """So that forgeries fail for what they change, not for the way they do it."""
    folder = tmp_path / "same"
    shutil.copytree(safe, folder)
    manifest(folder)
    reworded(GEOJSON, "Feature", "Feature")(folder)
    audit = audit_folder(folder, raw)
    assert audit.safe, audit.broken


def test_a_grid_that_nothing_is_known_of_is_said_not_to_be_checked(safe: Path, raw: ReadInput) -> None:
    told = audit_folder(safe, ReadInput(replace(raw.source, seconds=None)))
    words = {finding.rule: finding.words for finding in told.findings}["grid-of-the-input"]
    assert words.startswith("not checked")


def test_tables_in_many_parts_pass(raw: ReadInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((trajectory_samples, "BATCH"), (tables, "PART")):
        monkeypatch.setattr(module, name, 10)
    trajectories = read_trajectories(raw.source).trajectories
    folder = written(tmp_path, trajectories, merged_release(trajectories, k=K))
    assert parquet.read_metadata(folder / "release" / "samples.parquet").num_row_groups > 2
    audit = audit_folder(folder, raw)
    assert audit.safe, audit.broken
