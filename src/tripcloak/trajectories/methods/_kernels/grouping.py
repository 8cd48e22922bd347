"""Compiled loops of grouping, held to plain twins in tests/oracles/trajectories/grouping.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.methods._kernels.errors import Samples, group_cost, sums_of
from tripcloak.trajectories.methods._kernels.merging import merge_buffers

LEAST_GAIN = 1e-12
"""What two groups must save by a move, as a share of what they cost: less is rounding."""


class Pairs(NamedTuple):
    """What some pairs of people cost, about."""

    others: Ints
    """By person: with whom, by row."""
    costs: Floats
    beyond: Floats
    """What a pair that is not listed is taken to cost for each of the two; the higher counts."""


class Grouped(NamedTuple):
    """Who is in which group."""

    group_of: Ints
    members: Ints
    """A row a group, the first ``sizes`` of which count."""
    sizes: Ints
    costs: Floats
    changed: Ints
    """In which round a group was last changed."""


class Moves(NamedTuple):
    """The best move of each person that was asked for, if there is one."""

    to: Ints
    """Into which group; -1: no move saves anything."""
    place: Ints
    """With which of its members the person changes places; -1: with nobody."""
    gain: Floats
    left: Floats
    """What the group costs then that the person leaves."""
    entered: Floats
    """And the group it enters."""


@njit(cache=True, nogil=True)
def pair_guess(pairs: Pairs, one: int, other: int) -> Any:
    """Return what two people cost, about."""
    for a, b in ((one, other), (other, one)):
        at = np.searchsorted(pairs.others[a], b)
        if at < pairs.others.shape[1] and pairs.others[a, at] == b:
            return pairs.costs[a, at]
    return max(pairs.beyond[one], pairs.beyond[other])


@njit(cache=True, nogil=True)
def best_moves(
    samples: Samples,
    pairs: Pairs,
    partners: Ints,
    grouped: Grouped,
    rates: tuple[float, float],
    k: int,
    people: Ints,
    looked: Ints,
    tried: int,
    most_guessed: float,
    room: int,
) -> Moves:
    """Return the move of each of these people that saves most, by itself.

    A person may go to a group of one of its ``partners``, or change places with one of that group's
    members. All of that is ranked by the costs of pairs; the first ``tried`` are merged, unless they are
    guessed to cost ``most_guessed`` more or above, and the best of these counts. What was ``looked`` at in
    an earlier round, and of which neither group has changed since, is left out.
    """
    n = len(people)
    moves = Moves(np.full(n, -1), np.full(n, -1), np.zeros(n), np.zeros(n), np.zeros(n))
    at, sums = merge_buffers(room), sums_of(room)
    most = grouped.members.shape[1]
    own, theirs = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    for r in range(n):
        one = people[r]
        mine = grouped.group_of[one]
        size = _without(grouped.members[mine, : grouped.sizes[mine]], one, own)
        to, place, guess = _ranked_moves(pairs, partners, grouped, k, one, own[:size], looked[one])
        alone = -1.0
        for m in np.argsort(guess, kind="mergesort")[:tried]:
            if guess[m] >= most_guessed:
                break
            group = to[m]
            joined = grouped.sizes[group]
            both = grouped.costs[mine] + grouped.costs[group]
            limit = both - max(moves.gain[r], LEAST_GAIN * both)
            theirs[:joined] = grouped.members[group, :joined]
            if place[m] < 0:
                if alone < 0:
                    alone = group_cost(at, sums, samples, own[:size], rates, np.inf)
                theirs[joined] = one
                left = alone
                entered = group_cost(at, sums, samples, theirs[: joined + 1], rates, limit - left)
            else:
                own[size], theirs[place[m]] = theirs[place[m]], one
                left = group_cost(at, sums, samples, own[: size + 1], rates, limit)
                entered = np.inf
                if left < np.inf:
                    entered = group_cost(at, sums, samples, theirs[:joined], rates, limit - left)
            if both - left - entered > moves.gain[r]:
                moves.to[r], moves.place[r], moves.gain[r] = group, place[m], both - left - entered
                moves.left[r], moves.entered[r] = left, entered
    return moves


@njit(cache=True, nogil=True)
def _without(members: Ints, one: int, rest: Ints) -> int:
    """Write all members but one and return how many they are."""
    size = int(np.int64(0))
    for member in members:
        if member != one:
            rest[size] = member
            size += 1
    return size


@njit(cache=True, nogil=True)
def _ranked_moves(
    pairs: Pairs, partners: Ints, grouped: Grouped, k: int, one: int, own: Ints, looked: int
) -> tuple[Ints, Ints, Floats]:
    """Return all moves of a person: to which group, in whose place, and what it costs more, about."""
    mine, most = grouped.group_of[one], grouped.members.shape[1]
    reached = np.empty(partners.shape[1], np.int64)
    groups = _reached_groups(partners[one], grouped.group_of, mine, reached)
    room = groups * (most + 1)
    to, place, guess = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    found = 0
    leaves = _with_all(pairs, one, own)
    for group in reached[:groups]:
        if max(grouped.changed[group], grouped.changed[mine]) < looked:
            continue
        members = grouped.members[group, : grouped.sizes[group]]
        joins = _with_all(pairs, one, members)
        if len(own) >= k and len(members) < most:
            to[found], place[found], guess[found] = group, -1, joins - leaves
            found += 1
        for p in range(len(members)):
            other = members[p]
            to[found], place[found] = group, p
            guess[found] = joins - leaves - pair_guess(pairs, one, other)
            guess[found] += _with_all(pairs, other, own) - _with_all(pairs, other, members)
            found += 1
    return to[:found], place[:found], guess[:found]


@njit(cache=True, nogil=True)
def _reached_groups(partners: Ints, group_of: Ints, mine: int, reached: Ints) -> int:
    """Write the different groups of partners, one's own left out, and return how many they are."""
    many = int(np.int64(0))
    for partner in partners:
        group = group_of[partner]
        known = group == mine
        for r in range(many):
            known = known or reached[r] == group
        if not known:
            reached[many] = group
            many += 1
    return many


@njit(cache=True, nogil=True)
def _with_all(pairs: Pairs, one: int, others: Ints) -> Any:
    """Return what one costs with each of the others, about; with oneself, nothing."""
    total = 0.0
    for other in others:
        if other != one:
            total += pair_guess(pairs, one, other)
    return total
