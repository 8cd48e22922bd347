"""Copies of the source tree, in which mistakes are made."""

from __future__ import annotations

import shutil
from pathlib import Path

COMPILED = "__pycache__"


def synchronise(source: Path, copy: Path) -> None:
    """Make one tree of sources like another; what either has compiled of them stays, the newer of both."""
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    there = {path.relative_to(copy) for path in copy.rglob("*") if path.is_file()} if copy.exists() else set()
    for name in there - wanted:
        if COMPILED not in name.parts:
            (copy / name).unlink()
    for name in wanted:
        if name not in there or _outdated(source / name, copy / name):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, copy / name)


def _outdated(path: Path, copy: Path) -> bool:
    """Return whether a file is to be copied again."""
    made, copied = path.stat().st_mtime_ns, copy.stat().st_mtime_ns
    if COMPILED in path.parts:
        return made > copied
    return made != copied or path.read_bytes() != copy.read_bytes()
