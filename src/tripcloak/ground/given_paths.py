"""Paths as people write them: what ~, patterns and file:/// mean where no shell has seen them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt


def given_path(given: str | os.PathLike[str]) -> Path:
    """Return where a path points: what exists under a name is that, and only else does ~ mean a home.

    A shell leaves ~ alone in quotes and after ``--out=``, and Python always does.

    Examples
    --------
    >>> given_path("data/trips.csv")
    PosixPath('data/trips.csv')
    >>> given_path("~/trips.csv") == Path.home() / "trips.csv"
    True
    >>> given_path("file:///data/trips.csv")
    PosixPath('/data/trips.csv')
    """
    place = Path(given)
    if os.path.lexists(place):
        return place
    if (here := path_of_address(os.fspath(given))) is not None:
        return Path(here)
    try:
        return place.expanduser()
    except RuntimeError:
        # Nobody of that name: as in a shell, it is a name like any other.
        return place


def path_of_address(given: str) -> str | None:
    """Return the path that an address with file: means on this machine; None where a text is none.

    Examples
    --------
    >>> path_of_address("file:///data/May%201/*.csv"), path_of_address("trips.csv")
    ('/data/May 1/*.csv', None)
    >>> path_of_address("file://server/trips.csv")
    Traceback (most recent call last):
    ...
    tripcloak.InputError: file://server/ is another machine; a file of this one is file:///path, or its path
    """
    if (found := _FILE.fullmatch(given)) is None:
        return None
    if found[1] not in (None, "", "localhost"):
        raise InputError(
            f"file://{found[1]}/ is another machine; a file of this one is file:///path, or its path"
        )
    return unquote(found[2])


def address_among(given: str | os.PathLike[str]) -> str | None:
    """Return the scheme of an address on another file system; None where a text is a path of this one.

    Examples
    --------
    >>> address_among("hdfs://namenode/out"), address_among("out"), address_among("file:///data/out")
    ('hdfs', None, None)
    """
    found = _ELSEWHERE.match(os.fspath(given))
    if found is None or found[1].lower() == "file" or os.path.lexists(found[0].rstrip("/")):
        return None
    return found[1].lower()


_FILE = re.compile(r"file:(?://([^/]*))?(/.*)", re.IGNORECASE | re.DOTALL)
_ELSEWHERE = re.compile(r"([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)
"""How an address begins, also where one of two strokes was lost by making a path of it."""


def matching(given: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield what a pattern matches, in no order; folders in it that exist under their names are those.

    Examples
    --------
    >>> list(matching("no such folder/*.csv"))
    []
    """
    place = given_path(given)
    there = next((folder for folder in place.parents if folder.is_dir()), Path())
    rest = place.relative_to(there)
    return (Path(name) for name in glob.iglob(str(Path(glob.escape(str(there))) / rest), recursive=True))


def output_path(given: str | os.PathLike[str]) -> Path:
    """Return where output goes, or raise where that would surprise: in a home itself, or beside it.

    Examples
    --------
    >>> output_path("~")
    Traceback (most recent call last):
    ...
    tripcloak.InputError: the output would lie among all else in your home folder; give it a folder of its
    own, such as out='~/release'
    >>> output_path("s3://bucket/release")
    Traceback (most recent call last):
    ...
    tripcloak.InputError: expected a path of this machine to write to, and found an address with s3://. ...
    """
    if (scheme := address_among(given)) is not None:
        raise InputError(
            f"expected a path of this machine to write to, and found an address with {scheme}://. Releases "
            f"of trips and of trajectories go to one with {spelt('engine', 'spark')}; else write to a path "
            f"({spelt('out', 'DIR')}), and put the folder there afterwards"
        )
    written, place = Path(given), given_path(given)
    if place != written and os.path.lexists(written.parts[0]):
        raise InputError(
            f"{written} may mean your home folder or the folder called {written.parts[0]} here; write "
            f"{spelt('out', str(place))} or {spelt('out', str(written.absolute()))}"
        )
    if place.is_dir() and place.absolute() == Path.home():
        raise InputError(
            "the output would lie among all else in your home folder; give it a folder of its own, such as "
            f"{spelt('out', '~/release')}"
        )
    return place
