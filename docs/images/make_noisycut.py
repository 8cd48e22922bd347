"""Draws docs/images/noisycut.svg: one matrix, and what NoisyCut releases of it with more and less noise.

python docs/images/make_noisycut.py
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tripcloak.flows.methods import NoisyCut
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Ints
from tripcloak.hierarchy import Hierarchy

TILES, SIDE, GAP, TOP = 32, 260, 46, 64
EPSILONS = (0.2, 1.0)


@dataclass
class Seeded:
    """Noise from a seed, so that the picture stays as it is; no release may have such noise."""

    dice: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def laplace(self, exact: Ints, *, scale: float, sensitivity: int, epsilon: float) -> Ints:
        """Return numbers with noise."""
        return self.gaussian(exact, scale=scale, sensitivity=sensitivity, rho=epsilon)

    def gaussian(self, exact: Ints, *, scale: float, sensitivity: int, rho: float) -> Ints:
        """Return numbers with noise."""
        return exact + np.rint(self.dice.normal(0, scale, len(exact))).astype(np.int64)


def main() -> None:
    """Write the picture beside this script."""
    matrix = trips_between_two_towns()
    width = (len(EPSILONS) + 1) * (SIDE + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {SIDE + TOP + 40}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{width}" height="{SIDE + TOP + 40}" fill="#ffffff"/>',
    ]
    flows = matrix.flows
    truth = [
        (origin, 1, destination, 1, trips)
        for origin, destination, trips in zip(flows.origin, flows.destination, flows.trips, strict=True)
    ]
    parts += _panel(GAP, "The input", f"{flows.trips.sum():,} trips by as many people", truth)
    for number, epsilon in enumerate(EPSILONS, 1):
        release = NoisyCut(epsilon=epsilon).anonymise(matrix, noise=Seeded())
        names = release.origins.ids[release.group_origin], release.destinations.ids[release.group_destination]
        boxes = [
            (*map(int, origin.split("+")), *map(int, destination.split("+")), trips)
            for origin, destination, trips in zip(*names, release.trips, strict=True)
        ]
        words = f"{len(boxes):,} pairs of zones"
        parts += _panel(GAP + number * (SIDE + GAP), f"NoisyCut, epsilon {epsilon:g}", words, boxes)
    text = "\n".join([*parts, "</svg>", ""])
    Path(__file__).with_name("noisycut.svg").write_text(text, encoding="utf-8")


def trips_between_two_towns() -> ODMatrix:
    """Return trips between two towns of different size and the country around them."""
    rng, n = np.random.default_rng(12), 20_000
    home = np.where(rng.random(n) < 0.6, rng.normal(8.4, 2.2, n), rng.normal(24.0, 4.0, n))
    work = np.where(rng.random(n) < 0.6, home + rng.normal(0, 1.6, n), rng.normal(9.0, 1.6, n))
    inside = (home >= 0) & (home < TILES) & (work >= 0) & (work < TILES)
    tree = _binary_tree()
    ends = (side[inside].astype(np.int32) for side in (home, work))
    return replace(ODMatrix.from_trips(tree, tree, *ends), each_trip_is_a_person=True)


def _binary_tree() -> Hierarchy:
    """Return tiles joined two by two; the name of a zone tells its first tile and its size."""
    sizes = [2**power for power in range(TILES.bit_length())]
    zones = [(first, size) for size in sizes for first in range(0, TILES, size)]
    row = {zone: number for number, zone in enumerate(zones)}
    parents = [row.get((first - first % (2 * size), 2 * size), -1) for first, size in zones]
    names = [f"{first:02d}+{size:02d}" for first, size in zones]
    return replace(Hierarchy.from_parents(names, parents), complete=True)


def _panel(x: float, title: str, words: str, boxes: list[tuple[int, int, int, int, int]]) -> list[str]:
    """Return one panel: a box for every pair of zones, the darker the more trips lie on a pair of tiles."""
    unit = SIDE / TILES
    parts = [
        f'<text x="{x}" y="24" font-weight="600">{title}</text>',
        f'<text x="{x}" y="44" fill="#57606a">{words}</text>',
        f'<rect x="{x}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="#f6f8fa" stroke="#8c959f"/>',
    ]
    for origin, wide, destination, high, trips in boxes:
        shade = min(trips / (wide * high) / 120, 1.0) ** 0.5
        parts.append(
            f'<rect x="{x + origin * unit:.2f}" y="{TOP + SIDE - (destination + high) * unit:.2f}" '
            f'width="{wide * unit:.2f}" height="{high * unit:.2f}" fill="#0a5c9e" '
            f'fill-opacity="{0.05 + 0.9 * shade:.2f}" stroke="#0a3d66" stroke-width="0.4"/>'
        )
    parts.append(
        f'<text x="{x}" y="{TOP + SIDE + 22}" fill="#57606a">origins to the right, destinations up</text>'
    )
    return parts


if __name__ == "__main__":
    main()
