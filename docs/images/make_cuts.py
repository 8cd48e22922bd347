"""Draws cuts.svg: the same small matrix under one pair of cuts, a nested cut and a product cut.

Origins run along the bottom and destinations up the side, each with a binary tree of 16 tiles. A dot is
a flow, larger for more trips. A rectangle is a released group; hatched ground is suppressed.

    python docs/images/make_cuts.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tripcloak import KAnonymity, ODMatrix, measure
from tripcloak.flows.methods import FlowMethod, NestedCut, ProductCut, TwinCut
from tripcloak.flows.release import Release
from tripcloak.hierarchy import Hierarchy

TILES, SIDE, GAP, TOP = 16, 260, 46, 64
PANELS: tuple[tuple[str, str, type[FlowMethod]], ...] = (
    ("TwinCut: homogeneous", "one origin cut, one destination cut", TwinCut),
    ("NestedCut: nested", "every origin zone has its own destinations", NestedCut),
    ("ProductCut: product", "any group may be split either way", ProductCut),
)


def main() -> None:
    """Write the picture beside this script."""
    matrix = trips_between_two_towns()
    promise = KAnonymity(k=10, unit="trips")
    width = len(PANELS) * (SIDE + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {SIDE + TOP + 62}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{width}" height="{SIDE + TOP + 62}" fill="#ffffff"/>',
        '<defs><pattern id="h" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="6" height="6" fill="#f1f3f5"/>'
        '<line x1="0" y1="0" x2="0" y2="6" stroke="#c3cad1" stroke-width="1.5"/></pattern></defs>',
    ]
    for number, (title, words, method) in enumerate(PANELS):
        release = method(promise=promise, suppression_limit=0.1).anonymise(matrix)
        parts += _panel(GAP + number * (SIDE + GAP), title, words, matrix, release)
    text = "\n".join([*parts, "</svg>", ""])
    Path(__file__).with_name("cuts.svg").write_text(text, encoding="utf-8")


def trips_between_two_towns() -> ODMatrix:
    """Return trips between two towns of different size and the country around them."""
    rng = np.random.default_rng(12)
    home = np.where(rng.random(900) < 0.55, rng.normal(4.2, 1.6, 900), rng.normal(12.0, 2.4, 900))
    work = np.where(rng.random(900) < 0.6, home + rng.normal(0, 1.2, 900), rng.normal(4.5, 1.2, 900))
    inside = (home >= 0) & (home < TILES) & (work >= 0) & (work < TILES)
    tree = _binary_tree()
    return ODMatrix.from_trips(tree, tree, home[inside].astype(np.int32), work[inside].astype(np.int32))


def _binary_tree() -> Hierarchy:
    """Return 16 tiles joined two by two; the name of a zone tells its first tile and its size."""
    names = [f"{first:02d}+{size:02d}" for size in (1, 2, 4, 8, 16) for first in range(0, TILES, size)]
    place = {name: row for row, name in enumerate(names)}
    parents = []
    for name in names:
        first, size = int(name[:2]), int(name[3:])
        parents.append(-1 if size == TILES else place[f"{first // (2 * size) * 2 * size:02d}+{2 * size:02d}"])
    return Hierarchy.from_parents(names, parents)


def _panel(left: int, title: str, words: str, matrix: ODMatrix, release: Release) -> list[str]:
    unit = SIDE / TILES
    loss = measure(matrix, release)
    parts = [
        f'<text x="{left}" y="26" font-weight="600" font-size="15" fill="#1b2733">{title}</text>',
        f'<text x="{left}" y="46" fill="#5b6875">{words}</text>',
        f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="url(#h)" stroke="#aab4be"/>',
    ]
    shades = ("#dbeafe", "#d1fae5", "#fef3c7", "#ede9fe", "#ffe4e6", "#e0f2fe")
    for group in range(release.n_groups):
        o, d = (
            str(release.origins.ids[z])
            for z in (release.group_origin[group], release.group_destination[group])
        )
        x, y = left + int(o[:2]) * unit, TOP + SIDE - (int(d[:2]) + int(d[3:])) * unit
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{int(o[3:]) * unit:.1f}" height="{int(d[3:]) * unit:.1f}" '
            f'fill="{shades[group % len(shades)]}" stroke="#1d4e89" stroke-width="1.2"/>'
        )
    for o, d, n in zip(matrix.flows.origin, matrix.flows.destination, matrix.flows.trips, strict=True):
        x, y = left + (o + 0.5) * unit, TOP + SIDE - (d + 0.5) * unit
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{0.9 * np.sqrt(n):.1f}" fill="#334155" opacity="0.55"/>'
        )
    told = f"{release.n_groups} groups, G = {loss['G']:.2f}, {loss['S']:.1%} suppressed"
    foot = TOP + SIDE
    return [
        *parts,
        f'<text x="{left + SIDE / 2}" y="{foot + 20}" text-anchor="middle" fill="#5b6875">origins</text>',
        f'<text x="{left}" y="{foot + 46}" fill="#1b2733">{told}</text>',
        f'<text transform="translate({left - 10},{TOP + SIDE / 2}) rotate(-90)" text-anchor="middle" '
        'fill="#5b6875">destinations</text>',
    ]


if __name__ == "__main__":
    main()
