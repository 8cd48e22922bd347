"""Draws mondrian.svg: how Mondrian cuts trips along a line, and its boxes on the map of a made-up city.

Left, origins run along the bottom and destinations up the side; a dot is a flow, larger for more trips, and a
rectangle is a released group. Below and beside the rectangles lie the boxes that are released: they overlap.
Right, the boxes of origins from which trips go to two places of the city.

    python docs/images/make_mondrian.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from tripcloak import City, KAnonymity, Mondrian, ODMatrix, TripSource, Zoning, read_matrix, write_city
from tripcloak.flows.release import Release
from tripcloak.hierarchy import BoxZones, Hierarchy

TILES, SIDE, GAP, TOP, EDGE = 24, 360, 90, 64, 62
REACH, TILE = 0.09, 6.0
K = KAnonymity(k=10, unit="trips")
SHADES = ("#dbeafe", "#d1fae5", "#fef3c7", "#ede9fe", "#ffe4e6", "#e0f2fe")
INK, QUIET, LINE = "#1b2733", "#5b6875", "#1d4e89"


def main() -> None:
    """Write the picture beside this script."""
    width, height = 2 * SIDE + 3 * GAP, SIDE + TOP + EDGE + 56
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_plane(GAP + 10),
        *_city(2 * GAP + SIDE + 10),
    ]
    text = "\n".join([*parts, "</svg>", ""])
    Path(__file__).with_name("mondrian.svg").write_text(text, encoding="utf-8")


def _plane(left: int) -> list[str]:
    """Return trips along a line, origin against destination, and the groups they are cut into."""
    matrix = _line()
    release = Mondrian(promise=K).anonymise(matrix)
    unit, foot = SIDE / TILES, TOP + SIDE
    spans = [_span(zones, rows) for zones, rows in _sides(release)]
    parts = [*_words(left, "Cut at medians", "no two groups share a pair of places"), _frame(left)]
    for group, ((west, east), (south, north)) in enumerate(zip(*spans, strict=True)):
        x, y = left + west * unit, foot - (north + 1) * unit
        wide, high = (east - west + 1) * unit, (north - south + 1) * unit
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" '
            f'fill="{SHADES[group % len(SHADES)]}" stroke="{LINE}" stroke-width="1.2"/>'
        )
    for o, d, n in zip(matrix.flows.origin, matrix.flows.destination, matrix.flows.trips, strict=True):
        x, y = left + (o + 0.5) * unit, foot - (d + 0.5) * unit
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{np.sqrt(n):.1f}" fill="#334155" opacity="0.55"/>'
        )
    for row, (west, east) in enumerate(sorted(set(spans[0]))):
        y = foot + 8 + 4 * (row % 12)
        parts.append(_stroke(left + west * unit + 1, y, left + (east + 1) * unit - 1, y))
    for row, (south, north) in enumerate(sorted(set(spans[1]))):
        x = left - 8 - 4 * (row % 12)
        parts.append(_stroke(x, foot - south * unit - 1, x, foot - (north + 1) * unit + 1))
    told = f"{release.n_groups} groups of at least 10 trips; the boxes on each axis overlap"
    return [*parts, f'<text x="{left}" y="{foot + EDGE + 26}" fill="{INK}">{told}</text>']


def _line() -> ODMatrix:
    """Return trips between two towns on a line and the country between them."""
    rng = np.random.default_rng(12)
    home = np.where(rng.random(700) < 0.55, rng.normal(6.2, 2.6, 700), rng.normal(17.5, 3.2, 700))
    work = np.where(rng.random(700) < 0.6, home + rng.normal(0, 2.2, 700), rng.normal(6.5, 1.8, 700))
    inside = (home >= 0) & (home < TILES) & (work >= 0) & (work < TILES)
    names, lon = [f"{tile:02d}" for tile in range(TILES)], np.arange(TILES + 1) / 100
    tree = Hierarchy.from_parents([*names, "all"], [TILES] * TILES + [-1], lat=np.zeros(TILES + 1), lon=lon)
    return ODMatrix.from_trips(tree, tree, home[inside].astype(np.int32), work[inside].astype(np.int32))


def _sides(release: Release) -> list[tuple[BoxZones, np.ndarray]]:
    origins, destinations = release.origins, release.destinations
    assert isinstance(origins, BoxZones)
    assert isinstance(destinations, BoxZones)
    return [(origins, release.group_origin), (destinations, release.group_destination)]


def _span(zones: BoxZones, rows: np.ndarray) -> list[tuple[int, int]]:
    """Return the first and the last tile on the line of every group's box."""
    return [(int(zones.corners.west[row]) // 10_000, int(zones.corners.east[row]) // 10_000) for row in rows]


def _city(left: int) -> list[str]:
    """Return the boxes of origins from which trips go to two places of a made-up city."""
    with tempfile.TemporaryDirectory() as folder:
        write_city(City(trips=60_000, seed=1), Path(folder) / "city.parquet")
        source = TripSource(paths=(str(Path(folder) / "city.parquet"),))
        matrix = read_matrix(source, Zoning(spec="h3:9")).trips.matrix
    release = Mondrian(promise=K).anonymise(matrix)
    (origins, rows), (destinations, ends) = _sides(release)
    tiles = matrix.destinations.zones
    busiest = np.argsort(-np.bincount(matrix.flows.destination, matrix.flows.trips), kind="stable")
    clip = f'<clipPath id="city"><rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}"/></clipPath>'
    words = "where trips to two places begin, a colour each"
    parts = [*_words(left, "On the map", words), clip, _frame(left), '<g clip-path="url(#city)">']
    for colour, tile in zip((LINE, "#c2410c"), busiest[[0, 12]], strict=True):
        lat, lon = tiles.lat[tile] * 1e6, tiles.lon[tile] * 1e6
        south, west, north, east = (side[ends] for side in destinations.corners)
        here = (south <= lat) & (lat <= north) & (west <= lon) & (lon <= east)
        middle = tiles.lat[busiest[0]], tiles.lon[busiest[0]]
        parts += _boxes(left, np.stack(origins.corners, axis=1)[rows[here]] / 1e6, middle, colour)
    told = f"60,000 trips in {release.n_groups:,} groups; {2 * REACH * 111:.0f} km across"
    return [*parts, "</g>", f'<text x="{left}" y="{TOP + SIDE + EDGE + 26}" fill="{INK}">{told}</text>']


def _boxes(left: int, boxes: np.ndarray, middle: tuple[float, float], colour: str) -> list[str]:
    """Return boxes in degrees, drawn around a middle; half a tile is added on every side."""
    wide = REACH / np.cos(np.radians(middle[0]))
    scale = SIDE / 2
    parts = []
    for south, west, north, east in boxes:
        x = left + scale + (west - middle[1]) / wide * scale - TILE / 2
        y = TOP + scale - (north - middle[0]) / REACH * scale - TILE / 2
        across, up = (east - west) / wide * scale + TILE, (north - south) / REACH * scale + TILE
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{across:.1f}" height="{up:.1f}" '
            f'fill="{colour}" fill-opacity="0.10" stroke="{colour}" stroke-width="1.2"/>'
        )
    return parts


def _words(left: int, title: str, words: str) -> list[str]:
    return [
        f'<text x="{left}" y="26" font-weight="600" font-size="15" fill="{INK}">{title}</text>',
        f'<text x="{left}" y="46" fill="{QUIET}">{words}</text>',
    ]


def _frame(left: int) -> str:
    box = f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}"'
    return f'{box} fill="#f8fafc" stroke="#aab4be"/>'


def _stroke(x: float, y: float, to_x: float, to_y: float) -> str:
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
    return f'<line {ends} stroke="{LINE}" stroke-width="2" stroke-opacity="0.55"/>'


if __name__ == "__main__":
    main()
