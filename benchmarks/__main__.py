"""Measures everything that has a limit, prints one table, and exits 1 if a limit is missed.

python -m benchmarks            # all, with 20 M trips end to end (about 5 minutes)
python -m benchmarks --quick    # the same with 2 M trips end to end
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import Cost, task, tripcloak


@dataclass(frozen=True)
class Line:
    """One row of the table: what was measured, and what it must not exceed."""

    what: str
    measured: float
    limit: float
    unit: str
    peak_mb: float | None = None
    remark: str = ""

    @property
    def ok(self) -> bool:
        """Return whether the limit holds."""
        return self.measured <= self.limit

    def __str__(self) -> str:
        memory = "" if self.peak_mb is None else f"{self.peak_mb:,.0f}"
        verdict = "ok" if self.ok else "MISSED"
        return (
            f"| {self.what} | {self.measured:,.2f} {self.unit} | {self.limit:g} {self.unit} | {memory} "
            f"| {verdict} | {self.remark} |"
        )


def main() -> int:
    """Run every case and return the exit code."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--quick", action="store_true", help="2 M trips end to end in place of 20 M")
    quick = parser.parse_args().quick
    print("| what | measured | limit | peak MB | | remark |\n|---|---|---|---|---|---|", flush=True)
    missed = 0
    with tempfile.TemporaryDirectory(prefix="tripcloak-bench-") as name:
        folder = Path(name)
        large, larger = (1_600_000, 2_000_000) if quick else (16_000_000, 20_000_000)
        cases = (
            starting,
            solving,
            lambda f: cutting(f, large),
            dendrograms,
            measuring,
            lambda f: end_to_end(f, larger),
        )
        for case in cases:
            for line in case(folder):
                print(line, flush=True)
                missed += not line.ok
    print(f"\n{missed} missed" if missed else "\nall limits hold")
    return 1 if missed else 0


def starting(folder: Path) -> list[Line]:
    """Starting up: help, and the first and second run after installation."""
    helped = tripcloak("--help")
    cache = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    city = _city(folder, 20_000)
    runs = [tripcloak(*_anonymise(city, folder / f"start{i}"), environment=cache) for i in range(2)]
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
            line = _solved(folder, "odkanon", trips, unit, limit=3)
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
        ("twincut", "trips", 10.0),
        ("twincut", "travellers", 10.0),
    ):
        lines.append(_solved(folder, method, 1_600_000, unit, limit=limit))
    worst = max(line.peak_mb or 0 for line in lines)
    lines.append(Line("optimal cuts, 1,600,000 trips, peak memory", worst / 1000, 2, "GB", worst))
    for method in ("productcut", "nestedcut", "twincut"):
        costs = [_solved(folder, method, trips, "trips", limit=math.inf) for trips in (large // 10, large)]
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


def _solved(folder: Path, method: str, trips: int, unit: str, *, limit: float) -> Line:
    cost = task("solve", str(_city(folder, trips)), method, unit)
    facts = cost.json()
    what = f"{method}, {trips:,} trips, k on {unit}"
    return Line(what, facts["cpu_s"], limit, "CPU s", cost.peak_mb, f"{facts['flows']:,} flows")


def measuring(folder: Path) -> list[Line]:
    """All measures together."""
    cost = task("metrics", str(_city(folder, 1_600_000)))
    facts = cost.json()
    return [Line("all measures", facts["cpu_s"], 3, "CPU s", cost.peak_mb, f"{facts['flows']:,} flows")]


def end_to_end(folder: Path, trips: int) -> list[Line]:
    """The whole command against the least that any such command must do."""
    city = _city(folder, trips)
    least = task("reference", str(city))
    ours = tripcloak(*_anonymise(city, folder / "large"), "--memory", "1GB")
    floor = least.json()
    ratio = ours.cpu_s / floor["cpu_s"]
    remark = f"{ours.cpu_s:.0f} against {floor['cpu_s']:.0f} CPU s; {floor['pairs']:,} flows"
    return [
        Line(f"anonymise {trips:,} trips / (H3 + distinct count)", ratio, 2.5, "times", ours.peak_mb, remark),
        Line(
            f"anonymise {trips:,} trips, --memory 1GB, peak memory",
            ours.peak_mb / 1000,
            2,
            "GB",
            ours.peak_mb,
        ),
    ]


def _anonymise(city: Path, out: Path) -> list[str]:
    return ["anonymise", str(city), "--method", "odkanon", "--k", "10", "--out", str(out), "--json"]


def _city(folder: Path, trips: int) -> Path:
    path = folder / f"city-{trips}.parquet"
    if not path.exists():
        made: Cost = tripcloak("synth", "city", "--trips", str(trips), "--out", str(path))
        assert made.output == ""
    return path


if __name__ == "__main__":
    sys.exit(main())
