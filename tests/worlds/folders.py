"""Release folders as they lie on disk: what is there, and everything that their public part says."""

from __future__ import annotations

import csv
import hashlib
import html
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow import parquet

from tripcloak.ground.folders import REPORT_FILES

PUBLIC_FILES = {
    "README.md",
    "flows.csv",
    "flows.parquet",
    "lines.parquet",
    "manifest.json",
    "map.html",
    "zones.geojson",
    "zones.parquet",
}
PRIVATE_FILES = {"groups.parquet", "hierarchy.parquet", "run.json"}
ECHO = "run.toml"
"""What a command was asked for; written once all else is in place."""


def contents(folder: Path) -> dict[str, str]:
    """Return every file and folder below a folder, with the digest of what a file holds."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


def is_whole(folder: Path) -> bool:
    """Return whether a folder holds a whole release and nothing else that we write."""
    return (
        {path.name for path in (folder / "release").iterdir()} == PUBLIC_FILES
        and {path.name for path in (folder / "private").iterdir()} - {*REPORT_FILES, ECHO} == PRIVATE_FILES
        and {path.name for path in folder.iterdir()} <= {"release", "private", "city.parquet", *REPORT_FILES}
    )


@dataclass(frozen=True)
class PublicPart:
    """Everything that the public part of a release says, file by file."""

    manifest: dict[str, Any]
    flows: list[dict[str, Any]]
    flows_csv: list[dict[str, str]]
    zones: list[dict[str, Any]]
    features: list[dict[str, Any]]
    map_data: dict[str, Any]
    map_words: str
    readme: str
    metadata: str

    @property
    def text(self) -> str:
        """Return all of it as one text, for looking for what must not be there."""
        parts = [self.manifest, self.flows, self.flows_csv, self.zones, self.features, self.map_data]
        told = json.dumps(parts, default=lambda value: value.hex(), ensure_ascii=False)
        return "\n".join([told, self.map_words, self.readme, self.metadata])


def read_public(folder: Path) -> PublicPart:
    """Return the public part of a release folder."""
    public = folder / "release"
    page = (public / "map.html").read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="release">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    with (public / "flows.csv").open(encoding="utf-8", newline="") as file:
        flows_csv = list(csv.DictReader(file))
    return PublicPart(
        manifest=json.loads((public / "manifest.json").read_text(encoding="utf-8")),
        flows=parquet.read_table(public / "flows.parquet").to_pylist(),
        flows_csv=flows_csv,
        zones=parquet.read_table(public / "zones.parquet").to_pylist(),
        features=json.loads((public / "zones.geojson").read_text(encoding="utf-8"))["features"],
        map_data=json.loads(data[1]),
        map_words=html.unescape(re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)),
        readme=(public / "README.md").read_text(encoding="utf-8"),
        metadata="\n".join(_metadata(public / name) for name in ("flows.parquet", "zones.parquet")),
    )


def _metadata(path: Path) -> str:
    """Return what a Parquet file says beside its rows: key-value pairs, statistics, dictionaries."""
    file = parquet.ParquetFile(path)
    told = [str(file.metadata.metadata), file.metadata.created_by, str(file.schema_arrow)]
    for group in range(file.metadata.num_row_groups):
        row_group = file.metadata.row_group(group)
        told += [str(row_group.column(column).statistics) for column in range(row_group.num_columns)]
    texts = [field.name for field in file.schema_arrow if str(field.type) == "string"]
    dictionaries = parquet.read_table(path, columns=texts, read_dictionary=texts)
    told += [str(chunk.dictionary.to_pylist()) for column in dictionaries.columns for chunk in column.chunks]
    return "\n".join(told)


def seal(folder: Path) -> None:
    """State the manifest's digest in the private record, as if the two had been written together."""
    record, manifest = folder / "private" / "run.json", folder / "release" / "manifest.json"
    if record.is_file() and manifest.is_file():
        told = json.loads(record.read_text(encoding="utf-8"))
        told["manifest_digest"] = hashlib.sha256(manifest.read_bytes()).hexdigest()
        record.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
