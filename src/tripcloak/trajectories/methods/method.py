"""The contract every method on trajectories keeps: frozen parameters, one verb, a release or an error."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tripcloak.ground.errors import InputError
from tripcloak.ground.options import check_options, declared_options
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Containment, TrajectoryPromise
from tripcloak.promises.counted import ones_of
from tripcloak.trajectories.methods.dropped import cover_dropped
from tripcloak.trajectories.model import Trajectories, too_few_people
from tripcloak.trajectories.release.release import (
    TrajectoryRelease,
    TrajectorySolution,
    build_trajectory_release,
)

if TYPE_CHECKING:
    from tripcloak.engines.spark import Cluster

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
    """A method and its parameters. Pure: same samples, same release, but for noise where that protects."""

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    makes: ClassVar[type[TrajectoryPromise]]
    """The promise it makes; its parameters say the rest."""

    def __post_init__(self) -> None:
        check_options(self)
        jobs = getattr(self, "jobs", None)
        if jobs is not None and jobs < 1:
            raise InputError(f"jobs is a number of threads, 1 or more; got {jobs}")

    @classmethod
    def asked(cls, k: int | None, **own: Any) -> Self:
        """Return the method with its own options, and with the k that was asked for, if it has one."""
        return cls(**own)

    def anonymise(self, trajectories: Trajectories, progress: Progress = silent) -> TrajectoryRelease:
        """Return a release of the trajectories, or raise an error that says what is possible."""
        if trajectories.n_users < self.fewest:
            raise too_few_people(self.fewest, ones_of(trajectories.id_is).several)
        started = time.perf_counter()
        solution = self.finished(trajectories, self.solve(trajectories, progress))
        return build_trajectory_release(
            trajectories,
            solution,
            promise=self.promise.of_ids(trajectories.id_is),
            method=self.name,
            parameters=self.parameters(),
            seconds=time.perf_counter() - started,
        )

    def require_cluster(self) -> None:
        """Raise unless a cluster can share the work."""
        raise InputError(
            f"{self.name} works on one machine; on a cluster there is k-scale with the constraint nu-k-pick "
            f"or k-pick; leave out {spelt('engine', 'spark')}"
        )

    def on_cluster(self, cluster: Cluster) -> TrajectoryMethod:
        """Return the method as a cluster does it, or raise where there is none."""
        self.require_cluster()
        return self

    def finished(self, trajectories: Trajectories, solution: TrajectorySolution) -> TrajectorySolution:
        """Return the solution as it is released; mostly as it is."""
        return solution

    @property
    def fewest(self) -> int:
        """Return the fewest people of whom there can be a release."""
        return 2

    @property
    def hidden_among(self) -> int | None:
        """Return k; None where it is not numbers of others that hide people."""
        return None

    @property
    def promise(self) -> TrajectoryPromise:
        """Return what a release by this method is held to."""
        # Whose the trajectories are, only the input can say.
        return self.makes(**{f.name: getattr(self, f.name) for f in fields(self.makes) if f.name != "id_is"})

    def makes_such(self, promise: TrajectoryPromise) -> bool:
        """Return whether this is what the method promises, of whatever ids."""
        return repr(self.promise.of_ids(str(promise.id_is))) == repr(promise)

    @abstractmethod
    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return the released trajectories. There are as many people as it takes."""

    def parameters(self) -> dict[str, Any]:
        """Return the method's own parameters, beyond k; how many threads work is none."""
        left_out = {"k"}
        left_out |= {one.name for one in declared_options(self) if one.same_result}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}


@dataclass(frozen=True, kw_only=True)
class HidingMethod(TrajectoryMethod):
    """A method that hides people among k of something.

    Parameters
    ----------
    k
        The number among which each person is hidden: released trajectories, or people in a box.
    """

    makes: ClassVar[type[TrajectoryPromise]] = Containment

    k: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        Containment(k=self.k)

    @classmethod
    def asked(cls, k: int | None, **own: Any) -> Self:
        """Return the method with its own options and this k."""
        return cls(**own) if k is None else cls(k=k, **own)

    @property
    def hidden_among(self) -> int:
        """Return k."""
        return self.k

    @property
    def fewest(self) -> int:
        """Return k: nobody hides among more than there are."""
        return self.k

    def finished(self, trajectories: Trajectories, solution: TrajectorySolution) -> TrajectorySolution:
        """Return the solution with boxes widened for what reading dropped, where k hold all of a person."""
        return cover_dropped(trajectories, solution, self.k) if self.promise.contains else solution
