"""Compiled loop of rounding; its plain twin is in tests/oracles/flows/rounding.py."""

from __future__ import annotations

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Ints

_HALF = np.uint64(32)


@njit(cache=True)
def turn_cycles(
    ends: tuple[Ints, Ints],
    residue: Ints,
    base: int,
    lists: tuple[Ints, Ints, Ints, Ints],
    path: tuple[Ints, Ints, Ints],
    state: Ints,
    words: Ints,
) -> bool:  # pragma: no cover - compiled
    """Turn cycles of sums until no number lies between two multiples, or all words are used up.

    Every edge is a number, in at its head and out at its tail; what goes in and out of a node is equal but
    for multiples. Where one edge of a node lies between two multiples another one does, so that whoever
    walks on comes to a node again: around that cycle all numbers move, up or down, until one is a multiple.

    Parameters
    ----------
    ends
        The tail and the head of every edge.
    residue
        How far each number is above the multiple below; in the end 0 or the base.
    lists
        Where each node's list of edges begins, how many there are, the edges, and the places of every edge in
        the lists of its tail and its head. All these edges lie between two multiples.
    path
        The nodes and the edges of the walk, and the place of every node in it, -1 where it is not.
    state
        The node that walks begin at, and how far this one has come.
    words
        Random numbers of 32 bits.

    Returns
    -------
    bool
        Whether all is done.
    """
    tail, head = ends
    first, degree, member, place = lists
    node_at, edge_at, at = path
    used = 0
    while state[0] < len(degree):
        if degree[state[0]] == 0:
            at[state[0]] = -1
            state[0] += 1
            continue
        if used + 2 > len(words):
            return False
        depth = state[1]
        node_at[0] = state[0]
        at[state[0]] = 0
        node = node_at[depth]
        edge = _chosen(node, edge_at[depth - 1] if depth else -1, first, degree, member, words[used])
        used += 1
        other = head[edge] if tail[edge] == node else tail[edge]
        edge_at[depth] = edge
        if at[other] < 0:
            state[1] = depth + 1
            node_at[depth + 1] = other
            at[other] = depth + 1
            continue
        low = at[other]
        _turn(tail, residue, base, node_at, edge_at, low, depth, words[used])
        used += 1
        for step in range(low, depth + 1):
            edge = edge_at[step]
            if residue[edge] == 0 or residue[edge] == base:
                _taken_out(edge, tail[edge], tail, first, degree, member, place)
                _taken_out(edge, head[edge], tail, first, degree, member, place)
            if step > low:
                at[node_at[step]] = -1
        state[1] = low
    return True


@njit(cache=True)
def _chosen(
    node: int, came: int, first: Ints, degree: Ints, member: Ints, word: int
) -> int:  # pragma: no cover - compiled
    """Return one of a node's edges, each as likely as the others, but not the one that led here."""
    own, n = first[node], degree[node]
    n -= 0 if came < 0 else 1
    edge: int = member[own + np.int64(np.uint64(word) * np.uint64(n) >> _HALF)]
    if edge == came:
        edge = member[own + n]
    return edge


@njit(cache=True)
def _turn(
    tail: Ints, residue: Ints, base: int, node_at: Ints, edge_at: Ints, low: int, depth: int, word: int
) -> None:  # pragma: no cover - compiled
    """Move all numbers around a cycle, one way or the other, so that on average none is moved."""
    up, down = base, base
    for step in range(low, depth + 1):
        above = residue[edge_at[step]]
        below = base - above
        if tail[edge_at[step]] != node_at[step]:
            above, below = below, above
        up, down = min(up, below), min(down, above)
    turned = np.int64(np.uint64(word) * np.uint64(up + down) >> _HALF)
    by = up if turned < down else -down
    for step in range(low, depth + 1):
        edge = edge_at[step]
        residue[edge] += by if tail[edge] == node_at[step] else -by


@njit(cache=True)
def _taken_out(
    edge: int, node: int, tail: Ints, first: Ints, degree: Ints, member: Ints, place: Ints
) -> None:  # pragma: no cover - compiled
    """Take an edge out of a node's list: the last one comes to its place."""
    here = place[0 if tail[edge] == node else 1, edge]
    degree[node] -= 1
    last = member[first[node] + degree[node]]
    member[here] = last
    place[0 if tail[last] == node else 1, last] = here
