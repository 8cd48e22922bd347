"""Releases under a ledger add no fact, whatever differs between them, and say what that took."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tripcloak as tc
from oracles import differencing as oracle
from tripcloak.flows.model import KeyedRecords, ODMatrix, Runs
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.hierarchy import Hierarchy
from tripcloak.ledger._kernels import remaining
from tripcloak.ledger.attack import attack
from tripcloak.ledger.attacked import Attacks
from tripcloak.ledger.difference import difference
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.prevention import Prevention, _Answer, refuse_new_facts
from tripcloak.ledger.remainders import EarlierGroups
from tripcloak.ledger.store import init_ledger, open_ledger
from tripcloak.promises import KAnonymity
from worlds.depth import DEEP
from worlds.ledgers import split_by
from worlds.trips import some_trips, write_csv

KERNELS = ("marks_of_flows", "groups_of_kinds", "people_of_groups", "put_in_order", "remainders_hold")


@st.composite
def worlds(draw: st.DrawFn) -> tuple[KeyedRecords, int, list[Disclosure], list[list[int]]]:
    """Draw records in flows, earlier releases of some of them, and runs of flows."""
    n, n_flows = draw(st.integers(1, 10)), draw(st.integers(1, 4))

    def numbers(least: int, most: int) -> list[int]:
        return draw(st.lists(st.integers(least, most), min_size=n, max_size=n))

    person, record = np.array(numbers(100, 105), dtype=np.uint64), np.arange(1, n + 1, dtype=np.uint64)
    # Records of nobody are their own.
    person = np.where(person == 100, record, person)
    flow, there = np.array(numbers(0, n_flows - 1), dtype=np.int32), np.array(numbers(0, 1)).astype(bool)
    there[0] = True
    earlier = []
    for _ in range(draw(st.integers(1, 2))):
        group = np.array(numbers(-1, 2), dtype=np.int32)
        trips = np.bincount(group[group >= 0], minlength=3)
        earlier.append(Disclosure(name="", record=record, person=person, group=group, trips=trips, k=2))
    flows = draw(st.permutations(range(n_flows)))[: draw(st.integers(1, n_flows))]
    ends = sorted(draw(st.sets(st.integers(0, len(flows)), min_size=2)))
    runs = [flows[first:last] for first, last in pairwise(ends)]
    now = KeyedRecords(record=record[there], person=person[there], flow=flow[there])
    return now, n_flows, earlier, runs


@pytest.mark.parametrize("compiled", [True, False])
@given(world=worlds(), k=st.integers(2, 3))
def test_remainders_are_those_of_sets(compiled, world, k):
    now, n_flows, earlier, runs = world
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        for name in () if compiled else KERNELS:
            patch.setattr(remaining, name, getattr(remaining, name).py_func)
        known = EarlierGroups.of(now, n_flows, split_by(*earlier), people=True)
        flows, last = np.concatenate(runs).astype(np.int32), np.cumsum([len(run) for run in runs])
        good = known.hold(Runs(flows, last - [len(run) for run in runs], last), k)
    assert good.tolist() == [oracle.remainders_hold(now, earlier, run, k) for run in runs]


@given(world=worlds())
def test_kinds_and_orders_of_flows_are_those_of_sets(world):
    now, n_flows, earlier, runs = world
    known = EarlierGroups.of(now, n_flows, split_by(*earlier), people=True)
    ends = list(pairwise(known.first.tolist()))
    groups = [[own[known.atom[a:b]].tolist() for own in known.group] for a, b in ends]
    mark = np.arange(3, 3 + 3 * len(earlier) + len(known.group), dtype=np.uint64) ** np.uint64(3)
    marks = remaining.marks_of_flows(known.first, known.atom, known.group, mark)
    assert marks.tolist() == oracle.marks_of_flows(groups, mark)
    kind, size, start, code, alone = known.kinds
    assert size.tolist() == np.bincount(kind).tolist()
    told = [
        [
            ({*code[start[at] : start[at + 1]].tolist()}, bool(alone[one, part]))
            for part, at in enumerate(range(one * len(known.group), (one + 1) * len(known.group)))
        ]
        for one in kind.tolist()
    ]
    assert told == oracle.groups_of_kinds(groups)
    assert known.members.people.tolist() == [n for one in earlier for n in oracle.people_of_groups(one)]
    flows = np.concatenate(runs).astype(np.int32)
    _, own, behind, upto, place, span, reach = known._in_order(flows)
    assert upto.tolist() == np.cumsum([0, *(np.diff(known.first)[flows])]).tolist()
    assert own.tolist() == kind[flows].tolist()
    changes = [at for at in range(1, len(own)) if own[at] != own[at - 1]]
    assert behind.tolist() == [
        min((x for x in changes if x > at), default=len(own)) for at in range(len(own))
    ]
    whole, theirs = oracle.put_in_order(flows.tolist(), groups, known._partial)
    assert place.tolist() == [flows.tolist().index(flow) if flow in flows else -1 for flow in range(n_flows)]
    there = np.unique(known.group[known.group >= 0]).tolist()
    assert {one: tuple(span[:, one].tolist()) for one in there if span[1, one] < len(flows)} == whole
    assert (reach[kind, :, 1] < len(flows)).tolist() == [
        [whole_here and -1 not in own for whole_here, own in zip(parts, flow, strict=True)]
        for parts, flow in zip(theirs, groups, strict=True)
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{**row, "sex": "FM"[n % 2]} for n, row in enumerate(some_trips(500, people=60, spread=0.02))]
    home = tmp_path_factory.mktemp("prevention")
    write_csv(home / "trips.csv", rows)
    return home


ERASED = some_trips(500, people=60, spread=0.02)[0]["person_id"]
CASES = {
    "one person erased": ({}, {"where": f"person_id <> '{ERASED}'"}),
    "a larger k": ({}, {"k": 7}),
    "some days more": ({"where": "start_time < '2024-05-25'"}, {"where": "start_time < '2024-05-27'"}),
    "women and men": ({}, {"where": "sex = 'F'"}, {"where": "sex = 'M'"}),
    "another method": ({"method": "odkanon"}, {"method": "productcut"}),
    "coarser tiles": ({}, {"zones": "h3:7"}),
    "slots": ({}, {"time_slot": "12h", "fold": "day", "method": "oigh", "k": 3}),
}
if DEEP:
    CASES["boxes"] = ({"method": "odkanon"}, {"method": "mondrian"})
USUAL = {"k": 5, "zones": "h3:8", "suppress": 0.4}


@pytest.mark.parametrize("case", CASES)
def test_nothing_follows_from_releases_of_one_ledger(home, tmp_path, case):
    init_ledger(tmp_path / "ledger")
    made = []
    for number, more in enumerate(CASES[case]):
        out = tmp_path / f"release {number}"
        try:
            release = tc.anonymise(
                str(home / "trips.csv"), **{**USUAL, **more}, ledger=tmp_path / "ledger", out=out
            )
        except ImpossibleRequestError:
            # Refusing is safe, if there is nothing.
            assert not (out / "release").exists()
            continue
        assert release.audit().safe
        made.append(out)
    assert made
    if len(made) > 1:
        assert not len(difference(made).facts)


@pytest.mark.parametrize("case", ["one person erased", "some days more", "women and men"])
def test_without_a_ledger_much_follows(home, tmp_path, case):
    folders = [tmp_path / f"release {number}" for number in range(len(CASES[case]))]
    for out, more in zip(folders, CASES[case], strict=True):
        tc.anonymise(str(home / "trips.csv"), **{**USUAL, **more}, out=out)
    assert len(difference(folders).facts)


def test_after_an_erasure_the_zones_stay_and_little_more_is_withheld(home, tmp_path):
    init_ledger(tmp_path / "ledger")
    before, after = (
        tc.anonymise(
            str(home / "trips.csv"), **{**USUAL, **more}, ledger=tmp_path / "ledger", out=tmp_path / name
        )
        for name, more in zip(("before", "after"), CASES["one person erased"], strict=True)
    )
    pairs = [set(zip(one.flows["origin"], one.flows["destination"], strict=True)) for one in (before, after)]
    assert pairs[1] <= pairs[0]
    assert after.measures()["S"] <= 0.4
    # Flows without a trip of the erased person tell the same number as before.
    told = [
        dict(zip(zip(f["origin"], f["destination"], strict=True), f["trips"], strict=True))
        for f in (before.flows, after.flows)
    ]
    assert all(told[0][pair] == n for pair, n in told[1].items())


def test_a_limit_is_passed_for_numbers_that_stand_and_for_nothing_else(home, tmp_path):
    """Of what is withheld beyond the limit, the earlier release tells every flow."""
    init_ledger(tmp_path / "ledger")
    before, after = (
        tc.anonymise(
            str(home / "trips.csv"),
            **{**USUAL, "suppress": 0.2, **more},
            ledger=tmp_path / "ledger",
            out=tmp_path / name,
        )
        for name, more in zip(("before", "after"), CASES["one person erased"], strict=True)
    )
    (note,) = (note for note in after.private.notes if "ledger" in note)
    assert "their numbers in that one stand: keep it published. With them 25 % may be withheld" in note
    manifest = json.loads((tmp_path / "after/release/manifest.json").read_text())
    assert manifest["parameters"]["suppression_limit"] == 0.25
    assert 0.2 < after.measures()["S"] <= 0.25
    assert after.measures()["G"] == before.measures()["G"]
    assert after.audit().safe
    assert not len(difference([tmp_path / "before", tmp_path / "after"]).facts)
    ledger = open_ledger(tmp_path / "ledger")
    assert (ledger.waiting, [one.waiting for one in ledger.releases]) == (1, [0, 1])
    assert ledger.releases[1].facts["waiting"]["in_place_of"] == [1]


def test_numbers_stand_beside_zones_that_were_asked_for(home, tmp_path):
    """After an erasure the same zones can be had on request, though more than the limit is withheld."""
    init_ledger(tmp_path / "ledger")
    asked = {"k": 5, "suppress": 0.2, "ledger": tmp_path / "ledger"}
    trips = str(home / "trips.csv")
    tc.anonymise(trips, zones="h3:8", **asked, out=tmp_path / "before")
    where = CASES["one person erased"][1]["where"]
    after = tc.anonymise(trips, zones_from=tmp_path / "before", where=where, **asked, out=tmp_path / "after")
    assert 0.2 < after.measures()["S"] <= 0.25
    assert after.audit(zones_from=tmp_path / "before").safe
    assert not len(difference([tmp_path / "before", tmp_path / "after"]).facts)


def test_boxes_of_an_earlier_release_may_be_kept(home, tmp_path):
    init_ledger(tmp_path / "ledger")
    asked = {"k": 5, "zones": "h3:8", "suppress": 0.5, "ledger": tmp_path / "ledger"}
    boxes = tc.anonymise(str(home / "trips.csv"), method="mondrian", **asked, out=tmp_path / "before")
    where = CASES["one person erased"][1]["where"]
    after = tc.anonymise(
        str(home / "trips.csv"), zones_from=tmp_path / "before", where=where, **asked, out=tmp_path / "after"
    )
    assert set(after.flows["origin"]) <= set(boxes.flows["origin"])
    assert after.audit(zones_from=tmp_path / "before").safe


def held(limit: float, *, told: bool = True) -> float:
    """Return the limit for an answer that withholds a quarter of a matrix, told before or not."""
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    origin = np.repeat([0, 0, 1, 1], 25)
    matrix = ODMatrix.from_trips(tree, tree, origin, np.tile([0, 1], 50), person=np.arange(100))
    release = tc.METHODS["odkanon"](promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    trips = matrix.flows.trips / matrix.flows.trips.sum()
    suppressed = np.zeros(matrix.n_flows, dtype=bool)
    suppressed[0] = True
    digests = np.arange(1, 101, dtype=np.uint64)
    flow = np.repeat(np.arange(matrix.n_flows), matrix.flows.trips).astype(np.int32)
    records = KeyedRecords(record=digests, person=digests + np.uint64(500), flow=flow)
    group = np.where((flow == 0) & (not told), -1, 0).astype(np.int32)
    before = Disclosure(
        name="", record=digests, person=records.person, group=group, trips=np.array([(group == 0).sum()]), k=2
    )
    answer = _Answer(release, suppressed, float(trips[0]), 1.0, 1, limit)
    return Prevention(Attacks([before], records), records, lambda _: ())._limit_beside(
        before, answer, limit, matrix
    )


def test_the_edges_of_a_limit_that_is_passed():
    assert held(0.25) == 0.25
    assert held(0.245) == 0.255
    assert held(0.24) == 0.25
    assert held(0.2) == 0.25
    # A hair more than the widest step, and what no earlier release tells, stay where they were.
    assert held(0.1999) == 0.1999
    assert held(0.245, told=False) == 0.245


def test_facts_of_earlier_releases_alone_do_not_stop_a_new_one():
    records = np.arange(1, 10, dtype=np.uint64)

    def told(*groups: int) -> Disclosure:
        group = np.array(groups, dtype=np.int32)
        trips = np.bincount(group[group >= 0])
        return Disclosure(
            name="", record=records, person=records + np.uint64(50), group=group, trips=trips, k=3
        )

    whole, part = told(*[0] * 9), told(*[0] * 8, -1)
    assert len(attack([whole, part])) == 1
    refuse_new_facts([whole, part], [whole])
    with pytest.raises(ImpossibleRequestError, match="would tell 1 facts"):
        refuse_new_facts([whole], [part])
    refuse_new_facts([whole], [told(*[0] * 6, -1, -1, -1)])
