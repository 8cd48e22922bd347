"""Threads: work split into blocks; compiled loops let each other run, and the result is always the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def processors(asked: int | None = None) -> int:
    """Return how many threads to use: as many as were asked for, or one a processor that we may use.

    >>> processors(3), processors() >= 1
    (3, True)
    """
    return asked or len(os.sched_getaffinity(0))


def blocks(n: int, size: int) -> list[slice]:
    """Return slices that cover n rows.

    >>> blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(at, min(at + size, n)) for at in range(0, n, size)]


def in_threads(work: Callable[[T], R], items: Sequence[T], jobs: int) -> Iterator[R]:
    """Yield what the work gives for each item, in order.

    >>> list(in_threads(str, range(3), jobs=2))
    ['0', '1', '2']
    """
    if jobs <= 1 or len(items) <= 1:
        yield from map(work, items)
        return
    # Errors of a thread spell options as those of its caller do.
    contexts = [copy_context() for _ in items]
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(lambda context, item: context.run(work, item), contexts, items)
