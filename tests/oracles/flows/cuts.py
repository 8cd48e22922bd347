"""Every partition, nested cut and pair of cuts of small trees, and plain twins of the kernels that cut.

A box is one zone per axis. All boxes are looked at, safe or not, straight from the definitions; what
can be reached is told as a frontier: for every volume that may be suppressed, the least loss of the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import NamedTuple

from oracles.flows.kernels import Row, Thresholds, Tree, below, children, path, safe, support

Box = tuple[str, ...]
Cut = tuple[str, ...]
Frontier = dict[float, float]
Split = Callable[[Box, int], bool]
"""Whether a box may be split on an axis."""

RELEASE, SUPPRESS = -1, -2


@dataclass(frozen=True, eq=False)
class Boxes:
    """All boxes over some flows.

    ``losses`` tells for each axis what a record of a tile loses in a zone; ``least_tiles`` is how many
    tiles that occur a released zone of space has to cover; ``also`` is what else a released box must hold.
    With ``keeps_safe`` a safe box that is not split is released.
    """

    trees: tuple[Tree, ...]
    flows: Mapping[Box, list[Row]]
    thresholds: Thresholds
    losses: tuple[Callable[[str, str], float], ...]
    least_tiles: int = 0
    also: Callable[[Box, list[Row]], bool] = lambda box, rows: True
    keeps_safe: bool = False

    @cached_property
    def all(self) -> dict[Box, Cell]:
        """Return every box that holds a flow, by its zones."""
        inside: dict[Box, list[Box]] = defaultdict(list)
        for flow in self.flows:
            for box in product(*(path(tree, tile) for tree, tile in zip(self.trees, flow, strict=True))):
                inside[box].append(flow)
        return {box: self._cell(box, flows) for box, flows in inside.items()}

    @property
    def root(self) -> Box:
        """Return the box of everything."""
        return tuple(root_of(tree) for tree in self.trees)

    @property
    def total(self) -> float:
        """Return the volume of all flows."""
        return self.all[self.root].volume

    @property
    def volume_unit(self) -> str:
        """Return what is summed: population where only that is protected."""
        return "population" if set(self.thresholds) == {"population"} else "trips"

    def volume(self, flow: Box) -> float:
        """Return the volume of a flow."""
        return support(self.flows[flow], self.volume_unit)

    def loss(self, flow: Box, box: Box) -> float:
        """Return what a flow loses when it is released in a box."""
        each = sum(loss(tile, zone) for loss, tile, zone in zip(self.losses, flow, box, strict=True))
        return each * self.volume(flow)

    def parts(self, box: Box, axis: int) -> list[Box]:
        """Return the boxes with flows that a box falls into when an axis is split."""
        found = [(*box[:axis], child, *box[axis + 1 :]) for child in children(self.trees[axis], box[axis])]
        return [part for part in found if part in self.all]

    def outcome(self, released: Mapping[Box, Box | None]) -> tuple[float, float]:
        """Return the loss and the suppressed volume when each flow is released in a box or not at all."""
        loss = sum(self.loss(flow, box) for flow, box in released.items() if box is not None)
        return loss, sum(self.volume(flow) for flow, box in released.items() if box is None)

    def _cell(self, box: Box, flows: list[Box]) -> Cell:
        rows = [row for flow in flows for row in self.flows[flow]]
        wide = all(self._occurring(axis, box[axis]) >= self.least_tiles for axis in (0, 1))
        return Cell(
            sum(self.volume(flow) for flow in flows),
            sum(self.loss(flow, box) for flow in flows),
            wide and safe(rows, self.thresholds) and self.also(box, rows),
            self.keeps_safe,
        )

    def _occurring(self, axis: int, zone: str) -> int:
        return len({flow[axis] for flow in self.flows} & set(below(self.trees[axis], zone)))


class Cell(NamedTuple):
    """A box as a whole: its volume, its loss if it is released as it is, and whether that is safe."""

    volume: float
    loss: float
    safe: bool
    kept_if_safe: bool = False

    @property
    def ways(self) -> Frontier:
        """Return what may become of it unsplit: it is suppressed, or released if it is safe."""
        if self.safe and self.kept_if_safe:
            return {0.0: self.loss}
        return {self.volume: 0.0, **({0.0: self.loss} if self.safe else {})}


# --- what can be reached ---------------------------------------------------------------------------


def anywhere(box: Box, axis: int) -> bool:
    """Allow every split."""
    return True


def first_axis_first(boxes: Boxes, first: int) -> Split:
    """Allow the splits of a nested cut: the first axis only while the other one is whole."""
    return lambda box, axis: axis != first or box[1 - first] == boxes.root[1 - first]


def frontier(boxes: Boxes, may_split: Split = anywhere) -> Frontier:
    """Return what recursive partitions made of these splits can reach."""
    known: dict[Box, Frontier] = {}

    def reach(box: Box) -> Frontier:
        if box not in known:
            ways = [boxes.all[box].ways]
            for axis in range(len(box)):
                if may_split(box, axis) and children(boxes.trees[axis], box[axis]):
                    ways.append(together(reach(part) for part in boxes.parts(box, axis)))
            known[box] = best_of(ways)
        return known[box]

    return reach(boxes.root)


def least_cost(boxes: Boxes, price: float, may_split: Split = anywhere) -> float:
    """Return F of everything: the least of release, suppression, and the sums over either axis' children."""
    known: dict[Box, float] = {}

    def cost(box: Box) -> float:
        if box not in known:
            cell = boxes.all[box]
            ways = [loss + price * hidden for hidden, loss in cell.ways.items()]
            for axis in range(len(box)):
                if may_split(box, axis) and children(boxes.trees[axis], box[axis]):
                    ways.append(sum(cost(part) for part in boxes.parts(box, axis)))
            known[box] = min(ways)
        return known[box]

    return cost(boxes.root)


