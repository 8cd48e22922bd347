"""Methods on the same trajectories, side by side: the paper's table II on any input."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tripcloak.comparing.rows import timed
from tripcloak.ground.errors import TripcloakError
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.measures import sample_errors
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.reading import ReadTrajectories, TrajectorySource, read_trajectories

REHEARSED = 12
"""People of the run that comes before the one that is measured."""


@dataclass(frozen=True, kw_only=True)
class TrajectoryRow:
    """One method: what it took, how far its samples are from the original ones, and whether it is safe.

    ``reason`` says why there is no release; everything else is None then. Errors are means over samples
    that were not deleted, ``created`` and ``deleted`` shares of all samples.
    """

    method: str
    k: int
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
    safe: bool | None = None
    smallest_support: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class TrajectoryComparison:
    """Every method on one input; for the eyes of the data owner, not for publishing."""

    reading: ReadTrajectories
    rows: tuple[TrajectoryRow, ...]

    def __repr__(self) -> str:
        return f"<TrajectoryComparison: {', '.join(row.method for row in self.rows)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
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
        return TrajectoryRow(method=method.name, k=method.k, reason=str(error))
    progress(f"checking {method.name}", 0, None)
    audit, errors = audit_release(trajectories, release), sample_errors(trajectories, release)
    return TrajectoryRow(
        method=method.name,
        k=method.k,
        promise=release.promise.kind,
        seconds=cost.wall_s,
        cpu_seconds=cost.cpu_s,
        memory_mb=cost.peak_mb,
        spatial_km=errors.spatial_km.mean,
        time_minutes=errors.time_minutes.mean,
        created=errors.created,
        deleted=errors.deleted,
        deleted_users=errors.deleted_users,
        safe=audit.safe,
        smallest_support=audit.smallest_support,
    )


def _rehearse(method: TrajectoryMethod, trajectories: Trajectories) -> None:
    """Run the method on a few people, so that loading and compiling its code is not taken for its work."""
    few = min(trajectories.n_users, max(REHEARSED, 2 * method.k))
    # So few people may not do for the method; what it says of all of them is what counts.
    with suppress(TripcloakError):
        method.anonymise(trajectories.take(np.arange(few)))
