"""Which public format files without a line of names belong to, where that is certain."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from tripcloak.ground.errors import InputError, UnreadableFileError
from tripcloak.ground.given_paths import given_path, matching
from tripcloak.records.files.encodings import COMPRESSED
from tripcloak.records.files.standard_input import STANDARD_INPUT
from tripcloak.records.presets import PRESETS, Preset, of_lines

_TOP_BYTES = 1 << 16
_LINES = 20
_FILES = 8
_ABOUT = re.compile(r"(read[ _-]?me|licen[cs]e|copying|notice|changelog)(?![a-z])")
_ENTRIES = 2_000
"""Entries of a folder that are looked at."""

_ENDINGS = frozenset(
    suffix for preset in PRESETS.values() for layout in preset.all_layouts for suffix in layout.suffixes
)


def recognised(paths: Sequence[str]) -> Preset | None:
    """Return the one public format whose lines all files looked at have, and no others; else None.

    Only the first lines of a few files are read, and only of text.

    Examples
    --------
    >>> recognised(["no/such/file.txt"]) is None
    True
    """
    files = [file for path in paths if path != STANDARD_INPUT for file in islice(_files(path), _FILES)]
    found: set[str] = set()
    for file in files[:_FILES]:
        # A taxi that never moved has an empty file.
        others = is_about_others(file.name) or any(one.passes_over(file.name) for one in PRESETS.values())
        if others or not file.stat().st_size:
            continue
        known = of_lines(first_lines(file), ending_of(file)) if ending_of(file) in _ENDINGS else None
        if known is None:
            return None
        found.add(known[0].name)
    return PRESETS[found.pop()] if len(found) == 1 else None


def ending_of(file: Path) -> str:
    """Return the ending that tells the kind of a file, without that of its compression.

    >>> ending_of(Path("trips.csv.gz"))
    '.csv'
    """
    ending = file.suffix.lower()
    return Path(file.stem).suffix.lower() if ending in COMPRESSED and ending != ".tgz" else ending


def is_about_others(name: str) -> bool:
    """Return whether a text tells of the files beside it, as its name says, and holds no rows itself.

    >>> is_about_others("README.txt"), is_about_others("readme_2024.txt"), is_about_others("trips.txt")
    (True, True, False)
    """
    stem, _, ending = name.lower().rpartition(".")
    return ending == "txt" and _ABOUT.match(stem) is not None


def hidden(file: Path, folder: Path) -> bool:
    """Return whether a part of the path below the folder is private to the program that wrote it."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def first_lines(file: Path) -> list[str]:
    """Return the first lines of a text file, whole ones; none where it cannot be read."""
    try:
        text = top_of(file)
    except InputError:
        return []
    lines = text.splitlines()
    whole = lines if len(text) < _TOP_BYTES else lines[:-1]
    return whole[:_LINES]


def top_of(file: Path) -> str:
    """Return the beginning of a text file, or raise an InputError where it is none."""
    import pyarrow as pa

    compression = COMPRESSED.get(file.suffix.lower())
    try:
        with pa.input_stream(str(file.absolute()), compression=compression) as stream:
            top = stream.read(_TOP_BYTES)
    except (pa.ArrowException, OSError):
        top = None
    if top is None:
        kind = f"{compression} file" if compression else "text file"
        raise UnreadableFileError(f"{file.name} could not be read; it may be damaged or not be a {kind}")
    if top[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in top:
        raise UnreadableFileError(f"{file.name} is not text; save it as CSV in UTF-8 and give that")
    return str(top.decode("utf-8-sig", errors="replace"))


def _files(path: str) -> Iterator[Path]:
    """Yield files that a path, glob or folder means; of a folder those that may have no line of names."""
    place = given_path(path)
    if place.is_dir():
        entries = sorted(islice(place.rglob("*"), _ENTRIES))
        yield from (
            one for one in entries if ending_of(one) in _ENDINGS and one.is_file() and not hidden(one, place)
        )
    elif place.is_file():
        yield place
    elif glob.has_magic(path):
        yield from sorted(one for one in islice(matching(path), _ENTRIES) if one.is_file())
