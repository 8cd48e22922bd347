"""Rounding under a ledger: subtraction tells nothing any more, and no number is told in two ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tripcloak as tc
from tripcloak.flows.model import KeyedRecords
from tripcloak.flows.release import Release
from tripcloak.ground.errors import InputError
from tripcloak.ledger.attack import attack
from tripcloak.ledger.difference import difference, within
from tripcloak.ledger.disclosure import Disclosure, Rounded
from tripcloak.ledger.rounding import least_base, told_before
from tripcloak.ledger.store import init_ledger, open_ledger
from tripcloak.promises import AllOf, KAnonymity
from worlds.trips import some_trips, write_csv

ROWS = some_trips(500, people=60, spread=0.02)
ERASED = ROWS[0]["person_id"]
USUAL = {"k": 5, "zones": "h3:8", "suppress": 0.4}


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_csv(tmp_path_factory.mktemp("rounding") / "trips.csv", ROWS))


def numbers(release: Any) -> dict[tuple[str, str], int]:
    flows = release.flows
    return dict(zip(zip(flows["origin"], flows["destination"], strict=True), flows["trips"], strict=True))


@pytest.mark.parametrize("more", [{"where": f"person_id <> '{ERASED}'"}, {"k": 10}], ids=["erased", "k"])
def test_what_would_be_told_is_rounded(trips: str, tmp_path: Path, more: dict[str, Any]) -> None:
    ledger = tmp_path / "ledger"
    init_ledger(ledger)
    first = tc.anonymise(trips, **USUAL, ledger=ledger, ledger_mode="round", out=tmp_path / "first")
    assert "rounding" not in str(first.facts["promise"]), "nothing was there to be told by subtraction"
    second = tc.anonymise(
        trips, **{**USUAL, **more}, ledger=ledger, ledger_mode="round", out=tmp_path / "second"
    )
    base = second.facts["promise"]["promises"][1]["base"]
    assert base == 5
    assert not np.any(second.flows["trips"] % base)
    assert second.audit().safe
    assert within(open_ledger(ledger).disclosures()).safe
    assert difference([tmp_path / "first", tmp_path / "second"]).safe
    run = json.loads((tmp_path / "second" / "private" / "run.json").read_text())
    assert "secret" not in run, "the key of the ledger stays there"


def test_a_rounded_number_is_told_the_same_again(trips: str, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    init_ledger(ledger)
    asked = {**USUAL, "round": 5, "ledger": ledger}
    first = tc.anonymise(trips, **asked, out=tmp_path / "first")
    again = tc.anonymise(trips, **asked, out=tmp_path / "again")
    shared = numbers(first).keys() & numbers(again).keys()
    assert len(shared) > 3
    assert {pair: numbers(first)[pair] for pair in shared} == {pair: numbers(again)[pair] for pair in shared}
    assert first.facts["promise"]["promises"][1]["sums"] is True
    assert again.facts["promise"]["promises"][1]["sums"] is False
    assert again.audit().safe


def test_withholding_alone_keeps_the_zones_of_the_method(trips: str, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    init_ledger(ledger)
    tc.anonymise(trips, **USUAL, ledger=ledger, out=tmp_path / "first")
    second = tc.anonymise(
        trips,
        **{**USUAL, "k": 10, "suppress": 0.6},
        ledger=ledger,
        ledger_mode="withhold",
        out=tmp_path / "b",
    )
    assert within(open_ledger(ledger).disclosures()).safe
    assert second.facts["columns"] == ["trips", "travellers"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ledger_mode": "round"}, "goes with"),
        ({"ledger_mode": "guess", "ledger": "ledger"}, "is one of coarsen, withhold, round"),
    ],
    ids=str,
)
def test_modes_are_those_of_a_ledger(trips: str, tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        tc.anonymise(trips, **given, out=tmp_path / "out")


def told(k: int) -> Disclosure:
    nothing = np.empty(0, dtype=np.uint64)
    return Disclosure(name="", record=nothing, person=nothing, group=nothing, trips=nothing, k=k)


@pytest.mark.parametrize(
    ("own", "earlier", "base"),
    [(10, (10,), 10), (20, (10,), 10), (20, (11,), 20), (10, (20,), 10), (9, (4,), 9)],
)
def test_the_least_base_is_as_large_as_the_least_k_and_divides_the_own(
    own: int, earlier: tuple[int, ...], base: int
) -> None:
    assert least_base(KAnonymity(k=own, unit="travellers"), [told(k) for k in earlier]) == base
    both = AllOf(promises=(KAnonymity(k=2, unit="travellers"), KAnonymity(k=own, unit="trips")))
    assert least_base(both, [told(k) for k in earlier]) == base


@pytest.mark.parametrize("k", [4, 5])
def test_no_difference_to_a_number_rounded_by_the_least_base_is_a_fact_and_by_half_of_it_some_is(
    k: int,
) -> None:
    """Every exact number around a rounded one, or inside it, whatever is left and however it is rounded."""
    found = {k: 0, k // 2: 0}
    for base in found:
        for held in range(k, 2 * k + 1):
            for left in range(1, k):
                people = np.arange(1, held + left + 1, dtype=np.uint64)
                part = np.where(np.arange(held + left) < held, 0, -1).astype(np.int32)
                for groups, true in ((part, held), (np.zeros_like(part), held + left)):
                    other = np.zeros_like(part) if groups is part else part
                    exact = Disclosure(
                        name="",
                        record=people,
                        person=people + np.uint64(100),
                        group=other,
                        trips=np.array([np.count_nonzero(other == 0)]),
                        k=k,
                    )
                    for trips in {true // base * base, -(-true // base) * base}:
                        if trips >= k // base * base:
                            about = Disclosure(
                                name="",
                                record=people,
                                person=people + np.uint64(100),
                                group=groups,
                                trips=np.array([trips]),
                                k=k,
                                rounded=Rounded(base, k, False),
                            )
                            found[base] += len(attack([exact, about]))
    assert found[k] == 0
    assert found[k // 2] > 0


def test_groups_are_the_same_where_their_records_are(trips: str) -> None:
    record = np.array([3, 5, 8, 9], dtype=np.uint64)
    before = Disclosure(
        name="",
        record=record,
        person=record + np.uint64(9),
        group=np.array([0, 0, 1, -1], dtype=np.int32),
        trips=np.array([5, 10]),
        k=2,
        rounded=Rounded(5, 2, True),
    )
    now = KeyedRecords(record=record, person=record, flow=np.array([0, 1, 2, 3], dtype=np.int32))

    class Draft:
        group_of_flow = np.array([1, 1, 0, 0])
        n_groups = 2

    draft: Release = Draft  # type: ignore[assignment]
    kept = told_before([before], now, draft, 5)
    assert kept is not None
    assert kept.tolist() == [-1, 5]
    assert told_before([before], now, draft, 10) is None
    assert told_before([], now, draft, 5) is None
