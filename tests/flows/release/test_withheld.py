"""The band of the withheld volume: whatever is told, every absent pair alone may hold nothing, or k - 1."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.kernels import Row, Tree
from tripcloak.flows.audit.withheld import _most
from tripcloak.flows.methods import TwinCut
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Band, build_release, manifest, withheld_bands
from tripcloak.flows.release.withheld import WITHOUT_TRIPS, _laid, _within, restated_withheld, withheld_entry
from tripcloak.ground.errors import InternalError
from tripcloak.promises import AllOf, DifferentialPrivacy, EverySegment, KAnonymity, KMAnonymity
from tripcloak.promises.segments import SegmentName
from worlds.matrices import Case

STAR: Tree = {"all": None, **{f"z{n}": "all" for n in range(4)}}
# Those that come last leave every zone something to be released with.
PAIRS = sorted(itertools.product(range(4), range(4)), key=lambda pair: sum(pair) % 4)
TEN = KAnonymity(k=10, unit="trips")


def table_of(hidden: list[int], *, held: int = 90, **columns: bool) -> ODMatrix:
    """Return a complete 4 x 4 table of trips by as many people; the last pairs hold what is told."""
    sizes = [held] * (len(PAIRS) - len(hidden)) + hidden
    ends = [pair for pair, trips in zip(PAIRS, sizes, strict=True) for _ in range(trips)]
    rows = tuple(Row(f"z{o}", f"z{d}", person=n, weight=1.0) for n, (o, d) in enumerate(ends))
    return Case(trees=(STAR, STAR), rows=rows, has_person=True, **columns).matrix()


def told_of(hidden: list[int], *, limit: float = 0.5, unit: Any = "travellers", **changed: Any) -> Any:
    """Return the manifest of a 4 x 4 table with k = 10 whose last pairs are withheld."""
    matrix = table_of(hidden)
    release = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=KAnonymity(k=10, unit=unit),
        suppression_limit=limit,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        suppressed=matrix.flows.trips < 10,
        **{"homogeneous": True, **changed},
    )
    return manifest(matrix, release, dropped={}, tilings={})


@pytest.mark.parametrize("unit", ["trips", "travellers"])
@pytest.mark.parametrize(
    "hidden",
    [[8, 9], [9, 9], [0, 1], [0, 0], [8, 8, 8], [9, 9, 9], [0, 0, 0], [5], [9], [0]],
    ids=str,
)
def test_every_absent_pair_may_hold_nothing_or_one_less_than_k(hidden: list[int], unit: str) -> None:
    facts = told_of(hidden, unit=unit)
    assert facts["groups"] == 16 - len(hidden)
    band = facts["withheld"]
    assert band["at_least"] <= sum(hidden) <= band["at_most"]
    every = itertools.product(range(10), repeat=len(hidden))
    readings = [one for one in every if band["at_least"] <= sum(one) <= band["at_most"]]
    for place in range(len(hidden)):
        assert {0, 9} <= {reading[place] for reading in readings}


@pytest.mark.parametrize("absent", [1, 2, 3, 8])
def test_zero_and_small_volumes_look_alike(absent: int) -> None:
    """None, one trip, and one less than k: the same manifest, byte by byte."""
    none = told_of([0] * absent)
    assert none == told_of([1] + [0] * (absent - 1)) == told_of([0] * (absent - 1) + [9])
    assert none["withheld"]["at_least"] == 0
    assert none["withheld"]["at_most"] >= 9


def test_edges_follow_from_what_is_public() -> None:
    """Of 720 trips 1, 2, 5 and 10 percent are 7, 14, 37 and 80; eight absent pairs but one hold 63."""
    assert [told_of([n] * 8)["withheld"]["at_most"] for n in (0, 1, 2, 4, 5, 9)] == [14, 14, 37, 37, 720, 720]
    assert told_of([5] * 8)["withheld"] == {
        "at_least": 38,
        "at_most": 720,
        "words": "between 5 and 50 % of the trips",
    }


def test_an_edge_is_allowed_up_to_what_all_absent_pairs_but_one_hold() -> None:
    def edges(absent: int, **more: Any) -> list[int]:
        asked = {"volume": "trips", "released": 490, "limit": 0.1, **more}
        return [band.at_most for band in withheld_bands(TEN, absent=absent, **asked)]

    # Two percent are 10: a band from 11 on, and two pairs of nine hold 18.
    assert edges(3) == [10, 54]
    assert edges(2) == edges(1) == edges(0) == [54]
    # Five percent are 25: a band from 26 on needs three pairs, of 27.
    assert edges(4) == [10, 25, 54]
    # 18 trips: the band from 19 on needs more than two pairs.
    assert edges(3, released=882) == [98]
    assert edges(3, released=881) == [17, 97]
    # The lowest band holds k - 1.
    assert edges(9, released=440) == [23, 48]
    assert edges(9, released=441) == [9, 23, 49]


def test_a_volume_at_the_edge_of_a_band_lies_in_it() -> None:
    """Of 1,170 released trips one percent of the whole are 11."""
    assert told_of([9, 1, 1])["withheld"]["at_most"] == 11
    assert told_of([9, 2, 1])["withheld"]["at_least"] == 12


def test_the_last_band_ends_where_the_limit_does() -> None:
    def bands(limit: float, released: int = 9000, absent: int = 10**6) -> list[Band]:
        return withheld_bands(TEN, volume="trips", released=released, limit=limit, absent=absent)

    assert bands(0.07)[-1] == Band(474, 677, (5, pytest.approx(7)))
    assert [band.at_most for band in bands(0.05)] == [90, 183, 473]
    assert bands(0.1)[-1] == Band(474, 1000, (5, 10))
    assert bands(0.999)[-1].percent == (50, pytest.approx(99.9))
    assert bands(0.0) == [Band(0, 0, (0, 0))]
    assert bands(0.0)[0].entry("trips")["words"] == "none of the trips"
    assert bands(0.0001) == [Band(0, 0, (0, pytest.approx(0.01)))]


@given(
    hidden=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    held=st.integers(6, 60),
    k=st.integers(2, 6),
    limit=st.sampled_from([0.02, 0.1, 0.3, 0.6, 0.95]),
)
def test_nobody_can_solve_for_an_absent_pair(hidden: list[int], held: int, k: int, limit: float) -> None:
    """Enumerate all that fits the public numbers: of each absent pair nothing and k - 1 are among it."""
    hidden = [min(one, k - 1) for one in hidden]
    released, absent = held * (9 - len(hidden)), len(hidden)
    room = math.floor(limit * released / (1 - limit) + 1e-9)
    if sum(hidden) > room:
        return
    bands = withheld_bands(
        KAnonymity(k=k, unit="trips"), volume="trips", released=released, limit=limit, absent=absent
    )
    (band,) = (band for band in bands if band.at_least <= sum(hidden) <= band.at_most)
    readings = [
        one for one in itertools.product(range(k), repeat=absent) if band.at_least <= sum(one) <= band.at_most
    ]
    for place in range(absent):
        found = {one[place] for one in readings}
        # With less room than that, the limit alone says so, whatever the data.
        assert {0, min(k - 1, room)} <= found


@given(
    released=st.integers(1, 10**7),
    limit=st.floats(0, 0.999),
    absent=st.integers(0, 10**5),
    k=st.integers(2, 1000),
)
def test_bands_follow_each_other_without_gaps(released: int, limit: float, absent: int, k: int) -> None:
    promise = KAnonymity(k=k, unit="travellers")
    bands = withheld_bands(promise, volume="trips", released=released, limit=limit, absent=absent)
    assert bands[0].at_least == 0
    for one, other in itertools.pairwise(bands):
        assert other.at_least == one.at_most + 1 <= other.at_most
        assert k - 1 <= one.at_most
        assert other.at_least <= (absent - 1) * (k - 1)
    assert bands[-1].at_most <= limit * (released + bands[-1].at_most) * (1 + 1e-9)


def test_the_strictest_of_several_thresholds_decides() -> None:
    def bands(*units: tuple[Any, float], **more: Any) -> list[int]:
        promise = AllOf(promises=tuple(KAnonymity(k=k, unit=unit) for unit, k in units))
        asked = {"volume": "trips", "released": 4900, "limit": 0.1, "absent": 12, **more}
        return [band.at_most for band in withheld_bands(promise, **asked)]

    # 1 and 2 percent are 49 and 100: eleven pairs of nine hold 99, and 50 must fit into the lowest.
    assert bands(("trips", 10)) == [49, 544]
    assert bands(("trips", 10), ("travellers", 51)) == [544]
    assert bands(("trips", 10), ("travellers", 50)) == [49, 544]
    # A trip may stand for any population.
    assert bands(("travellers", 10), ("population", 5000)) == [49, 544]
    assert bands(("population", 10), volume="population", released=4900) == [49, 545]


def test_where_flows_may_be_small_or_zones_overlap_nothing_but_the_limit_is_told() -> None:
    assert told_of([9] * 8, homogeneous=False)["withheld"]["at_least"] == 0
    few = KMAnonymity(promise=TEN, m=1)
    asked: dict[str, Any] = {"volume": "trips", "released": 9000, "limit": 0.1, "absent": 100}
    assert [band.at_most for band in withheld_bands(few, **asked)] == [1000]
    parts = (SegmentName("a"), SegmentName("b"))
    each = EverySegment(promise=TEN, parts=parts)
    assert withheld_bands(each, **asked) == withheld_bands(TEN, **asked)
    assert DifferentialPrivacy.silence.startswith("not told")


def test_a_bound_is_told_whatever_was_withheld() -> None:
    for hidden in ([0, 0], [0, 1], [9, 9]):
        matrix = table_of(hidden)
        release = TwinCut(promise=TEN, suppression_limit=0.1).anonymise(matrix)
        facts = manifest(matrix, release, dropped={}, tilings={})
        assert facts["bound"]["within_percent"] == 0


def test_population_in_whole_people_lies_in_its_band() -> None:
    """A third of a person over an edge is the next person."""
    promise = KAnonymity(k=2, unit="population")
    asked: dict[str, Any] = {"volume": "population", "released": 1000, "limit": 0.3, "absent": 10**4}
    assert [band.at_most for band in withheld_bands(promise, **asked)][:2] == [10, 20]
    sizes = {("z0", "z0"): 1000.0, ("z1", "z1"): 1000.0, ("z0", "z1"): 1.25}
    for weight, expected in ((1.25, (0, 858)), (857.0, (0, 858))):
        sizes["z0", "z1"] = weight
        rows = tuple(Row(*pair, weight=size) for pair, size in sizes.items())
        matrix = Case(trees=(STAR, STAR), rows=rows, has_weight=True).matrix()
        release = build_release(
            matrix,
            method="by hand",
            parameters={},
            promise=KAnonymity(k=900, unit="population"),
            suppression_limit=0.3,
            origin_zone=matrix.flows.origin,
            destination_zone=matrix.flows.destination,
            suppressed=np.asarray(matrix.volume("population") < 900),
            homogeneous=True,
        )
        entry = manifest(matrix, release, dropped={}, tilings={})["withheld"]
        assert (entry["at_least"], entry["at_most"]) == expected


def test_a_volume_beyond_the_limit_is_told_in_no_band() -> None:
    matrix = table_of([5, 5])
    with pytest.raises(InternalError, match="more than its limit"):
        build_release(
            matrix,
            method="by hand",
            parameters={},
            promise=TEN,
            suppression_limit=0.007,
            origin_zone=matrix.flows.origin,
            destination_zone=matrix.flows.destination,
            suppressed=matrix.flows.trips < 10,
            homogeneous=True,
        )


@pytest.mark.parametrize("most", [_within, _most])
def test_the_limit_allows_twice_as_much_as_is_released_where_it_is_two_thirds(most: Any) -> None:
    """A released population of 3 may be up to 3.5 people; a hair above the limit is still within it."""
    assert most(3, 2 / 3, "trips") == 6
    assert most(3, 2 / 3, "population") == 8
    assert most(3, 0.0, "trips") == 0
    assert most(10, math.nextafter(1, 0), "trips") == 10 * (10**12 - 1)


def test_only_a_table_that_counts_withheld_flows_tells_of_them() -> None:
    def of(tables: Any) -> bool:
        return _laid(SimpleNamespace(tables=tables))  # type: ignore[arg-type]

    assert not of(None)
    assert [of(SimpleNamespace(laid_at=np.zeros(bricks))) for bricks in (0, 1, 2)] == [False, True, True]


def test_a_release_that_withholds_more_than_it_says_tells_no_band() -> None:
    matrix = table_of([5])
    release = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=TEN,
        suppression_limit=0.5,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        suppressed=matrix.flows.trips < 10,
        homogeneous=True,
    )
    assert withheld_entry(matrix, release, int(release.trips.sum()))["at_least"] == 0
    with pytest.raises(InternalError, match="is in no band"):
        withheld_entry(matrix, replace(release, suppression_limit=0.0), int(release.trips.sum()))


def test_where_travellers_alone_are_published_nothing_is_restated_of_what_was_withheld() -> None:
    facts = told_of([3, 4])
    assert restated_withheld(facts) == facts["withheld"]
    assert WITHOUT_TRIPS in restated_withheld({**facts, "volume": "travellers"}).values()
