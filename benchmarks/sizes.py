"""Measures CPU seconds and peak memory of whole runs by size, memory and engine, and prints a Markdown table.

    python -m benchmarks.sizes                                       # what docs/scale.md shows
    python -m benchmarks.sizes --trips 2000000,20000000 --memory none,1GB
    python -m benchmarks.sizes --write docs/images/scale.json        # also for the plot

Every run reads a made-up city with ids and weights into H3 cells of resolution 10, anonymises it by TwinCut,
audits, measures and writes it. Releases of one size must be the same bytes whatever the memory; else exits 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks import measuring

TRIPS, MEMORY = "2000000,5000000,20000000", "none,1GB"


def main(arguments: list[str]) -> int:
    """Measure, print row by row, and return the exit code."""
    parser = argparse.ArgumentParser(prog="make bench-scale")
    parser.add_argument("--trips", default=TRIPS, help="sizes, separated by commas")
    parser.add_argument("--memory", default=MEMORY, help="limits, separated by commas; none for no limit")
    parser.add_argument("--write", type=Path, help="a JSON file to add the rows to")
    asked = parser.parse_args(arguments)
    print("| trips | `--memory` | CPU s | peak GB | the same release |\n|--:|--:|--:|--:|---|", flush=True)
    rows, same = [], True
    for trips in map(int, asked.trips.split(",")):
        with tempfile.TemporaryDirectory() as home:
            city, first = Path(home) / "city.parquet", None
            measuring.run([*_TRIPCLOAK, "synth", "city", "--trips", str(trips), "--out", str(city)])
            for memory in asked.memory.split(","):
                row, release = _row(city, trips, memory, Path(home) / memory)
                first = first or release
                same &= release == first
                rows.append(row)
                print(_words(row, release == first), flush=True)
    if asked.write is not None:
        known = json.loads(asked.write.read_text()) if asked.write.exists() else []
        keys = {(row["trips"], row["memory"]) for row in rows}
        kept = [row for row in known if (row["trips"], row["memory"]) not in keys]
        asked.write.write_text(json.dumps(sorted(kept + rows, key=_place), indent=1) + "\n")
    return 0 if same else 1


_TRIPCLOAK = (sys.executable, "-m", "tripcloak.cli")


def _row(city: Path, trips: int, memory: str, out: Path) -> tuple[dict[str, float | str], dict[str, bytes]]:
    limit = [] if memory == "none" else ["--memory", memory]
    order = ["anonymise", str(city), "--hierarchy", "h3:10", "--out", str(out), "--json", *limit]
    cost = measuring.run([*_TRIPCLOAK, *order])
    release = {path.name: path.read_bytes() for path in (out / "release").iterdir()}
    gigabytes = round(cost.peak_mb / 1000, 2)
    return {"trips": trips, "memory": memory, "cpu_s": round(cost.cpu_s, 1), "peak_gb": gigabytes}, release


def _words(row: dict[str, float | str], same: bool) -> str:
    told = "yes" if same else "NO"
    return f"| {row['trips']:,} | {row['memory']} | {row['cpu_s']:.0f} | {row['peak_gb']:.2f} | {told} |"


def _place(row: dict[str, float | str]) -> tuple[float, str]:
    return float(row["trips"]), str(row["memory"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
