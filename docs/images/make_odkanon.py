"""Draws odkanon.svg, the method at work on eight tiles a side; run it after a change of either."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tripcloak import Hierarchy, KAnonymity, ODkAnon, ODMatrix
from tripcloak.flows.model import Groups, group_flows

TRIPS = np.array(
    [
        [24, 11, 3, 4, 0, 2, 0, 0],
        [10, 30, 5, 2, 6, 0, 0, 0],
        [4, 3, 18, 9, 0, 5, 2, 0],
        [6, 2, 7, 21, 8, 1, 0, 0],
        [0, 5, 2, 7, 26, 6, 9, 4],
        [3, 8, 0, 4, 12, 19, 3, 6],
        [0, 0, 1, 0, 6, 4, 15, 2],
        [0, 1, 0, 0, 3, 9, 5, 12],
    ]
)
IDS = [*"abcdefgh", "ab", "cd", "ef", "gh", "abcd", "efgh", "all"]
PARENT = [8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, -1]
K = 10
METHOD = ODkAnon(promise=KAnonymity(k=K, unit="trips"), suppression_limit=0.05, levels=1)

CELL, TREE, TOP = 34, 92, 92
WIDTH, HEIGHT = 1000, 734
INK, SOFT, LINE, SAFE, UNSAFE, ACCENT = "#1d2733", "#5c6b7a", "#c9d3dc", "#cfe6f5", "#fbdfc4", "#d9480f"


def text(x: float, y: float, words: object, size: int = 13, fill: str = INK, **more: str) -> str:
    """Return a line of text."""
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}"{extra}>{words}</text>'


def line(
    x1: float, y1: float, x2: float, y2: float, stroke: str = SOFT, width: float = 1.5, **more: str
) -> str:
    """Return a straight line."""
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
    return f'<line {ends} stroke="{stroke}" stroke-width="{width}"{extra}/>'


class Run:
    """The method on the small matrix: what it withholds, the order of merges, the matrix at every step."""

    def __init__(self) -> None:
        self.tree = Hierarchy.from_parents(IDS, PARENT)
        origin, destination = np.nonzero(TRIPS)
        self.matrix = ODMatrix.from_trips(
            self.tree, self.tree, origin, destination, trips=TRIPS[origin, destination]
        )
        self.withheld = METHOD._filter(self.matrix, METHOD.promise)
        self.origins, self.destinations, self.steps = METHOD._merge_order(self.matrix, ~self.withheld)
        self.smallest = [self.smallest_after(step) for step in range(self.steps + 1)]
        self.stop = next(step for step, trips in enumerate(self.smallest) if trips >= K)
        release = METHOD.anonymise(self.matrix)
        assert release.n_groups == len(self.groups(self.stop))

    def groups(self, step: int) -> Groups:
        """Return the cells after this many merges."""
        flows = self.matrix.flows
        origin = self.origins.zones_after(step)[flows.origin]
        destination = self.destinations.zones_after(step)[flows.destination]
        groups = group_flows(self.matrix, origin, destination, keep=~self.withheld)
        assert groups is not None
        return groups

    def smallest_after(self, step: int) -> int:
        """Return the trips of the smallest cell."""
        return int(self.groups(step).support("trips").min())

    def probes(self) -> list[int]:
        """Return the steps at which the bisection looks."""
        low, high, looked = 0, self.steps, []
        while low < high:
            middle = (low + high) // 2
            looked.append(middle)
            low, high = (low, middle) if self.smallest[middle] >= K else (middle + 1, high)
        return looked

    def span(self, zone: int) -> tuple[int, int]:
        """Return the first tile of a zone and how many it holds."""
        members = self.tree.members(zone)
        return int(members.min()), len(members)


def matrix_at(run: Run, step: int, x0: float, y0: float) -> list[str]:
    """Return the drawing of the matrix after some merges, with both trees at its sides."""
    parts = tree_at(run, run.origins.when, step, x0, y0, upright=True)
    parts += tree_at(run, run.destinations.when, step, x0, y0, upright=False)
    groups = run.groups(step)
    for o, d, trips in zip(groups.origin, groups.destination, groups.support("trips"), strict=True):
        (row, rows), (column, columns) = run.span(int(o)), run.span(int(d))
        x, y = x0 + TREE + column * CELL, y0 + TOP + row * CELL
        fill = SAFE if trips >= K else UNSAFE
        parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{columns * CELL}" height="{rows * CELL}" fill="{fill}" '
            f'stroke="white" stroke-width="2"/>'
        )
        size = 13 if rows * columns == 1 else 19
        parts.append(
            text(
                x + columns * CELL / 2,
                y + rows * CELL / 2 + size * 0.36,
                trips,
                size,
                text_anchor="middle",
                font_weight="400" if trips >= K else "700",
            )
        )
    return parts + withheld_cells(run, x0, y0) * (step == 0)


def withheld_cells(run: Run, x0: float, y0: float) -> list[str]:
    """Return the cells that the filter withholds, struck out."""
    parts = []
    flows = run.matrix.flows
    for flow in np.flatnonzero(run.withheld):
        x, y = x0 + TREE + flows.destination[flow] * CELL, y0 + TOP + flows.origin[flow] * CELL
        words = text(x + CELL / 2, y + CELL / 2 + 5, flows.trips[flow], 13, SOFT, text_anchor="middle")
        parts += [words, line(x + 6, y + CELL - 6, x + CELL - 6, y + 6, ACCENT, 2)]
    return parts


def tree_at(run: Run, when: np.ndarray, step: int, x0: float, y0: float, *, upright: bool) -> list[str]:
    """Return one tree: merged zones filled, each inner zone labelled with the step that makes it active."""
    reach = TREE - 26

    def place(zone: int) -> tuple[float, float]:
        first, n = run.span(zone)
        along = (first + n / 2) * CELL
        away = 12 + run.tree.zones.height[zone] / 3 * (reach - 12)
        return (x0 + TREE - away, y0 + TOP + along) if upright else (x0 + TREE + along, y0 + TOP - away)

    parts = []
    for zone, up in enumerate(run.tree.parent):
        if up >= 0:
            (x1, y1), (x2, y2) = place(zone), place(int(up))
            merged = when[up] <= step
            colour = LINE if merged else SOFT
            corner = (x2, y1) if upright else (x1, y2)
            parts += [line(x1, y1, *corner, colour), line(*corner, x2, y2, colour)]
    for zone, name in enumerate(run.tree.zones.ids):
        x, y = place(zone)
        if zone < run.tree.n_tiles:
            fill = LINE if when[run.tree.parent[zone]] <= step else INK
            parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="9" fill="white"/>')
            parts.append(text(x, y + 4, name, 13, fill, text_anchor="middle"))
            continue
        done = when[zone] <= step
        fill, ink = (ACCENT, "white") if done else ("white", SOFT)
        parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="9.5" fill="{fill}" stroke="{ACCENT if done else SOFT}"/>'
        )
        parts.append(text(x, y + 4, int(when[zone]), 11, ink, text_anchor="middle"))
    return parts


def staircase(run: Run, x0: float, y0: float, width: float, height: float) -> list[str]:
    """Return the smallest cell by merge step, and where the bisection looked."""

    def place(step: float, trips: float) -> tuple[float, float]:
        return x0 + step / run.steps * width, y0 + height - np.log(trips) / np.log(500) * height

    parts = []
    for trips in (1, 10, 100):
        y = place(0, trips)[1]
        dash = {"stroke_dasharray": "6 4"} if trips == K else {}
        parts.append(line(x0, y, x0 + width, y, ACCENT if trips == K else LINE, 1.5 if dash else 1, **dash))
        parts.append(text(x0 - 10, y + 4, trips, 12, SOFT, text_anchor="end"))
    parts.append(text(x0 + 6, place(0, K)[1] - 7, f"k = {K}", 13, ACCENT))
    for step, trips in enumerate(run.smallest):
        x, y = place(step, trips)
        parts.append(text(x, y0 + height + 20, step, 12, SOFT, text_anchor="middle"))
        if step:
            before = place(step, run.smallest[step - 1])
            parts += [
                line(*place(step - 1, run.smallest[step - 1]), *before, INK, 2),
                line(*before, x, y, INK, 2),
            ]
    for number, step in enumerate(run.probes(), start=1):
        x, y = place(step, run.smallest[step])
        fill = ACCENT if step == run.stop else "white"
        parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="10" fill="{fill}" stroke="{ACCENT}" stroke-width="2"/>'
        )
        parts.append(
            text(x, y + 4, number, 12, "white" if step == run.stop else ACCENT, text_anchor="middle")
        )
    return parts


def draw(run: Run) -> str:
    """Return the whole picture."""
    flows, cells = run.matrix.n_flows, len(run.groups(run.stop))
    withheld = int(run.withheld.sum())
    left, right, top = 24, 530, 80
    parts = [
        text(left, 34, "1  Filter, then number the merges", 18, font_weight="700"),
        text(left, 56, f"{flows} flows between 8 origins (rows) and 8 destinations (columns);", 13, SOFT),
        text(
            left, 74, f"{withheld} are withheld (struck out). In circles: the step of each merge.", 13, SOFT
        ),
        *matrix_at(run, 0, left, top),
        text(right, 34, f"3  Merge up to step {run.stop}", 18, font_weight="700"),
        text(right, 56, f"{cells} flows, each with at least {K} trips. Zones never overlap.", 13, SOFT),
        *matrix_at(run, run.stop, right, top),
        text(left, 496, "2  Find the first safe step by bisection", 18, font_weight="700"),
        text(
            left,
            518,
            "The smallest cell (trips, log scale) never shrinks from one step to the next.",
            13,
            SOFT,
        ),
        *staircase(run, left + 40, 540, WIDTH - left - 40 - 340, 150),
        *notes(run, WIDTH - 270, 562),
    ]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'font-family="Inter, Segoe UI, Helvetica, Arial, sans-serif" role="img">\n'
        f"<title>ODkAnon: filter, merge order, bisection, release</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="white" stroke="{LINE}"/>\n{body}\n</svg>\n'
    )


def notes(run: Run, x: float, y: float) -> list[str]:
    """Return the words beside the staircase."""
    probes, early = run.probes(), run.groups(8)
    below = int((early.support("trips") < K).sum())
    told = [
        f"{len(probes)} looks, at steps {', '.join(map(str, probes))}.",
        f"At step 8 only {below} of {len(early)} cells are below k,",
        "and they coarsen the whole map:",
        f"{len(run.groups(run.stop))} flows are left at step {run.stop}.",
    ]
    return [text(x, y + 22 * row, words, 13, INK) for row, words in enumerate(told)]


if __name__ == "__main__":
    Path(__file__).with_name("odkanon.svg").write_text(draw(Run()), encoding="utf-8")
