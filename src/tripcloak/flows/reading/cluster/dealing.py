"""The second step on a cluster: rows are dealt out to ranges of pairs of tiles, each counted alone."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripcloak.flows.reading.cluster.reading import NO_ID
from tripcloak.flows.reading.cluster.seen import Seen
from tripcloak.flows.reading.coded_rows import END_COLUMNS
from tripcloak.ground.arrays import Ints

PART_ROWS = 1_000_000
"""Rows of a part, about."""
HELD = 1 << 27
"""Bytes of dealt rows that a task holds before it hands them over."""
PERSON = np.dtype([("person", np.uint64), ("least", np.float64), ("most", np.float64)])
"""What is to be known of a person's weights."""


@dataclass(frozen=True, eq=False)
class TileTable:
    """Which tile every key is: keys ascending."""

    keys: Ints
    tiles: Ints

    @classmethod
    def of(cls, keys: Ints, tiles: Ints) -> TileTable:
        """Return the table of keys in any order."""
        order = np.argsort(keys)
        return cls(keys[order], tiles[order])

    def find(self, keys: Ints) -> Ints:
        """Return the tile of every key; all must be known."""
        found: Ints = self.tiles[np.searchsorted(self.keys, keys)]
        return found


@dataclass(frozen=True, eq=False)
class Parts:
    """Ranges of pairs of tiles in their order; a pair that alone fills several parts has a range to itself.

    Attributes
    ----------
    edges : array
        The first pair of every range but the first.
    first : array
        The number of the first part of every range, and of the one behind the last.

    Examples
    --------
    >>> pairs = np.array([1, 5, 5, 5, 5, 5, 5, 9])
    >>> parts = Parts.of(pairs, rows=8, each=2)
    >>> parts.edges.tolist(), parts.first.tolist()
    ([5, 6], [0, 1, 4, 5])
    >>> parts.place(pairs, np.arange(8)).tolist()
    [0, 2, 3, 1, 2, 3, 1, 4]
    """

    edges: Ints
    first: Ints

    @classmethod
    def of(cls, pairs: Ints, rows: int, each: int) -> Parts:
        """Return parts of about so many rows each, by a sample of the pairs of all rows."""
        wanted = 1 + (rows - 1) // each
        pairs = np.sort(pairs)
        cuts = pairs[np.arange(1, wanted) * len(pairs) // wanted]
        again = np.unique(cuts[1:][cuts[1:] == cuts[:-1]])
        # A pair at several cuts is alone in its range, and the range is shared out by person.
        edges = np.unique(np.concatenate([cuts, again + 1]))
        begins = np.concatenate([[np.iinfo(np.int64).min], edges])
        share = np.searchsorted(pairs, again, "right") - np.searchsorted(pairs, again)
        widths = np.ones(len(begins), np.int64)
        widths[np.searchsorted(begins, again)] = np.maximum(1, -(-share * wanted // max(len(pairs), 1)))
        return cls(edges, np.concatenate([[0], np.cumsum(widths)]))

    def __len__(self) -> int:
        return int(self.first[-1])

    @property
    def shared(self) -> Ints:
        """Return, for every part, the range it is of."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def place(self, pair: Ints, who: Ints) -> Ints:
        """Return the part of every row; rows of one pair and person are never parted."""
        among = np.searchsorted(self.edges, pair, side="right")
        width = np.diff(self.first)[among]
        return self.first[among] + (who.astype(np.uint64) % width.astype(np.uint64)).astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class DealingPlan:
    """How rows are dealt out; the same for all tasks."""

    origins: TileTable
    destinations: TileTable
    slots: Ints | None
    parts: Parts
    people_parts: int
    """Parts behind the others, in which the weights of people are put together."""
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return len(self.parts) + self.people_parts


def row_dtype(columns: Iterable[str], types: dict[str, Any]) -> np.dtype[Any]:
    """Return the type of a row that is dealt out, with tiles in place of numbers and hashes for people."""
    kinds = {**types, "slot": np.int32, "person": np.uint64}
    return np.dtype([(name, kinds[name]) for name in columns])


def deal_rows(plan: DealingPlan, coded: Iterator[tuple[Seen, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the number of a part with rows of it; runs on the cluster."""
    held: dict[int, list[bytes]] = defaultdict(list)
    size = 0
    for _, pickled in coded:
        if not pickled:
            continue
        rows = _rows(plan, pickle.loads(pickled))
        part = plan.parts.place(pair_numbers(rows), _who(rows))
        size += _hold(held, rows, part)
        if plan.people_parts:
            people = _people(rows)
            part = len(plan.parts) + (people["person"] % np.uint64(plan.people_parts)).astype(np.int64)
            size += _hold(held, people, part)
        if size > HELD:
            yield from ((number, b"".join(pieces)) for number, pieces in held.items())
            held.clear()
            size = 0
    yield from ((number, b"".join(pieces)) for number, pieces in held.items())


def pair_numbers(rows: Any) -> Ints:
    """Return numbers that sort as the pairs of tiles of rows do."""
    pairs: Ints = (rows["origin"].astype(np.int64) << 32) | rows["destination"]
    return pairs


def _rows(plan: DealingPlan, columns: dict[str, Ints]) -> Any:
    """Return coded rows with tiles in place of numbers."""
    rows = np.empty(len(columns["origin"]), plan.dtype)
    for end, table in (("origin", plan.origins), ("destination", plan.destinations)):
        keys = columns.pop(f"{end}_keys")
        columns[end] = table.find(keys)[columns[end]]
    if plan.slots is not None:
        columns["slot"] = np.searchsorted(plan.slots, columns["slot"])
    for name in plan.dtype.names or ():
        rows[name] = columns.pop(name)
    return rows


def _who(rows: Any) -> Ints:
    """Return a number that rows of one person share, and equal rows of nobody, whatever task reads them."""
    names = rows.dtype.names
    told = np.zeros(len(rows), np.uint64)
    for name in END_COLUMNS if "o_lat" in names else ():
        told = told * np.uint64(0x9E3779B97F4A7C15) + rows[name].astype(np.int64).view(np.uint64)
    told ^= told >> np.uint64(29)
    return np.where(rows["person"] == NO_ID, told, rows["person"]) if "person" in names else told


def _hold(held: dict[int, list[bytes]], rows: Any, part: Ints) -> int:
    """Keep rows by part, and return how many bytes they are."""
    order = np.argsort(part.astype(np.int32), kind="stable")
    rows, part = rows[order], part[order]
    starts = np.flatnonzero(np.append(True, part[1:] != part[:-1])[: len(part)])
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(part)], strict=True):
        held[int(part[start])].append(rows[start:end].tobytes())
    return int(rows.nbytes)


def _people(rows: Any) -> Any:
    """Return the least and the most that everybody weighs in some rows."""
    known = rows["person"] != NO_ID
    who, number = np.unique(rows["person"][known], return_inverse=True)
    people = np.empty(len(who), PERSON)
    people["person"], people["least"], people["most"] = who, np.inf, -np.inf
    np.minimum.at(people["least"], number, rows["weight"][known])
    np.maximum.at(people["most"], number, rows["weight"][known])
    return people
