"""Plots: lines and bands over numbers, with axes that say what they measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats
from tripcloak.pages.lines import round_step

WIDTH, HEIGHT = 520, 250
LEFT, RIGHT, TOP, BOTTOM = 56, 14, 10, 42
TICKS = 5
DURATIONS = {
    1 / 60: "1 s",
    1 / 6: "10 s",
    1: "1 min",
    10: "10 min",
    60: "1 h",
    360: "6 h",
    1440: "1 day",
    10080: "1 week",
    43200: "30 days",
    525600: "1 year",
}
"""Marks of an axis of minutes."""


class PlotAxis(NamedTuple):
    """What an axis measures, and from where to where; log-spaced and in durations where asked for."""

    label: str
    low: float
    high: float
    log: bool = False
    minutes: bool = False


class Line(NamedTuple):
    """A line through points; its name, and the number of its style."""

    name: str
    style: int
    x: Floats
    y: Floats
    dots: bool = False


class Shade(NamedTuple):
    """The room between two lines over the same x; its name, and the number of its style."""

    name: str
    style: int
    x: Floats
    low: Floats
    high: Floats


class Plot(NamedTuple):
    """A plot: its title, a word on it, its axes and what is drawn. A diagonal says where y equals x."""

    title: str
    words: str
    x: PlotAxis
    y: PlotAxis
    lines: Sequence[Line]
    shades: Sequence[Shade] = ()
    diagonal: bool = False


def plotted(plot: Plot) -> dict[str, Any]:
    """Return a plot as the numbers that an SVG needs.

    >>> axis = PlotAxis("share", 0.0, 1.0)
    >>> found = plotted(Plot("a", "", axis, axis, [Line("one", 1, np.array([0, 1]), np.array([0, 1]))]))
    >>> found["lines"][0]["path"], [mark["text"] for mark in found["x_marks"]]
    ('M56.0,208.0L506.0,10.0', ['0', '0.2', '0.4', '0.6', '0.8', '1'])
    """
    x = _scale(plot.x, LEFT, WIDTH - RIGHT)
    y = _scale(plot.y, HEIGHT - BOTTOM, TOP)
    return {
        "title": plot.title,
        "words": plot.words,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
        "x_label": plot.x.label,
        "y_label": plot.y.label,
        "x_marks": [{"at": f"{x(at):.1f}", "text": text} for at, text in marks(plot.x)],
        "y_marks": [{"at": f"{y(at):.1f}", "text": text} for at, text in marks(plot.y)],
        "diagonal": _diagonal(plot, x, y) if plot.diagonal else "",
        "lines": [_line(line, plot, x, y) for line in plot.lines],
        "shades": [_shade(shade, plot, x, y) for shade in plot.shades],
    }


def marks(axis: PlotAxis) -> list[tuple[float, str]]:
    """Return the values that an axis marks, and how it writes them.

    >>> [text for _, text in marks(PlotAxis("", 0.5, 2000.0, log=True))]
    ['1', '10', '100', '1,000']
    >>> [text for _, text in marks(PlotAxis("", 5.0, 700.0, log=True, minutes=True))]
    ['10 min', '1 h', '6 h']
    """
    if axis.log and axis.minutes:
        found = [(at, text) for at, text in DURATIONS.items() if _inside(at, axis)]
        return found if len(found) > 1 else [(at, f"{_number(at)} min") for at in _even(axis)]
    values = _powers(axis) if axis.log else _even(axis)
    return [(value, _number(value)) for value in values]


def axis_over(label: str, *values: Floats, log: bool = False, minutes: bool = False) -> PlotAxis:
    """Return an axis that holds all values; those at or below 0 have no place on a log axis.

    >>> axis_over("km", np.array([0.0, 0.5, 80.0]), log=True)[1:3]
    (0.5, 80.0)
    """
    pooled = np.concatenate([np.asarray(v, dtype=np.float64).ravel() for v in values] or [np.empty(0)])
    pooled = pooled[pooled > 0] if log else pooled
    low, high = (float(pooled.min()), float(pooled.max())) if len(pooled) else (1.0, 10.0)
    if log:
        # Less than one part in two would be a plot of rounding.
        return PlotAxis(label, low if high > 2 * low else low / 2, max(high, 2 * low), True, minutes)
    return PlotAxis(label, min(low, 0.0), high if high > low else low + 1.0)


def _powers(axis: PlotAxis) -> list[float]:
    """Return powers of ten on a log axis; where they are few, parts of them, or even steps."""
    powers = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
    for digits in ((1,), (1, 2, 5)):
        values = [d * 10.0**power for power in powers for d in digits if _inside(d * 10.0**power, axis)]
        if len(values) > 2:
            return values[:: math.ceil(len(values) / 8)]
    return _even(axis)


def _even(axis: PlotAxis) -> list[float]:
    step = round_step((axis.high - axis.low) / TICKS)
    first, last = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
    return [step * at for at in range(first, last + 1)]


def _inside(value: float, axis: PlotAxis) -> bool:
    return axis.low * (1 - 1e-9) <= value <= axis.high * (1 + 1e-9)


def _scale(axis: PlotAxis, begin: float, end: float) -> Callable[[float], float]:
    """Return where a value lies in the picture; what is beyond the axis lies at its end."""

    def at(value: float) -> float:
        clipped = min(max(value, axis.low), axis.high)
        if axis.log:
            part = math.log(clipped / axis.low) / math.log(axis.high / axis.low)
        else:
            part = (clipped - axis.low) / (axis.high - axis.low)
        return begin + part * (end - begin)

    return at


def _line(line: Line, plot: Plot, x: Callable[[float], float], y: Callable[[float], float]) -> dict[str, Any]:
    points = _points(line.x, line.y, plot, x, y)
    dots = [{"x": a, "y": b} for a, b in points] if line.dots else []
    return {"name": line.name, "style": line.style, "path": _path(points), "dots": dots}


def _shade(
    shade: Shade, plot: Plot, x: Callable[[float], float], y: Callable[[float], float]
) -> dict[str, Any]:
    there = _points(shade.x, shade.low, plot, x, y)
    back = _points(shade.x, shade.high, plot, x, y)[::-1]
    path = _path([*there, *back])
    return {"name": shade.name, "style": shade.style, "path": path + "Z" if path else ""}


def _points(
    xs: Floats, ys: Floats, plot: Plot, x: Callable[[float], float], y: Callable[[float], float]
) -> list[tuple[str, str]]:
    """Return points as they are written, without repeats."""
    written = [
        (f"{x(float(a)):.1f}", f"{y(float(b)):.1f}")
        for a, b in zip(xs, ys, strict=True)
        if (a > 0 or not plot.x.log) and (b > 0 or not plot.y.log)
    ]
    return list(dict.fromkeys(written))


def _path(points: Sequence[tuple[str, str]]) -> str:
    return "M" + "L".join(",".join(point) for point in points) if points else ""


def _diagonal(plot: Plot, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    low, high = max(plot.x.low, plot.y.low), min(plot.x.high, plot.y.high)
    return f"M{x(low):.1f},{y(low):.1f}L{x(high):.1f},{y(high):.1f}" if low < high else ""


def _number(value: float) -> str:
    if value and abs(value) < 1e-3:
        return f"{value:.0e}".replace("e-0", "e-")
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
