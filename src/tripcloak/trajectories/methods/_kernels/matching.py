"""Rings in which pairs change partners, held to plain twins in tests/oracles/trajectories/matching.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Bools, Floats, Ints

LEAST_GAIN = 1e-9
"""What a ring must save, as a share of what its first pair costs: less is rounding."""


class Paired(NamedTuple):
    """Who is whose partner."""

    mate: Ints
    """-1: in no pair."""
    cost: Floats
    """What the pair of each person costs."""


class Choices(NamedTuple):
    """What pairs would cost, by person."""

    others: Ints
    """With whom, by row."""
    costs: Floats
    ranked: Ints
    """Where in the row the cheapest are, cheapest first."""


@njit(cache=True, nogil=True)
def pair_cost(choices: Choices, one: int, other: int) -> Any:
    """Return what two people cost; infinity where neither is a choice of the other."""
    for a, b in ((one, other), (other, one)):
        at = np.searchsorted(choices.others[a], b)
        if at < choices.others.shape[1] and choices.others[a, at] == b:
            return choices.costs[a, at]
    return np.inf


@njit(cache=True, nogil=True)
def change_partners(paired: Paired, choices: Choices, people: Ints, widths: Ints) -> int:
    """Let each of these people begin the ring that saves most, if one does; return how many did.

    Somebody leaves its partner for another, whose partner goes to a third, and so on; the last one takes
    who was left first. Each step takes the best choices, as many as its width says, as long as there is
    something saved on the way (Lin and Kernighan 1973, on pairs).
    """
    deepest = len(widths)
    busy = np.zeros(len(paired.mate), np.bool_)
    taken, best_taken = np.empty(deepest, np.int64), np.empty(deepest, np.int64)
    found = np.empty((deepest, widths.max()), np.int64)
    saved = np.empty((deepest, widths.max()))
    many, tried = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64)
    rings = int(np.int64(0))
    for one in people:
        left = paired.mate[one]
        if left < 0:
            continue
        busy[one] = busy[left] = True
        best, length, depth = LEAST_GAIN * paired.cost[one], 0, 0
        many[0] = _best_choices(paired, choices, busy, one, paired.cost[one], widths[0], found[0], saved[0])
        tried[0] = 0
        while depth >= 0:
            # Invariant: taken[:depth] and their partners are busy, and nobody else but the first two.
            if tried[depth] == many[depth]:
                depth -= 1
                if depth >= 0:
                    busy[taken[depth]] = busy[paired.mate[taken[depth]]] = False
                continue
            taken[depth] = found[depth, tried[depth]]
            so_far, free = saved[depth, tried[depth]], paired.mate[taken[depth]]
            tried[depth] += 1
            if so_far - pair_cost(choices, free, left) > best:
                best, length = so_far - pair_cost(choices, free, left), depth + 1
                for d in range(length):
                    best_taken[d] = taken[d]
            if depth + 1 < deepest:
                busy[taken[depth]] = busy[free] = True
                depth += 1
                many[depth] = _best_choices(
                    paired, choices, busy, free, so_far, widths[depth], found[depth], saved[depth]
                )
                tried[depth] = 0
        busy[one] = busy[left] = False
        if length > 0:
            _close(paired, choices, one, left, best_taken[:length])
            rings += 1
    return rings


@njit(cache=True, nogil=True)
def _best_choices(
    paired: Paired,
    choices: Choices,
    busy: Bools,
    free: int,
    so_far: float,
    width: int,
    found: Ints,
    saved: Floats,
) -> int:
    """Write whom one that is free may take, what is saved then, most first, and return how many they are."""
    many = int(np.int64(0))
    for r in choices.ranked[free]:
        other, rest = choices.others[free, r], so_far - choices.costs[free, r]
        if rest <= 0:
            break
        if busy[other] or paired.mate[other] < 0:
            continue
        rest += paired.cost[other]
        if many == width and rest <= saved[many - 1]:
            continue
        many = min(many + 1, width)
        place = many - 1
        while place > 0 and saved[place - 1] < rest:
            found[place], saved[place] = found[place - 1], saved[place - 1]
            place -= 1
        found[place], saved[place] = other, rest
    return many


@njit(cache=True, nogil=True)
def _close(paired: Paired, choices: Choices, one: int, left: int, taken: Ints) -> None:
    """Make the pairs of a ring."""
    for other in taken:
        free = paired.mate[other]
        _pair(paired, choices, one, other)
        one = free
    _pair(paired, choices, one, left)


@njit(cache=True, nogil=True)
def _pair(paired: Paired, choices: Choices, one: int, other: int) -> None:
    paired.mate[one], paired.mate[other] = other, one
    paired.cost[one] = paired.cost[other] = pair_cost(choices, one, other)
