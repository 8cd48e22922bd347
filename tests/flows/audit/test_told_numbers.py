"""Rules on the numbers that a manifest tells, each by itself: what it reads off, and what it makes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest

from tripcloak.flows.audit.noise import _laplace, laplace_within
from tripcloak.flows.audit.rules import privacy as on_privacy
from tripcloak.flows.audit.rules.manifest import _known_items, _statements, _typical
from tripcloak.flows.audit.withheld import told_band
from tripcloak.ground.rulebook import BrokenPart, Remark


@pytest.fixture
def case() -> Iterator[Any]:
    """Three flows between three origins, of which one occurs twice, and one destination."""
    facts = {
        "groups": 3,
        "zones": {"origins": 2, "destinations": 1},
        "smallest": {"trips": 5, "travellers": 4},
        "released": 18,
    }
    with duckdb.connect() as con:
        con.execute(
            """create table audit_flows as from (values ('a', 'x', 5, 4), ('b', 'x', 6, 5), ('b', 'x', 7, 7))
            flows(origin, destination, trips, travellers)"""
        )
        yield SimpleNamespace(
            con=con,
            facts=facts,
            promise=SimpleNamespace(
                axes=("origin", "destination"), columns=("trips", "travellers"), volume="trips"
            ),
            columns=lambda _: ("origin", "destination", "trips", "travellers"),
            value=lambda query: con.execute(query).fetchone()[0],
        )


def test_groups_zones_smallest_and_sum_are_read_off_the_table(case: Any) -> None:
    assert _statements(case) == [None] * 4


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"groups": 2}, [0]),
        ({"zones": {"origins": 3, "destinations": 1}}, [1]),
        ({"zones": {"origins": 2, "destinations": 3}}, [1]),
        ({"zones": {"origins": 2}}, [1]),
        ({"smallest": {"trips": 5, "travellers": 5}}, [2]),
        ({"smallest": {"trips": 7, "travellers": 7}}, [2]),
        ({"released": 17}, [3]),
        ({"released": 19}, [3]),
    ],
)
def test_one_more_or_one_less_is_found(case: Any, change: dict[str, Any], wrong: list[int]) -> None:
    case.facts |= change
    assert [at for at, words in enumerate(_statements(case)) if words] == wrong


@pytest.mark.parametrize(
    ("asked", "promised", "right"),
    [(None, None, True), (2, None, True), (1, None, False), (3, None, False), (1, 1, True), (2, 1, False)],
)
def test_a_method_knows_as_much_as_is_promised(
    case: Any, asked: int | None, promised: int | None, right: bool
) -> None:
    case.facts["parameters"], case.promise.known_items = {"m": asked}, promised
    assert (_known_items(case) is None) is right
    case.facts["parameters"] = {}
    assert _known_items(case) is None


@pytest.mark.parametrize(("rows", "slack"), [(1, 1), (2, 1), (3, 2)])
def test_a_population_may_be_off_by_half_a_person_a_flow(case: Any, rows: int, slack: int) -> None:
    case.con.execute(f"create or replace table audit_flows as select * from audit_flows limit {rows}")
    case.con.execute("alter table audit_flows rename column trips to population")
    case.promise.volume, case.promise.columns = "population", ("population",)
    case.columns = lambda _: ("origin", "destination", "population")
    there = case.value("select sum(population) from audit_flows")
    for off, right in ((slack, True), (-slack, True), (slack + 1, False), (-slack - 1, False)):
        case.facts["released"] = there + off
        assert (_statements(case)[3] is None) is right


def test_where_nobody_can_work_out_a_typical_zone_none_is_told(case: Any) -> None:
    case.columns = lambda _: ("axis", "area_km2")
    assert _typical(case) is None
    case.facts["typical_zone_km2"] = 1.0
    assert "nobody can work out" in str(_typical(case))


@pytest.mark.parametrize(
    ("found", "told"), [(None, on_privacy.CANNOT_TELL), (False, on_privacy.TOO_CLOSE), (True, None)]
)
def test_what_noise_cannot_tell_is_a_remark_and_what_is_too_close_is_wrong(
    monkeypatch: pytest.MonkeyPatch, found: bool | None, told: str | None
) -> None:
    monkeypatch.setattr(on_privacy, "_numbers", lambda *_: None)
    monkeypatch.setattr(on_privacy, "too_many", lambda *_: False)
    monkeypatch.setattr(on_privacy, "verdict", lambda *_: found)
    privacy = SimpleNamespace(noise="Gaussian", delta=0.1)
    case: Any = SimpleNamespace(promise=SimpleNamespace(privacy=privacy), value=lambda _: False)
    case.columns = lambda _: ("trips",)
    assert on_privacy.noise_as_stated(case) == (Remark(str(told)) if found is None else told)
    monkeypatch.setattr(on_privacy, "too_many", lambda *_: True)
    assert on_privacy.noise_as_stated(case) == on_privacy.TOO_MANY
    case.columns = lambda _: ()
    assert "lack the column" in str(on_privacy.noise_as_stated(case))


def test_noise_is_tried_for_no_error_at_all_and_for_one_as_likely_as_not() -> None:
    """At scale 10: errors of at most 3, seven numbers in a row, and of at most 6 where the number is sure."""
    privacy: Any = SimpleNamespace(noise_scale=10.0, threshold=0.5)
    numbers: Any = SimpleNamespace(
        published=np.array([5, 8, 9, 4]),
        counted=np.array([5, 5, 5, 0]),
        recount=np.array([6, 5, 5, 0]),
        certain=np.array([True, False, False, False]),
    )
    found = list(_laplace(privacy, numbers))
    hits = {
        (round(float(trial.chance[0]), 6), tuple(np.asarray(trial.close).tolist()), len(trial.chance))
        for trial in found
    }
    none, some = -math.expm1(-1 / 10), -math.expm1(-7 / 10)
    assert {one for one in hits if one[2] == 3} == {
        (round(none, 6), (True, False, False), 3),
        (round(none, 6), (False, False, False), 3),
        (round(some, 6), (True, True, False), 3),
    }
    sure = {round(float(laplace_within(reach, np.array([-5]), 10.0)[0]), 6): reach for reach in (0, 6)}
    assert {sure[one[0]]: one[1] for one in hits if one[2] == 1} == {0: (False,), 6: (True,)}


def test_a_band_is_told_with_both_of_its_ends_or_none() -> None:
    def told(least: Any, most: Any, words: Any = "not told") -> tuple[int, int] | None:
        return told_band({"withheld": {"at_least": least, "at_most": most, "words": words}})

    assert told(None, None) is None
    assert told(0, 9) == (0, 9)
    for half in ((None, 9), (0, None), (0.5, 9), (True, 9), (None, None, 3)):
        with pytest.raises(BrokenPart):
            told(*half)
    for entry in (None, {}, {"at_least": 0, "at_most": 9}):
        with pytest.raises(BrokenPart):
            told_band({"withheld": entry})
