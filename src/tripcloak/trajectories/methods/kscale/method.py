"""k-scale: k-anonymous trajectories without deleting or inventing a sample (Mishra and Fiore 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tripcloak.ground.errors import InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.threads import processors
from tripcloak.trajectories.methods.kmerge import merge_sets
from tripcloak.trajectories.methods.kscale.constraints import CONSTRAINTS, MergeSets, pick_together
from tripcloak.trajectories.methods.kscale.costs import sparse_costs
from tripcloak.trajectories.methods.method import ABOUT_JOBS, TrajectoryMethod
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution

PER_K = 100
"""Neighbours looked at for each of k, unless said otherwise (Mishra and Fiore 2025, III-C)."""

LEAST = 1000
"""Neighbours looked at in any case, where nothing is said: the proxy knows nothing of time."""

CHOICE = 200
"""Partners among whom people choose together: so many over k, since merges grow with k; 4 k at least."""


@dataclass(frozen=True, kw_only=True)
class KScale(TrajectoryMethod):
    """k-scale (Mishra and Fiore 2025).

    Parameters
    ----------
    neighbours
        How many candidates each trajectory has: its nearest ones by the proxy distance. 100 k if not
        given, and 1,000 at least.
    constraint
        ``nu-k-pick``: each trajectory is merged into k - 1 others, its cheapest. ``k-pick``: everybody
        also picks k - 1 others. ``full``: disjoint clusters, whose members are released as one and the same.
    picking
        How nu-k-pick is met. ``together`` (ours): each pick counts what its picker holds already.
        ``alone`` (the paper's method 1): each trajectory goes by the costs of pairs.
    jobs
        Threads that work at a time; all there are if not given. The release does not depend on it.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> made = Trajectories.of(
    ...     user=[0, 0, 1, 1, 2, 2], t=[0, 9, 1, 9, 0, 8], x=[5, 0, 6, 0, 5, 1], y=[0] * 6, grid=Grid()
    ... )
    >>> release = KScale(k=2).anonymise(made)
    >>> release.n_released, int(release.deleted.sum()), int(release.created.sum())
    (3, 0, 0)
    """

    name: ClassVar[str] = "k-scale"
    summary: ClassVar[str] = "merges each trajectory with similar ones; nothing deleted, nothing invented"
    source: ClassVar[str] = "Mishra and Fiore 2025, k-scale"

    neighbours: int | None = option(
        None,
        help="Candidates looked at for each person.",
        unset="100 k, 1,000 at least",
        metavar="N",
    )
    constraint: str = option(
        "nu-k-pick",
        help="Who is merged with whom.",
        metavar="NAME",
        values=("nu-k-pick", "k-pick", "full"),
    )
    picking: str = option(
        "together",
        help="How nu-k-pick is met: with an eye on the others or, as in the paper, by pairs.",
        metavar="NAME",
        values=("together", "alone"),
    )
    jobs: int | None = option(None, **ABOUT_JOBS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.neighbours is not None and self.neighbours < self.k - 1:
            raise InputError(
                f"each trajectory needs k - 1 = {self.k - 1} candidates or more; "
                f"raise the number of neighbours, which is {self.neighbours}"
            )

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return each trajectory merged with those it picked."""
        neighbours = min(self.neighbours or max(LEAST, PER_K * self.k), trajectories.n_users - 1)
        jobs = processors(self.jobs)
        together = self.constraint == "nu-k-pick" and self.picking == "together"
        kept = neighbours
        if self.constraint == "nu-k-pick":
            kept = min(neighbours, max(CHOICE // self.k, 4 * self.k)) if together else self.k - 1
        costs = sparse_costs(
            trajectories, neighbours=neighbours, kept=kept, by_total=together, jobs=jobs, progress=progress
        )
        if together:
            sets = pick_together(trajectories, costs, self.k, jobs=jobs, progress=progress)
        else:
            sets = CONSTRAINTS[self.constraint](costs, self.k)
        progress("merging trajectories", 0, None)
        offsets, boxes, box_of, _ = merge_sets(trajectories, sets.offsets, sets.members, jobs=jobs)
        facts = {"neighbours": neighbours, "pairs": costs.facts(), "sets": _set_facts(sets)}
        return TrajectorySolution(offsets, boxes, np.arange(trajectories.n_users), box_of, facts)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that play a part: only nu-k-pick can be met in two ways."""
        left_out = set() if self.constraint == "nu-k-pick" else {"picking"}
        return {name: value for name, value in super().parameters().items() if name not in left_out}


def _set_facts(sets: MergeSets) -> dict[str, Any]:
    """Return how many trajectories are merged into one."""
    sizes = np.diff(sets.offsets)
    return {"unpicked": sets.unpicked, "mean_size": float(sizes.mean()), "largest": int(sizes.max())}
