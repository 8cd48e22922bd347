"""km-apriori: against the method in plain Python, and every itemset of its releases counted."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.flows import apriori as plain
from oracles.flows.kernels import Tree, safe
from oracles.readback import group_pairs
from tripcloak import AnonymisationRequest, TripSource, Zoning
from tripcloak.flows.anonymise import anonymise
from tripcloak.flows.checking import audit_against, measure_against
from tripcloak.flows.methods import KMApriori
from tripcloak.flows.methods._kernels import km_apriori as _kernels
from tripcloak.flows.methods.km_apriori import Items
from tripcloak.flows.methods.losses import SlotLoss, find_loss
from tripcloak.flows.methods.method import whole_units
from tripcloak.flows.methods.slots import SlotBySlot
from tripcloak.flows.model import ODMatrix, SegmentPart
from tripcloak.flows.release import main_volume, manifest
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import time_hierarchy
from tripcloak.promises import AllOf, EverySegment, KAnonymity, TCloseness
from worlds.cuts import Request, requests, sent
from worlds.matrices import hierarchy_of
from worlds.trips import some_trips, write_csv

MANY = 2 * settings().max_examples

drawn = st.one_of(requests(max_zones=8, max_rows=24), requests(max_zones=6, max_rows=18, with_time=True))


def method_of(request: Request, m: int) -> KMApriori:
    return KMApriori(**request.parameters, m=m)


@settings(max_examples=MANY)
@given(request=drawn, m=st.integers(1, 3))
def test_the_release_is_that_of_the_method_in_plain_words(request: Request, m: int) -> None:
    boxes = request.boxes
    # Sums of weights and metres depend on the order of the terms, and with them which of two ties is first.
    assume(m <= len(boxes.trees) and boxes.volume_unit == "trips" and request.loss != "metres")
    matrix = request.case.matrix()
    expected = plain.Apriori(boxes, m, request.budget).run()
    assert sent(matrix, method_of(request, m).anonymise(matrix)) == expected


@settings(max_examples=MANY)
@given(request=drawn, m=st.integers(1, 3))
def test_every_itemset_of_a_release_is_shared_by_enough(request: Request, m: int) -> None:
    boxes = request.boxes
    assume(m <= len(boxes.trees))
    matrix = request.case.matrix()
    release = method_of(request, m).anonymise(matrix)
    found = sent(matrix, release)
    kept = {flow: box for flow, box in found.items() if box is not None}
    for size in range(1, m + 1):
        for items in {items for box in kept.values() for items in plain.itemsets_of(box, size)}:
            sharing = [flow for flow, box in kept.items() if all(box[axis] == z for axis, z in items)]
            assert safe([row for flow in sharing for row in boxes.flows[flow]], boxes.thresholds)
    assert boxes.outcome(found)[1] <= request.budget
    assert (release.promise.kind == "k^m-anonymity") == (m < len(boxes.trees))
    for first, second in combinations({box[0] for box in kept.values()}, 2):
        assert not set(plain.below(boxes.trees[0], first)) & set(plain.below(boxes.trees[0], second))


@pytest.mark.parametrize("mode", ["compiled", "uncompiled"])
@given(request=drawn, data=st.data())
def test_kernels_do_what_their_plain_twins_do(mode: str, request: Request, data: st.DataObject) -> None:
    matrix = request.case.matrix()
    promise = request.promise.resolve(matrix)
    # Whole numbers, so that the order of a sum does not matter.
    units = np.rint(whole_units(matrix.volume(main_volume(promise))) % 97)
    items = Items(matrix, promise, [find_loss("tiles")] * 2 + [SlotLoss(2.0)], units)
    size, cuts = data.draw(st.integers(1, len(matrix.axes))), items.start()
    unsafe, lost = items.unsafe(size, cuts), items.lost(cuts)
    when = np.full(len(items.parent), _kernels.NEVER)
    when[items.chosen(cuts)] = 0
    facts = items.parent, items.code, items.safe(size), items.whole
    lists = [array.tolist() for array in (unsafe, *facts)]
    kernels = _kernels.cheapest_fixes, _kernels.generalise_in_order
    fixes, in_order = (kernel if mode == "compiled" else kernel.py_func for kernel in kernels)
    assert fixes(unsafe, *facts, lost).tolist() == plain.cheapest_fixes(*lists, lost.tolist())
    plain_lost, plain_when = lost.tolist(), when.tolist()
    steps = in_order(unsafe, *facts, lost, when)
    assert steps == plain.generalise_in_order(*lists, plain_lost, plain_when)
    assert (lost.tolist(), when.tolist()) == (plain_lost, plain_when)


# --- worked by hand --------------------------------------------------------------------------------

TREE: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}


def matrix_of(trips: dict[str, int]) -> ODMatrix:
    tree = hierarchy_of(TREE)
    ends = ["abcd".index(end) for pair, times in trips.items() for _ in range(times) for end in pair]
    return ODMatrix.from_trips(tree, tree, *np.array(ends).reshape(-1, 2).T)


def test_single_items_come_first_then_pairs() -> None:
    """Origin b is rare and goes up with a; then the pair of d and a is rare, and is cheapest mended there."""
    matrix = matrix_of({"ac": 4, "bc": 1, "ca": 6, "da": 1, "dc": 4})
    asked: dict[str, Any] = {"promise": KAnonymity(k=3), "suppression_limit": 0}
    alone = KMApriori(m=1, **asked).anonymise(matrix)
    assert group_pairs(alone) == [("c", "a"), ("d", "a"), ("d", "c"), ("ab", "c")]
    assert (alone.promise.of_items(2)[1], alone.trips.tolist()) == (1, [6, 1, 4, 5])
    both = KMApriori(**asked).anonymise(matrix)
    assert group_pairs(both) == [("ab", "c"), ("cd", "a"), ("cd", "c")]
    assert both.promise == KAnonymity(k=3, unit="trips")


def test_what_fits_into_the_limit_is_withheld_in_place_of_generalising() -> None:
    matrix = matrix_of({"ac": 4, "bc": 1, "ca": 6, "da": 1, "dc": 4})
    release = KMApriori(promise=KAnonymity(k=3), suppression_limit=0.2).anonymise(matrix)
    assert group_pairs(release) == [("a", "c"), ("c", "a"), ("d", "c")]
    assert release.suppressed.sum() == 2


def test_of_two_equal_generalisations_the_one_that_spares_the_origin_is_taken() -> None:
    matrix = matrix_of({"ac": 5, "bd": 5, "ad": 1, "bc": 1})
    release = KMApriori(promise=KAnonymity(k=6), suppression_limit=0).anonymise(matrix)
    assert group_pairs(release) == [("a", "cd"), ("b", "cd")]


def test_withholding_goes_on_until_nothing_is_left_too_rare() -> None:
    """With one item known: without b's trip to c there is too little into c, so a's trips go as well."""
    matrix = matrix_of({"ac": 2, "bc": 1, "ad": 4, "cd": 5})
    release = KMApriori(m=1, promise=KAnonymity(k=3), suppression_limit=0.25).anonymise(matrix)
    assert group_pairs(release) == [("a", "d"), ("c", "d")]
    assert release.trips.sum() == 9


# --- what is promised, and refused -----------------------------------------------------------------


def test_few_known_items_are_told_in_public_and_no_number_beyond_the_table(tmp_path: Path) -> None:
    source = TripSource(paths=(str(write_csv(tmp_path / "trips.csv", some_trips(400))),))
    out = tmp_path / "out"
    order = AnonymisationRequest(
        source=source, zoning=Zoning(spec="h3:8"), method=KMApriori(m=1, promise=KAnonymity(k=5)), out=out
    )
    outcome = anonymise(order)
    assert outcome.audit.safe
    assert outcome.release.travellers is not None
    assert outcome.release.travellers.min() < 5
    told = (out / "release" / "README.md").read_text()
    assert "share one of origin and destination hold at least 5 people" in told
    assert "may hold fewer, down to one person" in told
    assert audit_against(out, source.paths).safe
    assert measure_against(out, source.paths)["G"] == outcome.measures["G"]


@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_the_manifest_tells_the_volume_and_never_what_was_withheld(limit: float) -> None:
    matrix = matrix_of({"ac": 4, "bc": 1, "ca": 6, "da": 1, "dc": 4})
    asked: dict[str, Any] = {"promise": KAnonymity(k=3, unit="trips"), "suppression_limit": limit}
    releases = [KMApriori(m=m, **asked).anonymise(matrix) for m in (1, 2)]
    facts = [manifest(matrix, release, dropped={}, tilings={}) for release in releases]
    assert [one["promise"].get("m") for one in facts] == [1, None]
    assert facts[0]["columns"] == ["trips"]
    assert facts[0]["withheld"]["at_least"] == 0
    assert facts[0]["withheld"]["at_most"] == int(limit * facts[0]["released"] / (1 - limit))
    assert any("may hold fewer" in words for words in releases[0].promise.further())
    assert "may hold fewer" in facts[0]["promise"]["sentence"]
    assert not releases[1].promise.further()
    assert facts[1]["promise"]["sentence"] == "at least 3 trips, which may be one person's"


def test_travellers_are_not_told_where_a_flow_may_have_few() -> None:
    tree = hierarchy_of(TREE)
    ends = np.array([(0, 2), (0, 2), (0, 3), (1, 2)] * 3).T
    matrix = ODMatrix.from_trips(tree, tree, *ends, person=np.arange(12))
    for m, columns in ((1, ["trips"]), (2, ["trips", "travellers"])):
        release = KMApriori(m=m, promise=KAnonymity(k=3)).anonymise(matrix)
        assert manifest(matrix, release, dropped={}, tilings={})["columns"] == columns


def test_more_items_than_a_trip_has_are_refused() -> None:
    with pytest.raises(InputError, match="a trip has 2 items here"):
        KMApriori(m=3, promise=KAnonymity(k=2)).anonymise(matrix_of({"ac": 4}))


@pytest.mark.parametrize("wrong", [{"m": 0}, {"m": 4}, {"loss": "regret"}, {"time_weight": -1.0}])
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        KMApriori(**wrong)


def test_what_a_small_flow_cannot_keep_is_refused() -> None:
    matrix = matrix_of({"ac": 4, "ca": 4})
    segment = EverySegment(promise=KAnonymity(k=2), parts=(SegmentPart.of("all", matrix, matrix),))
    for asked in (AllOf(promises=(KAnonymity(), TCloseness(t=0.5))), segment):
        with pytest.raises(InputError, match="m below the number of items"):
            KMApriori(m=1, promise=asked).anonymise(matrix)


def test_slots_kept_apart_keep_all_items_together() -> None:
    tree = hierarchy_of({"all": None, "a": "all", "b": "all"})
    time = {"times": time_hierarchy(np.array([8, 9]), 60), "slot": np.array([0, 0, 1, 1])}
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), **time)
    asked: dict[str, Any] = {"promise": KAnonymity(k=2), "suppression_limit": 0}
    with pytest.raises(InputError, match="slot by slot"):
        SlotBySlot.of(KMApriori(m=1, **asked)).anonymise(matrix)
    release = SlotBySlot.of(KMApriori(**asked)).anonymise(matrix)
    assert release.trips.tolist() == [2, 2]
