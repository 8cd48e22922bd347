"""From parts of flows, as they come from a cluster, to flows in their order with people by number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from tripcloak.flows.model import Flows, Travellers
from tripcloak.flows.reading.cluster.counting import FlowsPart
from tripcloak.ground.arrays import Ints


def ascending_people(part: FlowsPart, numbers: Ints) -> FlowsPart:
    """Return a part whose travellers have these numbers in place of their own, ascending in every flow."""
    flows = part.flows
    assert flows.travellers is not None
    offsets, people = flows.travellers.offsets, numbers[flows.travellers.people]
    flow = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.argsort((flow << 32) | people)
    return replace(part, people=None, flows=_with_people(flows, offsets, people, order))


def joined_flows(parts: Iterator[FlowsPart]) -> Iterator[Flows]:
    """Yield the flows of every range of pairs: of a pair that fills several parts, those of all of them."""
    for _, together in groupby(parts, key=attrgetter("range")):
        first, *others = together
        yield _summed([first, *others]) if others else first.flows


def _summed(parts: list[FlowsPart]) -> Flows:
    """Return the flows of one pair, slot by slot, whose travellers were shared out among parts."""
    flows = [part.flows for part in parts]
    slot = np.concatenate(
        [np.zeros(len(one.trips), np.int32) if one.slot is None else one.slot for one in flows]
    )
    slots, number = np.unique(slot, return_inverse=True)
    trips = np.zeros(len(slots), np.int64)
    np.add.at(trips, number, np.concatenate([one.trips for one in flows]))
    whole = Flows(
        origin=np.full(len(slots), flows[0].origin[0], np.int32),
        destination=np.full(len(slots), flows[0].destination[0], np.int32),
        slot=None if flows[0].slot is None else slots.astype(np.int32),
        trips=trips,
        population=None if parts[0].values is None else _populations(parts, slots),
    )
    if flows[0].travellers is None:
        return whole
    sizes = np.concatenate([np.diff(one.travellers.offsets) for one in flows if one.travellers is not None])
    people = np.concatenate([one.travellers.people for one in flows if one.travellers is not None])
    of_person = np.repeat(number, sizes)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(of_person, minlength=len(slots)))))
    merged = replace(
        whole,
        repeats=_joined([one.repeats for one in flows]),
        weights=_joined([one.weights for one in flows]),
    )
    return _with_people(merged, offsets, people, np.argsort((of_person.astype(np.int64) << 32) | people))


def _with_people(flows: Flows, offsets: Ints, people: Ints, order: Ints) -> Flows:
    """Return flows with travellers, and what each has of them, in an order."""
    return replace(
        flows,
        travellers=Travellers(offsets, people[order]),
        repeats=None if flows.repeats is None else flows.repeats[order],
        weights=None if flows.weights is None else flows.weights[order],
    )


def _populations(parts: list[FlowsPart], slots: Ints) -> Any:
    """Return the population of every slot, added up weight by weight as one machine does."""
    from tripcloak.flows.model._kernels import sum_runs

    of_slot, values, times = [], [], []
    for part in parts:
        assert part.runs is not None
        assert part.values is not None
        assert part.times is not None
        here = np.zeros(1, np.int32) if part.flows.slot is None else part.flows.slot
        of_slot.append(np.repeat(here, np.diff(np.concatenate(([0], part.runs)))))
        values.append(part.values)
        times.append(part.times)
    slot, value, n = (np.concatenate(one) for one in (of_slot, values, times))
    order = np.lexsort((value, slot))
    starts = np.concatenate(([0], np.cumsum(n[order])[:-1]))[np.searchsorted(slot[order], slots)]
    return sum_runs(np.repeat(value[order], n[order]).astype(np.float64), starts.astype(np.int64))


def _joined(columns: list[Any]) -> Any:
    return None if columns[0] is None else np.concatenate(columns)
