"""The contract every method on trajectories keeps: frozen parameters, one verb, a release or an error."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from tripcloak.ground.errors import InputError
from tripcloak.ground.options import check_options, declared_options
from tripcloak.ground.progress import Progress, silent
from tripcloak.promises import Containment, TrajectoryPromise
from tripcloak.promises.counted import ones_of
from tripcloak.trajectories.methods.dropped import cover_dropped
from tripcloak.trajectories.model import Trajectories, too_few_people
from tripcloak.trajectories.release.release import (
    TrajectoryRelease,
    TrajectorySolution,
    build_trajectory_release,
)

ABOUT_JOBS: dict[str, Any] = {
    "help": "Threads; the result is the same.",
    "unset": "one a core",
    "metavar": "N",
    "same_result": True,
}
ABOUT_DEVICE: dict[str, Any] = {
    "help": "What works; the result is the same.",
    "metavar": "NAME",
    "values": ("auto", "cpu", "gpu"),
    "same_result": True,
}


@dataclass(frozen=True, kw_only=True)
class TrajectoryMethod(ABC):
    """A method and its parameters. Pure and deterministic: same samples, same release.

    Parameters
    ----------
    k
        The number of released trajectories among which each person's is hidden.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    makes: ClassVar[type[TrajectoryPromise]] = Containment
    """The promise it makes; of which k, and of which distance, its parameters say."""

    k: int = 2

    def __post_init__(self) -> None:
        check_options(self)
        Containment(k=self.k)
        jobs = getattr(self, "jobs", None)
        if jobs is not None and jobs < 1:
            raise InputError(f"jobs is a number of threads, 1 or more; got {jobs}")

    def anonymise(self, trajectories: Trajectories, progress: Progress = silent) -> TrajectoryRelease:
        """Return a release of the trajectories, or raise an error that says what is possible."""
        if trajectories.n_users < self.k:
            raise too_few_people(self.k, ones_of(trajectories.id_is).several)
        started = time.perf_counter()
        solution = self.solve(trajectories, progress)
        if not self.promise.moves_samples:
            solution = cover_dropped(trajectories, solution, self.k)
        return build_trajectory_release(
            trajectories,
            solution,
            promise=replace(self.promise, id_is=trajectories.id_is),
            method=self.name,
            parameters=self.parameters(),
            seconds=time.perf_counter() - started,
        )

    @property
    def promise(self) -> TrajectoryPromise:
        """Return what a release by this method is held to."""
        # Whose the trajectories are, only the input can say.
        return self.makes(**{f.name: getattr(self, f.name) for f in fields(self.makes) if f.name != "id_is"})

    @abstractmethod
    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return the released trajectories. There are k people or more."""

    def parameters(self) -> dict[str, Any]:
        """Return the method's own parameters, beyond k; how many threads work is none."""
        left_out = {f.name for f in fields(TrajectoryMethod)}
        left_out |= {one.name for one in declared_options(self) if one.same_result}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}
