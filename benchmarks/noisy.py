"""Prints what noisy methods keep of one input, with little and with more budget.

    python -m benchmarks.noisy city.parquet --hierarchy h3:8/root=831e00fffffffff
    python -m benchmarks.noisy cabs.parquet --hierarchy h3:8 --methods noisycut --epsilon 1
    python -m benchmarks.noisy cabs.parquet --methods inftda laplace --bounding sample scale

Numbers of a row are those of one draw of noise; another draw gives others.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

from tripcloak import METHODS, TripSource, Zoning, audit_matrix, measure, read_matrix
from tripcloak.ground.errors import ImpossibleRequestError


def main() -> None:
    """Run every method at every epsilon and print a Markdown table."""
    given = _arguments().parse_args()
    source, zoning = TripSource(paths=(given.input,)), Zoning(spec=given.hierarchy)
    matrix = read_matrix(source, zoning, repeats=True).trips.matrix
    print(f"{matrix.n_flows:,} flows, {matrix.flows.trips.sum():,} trips\n")
    print("| method | epsilon | published pairs | trips | CPC | shares in common | CPU s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, way, epsilon in product(given.methods, given.bounding, given.epsilon):
        asked = {} if name == "noisycut" else {"bounding": way}
        if name == "noisycut" and way != given.bounding[0]:
            continue
        started = time.process_time()
        try:
            release = METHODS[name](epsilon=epsilon, **asked).anonymise(matrix)
        except ImpossibleRequestError:
            print(f"| {name}, {way} | {epsilon:g} | none | | | | |", flush=True)
            continue
        seconds = time.process_time() - started
        found = measure(matrix, release)
        safe = "" if audit_matrix(matrix, release).safe else " NOT SAFE"
        print(
            f"| {', '.join([name, *asked.values()])}{safe} | {epsilon:g} | {release.n_groups:,} "
            f"| {release.trips.sum():,} "
            f"| {found['CPC']:.3f} | {found['CPC_shares']:.3f} | {seconds:.1f} |",
            flush=True,
        )


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input")
    parser.add_argument("--hierarchy", default="h3:8")
    parser.add_argument("--methods", nargs="+", default=["inftda", "noisycut"])
    parser.add_argument("--bounding", nargs="+", default=["sample"], choices=["sample", "scale"])
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0, 10.0])
    return parser


if __name__ == "__main__":
    main()
