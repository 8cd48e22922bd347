"""Several releases of the same people: what they tell without a ledger, and with one, and what that costs.

python -m benchmarks.ledger           # the table of docs/attacks.md, on a made city of 200,000 trips
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import tripcloak as tc
from tripcloak.ledger.difference import difference
from tripcloak.ledger.store import init_ledger
from tripcloak.synth import City, write_city

CASES: dict[str, tuple[dict[str, Any], ...]] = {
    "one person erased, all released again": ({}, {"where": "person_id <> 'p0000000'"}),
    "k = 10, then k = 20": ({}, {"k": 20}),
    "days 1 to 20, then 1 to 21": (
        {"where": "start_time < '2024-09-21'"},
        {"where": "start_time < '2024-09-22'"},
    ),
    "all, then women, then men": ({}, {"where": "sex = 'F'"}, {"where": "sex = 'M'"}),
    "all, then six-hour slots": (
        {"method": "productcut"},
        {"method": "productcut", "time_slot": "6h", "fold": "day"},
    ),
}


TOGETHER: dict[str, dict[str, Any]] = {
    "women and men, every one safe in every flow": {"segment": "sex"},
    "women and men, told where safe": {"segment": "sex", "segment_where_safe": True},
    "six-hour slots, told where safe": {"segment": "start_time:6h", "segment_where_safe": True},
}
"""Parts and their total in one release."""


class Told(NamedTuple):
    """What releases tell together: facts, people concerned, and the mean tiles of the last of them."""

    facts: int
    people: int
    tiles: float

    def __str__(self) -> str:
        return f"{self.facts:,} | {self.people:,} | {self.tiles:,.0f}"


def told(trips: Path, folder: Path, case: tuple[dict[str, Any], ...], method: str, *, kept: bool) -> Told:
    """Return what the releases of a case tell, made without a ledger or with one."""
    more: dict[str, Any] = {}
    if kept:
        init_ledger(folder / "ledger")
        more = {"ledger": folder / "ledger"}
    made = []
    release: Any = None
    for number, options in enumerate(case):
        out = folder / str(number)
        try:
            release = tc.anonymise(str(trips), **{"k": 10, "method": method, **options}, **more, out=out)
        except tc.ImpossibleRequestError as error:
            print(f"  refused: {error}", file=sys.stderr)
            continue
        made.append(out)
    facts = difference(made).facts
    return Told(len(facts), facts.people, float(release.measures()["G"]))


def by_construction(trips: Path, folder: Path, options: dict[str, Any]) -> str:
    """Return what a release that adds up by construction tells, and what it costs."""
    out = folder / "together"
    release: Any = tc.anonymise(str(trips), k=10, segment_joint=True, out=out, **options)
    facts = difference([out]).facts
    share = release.segments.trips.sum() / release.flows.trips.sum()
    return f"{len(facts):,} | {facts.people:,} | {release.measures()['G']:,.0f} | {share:.0%}"


def main() -> None:
    """Print the tables."""
    print("| releases | method | facts | people | G of the last | facts with a ledger | people | G |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tripcloak-ledger-") as name:
        trips = Path(name) / "city.parquet"
        write_city(City(trips=200_000, seed=1), trips)
        for title, case in CASES.items():
            for method in sys.argv[1:] or ["twincut"]:
                parts = []
                for kept in (False, True):
                    folder = Path(name) / f"{len(list(Path(name).iterdir()))}"
                    folder.mkdir()
                    parts.append(str(told(trips, folder, case, method, kept=kept)))
                print(f"| {title} | {method} | {' | '.join(parts)} |", flush=True)
        print("\n| total and parts in one release | facts | people | G | told by part |")
        print("|---|---|---|---|---|")
        for title, options in TOGETHER.items():
            with tempfile.TemporaryDirectory(dir=name) as folder:
                print(f"| {title} | {by_construction(trips, Path(folder), options)} |", flush=True)


if __name__ == "__main__":
    main()
