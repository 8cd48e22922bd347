"""NoisyTrajectoryMethod: trajectories that are made up from noisy numbers, and what the noise spends."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError, InternalError
from tripcloak.ground.noise import (
    NoiseSource,
    OpenDPNoise,
    in_chunks,
    laplace_cost,
    require_opendp,
    searched_scale,
)
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.promises import NoisePart, TrajectoryNoise, TrajectoryPrivacy, TrajectoryPromise
from tripcloak.promises.counted import ones_of
from tripcloak.promises.trajectory_privacy import WINDOWED
from tripcloak.trajectories.methods.cells import ABOUT_CELL, ABOUT_INTERVAL, check_lengths
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.methods.noise.units import UnitOfPrivacy
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import (
    Boxes,
    TrajectoryRelease,
    TrajectorySolution,
    build_trajectory_release,
)

MOST_PARTS = 199
"""Sets of noisy numbers that share one epsilon at most; each gets too little long before."""

LARGEST_SCALE = 2.0**50
"""Noise of this scale or more leaves nothing, and is no whole number of 64 bits for long."""


@dataclass(frozen=True, kw_only=True)
class NoisyTrajectoryMethod(TrajectoryMethod):
    """A method that makes trajectories up from noisy numbers, so that nobody can tell who was in the input.

    The noise is OpenDP's and is drawn anew every time, without a seed: whoever knew the seed could take it
    off again.
    """

    makes: ClassVar[type[TrajectoryPromise]] = TrajectoryPrivacy

    epsilon: float = option(1.0, help="Privacy budget of the release.", metavar="EPSILON")
    unit: str = option(
        "user",
        help="What is hidden: a user with everything, a visit, a window of slots or visits, a place.",
        metavar="NAME",
        values=("user", "event", "w-event", "l-trajectory", "element"),
    )
    window: int = option(
        3, help="How many slots a w-event has, or visits an l-trajectory.", metavar="N", least=1
    )
    cell: int = option(2000, **ABOUT_CELL)
    interval: int = option(14400, **ABOUT_INTERVAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_lengths(self.cell, self.interval)
        assert self.promise

    @property
    def hides(self) -> UnitOfPrivacy:
        """Return what is hidden."""
        return UnitOfPrivacy(self.unit, self.window if self.unit in WINDOWED else None)

    @property
    def promise(self) -> TrajectoryNoise:
        """Return what is promised, but for the parts of the noise, which the period of the input decides."""
        return TrajectoryPrivacy(epsilon=self.epsilon, unit=self.unit, window=self.hides.window)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that play a part: not every unit has a window."""
        left_out = set() if self.unit in WINDOWED else {"window"}
        return {name: value for name, value in super().parameters().items() if name not in left_out}

    def makes_such(self, promise: TrajectoryPromise) -> bool:
        """Return whether this method makes such a promise, whatever the parts of its noise are."""
        bare = replace(promise, parts=()) if promise.made_up else promise  # type: ignore[call-arg]
        return super().makes_such(bare)

    def anonymise(
        self, trajectories: Trajectories, progress: Progress = silent, *, noise: NoiseSource | None = None
    ) -> TrajectoryRelease:
        """Return made-up trajectories, or raise an error that says what is possible.

        Parameters
        ----------
        noise
            Where noise comes from; OpenDP by default, and nothing else is private.
        """
        require_opendp()
        if trajectories.n_users < self.fewest:
            several = ones_of(trajectories.id_is).several
            raise ImpossibleRequestError(
                f"not possible: noise needs {self.fewest} {several} or more to hide somebody among, and the "
                f"input has fewer; bring more {several}"
            )
        started = time.perf_counter()
        parts = self.planned(trajectories)
        solution = self.draw(trajectories, Drawing(parts, noise or OpenDPNoise(), progress))
        return build_trajectory_release(
            trajectories,
            solution,
            promise=replace(self.promise, parts=parts).of_ids(trajectories.id_is),
            method=self.name,
            parameters=self.parameters(),
            seconds=time.perf_counter() - started,
        )

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Raise: what is released follows from noise, and is nobody's."""
        raise InternalError(f"{self.name} draws noise, and solves nothing")

    def cost_of_a_user(self, trajectories: Trajectories) -> float:
        """Return the epsilon that a whole user spends by the noise that is planned, whatever unit it hides.

        Who hides a visit alone spends more of a user, who has many: each number changes by all of them.
        """
        if self.unit == "user":
            return self.epsilon
        whole = replace(self, unit="user").planned(trajectories)
        costs = [
            laplace_cost(of_user.changes, part.scale)
            for of_user, part in zip(whole, self.planned(trajectories), strict=True)
        ]
        return math.fsum(costs)

    @abstractmethod
    def planned(self, trajectories: Trajectories) -> tuple[NoisePart, ...]:
        """Return which noisy numbers there will be, and what each of them spends; epsilon in all."""

    @abstractmethod
    def draw(self, trajectories: Trajectories, drawing: Drawing) -> TrajectorySolution:
        """Return trajectories made up from numbers with the noise that was planned."""