def partitions(boxes: Boxes, may_split: Split = anywhere) -> set[frozenset[Box]]:
    """Return every recursive partition, box by box."""

    def of(box: Box) -> Iterator[frozenset[Box]]:
        yield frozenset([box])
        for axis in range(len(box)):
            if may_split(box, axis) and children(boxes.trees[axis], box[axis]):
                for parts in product(*(set(of(part)) for part in boxes.parts(box, axis))):
                    yield frozenset().union(*parts)

    return set(of(boxes.root))


def nested_cuts(boxes: Boxes, first: int) -> Iterator[frozenset[Box]]:
    """Yield every cut of the first axis with every combination of cuts of the other inside its zones."""
    for cut in cuts(boxes.trees[first]):
        for inner in product(cuts(boxes.trees[1 - first]), repeat=len(cut)):
            pairs = [(zone, other) for zone, others in zip(cut, inner, strict=True) for other in others]
            found = pairs if first == 0 else [(other, zone) for zone, other in pairs]
            yield frozenset(pair for pair in found if pair in boxes.all)


def pairs_of_cuts(boxes: Boxes) -> Iterator[tuple[Cut, ...]]:
    """Yield every cut of the origins with every cut of the destinations, and of time where it is an axis."""
    yield from product(*(cuts(tree) for tree in boxes.trees))


def twin_frontier(boxes: Boxes, pairs: Iterable[tuple[Cut, ...]]) -> Frontier:
    """Return what pairs of cuts can reach when any of their cells may be suppressed."""
    return best_of(together(boxes.all[cell].ways for cell in cells_of(boxes, *pair)) for pair in pairs)


def cells_of(boxes: Boxes, *chosen: Iterable[str]) -> list[Box]:
    """Return the cells between the cuts of all axes that hold a flow."""
    return [cell for cell in product(*chosen) if cell in boxes.all]


