"""From files as they are given to files that the engine reads: unpacked, written out, made UTF-8."""

from __future__ import annotations

import csv
import errno
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from tripcloak.ground.errors import InputError, UnreadableFileError
from tripcloak.ground.exact_files import plain_part, private_folder
from tripcloak.ground.spelling import spelt
from tripcloak.records.files.beginnings import refuse_other_kind
from tripcloak.records.files.encodings import (
    COMPRESSED,
    WESTERN,
    found_encoding,
    is_utf_8,
    opened,
    write_as_utf_8,
)
from tripcloak.records.files.features import feature_rows, is_lines
from tripcloak.records.files.feeds import feed_rows, is_feed
from tripcloak.records.files.geoparquet import point_columns, write_points
from tripcloak.records.files.moving_features import is_moving, moving_rows
from tripcloak.records.files.open_matrices import matrix_rows
from tripcloak.records.files.paths import called_file, kind_of, layout_of
from tripcloak.records.files.recognising import is_about_others
from tripcloak.records.presets import Preset

if TYPE_CHECKING:
    import duckdb

MOST_MEMBERS = 100_000
_MOST_ENTRIES = 10 * MOST_MEMBERS
_PIECE = 1 << 20
_LEFT_FREE = 1 << 28
"""Bytes of the disk that are left alone when something is unpacked."""


@dataclass(kw_only=True)
class Unpacked:
    """Files that the engine reads, and what a reader should know about how they came about.

    Attributes
    ----------
    files : list of Path
        What the engine reads.
    known : dict
        Path of a file that was made to the path that its owner knows it by.
    notes : dict
        What to know, as keys.
    """

    files: list[Path] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


def unpack(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    preset: Preset | None = None,
    encoding: str | None = None,
) -> Unpacked:
    """Return files that the engine reads in place of those that were given; plain ones are themselves.

    What is written anew lies in a private folder that goes away with the connection.

    Parameters
    ----------
    encoding
        The encoding of text, if the caller said it.

    Raises
    ------
    InputError
        An archive is damaged, closed by a password or too large; text is of no known encoding.
    """
    made = Unpacked()
    work = _Unpacking(con, preset, encoding, made)
    for file in files:
        kind = kind_of(file, preset)
        refuse_other_kind(file, kind)
        if kind == "zip":
            work.archive(file)
        elif kind == "tar":
            work.tape(file)
        elif kind == "xlsx":
            work.workbook(file)
        elif kind == "geojson":
            work.features(file)
        elif kind == "omx":
            work.matrices(file)
        else:
            work.plain(file)
    return made


