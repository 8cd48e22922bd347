"""Rebuilds the published tables and figure 12, and writes them to a folder.

python -m benchmarks.papers --out out/papers                       # generated data, all of it
python -m benchmarks.papers --quick --out out/papers               # the same in small
python -m benchmarks.papers --out out/papers --only porto --data porto=porto.csv --preset porto=porto-taxi
python -m benchmarks.papers --out out/papers --only nyc --hourly nyc \\
    --data nyc='tlc/*.parquet' --preset nyc=nyc-tlc --zones nyc=taxi_zones.geojson
python -m benchmarks.papers --golden tests/golden/papers_small.json   # the table that the tests check
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.papers.datasets import MADE, SMALL, Data, GivenTrips, to_dict
from benchmarks.papers.figure import DATA as COUNTRIES
from benchmarks.papers.figure import figure
from benchmarks.papers.golden import golden
from benchmarks.papers.published import THESIS
from benchmarks.papers.runs import ATG_RUNS, Run, thesis_runs
from benchmarks.papers.solving import Result, solved_apart
from benchmarks.papers.tables import atg_tables, own_table, sizes_table, thesis_tables

FEW = {"senegal_split": 2, "senegal_big": 2}
"""Matrices of the large data sets, where the others have as many as asked for."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for and return the exit code."""
    asked = _parser().parse_args(arguments)
    if asked.golden:
        asked.golden.write_text(golden(), encoding="utf-8")
        return 0
    if asked.out is None:
        raise SystemExit("say where the tables go: --out DIR")
    asked.out.mkdir(parents=True, exist_ok=True)
    results = _collect(_chosen(asked), asked)
    (asked.out / "tables.md").write_text(report(results), encoding="utf-8")
    if any(name in results for name in COUNTRIES):
        (asked.out / "figure12.svg").write_text(figure(results), encoding="utf-8")
    print(f"{asked.out / 'tables.md'}")
    return 0


def report(results: dict[str, dict[str, Result]]) -> str:
    """Return all tables as one Markdown text."""
    parts = [f"### Data\n{sizes_table(results)}"]
    parts += thesis_tables(results) if set(results) & set(THESIS) else ()
    parts += atg_tables(results) if set(results) & set(COUNTRIES) else ()
    parts += (own_table(name, found) for name, found in results.items() if name not in MADE)
    return "\n".join(parts)


def _collect(chosen: dict[str, Data], asked: argparse.Namespace) -> dict[str, dict[str, Result]]:
    """Return the results of every run, each kept on disk as soon as it is there."""
    store = asked.out / "results.json"
    kept: dict[str, dict[str, Any]] = json.loads(store.read_text()) if asked.resume and store.exists() else {}
    results: dict[str, dict[str, Result]] = {}
    for name, data in chosen.items():
        number = 1 if asked.quick else min(asked.matrices, FEW.get(name, asked.matrices))
        for run in runs_of(name, data):
            key = json.dumps([to_dict(data), run.method, dict(run.options), number])
            if "matrices" not in kept.get(key, {}):
                print(f"{name}: {run.title}", file=sys.stderr, flush=True)
                kept[key] = solved_apart(data, run, number, asked.limit)
                store.write_text(json.dumps(kept, indent=1), encoding="utf-8")
            results.setdefault(name, {})[run.title] = kept[key]
    return results


def runs_of(name: str, data: Data) -> tuple[Run, ...]:
    """Return the rows of a data set's table: the ATG paper's on zones of a file, else the thesis's."""
    zoned = isinstance(data, GivenTrips) and data.zones is not None
    return ATG_RUNS if zoned or name in COUNTRIES else thesis_runs(name)


def _chosen(asked: argparse.Namespace) -> dict[str, Data]:
    made = dict(SMALL if asked.quick else MADE)
    given = {option: dict(pair.split("=", 1) for pair in getattr(asked, option)) for option in _NAMED}
    for name, path in given["data"].items():
        tiles = "dendrogram" if name in given["zones"] else "h3:10"
        made[name] = GivenTrips(
            path=path,
            tiles=given["hierarchy"].get(name, tiles),
            zones=given["zones"].get(name),
            preset=given["preset"].get(name),
            where=given["where"].get(name),
            hourly=name in asked.hourly,
        )
    only = asked.only.split(",") if asked.only else list(made)
    if unknown := [name for name in only if name not in made]:
        raise SystemExit(f"no data set {', '.join(unknown)}; there are: {', '.join(made)}")
    return {name: made[name] for name in only}


_NAMED = {
    "data": "take the trips of these files for a data set, or for one of your own: NAME=PATH",
    "preset": "the public format of such files: NAME=PRESET",
    "where": "which of their rows: NAME=SQL",
    "zones": "their zones file, which makes the tiles: NAME=PATH",
    "hierarchy": "their hierarchy: NAME=SPEC (h3:10; dendrogram where there is a zones file)",
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--out", type=Path, help="folder for tables.md, figure12.svg and results.json")
    parser.add_argument("--quick", action="store_true", help="small data, one matrix each")
    parser.add_argument("--only", help="data sets, separated by commas")
    parser.add_argument("--matrices", type=int, default=5, help="matrices of a data set of the ATG paper")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one method on one data set")
    parser.add_argument("--resume", action="store_true", help="keep the figures results.json already holds")
    parser.add_argument("--hourly", action="append", default=[], help="NAME: one matrix for each busy hour")
    parser.add_argument("--golden", type=Path, help="write the small table that the tests check, and stop")
    for option, words in _NAMED.items():
        parser.add_argument(f"--{option}", action="append", default=[], help=words)
    return parser


if __name__ == "__main__":
    sys.exit(main())
