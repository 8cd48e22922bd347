"""Slow and plain twins of the compiled kernels and of ODkAnon: dicts and loops, nothing shared.

Written from the papers and the definitions, not from the package; the tests hold the two against
each other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NamedTuple

Tree = dict[str, str | None]
"""The parent of every zone; None at the root."""

Pair = tuple[str, str]
Thresholds = Mapping[str, float]


class Row(NamedTuple):
    """One record: from, to, who (-1 if nobody knows), the people and the trips it stands for."""

    origin: str
    destination: str
    person: int = -1
    weight: float = 0.0
    trips: int = 1


# --- trees -----------------------------------------------------------------------------------------


def children(tree: Tree, zone: str) -> list[str]:
    """Return the children of a zone."""
    return [child for child, above in tree.items() if above == zone]


def tiles(tree: Tree) -> list[str]:
    """Return the zones without children, sorted by id."""
    return sorted(zone for zone in tree if not children(tree, zone))


def height(tree: Tree, zone: str) -> int:
    """Return 0 at a tile, otherwise one more than the highest child."""
    return max((1 + height(tree, child) for child in children(tree, zone)), default=0)


def path(tree: Tree, zone: str) -> list[str]:
    """Return the zone and its ancestors, upwards."""
    above = tree[zone]
    return [zone] if above is None else [zone, *path(tree, above)]


def below(tree: Tree, zone: str) -> list[str]:
    """Return the tiles below a zone, sorted by id."""
    return [tile for tile in tiles(tree) if zone in path(tree, tile)]


def lift(tree: Tree, tile: str, limit: int) -> str:
    """Return the highest ancestor (or the tile) that is at most this high."""
    return [zone for zone in path(tree, tile) if height(tree, zone) <= limit][-1]


def covering(tree: Tree, some: Iterable[str]) -> str:
    """Return the lowest zone with all these tiles below it."""
    paths = [path(tree, tile) for tile in some]
    return next(zone for zone in paths[0] if all(zone in other for other in paths))


# --- rows, flows and groups ------------------------------------------------------------------------


def flows_of(rows: Iterable[Row]) -> dict[Pair, list[Row]]:
    """Return the rows of every origin-destination pair, in the order of the pairs."""
    found: dict[Pair, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.origin, row.destination].append(row)
    return dict(sorted(found.items()))


def support(rows: Iterable[Row], unit: str) -> float:
    """Return what stands behind rows taken as one group."""
    if unit == "travellers":
        return len({row.person for row in rows if row.person >= 0})
    if unit == "trips":
        return sum(row.trips for row in rows)
    # A flow's population is what a double holds of the true sum, and never more; so is a group's.
    return rounded_down(rounded_down(row.weight for row in flow) for flow in flows_of(rows).values())


def rounded_down(values: Iterable[float]) -> float:
    """Return the largest double that does not exceed the true sum of values."""
    true = sum(map(Fraction, values), Fraction(0))
    nearest = float(true)
    return nearest if Fraction(nearest) <= true else math.nextafter(nearest, 0.0)


def safe(rows: Sequence[Row], thresholds: Thresholds) -> bool:
    """Return whether rows taken as one group reach every threshold."""
    return all(support(rows, unit) >= k for unit, k in thresholds.items())


def grouped(flows: Mapping[Pair, list[Row]], release_as: Callable[[Pair], Pair]) -> dict[Pair, list[Row]]:
    """Return the rows of every group when each flow is released as another pair."""
    groups: dict[Pair, list[Row]] = defaultdict(list)
    for pair, rows in flows.items():
        groups[release_as(pair)].extend(rows)
    return dict(groups)


# --- ODkAnon, step by step -------------------------------------------------------------------------


class Impossible(Exception):
    """Nothing is left to merge and some cell is still unsafe."""


class Step(NamedTuple):
    """One merge: on which axis, into which zone, and at what cost."""

    axis: int
    zone: str
    cost: int


class Outcome(NamedTuple):
    """Where every flow went (None: withheld), and the merges that led there."""

    released_as: dict[Pair, Pair | None]
    steps: list[Step]


def odkanon(
    rows: Sequence[Row],
    trees: tuple[Tree, Tree],
    thresholds: Thresholds,
    *,
    limit: float = 0.1,
    levels: int = 3,
    tolerance: Fraction = Fraction(3, 100),
) -> Outcome:
    """Return what thesis Algorithms 1 to 3 make of the rows, with every cell looked at in every step."""
    flows = flows_of(rows)
    withheld = suppression(flows, trees, thresholds, limit, levels)
    remaining = {pair: cell for pair, cell in flows.items() if pair not in withheld}
    axes = tuple(Axis(tree, remaining, side) for side, tree in enumerate(trees))
    steps: list[Step] = []
    first_ratio = Fraction(len(axes[0].active), len(axes[1].active))
    while True:
        cells = grouped(remaining, lambda pair: (axes[0].zone_of(pair[0]), axes[1].zone_of(pair[1])))
        if all(safe(cell, thresholds) for cell in cells.values()):
            break
        ratio = Fraction(len(axes[0].active), len(axes[1].active))
        side = preferred_axis(ratio / first_ratio - 1, tolerance, len(steps))
        if not axes[side].candidates():
            side = 1 - side
        if not axes[side].candidates():
            raise Impossible
        cost, zone = min(axes[side].candidates())
        axes[side].merge(zone)
        steps.append(Step(side, zone, cost))
    released: dict[Pair, Pair | None] = dict.fromkeys(flows)
    for pair in remaining:
        released[pair] = axes[0].zone_of(pair[0]), axes[1].zone_of(pair[1])
    return Outcome(released, steps)


def suppression(
    flows: Mapping[Pair, list[Row]],
    trees: tuple[Tree, Tree],
    thresholds: Thresholds,
    limit: float,
    levels: int,
) -> set[Pair]:
    """Return the flows that Algorithm 1 withholds, inside a budget of rows and of volume."""
    valid: set[Pair] = set()
    for level in range(levels + 1):

        def lifted(pair: Pair, level: int = level) -> Pair:
            return lift(trees[0], pair[0], level), lift(trees[1], pair[1], level)

        groups = grouped(flows, lifted)
        valid |= {pair for pair in flows if safe(groups[lifted(pair)], thresholds)}
    problematic = sorted((pair for pair in flows if pair not in valid), key=lambda p: (_trips(flows[p]), p))
    volume = "population" if set(thresholds) == {"population"} else "trips"
    most = limit * sum(support(cell, volume) for cell in flows.values())
    withheld: set[Pair] = set()
    spent = 0.0
    for pair in problematic[: int(len(flows) * limit)]:
        spent += support(flows[pair], volume)
        if spent > most:
            break
        withheld.add(pair)
    rest = [row for pair, cell in flows.items() if pair not in withheld for row in cell]
    return withheld if safe(rest, thresholds) else set()


def preferred_axis(deviation: Fraction, tolerance: Fraction, step: int) -> int:
    """Return 0 for origins or 1 for destinations: the dominant axis, otherwise each in turn."""
    if deviation > tolerance:
        return 0
    if deviation < -tolerance:
        return 1
    return step % 2


class Axis:
    """The tree of one axis over the cells that remain, and its active zones."""

    def __init__(self, tree: Tree, flows: Mapping[Pair, list[Row]], side: int) -> None:
        self.tree = tree
        self.active = {pair[side] for pair in flows}
        self.root = covering(tree, self.active)
        self.trips: dict[str, int] = defaultdict(int)
        for pair, cell in flows.items():
            for zone in path(tree, pair[side]):
                self.trips[zone] += _trips(cell)

    def candidates(self) -> list[tuple[int, str]]:
        """Return (cost, zone) of the groups whose occurring children are all active zones."""
        if self.active == {self.root}:
            return []
        above = {self.tree[zone] for zone in self.active}
        return [(self.trips[zone], zone) for zone in above if zone is not None and self._eligible(zone)]

    def _eligible(self, zone: str) -> bool:
        return all(child in self.active for child in children(self.tree, zone) if self.trips[child])

    def merge(self, zone: str) -> None:
        """Replace the children of a zone by the zone."""
        self.active = {other for other in self.active if self.tree[other] != zone} | {zone}

    def zone_of(self, tile: str) -> str:
        """Return the active zone above a tile."""
        return next(zone for zone in path(self.tree, tile) if zone in self.active)


def _trips(rows: Iterable[Row]) -> int:
    return sum(row.trips for row in rows)


# --- twins of the kernels --------------------------------------------------------------------------


def number_into(keys: Sequence[int], known: list[int]) -> tuple[list[int], list[int]]:
    """Return the number of every key and all keys by number, where some have theirs already."""
    numbers = {key: number for number, key in enumerate(known)}
    of_key = [-1 if key == -1 else numbers.setdefault(key, len(numbers)) for key in keys]
    return of_key, list(numbers)


def look_up(keys: Iterable[int], known: Sequence[int]) -> list[int]:
    """Return the number of every key, -1 for those that have none."""
    return [known.index(key) if key in known else -1 for key in keys]


def people_of_groups(
    group: Sequence[int], people_of_flow: Sequence[Iterable[int]], first: int, last: int
) -> list[tuple[int, int]]:
    """Return (group less first, person) of every flow of the groups from first to before last."""
    return [
        (number - first, person)
        for number, some in zip(group, people_of_flow, strict=True)
        if first <= number < last
        for person in some
    ]


def count_sorted(members: Iterable[tuple[int, int]], n_groups: int) -> list[int]:
    """Return the distinct people of every group."""
    numbers = [number for number, _ in set(members)]
    return [numbers.count(at) for at in range(n_groups)]


def people_up_to(
    group: Sequence[int], n_groups: int, people_of_flow: Sequence[Sequence[int]], cap: int
) -> list[tuple[int, int]]:
    """Return the first different people of every group, and whose they are."""
    met: list[dict[int, None]] = [{} for _ in range(n_groups)]
    for number, some in zip(group, people_of_flow, strict=True):
        if number >= 0:
            met[number].update(dict.fromkeys(some))
    return [(number, person) for number, some in enumerate(met) for person in list(some)[:cap]]


def people_met(group: Sequence[int], n_groups: int, people_of_flow: Sequence[Sequence[int]]) -> list[int]:
    """Return how many people the flows of every group have, each flow's people counted apart."""
    return [
        sum(len(some) for number, some in zip(group, people_of_flow, strict=True) if number == at)
        for at in range(n_groups)
    ]


