"""Prints one table of NIST scores: every method's release of one input, beside subsamples of its individuals.

    python -m benchmarks.scale cabs.parquet --zones h3:9
    python -m benchmarks.scale bikes.parquet --zones h3:9 --methods twincut,odkanon --shifts
    python -m benchmarks.scale cabs.parquet --zones h3:9 --methods twincut,productcut --axis --time-weight 10

The input is read once. Methods run at k = 10 and a limit of 10 %, those of noise at epsilon 1 and 10 with
zones of the size of areas. With --shifts every shift is anonymised by itself, with --axis time is an axis
of shifts; noise can do neither. CPU seconds are from the matrix to the release; nothing is written.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tripcloak.analysis.scoring import contest_records, released_records, subsample
from tripcloak.flows.measures.nist import INDIVIDUAL, NistScore, nist_score
from tripcloak.flows.methods import METHODS, FlowMethod, SlotBySlot
from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.flows.release.reading import published_of
from tripcloak.flows.release.tables import flows_table, zones_table
from tripcloak.ground.errors import TripcloakError
from tripcloak.hierarchy import parse_tiling
from tripcloak.promises import KAnonymity
from tripcloak.records.source import TripSource

AREAS = 7
EPSILONS = (1.0, 10.0)
COLUMNS = ("score", "k-marginal", "graph", "conjunctions", "penalised", "records", "CPU s")


def main(arguments: list[str]) -> None:
    """Run methods, score what they release, and print a Markdown table row by row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("input")
    parser.add_argument("--zones", default="h3:9", help="cells of H3, finer than areas")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--shifts", action="store_true", help="every shift by itself")
    parser.add_argument("--axis", action="store_true", help="shifts as an axis, for methods that know time")
    parser.add_argument("--time-weight", type=float, default=1.0, help="loss of one shift, in tiles")
    asked = parser.parse_args(arguments)
    source, tiling = TripSource(paths=(asked.input,)), parse_tiling(f"h3:{AREAS}")
    zoning = Zoning(spec=asked.zones)
    if asked.shifts or asked.axis:
        zoning = Zoning(spec=asked.zones, time_slot=480, fold="week", apart=asked.shifts)
    truth = contest_records(source, tiling)
    print("| what | " + " | ".join(COLUMNS) + " |\n|---|" + "---:|" * len(COLUMNS), flush=True)
    for percent in (10, 40, 70):
        print(_row(f"subsample of {percent} %", nist_score(truth, subsample(truth, percent))), flush=True)
    matrix = read_matrix(source, zoning, repeats=True).trips.matrix
    facts = {"volume": "trips", "hierarchy": {"spec": asked.zones, **zoning.clock()}}
    individuals = len(np.unique(truth[INDIVIDUAL]))
    own = {"time_weight": asked.time_weight} if asked.axis else {}
    for title, method in _methods(asked.methods.split(","), int(asked.zones[3:]) - AREAS, own):
        started = time.process_time()
        try:
            release = (SlotBySlot.of(method) if asked.shifts else method).anonymise(matrix)
        except TripcloakError as error:
            print(f"| {title} | {error} |" + " |" * (len(COLUMNS) - 1), flush=True)
            continue
        seconds = time.process_time() - started
        published = published_of(facts, flows_table(release), zones_table(matrix, release))
        records = released_records(published, tiling, individuals)
        print(_row(title, nist_score(truth, records), seconds), flush=True)


def _methods(names: list[str], height: int, of_time: dict[str, Any]) -> Iterator[tuple[str, FlowMethod]]:
    for name in names:
        if not METHODS[name].noisy:
            yield name, METHODS[name](promise=KAnonymity(k=10), suppression_limit=0.1, **of_time)
            continue
        for epsilon in EPSILONS:
            noise: dict[str, Any] = {"epsilon": epsilon, "height": height}
            yield f"{name}, epsilon {epsilon:g}", METHODS[name](**noise)


def _row(title: str, found: NistScore, cpu_s: float | None = None) -> str:
    cells = (
        f"{found.score:.0f}",
        f"{found.k_marginal:.3f}",
        f"{found.graph:.3f}",
        f"{found.conjunctions:.3f}",
        f"{found.penalised:,}",
        f"{found.records:,}",
        "" if cpu_s is None else f"{cpu_s:.1f}",
    )
    return f"| {title} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main(sys.argv[1:])
