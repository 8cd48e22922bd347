"""A reader of public files alone, written anew, proves nothing of few people from releases of one ledger."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc
from oracles.public_attack import PublicAttack, Published
from tripcloak.ledger.store import init_ledger
from worlds.depth import DEEP
from worlds.trips import Row, some_trips, write_csv

USUAL = {"k": 4, "hierarchy": "h3:8", "suppress": 0.3}
TABLES = {"with_margins": True, "with_levels": "7,6"}
ROUND = {"round": 2}

Asked = tuple[str, dict[str, Any]]
CASES: dict[str, tuple[Asked, ...]] = {
    "zones": (("all", {}), ("erased", {})),
    "boxes": (("all", {"method": "mondrian"}), ("women", {"method": "glove"}), ("erased", {})),
    "rounded": (("all", ROUND), ("erased", ROUND), ("women", {})),
    "margins": (("all", {"with_margins": True}), ("erased", {"with_margins": True})),
    "levels": (("all", {"with_levels": "7,6"}), ("women", TABLES)),
    "margins, rounded": (("all", {**TABLES, **ROUND}), ("women", {})),
}
LEAKING = [name for name in CASES if name != "boxes"]
"""Cases of which such a reader proves something without a ledger; overlapping boxes hide much from it."""
SEEDS = range(1, 12) if DEEP else (1,)


def told(home: Path, seed: int, case: tuple[Asked, ...], *, ledger: bool) -> PublicAttack:
    """Return what is told by releases of made-up trips, one after the other.

    The secret that rounds numbers up or down follows from the seed, so that what leaks here leaks every time.
    """
    rows = [
        {**row, "sex": "FM"[n % 2]}
        for n, row in enumerate(some_trips(200, people=30, seed=seed, spread=0.03))
    ]
    write_csv(home / "trips.csv", rows)
    (home / "secret").write_text(f"a secret of many words {seed}")
    gone = rows[0]["person_id"]
    parts: dict[str, tuple[str | None, Callable[[Row], bool]]] = {
        "all": (None, lambda row: True),
        "erased": (f"person_id <> '{gone}'", lambda row: row["person_id"] != gone),
        "women": ("sex = 'F'", lambda row: row["sex"] == "F"),
    }
    more: dict[str, Any] = {}
    if ledger:
        init_ledger(home / "ledger")
        more = {"ledger": home / "ledger"}
    made = []
    for number, (part, options) in enumerate(case):
        where, is_in = parts[part]
        secret = {"secret": home / "secret"} if "round" in options else {}
        asked = partial(tc.anonymise, str(home / "trips.csv"), out=home / str(number), where=where, **more)
        try:
            asked(**{**USUAL, **options, **secret})
        except tc.ImpossibleRequestError:
            continue
        made.append(Published(home / str(number), is_in))
    assert len(made) > 1
    return PublicAttack(made, rows)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES)
def test_releases_of_one_ledger_prove_nothing(tmp_path: Path, case: str, seed: int) -> None:
    attack = told(tmp_path, seed, CASES[case], ledger=True)
    assert attack.facts() == []
    assert attack.proven_set() is None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", LEAKING)
def test_without_a_ledger_they_do(tmp_path: Path, case: str) -> None:
    attack = told(tmp_path, 1, CASES[case], ledger=False)
    assert attack.facts()
    assert (found := attack.proven_set())
    assert 0 < sum(map(len, found)) < attack.k


@pytest.mark.parametrize("more", [{}, ROUND, {"method": "productcut"}], ids=["exact", "rounded", "by pair"])
def test_totals_and_heights_of_one_release_prove_nothing(tmp_path: Path, more: dict[str, Any]) -> None:
    rows = some_trips(200, people=30, spread=0.03)
    write_csv(tmp_path / "trips.csv", rows)
    tc.anonymise(str(tmp_path / "trips.csv"), out=tmp_path / "out", **{**USUAL, **TABLES, **more})
    attack = PublicAttack([Published(tmp_path / "out")], rows)
    assert {cell.table for cell in attack.releases[0].cells} >= {("", ""), ("7", "7"), ("own", "all")}
    assert attack.facts() == []


def test_a_total_of_one_trip_more_is_found(tmp_path: Path) -> None:
    """Whoever counts withheld trips of few people in a total is found out."""
    rows = some_trips(200, people=30, spread=0.03)
    write_csv(tmp_path / "trips.csv", rows)
    tc.anonymise(str(tmp_path / "trips.csv"), out=tmp_path / "out", **{**USUAL, "with_margins": True})
    path = tmp_path / "out/release/tables.csv"
    flows = tmp_path / "out/release/flows.csv"
    released = sum(int(line.split(",")[2]) for line in flows.read_text().splitlines()[1:])
    head, *lines = path.read_text().splitlines()
    kept = [line for line in lines if not line.startswith('"all","all"')]
    path.write_text("\n".join([head, *kept, f'"all","all","all","all",{released + 1}']) + "\n")
    alone = Published(tmp_path / "out")
    alone.cells = [cell for cell in alone.cells if cell.table in (("", ""), ("all", "all"))]
    found = PublicAttack([alone], rows).facts()
    assert [(one.least, one.most) for one in found] == [(1, 1)]
