"""Copies of the source tree, in which mistakes are made."""

from __future__ import annotations

import shutil
from pathlib import Path


def synchronise(source: Path, copy: Path, *, compiled: bool = False) -> None:
    """Make one tree of sources like another; what was compiled of files that stay as they are stays, too.

    What was compiled in the first one is taken over where that is asked for.
    """
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    wanted = {name for name in wanted if compiled or "__pycache__" not in name.parts}
    there = {path.relative_to(copy) for path in copy.rglob("*") if path.is_file()} if copy.exists() else set()
    for name in there - wanted:
        if "__pycache__" not in name.parts:
            (copy / name).unlink()
    for name in wanted:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        same = name in there and (copy / name).stat().st_mtime_ns == (source / name).stat().st_mtime_ns
        if not same or (copy / name).read_bytes() != (source / name).read_bytes():
            shutil.copy2(source / name, copy / name)
