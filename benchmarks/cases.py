"""What has a limit: starting up, our own methods, the measures, and the whole road."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lines import Line
from benchmarks.measuring import city, task, tripcloak


def starting(folder: Path) -> list[Line]:
    """Starting up: help, and the first and second run after installation."""
    helped = tripcloak("--help")
    cache = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    trips = city(folder, 20_000)
    named = ("--method", "odkanon")
    runs = [tripcloak(*_anonymise(trips, folder / f"start{i}"), *named, environment=cache) for i in range(2)]
    return [
        Line("tripcloak --help", helped.cpu_s, 0.4, "CPU s", helped.peak_mb),
        Line("anonymise 20 k trips, first run", runs[0].wall_s, 20, "s", runs[0].peak_mb, "kernels compiled"),
        Line("anonymise 20 k trips, second run", runs[1].wall_s, 3, "s", runs[1].peak_mb, "kernels cached"),
    ]


def solving(folder: Path) -> list[Line]:
    """ODkAnon from ODMatrix to Release, and how it grows."""
    lines, costs = [], {}
    for trips in (20_000, 80_000, 320_000, 1_600_000):
        for unit in ("trips", "travellers"):
            line = solved(folder, "odkanon", trips, unit, limit=3)
            costs[trips, unit] = line.measured
            lines.append(line)
    small, large = 80_000, 1_600_000
    allowed = large * math.log(large) / (small * math.log(small))
    grown = costs[large, "travellers"] / costs[small, "travellers"]
    what = "ODkAnon, growth from 80 k to 1.6 M trips"
    return [*lines, Line(what, grown, allowed, "times", remark="limit: n log n")]


def cutting(folder: Path, large: int) -> list[Line]:
    """The optimal cuts from ODMatrix to Release, their memory, and how they grow with ten times the flows."""
    lines = []
    for method, unit, limit in (
        ("productcut", "trips", 3.0),
        ("nestedcut", "trips", 3.0),
        ("productcut", "travellers", 15.0),
        ("nestedcut", "travellers", 15.0),
        ("twincut", "trips", 8.0),
        ("twincut", "travellers", 8.0),
    ):
        lines.append(solved(folder, method, 1_600_000, unit, limit=limit))
    for what, some, limit in (("optimal cuts", lines, 2.0), ("TwinCut with its proof", lines[-2:], 1.2)):
        worst = max(line.peak_mb or 0 for line in some)
        lines = [*lines, Line(f"{what}, 1,600,000 trips, peak memory", worst / 1000, limit, "GB", worst)]
    for method in ("productcut", "nestedcut", "twincut"):
        costs = [solved(folder, method, trips, "trips", limit=math.inf) for trips in (large // 10, large)]
        grown = costs[1].measured / costs[0].measured
        what = f"{method}, growth from {large // 10:,} to {large:,} trips"
        lines.append(Line(what, grown, 13, "times", costs[1].peak_mb, costs[1].remark))
    return lines


def dendrograms(folder: Path) -> list[Line]:
    """Two dendrograms of 6,664 tiles: the size of the ATG paper's larger data set."""
    lines = []
    for method, limit in (("atg-dual", 5.0), ("productcut", 20.0)):
        cost = task("dendrogram", method)
        facts = cost.json()
        remark = f"{facts['flows']:,} flows, {facts['groups']:,} released"
        lines.append(
            Line(
                f"{method}, dendrograms of 6,664 tiles", facts["cpu_s"], limit, "CPU s", cost.peak_mb, remark
            )
        )
    return lines


def hours(folder: Path) -> list[Line]:
    """One matrix per hour, 1,000 of them: the form of the New York taxi zones."""
    lines = []
    for method in ("atg-dual", "nestedcut"):
        facts = task("hourly", method).json()
        remark = (
            f"{facts['flows']:,} flows, {facts['groups']:,} released; {facts['wall_s']:.1f} s by the clock"
        )
        what = f"{method}, 1,000 hourly matrices of 263 zones"
        lines.append(Line(what, facts["cpu_s"], 20, "CPU s", remark=remark))
    return lines


def solved(folder: Path, method: str, trips: int, unit: str, *, limit: float) -> Line:
    """Return what a method costs on the made-up city, from matrix to release."""
    cost = task("solve", str(city(folder, trips)), method, unit)
    facts = cost.json()
    what = f"{method}, {trips:,} trips, k on {unit}"
    return Line(what, facts["cpu_s"], limit, "CPU s", cost.peak_mb, f"{facts['flows']:,} flows")


def measuring(folder: Path) -> list[Line]:
    """All measures together."""
    cost = task("metrics", str(city(folder, 1_600_000)))
    facts = cost.json()
    return [Line("all measures", facts["cpu_s"], 3, "CPU s", cost.peak_mb, f"{facts['flows']:,} flows")]


def end_to_end(folder: Path, trips: int) -> list[Line]:
    """The whole command against the least that any such command must do."""
    path = city(folder, trips)
    floor = task("reference", str(path)).json()
    lines = []
    for method, named in (("the default method", ()), ("odkanon", ("--method", "odkanon"))):
        ours = tripcloak(*_anonymise(path, folder / f"large-{method}"), *named, "--memory", "1GB")
        ratio = ours.cpu_s / floor["cpu_s"]
        remark = f"{ours.cpu_s:.0f} against {floor['cpu_s']:.0f} CPU s; {floor['pairs']:,} flows"
        what = f"anonymise {trips:,} trips, {method}"
        memory = ours.peak_mb / 1000
        lines += [
            Line(f"{what} / (H3 + distinct count)", ratio, 2.5, "times", ours.peak_mb, remark),
            Line(f"{what}, --memory 1GB, peak memory", memory, 2, "GB", ours.peak_mb),
        ]
    return lines


HOLDERS = {
    "arrow": "Arrow table",
    "polars": "Polars frame",
    "pandas": "pandas frame",
    "pandas-objects": "pandas frame, ids as Python objects",
}


def frames(folder: Path, trips: int) -> Iterator[Line]:
    """Trips that are in memory already, against the same trips in a Parquet file."""
    path = str(city(folder, trips))
    in_file = task("door", path, "file").json()
    what = f"anonymise {trips:,} trips"
    yield Line(f"{what}, Parquet file", in_file["cpu_s"], math.inf, "CPU s", in_file["peak_mb"])
    for holder, name in HOLDERS.items():
        cost = task("door", path, holder).json()
        assert cost["groups"] == in_file["groups"], "the same trips give the same release"
        # Every cell of such a column is an object of its own, which somebody has to open.
        limit = math.inf if holder == "pandas-objects" else 1.3
        times = cost["cpu_s"] / in_file["cpu_s"]
        remark = f"{cost['cpu_s']:.1f} CPU s; {cost['held_mb']:,.0f} MB before"
        yield Line(f"{what}, {name}", times, limit, "times", cost["peak_mb"], remark)


def _anonymise(path: Path, out: Path) -> list[str]:
    return ["anonymise", str(path), "--k", "10", "--out", str(out), "--json"]
