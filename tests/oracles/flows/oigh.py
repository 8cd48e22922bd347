"""OIGH by brute force: every uniform level of every axis, each pair of them looked at, flow by flow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from oracles.flows.cuts import Box, Boxes, root_of
from oracles.flows.kernels import Tree, below, height, lift, path, tiles

Level = dict[str, str]
"""The zone of every tile."""
Outcome = tuple[float, float]
"""Mean loss and suppressed volume."""

CLOSE = 1e-9


def levels(tree: Tree, *, unseen_tiles: int = 0) -> list[Level]:
    """Return the uniform cuts: by height where all tiles are equally deep, else by the smallest parents."""
    if len({len(path(tree, tile)) for tile in tiles(tree)}) == 1:
        tops = range(height(tree, root_of(tree)) + 1)
        return [{tile: lift(tree, tile, top) for tile in tiles(tree)} for top in tops]
    found = [{tile: tile for tile in tiles(tree)}]
    while set(found[-1].values()) != {root_of(tree)}:
        found.append(step_up(tree, found[-1], unseen_tiles))
    return found


def step_up(tree: Tree, level: Level, unseen_tiles: int) -> Level:
    """Return the next level of appendix B: only the smallest of the parents within reach are used."""
    parents = {above for zone in set(level.values()) if (above := tree[zone]) is not None}
    size = {zone: len(below(tree, zone)) + unseen_tiles for zone in parents}
    smallest = [zone for zone in parents if size[zone] == min(size.values())]
    return level | {tile: zone for zone in smallest for tile in below(tree, zone)}


def released(boxes: Boxes, node: Sequence[Level]) -> dict[Box, Box | None]:
    """Return the box of every flow at these levels, None where it is not safe."""
    lifted = {
        flow: tuple(level[tile] for level, tile in zip(node, flow, strict=True)) for flow in boxes.flows
    }
    return {flow: box if boxes.all[box].safe else None for flow, box in lifted.items()}


def lattice(boxes: Boxes, axes: Sequence[list[Level]]) -> dict[tuple[int, ...], Outcome]:
    """Return what every node loses and suppresses; the mean is infinite where nothing is released."""
    found = {}
    for node in product(*(range(len(axis)) for axis in axes)):
        flows = released(boxes, [axis[level] for axis, level in zip(axes, node, strict=True)])
        loss, hidden = boxes.outcome(flows)
        found[node] = (loss / (boxes.total - hidden) if hidden < boxes.total else float("inf"), hidden)
    return found


def best(outcomes: dict[tuple[int, ...], Outcome], budget: float) -> tuple[int, ...]:
    """Return the best of the lowest nodes that fit; of equal ones what hides less, then the lowest levels."""
    fit = {node for node, (mean, hidden) in outcomes.items() if hidden <= budget and mean < float("inf")}
    lowest = [node for node in fit if not any(other != node and under(other, node) for other in fit)]
    least = min(outcomes[node][0] for node in lowest)
    alike = [node for node in lowest if outcomes[node][0] <= least * (1 + CLOSE)]
    return min(alike, key=lambda node: (outcomes[node][1], node))


def under(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether a node is nowhere above another."""
    return all(a <= b for a, b in zip(one, other, strict=True))
