"""What is piped into a command: kept in a private file while it runs, since it is read more than once."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from tripcloak.ground.errors import InputError
from tripcloak.ground.waiting import folder_of_copies
from tripcloak.records.files.encodings import COMPRESSED, opened

STANDARD_INPUT = "-"
_TOP = 512

_BEGINNINGS = (
    (b"PAR1", ".parquet"),
    (b"\x1f\x8b", ".gz"),
    (b"BZh", ".bz2"),
    (b"\x28\xb5\x2f\xfd", ".zst"),
    (b"PK\x03\x04", ".zip"),
    (b"{", ".geojson"),
    (b"\x1e", ".geojsonl"),
)
_TAR, _TAR_AT = b"ustar", 257
"""What a tar archive has at that place, and nothing else does by chance."""

_SPOOLED: list[Path] = []


def spooled_input() -> Path:
    """Return the file that holds what was piped in, read when this is first asked for.

    Only its owner can read it, and it goes away with the command or the process. What it holds is told by how
    it begins, and its name ends accordingly.

    Raises
    ------
    InputError
        Nothing is piped in.
    """
    if not _SPOOLED:
        if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
            raise InputError(
                "- stands for what is piped in, and nothing is; pipe a table in, as in "
                "`tripcloak describe - < trips.csv`, or name a file"
            )
        folder = folder_of_copies()
        _SPOOLED.append(folder)
        _SPOOLED.append(_named(_spooled(folder)))
    return _SPOOLED[-1]


def is_spooled(path: str) -> bool:
    """Return whether a path is that of the file that holds what was piped in."""
    return bool(_SPOOLED) and path == str(_SPOOLED[-1])


def forget_input() -> None:
    """Remove what was piped in, if anything was."""
    if _SPOOLED:
        shutil.rmtree(_SPOOLED[0], ignore_errors=True)
        _SPOOLED.clear()


def _spooled(folder: Path) -> Path:
    path = folder / "stdin"
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as made:
        shutil.copyfileobj(sys.stdin.buffer, made)
    return path


def _named(path: Path) -> Path:
    """Return the path of a file under a name that ends as what it holds."""
    with path.open("rb") as made:
        ending = _ending(made.read(_TOP))
    if ending in COMPRESSED:
        named = path.rename(path.with_name(path.name + ending))
        with suppress(OSError, ValueError, EOFError), opened(named) as inside:
            ending = _ending(inside.read(_TOP)) + ending
        path = named.rename(path)
    ending = f".csv{ending}" if ending in COMPRESSED else ending
    if ending == ".zip" and _is_workbook(path):
        ending = ".xlsx"
    return path.rename(path.with_name(path.name + ending))


def _ending(top: bytes) -> str:
    """Return how the name of a file ends that begins like this; that of a text where nothing tells."""
    if top[_TAR_AT:].startswith(_TAR):
        return ".tar"
    begin = top.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((ending for beginning, ending in _BEGINNINGS if begin.startswith(beginning)), ".csv")


def _is_workbook(path: Path) -> bool:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            return "[Content_Types].xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False
