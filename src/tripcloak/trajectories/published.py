"""PublishedTrajectories: a release of trajectories as its readers have it, under pseudonyms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tripcloak.arrays import Ints
from tripcloak.trajectories.grid import Grid
from tripcloak.trajectories.release import Boxes


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedTrajectories:
    """Generalised trajectories by pseudonym; nothing here tells who they are of.

    Attributes
    ----------
    grid : Grid
        What the steps of the boxes mean.
    pseudonyms : array of str
        The name of each trajectory, ascending.
    offsets : array of int64
        Where the boxes of each trajectory begin; one more than there are.
    boxes : Boxes
        Generalised samples of all trajectories, by time within each.
    manifest : mapping
        What the release says of itself.
    """

    grid: Grid
    pseudonyms: Any
    offsets: Ints
    boxes: Boxes
    manifest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_released(self) -> int:
        """Return the number of trajectories."""
        return len(self.offsets) - 1

    @property
    def n_boxes(self) -> int:
        """Return the number of generalised samples."""
        return len(self.boxes.t0)
