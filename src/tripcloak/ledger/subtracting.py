"""What readers learn by subtracting: remainders of published flows against those that lie inside them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tripcloak.ledger.facts import Fact, Kind, Term
from tripcloak.ledger.outlines import HAIR, NEARLY, Overlaps, overlaps
from tripcloak.ledger.published import PublicTable

MANY = 64
"""Flows that are added up to hold others, at most."""

Flow = tuple[int, int]
"""A published flow: its table, and its row there."""


class Remainder(NamedTuple):
    """A difference of published numbers: what was added, what was subtracted, and what may be missing.

    What is left of some flows less their parts is at least the difference, and at most as many more as parts
    may hold that are withheld in the flows. Where numbers are rounded it may be less, or more.
    """

    holds: tuple[Flow, ...]
    parts: tuple[Flow, ...]
    trips: int
    missing: float
    less: int = 0

    @property
    def impossible(self) -> bool:
        """Return whether the parts cannot lie in what is said to hold them."""
        return self.trips + self.missing < 0

    def proves(self, k: int) -> bool:
        """Return whether there must be some trips, and fewer than k."""
        return self.trips > self.less and self.trips + self.missing < k

    def fact(self, tables: Sequence[PublicTable]) -> Fact:
        """Return it as a fact."""
        terms = [
            Term(factor, table, row, int(tables[table].trips[row]))
            for factor, flows in ((1, self.holds), (-1, self.parts))
            for table, row in flows
        ]
        least, most = self.trips - self.less, self.trips + int(self.missing)
        kind: Kind = "exact" if least == most else "between"
        # Whoever made so few trips is no more people than that.
        return Fact(kind=kind, least=least, most=most, people=most, terms=tuple(terms))


class Subtraction:
    """A table whose flows hold those of others, which have no trip in common among themselves.

    Parameters
    ----------
    tables
        All published tables.
    whole
        Which of them holds.
    family
        Which of them are subtracted.
    areas
        Which zones overlap.
    """

    def __init__(
        self, tables: Sequence[PublicTable], whole: int, family: Sequence[int], areas: Areas
    ) -> None:
        self.tables, self.whole, self.family, self.areas = tables, whole, tuple(family), areas
        table = tables[whole]
        self._rows: dict[tuple[int, int, str | None], list[int]] = {}
        for row, (origin, destination) in enumerate(zip(*table.flows, strict=True)):
            time = None if table.times is None else table.times[row]
            self._rows.setdefault((int(origin), int(destination), time), []).append(row)

    def remainders(self) -> Iterator[Remainder]:
        """Yield what is left of flows, and of flows taken together, less all that lies inside them."""
        parts: dict[int, list[Flow]] = {}
        likely: dict[int, list[Flow]] = {}
        across: dict[frozenset[int], list[Flow]] = {}
        for number in self.family:
            self._sort(number, parts, likely, across)
        for row, inside in parts.items():
            yield self._remainder(frozenset([row]), inside, self._missing)
        for row, more in likely.items():
            yield self._remainder(frozenset([row]), [*parts.get(row, ()), *more], math.inf)
        for holds in _together(across):
            inside = [flow for row in sorted(holds) for flow in parts.get(row, ())]
            inside += [flow for rows, flows in across.items() if rows <= holds for flow in flows]
            yield self._remainder(holds, inside, self._missing)

    @property
    def _missing(self) -> float:
        """Return how many trips of parts may be missing in the flows that hold them.

        A box is of tiles whose centres lie in it: a trip may lie outside, in a zone of other tiles.
        """
        table = self.tables[self.whole]
        if table.sums_of and all(self.tables[number].sums_of == table.sums_of for number in self.family):
            return 0
        drawn = (self.tables[number] for number in self.family)
        elsewhere = any(math.isinf(one.missing) and one.tiles != table.tiles for one in drawn)
        return math.inf if elsewhere else table.missing

    def _remainder(self, rows: frozenset[int], inside: Sequence[Flow], missing: float) -> Remainder:
        holds = tuple((self.whole, row) for row in sorted(rows))
        told = self._sum("trips", holds) - self._sum("trips", inside)
        less = told - (self._sum("least", holds) - self._sum("most", inside))
        more = self._sum("most", holds) - self._sum("least", inside) - told
        return Remainder(holds, tuple(sorted(inside)), told, missing + more, less)

    def _sum(self, what: str, flows: Sequence[Flow]) -> int:
        """Return the sum of published numbers, or of the least or the greatest that they stand for."""
        if what == "trips":
            return sum(int(self.tables[number].trips[row]) for number, row in flows)
        return sum(getattr(self.tables[number], what)(row) for number, row in flows)

    def _sort(
        self,
        number: int,
        parts: dict[int, list[Flow]],
        likely: dict[int, list[Flow]],
        across: dict[frozenset[int], list[Flow]],
    ) -> None:
        """Sort the flows of a table: inside one, nearly so, or across several that hold it together."""
        table, timed = self.tables[number], self.tables[self.whole].times is not None
        if timed and (table.times is None or table.clock != self.tables[self.whole].clock):
            return
        sides = [self.areas.shared(table, self.tables[self.whole], axis) for axis in (0, 1)]
        within, nearly = ([side.inside(outside) for side in sides] for outside in (HAIR, NEARLY))
        over = [side.of_each() for side in sides]
        for row, ends in enumerate(zip(*table.flows, strict=True)):
            origin, destination = map(int, ends)
            time = table.times[row] if timed and table.times is not None else None
            held = self._held(within[0].get(origin, ()), within[1].get(destination, ()), time)
            close = self._held(nearly[0].get(origin, ()), nearly[1].get(destination, ()), time)
            if held:
                parts.setdefault(held[0], []).append((number, row))
            elif close:
                likely.setdefault(close[0], []).append((number, row))
            elif rows := self._covered(over[0].get(origin, ()), over[1].get(destination, ()), time):
                across.setdefault(rows, []).append((number, row))

    def _held(self, origins: Sequence[int], destinations: Sequence[int], time: str | None) -> list[int]:
        return [
            row
            for origin in origins
            for destination in destinations
            for row in self._rows.get((origin, destination, time), ())
        ]

    def _covered(
        self,
        origins: Sequence[tuple[int, float]],
        destinations: Sequence[tuple[int, float]],
        time: str | None,
    ) -> frozenset[int] | None:
        """Return the flows that together hold all of one; None where some of it is in none of them."""
        if math.isinf(self.tables[self.whole].missing) or len(origins) * len(destinations) > MANY:
            return None
        share = 0.0
        rows: set[int] = set()
        for origin, a in origins:
            for destination, b in destinations:
                found = self._rows.get((origin, destination, time), ())
                rows.update(found)
                share += a * b * len(found)
        return frozenset(rows) if share >= 1 - HAIR else None


def _together(across: dict[frozenset[int], list[Flow]]) -> list[frozenset[int]]:
    """Return sets of flows to be added up: those that hold one flow, and all that hang together by such."""
    joined: list[set[int]] = []
    for rows in across:
        touching = [one for one in joined if one & rows]
        joined = [one for one in joined if not one & rows] + [set(rows).union(*touching)]
    found = {*across, *(frozenset(one) for one in joined)}
    return sorted((one for one in found if len(one) <= MANY), key=lambda one: (len(one), sorted(one)))


class Areas:
    """Which zones of two tables overlap, found once for all tables with the same zones."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Overlaps] = {}

    def shared(self, one: PublicTable, other: PublicTable, axis: int) -> Overlaps:
        """Return which zones of two tables overlap on an axis."""
        key = id(one.shapes[axis]), id(other.shapes[axis])
        if key not in self._known:
            self._known[key] = overlaps(one.shapes[axis], other.shapes[axis])
        return self._known[key]
