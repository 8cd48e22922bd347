"""Totals and several heights of one release: what it costs to protect them, beside cell suppression in R."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lines import Line, Skipped
from benchmarks.measuring import task

SCRIPT = Path(__file__).with_name("suppression.R")
PUBLISHED, LARGE = ("4", "60000", "2"), ("6", "4000000", "3")
"""Depth of the tiles, rows of trips, and heights above the tiles."""
SMALL = ("3", "4000", "2")


def totals(folder: Path) -> Iterator[Line | Skipped]:
    """Yield what it costs to protect tables, and what GaussSuppression says of some that are small enough."""
    for size, limit in ((PUBLISHED, 1.0), (LARGE, 120.0)):
        cost = task("tables", *size)
        facts = cost.json()
        what = f"totals and {int(size[2]) + 1} heights, {facts['groups']:,} flows, {facts['cells']:,} cells"
        yield Line(what, facts["cpu_s"], limit, "CPU s", cost.peak_mb, f"{facts['bricks']:,} bricks")
    flows = folder / "totals.csv"
    ours = task("tables", *SMALL, str(flows)).json()
    theirs = _suppressed(flows)
    if theirs is None:
        yield Skipped("GaussSuppression on the same tables", "no R here with the package GaussSuppression")
        return
    remark = (
        f"{theirs['published']:,} of {theirs['cells']:,} cells in {theirs['cpu_s']:g} CPU s, against "
        f"{ours['cells']:,} in {ours['cpu_s']:.3f}"
    )
    yield Line("cells that GaussSuppression would still hide", theirs["added"], 0, "cells", remark=remark)


def _suppressed(flows: Path) -> dict[str, float] | None:
    """Return what GaussSuppression makes of a file of flows; None where it cannot be had."""
    command = shutil.which("Rscript")
    if command is None:
        return None
    asked = [command, str(SCRIPT), str(flows), SMALL[2]]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
