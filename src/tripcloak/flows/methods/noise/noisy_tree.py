"""Noisy trees: pairs of zones with noisy numbers, from the study area down, made to agree with each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tripcloak.flows.methods.noise.noisy import Domains
from tripcloak.flows.methods.noise.parts import Parts, zones_of_flows
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.hierarchy.tiling import Keys

SPLIT = 2.0
"""Standard deviations that a noisy number must be above 0 by for its pair to be split."""


@dataclass(frozen=True, eq=False)
class NoisyLevel:
    """Pairs of zones of one height with noisy numbers.

    Attributes
    ----------
    origin, destination : array of int
        The pairs, by the keys of their zones.
    parent : array of int
        The pair of the level above that each is a part of; -1 for the study area.
    noisy : array of int
        Exact number and noise.
    scale : float
        The standard deviation of that noise.
    of_flow : array of int
        The pair that each input flow lies in; -1: in none of them.
    """

    origin: Keys
    destination: Keys
    parent: Ints
    noisy: Ints
    scale: float
    of_flow: Ints

    def __len__(self) -> int:
        return len(self.noisy)


def grow(
    matrix: ODMatrix,
    domains: Domains,
    steps: Sequence[int],
    counted: Ints,
    scales: Sequence[float],
    add: Callable[[int, Ints], Ints],
) -> list[NoisyLevel]:
    """Return noisy numbers of pairs of zones, level by level.

    A pair is split into all pairs of its parts where its noisy number tells that somebody is there. Which
    are split follows from noisy numbers alone: it is as if all pairs of all heights had noise, and only
    these were looked at.

    Parameters
    ----------
    steps
        The heights, from the study area down.
    counted
        What is counted of every flow.
    scales
        The standard deviation of the noise at every height.
    add
        Adds the noise of the height of this number. It sees all parts, also those that no flow lies in.
    """
    total = add(0, counted.sum(keepdims=True))
    everything, nowhere = np.zeros(matrix.n_flows, dtype=np.int64), np.array([-1])
    levels = [NoisyLevel(domains[0].root, domains[1].root, nowhere, total, scales[0], everything)]
    for number, height in enumerate(steps[1:], 1):
        last = levels[-1]
        opened = np.flatnonzero(last.noisy > SPLIT * max(last.scale, scales[number]))
        if not len(opened):
            break
        parts = Parts(domains, last.origin[opened], last.destination[opened], height)
        place = np.full(len(last) + 1, -1)
        place[opened] = np.arange(len(opened))
        alive = np.flatnonzero(place[last.of_flow] >= 0)
        flows = zones_of_flows(matrix, domains, height)
        part = parts.holding(place[last.of_flow[alive]], *(zones[alive] for zones in flows))
        exact = np.bincount(part, counted[alive], minlength=parts.first[-1]).astype(np.int64)
        of_flow = np.full(matrix.n_flows, -1)
        of_flow[alive] = part
        pair, origin, destination = parts.zones(np.arange(parts.first[-1]))
        noisy = add(number, exact)
        levels.append(NoisyLevel(origin, destination, opened[pair], noisy, scales[number], of_flow))
    return levels


@dataclass(frozen=True, eq=False)
class Estimates:
    """What noisy numbers of one level are believed to be, with a variance, once all levels agree."""

    value: Floats
    variance: Floats


def reconcile(levels: Sequence[NoisyLevel]) -> list[Estimates]:
    """Return numbers that add up: the least-squares fit to all noisy ones.

    Hay, Rastogi, Miklau and Suciu (2010): up the tree, a number and the sum of its parts are averaged by
    their variances; down again, what a parent has more than its parts is shared among them by theirs.

    Examples
    --------
    Two parts with noise as large as their parent's: half of what is missing is theirs, a quarter each.

    >>> def level(noisy, parent):
    ...     keys = np.zeros(len(noisy), dtype=np.uint64)
    ...     return NoisyLevel(keys, keys, np.array(parent), np.array(noisy), 1.0, np.zeros(0, dtype=int))
    >>> [found.value.round(2).tolist() for found in reconcile([level([12], [-1]), level([3, 6], [0, 0])])]
    [[11.0], [4.0, 7.0]]
    """
    up: list[Estimates] = []
    sums: list[Estimates] = []
    for number in range(len(levels) - 1, -1, -1):
        level = levels[number]
        value, variance = level.noisy.astype(float), np.full(len(level), level.scale**2)
        below = _summed(levels[number + 1], up[0], len(level)) if up else Estimates(value * 0, value * 0)
        known = below.variance > 0
        weight = np.where(known, variance / np.where(known, variance + below.variance, 1), 0)
        up.insert(0, Estimates(value + weight * (below.value - value), variance * (1 - weight)))
        sums.insert(0, below)
    down = [up[0]]
    for number in range(1, len(levels)):
        parent = levels[number].parent
        missing = (down[-1].value - sums[number - 1].value)[parent]
        share = up[number].variance / sums[number - 1].variance[parent]
        down.append(Estimates(up[number].value + share * missing, up[number].variance))
    return down


def _summed(level: NoisyLevel, found: Estimates, parents: int) -> Estimates:
    """Return the sums of the parts of every pair, and their variances."""
    value, variance = (
        np.bincount(level.parent, column, minlength=parents) for column in (found.value, found.variance)
    )
    return Estimates(value, variance)
