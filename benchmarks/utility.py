"""Prints one table of every method's utility on one input, under one definition of every measure.

    python -m benchmarks.utility city.parquet --unit trips
    python -m benchmarks.utility od.parquet --hierarchy dendrogram --zones zones.parquet

Every line is a whole run of `tripcloak anonymise`, so CPU seconds include reading and writing.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measuring import tripcloak

RUNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("productcut", ()),
    ("productcut, metres", ("--loss", "metres")),
    ("nestedcut", ()),
    ("twincut", ()),
    ("twincut, metres", ("--loss", "metres")),
    ("atg-dual", ()),
    ("atg-soft", ()),
    ("quadtree-knapsack", ()),
    ("odkanon", ()),
)
COLUMNS = (
    "groups",
    "zones",
    "S %",
    "G",
    "E",
    "C_DM",
    "C_AVG",
    "GDM mean",
    "GDM median",
    "CPC",
    "gap %",
    "CPU s",
    "MB",
)


def main(arguments: list[str]) -> None:
    """Run every method with these arguments of `tripcloak anonymise` and print a Markdown table."""
    print("| method | " + " | ".join(COLUMNS) + " |\n|---|" + "---:|" * len(COLUMNS))
    with tempfile.TemporaryDirectory(prefix="tripcloak-utility-") as name:
        for number, (title, options) in enumerate(RUNS):
            out = Path(name) / str(number)
            method = title.partition(",")[0]
            try:
                cost = tripcloak(
                    "anonymise", *arguments, "--method", method, *options, "--out", str(out), "--json"
                )
            except SystemExit:
                print(f"| {title} | the answer is no |" + " |" * (len(COLUMNS) - 1), flush=True)
                continue
            print(_row(title, cost.json(), cost.cpu_s, cost.peak_mb), flush=True)


def _row(title: str, facts: dict[str, Any], cpu_s: float, peak_mb: float) -> str:
    measured, bound = facts["metrics"], facts["bound"]
    cells = (
        f"{facts['groups']:,}",
        f"{facts['zones']['origins']:,} x {facts['zones']['destinations']:,}",
        f"{100 * measured['S']:.1f}",
        f"{measured['G']:,.2f}" if measured["G"] < 100 else f"{measured['G']:,.0f}",
        f"{measured['E']:.3f}",
        f"{measured['C_DM']:.2e}",
        f"{measured['C_AVG']:,.1f}",
        f"{measured['GDM_mean']:,.0f}",
        f"{measured['GDM_median']:,.0f}",
        f"{measured['CPC']:.3f}",
        "-" if bound is None else f"{bound['gap']:.2f}",
        f"{cpu_s:.1f}",
        f"{peak_mb:,.0f}",
    )
    return f"| {title} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main(sys.argv[1:])
