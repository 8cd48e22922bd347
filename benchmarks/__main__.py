"""Measures everything that has a limit, prints one table, and exits 1 if a limit is missed.

python -m benchmarks                  # all, with 20 M trips and 100,000 trajectories (about 2 hours)
python -m benchmarks --quick          # the same with 2 M trips and 2,000 trajectories
python -m benchmarks --only peers     # one part
python -m benchmarks --data FOLDER    # also quality on Foursquare NYC and Geolife, found in that folder
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks import (
    attackers,
    cases,
    contest,
    drawing,
    peers,
    rivals,
    several,
    survey,
    totals,
    trajectories,
)
from benchmarks.lines import Line, Skipped

Case = Callable[[Path], Iterable[Line | Skipped]]


def main() -> int:
    """Run every case and return the exit code."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--quick", action="store_true", help="fewer trips and trajectories")
    parser.add_argument("--only", help="parts to run, separated by commas")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where real trajectories are looked for")
    asked = parser.parse_args()
    chosen = _cases(quick=asked.quick, data=asked.data)
    only = asked.only.split(",") if asked.only else list(chosen)
    if unknown := set(only) - set(chosen):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are: {', '.join(chosen)}")
    print("| what | measured | limit | peak MB | | remark |\n|---|---|---|---|---|---|", flush=True)
    missed = 0
    with tempfile.TemporaryDirectory(prefix="tripcloak-bench-") as name:
        for part in only:
            for line in chosen[part](Path(name)):
                print(line, flush=True)
                missed += not line.ok
    print(f"\n{missed} missed" if missed else "\nall limits hold")
    return 1 if missed else 0


def _cases(*, quick: bool, data: Path | None) -> dict[str, Case]:
    large, larger = (1_600_000, 2_000_000) if quick else (16_000_000, 20_000_000)
    many = 200_000 if quick else 1_000_000
    sizes = trajectories.QUICK if quick else trajectories.FULL
    return {
        "starting": cases.starting,
        "solving": cases.solving,
        "cutting": lambda folder: cases.cutting(folder, large),
        "dendrograms": cases.dendrograms,
        "hours": cases.hours,
        "boxes": rivals.boxes,
        "heights": rivals.heights,
        "one-pass": rivals.one_pass,
        "the-rest": rivals.the_rest,
        "peers": peers.peers,
        "attacks": attackers.attackers,
        "contest": contest.contest,
        "trajectories": lambda folder: trajectories.trajectories(folder, sizes, data),
        "survey": lambda folder: survey.survey(folder, {2_000: survey.MOST} if quick else survey.SIZES),
        "totals": totals.totals,
        "several": lambda folder: several.several(folder, many, larger),
        "measuring": cases.measuring,
        "rebuilding": drawing.rebuilding,
        "frames": lambda folder: cases.frames(folder, 1_000_000 if quick else 10_000_000),
        "end-to-end": lambda folder: cases.end_to_end(folder, larger),
    }


if __name__ == "__main__":
    sys.exit(main())
