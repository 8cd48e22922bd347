"""A matrix beside its release in one volume; work that several measures need is done once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np

from tripcloak.flows.measures.rebuilding import rebuilt
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Floats
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Volume


@dataclass(frozen=True, eq=False)
class ReleaseComparison:
    """A matrix and its release, summed in one volume."""

    matrix: ODMatrix
    release: Release
    volume: Volume

    @classmethod
    def of(cls, matrix: ODMatrix, release: Release, volume: Volume | None) -> ReleaseComparison:
        """Return the comparison in a volume, by default the one the release publishes."""
        chosen = release.volume if volume is None else volume
        if chosen not in get_args(Volume):
            raise InputError(f"volume must be one of {', '.join(get_args(Volume))}; got {chosen!r}")
        if len(release.group_of_flow) != matrix.n_flows:
            raise InputError(
                "this release was not made from this matrix: they have different numbers of flows; "
                "give the matrix that was anonymised"
            )
        if chosen == "population" and release.population is None:
            raise InputError(
                f"this release has no population; measure it on trips: {spelt('volume', 'trips')}"
            )
        return cls(matrix, release, chosen)

    @property
    def original(self) -> Floats:
        """Return the volume of every input flow."""
        return self.matrix.volume(self.volume)

    @property
    def released(self) -> Floats:
        """Return the volume of every released group."""
        return np.asarray(self.release.support(self.volume))

    @cached_property
    def total(self) -> Any:
        """Return V, the volume of the input: a whole number for trips."""
        return self.original.sum().item()

    @cached_property
    def released_total(self) -> Any:
        """Return V+, the volume of the release."""
        return self.released.sum().item()

    @cached_property
    def suppressed_total(self) -> Any:
        """Return the volume withheld."""
        return self.original[self.release.suppressed].sum().item()

    @cached_property
    def reconstructed(self) -> Floats:
        """Return, for every input flow, the volume a reader of the release puts on its cell."""
        return rebuilt(self.matrix, self.release, self.released)

    @cached_property
    def on_empty_cells(self) -> float:
        """Return the reconstructed volume that falls on cells without an input flow."""
        return max(0.0, float(self.released_total - self.reconstructed.sum()))


def ratio(part: float, whole: float) -> float | None:
    """Return part / whole, or None where there is no whole to take a part of.

    >>> ratio(1, 4), ratio(0, 0)
    (0.25, None)
    """
    return None if whole == 0 else part / whole
