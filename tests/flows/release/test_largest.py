"""What everybody learns of the largest parts: bands with exact edges, and nothing where flows are few."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_release
from tripcloak.flows.release.largest import (
    FEW,
    MANY,
    SOME,
    UNTOLD,
    LargestParts,
    largest_entry,
    largest_parts,
    restated_largest,
)
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import AllOf, Dominance, KAnonymity, KMAnonymity

TWO = KAnonymity(k=2, unit="travellers")


@pytest.mark.parametrize(
    ("half", "flows", "words"),
    [
        (0, 19, UNTOLD),
        (19, 19, UNTOLD),
        (0, 20, FEW),
        (1, 20, FEW),
        (2, 20, SOME),
        (10, 20, SOME),
        (11, 20, MANY),
        (20, 20, MANY),
    ],
)
def test_bands_end_at_a_tenth_and_at_a_half(half: int, flows: int, words: str) -> None:
    assert LargestParts(0.9, half, flows).public == words


def made(busiest: int) -> tuple[ODMatrix, Release]:
    """Return the release of one flow of four people, three of them with one trip."""
    tree, person = Hierarchy.from_parents(["a"], [-1]), np.array([0] * busiest + [1, 2, 3], np.int32)
    here = np.zeros(len(person), dtype=int)
    matrix = ODMatrix.from_trips(tree, tree, here, here, person=person, repeats=True)
    flows = matrix.flows
    ends = {"origin_zone": flows.origin, "destination_zone": flows.destination}
    asked = {"promise": TWO, "suppression_limit": 0.0, "suppressed": np.array([False]), "homogeneous": True}
    return matrix, build_release(matrix, method="by hand", parameters={}, **ends, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(("busiest", "half"), [(2, 0), (3, 1), (4, 1)])
def test_exactly_half_is_half(busiest: int, half: int) -> None:
    found = largest_parts(*made(busiest))
    assert found == LargestParts(busiest / (busiest + 3), half, 1)


def test_nothing_is_told_where_trips_are_not_or_parts_are_promised() -> None:
    matrix, release = made(3)
    assert largest_entry(matrix, release) == {"largest_parts": UNTOLD}
    silent: list[dict[str, Any]] = [
        {"publish": "travellers"},
        {"promise": AllOf(promises=(TWO, Dominance(share=0.9)))},
        {"promise": KMAnonymity(promise=TWO, m=1)},
    ]
    for change in silent:
        assert largest_entry(matrix, replace(release, **change)) == {}
    told = ODMatrix.from_trips(matrix.origins, matrix.destinations, *[np.zeros(6, dtype=int)] * 2)
    assert largest_parts(told, release) is None


@pytest.mark.parametrize("words", [FEW, SOME, MANY, UNTOLD])
def test_words_are_said_again_and_no_others(words: str) -> None:
    assert restated_largest({"largest_parts": words}) == words
    with pytest.raises(ValueError, match="never said"):
        restated_largest({"largest_parts": f"{words} "})


def test_without_repeats_nobody_knows_what_one_traveller_has() -> None:
    matrix, release = made(3)
    unknown = replace(matrix, flows=replace(matrix.flows, repeats=None))
    assert largest_parts(unknown, release) is None
    assert largest_entry(unknown, release) == {}
    nobody = replace(matrix, flows=replace(matrix.flows, travellers=None))
    assert largest_parts(nobody, release) is None
