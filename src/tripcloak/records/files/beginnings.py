"""How files begin: one whose first bytes are of another kind than its name is told, and not read."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import NamedTuple

from tripcloak.ground.errors import UnreadableFileError
from tripcloak.records.files.encodings import COMPRESSED


class Beginning(NamedTuple):
    """The first bytes of a kind of files, what such a file is, its ending, and kinds read as it."""

    bytes: bytes
    words: str
    ending: str
    kinds: frozenset[str]


BEGINNINGS = (
    Beginning(b"PAR1", "a Parquet file", ".parquet", frozenset({"parquet"})),
    Beginning(b"PK\x03\x04", "a zip archive or a workbook", ".zip or .xlsx", frozenset({"zip", "xlsx"})),
    Beginning(b"\x89HDF\r\n\x1a\n", "an open matrix (HDF5)", ".omx", frozenset({"omx"})),
    Beginning(b"SQLite format 3\0", "a GeoPackage or another database file", "", frozenset()),
    Beginning(b"\x1f\x8b", "a file compressed by gzip", ".gz", frozenset({"tar"})),
)
"""Kinds of files that nothing else begins like."""
WORKBOOK = "xl/workbook.xml"
"""What is in every workbook."""


def refuse_other_kind(file: Path, kind: str | None) -> None:
    """Raise where a file is not of the kind that its name says.

    Parameters
    ----------
    kind
        What it would be read as, by its name.

    Raises
    ------
    UnreadableFileError
        It begins like a file of another kind.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "trips.csv")
    >>> _ = path.write_bytes(b"PAR1 and so on")
    >>> refuse_other_kind(path, "text")
    Traceback (most recent call last):
    tripcloak.UnreadableFileError: trips.csv is a Parquet file by its first bytes, whatever its name says; ...
    """
    try:
        with file.open("rb") as opened:
            top = opened.read(max(len(one.bytes) for one in BEGINNINGS))
    except OSError:
        # What cannot be opened is told by whoever reads it.
        return
    compressed = file.suffix.lower() in COMPRESSED
    for one in BEGINNINGS:
        if top.startswith(one.bytes) and kind not in one.kinds and not compressed:
            then = f"let it end in {one.ending}" if one.ending else "save its table as CSV and give that"
            raise UnreadableFileError(
                f"{file.name} is {one.words} by its first bytes, whatever its name says; {then}"
            )
    if kind in ("zip", "xlsx") and top.startswith(b"PK\x03\x04"):
        _refuse_other_archive(file, kind)
    if kind == "parquet" and top and not top.startswith(b"PAR"):
        raise UnreadableFileError(
            f"{file.name} does not begin like a Parquet file, whatever its name says; if it is text, "
            "let it end in .csv"
        )


def _refuse_other_archive(file: Path, kind: str) -> None:
    """Raise where an archive is a workbook, or a workbook is none: both begin as zip archives."""
    try:
        with zipfile.ZipFile(file) as archive:
            workbook = WORKBOOK in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        # What is damaged is told by whoever reads it.
        return
    if workbook != (kind == "xlsx"):
        found, ending = ("a workbook", ".xlsx") if workbook else ("a zip archive and no workbook", ".zip")
        raise UnreadableFileError(
            f"{file.name} is {found} by its contents, whatever its name says; let it end in {ending}"
        )