class _Unpacking:
    """The files of one input on their way."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, preset: Preset | None, encoding: str | None, made: Unpacked
    ) -> None:
        self._con, self._preset, self._encoding, self._made = con, preset, encoding, made
        self._numbers = count()
        self._base: Path | None = None
        self._extracted: list[Path] = []

    def plain(self, file: Path) -> None:
        """Take a file as it is, or its text as UTF-8 where it is none."""
        if file.suffix.lower() == ".bz2":
            # The engine reads the others as they are.
            file = self.decompressed(file)
        layout = layout_of(file, self._preset)
        if kind_of(file, self._preset) == "parquet" and (points := point_columns(file)):
            _refuse_if_full(file, 2 * file.stat().st_size)
            target = self._target(file.name)
            self._made.notes.update(dict.fromkeys(write_points(file, target, points)))
            self._add(target, self._made.known.get(str(file), str(file)))
            return
        if kind_of(file, self._preset) == "parquet" or (layout is not None and self._encoding is None):
            # Of a public format the encoding is known.
            self._made.files.append(file)
            return
        encoding = self._encoding or self._found(file)
        if is_utf_8(encoding):
            self._made.files.append(file)
            return
        _refuse_if_full(file, 3 * file.stat().st_size)
        compressed = file.suffix.lower() in COMPRESSED
        target = self._target(file.stem if compressed else file.name)
        write_as_utf_8(file, encoding, target)
        self._add(target, self._made.known.get(str(file), str(file)))

    def archive(self, file: Path) -> None:
        """Take the tables in a zip archive."""
        name = called_file(file, self._preset)
        with _opened_zip(file, name) as archive:
            inside = [one for one in archive.infolist() if not one.is_dir() and not _hidden(one.filename)]
            wanted = [one for one in inside if self._wanted(one.filename)]
            self._agree(wanted, inside, name)
            if any(one.flag_bits & 1 for one in wanted):
                raise UnreadableFileError(
                    f"{name} is closed by a password; unpack it first and give its files"
                )
            _refuse_if_full(file, sum(one.file_size for one in wanted))
            for one in wanted:
                with _damage_told(name):
                    self._extract(archive.open(one), file, one.filename)
        self._take()

    def tape(self, file: Path) -> None:
        """Take the tables in a tar archive, compressed or not."""
        name = called_file(file, self._preset)
        inside = [(one.name, one.size) for _, one in _members(file, name)]
        wanted = [(member, size) for member, size in inside if self._wanted(member)]
        self._agree(wanted, inside, name)
        _refuse_if_full(file, sum(size for _, size in wanted))
        for archive, one in _members(file, name):
            source = archive.extractfile(one) if self._wanted(one.name) else None
            if source is not None:
                with _damage_told(name):
                    self._extract(source, file, one.name)
        self._take()

    def _agree(self, wanted: Sequence[object], inside: Sequence[object], name: str) -> None:
        """Raise where an archive holds no table or too many, and note what is passed over."""
        if not wanted:
            raise UnreadableFileError(
                f"{name} holds no CSV or Parquet file; unpack it and give the right files"
            )
        if len(wanted) > MOST_MEMBERS:
            raise UnreadableFileError(
                f"{name} holds more than {MOST_MEMBERS:,} files; unpack it and give the folder"
            )
        if len(wanted) < len(inside):
            self._made.notes["files in an archive that are no CSV or Parquet were passed over"] = None

    def _extract(self, source: IO[bytes], file: Path, member: str) -> None:
        # Its own path may lead anywhere: no part of it is used as it is.
        target = self._target(*PurePosixPath(member).parts)
        with source, target.open("xb") as made:
            shutil.copyfileobj(source, made)
        self._made.known[str(target)] = f"{self._made.known.get(str(file), file)}/{member}"
        self._extracted.append(target)

    def _take(self) -> None:
        """Take the tables of an archive as if they had been given."""
        targets, self._extracted = self._extracted, []
        for target in targets:
            self.plain(target)

    def decompressed(self, file: Path) -> Path:
        """Return a file without its compression; it stops where the disk would be full."""
        name, target = called_file(file, self._preset), self._target(file.stem)
        with _damage_told(name), opened(file) as source, target.open("xb") as made:
            while piece := source.read(_PIECE):
                _refuse_if_full(file, len(piece))
                made.write(piece)
        self._made.known[str(target)] = self._made.known.get(str(file), str(file))
        return target

    def workbook(self, file: Path) -> None:
        """Take the sheets of a workbook that have the columns of the first."""
        name = called_file(file, self._preset)
        with _opened_zip(file, name) as parts:
            _refuse_if_full(file, sum(one.file_size for one in parts.infolist()))
        found = None
        # Whatever a damaged workbook makes the library raise, its words may quote cells.
        with suppress(Exception):
            found = self._written_sheets(file)
        if found is None:
            raise UnreadableFileError(
                f"{name} could not be read; it may be damaged. Save it as CSV and give that"
            )
        if not found:
            raise UnreadableFileError(
                f"{name} is empty; expected a sheet with column names and at least one row"
            )

    def _written_sheets(self, file: Path) -> int:
        """Write the sheets with the columns of the first, and return how many there are."""
        first: list[str] | None = None
        written = 0
        for rows in _sheets(file):
            header = next(rows, None)
            if header is None:
                continue
            first = header if first is None else first
            if header == first:
                written += 1
                known = str(file) if written == 1 else f"{file}, sheet {written}"
                self._write(file, chain([header], rows), known)
            else:
                self._made.notes["sheets with other columns than the first one's were passed over"] = None
        return written

    def features(self, file: Path) -> None:
        """Take the points or paths of a GeoJSON file, or the trips or vehicles of another document."""
        plain = self.decompressed(file) if file.suffix.lower() in COMPRESSED else file
        if is_lines(plain):
            rows = feature_rows
        else:
            rows = moving_rows if is_moving(plain) else feed_rows if is_feed(plain) else feature_rows
        self._write(plain, rows(plain, called_file(file, self._preset)), str(file))

    def matrices(self, file: Path) -> None:
        """Take the trips of an open matrix."""
        self._write(file, matrix_rows(file, called_file(file, self._preset)), str(file))

    def _found(self, file: Path) -> str:
        name = called_file(file, self._preset)
        try:
            encoding = found_encoding(file)
        except (OSError, EOFError, ValueError):
            # Whoever reads it says better what is wrong.
            return "utf-8"
        if encoding is None:
            raise InputError(
                f"{name} is not text in UTF-8, UTF-16 or Windows-1252; say what it is with "
                f"{spelt('encoding', 'NAME')}, or save it as UTF-8"
            )
        if encoding == WESTERN:
            self._made.notes[
                f"text that is not UTF-8 was read as Windows-1252 (set {spelt('encoding')} if it is another)"
            ] = None
        return encoding

    def _wanted(self, path: str) -> bool:
        preset, member = self._preset, PurePosixPath(path)
        if is_about_others(member.name) or (preset is not None and preset.passes_over(member.name)):
            return False
        patterns = () if preset is None else preset.patterns
        if patterns and not any(member.match(pattern) for pattern in patterns):
            return False
        return kind_of(Path(member.name), self._preset) in ("csv", "parquet")

    def _write(self, file: Path, rows: Iterable[Sequence[str]], known: str) -> None:
        target = self._target(f"{file.stem}.csv")
        with target.open("x", encoding="utf-8", newline="") as made:
            csv.writer(made).writerows(rows)
        self._add(target, known)

    def _add(self, target: Path, known: str) -> None:
        self._made.files.append(target)
        self._made.known[str(target)] = known

    def _target(self, *parts: str) -> Path:
        """Return the path of a new file in a folder of its own, which only its owner can read."""
        base = self._base = self._base or Path(tempfile.mkdtemp(dir=private_folder(self._con)))
        own = base / str(next(self._numbers))
        target = own.joinpath(*(plain_part(part) for part in parts if part.strip("/")))
        target.parent.mkdir(parents=True)
        return target


def _opened_zip(file: Path, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError):
        pass
    raise UnreadableFileError(f"{name} could not be read; it may be damaged or not be a zip archive")


def _members(file: Path, name: str) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield the archive and each file in it, in their order; what was yielded before cannot be read again."""
    seen = count(1)
    with _damage_told(name), opened(file) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for one in archive:
            if next(seen) > _MOST_ENTRIES:
                raise UnreadableFileError(f"{name} holds too many files; unpack it and give the folder")
            if one.isfile() and not _hidden(one.name):
                yield archive, one


