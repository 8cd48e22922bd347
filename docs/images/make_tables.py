"""Draws tables.svg: sixteen flows with their totals, and which withheld flows the totals count.

Numbers, zones and bricks are what a release of these trips has. On the left totals count everything, and
subtracting gives withheld trips away; on the right they count bricks.

    python docs/images/make_tables.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods import METHODS
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release.bricks import TablesWanted
from tripcloak.flows.release.laying import lay_tables
from tripcloak.ground.arrays import Ints
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity

INK, QUIET, LINE, BAD, GOOD = "#1b2733", "#5b6875", "#1d4e89", "#c2410c", "#0f766e"
CELL, TALL, LEFT, TOP, PANEL = 64, 40, 58, 96, 436
WIDTH, HEIGHT = 2 * PANEL + 20, 366
ZONES, K = "ABCD", 3
TRIPS = np.array([[12, 8, 1, 5], [2, 7, 1, 1], [9, 1, 4, 6], [1, 2, 2, 8]])


class Told(NamedTuple):
    """What is told of every flow, 0 where it is withheld; which of these totals count; and the totals."""

    flows: Ints
    counted: Ints
    rows: Ints
    columns: Ints
    all: int


def main() -> None:
    """Write the picture beside this script."""
    told = _released()
    plain = Told(told.flows, TRIPS > 0, TRIPS.sum(axis=1), TRIPS.sum(axis=0), int(TRIPS.sum()))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        '<defs><pattern id="h" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="6" height="6" fill="#f1f3f5"/>'
        '<line x1="0" y1="0" x2="0" y2="6" stroke="#c3cad1" stroke-width="1.5"/></pattern></defs>',
        *_panel(LEFT, "Unprotected", "totals of all trips; hatched flows are withheld (k = 3)", plain),
        *_panel(LEFT + PANEL, "Protected by bricks", "of the withheld, totals count the green brick", told),
        "</svg>\n",
    ]
    Path(__file__).with_name("tables.svg").write_text("\n".join(parts), encoding="utf-8")


def _released() -> Told:
    """Return what a release of the trips tells, with its totals."""
    tree = Hierarchy.from_parents([*ZONES, "all"], [4, 4, 4, 4, -1], name="four zones")
    ends = (np.repeat(end.ravel(), TRIPS.ravel()).astype(np.int32) for end in np.indices(TRIPS.shape))
    matrix = ODMatrix.from_trips(tree, tree, *ends)
    promise = KAnonymity(k=K, unit="trips")
    release = METHODS["twincut"](promise=promise, suppression_limit=0.3).anonymise(matrix)
    tables = lay_tables(matrix, release, TablesWanted(margins=True))
    flows, counted = np.zeros_like(TRIPS), np.zeros_like(TRIPS)
    at = matrix.flows.origin, matrix.flows.destination
    flows[at] = np.where(release.suppressed, 0, matrix.flows.trips)
    counted[at] = tables.brick_of_flow >= 0
    sums = {table.name: table.summed(tables.trips) for table in tables.tables}
    rows, columns, everything = sums.values()
    return Told(flows, counted, rows, columns, int(everything[0]))


def _panel(left: int, title: str, words: str, told: Told) -> Iterator[str]:
    yield f'<text x="{left}" y="26" font-weight="600" font-size="15" fill="{INK}">{title}</text>'
    yield f'<text x="{left}" y="46" fill="{QUIET}">{words}</text>'
    protected = told.all < TRIPS.sum()
    for place, name in enumerate(ZONES):
        x, y = left + (place + 0.5) * CELL, TOP + (place + 0.5) * TALL + 5
        yield f'<text x="{x}" y="{TOP - 10}" text-anchor="middle" fill="{QUIET}">to {name}</text>'
        yield f'<text x="{left - 10}" y="{y}" text-anchor="end" fill="{QUIET}">{name}</text>'
        for other in range(len(ZONES)):
            flow, brick = told.flows[place, other], protected and told.counted[place, other]
            fill = "#dbeafe" if flow else "#ccfbf1" if brick else "url(#h)"
            yield _cell(left + other * CELL, TOP + place * TALL, str(flow or ""), fill)
        yield _cell(left + 4 * CELL + 8, TOP + place * TALL, str(told.rows[place]), "#ffffff")
        yield _cell(left + place * CELL, TOP + 4 * TALL + 8, str(told.columns[place]), "#ffffff")
    yield _cell(left + 4 * CELL + 8, TOP + 4 * TALL + 8, str(told.all), "#ffffff")
    yield from _conclusion(left, told)


def _cell(x: float, y: float, number: str, fill: str) -> str:
    box = f'<rect x="{x}" y="{y}" width="{CELL - 3}" height="{TALL - 3}" fill="{fill}" stroke="#aab4be"/>'
    where = f'x="{x + (CELL - 3) / 2}" y="{y + TALL / 2 + 4}" text-anchor="middle"'
    return f'{box}<text {where} font-size="15" fill="{LINE}">{number}</text>'


def _conclusion(left: int, told: Told) -> Iterator[str]:
    """Yield the first total that gives withheld trips away, or that none does."""
    for place, total in enumerate(told.rows):
        own = told.flows[place][told.flows[place] > 0]
        if 0 < (rest := int(total - own.sum())) < K:
            what = f"{total}{''.join(f' − {one}' for one in own)} = {rest} from {ZONES[place]}, withheld"
            break
    else:
        what = "A total less its flows is nothing, or 3 and more."
    colour = BAD if what.endswith("withheld") else GOOD
    yield f'<text x="{left}" y="{HEIGHT - 22}" font-weight="600" font-size="14" fill="{colour}">{what}</text>'


if __name__ == "__main__":
    main()
