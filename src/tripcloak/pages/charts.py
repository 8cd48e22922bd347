"""Charts of a page: numbers and what their axes measure, which the front end draws (uPlot)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from tripcloak.ground.arrays import Floats
from tripcloak.pages.page import render_page, script_safe_json

STYLES = ("built/charts.css", "lines.css")
"""What pages with charts build on."""
DIGITS = 6
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
    """A line through points; its name, the number of its colour, whether it is dashed or has dots."""

    name: str
    hue: int
    x: Floats
    y: Floats
    dashed: bool = False
    dots: bool = False


class Shade(NamedTuple):
    """The room between two lines over the same x; its name, and the number of its colour."""

    name: str
    hue: int
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


class Chart(NamedTuple):
    """Values over slots: title, a word on it, the slots, lines by name, and which slots to write.

    Lines come in pairs, an original one and a released one in one colour, where that is said.
    """

    title: str
    words: str
    labels: Sequence[str]
    lines: Mapping[str, Sequence[float]]
    every: int | None = None
    pairs: bool = False


class Sheet:
    """The charts of one page: each gets its number, and all their numbers travel together.

    >>> sheet = Sheet()
    >>> sheet.put(Chart("a to b", "", ["T00", "T01"], {"original": [0.0, 10.0]}))["number"]
    0
    >>> "a to b" in sheet.payload
    True
    """

    def __init__(self) -> None:
        self._held: list[dict[str, Any]] = []

    def put(self, chart: Plot | Chart) -> dict[str, Any]:
        """Take a chart up, and return what the template needs of it."""
        self._held.append(plotted(chart) if isinstance(chart, Plot) else plotted_slots(chart))
        return {"title": chart.title, "words": chart.words, "number": len(self._held) - 1}

    @property
    def payload(self) -> Markup:
        """Return all charts as the text that the script of the page reads."""
        return Markup(script_safe_json(self._held))


def charts_page(
    title: str, *, internal: str, words: Sequence[str], facts: Mapping[str, str], charts: Sequence[Chart]
) -> str:
    """Return a page of charts that works offline."""
    sheet = Sheet()
    return render_page(
        "lines",
        script="charts",
        styles=STYLES[:1],
        title=title,
        internal=internal,
        words=list(words),
        facts=dict(facts),
        charts=[sheet.put(chart) for chart in charts],
        payload=sheet.payload,
    )


def plotted(plot: Plot) -> dict[str, Any]:
    """Return a plot as the front end takes it.

    >>> axis = PlotAxis("share", 0.0, 1.0)
    >>> found = plotted(Plot("a", "", axis, axis, [Line("one", 1, np.array([0, 1]), np.array([0, 1]))]))
    >>> found["lines"][0]["x"], found["x"]["label"]
    ([0.0, 1.0], 'share')
    """
    lines = []
    for line in plot.lines:
        x, y = _placed(plot, line.x, line.y)
        lines.append(
            {"name": line.name, "hue": line.hue, "dashed": line.dashed, "dots": line.dots, "x": x, "y": y}
        )
    shades = []
    for shade in plot.shades:
        x, low, high = _placed(plot, shade.x, shade.low, shade.high)
        shades.append({"name": shade.name, "hue": shade.hue, "x": x, "low": low, "high": high})
    return {
        "title": plot.title,
        "x": _axis(plot.x),
        "y": _axis(plot.y),
        "lines": lines,
        "shades": shades,
        "diagonal": plot.diagonal,
    }


def plotted_slots(chart: Chart) -> dict[str, Any]:
    """Return values over slots as the front end takes them: slots are 0, 1, 2 and have names.

    >>> found = plotted_slots(Chart("a", "", ["T00", "T01"], {"original": [0.0, 10.0]}))
    >>> found["x"]["names"], found["lines"][0]["y"], found["y"]["high"]
    (['T00', 'T01'], [0.0, 10.0], 10.0)
    """
    most = max((max(values, default=0.0) for values in chart.lines.values()), default=0.0) or 1.0
    slots = [float(at) for at in range(len(chart.labels))]
    names = {"names": [str(label) for label in chart.labels], "every": chart.every}
    lines = [
        {
            "name": name,
            "hue": _hue(number, pairs=chart.pairs),
            "dashed": bool(chart.pairs and number % 2),
            "dots": False,
            "x": slots,
            "y": _written(np.asarray(values, dtype=np.float64)),
        }
        for number, (name, values) in enumerate(chart.lines.items())
    ]
    return {
        "title": chart.title,
        "x": _axis(PlotAxis("", 0.0, max(slots[-1:], default=0.0) or 1.0)) | names,
        "y": _axis(PlotAxis("", 0.0, most)),
        "lines": lines,
        "shades": [],
        "diagonal": False,
    }


def marks(axis: PlotAxis) -> list[tuple[float, str]]:
    """Return the values that a log axis marks, and how it writes them.

    >>> [text for _, text in marks(PlotAxis("", 0.5, 2000.0, log=True))]
    ['1', '10', '100', '1,000']
    >>> [text for _, text in marks(PlotAxis("", 5.0, 700.0, log=True, minutes=True))]
    ['10 min', '1 h', '6 h']
    """
    if axis.minutes:
        found = [(at, text) for at, text in DURATIONS.items() if _inside(at, axis)]
        return found if len(found) > 1 else [(at, f"{_number(at)} min") for at in _even(axis)]
    return [(value, _number(value)) for value in _powers(axis)]


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


def _axis(axis: PlotAxis) -> dict[str, Any]:
    told = {"label": axis.label, "low": axis.low, "high": axis.high, "log": axis.log}
    return told | ({"marks": marks(axis)} if axis.log else {})


def _placed(plot: Plot, x: Floats, *ys: Floats) -> list[list[float]]:
    """Return coordinates by ascending x, without points that have no place on a log axis."""
    has_place = np.ones(len(x), dtype=bool)
    for values, axis in ((x, plot.x), *((y, plot.y) for y in ys)):
        has_place &= (np.asarray(values) > 0) if axis.log else True
    order = np.argsort(np.asarray(x)[has_place], kind="stable")
    return [_written(np.asarray(values, dtype=np.float64)[has_place][order]) for values in (x, *ys)]


def _written(values: Floats) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]


def _hue(number: int, *, pairs: bool) -> int:
    """Return the colour of a line: original ones first, and released ones in the colour of all pages."""
    return (2, 1, 3, 4)[number // 2 % 4] if pairs else (2, 1, 3, 4)[number % 4]


def _powers(axis: PlotAxis) -> list[float]:
    """Return powers of ten on a log axis; where they are few, parts of them, or even steps."""
    powers = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
    for digits in ((1,), (1, 2, 5)):
        values = [d * 10.0**power for power in powers for d in digits if _inside(d * 10.0**power, axis)]
        if len(values) > 2:
            return values[:: math.ceil(len(values) / 8)]
    return _even(axis)


def _even(axis: PlotAxis) -> list[float]:
    least = (axis.high - axis.low) / TICKS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * digit for digit in (1, 2, 2.5, 5, 10) if power * digit >= least * (1 - 1e-9))
    first, last = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
    return [step * at for at in range(first, last + 1)]


def _inside(value: float, axis: PlotAxis) -> bool:
    return axis.low * (1 - 1e-9) <= value <= axis.high * (1 + 1e-9)


def _number(value: float) -> str:
    if value and abs(value) < 1e-3:
        return f"{value:.0e}".replace("e-0", "e-")
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
