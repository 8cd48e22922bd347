"""Line charts: values over slots of time, original beside released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tripcloak.report.page import render_page

WIDTH, HEIGHT = 520, 180
LEFT, RIGHT, TOP, BOTTOM = 48, 8, 8, 24
TICKS = 4


class Chart(NamedTuple):
    """A chart: its title, a word on it, the labels along it, and its lines by name."""

    title: str
    words: str
    labels: Sequence[str]
    lines: Mapping[str, Sequence[float]]


def lines_page(
    title: str, *, internal: str, words: Sequence[str], facts: Mapping[str, str], charts: Sequence[Chart]
) -> str:
    """Return a page of line charts that works offline."""
    return render_page(
        "lines",
        scripts=(),
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
    most = max((max(values, default=0.0) for values in chart.lines.values()), default=0.0) or 1.0
    step = (WIDTH - LEFT - RIGHT) / max(len(chart.labels) - 1, 1)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most)

    def path(values: Sequence[float]) -> str:
        return "M" + "L".join(f"{LEFT + at * step:.1f},{y(value):.1f}" for at, value in enumerate(values))

    lines = [{"name": name, "path": path(values)} for name, values in chart.lines.items()]
    every = max(1, len(chart.labels) // 7)
    return {
        "title": chart.title,
        "words": chart.words,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "lines": lines,
        "ticks": [
            {"y": f"{y(most * tick / TICKS):.1f}", "text": f"{most * tick / TICKS:,.3g}"}
            for tick in range(TICKS + 1)
        ],
        "labels": [
            {"x": f"{LEFT + at * step:.1f}", "text": str(chart.labels[at]), "anchor": _anchor(at, chart)}
            for at in range(0, len(chart.labels), every)
        ],
    }


def _anchor(at: int, chart: Chart) -> str:
    """Return which end of a label stands at its place: the last ones would else stick out."""
    return "end" if at and at > len(chart.labels) - 2 - len(chart.labels) // 14 else "middle"