def cuts(tree: Tree, zone: str | None = None) -> list[Cut]:
    """Return every cut of a tree below a zone, the root by default."""
    top = root_of(tree) if zone is None else zone
    if not children(tree, top):
        return [(top,)]
    finer = product(*(cuts(tree, child) for child in children(tree, top)))
    return [(top,), *(sum(parts, ()) for parts in finer)]


def root_of(tree: Tree) -> str:
    """Return the zone without a parent."""
    return next(zone for zone, above in tree.items() if above is None)


# --- frontiers -------------------------------------------------------------------------------------


def together(parts: Iterable[Frontier]) -> Frontier:
    """Return what can be reached by all parts at once."""
    total: Frontier = {0.0: 0.0}
    for part in parts:
        sums = product(total.items(), part.items())
        total = best_of({hidden + more: loss + extra} for (hidden, loss), (more, extra) in sums)
    return total


def best_of(ways: Iterable[Frontier]) -> Frontier:
    """Return the better of several ways; more suppression must buy less loss."""
    points = sorted((hidden, loss) for way in ways for hidden, loss in way.items())
    kept: Frontier = {}
    least = float("inf")
    for hidden, loss in points:
        if loss < least:
            kept[hidden] = least = loss
    return kept


def least_mean(reached: Frontier, total: float, budget: float) -> float:
    """Return the least mean loss of what is released within a budget."""
    return min(loss / (total - hidden) for hidden, loss in reached.items() if hidden <= budget)


def slopes(reached: Frontier) -> list[float]:
    """Return the prices at which two points of a frontier cost the same."""
    points = list(reached.items())
    return sorted(
        {
            (loss - less) / (more - hidden)
            for at, (hidden, loss) in enumerate(points)
            for more, less in points[at + 1 :]
        }
    )


def critical(reached: Frontier, budget: float) -> tuple[float, float]:
    """Return the height of the lower envelope at a budget, and the range's price there.

    The price is the slope of the piece that crosses the budget; 0 where nothing need be suppressed.
    """
    low = min((loss, hidden) for hidden, loss in reached.items())
    if low[1] <= budget:
        return low[0], 0.0
    crossing = [
        (loss - (loss - less) / (more - hidden) * (budget - hidden), (loss - less) / (more - hidden))
        for (hidden, loss), (more, less) in product(reached.items(), repeat=2)
        if hidden <= budget < more
    ]
    return min(crossing)


# --- twins of the kernels --------------------------------------------------------------------------


class Choices(NamedTuple):
    """What to do with every product, and the loss and suppressed volume of the whole."""

    choice: list[int]
    loss: Fraction
    hidden: Fraction


def best_partition(
    loss: Sequence[float],
    volume: Sequence[float],
    up: Sequence[Sequence[int]],
    may_split: Sequence[Sequence[bool]],
    price: float,
    may_withhold: bool,
) -> Choices:
    """Return the best choices; a tie goes to release, then to suppression, then to the first axis."""

    def solve(p: int) -> tuple[Fraction, Fraction, int]:
        whole = Fraction(volume[p])
        free = loss[p] < float("inf")
        ways = [(Fraction(loss[p]) * whole, Fraction(0), RELEASE)] if free else []
        if may_withhold or not free:
            ways.append((Fraction(0), whole, SUPPRESS))
        for axis, above in enumerate(up):
            if may_split[axis][p]:
                inside = [q for q, parent in enumerate(above) if parent == p]
                lost = sum((answers[q][0] for q in inside), Fraction(0))
                kept = sum((Fraction(volume[q]) - answers[q][1] for q in inside), Fraction(0))
                ways.append((lost, whole - kept, axis))
        return min(ways, key=lambda way: way[0] + Fraction(price) * way[1])

    answers: dict[int, tuple[Fraction, Fraction, int]] = {}
    for p in reversed(range(len(volume))):
        answers[p] = solve(p)
    return Choices([answers[p][2] for p in range(len(volume))], answers[0][0], answers[0][1])


