"""How many people were in released boxes, and how many released trajectories share some of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from tripcloak.ground.arrays import Ints, to_read
from tripcloak.ground.threads import in_threads, processors
from tripcloak.trajectories.audit.screening import BoxSpans, Samples

BINS = (128, 24, 24)
"""Into how many parts time, x and y are cut to look samples up, each of about as many samples."""

AT_ONCE = 1 << 25
"""Sets of boxes that are counted together; more are counted in several rounds."""


def people_in_boxes(samples: Samples, spans: BoxSpans, *, enough: int, jobs: int | None = None) -> Ints:
    """Return for each released box how many people have a sample in it, counted up to what is enough.

    Parameters
    ----------
    samples
        The original trajectories.
    spans
        The released boxes.
    enough
        Beyond this number nobody is counted.
    jobs
        Threads; as many as there are processors if not given.

    Examples
    --------
    >>> samples = Samples(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([5, 5, 6]), np.zeros(3, int))
    >>> sides = [np.array(side) for side in ([0, 0], [1, 2], [0, 0], [9, 9], [0, 0], [1, 1])]
    >>> people_in_boxes(samples, BoxSpans(np.array([0, 2]), *sides), enough=5).tolist()
    [1, 2]
    """
    from tripcloak.trajectories.audit._kernels import count_inside

    columns = (samples.t, samples.x, samples.y)
    cuts = [
        np.unique(np.quantile(values, np.arange(1, number) / number, method="lower"))
        for values, number in zip(columns, BINS, strict=True)
    ]
    shape = tuple(len(cut) + 1 for cut in cuts)
    bins = [np.searchsorted(cut, values, side="right") for cut, values in zip(cuts, columns, strict=True)]
    code = np.ravel_multi_index(bins, shape)
    order = np.argsort(code, kind="stable")
    starts = np.searchsorted(code[order], np.arange(np.prod(shape) + 1))
    people = len(samples.offsets) - 1
    owner = np.repeat(np.arange(people), np.diff(samples.offsets))[order]
    t, x, y = (np.asarray(values, np.float64)[order] for values in columns)
    boxes = np.stack([np.asarray(side, np.float64) for side in spans[1:]], axis=1)
    low = np.stack([np.searchsorted(cut, boxes[:, 2 * axis], "right") for axis, cut in enumerate(cuts)])
    high = np.stack([np.searchsorted(cut, boxes[:, 2 * axis + 1], "left") for axis, cut in enumerate(cuts)])
    found = np.zeros(len(boxes), np.int64)
    workers = processors(jobs)

    def work(worker: int) -> None:
        rows = np.arange(worker, len(boxes), workers)
        seen = np.full(people, -1, np.int64)
        count_inside(
            rows,
            boxes,
            low,
            high,
            np.array(shape),
            to_read(starts),
            owner,
            t,
            x,
            y,
            seen,
            enough,
            found,
        )

    _ = list(in_threads(work, range(workers), workers))
    return found


def fewest_sharing(spans: BoxSpans, m: int) -> int:
    """Return the fewest released trajectories that have in common any m boxes of one of them, or fewer.

    Examples
    --------
    >>> t0, x0 = np.array([0, 1, 0, 1, 0]), np.array([5, 7, 5, 7, 5])
    >>> spans = BoxSpans(np.array([0, 2, 4, 5]), t0, t0 + 1, x0, x0 + 1, x0, x0 + 1)
    >>> fewest_sharing(spans, 1), fewest_sharing(spans, 2)
    (2, 2)
    """
    codes = _box_codes(spans)
    many = int(codes.max()) + 1
    return min(_fewest_of(codes, spans.offsets, size, many) for size in range(1, m + 1))


def _box_codes(spans: BoxSpans) -> Ints:
    """Return a number for each box, the same of equal boxes."""
    code = np.zeros(len(spans.t0), np.int64)
    for side in spans[1:]:
        _, other = np.unique(np.asarray(side), return_inverse=True)
        _, code = np.unique(code * (int(other.max()) + 1) + other, return_inverse=True)
    return code


def _fewest_of(codes: Ints, offsets: Ints, size: int, many: int) -> int:
    """Return how many trajectories hold the rarest set of so many boxes; all of them where there is none."""
    lengths = np.diff(offsets)
    total = sum(_choose(int(length), size) for length in lengths)
    rounds, fewest = 1 + total // AT_ONCE, len(lengths)
    for turn in range(rounds):
        parts = list(_sets(codes, offsets, lengths, size, many, (turn, rounds)))
        if parts:
            fewest = min(
                fewest, int(np.unique(np.concatenate(parts), return_counts=True)[1].min(initial=fewest))
            )
    return fewest


def _sets(
    codes: Ints, offsets: Ints, lengths: Ints, size: int, many: int, part: tuple[int, int]
) -> Iterator[Ints]:
    """Yield a number for every set of boxes of a trajectory, of those whose first box is of this part."""
    turn, rounds = part
    for length in np.unique(lengths[lengths >= size]):
        begins = offsets[:-1][lengths == length]
        held = np.sort(codes[begins[:, None] + np.arange(length)], axis=1)
        chosen = np.array(list(combinations(range(int(length)), size))) if size != 2 else _pairs(int(length))
        for columns in np.array_split(chosen, 1 + len(chosen) * len(begins) // AT_ONCE):
            sets = held[:, columns[:, 0]]
            mine = sets % rounds == turn
            for column in columns.T[1:]:
                sets = sets * many + held[:, column]
            yield sets[mine]


def _pairs(length: int) -> Ints:
    return np.stack(np.triu_indices(length, 1), axis=1)


def _choose(n: int, size: int) -> int:
    return (
        int(np.prod([n - i for i in range(size)])) // int(np.prod(np.arange(1, size + 1))) if n >= size else 0
    )
