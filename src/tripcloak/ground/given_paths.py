"""Paths as people write them: what ~ and patterns mean where no shell has seen them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

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
    """
    place = Path(given)
    if os.path.lexists(place):
        return place
    try:
        return place.expanduser()
    except RuntimeError:
        # Nobody of that name: as in a shell, it is a name like any other.
        return place


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
    """
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
