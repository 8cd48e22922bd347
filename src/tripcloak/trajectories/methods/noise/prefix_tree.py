"""A noisy prefix tree: how many people took which way, grown where enough did, in numbers that agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Ints

STRICT = 2 * math.sqrt(2)
"""Scales of noise that a number must reach to be followed: two standard deviations."""


class Step(NamedTuple):
    """One level of the tree: which child everybody goes to, of how many, and where another visit begins."""

    digit: Ints
    """Of everybody, -1 where the way has ended."""
    fan: int
    begins: bool


class Level(NamedTuple):
    """The nodes of one level: their parents' rows, which child of those they are, and their noisy numbers."""

    parent: Ints
    digit: Ints
    people: Ints


def grow(
    steps: list[Step],
    noisy: Callable[[Ints], Ints],
    scale: Callable[[], float],
    possible: Callable[[int, list[Level]], Bools],
) -> list[Level]:
    """Return the levels of a tree that has a node wherever the noisy number of people is large enough.

    Of every node that was kept all children get a number with noise, those that nobody went to as well.

    Parameters
    ----------
    steps
        What the tree branches by, level by level.
    noisy
        Adds the noise of the next level to exact numbers.
    scale
        The scale of that noise.
    possible
        Which children there can be at all, by what is known without looking at anybody: a row a node.
    """
    levels: list[Level] = []
    at, nodes = np.zeros(len(steps[0].digit), np.int64), 1
    for number, step in enumerate(steps):
        here = (at >= 0) & (step.digit >= 0)
        exact = np.bincount(at[here] * step.fan + step.digit[here], minlength=nodes * step.fan)
        asked = np.flatnonzero(possible(number, levels).ravel())
        least = math.ceil(STRICT * scale())
        people = noisy(exact[asked])
        kept = asked[people >= least]
        levels.append(Level(kept // step.fan, kept % step.fan, people[people >= least]))
        row = np.full(nodes * step.fan, -1, np.int64)
        row[kept] = np.arange(len(kept))
        at = np.where(here, row[np.where(here, at * step.fan + step.digit, 0)], -1)
        nodes = len(kept)
        if not nodes:
            break
    return levels


def agreed(levels: list[Level], steps: list[Step]) -> list[Ints]:
    """Return whole numbers of people for every level under which children add up to no more than their
    parent.

    Within a visit, whoever is in a node is in one of its children, so that these add up to it where there are
    any; from one visit to the next, ways may end.

    Examples
    --------
    >>> top = Level(np.zeros(2, int), np.arange(2), np.array([10, 6]))
    >>> low = Level(np.array([0, 0, 1]), np.arange(3), np.array([9, 9, 2]))
    >>> begins = [Step(np.zeros(1, int), 2, True)] * 2
    >>> [people.tolist() for people in agreed([top, low], begins)]
    [[10, 6], [5, 5, 2]]
    """
    told = [levels[0].people.astype(np.int64)]
    for level, step in zip(levels[1:], steps[1:], strict=False):
        parents = told[-1]
        wanted = np.bincount(level.parent, level.people, minlength=len(parents))
        total = np.minimum(wanted, parents) if step.begins else parents.astype(np.float64)
        exact = level.people * (total / np.maximum(wanted, 1))[level.parent]
        told.append(_rounded(exact, np.floor(total + 0.5).astype(np.int64), level.parent))
    return told


def _rounded(exact: np.ndarray, total: Ints, parent: Ints) -> Ints:
    """Return whole numbers near these that add up to a total for each parent: largest remainders first."""
    whole = np.floor(exact + 1e-9).astype(np.int64)
    short = total - np.bincount(parent, whole, minlength=len(total)).astype(np.int64)
    order = np.lexsort((whole - exact, parent))
    rank = np.arange(len(order)) - np.searchsorted(parent[order], parent[order])
    whole[order] += rank < short[parent[order]]
    return whole


def ancestors(levels: list[Level], low: int, high: int) -> Ints:
    """Return the row of the node of a level above that each node of a level is below; -1 is above all."""
    rows = np.arange(len(levels[low].parent))
    for level in range(low, high, -1):
        rows = levels[level].parent[rows]
    return rows