@dataclass
class Drawing:
    """Noise that is drawn as it was planned, part by part: each once, in its turn."""

    parts: tuple[NoisePart, ...]
    source: NoiseSource
    progress: Progress
    drawn: int = 0

    def noisy(self, exact: Ints) -> Ints:
        """Return the numbers of the next part with its noise."""
        part = self.parts[self.drawn]
        self.drawn += 1
        return in_chunks(
            lambda some: self.source.laplace(
                some, scale=part.scale, sensitivity=part.changes, epsilon=part.epsilon
            ),
            exact,
            self.progress,
        )

    @property
    def next_scale(self) -> float:
        """Return the scale of the noise of the next part."""
        return self.parts[self.drawn].scale


def shared_budget(
    epsilon: float, names: Sequence[tuple[str, int]], shares: Sequence[float]
) -> tuple[NoisePart, ...]:
    """Return parts that share an epsilon, with the noise that OpenDP says each of them takes.

    Parameters
    ----------
    epsilon
        What all may spend.
    names
        What each is called, and by how much what is hidden changes its numbers, added up.
    shares
        Which share each of them gets.
    """
    if len(names) > MOST_PARTS:
        raise ImpossibleRequestError(
            f"not possible: {len(names):,} sets of noisy numbers would share epsilon, and there may be "
            f"{MOST_PARTS}; count fewer visits of everybody ({spelt('length', 4)})"
        )
    budgets = [epsilon * share for share in shares]
    if any(changes / LARGEST_SCALE > budget for (_, changes), budget in zip(names, budgets, strict=True)):
        raise ImpossibleRequestError(
            f"not possible: an epsilon of {epsilon:g} takes noise beyond all numbers; choose a larger epsilon"
        )
    # Rounding must not make it more than was promised.
    while sum(budgets) > epsilon:
        budgets = [np.nextafter(budget, 0.0) for budget in budgets]
    scales: dict[tuple[int, float], float] = {}
    parts: list[NoisePart] = []
    for (name, changes), budget in zip(names, budgets, strict=True):
        asked = changes, float(budget)
        if asked not in scales:
            scales[asked] = searched_scale(*asked)
        parts.append(NoisePart(name, float(budget), changes, scales[asked]))
    return tuple(parts)


FURTHER = "a larger reach where people are further than that from the middle of the area"
"""What noise lets no method see: it leaves out, or moves, whoever is beyond its reach."""


def nothing_left(what: str, *, instead: str) -> ImpossibleRequestError:
    """Return the error that nothing stands out of the noise, in a method's own words."""
    return ImpossibleRequestError(
        f"not possible: with so much noise nothing is left ({what}). Choose a larger epsilon, {instead}, or "
        "bring more people"
    )


def made_up(
    trajectories: Trajectories, offsets: Ints, boxes: Boxes, facts: dict[str, Any]
) -> TrajectorySolution:
    """Return a solution whose trajectories are nobody's."""
    if len(offsets) < 2:
        raise nothing_left(
            "an empty prefix tree", instead="wider cells, longer slots, fewer visits of everybody"
        )
    nobody = np.full(trajectories.n_users, -1, np.int64)
    return TrajectorySolution(offsets, boxes, nobody, np.full(trajectories.n_samples, -1, np.int64), facts)
