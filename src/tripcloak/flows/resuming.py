"""What a run must be the same in to be taken up again, and whether its input stayed the same meanwhile."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TypeAlias

from tripcloak._version import __version__
from tripcloak.engines.choice import MANY, Engine, expected_rows
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError
from tripcloak.promises import Promise
from tripcloak.records.files.paths import expand_paths
from tripcloak.records.files.standard_input import STANDARD_INPUT
from tripcloak.records.presets import find_preset
from tripcloak.records.source import TripSource

SeenFiles: TypeAlias = tuple[tuple[str, int, int, int], ...]
"""Of every file its name, number on its disk, size and the time it was changed last."""


def seen_input(source: TripSource) -> SeenFiles | None:
    """Return how the files of an input look from outside; None where it is not made of files alone."""
    paths = [one for one in source.paths if isinstance(one, str) and one != STANDARD_INPUT]
    if len(paths) < len(source.paths):
        return None
    preset = None if source.preset is None else find_preset(source.preset)
    files = sorted(file.absolute() for file in expand_paths(paths, preset))
    return tuple(_look(file) for file in files)


def _look(file: Path) -> tuple[str, int, int, int]:
    look = file.stat() if file.exists() else os.stat_result((0,) * 10)
    return str(file), look.st_ino, look.st_size, look.st_mtime_ns


def refuse_changed(before: SeenFiles | None, source: TripSource) -> None:
    """Raise if the files of an input are not those that they were before it was read."""
    if before is not None and seen_input(source) != before:
        raise InputError(
            "the input changed while it was read, and some rows may be of before and some of after that; "
            "nothing was released. Run it again when nobody writes to the files any more"
        )


def expected_size(source: TripSource, engine: Engine) -> str | None:
    """Return in words what an input will take; None where it is small, or does not tell its rows."""
    try:
        seen = seen_input(source)
    except InputError:
        # What else is wrong is told first; that there is no such file, when it is opened.
        return None
    rows = None if seen is None else expected_rows(Path(name) for name, *_ in seen)
    return None if rows is None or rows < MANY else engine.words(rows)


def reading_key(source: TripSource, zoning: Zoning, promise: Promise, seen: SeenFiles | None) -> str | None:
    """Return a digest of all that decides what is read of an input; None where that cannot be told.

    The promise is part of it: a study area or a period that is found from the data follows from what is
    promised. So is the version, whose reading may differ from that of others.
    """
    plain = zoning.kept is None and (zoning.zones is None or isinstance(zoning.zones, str))
    if seen is None or not plain:
        return None
    beside = [_look(Path(one)) for one in (zoning.zones, source.stations) if isinstance(one, str)]
    told = [__version__, source.to_dict(), zoning.to_dict(), repr(promise), seen, beside]
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:32]
