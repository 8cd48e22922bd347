"""The search under a ledger, step by step: limits that are just kept, and what remains beside flows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.model import KeyedRecords, Runs
from tripcloak.ground.errors import InputError
from tripcloak.ground.progress import silent
from tripcloak.ledger import prevention
from tripcloak.ledger.attacked import Attacks
from tripcloak.ledger.disclosing import _recorded_inputs, _Told
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.facts import Fact, Facts, Term
from tripcloak.ledger.prevention import Prevention, _Answer, _Road, smallest
from tripcloak.ledger.remainders import EarlierGroups
from worlds.ledgers import split_by


@dataclass(frozen=True)
class Withholding:
    """A method that withholds all that it may, in zones of so many tiles."""

    suppression_limit: float = 0.0
    tiles: float = 1.0

    def settled(self, matrix: Any, progress: Any) -> Any:
        answer = SimpleNamespace(share=self.suppression_limit, tiles=self.tiles)
        return SimpleNamespace(mean_tiles=self.tiles, release=lambda: answer)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is found along roads of so many tiles, and what was mended, where that takes so much more."""
    mended: list[float] = []

    def found(
        more: float | None,
        limit: float,
        tries: int,
        *tiles: float,
        after: Callable[[_Answer], _Answer] = lambda one: one,
    ) -> tuple[list[_Answer], list[float]]:
        def of(_: Any, answer: Any, withheld: Any, attacks: int, *others: Any) -> _Answer:
            return after(_Answer(answer, withheld, answer.share + more, answer.tiles, attacks, *others))

        def mend(_: Any, matrix: Any, answer: Any, progress: Any) -> Any:
            mended.append(answer.tiles)
            return None if more is None else (np.zeros(1, dtype=bool), 1)

        monkeypatch.setattr(_Answer, "of", of)
        monkeypatch.setattr(Prevention, "_mended", mend)
        one: Any = Prevention(attacks=None, records=None, disclosing=None)  # type: ignore[arg-type]
        solvers: list[Any] = [Withholding(tiles=each) for each in tiles]
        allowed = limit if tries > 1 else prevention.NEARLY_ALL
        roads = [_Road(solver, limit, allowed, tries) for solver in solvers]
        one._search(roads, None, silent)
        return [road.found for road in roads], mended

    return found


@pytest.fixture
def settled(searched: Any) -> Any:
    """What is found along one road."""
    return lambda *asked: searched(*asked, 1.0)[0][0]


def test_an_answer_at_the_very_limit_is_taken_and_one_beyond_it_asked_for_again(settled: Any) -> None:
    assert settled(0.0, 0.5, 3).share == 0.5
    again = settled(0.125, 0.5, 3)
    assert again.share == 0.5 - prevention.AMPLE * 0.125 + 0.125 <= 0.5


def test_where_no_answer_is_within_the_limit_the_least_is_told_and_where_none_is_safe_nothing(
    settled: Any,
) -> None:
    assert 0.9 < settled(0.9, 0.1, 3).share < 1.0
    assert settled(0.0, 0.1, 1).share == prevention.NEARLY_ALL
    nothing = settled(None, 1.0, 3)
    assert (nothing.answer, nothing.share) == (None, 1.0)


def test_the_road_that_begins_finest_is_gone_first_and_none_that_begins_no_finer_than_what_was_found(
    searched: Any,
) -> None:
    found, mended = searched(0.0, 0.5, 3, 2.0, 1.5, 1.5, 3.0)
    assert mended == [1.5]
    assert [one.answer is None for one in found] == [True, False, True, True]


@pytest.mark.parametrize(("second", "gone"), [(2.99, [2.0, 2.99]), (3.0, [2.0])])
def test_a_road_that_begins_hardly_finer_than_what_was_found_is_not_gone(
    searched: Any, monkeypatch: pytest.MonkeyPatch, second: float, gone: list[float]
) -> None:
    """What is found along the first is coarser than it began, and the second begins in between."""
    monkeypatch.setattr(prevention, "WORTHWHILE", 0.25)
    _, mended = searched(
        0.0, 0.5, 3, 2.0, second, after=lambda one: one._replace(mean_tiles=2 * one.mean_tiles)
    )
    assert mended == gone


