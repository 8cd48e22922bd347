"""Measures CPU seconds and peak memory of whole runs by size, memory and engine, and prints a Markdown table.

    python -m benchmarks.sizes                                       # what docs/scale.md shows
    python -m benchmarks.sizes --trips 2000000,20000000 --memory none,1GB
    python -m benchmarks.sizes --write docs/images/scale.json        # also for the plot

Every run reads a made-up city with ids and weights into H3 cells of resolution 10, anonymises it by TwinCut,
audits, measures and writes it. Releases of one size must be the same bytes whatever the memory. Beside them
stands what H3 encoding and one aggregation in DuckDB take (`python -m benchmarks.bare`): a run may take twice
as many CPU seconds without audit and measures, by their share of the time, and three times with them. Else
exits 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TypeAlias

from benchmarks import measuring

TRIPS, MEMORY = "2000000,5000000,20000000", "none,1GB"
BARE = "bare"
"""In place of a limit: encoding and one aggregation alone."""
MOST_UNCHECKED, MOST = 2.0, 3.0
"""Times the CPU seconds of that, without and with audit and measures."""

Row: TypeAlias = dict[str, float | str]


def main(arguments: list[str]) -> int:
    """Measure, print row by row, and return the exit code."""
    parser = argparse.ArgumentParser(prog="make bench-scale")
    parser.add_argument("--trips", default=TRIPS, help="sizes, separated by commas")
    parser.add_argument("--memory", default=MEMORY, help="limits, separated by commas; none for no limit")
    parser.add_argument("--write", type=Path, help="a JSON file to add the rows to")
    asked = parser.parse_args(arguments)
    print(
        "| trips | `--memory` | CPU s | peak GB | times bare | without audit, measures | the same release |\n"
        "|--:|--:|--:|--:|--:|--:|---|",
        flush=True,
    )
    rows: list[Row] = []
    good = True
    for trips in map(int, asked.trips.split(",")):
        with tempfile.TemporaryDirectory() as home:
            city, first = Path(home) / "city.parquet", None
            measuring.run([*_TRIPCLOAK, "synth", "city", "--trips", str(trips), "--out", str(city)])
            bare = measuring.run([*_BARE, str(city), str(Path(home) / "flows.parquet")])
            rows.append(_cost(trips, BARE, bare))
            print(
                f"| {trips:,} | bare DuckDB | {bare.cpu_s:.0f} | {bare.peak_mb / 1000:.2f} | 1 | 1 | |",
                flush=True,
            )
            for memory in asked.memory.split(","):
                row, share, release = _row(city, trips, memory, Path(home) / memory)
                first = first or release
                times = float(row["cpu_s"]) / bare.cpu_s
                good &= release == first and times <= MOST and times * share <= MOST_UNCHECKED
                rows.append(row)
                print(_words(row, times, times * share, release == first), flush=True)
    if asked.write is not None:
        known = json.loads(asked.write.read_text()) if asked.write.exists() else []
        keys = {(row["trips"], row["memory"]) for row in rows}
        kept = [row for row in known if (row["trips"], row["memory"]) not in keys]
        asked.write.write_text(json.dumps(sorted(kept + rows, key=_place), indent=1) + "\n")
    return 0 if good else 1


_TRIPCLOAK = (sys.executable, "-m", "tripcloak.cli")
_BARE = (sys.executable, "-m", "benchmarks.bare")


def _row(city: Path, trips: int, memory: str, out: Path) -> tuple[Row, float, dict[str, bytes]]:
    """Return what a run cost, the share of its time that is no audit and no measure, and what it released."""
    limit = [] if memory == "none" else ["--memory", memory]
    order = ["anonymise", str(city), "--hierarchy", "h3:10", "--out", str(out), "--json", *limit]
    cost = measuring.run([*_TRIPCLOAK, *order])
    release = {path.name: path.read_bytes() for path in (out / "release").iterdir()}
    seconds = cost.json()["seconds"]
    return _cost(trips, memory, cost), 1 - seconds["check"] / sum(seconds.values()), release


def _cost(trips: int, memory: str, cost: measuring.Cost) -> Row:
    gigabytes = round(cost.peak_mb / 1000, 2)
    return {"trips": trips, "memory": memory, "cpu_s": round(cost.cpu_s, 1), "peak_gb": gigabytes}


def _words(row: Row, times: float, unchecked: float, same: bool) -> str:
    told = "yes" if same else "NO"
    cost = f"{row['cpu_s']:.0f} | {row['peak_gb']:.2f}"
    return f"| {row['trips']:,} | {row['memory']} | {cost} | {times:.2f} | {unchecked:.2f} | {told} |"


def _place(row: Row) -> tuple[float, str]:
    return float(row["trips"]), str(row["memory"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
