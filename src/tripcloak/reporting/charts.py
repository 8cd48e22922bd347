"""Charts as plain data: what a report draws, and lists in a table beside each."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints

LENGTHS_KM = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0)
"""Where the bars of distances begin; the last has no end."""

MOST_BARS = 200
"""Bars that are still told apart; of more categories the first are shown."""


class Chart(NamedTuple):
    """One chart: bars over names, or lines over numbers; a mark stands somewhere along them."""

    title: str
    words: str
    x: str
    y: str
    names: Sequence[str]
    series: Mapping[str, Sequence[float | None]]
    values: Sequence[float] = ()
    mark: tuple[float, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the chart as it stands in a report."""
        return {
            "kind": "lines" if self.values else "bars",
            "title": self.title,
            "words": self.words,
            "x": {"label": self.x, "names": list(self.names), "values": list(self.values)},
            "y": {"label": self.y},
            "series": [{"name": name, "values": list(told)} for name, told in self.series.items()],
            "mark": None if self.mark is None else {"at": self.mark[0], "label": self.mark[1]},
        }


def between(
    edges: Sequence[float],
    title: str,
    words: str,
    x: str,
    y: str,
    series: Mapping[str, Sequence[float | None]],
) -> Chart:
    """Return bars between edges, without those before the first and after the last that hold something.

    >>> between([0, 1, 2, 5], "", "", "", "", {"a": [0.0, 3.0, None, 0.0]}).names
    ['1-2']
    """
    names = named(edges)
    held = [n for n in range(len(names)) if any(values[n] for values in series.values())] or [0]
    shown = slice(held[0], held[-1] + 1)
    return Chart(title, words, x, y, names[shown], {name: list(told[shown]) for name, told in series.items()})


def doubling_edges(least: float, most: float) -> list[float]:
    """Return where bars begin that grow by 2, 2.5 and 2, from the least number up to the most.

    >>> doubling_edges(10, 450)
    [10.0, 20.0, 50.0, 100.0, 200.0]
    """
    edges = [float(least)]
    factors = (2.0, 2.5, 2.0)
    while edges[-1] * factors[(len(edges) - 1) % 3] <= most:
        edges.append(edges[-1] * factors[(len(edges) - 1) % 3])
    return edges


def counted(
    values: Floats | Ints, edges: Sequence[float], weights: Floats | Ints | None = None
) -> list[float]:
    """Return how much lies in each bar; the last has no end, and what is below the first is in it.

    >>> counted(np.array([1.0, 3.0, 99.0]), [0.0, 2.0], np.array([5, 6, 7]))
    [5.0, 13.0]
    """
    place = np.clip(np.searchsorted(np.asarray(edges), values, side="right") - 1, 0, len(edges) - 1)
    sums: list[float] = np.bincount(place, weights, minlength=len(edges)).astype(float).tolist()
    return sums


def named(edges: Sequence[float], *, whole: bool = False) -> list[str]:
    """Return what bars are called by where they begin.

    >>> named([1, 2, 5, 1000], whole=True), named([0.0, 0.5, 1.0])
    (['1', '2-4', '5-999', '1,000+'], ['0-0.5', '0.5-1', '1+'])
    """
    back = 1 if whole else 0
    spans = [(low, high - back) for low, high in itertools.pairwise(edges)]
    ends = [f"{low:,g}" if low == high else f"{low:,g}-{high:,g}" for low, high in spans]
    return [*ends, f"{edges[-1]:,g}+"]


def shares(values: Sequence[float]) -> list[float]:
    """Return values in percent of their sum, with two digits behind the point.

    >>> shares([1.0, 3.0])
    [25.0, 75.0]
    """
    total = sum(values) or 1.0
    return [round(100 * value / total, 2) for value in values]


def great_circle_km(lat: Floats, lon: Floats, other_lat: Floats, other_lon: Floats) -> Floats:
    """Return how far places are from each other on the sphere.

    >>> one = np.array([0.0])
    >>> great_circle_km(one, one, one, one + 1.0).round(1).tolist()
    [111.2]
    """
    a, b, c, d = (np.radians(side) for side in (lat, lon, other_lat, other_lon))
    inner = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    km: Floats = 2 * 6371.0088 * np.arcsin(np.sqrt(np.clip(inner, 0.0, 1.0)))
    return km
