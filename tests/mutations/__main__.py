"""The command: ``python -m mutations --sample 300`` tries mutants and says how many were noticed."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from mutations.known import Known, read_known
from mutations.mutants import Mutant, mutants_of
from mutations.reach import Reach
from mutations.running import Bench, Result
from mutations.targets import PACKAGE, ROOT, TESTS

SEEN = ROOT / ".mutations"
WANTED = 0.95
"""The share of mutants that change something and must be caught."""


def main(arguments: list[str] | None = None) -> int:
    """Return 0 where enough mutants are caught, 1 where not, and 2 where tests fail without any."""
    asked = _asked(arguments)
    chosen = choose(all_mutants(asked.module), 0 if asked.all else asked.sample, asked.seed)
    known = read_known()
    done = _read(asked.results, chosen)
    waiting = [mutant for mutant in chosen if mutant not in done and mutant.name not in known]
    print(f"{len(chosen):,} mutants, {len(waiting):,} of them to be tried", flush=True)
    sound = not waiting or _try(waiting, done, asked)
    enough = report(list(done.values()), [mutant for mutant in chosen if mutant.name in known], known)
    return enough if sound else 2


def _try(waiting: list[Mutant], done: dict[Mutant, Result], asked: argparse.Namespace) -> bool:
    """Add results to those there are; return whether the tests that caught mutants are sound themselves."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        bench = Bench(ROOT, Path(folder), TESTS, asked.jobs, asked.limit)
        for result in done.values():
            bench.remember(result)
        if not bench.see(Reach(asked.reach), {mutant.module for mutant in waiting}):
            print("its tests cannot be run without any mutation: nothing is proven")
            return False
        proven = bench.reach.sound | {result.by for result in done.values()}
        while waiting:
            again = []
            for result in bench.try_all(waiting):
                # Examples of the mutant itself are not there without it.
                if result.by.startswith("tests/") and result.by not in proven:
                    if not bench.healthy(result.by):
                        bench.unsound.add(result.by)
                        again.append(result.mutant)
                        continue
                    proven.add(result.by)
                done[result.mutant] = result
                _append(asked.results, result)
                print(f"{result.outcome} ({result.seconds:g} s) {result.mutant}", flush=True)
            waiting = again
        for test in sorted(bench.unsound):
            print(f"{test} fails without any mutation: make it pass first")
    return not bench.unsound


def all_mutants(module: str | None = None) -> list[Mutant]:
    """Return the mutants of all modules, or of those whose path begins so."""
    return [
        mutant
        for name in TESTS
        if name.startswith(module or "")
        for mutant in mutants_of(PACKAGE / name, name)
    ]


def choose(mutants: list[Mutant], sample: int, seed: int) -> list[Mutant]:
    """Return as many mutants as are asked for, in an order that follows from the seed; 0 means all.

    Each mutant has its own place in it: a line that changes somewhere changes no more than its own mutants.
    """
    placed = sorted(mutants, key=lambda one: sha256(f"{seed} {one.name}".encode()).digest())
    return placed[: sample or None]


def report(results: Iterable[Result], listed: list[Mutant], known: Known) -> int:
    """Print who was caught, room by room, and who was not; return whether that is enough."""
    rooms: dict[str, Counter[bool]] = defaultdict(Counter)
    results = list(results)
    for result in results:
        rooms[result.mutant.module.rpartition("/")[0]][result.caught] += 1
    print(f"\n{'room':<28}{'tried':>7}{'caught':>8}{'share':>9}")
    for room, numbers in [*sorted(rooms.items()), ("all", sum(rooms.values(), Counter[bool]()))]:
        share = numbers[True] / max(numbers.total(), 1)
        print(f"{room:<28}{numbers.total():>7,}{numbers[True]:>8,}{share:>8.1%}")
    for mutant in listed:
        print(f"changes nothing that matters: {mutant}\n    {known[mutant.name]}")
    missed = [result for result in results if not result.caught]
    for result in missed:
        print(f"{result.outcome}: {result.mutant}")
    enough = len(results) - len(missed) >= WANTED * len(results)
    print(f"{'at least' if enough else 'fewer than'} {WANTED:.0%} caught")
    return 0 if enough else 1


def _asked(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mutations", description=__doc__)
    parser.add_argument("--sample", type=int, default=300, help="how many mutants, drawn at random")
    parser.add_argument("--all", action="store_true", help="every mutant (days)")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    parser.add_argument("--module", help="only modules whose path below src/tripcloak begins so")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--limit", type=float, default=1800, help="seconds a mutant may take")
    parser.add_argument("--reach", type=Path, default=SEEN, help="where it is kept what tests run")
    parser.add_argument("--results", type=Path, help="a file of results, which a later run goes on with")
    return parser.parse_args(arguments)


def _append(path: Path | None, result: Result) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")


def _read(path: Path | None, chosen: list[Mutant]) -> dict[Mutant, Result]:
    """Return the results of an earlier run for mutants that are still the same."""
    if path is None or not path.exists():
        return {}
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    told = [Result(**{**row, "mutant": Mutant(**row["mutant"])}) for row in rows]
    return {result.mutant: result for result in told if result.mutant in set(chosen)}


if __name__ == "__main__":
    sys.exit(main())
