"""What counts who contains whom, piece by piece: who is asked about, and which rows are whose."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tripcloak.ground.errors import InternalError
from tripcloak.trajectories.audit import _kernels, containment, screening
from tripcloak.trajectories.audit.screening import BoxSpans, Samples, Screen

SAMPLES = Samples(np.array([0, 2, 2, 5]), *(np.arange(5) + shift for shift in (0, 10, 20)))
BOXES = np.array([[0, 5, 10, 20, 0, 9], [5, 9, 20, 30, 9, 10], [2, 3, 12, 14, 4, 6]])
SPANS = BoxSpans(np.array([0, 2, 3]), *BOXES.T)


def test_samples_of_some_people_are_theirs() -> None:
    own = containment._of(SAMPLES, np.array([2, 0]))
    assert own.offsets.tolist() == [0, 3, 5]
    assert (own.t.tolist(), own.x.tolist(), own.y.tolist()) == (
        [2, 3, 4, 0, 1],
        [12, 13, 14, 10, 11],
        [22, 23, 24, 20, 21],
    )


@pytest.mark.parametrize("people", [1, 2, 3])
def test_a_screen_of_some_people_holds_them_alone(people: int) -> None:
    """However many are released: two here, which says nothing of how many people are asked about."""
    samples = Samples(np.array([0, 1, 3, 6]), *(np.arange(6) + shift for shift in (0, 10, 20)))
    screen = Screen.of(samples, SPANS)
    part = screen._only(slice(0, people))
    assert part._sizes == (people, 2)
    assert part.samples.offsets.tolist() == samples.offsets[: people + 1].tolist()
    assert (part is screen) is (people == 3)


@pytest.mark.parametrize(
    ("t", "x", "y", "inside"),
    [
        (0, 10, 0, True),
        (8, 29, 9, True),
        (-1, 10, 0, False),
        (9, 10, 0, False),
        (0, 9, 0, False),
        (0, 30, 0, False),
        (0, 10, -1, False),
        (0, 10, 10, False),
    ],
)
def test_only_what_lies_where_something_was_released_is_asked_about(
    t: int, x: int, y: int, inside: bool
) -> None:
    """Between two samples of others, so that it is still known whose each is."""
    columns = (np.array([1, number, 1, 1]) for number in (t, x, y))
    dropped = Samples(np.array([0, 1, 2, 4]), *columns)
    dropped = dropped._replace(x=np.where([False, True, False, False], x, 15))
    found = containment._within(dropped, SPANS)
    assert found.offsets.tolist() == [0, 1, 1 + inside, 3 + inside]
    assert len(found.t) == len(found.x) == len(found.y) == 3 + inside


def test_the_fewest_rows_that_hold_what_one_holds() -> None:
    assert containment._fewest(np.zeros((0, 2), dtype=bool)) == 0
    held = np.array([[True, False], [True, True], [True, False], [False, False]])
    assert containment._fewest(held) == 1
    assert containment._fewest(held[[0, 2, 3]]) == 2
    assert containment._fewest(held[[3, 3]]) == 2


@pytest.mark.parametrize(
    ("people", "times", "space"), [(2, 4, 4), (300, 4, 8), (3000, 4, 16), (1 << 22, 16, 64)]
)
def test_cuts_follow_from_how_many_people_there_are(people: int, times: int, space: int) -> None:
    """Each bin holds about as many samples."""
    offsets = np.zeros(people, np.int64)
    samples = Samples(offsets, *(np.arange(2000) * factor for factor in (1, 2, 3)))
    cuts = screening.cells_between(samples)
    assert [len(cut) + 1 for cut in cuts] == [times, space, space]
    for cut, column in zip(cuts, samples[1:], strict=True):
        held = np.bincount(np.searchsorted(cut, column, side="right"))
        assert held.max() - held.min() <= 2


def test_cuts_of_one_value_are_one() -> None:
    cuts = screening.cells_between(Samples(np.array([0, 4]), *[np.full(4, 7)] * 3))
    assert [cut.tolist() for cut in cuts] == [[7]] * 3


def test_a_box_reaches_from_its_first_bin_to_the_last_before_its_end() -> None:
    cuts = np.array([5, 10])
    first, last = plain("_first_bin"), plain("_last_bin")
    assert [first(cuts, value) for value in (0, 4, 5, 9, 10, 11)] == [0, 0, 1, 1, 2, 2]
    assert [last(cuts, end) for end in (1, 5, 6, 10, 11, 99)] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("offsets", [[0, 2, 2, 3], [1, 2, 3], [0, 3, 2]])
def test_every_released_trajectory_has_a_box(offsets: list[int]) -> None:
    with pytest.raises(InternalError, match="every released"):
        Screen.of(whole(SAMPLES), SPANS._replace(offsets=np.array(offsets)))


def test_everybody_has_a_sample() -> None:
    with pytest.raises(InternalError, match="every original"):
        Screen.of(SAMPLES, SPANS)
    assert Screen.of(whole(SAMPLES), SPANS).witnesses.shape == (2, screening.WITNESSES)


def whole(samples: Samples) -> Samples:
    """Return the samples without the one who has none."""
    return samples._replace(offsets=np.array([0, 2, 5]))


def plain(name: str) -> Any:
    """Return a kernel as it is written, which takes no compiling."""
    kernel = getattr(_kernels, name)
    return getattr(kernel, "py_func", kernel)


# Two boxes in time: 10 to 11 and 14 to 16; the first at x 0 to 2, y 5 to 6, the second at x 4, y 7 to 9.
TWO = np.array([[10, 12, 0, 3, 5, 7], [14, 17, 4, 5, 7, 10]])


@pytest.mark.parametrize("more", [0, 1, 2, 3])
def test_one_sample_lies_in_a_box_or_in_none(more: int) -> None:
    """Wherever the two stand among boxes before and behind them, which are elsewhere."""
    before = [[at, at + 1, 90, 99, 90, 99] for at in range(-2 * more, 0, 2)]
    behind = [[at, at + 1, 90, 99, 90, 99] for at in range(20, 20 + 3 * more, 3)]
    boxes = np.array([*before, *TWO.tolist(), *behind])
    for t, x, y in itertools.product(range(9, 18), range(-1, 6), range(4, 11)):
        inside = any(
            box[0] <= t < box[1] and box[2] <= x < box[3] and box[4] <= y < box[5] for box in TWO.tolist()
        )
        assert plain("_may_hold")(t, x, y, 0, len(boxes), tuple(boxes.T)) is inside, (t, x, y)


@pytest.mark.parametrize(
    ("samples", "verdict"),
    [
        ([(10, 0, 5), (14, 4, 7)], 2),
        ([(10, 0, 5), (11, 2, 6), (16, 4, 9)], 2),
        ([(10, 0, 5)], 1),
        ([(16, 4, 9)], 1),
        ([(10, 0, 5), (12, 0, 5)], 0),
        ([(9, 0, 5), (14, 4, 7)], 0),
        ([(10, 0, 5), (17, 4, 7)], 0),
        *(([(10, x, y), (14, 4, 7)], 0) for x, y in ((-1, 5), (3, 5), (0, 4), (0, 7))),
        *(([(10, 0, 5), (14, x, y)], 0) for x, y in ((3, 7), (5, 7), (4, 6), (4, 10))),
    ],
)
def test_all_samples_of_somebody_lie_in_boxes_and_in_every_one(samples: Any, verdict: int) -> None:
    # Others stand before and behind, and so do boxes of others.
    columns = [np.array([99, *column, 99]) for column in zip(*samples, strict=True)]
    boxes = np.concatenate([TWO - 50, TWO, TWO + 50])
    people = Samples(np.array([0, 1, 1 + len(samples), 2 + len(samples)]), *columns)
    found = containment.count_supports(people, BoxSpans(np.array([0, 2, 4, 6]), *boxes.T))
    told = (found.support.tolist(), found.two_sided.tolist(), found.members.tolist())
    assert told == ([0, verdict > 0, 0], [0, verdict == 2, 0], [0, verdict == 2, 0])


@pytest.mark.parametrize(
    ("times", "filled"),
    [([10, 14], True), ([11, 16], True), ([10, 11], False), ([14, 16], False), ([10], False)],
)
def test_every_box_has_a_sample(times: list[int], filled: bool) -> None:
    """Of samples that lie in boxes; one sample less than boxes is told at once."""
    boxes = np.concatenate([TWO - 50, TWO, TWO + 50])
    assert plain("_fills")(1, 1 + len(times), np.array([12, *times, 12]), 2, 4, tuple(boxes.T)) is filled


@pytest.mark.parametrize("word", [1, 2, 3, 1 << 31, 1 << 32, 3 << 62, 1 << 63, (1 << 64) - 1])
def test_the_lowest_bit_of_a_word(word: int) -> None:
    assert plain("_lowest")(np.uint64(word)) == (word & -word).bit_length() - 1


def test_the_smallest_of_both_numbers_is_told_and_nothing_where_nobody_was_asked_about() -> None:
    told = containment.RawSupports.told
    found = containment.RawSupports(np.array([3, 5]), np.array([7, 4]), np.array([2, 6]))
    assert list(told(found)["raw_record"].values()) == [2, 4, 2]
    nobody = containment.RawSupports(*[np.zeros(0, np.int64)] * 3)
    assert list(told(nobody)["raw_record"].values()) == [0, None, None]
    assert list(told(None)["raw_record"].values()) == [None, None, None]


def test_one_released_trajectory_is_enough_to_be_found_in() -> None:
    samples = Samples(np.array([0, 1]), *(np.array([value]) for value in (0, 5, 0)))
    dropped = Samples(np.array([0, 1]), *(np.array([value]) for value in (0, 7, 0)))
    alone = BoxSpans(np.array([0, 1]), *(np.array([value]) for value in (0, 1, 0, 10, 0, 1)))
    found = containment.count_raw_supports(samples, dropped, alone)
    assert (found.people.tolist(), found.support.tolist(), found.two_sided.tolist()) == ([0], [1], [1])
