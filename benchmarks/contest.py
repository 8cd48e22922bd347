"""NIST's own scorer of the temporal map challenge's sprint 3, on made tables in its schema: the same parts.

The scorer is `metric.py` of drivendataorg/deid2-runtime (runtime/scripts, as contestants had it) or of
usnistgov/Differential-Privacy-Temporal-Map-Challenge-assets (branch challenge_raw_resources,
competition-runtime/sprint-3/runtime/scripts, with a penalty for records too many or too few). It is not
copied here: NIST_SCORER names the file, or several files. It wants older numpy and pandas than ours, so it
runs in an environment of its own.
"""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lines import Line, Skipped
from benchmarks.measuring import run
from benchmarks.peers import NoPeers, environment
from tripcloak.flows.measures.nist import nist_score

HOME = Path(__file__).parents[1] / ".bench-venv-contest"
PINS = Path(__file__).with_name("contest-constraints.txt")
PACKAGES = ("numpy", "pandas", "typer", "loguru", "tqdm")
SCORER = "NIST_SCORER"
TRIPS, TAXIS = 8_000, 150
AREAS = np.array([-1, *range(1, 78)])
SHIFTS = 21

Columns = dict[str, Any]


def contest(folder: Path) -> Iterator[Line | Skipped]:
    """Yield how far our parts are from the contest's, on several synthetic tables."""
    files = [path for path in os.environ.get(SCORER, "").split(os.pathsep) if path]
    if not files:
        yield Skipped("NIST's scorer", f"{SCORER} names no metric.py; benchmarks/contest.py says where it is")
        return
    try:
        python = environment(HOME, PINS, PACKAGES)
    except NoPeers as reason:
        yield Skipped("NIST's scorer", str(reason))
        return
    truth = made_truth()
    written(folder / "truth.csv", truth)
    for number, file in enumerate(files):
        for name, table in made_tables(truth).items():
            path = folder / f"{number}-{name}.csv"
            written(path, {"epsilon": np.ones(len(table["shift"])), **table})
            yield from _compared(python, file, folder / "truth.csv", path, truth, table)


def _compared(
    python: Path, file: str, true: Path, path: Path, truth: Columns, table: Columns
) -> Iterator[Line]:
    scratch = path.with_suffix("")
    scratch.mkdir()
    script = str(Path(__file__).with_name("contest_tasks.py"))
    cost = run([str(python), script, file, str(true), str(path)], {"TMPDIR": str(scratch)})
    theirs = cost.json()
    started = time.process_time()
    found = nist_score(truth, table, cutoff=theirs["cutoff"])
    seconds = time.process_time() - started
    ours = found.k_marginal, found.graph, found.conjunctions, found.score
    apart = max(abs(a - b) for a, b in zip(ours, theirs["parts"], strict=True))
    penalty = "no penalty" if theirs["cutoff"] is None else f"penalty from {theirs['cutoff']}"
    what = f"NIST's scorer ({penalty}) against ours, {path.stem.split('-')[1]}"
    remark = f"both {found.score:.9f}, {apart:.1e} apart; {cost.cpu_s:.1f} against {seconds:.2f} CPU s"
    yield Line(what, apart, 1e-9, "apart", cost.peak_mb, remark)


def made_truth() -> Columns:
    """Return made-up taxi trips in which every area and every shift occurs, as the scorer wants it.

    Each area has two shifts alone: the scorer's time goes with their number.
    """
    random = np.random.default_rng(1)
    area = np.concatenate((AREAS, random.choice(AREAS, TRIPS - len(AREAS), p=_falling(len(AREAS)))))
    fare = random.gamma(2.0, 9.0, TRIPS).astype(int) - 2
    tips = np.where(random.random(TRIPS) < 0.5, 0, random.gamma(1.5, 3.0, TRIPS).astype(int))
    return {
        "taxi_id": 1_000_000 + random.choice(TAXIS, TRIPS, p=_falling(TAXIS)),
        "shift": (area + 1 + 8 * random.integers(0, 2, TRIPS)) % SHIFTS,
        "company_id": random.choice(101, TRIPS, p=_falling(101)),
        "pickup_community_area": area,
        "dropoff_community_area": np.where(random.random(TRIPS) < 0.3, area, random.permutation(area)),
        "payment_type": random.integers(-1, 9, TRIPS),
        "fare": fare,
        "tips": tips,
        "trip_total": fare + tips + random.integers(0, 3, TRIPS),
        "trip_seconds": random.gamma(2.0, 500.0, TRIPS).astype(int),
        "trip_miles": random.gamma(1.2, 5.0, TRIPS).astype(int),
    }


def made_tables(truth: Columns) -> dict[str, Columns]:
    """Return synthetic tables: fewer taxis, shuffled columns, areas and shifts gone, far too many trips."""
    random = np.random.default_rng(2)
    taxis = random.random(TAXIS) < 0.4
    some = taxis[truth["taxi_id"] - 1_000_000]
    gone = (truth["pickup_community_area"] % 5 != 3) & (truth["shift"] != 7)
    return {
        "subsample": {name: column[some] for name, column in truth.items()},
        "shuffled": {
            name: column if name == "shift" else random.permutation(column) for name, column in truth.items()
        },
        "gaps": {name: column[gone] for name, column in truth.items()},
        "doubled": {name: np.tile(column, 6) for name, column in truth.items()},
    }


def _falling(n: int) -> Any:
    shares = 1.0 / np.arange(1, n + 1) ** 0.7
    return shares / shares.sum()


def written(path: Path, table: Columns) -> None:
    """Write a table as the scorer reads it."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(table)
        rows.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
