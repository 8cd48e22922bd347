"""Plain twins of the compiled loops that walk down the trees of products of zones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple


def sort_flows(
    flows: Sequence[int], zone: Sequence[int], codes: Sequence[int], reach: Sequence[int]
) -> list[int]:
    """Return the flows by zone, in the order given; those without a zone or reach stay out."""
    return sorted(
        (flow for flow in flows if zone[codes[flow]] >= 0 and reach[flow] > 0),
        key=lambda flow: zone[codes[flow]],
    )


class Run(NamedTuple):
    """A run as its plain twin sees it: first, last, the number above, trips and zones."""

    first: int
    last: int
    above: int
    trips: int
    zones: tuple[int, ...]


def open_row(
    flows: Sequence[int],
    zones: Sequence[Sequence[int]],
    codes: Sequence[Sequence[int]],
) -> list[Run]:
    """Return the stretches of flows that share a zone on every axis."""

    def there(at: int) -> tuple[int, ...]:
        return tuple(zone[code[flows[at]]] for zone, code in zip(zones, codes, strict=True))

    found = [(here, list(places)) for here, places in groupby(range(len(flows)), key=there)]
    return [Run(places[0], places[-1] + 1, 0, 0, (*here, 0)) for here, places in found]


def sums_upto(flows: Sequence[int], values: Sequence[float]) -> list[float]:
    """Return the sum of the values of the first flows: of none, of one, and so on."""
    return [sum(values[flow] for flow in flows[:at]) for at in range(len(flows) + 1)]


def split_runs(
    runs: Sequence[Run],
    number: int,
    rank: Sequence[int],
    zone: Sequence[int],
    flows: Sequence[int],
    reach: Sequence[int],
    depth: int,
    trips: Sequence[int],
    least: float,
) -> tuple[list[Run], list[int]]:
    """Return every stretch of one zone, reach and enough trips inside every run, and the reach of flows."""
    found, left = [], list(reach)
    for at, run in enumerate(runs):
        for here, places in groupby(range(run.first, run.last), key=lambda at: zone[rank[at]]):
            a, b = (stretch := list(places))[0], stretch[-1] + 1
            if here < 0 or reach[flows[a]] <= depth:
                continue
            if sum(trips[a:b]) < least:
                for flow in flows[a:b]:
                    left[flow] = depth
                continue
            above = -1 if number < 0 else number + at
            found.append(Run(a, b, above, sum(trips[a:b]), (*run.zones[:-1], here)))
    return found, left


def keep_runs(
    safe: Sequence[bool], runs: Sequence[Run], flows: Sequence[int], reach: Sequence[int], depth: int
) -> tuple[list[Run], list[int]]:
    """Return the safe runs, and the reach of every flow once those of all others end here."""
    ended = {
        flows[at]
        for run, good in zip(runs, safe, strict=True)
        if not good
        for at in range(run.first, run.last)
    }
    kept = [run for run, good in zip(runs, safe, strict=True) if good]
    return kept, [depth if flow in ended else old for flow, old in enumerate(reach)]


def sum_losses(
    runs: Sequence[tuple[int, int]],
    volume: Sequence[float],
    lead: Sequence[float],
    rank: Sequence[int],
    loss: Sequence[float],
) -> list[float]:
    """Return the loss of every run."""
    return [
        sum(volume[at] * (lead[at] + loss[rank[at]]) for at in range(first, last)) for first, last in runs
    ]


def place_products(parts: Sequence[Sequence[int]], parents: Sequence[Sequence[int]]) -> list[list[Any]]:
    """Return, axis by axis but the last, the product above every product, None where there is none."""
    found: list[list[Any]] = []
    for axis in range(len(parents) - 1):
        above = [
            (*part[:axis], parents[axis][part[axis]], *part[axis + 1 :]) for part in zip(*parts, strict=True)
        ]
        found.append([product if min(product) >= 0 else None for product in above])
    return found


def sum_by_zone(zones: Sequence[Sequence[int]], losses: Sequence[Sequence[float]]) -> list[float]:
    """Return the sum of the losses of every product's zones."""
    return [
        sum(loss[z] for loss, z in zip(losses, product, strict=True)) for product in zip(*zones, strict=True)
    ]
