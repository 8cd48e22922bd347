"""Safe products that are kept while a method is asked several times with other limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from tripcloak.flows.methods.losses import LossName
from tripcloak.flows.methods.products import Axis, SafeProducts
from tripcloak.flows.model import ODMatrix
from tripcloak.promises import Promise

Wanted: TypeAlias = tuple[tuple[Axis, ...], Promise, LossName]
"""What decides which products of a matrix are safe, and their losses: the axes, a promise, a loss."""


@dataclass(eq=False)
class _Kept:
    """The products that were found last, and of what."""

    matrix: ODMatrix | None = None
    wanted: Wanted | None = None
    products: SafeProducts | None = None


_KEPT: ContextVar[_Kept | None] = ContextVar("kept products", default=None)


@contextmanager
def keeping_products() -> Iterator[None]:
    """Find safe products once within this: they do not depend on how much may be withheld."""
    token = _KEPT.set(_Kept())
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept_or_found(matrix: ODMatrix, wanted: Wanted, find: Callable[[], SafeProducts]) -> SafeProducts:
    """Return the products that were found for the very same, or those that are found now.

    Outside of :func:`keeping_products` nothing is kept, and never what a time limit cut short.
    """
    kept = _KEPT.get()
    if kept is None:
        return find()
    if kept.products is not None and kept.matrix is matrix and _same(kept.wanted, wanted):
        return kept.products
    # Two of them would take twice the memory.
    kept.products = None
    products = find()
    if products.complete:
        kept.matrix, kept.wanted, kept.products = matrix, wanted, products
    return products


def _same(one: Wanted | None, other: Wanted) -> bool:
    """Return whether the very same is wanted; trees and tiles are compared by what they are, not hold."""
    if one is None or one[1:] != other[1:] or len(one[0]) != len(other[0]):
        return False
    axes = zip(one[0], other[0], strict=True)
    return all(
        mine.tree is yours.tree
        and mine.codes is yours.codes
        and mine.zones is yours.zones
        and (mine.loss, mine.must_split) == (yours.loss, yours.must_split)
        for mine, yours in axes
    )
