"""The third step on a cluster: every part is counted exactly, and what goes to the driver is flows."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tripcloak.engines.spool import Spool
from tripcloak.flows.model import Flows, Numbering, flows_from_trips
from tripcloak.flows.reading.cluster.dealing import PERSON, DealingPlan
from tripcloak.flows.reading.cluster.reading import NO_ID
from tripcloak.flows.reading.coded_rows import END_COLUMNS
from tripcloak.flows.reading.repeats import REPEATED, find_repeated
from tripcloak.ground.arrays import Bools, Ints

SEGMENTS = "flows of segments"
"""What flows of segments are told as."""
ENDS_A_PIECE = 1 << 18
"""Raw ends of trips that go to the driver at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CountingPlan:
    """What is counted of every part; the same for all tasks."""

    dealing: DealingPlan
    files: int
    repeats: bool
    weights: bool

    @property
    def slots(self) -> int:
        """Return how many slots of time there are; 0 where time is no axis."""
        return 0 if self.dealing.slots is None else len(self.dealing.slots)

    def in_segments(self, segment: Ints, slot: Ints | None) -> Ints:
        """Return slots that are those of a segment alone."""
        own: Ints = segment.astype(np.int32) * np.int32(self.slots or 1)
        return own if slot is None else own + slot

    @property
    def ends(self) -> np.dtype[Any] | None:
        """Return what is kept of a trip for measures in metres; None where places are not points."""
        kinds = self.dealing.dtype
        if "o_lat" not in (kinds.names or ()):
            return None
        told = ("origin", "destination", *END_COLUMNS, "weight", "slot")
        kept = [(name, kinds[name]) for name in told if name in (kinds.names or ())]
        return np.dtype([*kept, ("gone", np.dtype(np.bool_))])


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeated:
    """What became of rows of the same trip, by reason and file; whose they were; how many are nobody's."""

    moved: Ints
    without_id: Ints
    people: dict[int, Ints] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightsPart:
    """What people of one part weigh: the largest weight of each, as values and how many have it."""

    most: Ints
    times: Ints
    uneven: int
    zero: int


@dataclass(frozen=True, kw_only=True, eq=False)
class FlowsPart:
    """The flows of one part.

    ``people`` are the hashes behind the numbers in the flows' travellers. Where a pair fills several parts,
    ``values`` and ``times`` say flow by flow, as far as ``runs``, which weights occur in it and how often.
    """

    range: int
    flows: Flows
    people: Ints | None
    runs: Ints | None = None
    values: Ints | None = None
    times: Ints | None = None


def count_part(
    plan: CountingPlan, part: int, dealt: Iterator[tuple[int, bytes]]
) -> Iterator[tuple[str, bytes]]:
    """Yield what the driver must know of a part, pickled, each with what it is; runs on the cluster."""
    pieces = b"".join(piece for _, piece in dealt)
    if not pieces:
        return
    if part >= len(plan.dealing.parts):
        yield "weights", pickle.dumps(_weights(np.frombuffer(pieces, PERSON)))
        return
    rows = np.frombuffer(pieces, plan.dealing.dtype)
    people = Numbering()
    person = people.add(rows["person"]) if "person" in (rows.dtype.names or ()) else None
    repeated = _repeated(rows, person)
    yield "repeated", pickle.dumps(_repeats_told(plan, rows, repeated))
    if plan.ends is not None:
        yield from (("ends", piece) for piece in _ends(plan.ends, rows, repeated > 0))
    slot = np.ascontiguousarray(rows["slot"]) if "slot" in (rows.dtype.names or ()) else None
    yield "flows", pickle.dumps(_flows(plan, part, rows, person, people, repeated == 0, slot), protocol=5)
    if "segment" in (rows.dtype.names or ()):
        # As if each segment were a slot of its own; rows of the same trip may be in several.
        stay, slot = _repeated(rows, person, "segment") == 0, plan.in_segments(rows["segment"], slot)
        told = _flows(replace(plan, repeats=False, weights=False), part, rows, person, people, stay, slot)
        yield SEGMENTS, pickle.dumps(told, protocol=5)


def _ends(kinds: np.dtype[Any], rows: Any, gone: Bools) -> Iterator[bytes]:
    """Yield what is kept of trips for measures in metres, piece by piece."""
    ends = np.empty(len(rows), kinds)
    for name in kinds.names or ():
        ends[name] = gone if name == "gone" else rows[name]
    for start in range(0, len(ends), ENDS_A_PIECE):
        yield ends[start : start + ENDS_A_PIECE].tobytes()


def _repeated(rows: Any, person: Ints | None, *also: str) -> Ints:
    """Return why each row goes beside another one of the same trip; 0 if it stays.

    Parameters
    ----------
    also
        What tells trips apart besides.
    """
    names = rows.dtype.names
    if "mark" not in names:
        return np.zeros(len(rows), np.uint8)
    compared = [name for name in ("mark", "origin", "destination", "refund", "file", *also) if name in names]
    kinds = {name: rows.dtype[name] for name in compared} | ({} if person is None else {"person": np.int32})
    spool = Spool(kinds, memory=1 << 40)
    spool.append(**{name: rows[name] for name in compared}, **({} if person is None else {"person": person}))
    return find_repeated(spool, memory=1 << 40)


def _repeats_told(plan: CountingPlan, rows: Any, repeated: Ints) -> Repeated:
    names = rows.dtype.names
    file = rows["file"] if "file" in names else np.zeros(len(rows), np.int32)
    nobody = rows["person"] == NO_ID if "person" in names else np.zeros(len(rows), bool)
    return Repeated(
        moved=np.stack([_by_file(file[repeated == reason], plan.files) for reason in REPEATED]),
        without_id=_by_file(file[nobody & (repeated == 0)], plan.files),
        people={
            reason: np.unique(rows["person"][(repeated == reason) & ~nobody])
            for reason in (REPEATED if "person" in names else ())
        },
    )


def _by_file(file: Ints, files: int) -> Ints:
    return np.bincount(file, minlength=files).astype(np.int64)


def _flows(
    plan: CountingPlan,
    part: int,
    rows: Any,
    person: Ints | None,
    people: Numbering,
    stay: Bools,
    slot: Ints | None,
) -> FlowsPart:
    """Return the flows of rows that stay, told apart by a slot."""
    if not stay.all():
        rows, person, slot = rows[stay], *(None if one is None else one[stay] for one in (person, slot))
    names = rows.dtype.names
    columns = {name: np.ascontiguousarray(rows[name]) for name in ("weight", "trips") if name in names}
    columns |= {} if slot is None else {"slot": slot}
    ends = np.ascontiguousarray(rows["origin"]), np.ascontiguousarray(rows["destination"])
    flows = flows_from_trips(*ends, person=person, repeats=plan.repeats, weights=plan.weights, **columns)
    among = plan.dealing.parts.shared
    hashes = None if person is None else people.keys.copy()
    if np.count_nonzero(among == among[part]) == 1 or "weight" not in names:
        return FlowsPart(range=int(among[part]), flows=flows, people=hashes)
    runs, values, times = _weight_runs(columns["weight"], columns.get("slot"))
    return FlowsPart(
        range=int(among[part]), flows=flows, people=hashes, runs=runs, values=values, times=times
    )


def _weight_runs(weight: Any, slot: Ints | None) -> tuple[Ints, Ints, Ints]:
    """Return the weights of rows of one pair, slot by slot, each once with how often it occurs."""
    of_slot = np.zeros(len(weight), np.int32) if slot is None else slot
    order = np.lexsort((weight, of_slot))
    weight, of_slot = weight[order], of_slot[order]
    new_slot: Bools = of_slot[1:] != of_slot[:-1]
    first = np.flatnonzero(np.append(True, new_slot | (weight[1:] != weight[:-1])))
    times = np.diff(np.append(first, len(weight)))
    runs = np.searchsorted(of_slot[first], np.unique(of_slot), side="right")
    return runs, weight[first], times


def _weights(seen: Any) -> WeightsPart:
    """Return what all people of a part weigh."""
    who, number = np.unique(seen["person"], return_inverse=True)
    least, most = np.full(len(who), np.inf), np.full(len(who), -np.inf)
    np.minimum.at(least, number, seen["least"])
    np.maximum.at(most, number, seen["most"])
    values, times = np.unique(most[most >= 0], return_counts=True)
    return WeightsPart(
        most=values,
        times=times,
        uneven=int(np.count_nonzero(least < most)),
        zero=int(np.count_nonzero(least == 0)),
    )
