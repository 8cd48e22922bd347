"""Rules about the public files: which there are, and that they are unchanged."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tripcloak.trajectories.audit.evidence import Evidence
from tripcloak.trajectories.audit.rulebook import BrokenPart
from tripcloak.trajectories.audit.rules.book import BOOK

FILES = {"samples.parquet", "samples.csv", "manifest.json", "README.md", "map.html"}
EXCHANGE = ("trajectories.geojson", "trajectories.mfjson")
"""Files that may be left out, if the manifest says so."""


@BOOK.rule("files-complete")
def files_complete(case: Evidence) -> str | None:
    """The public part holds exactly the files it should, and nothing more."""
    found = list(case.public("").iterdir())
    if any(path.is_symlink() or not path.is_file() for path in found):
        return "release/ holds something that is not a plain file"
    names, expected = {path.name for path in found}, expected_files(case)
    if missing := sorted(expected - names):
        return f"release/ lacks {', '.join(missing)}"
    return "release/ holds a file that does not belong there" if names - expected else None


def expected_files(case: Evidence) -> set[str]:
    """Return the names that the public files must have."""
    left_out = case.facts.get("left_out", [])
    if not isinstance(left_out, list) or left_out != [name for name in EXCHANGE if name in left_out]:
        raise BrokenPart("release/manifest.json: 'left_out' must name files that may be left out")
    return FILES | set(EXCHANGE) - set(left_out)


@BOOK.rule("digests-match")
def digests_match(case: Evidence) -> str | None:
    """Every public file has the digest that the manifest states."""
    stated, expected = case.facts.get("files"), expected_files(case) - {"manifest.json"}
    if not isinstance(stated, dict) or set(stated) != expected:
        return "the manifest does not state the digest of every public file"
    changed = [name for name in sorted(expected) if _digest(case.public(name)) != stated[name]]
    return f"changed since the release was made: {', '.join(changed)}" if changed else None


def _digest(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
