"""The apriori anonymisation in plain Python, and plain twins of its kernels.

A known item is an axis and a zone of it; an itemset is a tuple of them, axis by axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from typing import Any

from oracles.flows.cuts import Box, Boxes
from oracles.flows.kernels import Row, below, height, path, safe

Item = tuple[int, str]
Itemset = tuple[Item, ...]
Cut = dict[str, str]
"""The zone of every tile."""


class Apriori:
    """The method on all boxes of some flows; ``m`` items may be known, ``budget`` may be withheld."""

    def __init__(self, boxes: Boxes, m: int, budget: float) -> None:
        self.boxes, self.m, self.budget = boxes, m, budget
        self.cuts = [self._start(axis) for axis in range(len(boxes.trees))]

    def run(self) -> dict[Box, Box | None]:
        """Return the box every flow is released in, None where it is withheld."""
        for size in range(1, self.m + 1):
            unsafe = [items for items in self.itemsets(size) if not self.is_safe(items)]
            costs = {items: self.cheapest(items)[0] for items in unsafe}
            for items in sorted(unsafe, key=lambda items: (costs[items], self._ranks(items))):
                if self._fits(size):
                    break
                now = tuple((axis, self._now(axis, zone)) for axis, zone in items)
                if not self.is_safe(now):
                    self._generalise(self.cheapest(now)[1])
        kept = self.released(self.m)
        return {flow: self.box(flow) if flow in kept else None for flow in self.boxes.flows}

    def box(self, flow: Box) -> Box:
        """Return the zones of a flow."""
        return tuple(cut[tile] for cut, tile in zip(self.cuts, flow, strict=True))

    def itemsets(self, size: int) -> set[Itemset]:
        """Return all itemsets of a size that occur."""
        return {items for flow in self.boxes.flows for items in itemsets_of(self.box(flow), size)}

    def is_safe(self, items: Itemset) -> bool:
        """Return whether all trips below an itemset are safe together."""
        return safe(self._rows(items), self.boxes.thresholds)

    def cheapest(self, items: Itemset) -> tuple[float, Itemset]:
        """Return the cheapest of the lowest safe generalisations and its cost; of equal ones the lowest."""
        ways = [[(axis, zone) for zone in path(self.boxes.trees[axis], zone)] for axis, zone in items]
        found = []
        for places in product(*(range(len(way)) for way in ways)):
            chosen = tuple(way[place] for way, place in zip(ways, places, strict=True))
            if self.is_safe(chosen) and not self._one_lower(ways, places):
                found.append((sum(self._more(*item) for item in chosen), places, chosen))
        cost, _, chosen = min(found)
        return cost, chosen

    def released(self, size: int) -> set[Box]:
        """Return the flows that stay safe once the others are withheld, one thrown out after the other."""
        kept = set(self.boxes.flows)
        while out := [flow for flow in sorted(kept) if not self._shares_enough(flow, size, kept)]:
            kept.remove(out[0])
        return kept

    def _fits(self, size: int) -> bool:
        everything = set(self.boxes.flows)
        kept = self.released(size)
        if size < self.m:
            kept = {flow for flow in everything if self._shares_enough(flow, size, everything)}
        return sum(self.boxes.volume(flow) for flow in everything - kept) <= self.budget

    def _shares_enough(self, flow: Box, size: int, among: Iterable[Box]) -> bool:
        others = {other: self.box(other) for other in among}
        for items in itemsets_of(self.box(flow), size):
            sharing = [other for other, box in others.items() if all(box[axis] == z for axis, z in items)]
            rows = [row for other in sharing for row in self.boxes.flows[other]]
            if not safe(rows, self.boxes.thresholds):
                return False
        return True

    def _one_lower(self, ways: list[list[Item]], places: tuple[int, ...]) -> bool:
        """Return whether one of the last two items may be a step lower, with all others as they are."""
        for slot in range(max(0, len(ways) - 2), len(ways)):
            if places[slot]:
                lower = (*places[:slot], places[slot] - 1, *places[slot + 1 :])
                if self.is_safe(tuple(way[place] for way, place in zip(ways, lower, strict=True))):
                    return True
        return False

    def _more(self, axis: int, zone: str) -> float:
        """Return what is lost in addition when a zone replaces all below it."""
        loss, inside = self.boxes.losses[axis], below(self.boxes.trees[axis], zone)
        return sum(
            self.boxes.volume(flow) * (loss(flow[axis], zone) - loss(flow[axis], self.cuts[axis][flow[axis]]))
            for flow in self.boxes.flows
            if flow[axis] in inside
        )

    def _generalise(self, items: Itemset) -> None:
        for axis, zone in items:
            self.cuts[axis] |= dict.fromkeys(below(self.boxes.trees[axis], zone), zone)

    def _now(self, axis: int, zone: str) -> str:
        """Return what has become of a zone."""
        return self.cuts[axis][below(self.boxes.trees[axis], zone)[0]]

    def _rows(self, items: Itemset) -> list[Row]:
        trees = self.boxes.trees
        return [
            row
            for flow, rows in self.boxes.flows.items()
            if all(zone in path(trees[axis], flow[axis]) for axis, zone in items)
            for row in rows
        ]

    def _ranks(self, items: Itemset) -> tuple[Any, ...]:
        """Return what sorts itemsets of one size: axes, then heights, then ids, item by item."""
        return tuple((axis, height(self.boxes.trees[axis], zone), zone) for axis, zone in items)

    def _start(self, axis: int) -> Cut:
        """Return the finest cut whose zones cover as many tiles that occur as is asked for."""
        tree = self.boxes.trees[axis]
        occur = {flow[axis] for flow in self.boxes.flows}
        least = self.boxes.least_tiles if axis < 2 else 0
        cut = {tile: tile for tile in below(tree, next(zone for zone, up in tree.items() if up is None))}
        for tile in sorted(occur):
            lowest = next(zone for zone in path(tree, tile) if len(occur & set(below(tree, zone))) >= least)
            if cut[tile] not in path(tree, lowest):
                cut |= dict.fromkeys(below(tree, lowest), lowest)
        return cut


def itemsets_of(box: Box, size: int) -> list[Itemset]:
    """Return all itemsets of a size in one box."""
    return list(combinations(enumerate(box), size))


# --- twins of the kernels --------------------------------------------------------------------------

NEVER = 2**62


def cheapest_fixes(
    items: Sequence[Sequence[int]],
    parent: Sequence[int],
    code: Sequence[int],
    table: Iterable[int],
    whole: Sequence[float],
    lost: Sequence[float],
) -> list[float]:
    """Return what it costs to make each itemset safe."""
    return [_cheapest(row, parent, _safe_in(code, table), whole, lost)[0] for row in items]


def generalise_in_order(
    items: Sequence[Sequence[int]],
    parent: Sequence[int],
    code: Sequence[int],
    table: Iterable[int],
    whole: Sequence[float],
    lost: list[float],
    when: list[int],
) -> int:
    """Make one itemset after the other safe, write down when, and return the number of steps."""
    is_safe, steps = _safe_in(code, table), 0
    for row in items:
        now = [max((z for z in _path(zone, parent) if z < 0 or when[z] != NEVER), default=-1) for zone in row]
        if is_safe(now):
            continue
        steps += 1
        for zone in _cheapest(now, parent, is_safe, whole, lost)[1]:
            if zone >= 0 and when[zone] == NEVER:
                when[zone] = steps
                more = whole[zone] - lost[zone]
                for above in _path(zone, parent):
                    lost[above] += more
    return steps


def _cheapest(
    row: Sequence[int],
    parent: Sequence[int],
    is_safe: Callable[[Sequence[int]], bool],
    whole: Sequence[float],
    lost: Sequence[float],
) -> tuple[float, list[int]]:
    ways = [_path(zone, parent) for zone in row]
    found = []
    for places in product(*(range(len(way)) for way in ways)):
        zones = [way[place] for way, place in zip(ways, places, strict=True)]
        lower = [[*zones[:s], ways[s][places[s] - 1], *zones[s + 1 :]] for s in (1, 2) if places[s]]
        if is_safe(zones) and not any(map(is_safe, lower)):
            cost = 0.0
            for zone in zones:
                cost += whole[zone] - lost[zone] if zone >= 0 else 0.0
            found.append((cost, places, zones))
    cost, _, zones = min(found)
    return cost, zones


def _path(zone: int, parent: Sequence[int]) -> list[int]:
    above = parent[zone] if zone >= 0 else -1
    return [zone] if above < 0 else [zone, *_path(above, parent)]


def _safe_in(code: Sequence[int], table: Iterable[int]) -> Callable[[Sequence[int]], bool]:
    known = set(table)
    return lambda zones: sum(code[zone] for zone in zones if zone >= 0) in known