def test_where_the_finest_road_leads_nowhere_the_next_is_gone(searched: Any) -> None:
    found, mended = searched(0.25, 0.125, 3, 3.0, 2.0)
    assert mended == [2.0] * 3 + [3.0] * 3
    assert all(one.share > 0.125 for one in found)


def test_a_fact_of_a_segment_takes_its_flow_and_one_of_a_total_all_that_it_holds() -> None:
    record = np.arange(1, 7, dtype=np.uint64)
    group = np.array([0, 0, 1, 1, 2, -1], dtype=np.int32)
    flows = Disclosure(name="", record=record, person=record, group=group, trips=np.array([2, 2, 1]), k=2)
    segment = replace(flows, record=record[:4], person=record[:4], group=group[:4], trips=np.array([2, 2, 0]))
    total = np.array([0, 0, 0, 0, 1, 0], dtype=np.int32)
    of_zones = replace(flows, group=total, trips=np.array([5, 1]), total_of="origin")
    new, sizes = (flows, segment, of_zones), SimpleNamespace(trips=np.array([9, 5, 7]))

    def barred(release: int, told: int) -> list[int]:
        fact = Fact(kind="exact", least=1, most=1, people=1, terms=(Term(1, release, told, 2),))
        facts = Facts(found=(fact,), complete=True, k=2, people=1, groups=3, atoms=3)
        answer: Any = sizes
        return smallest(facts, 1, new, answer).tolist()

    assert barred(1, 2) == [2]
    assert barred(2, 0) == [0]
    assert barred(3, 0) == [1]
    assert barred(0, 0) == []


@pytest.mark.parametrize(("beside", "holds"), [(1, False), (2, True)])
def test_flows_beside_a_run_are_no_part_of_it_even_of_the_first(beside: int, holds: bool) -> None:
    """One earlier group of two flows: of the first three people, of the second as many as are said."""
    record = np.arange(1, 6, dtype=np.uint64)
    person, flow = record + np.uint64(100), np.array([0, 0, 0, 1, 1], dtype=np.int32)
    person[4] = person[4 if beside == 2 else 3]
    group = np.zeros(5, dtype=np.int32)
    earlier = Disclosure(name="", record=record, person=person, group=group, trips=np.array([5]), k=2)
    known = EarlierGroups.of(
        KeyedRecords(record=record, person=person, flow=flow), 2, split_by(earlier), people=True
    )
    assert first_holds(known, 2) == holds


