"""The eight attacks that scikit-mobility offers, on the same few visits: the same risks, and how much faster.

scikit-mobility wants older Python, numpy and pandas than ours, so it lives in an environment of its own.
Its cost grows with people x people x instances of knowledge, so the visits are few.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lines import Line, Skipped
from benchmarks.measuring import run
from benchmarks.peers import NoPeers, environment
from tripcloak.trajectories.attacks import attack
from tripcloak.trajectories.model import Grid, Trajectories

PEOPLE, SAMPLES, PLACES = 12, 5, 6
KNOWN, TOLERANCE = 2, 0.25
HOME = Path(__file__).parents[1] / ".bench-venv-attackers"
PINS = Path(__file__).with_name("attackers-constraints.txt")
MAKER = "python3.10"
"""The newest Python for which all its parts can be had ready made."""


def attackers(folder: Path) -> Iterator[Line | Skipped]:
    """Yield how much faster each attack is, and how far the risks are apart."""
    try:
        if not runs(MAKER):
            raise NoPeers(f"scikit-mobility needs an older Python, and there is no {MAKER} that runs")
        python = environment(HOME, PINS, ("scikit-mobility",), MAKER)
    except NoPeers as reason:
        yield Skipped("scikit-mobility's attacks", str(reason))
        return
    trajectories = _visits()
    path = folder / "visits.csv"
    _write(path, trajectories)
    script = Path(__file__).with_name("attacker_tasks.py")
    theirs = run([str(python), str(script), str(path), str(KNOWN), str(TOLERANCE)]).json()
    for kind, found in theirs.items():
        yield from _compared(kind, found, trajectories)


def runs(python: str) -> bool:
    """Return whether there is such a Python and it runs; what is found may only stand for one."""
    if shutil.which(python) is None:
        return False
    return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0


def _compared(kind: str, theirs: dict[str, Any], trajectories: Trajectories) -> Iterator[Line]:
    told = {"knowledge": KNOWN, "tolerance": TOLERANCE, "precision": "day", "jobs": 1}
    # Once before, so that the compiler's time is not counted.
    attack(trajectories, kind, **told)  # type: ignore[arg-type]
    started = time.process_time()
    ours = attack(trajectories, kind, **told)  # type: ignore[arg-type]
    seconds = time.process_time() - started
    remark = f"{theirs['cpu_s']:.2f} against {seconds:.4f} CPU s"
    what = f"scikit-mobility's {kind} attack / ours, {PEOPLE} people"
    yield Line(what, theirs["cpu_s"] / seconds, 10, "times", remark=remark, at_least=True)
    apart = float(np.abs(ours.risk - np.array(theirs["risk"])).max())
    yield Line(f"risks of the {kind} attack, scikit-mobility against ours", apart, 1e-9, "apart")


def _visits() -> Trajectories:
    """Return few people at few places, so that what is known often fits several of them."""
    random = np.random.default_rng(1)
    n = PEOPLE * SAMPLES
    x = random.zipf(1.6, n) % PLACES
    t = 1_304_208_000 // 60 + random.permutation(8 * 1440)[:n]
    return Trajectories.of(user=np.repeat(range(PEOPLE), SAMPLES), t=t, x=x, y=x * 7 % 5, grid=Grid())


def _write(path: Path, trajectories: Trajectories) -> None:
    seconds = trajectories.grid.times(trajectories.t)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["user", "seconds", "x", "y"])
        table.writerows(zip(trajectories.owner, seconds, trajectories.x, trajectories.y, strict=True))
