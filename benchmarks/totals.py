"""Totals and several heights of one release: what it costs to protect them, beside cell suppression.

GaussSuppression (R) and G-Confid (Python, in an environment of its own) suppress cells of the same tables,
and attack ours: they must find no small cell that can be solved for, protect no more of them, and publish no
more.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.lines import Line, Skipped
from benchmarks.measuring import TookTooLong, run, task
from benchmarks.peers import NoPeers, environment

SCRIPT = Path(__file__).with_name("suppression.R")
PUBLISHED, LARGE = ("4", "62000", "2"), ("6", "4000000", "3")
"""Depth of the tiles, rows of trips, and heights above the tiles."""
COMPARED = {"flat": ("3", "4000", "0"), "tiered": ("3", "4000", "2")}
"""Tables that are small enough for others."""
K = 10
HOME = Path(__file__).parents[1] / ".bench-venv-suppression"
PINS = Path(__file__).with_name("suppression-constraints.txt")
PATIENCE_S = 900.0


def totals(folder: Path) -> Iterator[Line | Skipped]:
    """Yield what it costs to protect tables, and what others say of some that are small enough for them."""
    for size, limit in ((PUBLISHED, 1.0), (LARGE, 120.0)):
        cost = task("tables", *size)
        facts = cost.json()
        what = f"totals and {int(size[2]) + 1} heights, {facts['groups']:,} flows, {facts['cells']:,} cells"
        yield Line(what, facts["cpu_s"], limit, "CPU s", cost.peak_mb, f"{facts['bricks']:,} bricks")
    for form, size in COMPARED.items():
        flows = folder / f"totals-{form}.csv"
        ours = task("tables", *size, str(flows)).json()
        yield from compared(f"GaussSuppression, {form} table", ours, gauss_suppression, flows, size[2])
        yield from compared(f"G-Confid, {form} table", ours, g_confid, flows, size[2])


def compared(
    name: str, ours: dict[str, Any], rival: Any, flows: Path, levels: str
) -> Iterator[Line | Skipped]:
    """Yield whether a rival solves for a small cell of ours, protects more of them, or publishes more."""
    try:
        theirs = rival(flows, levels)
    except NoPeers as reason:
        yield Skipped(name, str(reason))
        return
    remark = (
        f"{theirs['published']:,} of {theirs['cells']:,} cells in {theirs['cpu_s']:.2f} CPU s, against "
        f"{ours['cells']:,} in {ours['cpu_s']:.3f}"
    )
    small = theirs["small"]
    yield Line(f"{name}: solved for in ours", theirs["solved"], 0, "cells", remark=f"{small:,} small ones")
    more = theirs["ours_protected"] - theirs["protected"]
    told = f"{theirs['ours_protected']:,} against {theirs['protected']:,}"
    yield Line(f"{name}: small ones that ours protects more", more, 0, "cells", remark=told, at_least=True)
    more = ours["cells"] - theirs["published"]
    yield Line(f"{name}: published more by ours", more, 0, "cells", remark=remark, at_least=True)


def gauss_suppression(flows: Path, levels: str) -> dict[str, float]:
    """Return what GaussSuppression makes of a file of flows.

    It adds what it must hide so that no small cell follows from the others: of ours nothing, if none does.
    """
    command = shutil.which("Rscript")
    if command is None:
        raise NoPeers("there is no R here")
    asked = [command, str(SCRIPT), str(flows), levels]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoPeers("R has no package GaussSuppression here, or cannot run it")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {
        **found,
        "solved": found["added"],
        "protected": found["small"],
        "ours_protected": found["asked"] - found["added"],
    }


def g_confid(flows: Path, levels: str) -> dict[str, float]:
    """Return what G-Confid makes of a file of flows, and what its audit says of our tables of them."""
    python = environment(HOME, PINS, ("gconfid",))
    script = Path(__file__).with_name("suppression_tasks.py")
    try:
        theirs, audit = (
            run([str(python), str(script), asked, str(flows), levels, str(K)], limit_s=PATIENCE_S)
            for asked in ("suppress", "audit")
        )
    except TookTooLong as late:
        raise NoPeers(f"G-Confid was not done after {PATIENCE_S:,.0f} s") from late
    # It greets whoever imports it before the answer.
    found, ours = (json.loads(cost.output.splitlines()[-1]) for cost in (theirs, audit))
    return {**found, "solved": ours["solved"], "ours_protected": ours["protected"]}
