"""The command: ``python -m mutations --sample 300`` tries mutants and says how many were noticed."""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from mutations.known import Known, read_known, reason_for
from mutations.mutants import Mutant, mutants_of
from mutations.reach import Reach
from mutations.running import Bench, Result
from mutations.targets import LINES, PACKAGE, ROOT, TESTS, part_of

SEEN = ROOT / ".mutations"


def main(arguments: list[str] | None = None) -> int:
    """Return 0 where enough mutants are caught, 1 where not, and 2 where tests fail without any."""
    asked = _asked(arguments)
    chosen = choose(all_mutants(*asked.module or ()), 0 if asked.all else asked.sample, asked.seed)
    known = read_known()
    done = _read(asked.results, chosen)
    listed = [mutant for mutant in chosen if reason_for(mutant, known)]
    waiting = [mutant for mutant in chosen if mutant not in done and mutant not in set(listed)]
    print(f"{len(chosen):,} mutants, {len(waiting):,} of them to be tried", flush=True)
    sound = not waiting or _try(waiting, done, asked)
    enough = report([one for one in done.values() if one.mutant not in set(listed)], listed, known)
    return enough if sound else 2


def _try(waiting: list[Mutant], done: dict[Mutant, Result], asked: argparse.Namespace) -> bool:
    """Add results to those there are; return whether the tests that caught mutants are sound themselves."""
    folder = asked.reach / "trees"
    folder.mkdir(parents=True, exist_ok=True)
    with (asked.reach / "in-use").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        bench = Bench(ROOT, folder, TESTS, asked.jobs, asked.limit, asked.most)
        for result in done.values():
            bench.remember(result)
        if not bench.see(Reach(asked.reach), {mutant.module for mutant in waiting}):
            print("its tests cannot be run without any mutation: nothing is proven")
            return False

        def told(result: Result) -> None:
            done[result.mutant] = result
            _append(asked.results, result)
            print(f"{result.outcome} ({result.seconds:g} s) {result.mutant}", flush=True)

        bench.try_all(waiting, told)
        unsound = sorted(test for test, interpreted in bench.unsound if not interpreted)
        for test in unsound:
            print(f"{test} fails without any mutation: make it pass first")
    return not unsound


def all_mutants(*modules: str) -> list[Mutant]:
    """Return the mutants of all modules, or of those whose path begins so."""
    return [
        mutant
        for name in TESTS
        if name.startswith(modules or "")
        for mutant in mutants_of(PACKAGE / name, name)
    ]


def choose(mutants: list[Mutant], sample: int, seed: int) -> list[Mutant]:
    """Return as many mutants as are asked for, in an order that follows from the seed; 0 means all.

    Each mutant has its own place in it: a line that changes somewhere changes no more than its own mutants.
    """
    placed = sorted(mutants, key=lambda one: sha256(f"{seed} {one.name}".encode()).digest())
    return placed[: sample or None]


def report(results: Iterable[Result], listed: list[Mutant], known: Known) -> int:
    """Print who was caught, room by room, and who was not; return whether that is enough in every part."""
    rooms: dict[str, Counter[bool]] = defaultdict(Counter)
    parts: dict[str, Counter[bool]] = defaultdict(Counter)
    results = list(results)
    for result in results:
        rooms[result.mutant.module.rpartition("/")[0]][result.caught] += 1
        parts[part_of(result.mutant.module)][result.caught] += 1
    print(f"\n{'room':<40}{'tried':>7}{'caught':>8}{'share':>9}")
    for room, numbers in [*sorted(rooms.items()), *sorted(parts.items())]:
        print(f"{room:<40}{numbers.total():>7,}{numbers[True]:>8,}{_share(numbers):>8.1%}")
    for mutant in listed:
        print(f"changes nothing that matters: {mutant}\n    {reason_for(mutant, known)}")
    for result in results:
        if not result.caught:
            print(f"{result.outcome}: {result.mutant}")
    short = [part for part, numbers in parts.items() if _share(numbers) < LINES[part]]
    for part in sorted(parts):
        print(f"{part}: {'fewer than' if part in short else 'at least'} {LINES[part]:.0%} caught")
    return 1 if short else 0


def _share(numbers: Counter[bool]) -> float:
    return numbers[True] / numbers.total()


def _asked(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mutations", description=__doc__)
    parser.add_argument("--sample", type=int, default=300, help="how many mutants, drawn at random")
    parser.add_argument("--all", action="store_true", help="every mutant (days)")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    told = "only modules whose path below src/tripcloak begins so; may be given several times"
    parser.add_argument("--module", action="append", help=told)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--limit", type=float, default=1800, help="seconds a mutant may take")
    told = "seconds of a processor that its tests may take; the slowest are left out beyond that"
    parser.add_argument("--most", type=float, default=120, help=told)
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
