"""Several releases of the same people: what they tell without a ledger, and with one, and what that costs.

python -m benchmarks.ledger                      # the tables of docs/attacks.md, of 200,000 made-up trips
python -m benchmarks.ledger --method productcut  # those of another method
python -m benchmarks.ledger --only erased,nine   # some of the cases
python -m benchmarks.ledger --modes              # what coarser zones, withholding alone and rounding cost
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import tripcloak as tc
from tripcloak.ledger.difference import difference
from tripcloak.ledger.facts import Facts
from tripcloak.ledger.store import init_ledger
from tripcloak.synth import City, write_city

SLOTS = {"time_slot": "6h", "fold": "day"}

CASES: dict[str, tuple[str, tuple[dict[str, Any], ...]]] = {
    "erased": ("one person erased, all released again", ({}, {"where": "person_id <> 'p0000000'"})),
    "k": ("k = 10, then k = 20", ({}, {"k": 20})),
    "days": (
        "days 1 to 20, then 1 to 21",
        ({"where": "start_time < '2024-09-21'"}, {"where": "start_time < '2024-09-22'"}),
    ),
    "sexes": ("all, then women, then men", ({}, {"where": "sex = 'F'"}, {"where": "sex = 'M'"})),
    "slots": ("all, then six-hour slots", ({}, SLOTS)),
}
"""Releases of the same people, one after the other: what each asks for beside k = 10."""
CASES["nine"] = (
    "nine together: all of these, and NestedCut",
    (
        *CASES["erased"][1],
        *(options for name in ("k", "days", "sexes") for options in CASES[name][1] if options),
        SLOTS,
        {"method": "nestedcut"},
    ),
)


TOGETHER: dict[str, dict[str, Any]] = {
    "women and men, every one safe in every flow": {"segment": "sex"},
    "women and men, told where safe": {"segment": "sex", "segment_where_safe": True},
    "six-hour slots, told where safe": {"segment": "start_time:6h", "segment_where_safe": True},
}
"""Parts and their total in one release."""


MODES = ("coarsen", "withhold", "round")
OF_MODES = tuple(CASES)[:2]
"""Cases that are looked at in every mode of a ledger."""


NOTHING = Facts(found=(), complete=True, k=10, people=0, groups=0, atoms=0)
"""What one release alone tells, where the others were refused."""


class Told(NamedTuple):
    """What releases tell together: facts, people concerned; and of the last of them the mean tiles, what is
    withheld, and by how many trips a flow's number is away from the true one."""

    facts: int
    people: int
    tiles: float
    withheld: float
    error: float

    def __str__(self) -> str:
        return f"{self.facts:,} | {self.people:,} | {self.tiles:,.0f}"


def told(
    trips: Path, folder: Path, case: tuple[dict[str, Any], ...], method: str, mode: str | None = None
) -> Told:
    """Return what the releases of a case tell, made without a ledger or with one in some mode."""
    more: dict[str, Any] = {}
    if mode is not None:
        init_ledger(folder / "ledger")
        more = {"ledger": folder / "ledger", "ledger_mode": mode}
    made = []
    release: Any = None
    for number, options in enumerate(case):
        out = folder / str(number)
        try:
            release = tc.anonymise(str(trips), **{"k": 10, "method": method, **options}, **more, out=out)
        except tc.ImpossibleRequestError as error:
            print(f"  refused: {options}: {error}", file=sys.stderr)
            continue
        made.append(out)
    facts = difference(made).facts if len(made) > 1 else NOTHING
    lost = release.measures()
    return Told(
        len(facts), facts.people, float(lost["G"]), float(lost["S"]), float(lost.get("rounding_mean", 0))
    )


def by_construction(trips: Path, folder: Path, options: dict[str, Any]) -> str:
    """Return what a release that adds up by construction tells, and what it costs."""
    out = folder / "together"
    release: Any = tc.anonymise(str(trips), k=10, segment_joint=True, out=out, **options)
    facts = difference([out]).facts
    share = release.segments.trips.sum() / release.flows.trips.sum()
    return f"{len(facts):,} | {facts.people:,} | {release.measures()['G']:,.0f} | {share:.0%}"


def by_mode() -> None:
    """Print what every mode of a ledger costs."""
    print("| releases | mode | facts | people | G of the last | withheld | error of a flow |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tripcloak-ledger-") as name:
        trips = Path(name) / "city.parquet"
        write_city(City(trips=200_000, seed=1), trips)
        for title, case in (CASES[name] for name in OF_MODES):
            for mode in (None, *MODES):
                with tempfile.TemporaryDirectory(dir=name) as folder:
                    found = told(trips, Path(folder), case, "twincut", mode)
                cost = f"{found.withheld:.1%} | {found.error:.2f}"
                print(f"| {title} | {mode or 'no ledger'} | {found} | {cost} |", flush=True)


def by_case(names: list[str], method: str, size: int) -> None:
    """Print what the releases of every case tell, and what it costs that they tell nothing."""
    print("| releases | method | facts | people | G of the last | facts with a ledger | people | G | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tripcloak-ledger-") as name:
        trips = Path(name) / "city.parquet"
        write_city(City(trips=size, seed=1), trips)
        for title, case in (CASES[one] for one in names):
            parts, started = [], time.process_time()
            for mode in (None, MODES[0]):
                with tempfile.TemporaryDirectory(dir=name) as folder:
                    parts.append(str(told(trips, Path(folder), case, method, mode)))
            spent = time.process_time() - started
            print(f"| {title} | {method} | {' | '.join(parts)} | {spent:.0f} |", flush=True)


def in_one() -> None:
    """Print what parts and their total tell in one release, and what that costs."""
    print("\n| total and parts in one release | facts | people | G | told by part |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tripcloak-ledger-") as name:
        trips = Path(name) / "city.parquet"
        write_city(City(trips=200_000, seed=1), trips)
        for title, options in TOGETHER.items():
            with tempfile.TemporaryDirectory(dir=name) as folder:
                print(f"| {title} | {by_construction(trips, Path(folder), options)} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger")
    parser.add_argument("--modes", action="store_true", help="compare the modes of a ledger")
    parser.add_argument("--only", help=f"cases, separated by commas: {', '.join(CASES)}")
    parser.add_argument("--method", default="twincut")
    parser.add_argument("--trips", type=int, default=200_000)
    asked = parser.parse_args()
    if asked.modes:
        by_mode()
        return
    by_case(asked.only.split(",") if asked.only else list(CASES), asked.method, asked.trips)
    if not asked.only:
        in_one()


if __name__ == "__main__":
    main()
