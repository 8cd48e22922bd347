"""Writes files.md: every public file of a release with its columns, every entry of a manifest: ``make docs``.

They are read from two small releases that are made for it, so that what the page says is what is written.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyarrow import parquet

import tripcloak as tc
from tripcloak.synth.cdr import Cdr

PAGE = Path(__file__).parent / "files.md"
HEAD = """\
# Files and manifest

Made by `make docs` from two small releases: what stands here is what is written. `manifest.json` states the
SHA-256 of every public file; [the promise](promise.md) says which numbers may be told. Options add columns
(`--names`, `--time-slot`) and files (`--with-margins`, `--with-levels`).
"""
WORDS = {
    "flows.csv": "`flows.parquet` as text; what a spreadsheet would run begins with an apostrophe.",
    "zones.geojson": "The same as `zones.parquet`.",
    "map.html": "One page, offline, with everything in it.",
    "README.md": "What it is, what it promises and how to open it, in plain words.",
}
KINDS = {dict: "object", list: "list", str: "text", bool: "true or false", type(None): "null"}


def rendered() -> str:
    """Return the page."""
    parts = [HEAD]
    with tempfile.TemporaryDirectory() as home:
        tc.anonymise(tc.City(trips=3_000, people=300).table(), zones="h3:7", out=f"{home}/flows")
        tc.trajectories.anonymise(Cdr(users=30, days=2).table(), k=2, out=f"{home}/trajectories")
        for wing in ("flows", "trajectories"):
            parts.append(f"## A release of {wing}\n")
            for path in sorted((Path(home) / wing / "release").iterdir()):
                parts.append(f"### `{path.name}` of {wing}\n\n{told(path)}")
    return "\n".join(parts).rstrip() + "\n"


def told(path: Path) -> str:
    """Return what is in a file."""
    if path.suffix == ".parquet":
        rows = [(field.name, str(field.type)) for field in parquet.read_schema(path)]
    elif path.name == "manifest.json":
        rows = list(entries(json.loads(path.read_text(encoding="utf-8"))))
    else:
        return f"{WORDS.get(path.name, 'The same rows in another format.')}\n"
    lines = "\n".join(f"| `{name}` | {kind} |" for name, kind in rows)
    return f"| {'entry' if path.suffix == '.json' else 'column'} | type |\n|---|---|\n{lines}\n"


def entries(content: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the entries of a document by their paths; what is in objects stands below them."""
    for name, value in content.items():
        if isinstance(value, dict) and value and name != "files":
            yield from entries(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", KINDS.get(type(value), "number")


if __name__ == "__main__":
    PAGE.write_text(rendered(), encoding="utf-8")
