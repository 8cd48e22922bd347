"""Two releases of the same people linked, and how often that is right, by what their owner knows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE
from tripcloak.ground.manifest import public_part, read_manifest, release_folder
from tripcloak.ground.progress import Progress, silent
from tripcloak.trajectories.attacks.linking import Links, ReleasedSamples, link

FEWEST = 10
"""People that must be in both releases for shares of them to say something."""


@dataclass(frozen=True, kw_only=True)
class LinkedReleases:
    """How well the people of two releases are linked, either way; for the eyes of the data owner.

    Attributes
    ----------
    names : tuple of str
        What the releases are called.
    ways : tuple of Links
        From the first to the second, and back.
    """

    names: tuple[str, str]
    ways: tuple[Links, Links]

    @property
    def risk(self) -> float:
        """Return the share of people whose right trajectory fits best, the better way of both."""
        return max(one.within(1) for one in self.ways)

    @property
    def chance(self) -> float:
        """Return what a blind guess would find."""
        return max(one.chance for one in self.ways)

    def words(self) -> str:
        """Return the result in a sentence.

        >>> found = Links(200, np.array([0, 3]), np.array([1, 1]))
        >>> LinkedReleases(names=("may", "june"), ways=(found, found)).words()
        'Of 2 people in both releases 50.0 % are matched first by the places they come back to; by chance it
        would be 0.50 %.'
        """
        people = len(self.ways[0].better)
        return (
            f"Of {people:,} people in both releases {100 * self.risk:.1f} % are matched first by the places "
            f"they come back to; by chance it would be {100 * self.chance:.2f} %."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        ways = ((self.names, self.ways[0]), (self.names[::-1], self.ways[1]))
        return {
            "verdict": self.words(),
            "releases": list(self.names),
            "risk": self.risk,
            "chance": self.chance,
            "ways": [{"from": names[0], "to": names[1], **links.summary()} for names, links in ways],
        }


def link_releases(one: Path, other: Path, *, progress: Progress = silent) -> LinkedReleases:
    """Return how often the people of two releases of trajectories are found in the other one.

    The public files are what is attacked; the private parts say which guesses were right.

    Parameters
    ----------
    one, other
        The folders of both releases.
    """
    folders = (one, other)
    progress("reading releases", 0, None)
    read = [_read(folder) for folder in folders]
    people = [_people(folder, names) for folder, (_, names) in zip(folders, read, strict=True)]
    both = sorted(set(people[0]) & set(people[1]))
    if len(both) < FEWEST:
        raise InputError(
            f"fewer than {FEWEST} people are in both releases, so that there is nothing to measure: give two "
            "releases in which people have the same ids"
        )
    pairs = tuple(np.array([known[person] for person in both]) for known in people)
    progress("linking people", 0, None)
    samples = [found for found, _ in read]
    there = link(samples[0], samples[1], (pairs[0], pairs[1]))
    back = link(samples[1], samples[0], (pairs[1], pairs[0]))
    named = [release_folder(folder).resolve().name for folder in folders]
    names = named if named[0] != named[1] else [str(folder) for folder in folders]
    return LinkedReleases(names=(names[0], names[1]), ways=(there, back))


def _read(folder: Path) -> tuple[ReleasedSamples, dict[str, int]]:
    """Return the released samples, and the number of every pseudonym."""
    from pyarrow import parquet

    read_manifest(folder, "trajectories")
    try:
        table = parquet.read_table(public_part(folder).absolute() / "samples.parquet")
        names, trajectory = np.unique(
            np.asarray(table["trajectory"].to_pylist(), dtype=np.str_), return_inverse=True
        )
        start, end = (
            table[name].to_numpy().astype("datetime64[s]").astype(np.float64) for name in ("t_start", "t_end")
        )
        west, south, east, north = (
            table[name].to_numpy() for name in ("lon_min", "lat_min", "lon_max", "lat_max")
        )
        samples = ReleasedSamples(trajectory, start, end, west, south, east, north, len(names))
    except (KeyError, TypeError, ValueError, OSError):
        raise InputError(f"{folder}: the released samples cannot be read; check it first") from None
    return samples, {str(name): number for number, name in enumerate(names)}


def _people(folder: Path, names: dict[str, int]) -> dict[str, int]:
    """Return the released trajectory of every person, as the private part says."""
    from pyarrow import parquet

    path = release_folder(folder).absolute() / PRIVATE / "mapping.parquet"
    if not path.is_file():
        raise InputError(
            f"{folder} lacks its private part: whose trajectory is whose must be known to say how often a "
            "guess is right; give the folder that holds both parts"
        )
    try:
        rows = parquet.read_table(path.absolute())
        users, trajectories = (rows[name].to_pylist() for name in ("user", "trajectory"))
    except (KeyError, ValueError, OSError):
        raise InputError(f"{folder}: private/mapping.parquet cannot be read") from None
    return {
        str(user): names[trajectory]
        for user, trajectory in zip(users, trajectories, strict=True)
        if trajectory in names
    }
