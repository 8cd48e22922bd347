"""The methods we compare with: what each costs, against a limit or against the least it has to do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cases import solved
from benchmarks.lines import Line
from benchmarks.measuring import city, task

LARGE = 1_600_000
"""Trips of the made-up city that make 1.1 M flows."""


def boxes(folder: Path) -> Iterator[Line]:
    """Yield the methods that draw boxes: Mondrian on a city, Glove on the ATG paper's Senegal."""
    for unit in ("trips", "travellers"):
        yield solved(folder, "mondrian", LARGE, unit, limit=4)
    glove = task("stations", "glove")
    facts = glove.json()
    what = f"glove, {facts['flows']:,} flows"
    yield Line(what, facts["cpu_s"], 60, "CPU s", glove.peak_mb, f"{facts['groups']:,} released")
    yield Line(f"{what}, peak memory", glove.peak_mb / 1000, 1, "GB", glove.peak_mb)
    ours, theirs = task("stations", "glove-sk"), task("clustering")
    seconds = [cost.json()["cpu_s"] for cost in (ours, theirs)]
    remark = f"{seconds[0]:.1f} against {seconds[1]:.1f} CPU s"
    yield Line(
        "glove-sk / scikit-learn's own time", seconds[0] / seconds[1], 1.5, "times", ours.peak_mb, remark
    )


def heights(folder: Path) -> Iterator[Line]:
    """Yield the search over pairs of heights."""
    for unit, limit in (("trips", 2.0), ("travellers", math.inf)):
        yield solved(folder, "oigh", LARGE, unit, limit=limit)


def one_pass(folder: Path) -> Iterator[Line]:
    """Yield the methods that look at every flow once, against one grouping of the flows.

    Laplace also bounds how many trips of a traveller count, and draws its noise.
    """
    path = str(city(folder, LARGE))
    least = task("grouping", path).json()["cpu_s"]
    for method, limit in (("suppression", 3), ("laplace", 10)):
        cost = task("solve", path, method, "trips")
        facts = cost.json()
        remark = f"{facts['cpu_s']:.2f} against {least:.2f} CPU s; {facts['flows']:,} flows"
        ratio = facts["cpu_s"] / least
        yield Line(f"{method} / one grouping of the flows", ratio, limit, "times", cost.peak_mb, remark)


def the_rest(folder: Path) -> Iterator[Line]:
    """Yield the methods that have no limit of their own yet."""
    for method in ("inftda", "km-apriori"):
        yield solved(folder, method, LARGE, "trips", limit=math.inf)
