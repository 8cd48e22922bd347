"""Line charts: values over slots of time, original beside released."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tripcloak.pages.page import render_page

WIDTH, HEIGHT = 520, 180
LEFT, RIGHT, TOP, BOTTOM = 48, 8, 8, 24
TICKS = 4
LETTER = 6
"""About how wide a letter of a label is."""


class Chart(NamedTuple):
    """A chart: its title, a word on it, the labels along it, its lines by name, and which labels to write."""

    title: str
    words: str
    labels: Sequence[str]
    lines: Mapping[str, Sequence[float]]
    every: int | None = None


def lines_page(
    title: str, *, internal: str, words: Sequence[str], facts: Mapping[str, str], charts: Sequence[Chart]
) -> str:
    """Return a page of line charts that works offline."""
    return render_page(
        "lines",
        title=title,
        internal=internal,
        words=list(words),
        facts=dict(facts),
        names=list(dict.fromkeys(name for chart in charts for name in chart.lines)),
        charts=[drawing(chart) for chart in charts],
    )


def drawing(chart: Chart) -> dict[str, Any]:
    """Return a chart as the numbers that an SVG needs.

    >>> found = drawing(Chart("a to b", "", ["T00", "T01"], {"original": [0.0, 10.0]}))
    >>> found["lines"][0]["path"], [tick["text"] for tick in found["ticks"]]
    ('M48.0,156.0L512.0,8.0', ['0', '2.5', '5', '7.5', '10'])
    """
    height = max((max(values, default=0.0) for values in chart.lines.values()), default=0.0) or 1.0
    tick_step = round_step(height / TICKS)
    ticks = [tick_step * tick for tick in range(math.ceil(height / tick_step - 1e-9) + 1)]
    most = ticks[-1]
    step = (WIDTH - LEFT - RIGHT) / max(len(chart.labels) - 1, 1)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most)

    def path(values: Sequence[float]) -> str:
        return "M" + "L".join(f"{LEFT + at * step:.1f},{y(value):.1f}" for at, value in enumerate(values))

    lines = [{"name": name, "path": path(values)} for name, values in chart.lines.items()]
    every = chart.every or max(1, len(chart.labels) // 7)
    return {
        "title": chart.title,
        "words": chart.words,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "lines": lines,
        "ticks": [{"y": f"{y(tick):.1f}", "text": _tick(tick)} for tick in ticks],
        "labels": _labels(chart, step, every),
    }


def round_step(least: float) -> float:
    """Return the smallest round number that is not below a number.

    >>> [round_step(least) for least in (1.0, 1.3, 2.1, 37.0, 0.004)]
    [1.0, 2.0, 2.5, 50.0, 0.005]
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 2.5, 5, 10) if power * digit >= least * (1 - 1e-9))


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _labels(chart: Chart, step: float, every: int) -> list[dict[str, str]]:
    """Return the labels along a chart; one that would run into the one before is left out."""
    labels: list[dict[str, str]] = []
    free = -math.inf
    for at in range(0, len(chart.labels), every):
        x, text, anchor = LEFT + at * step, str(chart.labels[at]), _anchor(at, chart)
        width = len(text) * LETTER
        begins = x - (width if anchor == "end" else width / 2)
        if begins >= free:
            labels.append({"x": f"{x:.1f}", "text": text, "anchor": anchor})
            free = begins + width + LETTER
    return labels


def _anchor(at: int, chart: Chart) -> str:
    """Return which end of a label stands at its place: the last ones would else stick out."""
    return "end" if at and at > len(chart.labels) - 2 - len(chart.labels) // 14 else "middle"
