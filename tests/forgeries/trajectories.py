"""Folders of released trajectories that are written by hand or forged, digests set right."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from pyarrow import csv, parquet

from tripcloak.ground.folders import write_json
from tripcloak.ground.rulebook import Verdict
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.audit import audit_folder
from tripcloak.trajectories.audit.evidence import RawTrajectories
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from tripcloak.trajectories.release.writing import write_trajectory_release
from worlds.folders import seal

K = 3


def written(folder: Path, trajectories: Trajectories, release: TrajectoryRelease) -> Path:
    for part in ("release", "private"):
        (folder / part).mkdir()
    pages = {"README.md": "a release", "map.html": "<html></html>"}
    write_trajectory_release(
        folder,
        trajectories,
        release,
        run={},
        pages=lambda published: pages,
        guess=guess_owner(trajectories, release),
    )
    return folder


def samples(folder: Path, *statements: str, columns: str = "*") -> None:
    """Change the published table and its CSV alike, and set the digests right."""
    public = folder / "release"
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        con.execute(f"CREATE TABLE s AS SELECT * FROM '{public}/samples.parquet'")
        for statement in statements:
            con.execute(statement)
        told = con.sql(f"SELECT {columns} FROM s").to_arrow_table()
    for place in (1, 2):
        exact = told.column(place).cast(pa.timestamp("s", tz="UTC"))
        told = told.set_column(place, told.column_names[place], exact)
    # The original writes no settings of its own into the file, and neither does this one.
    parquet.write_table(told, public / "samples.parquet", compression="zstd", store_schema=False)
    csv.write_csv(told, public / "samples.csv", csv.WriteOptions(quoting_style="none"))
    for name in ("trajectories.geojson", "trajectories.mfjson"):
        (public / name).unlink()
    manifest(folder, left_out=["trajectories.geojson", "trajectories.mfjson"])


def manifest(folder: Path, **changes: Any) -> None:
    """Change entries of the manifest (None: take it away), and set the digests right."""
    path = folder / "release" / "manifest.json"
    facts = {**json.loads(path.read_text()), **changes}
    if "files" not in changes:
        files = sorted(file for file in path.parent.iterdir() if file != path)
        facts["files"] = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    facts["files"] = facts.pop("files")
    write_json(path, {name: value for name, value in facts.items() if value is not None})
    seal(folder)


def entry(folder: Path, name: str) -> Any:
    return json.loads((folder / "release" / "manifest.json").read_text())[name]


def audit_of_forged(
    forge: Callable[[Path], Any], rule: str, safe: Path, raw: RawTrajectories, room: Path
) -> Verdict:
    """Return the audit of a forged copy of a safe folder, which breaks the rule and tells nothing."""
    folder = room / "forged"
    shutil.copytree(safe, folder)
    forge(folder)
    audit = audit_folder(folder, raw)
    assert not audit.safe
    assert rule in audit.broken, audit.broken
    assert_tells_nothing(audit)
    return audit


def assert_tells_nothing(audit: Verdict) -> None:
    words = " ".join(finding.words for finding in audit.findings)
    assert "u00" not in words
