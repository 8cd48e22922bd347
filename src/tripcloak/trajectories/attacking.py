"""Attacks with partial knowledge on an input and on the release made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripcloak.ground.errors import InputError
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.trajectories.attacks import ATTACKS, attack
from tripcloak.trajectories.checking import read_as_released, refuse_options
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease

SAID_ALREADY = {"kind", "knowledge", "against"}


@dataclass(frozen=True, kw_only=True)
class AttackPlan:
    """Which attackers there are, and how much they know.

    Attributes
    ----------
    kinds : tuple of str
        Attacks, see :data:`ATTACKS`.
    known : tuple of int
        How many samples, places or hours are known; each attack's own number if empty.
    tolerance, precision, people, seed
        See :func:`tripcloak.trajectories.attacks.attack`.
    """

    kinds: tuple[str, ...] = ("points",)
    known: tuple[int, ...] = ()
    tolerance: float = 0.0
    precision: str = "hour"
    people: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.kinds if kind not in ATTACKS]
        if unknown or not self.kinds:
            raise InputError(f"no such attack (--kind); expected some of {', '.join(ATTACKS)}, or all")
        if any(number < 1 for number in self.known):
            raise InputError("an attacker knows one thing or more (--known)")


@dataclass(frozen=True)
class AttackRow:
    """One attacker: what he finds among the original trajectories, and among the released ones.

    Without a number of known things the attacker knows all; ``before`` is None where only a release is
    attacked.
    """

    kind: str
    knowledge: int | None
    unit: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


def attack_trajectories(
    source: TrajectorySource,
    plan: AttackPlan,
    *,
    release: Path | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> tuple[AttackRow, ...]:
    """Return what every attacker of a plan finds, in shares and quantiles over people.

    Parameters
    ----------
    release
        A release folder made from this input, which is then read as it was for the release.
    """
    trajectories, released = _opened(source, release, memory, progress)
    attackers = [(kind, known) for kind in plan.kinds for known in (plan.known or (ATTACKS[kind].known,))]
    rows = []
    for done, (kind, known) in enumerate(attackers):
        progress("attacking", done, len(attackers))
        rows.append(_row(trajectories, released, kind, known, plan))
    return tuple(rows)


def all_or_some(kinds: Sequence[str], *, released: bool) -> tuple[str, ...]:
    """Return the attacks that are meant: all that there can be, with a release or without, or those named.

    >>> len(all_or_some(["all"], released=True)), len(all_or_some(["all"], released=False))
    (13, 11)
    >>> all_or_some(["points"], released=False)
    ('points',)
    """
    if list(kinds) != ["all"]:
        return tuple(kinds)
    return tuple(name for name, found in ATTACKS.items() if released or not found.released)


def _opened(
    source: TrajectorySource, release: Path | None, memory: Memory, progress: Progress
) -> tuple[Trajectories, TrajectoryRelease | None]:
    if release is not None:
        refuse_options(source)
        return read_as_released(release, source.paths, memory=memory, progress=progress)
    return read_trajectories(source, memory=memory, progress=progress).trajectories, None


def _row(
    trajectories: Trajectories,
    release: TrajectoryRelease | None,
    kind: str,
    known: int | None,
    plan: AttackPlan,
) -> AttackRow:
    def found(attacked: TrajectoryRelease | None) -> dict[str, Any]:
        result = attack(
            trajectories,
            kind,
            knowledge=known,
            release=attacked,
            tolerance=plan.tolerance,
            precision=plan.precision,
            people=plan.people,
            seed=plan.seed,
        )
        return {name: value for name, value in result.summary().items() if name not in SAID_ALREADY}

    after = None if release is None else found(release)
    before = None if release is not None and ATTACKS[kind].released else found(None)
    return AttackRow(kind, known, ATTACKS[kind].unit, before, after)