def distinct_up_to(
    group: Sequence[int], n_groups: int, people_of_flow: Sequence[Iterable[int]], cap: int
) -> list[int]:
    """Return the distinct people of every group, at most ``cap``."""
    people: list[set[int]] = [set() for _ in range(n_groups)]
    for number, some in zip(group, people_of_flow, strict=True):
        if number >= 0:
            people[number].update(some)
    return [min(len(everyone), cap) for everyone in people]


def distinct_in_runs(
    runs: Iterable[Iterable[int]], people_of_flow: Sequence[Iterable[int]], cap: int
) -> list[int]:
    """Return the distinct people of every run of flows, at most ``cap``."""
    return [min(len({person for flow in run for person in people_of_flow[flow]}), cap) for run in runs]


def largest_in_runs(
    runs: Iterable[Iterable[int]],
    people_of_flow: Sequence[Sequence[int]],
    parts_of_flow: Sequence[Sequence[float]],
) -> tuple[list[float], list[float]]:
    """Return the largest and the second largest sum of parts that one person has in every run of flows."""
    found = []
    for run in runs:
        sums: dict[int, float] = defaultdict(float)
        for flow in run:
            for person, part in zip(people_of_flow[flow], parts_of_flow[flow], strict=True):
                sums[person] += part
        found.append([*sorted(sums.values(), reverse=True), 0.0, 0.0][:2])
    return [first for first, _ in found], [second for _, second in found]


