"""Prints one table of NIST scores: every method's release of one input, beside subsamples of its individuals.

    python -m benchmarks.scale cabs.parquet --hierarchy h3:9
    python -m benchmarks.scale bikes.parquet --hierarchy h3:9 --methods twincut,mondrian --slot 8h --fold week

All that is not said here is said to `tripcloak anonymise`. Methods of noise run twice, at epsilon 1 and 10.
Every release is made, audited and written as any other; CPU seconds are those of `tripcloak anonymise`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import TookTooLong, run
from tripcloak.flows.methods import METHODS

EPSILONS = ("1", "10")
COLUMNS = ("score", "k-marginal", "graph", "conjunctions", "penalised", "records", "CPU s")


def main(arguments: list[str]) -> None:
    """Run methods, score what they release, and print a Markdown table row by row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("input")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--areas", default="h3:7")
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds a command may take")
    asked, others = parser.parse_known_args(arguments)
    print("| what | " + " | ".join(COLUMNS) + " |\n|---|" + "---:|" * len(COLUMNS), flush=True)
    beside = "10,40,70"
    with tempfile.TemporaryDirectory(prefix="tripcloak-scale-") as name:
        for number, (title, options) in enumerate(_runs(asked.methods.split(","))):
            out = str(Path(name) / str(number))
            try:
                made = _told(asked.limit, "anonymise", asked.input, *others, *options, "--out", out, "--json")
                scored = ("score", "nist", out, "--against", asked.input, "--areas", asked.areas, "--json")
                told = json.loads(_told(asked.limit, *scored, "--subsamples", beside).output)
            except (SystemExit, TookTooLong) as reason:
                why = "took too long" if isinstance(reason, TookTooLong) else "the answer is no"
                print(f"| {title} | {why} |" + " |" * (len(COLUMNS) - 1), flush=True)
                continue
            for row in told["rows"][1:] if beside else ():
                print(_row(f"subsample of {row['name']}", row, None), flush=True)
            print(_row(title, told["rows"][0], made.cpu_s), flush=True)
            beside = ""


def _runs(methods: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for method in methods:
        if not METHODS[method].noisy:
            yield method, ("--method", method)
            continue
        for epsilon in EPSILONS:
            yield f"{method}, epsilon {epsilon}", ("--method", method, "--epsilon", epsilon)


def _told(limit: float, *arguments: str) -> Any:
    return run([sys.executable, "-m", "tripcloak.cli", *arguments], limit_s=limit)


def _row(title: str, row: dict[str, Any], cpu_s: float | None) -> str:
    cells = (
        f"{row['score']:.0f}",
        f"{row['k_marginal']:.3f}",
        f"{row['graph']:.3f}",
        f"{row['conjunctions']:.3f}",
        f"{row['penalised']:,}",
        f"{row['records']:,}",
        "" if cpu_s is None else f"{cpu_s:.1f}",
    )
    return f"| {title} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main(sys.argv[1:])
