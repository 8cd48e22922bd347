"""The search under a ledger, step by step: limits that are just kept, and what remains beside flows."""

from __future__ import annotations

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
from tripcloak.ledger.disclosing import _recorded_inputs, _Told
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.facts import Fact, Facts, Term
from tripcloak.ledger.prevention import Prevention, _Answer, _Road, smallest
from tripcloak.ledger.remainders import EarlierGroups


@dataclass(frozen=True)
class Withholding:
    """A method that withholds all that it may, in zones of so many tiles."""

    suppression_limit: float = 0.0
    tiles: float = 1.0

    def anonymise(self, matrix: Any, progress: Any) -> Any:
        return SimpleNamespace(share=self.suppression_limit, tiles=self.tiles)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is found along roads of so many tiles, and what was mended, where that takes so much more."""
    mended: list[float] = []

    def found(
        more: float | None, limit: float, tries: int, *tiles: float
    ) -> tuple[list[_Answer], list[float]]:
        def of(_: Any, answer: Any, withheld: Any, attacks: int, *others: Any) -> _Answer:
            return _Answer(answer, withheld, answer.share + more, answer.tiles, attacks, *others)

        def mend(_: Any, matrix: Any, answer: Any, progress: Any) -> Any:
            mended.append(answer.tiles)
            return None if more is None else (np.zeros(1, dtype=bool), 1)

        monkeypatch.setattr(_Answer, "of", of)
        monkeypatch.setattr(Prevention, "_mended", mend)
        monkeypatch.setattr(prevention, "mean_tiles", lambda answer: answer.tiles)
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
    known = EarlierGroups.of(KeyedRecords(record=record, person=person, flow=flow), 2, [earlier], people=True)
    assert first_holds(known, 2) == holds


@pytest.mark.parametrize(("k", "holds"), [(2, True), (3, False)])
def test_k_people_who_are_in_no_earlier_group_are_enough_and_one_fewer_are_not(k: int, holds: bool) -> None:
    record = np.arange(1, 4, dtype=np.uint64)
    person = np.array([101, 102, 102], dtype=np.uint64)
    withheld = np.full(3, -1, dtype=np.int32)
    earlier = Disclosure(name="", record=record, person=person, group=withheld, trips=np.empty(0, int), k=2)
    flow = np.zeros(3, dtype=np.int32)
    known = EarlierGroups.of(KeyedRecords(record=record, person=person, flow=flow), 1, [earlier], people=True)
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
