"""The result in plain words, for owners and for readers."""

from __future__ import annotations

import numpy as np
import pytest

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Bound, Release
from tripcloak.flows.release.release import build_release
from tripcloak.flows.report.plain import WithheldSafe, plain_words, withheld_although_safe
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity

# Tiles a, b, c, d; ab and cd; all of them.
TREE = Hierarchy.from_parents(
    ["a", "b", "c", "d", "ab", "cd", "all"],
    [4, 4, 5, 5, 6, 6, -1],
    area_km2=np.array([1.0, 1.0, 2.0, 2.0, 2.0, 4.0, 6.0]),
)
A, B, C, AB, ALL = 0, 1, 2, 4, 6


def released(
    trips: dict[tuple[int, int], int], zones: dict[int, int], hidden: set[tuple[int, int]], **told
) -> tuple[ODMatrix, Release]:
    """Return a matrix of so many trips between tiles, and a release of it in these zones at k = 3."""
    ends = np.array([pair for pair, number in trips.items() for _ in range(number)])
    matrix = ODMatrix.from_trips(TREE, TREE, ends[:, 0], ends[:, 1])
    pairs = list(zip(matrix.flows.origin.tolist(), matrix.flows.destination.tolist(), strict=True))
    release = build_release(
        matrix,
        method="by-hand",
        parameters={},
        promise=KAnonymity(k=3, unit="trips"),
        suppression_limit=0.6,
        origin_zone=np.array([zones[origin] for origin, _ in pairs]),
        destination_zone=np.array([zones[destination] for _, destination in pairs]),
        suppressed=np.array([pair in hidden for pair in pairs]),
        homogeneous=True,
        **told,
    )
    return matrix, release


@pytest.mark.parametrize(("last", "found"), [(1, WithheldSafe(0, 0, 0)), (2, WithheldSafe(1, 2, 3))])
def test_a_group_is_withheld_although_safe_from_k_on(last, found):
    # The flows from a and b to c make one group, of two or three trips; all tiles are released elsewhere.
    trips = {(A, A): 3, (B, B): 3, (C, C): 5, (A, C): 1, (B, C): last}
    zones = {A: AB, B: AB, C: C}
    assert withheld_although_safe(*released(trips, zones, {(A, C), (B, C)})) == found


def test_the_owner_reads_how_many_safe_trips_were_withheld_and_why():
    trips = {(A, A): 9, (C, C): 5}
    words = " ".join(plain_words(*released(trips, {A: A, C: C}, {(C, C)}), {}))
    assert "35.7% of the trips are withheld (5 of 14)" in words
    assert "5 of these trips, in 1 group of 1 flow, were safe as they stood" in words
    words = " ".join(plain_words(*released({**trips, (C, C): 2}, {A: A, C: C}, {(C, C)}), {}))
    assert "None of them could be released as they stand." in words
    words = " ".join(plain_words(*released(trips, {A: A, C: C}, set()), {}))
    assert "0.0% of the trips are withheld (0 of 14)." in words
    assert "safe as they stood" not in words


def test_one_flow_that_is_left_is_called_that():
    trips = {(A, A): 9, (C, C): 5}
    alone = plain_words(*released(trips, {A: ALL, C: ALL}, set()), {})
    assert alone[0].startswith(
        "One flow is left: every flow holds at least 3 trips, which may be one person's"
    )
    two = plain_words(*released(trips, {A: A, C: C}, set()), {})
    assert two[0].startswith(
        "2 flows between 2 origin and 2 destination zones are released; every flow holds"
    )


def test_size_way_and_proof_come_before_letters():
    trips = {(A, A): 9, (C, C): 5}
    bound = Bound(value=1.0, gap=12.5, relaxation="some bound")
    words = plain_words(*released(trips, {A: A, C: C}, set(), bound=bound), {"GDM_mean": 1234.5})
    assert words[1] == "A typical zone covers 1 km² (1.1 km across): half of the trips begin in one as small."
    assert words[2] == "Trips were moved by 1,234 m on average (GDM)."
    assert words[-1].startswith("It is proven to be within 12 % of the best possible")
    exact = Bound(value=1.0, gap=0.0, relaxation="some bound")
    best = plain_words(*released(trips, {A: A, C: C}, set(), bound=exact), {})
    assert best[-1].startswith("It is proven to be the best possible")
