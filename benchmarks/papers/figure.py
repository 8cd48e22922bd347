"""Figure 12 of the ATG paper again: every rival as a ratio to ATG-Dual, a box a data set."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from benchmarks.papers.published import ATG_DETAILED
from benchmarks.papers.runs import ATG_RUNS, Run
from benchmarks.papers.tables import Results

DATA = ("nyc", "civ", "senegal_crop", "senegal", "senegal_split", "senegal_big")


class Scale(NamedTuple):
    """A column of the picture: its title, and the ratios that have a line; the outer two are its ends."""

    title: str
    ticks: tuple[float, ...]

    def height(self, ratio: float) -> float:
        """Return how far below the top a ratio lies; beyond the ends it lies on them."""
        low, high = math.log(self.ticks[0]), math.log(self.ticks[-1])
        return HIGH * (high - min(max(math.log(ratio), low), high)) / (high - low)


MEASURES = {
    "G": Scale("generalisation G", (0.3, 1, 3, 10, 30, 100, 300)),
    "E": Scale("reconstruction loss E", (0.3, 0.5, 1, 2, 3, 5, 10)),
    "D": Scale("distribution distance D", (0.3, 0.5, 1, 2, 3, 5, 10)),
    "cpu_s": Scale("time", (0.01, 0.1, 1, 10, 100, 1000, 10000)),
}
RIVALS = ("atg-soft", "glove-sk", "glove", "oigh", "mondrian")
BASE = next(run for run in ATG_RUNS if run.method == "atg-dual")

LEFT, TOP, WIDE, HIGH, GAP = 128, 92, 190, 140, 20
SIDE = 46
"""Room beside a panel for the numbers of the next one."""
INK, SOFT, LINE, ACCENT = "#1d2733", "#5c6b7a", "#c9d3dc", "#d9480f"
FILLS = ("#2b8a3e", "#1971c2", "#9c36b5", "#5f3dc4", "#e8590c", "#0c8599")


def figure(results: Results) -> str:
    """Return the picture as SVG: boxes are ours, crosses the ratios of the published means in table 6."""
    width = LEFT + len(MEASURES) * (WIDE + SIDE) - SIDE + 24
    height = TOP + len(RIVALS) * (HIGH + GAP) + 46
    parts = [*_title(), *_legend(height - 22)]
    for row, method in enumerate(RIVALS):
        run = next(run for run in ATG_RUNS if run.method == method)
        y = TOP + row * (HIGH + GAP)
        parts.append(_text(LEFT - 44, y + HIGH / 2, run.title, 14, INK, "end", "700"))
        for column, (measure, scale) in enumerate(MEASURES.items()):
            x = LEFT + column * (WIDE + SIDE)
            parts += _axes(x, y, scale)
            for place, data in enumerate(DATA):
                at = x + (place + 0.5) * WIDE / len(DATA)
                parts += _box(at, y, ratios(results, data, run, measure), scale, FILLS[place])
                parts += _cross(at, y, published_ratio(data, method, measure), scale)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'font-family="Inter, Segoe UI, Helvetica, Arial, sans-serif" role="img">\n'
        f"<title>Every method against ATG-Dual</title>\n"
        f'<rect width="{width}" height="{height}" rx="12" fill="white" stroke="{LINE}"/>\n{body}\n</svg>\n'
    )


def ratios(results: Results, data: str, run: Run, measure: str) -> list[float]:
    """Return a method's measure over ATG-Dual's, matrix by matrix; nothing where either has none."""
    found = [results.get(data, {}).get(title, {}).get("matrices", []) for title in (run.title, BASE.title)]
    pairs = [(ours.get(measure), base.get(measure)) for ours, base in zip(*found, strict=False)]
    return [ours / base for ours, base in pairs if ours and base]


def published_ratio(data: str, method: str, measure: str) -> float | None:
    """Return the ratio of the means in table 6; None where a figure is absent or 0 as printed."""
    rows = ATG_DETAILED[data].figures
    ours, base = (rows.get(name, {}).get(measure) for name in (method, BASE.method))
    return ours / base if ours and base else None


def _title() -> Iterator[str]:
    yield _text(
        24, 32, "Every method against ATG-Dual, after figure 12 of the ATG paper", 18, INK, weight="700"
    )
    yield _text(
        24, 54, "Ratio to ATG-Dual on the same matrix, log scale; above 1 ATG-Dual is better.", 13, SOFT
    )
    for column, scale in enumerate(MEASURES.values()):
        yield _text(LEFT + column * (WIDE + SIDE) + WIDE / 2, TOP - 10, scale.title, 13, INK, "middle", "700")


def _legend(y: float) -> Iterator[str]:
    for place, data in enumerate(DATA):
        x = LEFT + place * 122
        yield f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{FILLS[place]}" fill-opacity="0.75"/>'
        yield _text(x + 18, y, data, 12, INK)
    x = LEFT + len(DATA) * 122 + 12
    yield from _strokes(x, y - 4)
    yield _text(x + 12, y, "published (table 6)", 12, INK)


def _axes(x: float, y: float, scale: Scale) -> Iterator[str]:
    yield f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" fill="none" stroke="{LINE}"/>'
    for ratio in scale.ticks:
        at = y + scale.height(ratio)
        colour, dash = (SOFT, "") if ratio == 1 else (LINE, ' stroke-dasharray="3 4"')
        yield f'<line x1="{x}" y1="{at:g}" x2="{x + WIDE}" y2="{at:g}" stroke="{colour}"{dash}/>'
        yield _text(x - 6, at + 4, f"{ratio:,g}", 11, SOFT, "end")


def _box(x: float, y: float, values: Sequence[float], scale: Scale, fill: str) -> Iterator[str]:
    if not values:
        return
    least, low, middle, high, most = (
        y + scale.height(value) for value in np.percentile(values, [0, 25, 50, 75, 100])
    )
    yield f'<line x1="{x:g}" y1="{least:.1f}" x2="{x:g}" y2="{most:.1f}" stroke="{fill}" stroke-width="1.5"/>'
    tall = max(low - high, 5)
    place = f'x="{x - 9:g}" y="{(low + high - tall) / 2:.1f}" width="18" height="{tall:.1f}"'
    yield f'<rect {place} fill="{fill}" fill-opacity="0.85"/>'
    if tall < 8:
        return
    ends = f'x1="{x - 9:g}" y1="{middle:.1f}" x2="{x + 9:g}" y2="{middle:.1f}"'
    yield f'<line {ends} stroke="white" stroke-width="1.5"/>'


def _cross(x: float, y: float, value: float | None, scale: Scale) -> Iterator[str]:
    if value is not None:
        yield from _strokes(x, y + scale.height(value))


def _strokes(x: float, y: float) -> Iterator[str]:
    for tilt in (4, -4):
        yield (
            f'<line x1="{x - 4:g}" y1="{y - tilt:.1f}" x2="{x + 4:g}" y2="{y + tilt:.1f}" '
            f'stroke="{ACCENT}" stroke-width="2"/>'
        )


def _text(
    x: float, y: float, words: str, size: int, fill: str, anchor: str = "start", weight: str = "400"
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )
