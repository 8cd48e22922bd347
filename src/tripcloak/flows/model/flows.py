"""From one row per trip to one row per flow, and what weights say about people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import mask_small

AT_ONCE = 1 << 20
"""Keys that are numbered at once."""


class Numbering:
    """Numbers keys by first appearance, over as many batches as there are.

    Examples
    --------
    >>> numbering = Numbering()
    >>> numbering.add(np.array([70, 50, 70], dtype=np.uint64)).tolist()
    [0, 1, 0]
    >>> numbering.add(np.array([50, 90], dtype=np.uint64)).tolist(), numbering.keys.tolist()
    ([1, 2], [70, 50, 90])
    """

    def __init__(self) -> None:
        self._n = 0
        self._found = np.empty(0, np.int64)
        self._slot_key = np.empty(0, np.int64)
        self._slot_number = np.empty(0, np.int32)

    def __len__(self) -> int:
        return self._n

    @property
    def keys(self) -> Ints:
        """Return the keys by number."""
        return self._found[: self._n].view(np.uint64)

    @property
    def table(self) -> tuple[Ints, Ints]:
        """Return the hash table itself, for compiled loops that look keys up one by one."""
        self._make_room(1)
        return self._slot_key, self._slot_number

    def add(self, keys: Ints) -> Ints:
        """Return the number of every key; the largest 64-bit value is no key and gets -1."""
        from tripcloak.flows.model._kernels import number_into

        number = np.empty(len(keys), np.int32)
        signed = np.require(keys, np.uint64, ["C", "W"]).view(np.int64)
        # Some at a time: of many keys most are nearly always known by then, and need no room.
        for start in range(0, len(keys), AT_ONCE):
            some, told = signed[start : start + AT_ONCE], number[start : start + AT_ONCE]
            self._make_room(self._n + len(some))
            self._n = number_into(some, self._slot_key, self._slot_number, self._found, self._n, told)
        return number

    def find(self, keys: Ints) -> Ints:
        """Return the number of every key, -1 for those never added.

        >>> numbering = Numbering()
        >>> _ = numbering.add(np.array([70, 50], dtype=np.uint64))
        >>> numbering.find(np.array([50, 60], dtype=np.uint64)).tolist()
        [1, -1]
        """
        from tripcloak.flows.model._kernels import look_up

        self._make_room(1)
        return look_up(
            np.ascontiguousarray(keys, dtype=np.uint64).view(np.int64), self._slot_key, self._slot_number
        )

    def _make_room(self, needed: int) -> None:
        """Keep the table at most half full whatever the next batch brings."""
        from tripcloak.flows.model._kernels import number_into

        if needed <= len(self._found):
            return
        known = self._found[: self._n]
        room = 1 << (needed - 1).bit_length()
        self._found = np.empty(room, np.int64)
        self._slot_key = np.full(2 * room, -1, np.int64)
        self._slot_number = np.empty(2 * room, np.int32)
        number_into(known, self._slot_key, self._slot_number, self._found, 0, np.empty(len(known), np.int32))


NOBODY = -1
"""The person code of a trip without an id: its volume counts, but it adds no traveller."""

KEY_BITS = 63
"""Bits a packed (origin, destination, slot, person) key may take."""


class Travellers(NamedTuple):
    """Who is in which flow: ``people[offsets[i]:offsets[i + 1]]``, ascending, each person once a flow."""

    offsets: Ints
    people: Ints


@dataclass(frozen=True, eq=False)
class Flows:
    """Flows sorted by origin, destination and, where there is one, slot of time, each combination once.

    ``repeats`` says how many trips each of the ``travellers.people`` makes in their flow, and ``weights`` the
    population that they stand for there, where somebody asked for that.
    """

    origin: Ints
    destination: Ints
    trips: Ints
    population: Floats | None = None
    travellers: Travellers | None = None
    slot: Ints | None = None
    repeats: Ints | None = None
    weights: Floats | None = None

    def __repr__(self) -> str:
        return f"<Flows: {mask_small(len(self.trips))}>"

    def only(self, rows: Ints) -> Flows:
        """Return some of the flows, given by their ascending rows."""
        from tripcloak.flows.model._kernels import pieces_of

        parts: dict[str, Any] = {}
        if self.travellers is not None:
            offsets, people = self.travellers
            first = offsets[rows]
            sizes = offsets[rows + 1] - first
            edges = np.concatenate(([0], np.cumsum(sizes)))
            for name in ("repeats", "weights"):
                column = getattr(self, name)
                parts[name] = None if column is None else pieces_of(column, first, edges)
            parts["travellers"] = Travellers(edges, pieces_of(people, first, edges))
        return Flows(
            origin=self.origin[rows],
            destination=self.destination[rows],
            trips=self.trips[rows],
            population=None if self.population is None else self.population[rows],
            slot=None if self.slot is None else self.slot[rows],
            **parts,
        )

    def between(self, first: int, last: int) -> Flows:
        """Return the flows from one row to before another, whose columns are views of these."""
        told: dict[str, Any] = {
            name: None if (column := getattr(self, name)) is None else column[first:last]
            for name in ("origin", "destination", "trips", "population", "slot")
        }
        if self.travellers is not None:
            offsets, people = self.travellers
            own = slice(int(offsets[first]), int(offsets[last]))
            told["travellers"] = Travellers(offsets[first : last + 1] - own.start, people[own])
            for name in ("repeats", "weights"):
                told[name] = None if (column := getattr(self, name)) is None else column[own]
        return Flows(**told)

    @classmethod
    def join(cls, parts: Sequence[Flows]) -> Flows:
        """Return the flows of parts whose origins ascend from one part to the next."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            origin=np.concatenate([p.origin for p in parts]),
            destination=np.concatenate([p.destination for p in parts]),
            trips=np.concatenate([p.trips for p in parts]),
            population=_join_columns([p.population for p in parts if p.population is not None]),
            travellers=_join_travellers([p.travellers for p in parts if p.travellers is not None]),
            slot=_join_columns([p.slot for p in parts if p.slot is not None]),
            repeats=_join_columns([p.repeats for p in parts if p.repeats is not None]),
            weights=_join_columns([p.weights for p in parts if p.weights is not None]),
        )


class FlowsKept(Protocol):
    """Keeps columns that grow at the end, until they are said to be whole."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns."""

    def finish(self) -> None:
        """Say that the columns are whole."""

    def append(self, name: str, part: Ints | Floats) -> None:
        """Add to the end of a column."""

    def column(self, name: str) -> Any:
        """Return a whole column."""


COLUMNS = ("origin", "destination", "trips", "population", "slot", "repeats", "weights")


def gather_flows(parts: Iterable[Flows], kept: FlowsKept) -> Flows:
    """Return the flows of parts whose origins ascend, each kept as soon as it is there.

    Never more than one part is in memory beside what ``kept`` itself holds there.
    """
    people = 0
    for number, part in enumerate(parts):
        for name in COLUMNS:
            column = getattr(part, name)
            if column is not None:
                kept.append(name, column)
        if part.travellers is not None:
            offsets = part.travellers.offsets + people
            kept.append("offsets", offsets if number == 0 else offsets[1:])
            kept.append("people", part.travellers.people)
            people = int(offsets[-1])
    kept.finish()
    return kept_flows(kept)


def kept_flows(kept: FlowsKept) -> Flows:
    """Return flows whose columns are all kept."""
    found = {name: kept.column(name) for name in kept.names}
    if "offsets" in found:
        found["travellers"] = Travellers(found.pop("offsets"), found.pop("people"))
    return Flows(**found)


def flows_from_trips(
    origin: Ints,
    destination: Ints,
    *,
    slot: Ints | None = None,
    person: Ints | None = None,
    weight: Floats | None = None,
    trips: Ints | None = None,
    repeats: bool = False,
    weights: bool = False,
    flow_of: Ints | None = None,
) -> Flows:
    """Return the flows of trips given as integer codes.

    Parameters
    ----------
    origin, destination
        Tile codes per row, from 0 and below 2**31.
    slot
        Code of the slot of time per row, likewise; flows are then told apart by it as well.
    person
        Person code per row, from 0 and below 2**31; ``NOBODY`` where there is no id.
    weight
        Population each row stands for, zero or more.
    trips
        Trips each row stands for, one or more; 1 by default.
    repeats
        Whether to keep how many trips each traveller makes in each flow.
    weights
        Whether to keep how much population each traveller stands for in each flow.
    flow_of
        An array for the flow of every row; left as it is where codes are too large for keys of one number.

    Examples
    --------
    >>> flows = flows_from_trips(np.array([1, 0, 1]), np.array([0, 0, 0]), person=np.array([4, 4, 4]))
    >>> flows.origin.tolist(), flows.trips.tolist(), flows.travellers.people.tolist()
    ([0, 1], [1, 2], [4, 4])
    """
    from tripcloak.flows.model._kernels import people_of_runs, sort_keys, starts_of_runs, sum_runs

    _check_rows((origin, destination, slot), person, weight, trips)
    bits = _bits(destination), _bits(slot)
    p_bits = 0 if person is None else _bits(person) + 1
    if _bits(origin) + sum(bits) + p_bits > KEY_BITS:
        columns = {"person": person, "weight": weight, "trips": trips}
        if slot is not None:
            return _numbered(origin, destination, slot, (repeats, weights), **columns)
        return _by_pieces(origin, destination, (repeats, weights), **columns)
    key = _packed(origin, destination, slot, bits)
    made, stood_for, travellers = None, None, None
    if person is not None and repeats and trips is not None:
        made = _repeats(key, person, trips)
    if person is not None and weights and weight is not None:
        stood_for = _weights(key, person, weight)
    if person is not None:
        # Shifted by one so that NOBODY becomes 0 and sorts first.
        code = person.astype(np.int64)
        code += 1
        key <<= np.uint64(p_bits)
        key |= code.view(np.uint64)
        del code
    order = None
    if weight is None and trips is None and flow_of is None:
        key.sort()
    else:
        key, order = sort_keys(key, _bits(origin) + sum(bits) + p_bits)
        weight = None if weight is None else weight[order].astype(np.float64, copy=False)
        trips = None if trips is None else trips[order]
    starts = starts_of_runs(key, p_bits)
    pair = key[starts] >> np.uint64(p_bits)
    if flow_of is not None:
        flow_of[order] = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(starts, append=len(key)))
    if person is not None:
        offsets, people, rows = people_of_runs(key, starts, p_bits)
        travellers = Travellers(offsets, people)
        made = rows if repeats and made is None else made
    return Flows(
        origin=(pair >> np.uint64(sum(bits))).astype(np.int32),
        destination=_field(pair, bits[1], bits[0]),
        slot=None if slot is None else _field(pair, 0, bits[1]),
        trips=_run_sums(np.ones(0, np.int64) if trips is None else trips.astype(np.int64), starts, len(key)),
        population=None if weight is None else sum_runs(weight, starts),
        travellers=travellers,
        repeats=made,
        weights=stood_for,
    )


def _check_rows(
    tiles: tuple[Ints, Ints, Ints | None], person: Ints | None, weight: Floats | None, trips: Ints | None
) -> None:
    """Refuse rows that would pack into a wrong key, or take away from what other rows add."""
    columns = [column for column in (*tiles, person, weight, trips) if column is not None]
    if len({len(column) for column in columns}) != 1:
        raise InputError("origin, destination, slot, person, weight and trips need one value a row each")
    if len(tiles[0]) == 0:
        return
    for codes, lowest in (*((tile, 0) for tile in tiles), (person, NOBODY)):
        if codes is not None and (codes.min() < lowest or codes.max() >= 2**31):
            raise InputError("tile and person codes must be 0 or more and below 2**31; at least one is not")
    if trips is not None and (trips.dtype.kind not in "iu" or trips.min() < 1):
        raise InputError("every row must stand for one or more whole trips; at least one does not")
    if weight is not None and not (np.isfinite(weight).all() and weight.min() >= 0):
        raise InputError("every weight must be a finite number of zero or more; at least one is not")


def _packed(origin: Ints, destination: Ints, slot: Ints | None, bits: tuple[int, int]) -> Ints:
    """Return keys whose order is that of origin, destination and slot."""
    key: Ints = origin.astype(np.uint64)
    for code, width in ((destination, bits[0]), (slot, bits[1])):
        if code is not None:
            key <<= np.uint64(width)
            key |= code.astype(np.uint64)
    return key


def _field(key: Ints, shift: int, width: int) -> Ints:
    """Return the codes that lie in ``width`` bits of packed keys."""
    return ((key >> np.uint64(shift)) & np.uint64((1 << width) - 1)).astype(np.int32)


def _repeats(pair: Ints, person: Ints, trips: Ints) -> Ints:
    """Return the trips of every person in every pair, by pair and person; those of nobody are left out."""
    known = person != NOBODY
    order, starts = _by_person(pair[known], person[known])
    return _run_sums(trips[known][order].astype(np.int64), starts, len(order))


def _weights(pair: Ints, person: Ints, weight: Floats) -> Floats:
    """Return the population that every person stands for in every pair, likewise."""
    from tripcloak.flows.model._kernels import sum_runs

    known = person != NOBODY
    order, starts = _by_person(pair[known], person[known], weight[known])
    return sum_runs(weight[known][order].astype(np.float64), starts)


def _by_person(pair: Ints, person: Ints, *within: Floats) -> tuple[Ints, Ints]:
    """Return the order of rows by pair and person, and where each of them starts."""
    order = np.lexsort((*within, person, pair))
    pair, person = pair[order], person[order]
    first = np.append(True, (pair[1:] != pair[:-1]) | (person[1:] != person[:-1]))[: len(pair)]
    return order, np.flatnonzero(first)


def _run_sums(values: Ints, starts: Ints, n: int) -> Ints:
    return np.add.reduceat(values, starts) if len(values) else np.diff(np.concatenate((starts, [n])))


def _bits(codes: Ints | None) -> int:
    return 0 if codes is None else int(codes.max(initial=0)).bit_length()


def _numbered(
    origin: Ints, destination: Ints, slot: Ints, kept: tuple[bool, bool], **columns: Ints | Floats | None
) -> Flows:
    """Return the same flows by numbering the (destination, slot) that occur, which takes fewer bits."""
    bits = _bits(destination), _bits(slot)
    found, number = np.unique(_packed(destination, slot, None, (bits[1], 0)), return_inverse=True)
    flows = flows_from_trips(origin, number, repeats=kept[0], weights=kept[1], **columns)
    ends = found[flows.destination]
    return replace(flows, destination=_field(ends, bits[1], bits[0]), slot=_field(ends, 0, bits[1]))


def _by_pieces(
    origin: Ints, destination: Ints, kept: tuple[bool, bool], **columns: Ints | Floats | None
) -> Flows:
    """Return the same flows origin by origin block, so that a packed key fits 64 bits."""
    people = 0 if columns["person"] is None else _bits(columns["person"]) + 1
    room = KEY_BITS - _bits(destination) - people
    if room < 1:
        raise InputError(f"more tiles times people than {KEY_BITS} bits can number; use coarser tiles")
    parts = []
    block = origin.astype(np.int64) >> room
    for number in np.unique(block):
        rows = np.flatnonzero(block == number)
        base = int(number) << room
        picked = {name: None if column is None else column[rows] for name, column in columns.items()}
        part = flows_from_trips(
            origin[rows] - base, destination[rows], repeats=kept[0], weights=kept[1], **picked
        )
        parts.append(replace(part, origin=part.origin + np.int32(base)))
    return Flows.join(parts)


def _join_columns(columns: Sequence[Floats]) -> Floats | None:
    return np.concatenate(columns) if columns else None


def _join_travellers(parts: Sequence[Travellers]) -> Travellers | None:
    if not parts:
        return None
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    return Travellers(
        np.concatenate(([0], np.cumsum(sizes))), np.concatenate([part.people for part in parts])
    )


class Represented(NamedTuple):
    """People who carry a weight, and the population that they stand for together.

    Where nobody is told apart, every trip stands for its own people.

    Examples
    --------
    >>> Represented(people=4, population=10_000.0).mean
    2500.0
    """

    people: int
    population: float

    @property
    def mean(self) -> float:
        """Return the population that one of them stands for on average."""
        return self.population / self.people


class WeightsSeen:
    """The weights that were seen with every person.

    Parameters
    ----------
    people
        How many person codes there are.

    Examples
    --------
    >>> seen = WeightsSeen(3)
    >>> seen.add(np.array([0, 0, 1, 2]), np.array([5.0, 5.0, 0.0, 1.0]))
    >>> seen.add(np.array([2]), np.array([3.0]))
    >>> seen.represented, seen.uneven, seen.zero
    (Represented(people=3, population=8.0), 1, 1)
    """

    def __init__(self, people: int) -> None:
        self._least, self._most = np.full(people, np.inf), np.full(people, -np.inf)
        self.zero_rows = 0

    def add(self, person: Ints, weight: Floats) -> None:
        """Look at rows: who, and with which weight; what rows of nobody weigh is no person's weight."""
        self.zero_rows += int(np.count_nonzero(weight == 0))
        known = person != NOBODY
        person, weight = person[known], weight[known]
        np.minimum.at(self._least, person, weight)
        np.maximum.at(self._most, person, weight)

    @property
    def represented(self) -> Represented | None:
        """Return the people seen, each with the largest of their weights; None where there are none.

        Sorted before they are added up: the sum must not depend on how people are numbered.
        """
        weights = np.sort(self._most[self._most >= 0])
        return Represented(len(weights), float(weights.sum())) if len(weights) else None

    @property
    def uneven(self) -> int:
        """Return how many people have more than one weight."""
        return int(np.count_nonzero(self._least < self._most))

    @property
    def zero(self) -> int:
        """Return how many people stand for nobody in at least one row."""
        return int(np.count_nonzero(self._least == 0))


class WeightsTold(NamedTuple):
    """What :class:`WeightsSeen` tells of all people, where they were looked at elsewhere."""

    represented: Represented | None
    uneven: int
    zero: int
    zero_rows: int


def represented_by(flows: Flows, seen: WeightsSeen | WeightsTold | None) -> Represented | None:
    """Return what the weights say about people, or about trips where no person was seen with a weight."""
    if flows.population is None:
        return None
    people = None if seen is None else seen.represented
    return people or Represented(int(flows.trips.sum()), float(flows.population.sum()))
