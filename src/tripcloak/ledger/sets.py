"""Sets of atoms whose total follows from published numbers: found exactly, the least ones first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.elimination import PRIME, fraction, kernel, reduced

TRIED = 12
"""Choices that are tried one by one, two to this many; where there are more, a search weighs them."""


class Determined(NamedTuple):
    """A set of columns that adds up to a known number, and the factor of every unknown that shows it."""

    columns: tuple[int, ...]
    factors: tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class Block:
    """Unknowns that hang together: what must be zero, and what every column adds up to.

    Attributes
    ----------
    ties : array (ties, unknowns)
        Combinations that must be zero.
    forms : array (columns, unknowns)
        What each column adds up to.
    people : sequence of arrays
        Who is in each column.
    """

    ties: Ints
    forms: Ints
    people: Sequence[Ints]


def determined_sets(block: Block, below: int) -> tuple[list[Determined], bool]:
    """Return all least sets of columns of fewer people whose total is known, and whether those are all.

    A set is least where no part of it is known; a set that holds a known one is no further fact.

    Parameters
    ----------
    below
        Sets of so many people, and more, are of no interest.

    Examples
    --------
    >>> block = Block(np.empty((0, 1), int), np.array([[1], [1]]), [np.array([7]), np.array([7, 8])])
    >>> determined_sets(block, 3)
    ([Determined(columns=(0, 1), factors=(Fraction(1, 1),))], True)
    >>> determined_sets(block, 2)
    ([], True)
    """
    basis = kernel(block.ties) if len(block.ties) else np.eye(block.forms.shape[1], dtype=np.int64)
    values = _product(basis, np.remainder(block.forms, PRIME).T)
    rows, pivots = reduced(np.hstack([values, basis]), values.shape[1])
    width, rows = values.shape[1], rows[: len(pivots)]
    sets, complete = [], True
    for part in _apart(rows[:, :width]):
        found, all_of_them = _search(rows[part], width, block.people, below)
        sets += found
        complete &= all_of_them
    return [one for one in sets if _holds(one, block)], complete


def _apart(values: Ints) -> Iterator[Ints]:
    """Yield rows that share columns with each other, and with no others."""
    row, column = np.nonzero(values)
    n = len(values)
    links = coo_array((np.ones(len(row)), (row, column + n)), shape=(n + values.shape[1],) * 2)
    _, part = connected_components(links, directed=False)
    for number in np.unique(part[:n]):
        yield np.flatnonzero(part[:n] == number)


def _search(rows: Ints, width: int, people: Sequence[Ints], below: int) -> tuple[list[Determined], bool]:
    if len(rows) <= TRIED:
        return _all_choices(rows, width, people, below), True
    from tripcloak.ledger.searching import search_sets

    chosen, complete = search_sets(rows[:, :width], people, below)
    return [_told(rows, width, choice) for choice in chosen], complete


def _all_choices(rows: Ints, width: int, people: Sequence[Ints], below: int) -> list[Determined]:
    """Return the least sets among all choices of rows: in a row's pivot a set has 0 or 1 of it."""
    choices = (np.arange(1, 2 ** len(rows))[:, None] >> np.arange(len(rows))) & 1
    values = _product(choices, rows[:, :width])
    whole = np.all(values <= 1, axis=1)
    choices, values = choices[whole], values[whole].astype(bool)
    least: list[Bools] = []
    told = []
    for number in np.argsort(values.sum(axis=1), kind="stable"):
        own = values[number]
        if any(not np.any(known & ~own) for known in least):
            continue
        least.append(own)
        if count_people(people, np.flatnonzero(own)) < below:
            told.append(_told(rows, width, choices[number]))
    return told


def count_people(people: Sequence[Ints], columns: Ints) -> int:
    """Return how many different people are in some columns."""
    return len(np.unique(np.concatenate([people[column] for column in columns])))


def _told(rows: Ints, width: int, choice: Ints) -> Determined:
    values = _product(choice[None], rows)[0]
    factors = [fraction(int(value)) for value in values[width:]]
    # One that is no fraction of small numbers is given up, as nobody could follow it.
    return Determined(
        tuple(int(column) for column in np.flatnonzero(values[:width])),
        tuple(factor if factor is not None else Fraction(0) for factor in factors),
    )


def _holds(one: Determined, block: Block) -> bool:
    """Return whether a set follows in whole numbers too, and not only modulo a prime."""
    common = int(np.lcm.reduce([factor.denominator for factor in one.factors]))
    factors = np.array([int(factor * common) for factor in one.factors], dtype=np.int64)
    wanted = np.zeros(len(block.forms), dtype=np.int64)
    wanted[list(one.columns)] = common
    return bool(np.array_equal(block.forms @ factors, wanted) and not np.any(block.ties @ factors))


def _product(first: Ints, second: Ints) -> Ints:
    """Return the product of two matrices modulo the prime."""
    # Halves of 16 bits, so that sums of many products stay below 64 bits.
    high, low = np.divmod(np.asarray(first, dtype=np.int64), 1 << 16)
    product: Ints = ((high @ second % PRIME << 16) + low @ second) % PRIME
    return product
