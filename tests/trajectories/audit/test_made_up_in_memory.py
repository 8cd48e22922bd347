"""What the audit asks of made-up trajectories and of crowds, each at its very edge."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from tripcloak.trajectories.audit import crowds, memory
from tripcloak.trajectories.audit.noise import noise_faults
from tripcloak.trajectories.audit.promise import (
    LARGE,
    Part,
    Stated,
    _is_part,
    _noise_entry_faults,
    coarse_faults,
    crowd_faults,
    read_stated,
    sharing_faults,
)
from tripcloak.trajectories.audit.rules import samples
from tripcloak.trajectories.audit.screening import BoxSpans

PARTS = (Part("first cells", 0.25, 2, 8.0), Part("steps", 0.75, 3, 4.0))
NOISY = Stated("any", epsilon=1.0, unit="user", parts=PARTS)


def faults(promise: Stated) -> Any:
    return noise_faults(promise, "by-hand", {})


def test_parts_spend_what_is_promised_and_no_more() -> None:
    assert isinstance(faults(NOISY), Remark)
    assert not isinstance(faults(NOISY), NotPromised)
    hair = NOISY._replace(epsilon=1.0 * (1 - 5e-10))
    assert not isinstance(faults(hair), str)
    assert "spend more" in str(faults(NOISY._replace(epsilon=1.0 * (1 - 2e-9))))


@pytest.mark.parametrize("which", [0, 1])
def test_every_part_has_the_noise_that_it_takes(which: int) -> None:
    def of(scale: float) -> Any:
        parts = [*PARTS]
        parts[which] = parts[which]._replace(scale=parts[which].scale * scale)
        return faults(NOISY._replace(parts=tuple(parts)))

    assert not isinstance(of(1 - 5e-10), str)
    assert "smaller than its epsilon asks for" in of(1 - 2e-9)


def test_what_is_replaced_changes_numbers_twice() -> None:
    once = (Part("first cells", 0.25, 1, 8.0), PARTS[1])
    assert isinstance(faults(NOISY._replace(parts=once)), Remark)
    assert isinstance(faults(NOISY._replace(unit="event")), Remark)
    assert "where it was and where it is" in str(faults(NOISY._replace(unit="event", parts=once)))


def test_without_noise_or_without_a_unit_nothing_is_promised() -> None:
    assert isinstance(faults(NOISY._replace(epsilon=None)), NotPromised)
    assert isinstance(faults(NOISY._replace(unit=None)), NotPromised)
    assert "no number of this release is noisy" in str(faults(NOISY._replace(epsilon=None)))


ENTRY: dict[str, Any] = {
    "epsilon": 0.5,
    "unit": "w-event",
    "window": 1,
    "parts": [["first cells", 0.5, 1, 2.0]],
}


@pytest.mark.parametrize(
    ("other", "right"),
    [
        ({}, True),
        ({"epsilon": 1e-9}, True),
        ({"epsilon": 0}, False),
        ({"epsilon": "1"}, False),
        ({"unit": "nobody"}, False),
        ({"unit": 7}, False),
        ({"window": 0}, False),
        ({"window": 1.0}, False),
        ({"window": None}, False),
        ({"unit": "user"}, False),
        ({"unit": "user", "window": None}, True),
        ({"parts": []}, False),
        ({"parts": {}}, False),
        ({"parts": ENTRY["parts"] * 199}, True),
        ({"parts": ENTRY["parts"] * 200}, False),
        ({"parts": [*ENTRY["parts"], ["steps", 1.0, 1]]}, False),
    ],
)
def test_noise_is_told_part_by_part(other: dict[str, Any], right: bool) -> None:
    assert (_noise_entry_faults({**ENTRY, **other}) is None) is right


def test_noise_without_a_unit_is_told_as_well() -> None:
    told = {name: value for name, value in ENTRY.items() if name not in ("unit", "window")}
    assert _noise_entry_faults(told) is None


@pytest.mark.parametrize(
    ("part", "right"),
    [
        (["a" * 29, 1, 1, 1], True),
        (["a" * 30, 1, 1, 1], False),
        (["first cells 2", 1, 1, 1], True),
        (["2 cells", 1, 1, 1], False),
        (["First", 1, 1, 1], False),
        (["first ", 1, 1, 1], False),
        ([7, 1, 1, 1], False),
        (("a", 1, 1, 1), True),
        ("abcd", False),
        (["a", 1, 1], False),
        (["a", 1, 1, 1, 1], False),
        (["a", 0, 1, 1], False),
        (["a", 1, 0, 1], False),
        (["a", 1, 1, 0], False),
        (["a", 1, 1, LARGE], False),
        (["a", 1, 1, LARGE - 1], True),
        (["a", 1, 1, "1"], False),
    ],
)
def test_a_part_is_a_name_and_three_numbers(part: Any, right: bool) -> None:
    assert _is_part(part) is right


@pytest.mark.parametrize(("m", "right"), [(0, False), (1, True), (3, True), (4, False), (1.0, False)])
def test_readers_know_one_to_three_samples(m: Any, right: bool) -> None:
    told = {"kind": "k^m-anonymity of trajectories", "k": 2, "m": m}
    if right:
        assert read_stated(told).m == m
    else:
        with pytest.raises(BrokenPart, match="m must be a whole number from 1 to 3"):
            read_stated(told)


def test_k_people_are_enough_and_one_fewer_is_not() -> None:
    promise = Stated("presence", k=3)
    assert crowd_faults(np.array([3, 4, 3]), promise) is None
    assert "fewer than 10 released boxes" in str(crowd_faults(np.array([3, 2, 3]), promise))
    assert sharing_faults(3, promise) is None
    assert sharing_faults(2, promise) is not None


SIDES = [np.array(side) for side in ([0, 1200], [600, 1800], [0, 400], [400, 800], [-400, 0], [0, 400])]
COARSE = {"interval": 600, "cell": 400}


@pytest.mark.parametrize("side", range(6))
@pytest.mark.parametrize("row", [0, 1])
def test_one_edge_off_its_cells_and_slots_is_too_fine(side: int, row: int) -> None:
    assert coarse_faults(COARSE, (60, 100), SIDES) is None
    moved = [column.copy() for column in SIDES]
    moved[side][row] += 60 if side < 2 else 100
    assert "is finer than the stated cells and slots" in str(coarse_faults(COARSE, (60, 100), moved))


def test_cells_and_slots_are_whole_steps_of_the_grid() -> None:
    """Rounded up: 541 seconds are ten steps of a minute, 301 metres four of a hundred."""
    assert coarse_faults({"interval": 541, "cell": 301}, (60, 100), SIDES) is None
    assert coarse_faults({"interval": 540, "cell": 400}, (60, 100), SIDES) is not None
    assert coarse_faults({"interval": 600, "cell": 300}, (60, 100), SIDES) is not None
    for wrong in ({}, {"interval": 600}, {"cell": 400}, COARSE | {"cell": 0}, COARSE | {"interval": "600"}):
        assert "do not say how large" in str(coarse_faults(wrong, (60, 100), SIDES))


@pytest.mark.parametrize(("side", "by"), [(None, 0), (1, 60), (2, 60), (3, 100), (6, 100)])
def test_both_audits_ask_whether_what_is_made_up_is_coarse(side: int | None, by: int) -> None:
    moved = [np.array([0, 2]), *(column.copy() for column in SIDES)]
    if side is not None:
        moved[side][1] += by
    spans = BoxSpans(*(one * 1_000_000 if at in (1, 2) else one for at, one in enumerate(moved)))
    told = SimpleNamespace(promise=NOISY, seconds=60, metres=100)
    case: Any = SimpleNamespace(manifest=told, facts={"parameters": COARSE}, spans=spans)
    assert (samples.made_up_is_coarse(case) is None) is (side is None)
    case.facts = {"parameters": 7}
    assert "do not say how large" in str(samples.made_up_is_coarse(case))
    told.promise = Stated("containment", k=2)
    assert isinstance(samples.made_up_is_coarse(case), NotPromised)


@pytest.mark.parametrize(("side", "by"), [(None, 0), (1, 1), (2, 1), (3, 1), (6, 1)])
def test_in_memory_steps_are_made_seconds_and_metres(side: int | None, by: int) -> None:
    """The grid begins at 1200 seconds, two slots after 1970."""
    moved = [np.array([0, 2]), *(column // (60 if at < 2 else 100) for at, column in enumerate(SIDES))]
    if side is not None:
        moved[side][1] += by
    release = SimpleNamespace(grid=SimpleNamespace(seconds=60, metres=100, start=1200), parameters=COARSE)
    case: Any = SimpleNamespace(promise=NOISY, release=release, sides=lambda: (None, BoxSpans(*moved)))
    assert (memory.made_up_is_coarse(case) is None) is (side is None)
    release.grid.start = 1260
    assert memory.made_up_is_coarse(case) is not None
    case.promise = Stated("containment", k=2)
    assert isinstance(memory.made_up_is_coarse(case), NotPromised)


@pytest.mark.parametrize("n", range(7))
@pytest.mark.parametrize("size", [1, 2, 3])
def test_sets_are_as_many_as_pascal_says(n: int, size: int) -> None:
    from math import comb

    assert crowds._choose(n, size) == comb(n, size)


def test_boxes_have_one_number_just_where_all_their_sides_are_equal() -> None:
    base = [0, 1, 0, 1, 0, 1]
    rows = [base, base, *([*base[:at], 5, *base[at + 1 :]] for at in range(6))]
    codes = crowds._box_codes(BoxSpans(np.array([0, len(rows)]), *np.array(rows).T))
    assert codes[0] == codes[1]
    assert len(set(codes.tolist())) == 7


def released(*told: int, **promised: Any) -> Any:
    """Return a case of three people, and the released trajectory of each."""
    promise = SimpleNamespace(
        **{"made_up": False, "parted": False, "profile": None, "contains": False, **promised}
    )
    release = SimpleNamespace(released_of=np.array(told), n_released=2, guards=None)
    return SimpleNamespace(promise=promise, release=release, trajectories=SimpleNamespace(n_users=3))


def test_what_is_made_up_is_nobodys_and_all_else_one_persons() -> None:
    accounted: Any = memory.everybody_accounted
    assert accounted(released(1, -1, 0)) is None
    assert accounted(released(-1, -1, -1, made_up=True)) is None
    assert "is said to be somebody's" in accounted(released(-1, 0, -1, made_up=True))
    assert "does not account" in accounted(released(1, 0))
    assert "nobody's, or two people's" in accounted(released(1, 1, 0))
    assert "nobody's, or two people's" in accounted(released(1, -1, -1))
    assert "fewer than 10 original trajectories are deleted" in accounted(released(1, -1, 0, contains=True))