def follow_choices(choice: Sequence[int], up: Sequence[Sequence[int]]) -> list[int]:
    """Return the released product that every product lies in, by walking down from the first."""
    released: set[int] = set()
    waiting = [0]
    while waiting:
        p = waiting.pop()
        if choice[p] == RELEASE:
            released.add(p)
        elif choice[p] >= 0:
            waiting += [q for q, parent in enumerate(up[choice[p]]) if parent == p]

    def around(p: int) -> set[int]:
        return {p}.union(*(around(above[p]) for above in up if above[p] >= 0))

    return [max(around(p) & released, default=-1) for p in range(len(choice))]


def sums_by_corner(
    levels: Sequence[tuple[tuple[int, int], tuple[int, int]]],
    loss: Sequence[float],
    volume: Sequence[float],
    shape: tuple[int, int],
) -> list[list[tuple[float, float]]]:
    """Return loss and volume of the products that stand at every pair of levels.

    ``levels`` are, for each product and axis, its first level and the one behind its last.
    """

    def here(row: int, column: int) -> tuple[float, float]:
        inside = [
            p
            for p, ((top, end), (left, right)) in enumerate(levels)
            if top <= row < end and left <= column < right and loss[p] < float("inf")
        ]
        return sum((loss[p] * volume[p] for p in inside), 0.0), sum((volume[p] for p in inside), 0.0)

    return [[here(row, column) for column in range(shape[1])] for row in range(shape[0])]


def sums_by_zone(
    zone: Sequence[int],
    other: Sequence[int],
    chosen: Sequence[bool],
    loss: Sequence[float],
    volume: Sequence[float],
    price: float,
    size: int,
) -> tuple[list[float], list[float]]:
    """Return loss and volume of every zone over the products whose other zone is chosen and not too dear."""
    inside = [
        [p for p, z in enumerate(zone) if z == here and chosen[other[p]] and loss[p] <= min(price, 1e300)]
        for here in range(size)
    ]
    losses = [sum((loss[p] * volume[p] for p in products), 0.0) for products in inside]
    return losses, [sum((volume[p] for p in products), 0.0) for products in inside]


def place_flows(
    codes: Sequence[Sequence[int]],
    ancestors: Sequence[Sequence[Sequence[int]]],
    choice: Sequence[int],
    number: Mapping[Sequence[int], int],
) -> list[int]:
    """Return the released product of every flow, -1 for none, by following the choices from the root."""

    def follow(flow: int, depth: list[int]) -> int:
        zones = tuple(at[steps][code[flow]] for at, steps, code in zip(ancestors, depth, codes, strict=True))
        p = number.get(zones, -1)
        if p < 0 or choice[p] == SUPPRESS:
            return -1
        if choice[p] == RELEASE:
            return p
        return follow(flow, [steps + (axis == choice[p]) for axis, steps in enumerate(depth)])

    return [follow(flow, [0] * len(codes)) for flow in range(len(codes[0]))]


def best_cut(cost: Sequence[float], parent: Sequence[int]) -> tuple[float, list[int]]:
    """Return the least cost of a cut of a tree given by its parents, and its zones; undivided ones first."""

    def below(zone: int) -> tuple[float, list[int]]:
        parts = [below(child) for child, above in enumerate(parent) if above == zone]
        divided = sum(part[0] for part in parts), [z for part in parts for z in part[1]]
        return divided if parts and divided[0] < cost[zone] else (cost[zone], [zone])

    least, zones = below(list(parent).index(-1))
    return least, sorted(zones)


def highest(chosen: Sequence[bool], parent: Sequence[int]) -> list[bool]:
    """Return which zones are chosen with none above them that is."""

    def inside(zone: int) -> bool:
        return parent[zone] >= 0 and (chosen[parent[zone]] or inside(parent[zone]))

    return [some and not inside(zone) for zone, some in enumerate(chosen)]
