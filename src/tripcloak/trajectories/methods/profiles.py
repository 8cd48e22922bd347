"""Profiles of privacy: what some people ask for beyond what holds for everybody."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Floats
from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.spelling import spelt

ASKED = ("sd", "ld", "dst")
"""What a profile says: two disclosures at most, and a distance at least."""
LARGEST = 1 << 28


@dataclass(frozen=True)
class Profiles:
    """What some people ask for, by their id: short-term and long-term disclosure, and distance.

    Examples
    --------
    >>> asked = Profiles({"ana": (0.2, None, None)})
    >>> asked
    <Profiles of fewer than 10 people>
    >>> asked.of(np.array(["ana", "ben"]), (0.4, 0.25, 2.0)).tolist()
    [[0.2, 0.25, 2.0], [0.4, 0.25, 2.0]]
    """

    by_person: Mapping[str, tuple[float | None, float | None, float | None]] = field(repr=False)

    def __repr__(self) -> str:
        return f"<Profiles of {mask_small(len(self.by_person), 'people')}>"

    def of(self, users: Any, general: tuple[float, float, float]) -> Floats:
        """Return the profile of every person, a row each: their own where they have one.

        Parameters
        ----------
        general
            What holds for everybody.

        Raises
        ------
        InputError
            Somebody asks for less than that, or for what is no profile.
        """
        found = np.tile(np.array(general, np.float64), (len(users), 1))
        for row, user in enumerate(users):
            for column, value in enumerate(self.by_person.get(str(user), ())):
                if value is not None:
                    found[row, column] = value
        loose = (found[:, :2] > general[:2]).any(axis=1) | (found[:, 2] < general[2])
        if loose.any():
            raise InputError(
                f"{spelt('profiles')}: {mask_small(int(loose.sum()), 'people')} ask for less than holds for "
                f"everybody; let the least that anybody asks for hold for everybody "
                f"({spelt('sd')}, {spelt('ld')}, {spelt('dst')})"
            )
        return found

    def strangers(self, users: Any) -> int:
        """Return how many ask for something who are not among some people."""
        return len(set(self.by_person) - {str(user) for user in users})


def read_profiles(path: Path) -> Profiles:
    """Return the profiles of a CSV file: ``person``, and ``sd``, ``ld`` or ``dst``, empty where as for all.

    Raises
    ------
    InputError
        It cannot be read, or a line is none; it says which, and never whose.
    """
    name = f"{spelt('profiles')}: {path.name}"
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{name} has more than {LARGEST:,} bytes")
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise InputError(f"{spelt('profiles')}: {path} cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{name} is no CSV in UTF-8") from None
    columns = set(rows[0]) if rows else set()
    if "person" not in columns or not columns & set(ASKED):
        raise InputError(f"{name} needs a header: person, and what is asked for: {', '.join(ASKED)}")
    found: dict[str, tuple[float | None, float | None, float | None]] = {}
    for line, row in enumerate(rows, start=2):
        person = row["person"]
        if not person or person in found:
            raise InputError(f"{name}: line {line} names nobody, or somebody a second time")
        sd, ld, dst = (_number(row.get(one), one, f"{name}: line {line}") for one in ASKED)
        found[person] = sd, ld, dst
    return Profiles(found)


def _number(text: str | None, what: str, where: str) -> float | None:
    if text is None or not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not (0 < value < 1 if what != "dst" else 0 <= value < np.inf):
        kind = "a number of cells, 0 or more" if what == "dst" else "a share above 0 and below 1"
        raise InputError(f"{where}: {what} is {kind}")
    return value
