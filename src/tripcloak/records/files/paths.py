"""From paths, globs and folders to files, and from the top of a text file to its column names."""

from __future__ import annotations

import csv
import difflib
import glob
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from tripcloak.ground.errors import InputError, MissingFileError, UnreadableFileError
from tripcloak.ground.folders import PUBLIC
from tripcloak.ground.given_paths import given_path, matching
from tripcloak.ground.manifest import NAME
from tripcloak.ground.spelling import spelt
from tripcloak.records.columns import looks_like_data, unique_names
from tripcloak.records.files.encodings import COMPRESSED
from tripcloak.records.files.recognising import (
    ending_of,
    first_lines,
    hidden,
    is_about_others,
    recognised,
    top_of,
)
from tripcloak.records.files.standard_input import STANDARD_INPUT, spooled_input
from tripcloak.records.presets import TEXT, Layout, Preset, of_lines

FileKind = Literal["csv", "parquet", "zip", "tar", "xlsx", "geojson", "omx"]

_KINDS: dict[str, FileKind] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".zip": "zip",
    ".tar": "tar",
    ".tgz": "tar",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".geojson": "geojson",
    ".json": "geojson",
    ".geojsonl": "geojson",
    ".geojsons": "geojson",
    ".ndjson": "geojson",
    ".jsonl": "geojson",
    ".mfjson": "geojson",
    ".omx": "omx",
}
_PACKED: tuple[FileKind, ...] = ("csv", "tar", "geojson")
"""Kinds of files that may be compressed as a whole."""

_LISTED = 10_000
"""Entries of a folder that are compared with a name that is not there."""

_PLAIN: tuple[FileKind, ...] = ("csv", "parquet")
_DELIMITERS = ",;\t|"


class Top(NamedTuple):
    """Column names and delimiter of a text file, and its layout where no first line has the names."""

    names: tuple[str, ...]
    delimiter: str
    layout: Layout | None = None


def expand_paths(paths: Sequence[str], preset: Preset | None = None) -> list[Path]:
    """Return the files that paths, globs and folders mean, each once, in a fixed order.

    Raises
    ------
    InputError
        Nothing is there, or it is not of a kind that can be read.

    Examples
    --------
    >>> expand_paths(["no/trips.csv"])
    Traceback (most recent call last):
    ...
    tripcloak.MissingFileError: there is no file no/trips.csv; there is no folder no either: check the path
    """
    files: dict[Path, Path] = {}
    preset = preset or recognised(paths)
    for path in paths:
        for file in _expand(path, preset):
            files.setdefault(file.resolve(), file)
    return list(files.values())


def kind_of(file: Path, preset: Preset | None = None) -> FileKind | None:
    """Return how a file is to be read by the ending of its name, or None.

    Examples
    --------
    >>> kind_of(Path("trips.csv.gz")), kind_of(Path("trips.tar.bz2")), kind_of(Path("trips.parquet.gz"))
    ('csv', 'tar', None)
    """
    if layout_of(file, preset) is not None:
        return "csv"
    ending = ending_of(file)
    if file.suffix.lower() in COMPRESSED and ending not in COMPRESSED:
        inside = _KINDS.get(ending, "csv" if not ending else None)
        return inside if inside in _PACKED else None
    return _KINDS.get(ending)


def layout_of(file: Path, preset: Preset | None) -> Layout | None:
    """Return the layout of a text file that has no line of names, as a preset knows it, or None.

    Examples
    --------
    >>> from tripcloak.records.presets import find_preset
    >>> geolife = find_preset("geolife")
    >>> layout_of(Path("1.plt"), geolife).skip, layout_of(Path("fixes.parquet"), geolife)
    (6, None)
    """
    if preset is None or not preset.layouts:
        return None
    ending = ending_of(file)
    possible = [layout for layout in preset.all_layouts if ending in layout.suffixes]
    called = [layout for layout in possible if layout.is_called(file.name)]
    if called or len(possible) == 1:
        return (called or possible)[0]
    found = of_lines(first_lines(file), ending, preset) if ending in TEXT and file.is_file() else None
    return None if found is None else found[1]


def read_layout(file: Path, layout: Layout, *, certain: bool = False) -> Top | None:
    """Return the columns of a file that has a layout, or None where its first line has names after all."""
    first = first_lines(file)[:1] if not (certain or layout.skip) else []
    names = any(first) and not any(looks_like_data(cell) for cell in first[0].split(layout.delimiter))
    return None if names else Top(layout.columns, layout.delimiter, layout)


