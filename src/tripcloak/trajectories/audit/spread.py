"""In how many released trajectories everybody is contained, counted on the machines of a cluster.

People are cut into parts that wait there, and released trajectories into others that go to all of them in
turn. Every pair of parts is counted by itself, and the numbers add up: no machine ever has the whole.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.trajectories.audit.containment import Supports
from tripcloak.trajectories.audit.screening import BoxSpans, Samples, Screen

PART = 1 << 22
"""Samples or boxes of a part, about."""

Rows = TypeVar("Rows", Samples, BoxSpans)


class Asked(Protocol):
    """Things that wait on other machines."""

    def asked(self, function: Callable[[Any, Iterator[Any]], Iterator[Any]], plan: Any) -> list[Any]:
        """Return what a function says of things where they lie."""

    def let_go(self) -> None:
        """Forget them."""


class Machines(Protocol):
    """Other machines, to which things and functions are sent."""

    def spread(
        self, tasks: Sequence[Any], function: Callable[[Any, Iterator[Any]], Iterator[Any]], plan: Any
    ) -> Asked:
        """Return what a function makes of every task, to wait there."""


class _Counted(NamedTuple):
    """What was counted of people from one on: supports of each, and members of the trajectories sent."""

    first: int
    support: Ints
    two_sided: Ints
    members: Ints


def count_supports_there(machines: Machines, samples: Samples, spans: BoxSpans) -> Supports:
    """Return what :func:`~.containment.count_supports` does, counted on a cluster.

    Parameters
    ----------
    machines
        Who counts.
    samples, spans
        The original trajectories and the released ones, each by time.
    """
    n, released = len(samples.offsets) - 1, len(spans.offsets) - 1
    support, two_sided, members = (np.zeros(size, np.int64) for size in (n, n, released))
    people = [(first, _packed(_some(samples, first, end))) for first, end in _parts(samples.offsets)]
    waiting = machines.spread(people, _as_they_are, None)
    try:
        for first, end in _parts(spans.offsets):
            for part in waiting.asked(_count, _packed(_some(spans, first, end))):
                own = slice(part.first, part.first + len(part.support))
                support[own] += part.support
                two_sided[own] += part.two_sided
                members[first:end] += part.members
    finally:
        waiting.let_go()
    return Supports(support, two_sided, members)


def _parts(offsets: Ints) -> list[tuple[int, int]]:
    """Return the first trajectory of every part, and the one behind its last."""
    number = (np.asarray(offsets[1:]) - 1) // PART
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def _some(columns: Rows, first: int, end: int) -> Rows:
    """Return the trajectories from one up to another."""
    offsets = columns.offsets[first : end + 1]
    own = slice(int(offsets[0]), int(offsets[-1]))
    return type(columns)(offsets - offsets[0], *(np.asarray(column[own]) for column in columns[1:]))


def _packed(columns: Samples | BoxSpans) -> bytes:
    return zlib.compress(pickle.dumps(columns, protocol=5), 1)


def _as_they_are(_: None, parts: Iterator[Any]) -> Iterator[Any]:
    """Yield parts, to wait where they are."""
    yield from parts


def _count(boxes: bytes, parts: Iterator[tuple[int, bytes]]) -> Iterator[_Counted]:
    """Yield what is counted of every part of people; runs on the cluster."""
    spans: BoxSpans = pickle.loads(zlib.decompress(boxes))
    for first, people in parts:
        samples: Samples = pickle.loads(zlib.decompress(people))
        yield _Counted(first, *Screen.of(samples, spans, jobs=1).held(1))
