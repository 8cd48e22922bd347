"""Methods on the same trajectories, side by side: the paper's table II on any input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tripcloak.comparing.rows import timed
from tripcloak.ground.errors import TripcloakError
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.promises import Promise
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.measures import likeness, sample_errors
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.reading import ReadTrajectories, TrajectorySource, read_trajectories
from tripcloak.trajectories.release.guess import OwnerGuess

REHEARSED = 12
"""People of the run that comes before the one that is measured."""


@dataclass(frozen=True, kw_only=True)
class TrajectoryRow:
    """One method: what it took, how far its samples are from the original ones, and whether it is safe.

    ``reason`` says why there is no release; everything else is None then. Errors are means over samples
    that were not deleted, ``created`` and ``deleted`` shares of all samples. ``guessed`` says of how many
    people in 100 a simple guess by somebody who knows all samples names the right trajectory, and
    ``guessed_blindly`` the same of any guess among those that fit; None where samples are moved, and of few
    people. It ``withstands`` a guess if that is right no more often than one time in k.

    ``places_apart``, ``distances_apart`` and ``moves_apart`` say how far originals and release are apart as
    a whole, 0 the same and 1 nothing in common: there is no other error where trajectories are made up.
    """

    method: str
    k: int | None
    reason: str | None = None
    promise: str | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    memory_mb: float | None = None
    spatial_km: float | None = None
    time_minutes: float | None = None
    created: float | None = None
    deleted: float | None = None
    deleted_users: float | None = None
    places_apart: float | None = None
    distances_apart: float | None = None
    moves_apart: float | None = None
    safe: bool | None = None
    smallest_support: int | None = None
    guessed: int | None = None
    guessed_blindly: int | None = None
    withstands: bool = False

    @property
    def hides(self) -> bool:
        """Return whether it is safe by a promise that whole trajectories hide people."""
        return bool(self.safe and self.promise) and Promise.of_kind(str(self.promise)).contains

    @property
    def made_up(self) -> bool:
        """Return whether its trajectories are nobody's."""
        return bool(self.promise) and Promise.of_kind(str(self.promise)).made_up


@dataclass(frozen=True, kw_only=True, eq=False)
class TrajectoryComparison:
    """Every method on one input; for the eyes of the data owner, not for publishing."""

    reading: ReadTrajectories
    rows: tuple[TrajectoryRow, ...]

    def __repr__(self) -> str:
        return f"<TrajectoryComparison: {', '.join(row.method for row in self.rows)}>"

    @property
    def k(self) -> int:
        """Return the k that was asked for; 0 where no method has one."""
        return next((row.k for row in self.rows if row.k), 0)

    @property
    def best(self) -> TrajectoryRow | None:
        """Return the row to use: it withstands a guess, or else hides people, and its samples moved least."""
        hiding = [row for row in self.rows if row.hides]
        return min([row for row in hiding if row.withstands] or hiding, key=_error, default=None)

    def advice(self) -> str:
        """Return in words which method to use, and why."""
        row = self.best
        if row is None:
            return "Nothing to recommend: no release hides people among whole trajectories."
        minutes = "" if row.time_minutes is None else f" and {_plain(row.time_minutes)} minutes"
        moved = f"samples are moved by {_plain(_error(row))} km{minutes} on average"
        if row.withstands:
            return (
                f"Use {row.method}: of the safe releases in which a simple guess is right no more often than "
                f"one time in k it is the closest; {moved}. None proves how close the best possible is."
            )
        guessed = "is not told of so few people" if row.guessed is None else f"is {row.guessed} in 100"
        return (
            f"Of the safe releases {row.method} is the closest; {moved}. How often a simple guess names the "
            f"right trajectory {guessed}, and one time in k would be {100 / (row.k or 1):.3g}: no release "
            "here withstands a guess."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "recommended": None if self.best is None else self.best.method,
            "advice": self.advice(),
            "users": self.reading.trajectories.n_users,
            "samples": self.reading.trajectories.n_samples,
            "grid": vars(self.reading.trajectories.grid),
            "cleaning": self.reading.cleaning.to_dict(),
            "rows": [asdict(row) for row in self.rows],
            "notes": list(self.reading.notes),
        }


def compare_trajectories(
    source: TrajectorySource,
    methods: Sequence[TrajectoryMethod],
    *,
    memory: Memory = None,
    progress: Progress = silent,
) -> TrajectoryComparison:
    """Return every method's row, one method after the other so that time and memory are its own."""
    reading = read_trajectories(source, memory=memory, progress=progress)
    rows = tuple(_row(method, reading.trajectories, progress) for method in methods)
    return TrajectoryComparison(reading=reading, rows=rows)


def _row(method: TrajectoryMethod, trajectories: Trajectories, progress: Progress) -> TrajectoryRow:
    _rehearse(method, trajectories)
    try:
        release, cost = timed(lambda: method.anonymise(trajectories, progress))
    except TripcloakError as error:
        return TrajectoryRow(method=method.name, k=method.hidden_among, reason=str(error))
    progress(f"checking {method.name}", 0, None)
    audit, errors = audit_release(trajectories, release), sample_errors(trajectories, release)
    guess, alike = guess_owner(trajectories, release), likeness(trajectories, release)
    return TrajectoryRow(
        method=method.name,
        k=method.hidden_among,
        promise=release.promise.kind,
        seconds=cost.wall_s,
        cpu_seconds=cost.cpu_s,
        memory_mb=cost.peak_mb,
        spatial_km=errors.spatial_km.mean,
        time_minutes=errors.time_minutes.mean,
        created=errors.created,
        deleted=errors.deleted,
        deleted_users=errors.deleted_users,
        places_apart=alike.places,
        distances_apart=alike.distances,
        moves_apart=alike.moves,
        safe=audit.safe,
        smallest_support=audit.smallest_support,
        guessed=None if guess is None else guess.right,
        guessed_blindly=None if guess is None else guess.blind,
        withstands=guess is not None and _withstands(guess, method.fewest),
    )


def _withstands(guess: OwnerGuess, k: int) -> bool:
    """Return whether a guess is right no more often than one time in k, as far as it is told.

    >>> [_withstands(OwnerGuess(people=1000, right=right, blind=19), 5) for right in (20, 21, None)]
    [True, False, False]
    >>> _withstands(OwnerGuess(people=60, right=40, blind=40), 3)
    True
    """
    once = OwnerGuess.of([1 / k] * guess.people, [1 / k] * guess.people).right
    return guess.right is not None and once is not None and guess.right <= once


def _plain(number: float) -> str:
    """Return a number with three digits that count, and no power of ten.

    >>> _plain(96_455.2), _plain(0.4123)
    ('96,500', '0.412')
    """
    return f"{float(f'{number:.3g}'):,.10g}"


def _error(row: TrajectoryRow) -> float:
    return math.inf if row.spatial_km is None else row.spatial_km


def _rehearse(method: TrajectoryMethod, trajectories: Trajectories) -> None:
    """Run the method on a few people, so that loading and compiling its code is not taken for its work."""
    few = min(trajectories.n_users, max(REHEARSED, 2 * method.fewest))
    # So few people may not do for the method; what it says of all of them is what counts.
    with suppress(TripcloakError):
        method.anonymise(trajectories.take(np.arange(few)))