@contextmanager
def _damage_told(name: str) -> Iterator[None]:
    """Say that a file cannot be unpacked, whatever its reader says: that may quote what is in it."""
    try:
        yield
        return
    except (zipfile.BadZipFile, tarfile.TarError, NotImplementedError, EOFError, ValueError, RuntimeError):
        pass
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
    raise UnreadableFileError(
        f"{name} could not be unpacked; it may be damaged. Unpack it and give its files"
    )


def _hidden(member: str) -> bool:
    return any(part.startswith((".", "_")) for part in PurePosixPath(member).parts if part != "..")


def _refuse_if_full(file: Path, size: int) -> None:
    folder = tempfile.gettempdir()
    if size > shutil.disk_usage(folder).free - _LEFT_FREE:
        raise InputError(
            f"there is no room in the temporary folder to unpack {file.name}; set TMPDIR to a folder on a "
            "larger disk, or unpack it yourself and save its text as UTF-8"
        )


def _sheets(file: Path) -> Iterator[Iterator[list[str]]]:
    """Yield the rows of every sheet as text, without empty rows."""
    import openpyxl

    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            # Some programs write that a sheet is one cell large.
            sheet.reset_dimensions()
            yield _filled(sheet.iter_rows(values_only=True))
    finally:
        book.close()


def _filled(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[str]]:
    """Yield rows as text, as wide as the first, without those that are empty."""
    width = 0
    for row in rows:
        cells = [_cell(value) for value in row]
        if any(cells):
            while not width and cells and not cells[-1]:
                cells.pop()
            width = width or len(cells)
            cells += [""] * (width - len(cells))
            yield cells if any(cells[width:]) else cells[:width]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date) else str(value).strip()