def read_top(file: Path) -> Top:
    """Return the column names and the delimiter of a text file.

    Raises
    ------
    InputError
        The file is empty, not UTF-8 text, or its first line holds data rather than names.
    """
    text = top_of(file)
    first = text.split("\n", 1)[0]
    if not first.strip():
        raise UnreadableFileError(
            f"{file.name} is empty or starts with an empty line; expected column names there. Remove what "
            "stands above them, or save it again"
        )
    delimiter = max(_DELIMITERS, key=re.sub(r'"[^"]*"', "", first).count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header = next(lines)
    if any(looks_like_data(name) for name in header):
        raise InputError(
            f"the first line of {file.name} looks like data; expected column names such as start_lat there. "
            f"Put a line of names first, or say which public format it is ({spelt('preset', 'NAME')}; see "
            "`tripcloak presets`)"
        )
    return Top(unique_names(_padded(header, next((line for line in lines if line), []))), delimiter)


def _expand(path: str, preset: Preset | None) -> list[Path]:
    place = spooled_input() if path == STANDARD_INPUT else given_path(path)
    if place.is_dir():
        return _files_of_folder(place, preset)
    if place.is_file():
        return [_readable(place, preset)]
    if not glob.has_magic(path):
        raise MissingFileError(f"there is no file {path}; {_nearby(place, preset)}")
    found = sorted(matching(path), key=str)
    if preset is not None:
        found = [hit for hit in found if not preset.passes_over(hit.name)]
    files = [file for hit in found for file in (_expand(str(hit), preset) if hit.is_dir() else [hit])]
    if not files:
        raise MissingFileError(
            f"no file matches {path}; check the pattern, and quote it so that the shell leaves it alone"
        )
    return [_readable(file, preset) for file in files]


def _files_of_folder(folder: Path, preset: Preset | None) -> list[Path]:
    patterns = preset.patterns if preset is not None else ()
    files = sorted({file for pattern in patterns or ("*",) for file in folder.rglob(pattern)})
    if preset is not None:
        files = [file for file in files if not preset.passes_over(file.name)]
    made = _releases(folder)
    seen = [
        file
        for file in files
        if file.is_file()
        and not hidden(file, folder)
        and not is_about_others(file.name)
        and not any(one in file.parents for one in made)
    ]
    wanted = [file for file in seen if kind_of(file, preset) in _PLAIN]
    if not wanted:
        # Beside tables, archives are often the same rows once more, and GeoJSON the zones.
        documents = preset is not None and preset.documents
        wanted = [
            file for file in seen if kind_of(file, preset) and (documents or file.suffix.lower() != ".json")
        ]
    if not wanted:
        what = f"file like {' or '.join(patterns)}" if patterns else "Parquet or CSV file"
        raise MissingFileError(
            f"the folder {folder} holds no {what}; name a folder that does, or the files themselves"
        )
    return wanted


def _releases(folder: Path) -> list[Path]:
    """Return the releases below a folder: what was made of its files is none of them."""
    manifests = folder.rglob(f"{PUBLIC}/{NAME}")
    return [path.parent.parent for path in manifests if path.parent.parent != folder]


def _readable(file: Path, preset: Preset | None) -> Path:
    if kind_of(file, preset) is None:
        layouts = preset.layouts if preset is not None else ()
        known = dict.fromkeys((*(suffix for layout in layouts for suffix in layout.suffixes), *_KINDS))
        raise UnreadableFileError(
            f"{called_file(file, preset)}: expected a file that ends in {', '.join(known)}"
            f" (text may be compressed: .gz, .bz2, .zst); {_way_out(file)}"
        )
    if file.stat().st_size == 0:
        raise UnreadableFileError(
            f"{called_file(file, preset)} is empty; expected column names and at least one trip. Get it "
            "again, or leave it out"
        )
    return file


def _nearby(place: Path, preset: Preset | None) -> str:
    """Return where to look for a file that is not there."""
    if not place.parent.is_dir():
        return f"there is no folder {place.parent} either: check the path"
    names = [] if preset is not None and preset.ids_in_paths else sorted(os.listdir(place.parent))[:_LISTED]
    alike = difflib.get_close_matches(place.name, names, n=1)
    return f"did you mean {place.parent / alike[0]}?" if alike else "check the path"


def _way_out(file: Path) -> str:
    """Return what to do with a file of another kind."""
    ways = {
        ".xls": "open it in a spreadsheet program and save it as .xlsx or .csv",
        ".rar": "unpack it and give the files in it",
        ".7z": "unpack it and give the files in it",
        ".gz": "unpack it and give what is in it",
        ".bz2": "unpack it and give what is in it",
    }
    return ways.get(file.suffix.lower(), "save or convert it as CSV, or rename it if it is such text already")


def called_file(file: Path, preset: Preset | None) -> str:
    """Return what messages call a file: not by its name where that is the id of somebody."""
    return "one of the files" if preset is not None and preset.ids_in_paths else file.name


def _padded(header: list[str], first_row: list[str]) -> list[str]:
    """Return the names, with one more for every empty field that ends the lines below them.

    Some public files end each row with commas for which there is no name.
    """
    extra = first_row[len(header) :]
    return header if any(cell.strip() for cell in extra) else header + [""] * len(extra)
