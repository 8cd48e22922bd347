"""t-closeness: where people go from one origin must not differ much from where everybody goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises.promise import FlowGroups, Passages, Promise

ROUNDING = 1e-12


class OriginDistances(NamedTuple):
    """The released origin zones, ascending, and how far the destinations of each are from everybody's."""

    zone: Ints
    distance: Floats


@dataclass(frozen=True, kw_only=True)
class TCloseness(Promise):
    """The destinations of every released origin zone are within ``t`` of the destinations of all.

    After Li, Li and Venkatasubramanian (2007), with the released origin as what an attacker knows and
    the destination as what is sensitive, as the ATG paper (section 5) asks for. The distance is their
    earth mover's distance with all destinations equally far apart, which is the total variation: the
    share of an origin's volume that would have to go elsewhere.

    It is not monotone (a union of close origins may be far from the rest), so no search can work with
    it: it is checked on a finished release, and repaired where it fails. It says nothing about people:
    use it together with k-anonymity.

    Examples
    --------
    >>> TCloseness(t=0.3).sentence()
    'the destinations of every origin zone differ from those of all by at most 0.3 (total variation)'
    >>> TCloseness(t=0)
    Traceback (most recent call last):
    tripcloak.InputError: t is a share of the volume, above 0 and below 1; got 0
    """

    kind: ClassVar[str] = "t-closeness"
    joins: ClassVar[bool] = True
    lacks: ClassVar[str] = (
        "t-closeness compares destinations and counts nobody: give it together with k-anonymity"
    )

    t: float = 0.3

    def __post_init__(self) -> None:
        if not 0 < self.t < 1:
            raise InputError(f"t is a share of the volume, above 0 and below 1; got {self.t:g}")

    @property
    def by_release(self) -> tuple[TCloseness, ...]:
        """Return the promise itself."""
        return (self,)

    def safe(self, groups: FlowGroups) -> Bools:
        """Return that every group may be released: it is the whole release that is judged."""
        return np.ones(len(groups), dtype=bool)

    def sentence(self) -> str:
        """Return what is promised, in words."""
        return (
            "the destinations of every origin zone differ from those of all "
            f"by at most {self.t:g} (total variation)"
        )

    def in_full(self) -> Passages:
        """Return what it covers, and what not."""
        return Passages(
            f"**{self.sentence()}**\n",
            "Whoever knows where a trip began learns little more of its destination than is true of all. ",
            (
                "It says nothing of how many people there are; k-anonymity does.",
                "It compares released volumes: destinations near each other and far apart count alike, and "
                "what is withheld does not count.",
            ),
        )

    def too_far(self, destinations: Hierarchy, origin: Ints, destination: Ints, volume: Floats) -> Ints:
        """Return the origin zones whose destinations are further away than t, ascending."""
        found = origin_distances(destinations, origin, destination, volume)
        return found.zone[found.distance > self.t + ROUNDING]


def origin_distances(
    destinations: Hierarchy, origin: Ints, destination: Ints, volume: Floats
) -> OriginDistances:
    """Return how far the destinations of every released origin zone are from those of all.

    An origin is held against all released volume at its own resolution: over the destination zones
    that are released with it and the rest of the map. Destinations that others released more coarsely
    are spread evenly over their tiles, those released more finely are added up. Where all origins
    share one cut of the destinations, neither happens, and this is the plain total variation.

    Parameters
    ----------
    destinations
        The tree of the destination zones.
    origin, destination, volume
        One value for every released group. Destinations of one origin zone do not overlap.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> found = origin_distances(tree, np.array([5, 5, 6]), np.array([0, 1, 1]), np.array([6, 2, 8]))
    >>> found.zone.tolist(), found.distance.tolist()
    ([5, 6], [0.375, 0.375])
    """
    total = float(volume.sum())
    shares = np.bincount(destination, volume, minlength=len(destinations)) / total
    everybody = _everybody(destinations, shares)
    zone, place = np.unique(origin, return_inverse=True)
    own = volume / np.bincount(place, volume)[place]
    # What an origin has too much of somewhere it has too little of elsewhere: one half is enough.
    excess = np.maximum(own - everybody[destination], 0)
    return OriginDistances(zone, np.bincount(place, excess, minlength=len(zone)))


def _everybody(tree: Hierarchy, shares: Floats) -> Floats:
    """Return the share of all volume that goes to each zone, given the share released as exactly it."""
    inside = shares.copy()
    for level in tree.levels[:-1]:
        np.add.at(inside, tree.parent[level], inside[level])
    evenly = shares / tree.zones.tiles
    above = np.zeros(len(tree))
    # Invariant: every zone above the level at hand knows how much each of its tiles has from higher up.
    for level in reversed(tree.levels[:-1]):
        up = tree.parent[level]
        above[level] = above[up] + evenly[up]
    return inside + above * tree.zones.tiles
