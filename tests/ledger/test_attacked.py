"""What was attacked already is known, and only if nothing that an attack looks at differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.anonymise import make_release, write_release
from tripcloak.flows.model import KeyedRecords
from tripcloak.ledger import prevention
from tripcloak.ledger.attacked import Attacks, tell_the_same
from tripcloak.ledger.disclosure import Disclosure, Rounded, Whole
from tripcloak.ledger.releasing import read_by, recorded
from tripcloak.ledger.store import Ledger, open_ledger
from worlds.ledgers import Releases, asked, record

RECORD = np.arange(1, 7, dtype=np.uint64)
ONE = Disclosure(
    name="one",
    record=RECORD,
    person=RECORD + np.uint64(100),
    group=np.array([0, 0, 2, 2, 2, -1], dtype=np.int32),
    trips=np.array([2, 0, 3]),
    travellers=np.array([[2, 0, 3], [2, 0, 3]]),
    k=2,
)
"""Two groups, and one between them of nobody."""
OTHERS: dict[str, Any] = {
    "record": RECORD + np.uint64(1),
    "person": RECORD + np.uint64(101),
    "group": np.array([0, 0, 2, 2, -1, 2], dtype=np.int32),
    "trips": np.array([2, 0, 4]),
    "travellers": np.array([[2, 0, 2], [2, 0, 3]]),
    "k": 3,
    "weight": np.ones(6, dtype=int),
    "counted": "trips",
    "tells_trips": False,
    "rounded": Rounded(2, 2, False),
    "total_of": "all",
}
WORDS: dict[str, Any] = {
    "name": "other",
    "zones": {"origin": np.array(["a", "b", "c"])},
    "made": {},
    "whole": Whole(5, 7, 6),
}


def test_every_part_of_a_disclosure_but_words_makes_it_another() -> None:
    assert {*OTHERS, *WORDS} == {one.name for one in fields(Disclosure)}
    assert tell_the_same(ONE, replace(ONE, **WORDS))
    for name, value in OTHERS.items():
        assert not tell_the_same(ONE, replace(ONE, **{name: value})), name
        assert not tell_the_same(replace(ONE, **{name: value}), ONE), name
    assert not tell_the_same(ONE, replace(ONE, travellers=None))


def test_groups_of_nobody_make_no_difference() -> None:
    group = np.array([0, 0, 1, 1, 1, -1], dtype=np.int32)
    without = replace(ONE, group=group, trips=np.array([2, 3]), travellers=np.array([[2, 3], [2, 3]]))
    assert tell_the_same(ONE, without)
    assert not tell_the_same(ONE, replace(without, group=np.where(group >= 0, 1 - group, -1)))


def test_an_attack_is_known_beside_the_very_same_releases_if_it_is_the_latest_or_found_nothing() -> None:
    earlier, other = [replace(ONE, name="before")], replace(ONE, k=3)
    records = KeyedRecords(record=RECORD, person=ONE.person, flow=np.arange(6, dtype=np.int32))
    attacks = Attacks(earlier, records)
    assert attacks.known_of(earlier, [ONE]) is None
    facts = attacks.on([ONE])
    assert attacks.known_of(list(earlier), [replace(ONE, name="again")]) is facts
    assert attacks.known_of([replace(ONE)], [ONE]) is None
    assert attacks.known_of([], [ONE]) is None
    assert attacks.known_of([*earlier, ONE], [ONE]) is None
    assert attacks.known_of(earlier, [ONE, ONE]) is None
    assert attacks.known_of(earlier, [other]) is None
    nothing = attacks.on([other])
    assert not len(facts)
    assert attacks.known_of(earlier, [ONE]) is facts
    lone = replace(ONE, group=np.array([0, 2, 2, 2, 2, -1], dtype=np.int32), trips=np.array([1, 0, 4]))
    assert len(attacks.on([lone]))
    assert attacks.known_of(earlier, [lone]) is not None
    assert attacks.known_of(earlier, [other]) is nothing
    attacks.on([ONE])
    assert attacks.known_of(earlier, [lone]) is None


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_release_is_attacked_again_only_if_another_one_was_added_meanwhile(
    new_ledger: Callable[..., Ledger],
    releases: Releases,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: bool,
) -> None:
    ledger = new_ledger()
    record(ledger, releases.first, tmp_path / "first")
    ledger = open_ledger(ledger.folder)
    made = make_release(read_by(asked(releases.trips, tmp_path / "again"), ledger))
    if meanwhile:
        record(open_ledger(ledger.folder), releases.first, tmp_path / "meanwhile")
    numbers = []

    def counted(disclosures: Any, **more: Any) -> Any:
        numbers.append(len(disclosures))
        return attack(disclosures, **more)

    attack = prevention.attack
    monkeypatch.setattr(prevention, "attack", counted)
    with recorded(made, tmp_path / "again", ledger):
        write_release(made, tmp_path / "again")
    assert numbers == ([3] if meanwhile else [])
