"""What became of the rows of each file: names to call files by, and counts by file and reason."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = "tripcloak_file"
"""The column of a table of several files that says which of them a row is from, counted from 0."""


@dataclass(frozen=True, kw_only=True)
class FileRows:
    """What became of the rows of one file.

    Attributes
    ----------
    name : str
        What the owner knows the file by; a number where names of files are ids of people.
    kept : int
        Rows that were used.
    dropped : mapping
        Rows dropped by the name of the reason, in the order of the rules; no zeros.
    without_id : int, optional
        Rows that were used and have no id, where there is a column of ids.

    Examples
    --------
    >>> FileRows(name="may.csv", kept=95, dropped={"null_island": 5}).rows
    100
    """

    name: str
    kept: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    without_id: int | None = None

    @property
    def rows(self) -> int:
        """Return the number of rows read."""
        return self.kept + sum(self.dropped.values())

    def share(self, reasons: Iterable[str]) -> float:
        """Return the share of the rows that some reasons took."""
        return sum(self.dropped.get(name, 0) for name in reasons) / max(self.rows, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return exact numbers for the private part of a release."""
        without = {} if self.without_id is None else {"without_id": self.without_id}
        return {
            "name": self.name,
            "read": self.rows,
            "kept": self.kept,
            "dropped": dict(self.dropped),
            **without,
        }


def file_names(paths: Sequence[str], *, hidden: bool = False) -> tuple[str, ...]:
    """Return what files are called: their names, with folders where two are named alike.

    Parameters
    ----------
    hidden
        Names of files are ids of people, so that files are numbered.

    Examples
    --------
    >>> file_names(["/data/may.csv", "/data/june.csv"])
    ('may.csv', 'june.csv')
    >>> file_names(["/data/5/trips.csv", "/data/6/trips.csv"])
    ('5/trips.csv', '6/trips.csv')
    >>> file_names(["/data/new_abboip.txt", "/data/new_udwadla.txt"], hidden=True)
    ('file 1 of 2', 'file 2 of 2')
    """
    if hidden:
        return tuple(f"file {number} of {len(paths)}" for number in range(1, len(paths) + 1))
    names = [Path(path).name for path in paths]
    if len(set(names)) == len(names):
        return tuple(names)
    whole = [os.path.abspath(path) for path in paths]
    if len(set(whole)) < len(whole):
        # Tables in memory have no names of their own.
        return tuple(f"{name} ({number})" for number, name in enumerate(names, start=1))
    folder = os.path.commonpath(whole)
    return tuple(Path(os.path.relpath(path, folder)).as_posix() for path in whole)
