"""Draws decomposition.svg: two problems that share the savings, at first and at last, and what they prove.

The matrix is that of make_cuts.py. A rectangle is a product that a problem releases: in the first every
origin zone has destinations of its own, in the second every destination zone has origins of its own.

    python docs/images/make_decomposition.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from make_cuts import TILES, trips_between_two_towns

from tripcloak import KAnonymity, TwinCut
from tripcloak.flows.methods.decomposition import Decomposition
from tripcloak.flows.methods.losses import find_loss
from tripcloak.flows.methods.products import SafeProducts, find_products
from tripcloak.ground.arrays import Bools

SIDE, GAP, TOP, WIDTH, HEIGHT = 150, 22, 58, 900, 420
LEFT, RIGHT, BOTTOM = 470, 876, 366
ROUNDS, LOWEST = 60, 60.0
INK, QUIET, EDGE, FILL, LINE = "#1b2733", "#5b6875", "#334155", "#dbe7f3", "#1d4e89"


class Watched(Decomposition):
    """A decomposition whose answers are kept, round by round."""

    def round(self, reached: float) -> None:
        """Go one round, and note both answers and the bound."""
        self.answers: list[Bools] = []
        super().round(reached)

    def _solve(self, first: int) -> float:
        saved = super()._solve(first)
        released = np.zeros(len(self._shifts), dtype=bool)
        released[self._left.rows] = self._chosen[first]
        self.answers.append(released)
        return saved


def main() -> None:
    """Write the picture beside this script."""
    matrix = trips_between_two_towns()
    promise = KAnonymity(k=10, unit="trips")
    release = TwinCut(promise=promise, suppression_limit=0.1).anonymise(matrix)
    size = release.origins.tiles[release.group_origin] + release.destinations.tiles[release.group_destination]
    reached = float(np.average(size, weights=release.trips))
    products = find_products(matrix, promise.resolve(matrix), find_loss("tiles"))
    proof, answers, bounds = Watched(products, products.budget(0.1), 12.0), [], []
    for _ in range(ROUNDS):
        proof.round(reached)
        answers.append(proof.answers)
        bounds.append(100 * proof.bound / reached)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for row, (when, chosen) in enumerate((("first round", answers[0]), (f"round {ROUNDS}", answers[-1]))):
        for column, one in enumerate(chosen):
            x, y = 60 + column * (SIDE + GAP), TOP + row * (SIDE + GAP)
            parts += _panel(x, y, products, one)
        parts.append(_text(46, TOP + row * (SIDE + GAP) + SIDE / 2, when, turn=True))
    parts += [_text(60, 24, "one origin cut", INK), _text(60, 42, "destinations as each likes")]
    parts += [_text(232, 24, "one destination cut", INK), _text(232, 42, "origins as each likes")]
    parts += _curve(bounds)
    text = "\n".join([*parts, "</svg>", ""])
    Path(__file__).with_name("decomposition.svg").write_text(text, encoding="utf-8")


def _panel(x: float, y: float, products: SafeProducts, chosen: Bools) -> list[str]:
    """Return the products that one problem releases, origins along the bottom."""
    tile = SIDE / TILES
    drawn = [f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" fill="#f1f3f5" stroke="#c3cad1"/>']
    for p in np.flatnonzero(chosen):
        (left, wide), (low, high) = (
            map(int, tree.zones.ids[zone].split("+"))
            for tree, zone in zip(products.axes, products.zone[:, p], strict=True)
        )
        drawn.append(
            f'<rect x="{x + left * tile:.1f}" y="{y + SIDE - (low + high) * tile:.1f}" '
            f'width="{wide * tile:.1f}" height="{high * tile:.1f}" fill="{FILL}" stroke="{EDGE}"/>'
        )
    return drawn


def _curve(bounds: list[float]) -> list[str]:
    """Return the chart of what is proven."""

    def at(round_: float, percent: float) -> str:
        x = LEFT + (RIGHT - LEFT) * round_ / ROUNDS
        y = TOP + (BOTTOM - TOP) * (102 - percent) / (102 - LOWEST)
        return f"{x:.1f},{y:.1f}"

    drawn = [
        _text(LEFT, 24, "what no pair of cuts can go below", INK),
        _text(LEFT, 42, "in % of TwinCut's G"),
    ]
    for percent in (60, 70, 80, 90, 100):
        first, last = at(0, percent), at(ROUNDS, percent)
        colour = "#c2410c" if percent == 100 else "#e2e8f0"
        drawn.append(f'<polyline points="{first} {last}" stroke="{colour}" fill="none"/>')
        x, y = map(float, first.split(","))
        drawn.append(_text(x - 30, y + 4, f"{percent}"))
    line = " ".join(at(number, bound) for number, bound in enumerate(bounds, 1) if bound >= LOWEST)
    drawn.append(f'<polyline points="{line}" stroke="{LINE}" stroke-width="2.5" fill="none"/>')
    for number in (1, 20, 40, 60):
        x = float(at(number, LOWEST).split(",")[0])
        drawn.append(_text(x - 6, BOTTOM + 20, f"{number}"))
    return [*drawn, _text(RIGHT - 46, BOTTOM + 38, "rounds")]


def _text(x: float, y: float, words: str, colour: str = QUIET, *, turn: bool = False) -> str:
    turned = f' transform="rotate(-90 {x} {y})" text-anchor="middle"' if turn else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}"{turned}>{words}</text>'


if __name__ == "__main__":
    main()
