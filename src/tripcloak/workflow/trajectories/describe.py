"""What is in a table of fixes, read as a release would read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripcloak.trajectories.methods.base import Progress, silent
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from tripcloak.trips import CleaningReport
from tripcloak.workflow.reading import engine_memory


@dataclass(frozen=True, kw_only=True)
class TrajectoryDescription:
    """What is in an input; for the eyes of the data owner, not for publishing."""

    facts: Mapping[str, Any]
    cleaning: CleaningReport
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**self.facts, "cleaning": self.cleaning.to_dict(), "notes": list(self.notes)}


def describe_fixes(
    source: TrajectorySource, *, memory: str | None = None, progress: Progress = silent
) -> TrajectoryDescription:
    """Return what is in an input: people, samples, resolution, period, extent, and what was dropped."""
    reading = read_trajectories(source, memory=engine_memory(memory), progress=progress)
    return TrajectoryDescription(facts=reading.facts, cleaning=reading.cleaning, notes=tuple(reading.notes))
