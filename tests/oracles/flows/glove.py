"""Glove in plain Python: all pairs of neighbours priced anew before every merge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple


class Member(NamedTuple):
    """A flow: where it is, and what it holds."""

    at: tuple[float, ...]
    volume: float
    trips: float
    population: float
    people: frozenset[int]


Least = tuple[float, float, float]
"""Thresholds on trips, travellers and population."""


@dataclass
class Cluster:
    """Some flows, in the order in which they came together."""

    members: list[Member]
    least: Least
    neighbours: set[int] = field(default_factory=set)

    @property
    def volume(self) -> float:
        return sum(member.volume for member in self.members)

    @property
    def safe(self) -> bool:
        people = frozenset[int]().union(*(member.people for member in self.members))
        trips = sum(member.trips for member in self.members)
        population = sum(member.population for member in self.members)
        held = zip((trips, len(people), population), self.least, strict=True)
        return all(here >= asked for here, asked in held)


def sides(members: Iterable[Member]) -> float:
    """Return the sides of the box around some flows, added up."""
    return sum(max(values) - min(values) for values in zip(*(member.at for member in members), strict=True))


def price(a: Cluster, b: Cluster) -> float:
    """Return what it costs to merge two clusters."""
    both = sides([*a.members, *b.members])
    lost = sum(one.volume * (both - sides(one.members)) for one in (a, b))
    unsafe = sum(one.volume for one in (a, b) if not one.safe)
    return lost / unsafe if unsafe else inf


def greedy_merges(
    flows: Sequence[Member], least: Least, near: Sequence[Sequence[int]]
) -> list[tuple[int, int]]:
    """Return the merges in order; a cluster is named by its first flow."""
    clusters = {row: Cluster([member], least) for row, member in enumerate(flows)}
    for row, others in enumerate(near):
        for other in {int(other) for other in others} - {row}:
            clusters[row].neighbours.add(other)
            clusters[other].neighbours.add(row)
    merges = []
    while True:
        offers = [
            (price(clusters[i], clusters[j]), i, j)
            for i in clusters
            for j in clusters[i].neighbours
            if i < j and not (clusters[i].safe and clusters[j].safe)
        ]
        cost, i, j = min(offers, default=(inf, -1, -1))
        if cost == inf:
            return merges
        merges.append((i, j))
        merge(clusters, i, j)


def merge(clusters: dict[int, Cluster], i: int, j: int) -> None:
    """Merge cluster j into cluster i; if it is unsafe and alone then, the cheapest becomes its neighbour."""
    gone, one = clusters.pop(j), clusters[i]
    one.members += gone.members
    one.neighbours = (one.neighbours | gone.neighbours) - {i, j}
    for other in one.neighbours:
        clusters[other].neighbours = clusters[other].neighbours - {j} | {i}
    if one.neighbours or one.safe or len(clusters) == 1:
        return
    offers = [(price(one, other), min(i, row), max(i, row)) for row, other in clusters.items() if row != i]
    cost, *pair = min(offers)
    if cost < inf:
        for row, other in (pair, pair[::-1]):
            clusters[row].neighbours.add(other)


def first_fit(
    flows: Sequence[Member], least: Least, limit: float, stops: Iterable[Sequence[tuple[int, int]]]
) -> list[list[int]] | None:
    """Return the safe clusters after the first of some lists of merges that leaves little enough unsafe."""
    total = sum(member.volume for member in flows)
    for merges in stops:
        rows = {row: [row] for row in range(len(flows))}
        for i, j in merges:
            rows[i] += rows.pop(j)
        safe = [members for members in rows.values() if Cluster([flows[m] for m in members], least).safe]
        kept = {row for members in safe for row in members}
        if sum(flow.volume for row, flow in enumerate(flows) if row not in kept) <= limit * total:
            return sorted(sorted(members) for members in safe)
    return None
