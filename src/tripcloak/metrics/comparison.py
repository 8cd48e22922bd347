"""Comparison: a matrix beside its release in one volume; work that several measures need is done once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import ODMatrix, Volume
from tripcloak.release import Release


@dataclass(frozen=True, eq=False)
class Comparison:
    """A matrix and its release, summed in one volume."""

    matrix: ODMatrix
    release: Release
    volume: Volume

    @classmethod
    def of(cls, matrix: ODMatrix, release: Release, volume: Volume | None) -> Comparison:
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
            raise InputError("this release has no population; measure it on trips")
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

    @property
    def shares_zones(self) -> bool:
        """Return whether the released zones are zones of the matrix's own hierarchies."""
        return (
            self.release.origins is self.matrix.origins.zones
            and self.release.destinations is self.matrix.destinations.zones
        )

    @cached_property
    def reconstructed(self) -> Floats:
        """Return, for every input flow, the volume a reader of the release puts on its pair of tiles.

        A group's volume is spread evenly over all its pairs of tiles, so a suppressed flow inside
        the product of a released group's zones gets that group's share. Shares of groups that
        overlap are added up.
        """
        from tripcloak.metrics._kernels import sum_of_covering

        self._require_shared_zones()
        release, flows = self.release, self.matrix.flows
        order = np.lexsort((release.group_destination, release.group_origin))
        origin, destination = release.group_origin[order], release.group_destination[order]
        # As floats: the product of two tile numbers can be larger than 64 bits hold.
        pairs = release.origins.tiles[origin].astype(float) * release.destinations.tiles[destination]
        per_origin = np.bincount(origin, minlength=len(self.matrix.origins))
        return sum_of_covering(
            (flows.origin, flows.destination),
            (_above(self.matrix.origins, origin), _above(self.matrix.destinations, destination)),
            np.concatenate(([0], np.cumsum(per_origin))),
            destination,
            self.released[order] / pairs,
        )

    @cached_property
    def on_empty_pairs(self) -> float:
        """Return the reconstructed volume that falls on pairs of tiles without an input flow."""
        return max(0.0, float(self.released_total - self.reconstructed.sum()))

    def _require_shared_zones(self) -> None:
        if not self.shares_zones:
            raise InputError(
                "this measure spreads released volume over tiles, so it needs released zones that are "
                "zones of the matrix's hierarchies; this method draws zones of its own, "
                "so compare it by the measures in metres instead"
            )


def ratio(part: float, whole: float) -> float | None:
    """Return part / whole, or None where there is no whole to take a part of.

    >>> ratio(1, 4), ratio(0, 0)
    (0.25, None)
    """
    return None if whole == 0 else part / whole


def _above(tree: Hierarchy, zones: Ints) -> Ints:
    from tripcloak.metrics._kernels import next_released

    released = np.zeros(len(tree), dtype=bool)
    released[zones] = True
    return next_released(tree.parent, released)