@pytest.mark.parametrize(("k", "holds"), [(2, True), (3, False)])
def test_k_people_who_are_in_no_earlier_group_are_enough_and_one_fewer_are_not(k: int, holds: bool) -> None:
    record = np.arange(1, 4, dtype=np.uint64)
    person = np.array([101, 102, 102], dtype=np.uint64)
    withheld = np.full(3, -1, dtype=np.int32)
    earlier = Disclosure(name="", record=record, person=person, group=withheld, trips=np.empty(0, int), k=2)
    flow = np.zeros(3, dtype=np.int32)
    known = EarlierGroups.of(
        KeyedRecords(record=record, person=person, flow=flow), 1, split_by(earlier), people=True
    )
    assert first_holds(known, k) == holds


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"source": {"paths": ["a.csv", 3]}, "input_files": []}, "table in memory"),
        ({"source": {"paths": ["a.csv"]}, "input_files": None}, "table in memory"),
        ({"source": {"paths": ["a.csv"]}}, "does not say"),
        ({"source": None, "input_files": []}, "does not say"),
        ({"source": {"paths": 3}, "input_files": []}, "does not say"),
    ],
)
def test_an_input_that_lay_in_no_file_is_asked_for(run: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        _recorded_inputs(Path("out"), run)
    assert _recorded_inputs(Path("out"), {"source": {"paths": ["a", "b"]}, "input_files": []}) == ("a", "b")


@pytest.mark.parametrize(("step", "most"), [(1, [7, 10, 3]), (5, [9, 12, 4])])
def test_travellers_told_in_steps_may_be_as_many_as_the_step_leaves_open(step: int, most: list[int]) -> None:
    """And never more than there are trips."""
    told: Any = object.__new__(_Told)
    steps = {} if step == 1 else {"travellers": step}
    publication = SimpleNamespace(rounded=lambda _, number: number // step * step, steps=steps)
    object.__setattr__(told, "publication", publication)
    least, greatest = told._bounds(np.array([7, 10, 3]), np.array([20, 12, 4]))
    assert least.tolist() == [number // step * step for number in (7, 10, 3)]
    assert greatest.tolist() == most


def first_holds(known: EarlierGroups, k: int) -> bool:
    """Return what is said of the product of the first flow alone."""
    (holds,) = known.hold(Runs(np.array([0], dtype=np.int32), np.array([0]), np.array([1])), k).tolist()
    return bool(holds)


MADE = {"method": "twincut", "promise": {"k": 10}}
ZONES = {"origin": np.array(["a", "b"]), "destination": np.array(["c", "c"])}


def released(*records: range, **more: Any) -> Disclosure:
    record = np.concatenate([np.arange(one.start, one.stop) for one in records]).astype(np.uint64)
    told = {"name": "", "k": 2, "made": MADE, "zones": ZONES, **more}
    withheld = np.full(len(record), -1, dtype=np.int32)
    return Disclosure(record=record, person=record, group=withheld, trips=np.zeros(2, int), **told)


def is_kept(*earlier: Disclosure, coarsens: bool = True, asked: Any = MADE) -> bool:
    """Return whether the zones of the last release are kept at once for 10,000 records."""
    record = np.arange(10_000, dtype=np.uint64)
    now = KeyedRecords(record=record, person=record, flow=np.zeros(10_000, dtype=np.int32))
    one = Prevention(Attacks(earlier, now), now, disclosing=lambda _: (), coarsens=coarsens, asked=asked)
    return one._is_still_best(earlier[-1])


def test_zones_are_kept_at_once_where_the_same_was_asked_of_nearly_the_same_records() -> None:
    assert is_kept(released(range(10_010)))
    assert is_kept(released(range(10, 10_000)))
    assert not is_kept(released(range(11, 10_000)))
    assert not is_kept(released(range(10_011)))
    assert not is_kept(released(range(10_000), made={**MADE, "promise": {"k": 20}}))
    assert not is_kept(released(range(10_000), made=None), asked=None)
    assert not is_kept(released(range(10_000)), coarsens=False)


def test_zones_that_were_found_for_other_records_are_looked_for_again() -> None:
    """One person after the other is erased: what is left drifts away from what the zones were found for."""
    now = released(range(10_000))
    assert is_kept(released(range(10_100)), now)
    assert not is_kept(released(range(10_102)), now)
    elsewhere = {**ZONES, "destination": np.array(["c", "d"])}
    assert is_kept(released(range(20_000), zones=elsewhere), now)
    assert is_kept(released(range(20_000), zones={"origin": ZONES["origin"]}), now)


@pytest.mark.parametrize(
    ("share", "taken"), [(0.0901, True), (0.0899, False), (0.1, True), (0.1001, False), (None, False)]
)
def test_kept_zones_are_taken_if_they_spend_the_limit_and_no_more(
    monkeypatch: pytest.MonkeyPatch, share: float | None, taken: bool
) -> None:
    nobody = np.zeros(1, dtype=bool)
    found = _Answer(None, nobody, share or 0.0, 1.0, 1, 0.1)
    monkeypatch.setattr(Prevention, "_mended", lambda *_: None if share is None else (nobody, 1))
    monkeypatch.setattr(_Answer, "of", lambda *_: found)
    solver: Any = Withholding()
    one: Any = Prevention(attacks=None, records=None, disclosing=None)  # type: ignore[arg-type]
    gone = one._gone(_Road(solver, 0.1, prevention.NEARLY_ALL, 1), None, silent)
    assert (gone is found) == taken


def test_a_refusal_says_what_would_do() -> None:
    one: Any = Prevention(attacks=None, records=None, disclosing=None)  # type: ignore[arg-type]
    assert "Withholding 11 % would do (suppress=...); or publish rounded numbers" in one._impossible(0.104)
    assert ". You may publish rounded numbers (ledger_mode='round'), keep the zones" in one._impossible(1.0)