def sort_keys(keys: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the keys in ascending order, and the row of each; equal ones in their order."""
    row = sorted(range(len(keys)), key=lambda i: keys[i])
    return [keys[i] for i in row], row


def sum_runs(values: Sequence[float], starts: Sequence[int]) -> list[float]:
    """Return the sum of every run, as large as a double can hold of it."""
    return [rounded_down(values[a:b]) for a, b in pairwise([*starts, len(values)])]


def starts_of_runs(keys: Sequence[int], bits: int) -> list[int]:
    """Return where runs of keys begin that are the same but for the last bits."""
    return [at for at, key in enumerate(keys) if at == 0 or key >> bits != keys[at - 1] >> bits]


def people_of_runs(
    keys: Sequence[int], starts: Sequence[int], bits: int
) -> tuple[list[int], list[int], list[int]]:
    """Return where the people of every run begin and end, the people, and how often each of them is there."""
    runs = [Counter(key % 2**bits for key in keys[a:b]) for a, b in pairwise([*starts, len(keys)])]
    found = [sorted((person, n) for person, n in run.items() if person) for run in runs]
    people = [person - 1 for run in found for person, _ in run]
    return [0, *accumulate(map(len, found))], people, [n for run in found for _, n in run]


def pieces_of(values: Sequence[int], first: Sequence[int], edges: Sequence[int]) -> list[int]:
    """Return pieces of values one behind the other, from its first place to a length each."""
    return [values[at + i] for at, (a, b) in zip(first, pairwise(edges), strict=True) for i in range(b - a)]


def members_of(group: Sequence[int], n_groups: int) -> tuple[list[int], list[int]]:
    """Return where the members of every group begin in a list of them, and that list."""
    members = [[at for at, number in enumerate(group) if number == here] for here in range(n_groups)]
    return [0, *accumulate(map(len, members))], [at for some in members for at in some]


def sum_groups(group: Sequence[int], values: Sequence[float], n_groups: int) -> list[float]:
    """Return the sum of every group, as large as a double can hold of it."""
    pairs = list(zip(group, values, strict=True))
    return [rounded_down(value for g, value in pairs if g == number) for number in range(n_groups)]


def find_pairs(table: Sequence[tuple[int, int]], wanted: Iterable[tuple[int, int]]) -> list[int]:
    """Return the row of every wanted pair, -1 where it is missing."""
    return [table.index(pair) if pair in table else -1 for pair in wanted]


def merge_order(
    parents: tuple[Sequence[int], Sequence[int]],
    occurring: tuple[Sequence[int], Sequence[int]],
    costs: tuple[Sequence[int], Sequence[int]],
    ranks: tuple[Sequence[int], Sequence[int]],
    tops: tuple[int, int],
    tolerance: Fraction,
) -> list[tuple[int, int]]:
    """Return the merges (axis, zone) in their order, up to one zone on each axis."""
    active = [
        {zone for zone, cost in enumerate(costs[axis]) if cost > 0 and occurring[axis][zone] == 0}
        for axis in range(2)
    ]
    merges: list[tuple[int, int]] = []

    def eligible(axis: int) -> list[tuple[int, int, int]]:
        if active[axis] == {tops[axis]}:
            return []
        ready = [parents[axis][zone] for zone in active[axis]]
        return [
            (costs[axis][zone], ranks[axis][zone], zone)
            for zone in set(ready)
            if ready.count(zone) == occurring[axis][zone]
        ]

    first_ratio = Fraction(len(active[0]), len(active[1]))
    while eligible(0) or eligible(1):
        deviation = Fraction(len(active[0]), len(active[1])) / first_ratio - 1
        axis = preferred_axis(deviation, tolerance, len(merges))
        axis = axis if eligible(axis) else 1 - axis
        _, _, zone = min(eligible(axis))
        active[axis] = {other for other in active[axis] if parents[axis][other] != zone} | {zone}
        merges.append((axis, zone))
    return merges
