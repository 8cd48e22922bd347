"""The contest's score, literally: counts in dictionaries, every pair of columns in both orders, no arrays."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from itertools import permutations

import numpy as np

BINS = {
    "fare": range(0, 100, 10),
    "tips": range(0, 100, 10),
    "trip_total": range(0, 100, 10),
    "trip_seconds": range(0, 2000, 200),
    "trip_miles": range(0, 100, 10),
}
COLUMNS = ("company_id", "dropoff_community_area", "payment_type", *BINS)

Rows = list[dict[str, int]]


def parts(truth: Rows, made: Rows, cutoff: float = 250) -> tuple[float, float, float]:
    """Return the three parts of the score: marginals, graph, conjunctions."""
    truth, made = binned(truth), binned(made)
    return k_marginal(truth, made, cutoff), graph(truth, made), conjunctions(truth, made)


def binned(rows: Rows) -> Rows:
    return [
        {name: bisect_right(BINS[name], row[name]) if name in BINS else row[name] for name in row}
        for row in rows
    ]


def k_marginal(truth: Rows, made: Rows, cutoff: float) -> float:
    by_place = by_place_of(truth), by_place_of(made)
    used = [name for name in COLUMNS if name in truth[0] and name in made[0]]
    pairs = list(permutations(used, 2)) or [tuple(used)]
    scores = []
    for place in by_place[0].keys() | by_place[1].keys():
        here, there = (by_place[side].get(place, []) for side in (0, 1))
        if abs(len(here) - len(there)) >= cutoff:
            scores.append(2.0)
            continue
        apart = [distance(here, there, pair) for pair in pairs]
        scores.append(math.fsum(apart) / len(apart))
    return (2.0 - math.fsum(scores) / len(scores)) / 2.0


def by_place_of(rows: Rows) -> dict[tuple[int, int], Rows]:
    found = defaultdict(list)
    for row in rows:
        found[row["pickup_community_area"], row["shift"]].append(row)
    return found


def distance(here: Rows, there: Rows, columns: tuple[str, ...]) -> float:
    if not here or not there:
        return 2.0
    counts = [Counter(tuple(row[name] for name in columns) for row in rows) for rows in (here, there)]
    cells = counts[0].keys() | counts[1].keys()
    return math.fsum(abs(counts[0][cell] / len(here) - counts[1][cell] / len(there)) for cell in cells)


def graph(truth: Rows, made: Rows) -> float:
    return (2.0 - distance(truth, made, ("pickup_community_area", "dropoff_community_area"))) / 2.0


def conjunctions(truth: Rows, made: Rows) -> float:
    true, names = profiles(truth)
    told, _ = profiles(made)
    random = np.random.RandomState(123456)
    errors = []
    for _ in range(50):
        one = true[random.randint(low=0, high=len(true))]
        limits = dict(zip(names, random.randint(5, 51, size=len(names)).tolist(), strict=True))
        shares = [
            sum(all(abs(each[name] - one[name]) <= limits[name] for name in names) for each in everybody)
            / len(everybody)
            for everybody in (true, told)
        ]
        errors.append(abs(shares[0] - shares[1]))
    return 1.0 - math.fsum(errors) / 50


def profiles(rows: Rows) -> tuple[list[Counter[int | str]], list[int | str]]:
    """Return how often each individual has each shift and area, columns named as joined tables name them."""
    shifts = sorted({row["shift"] for row in rows})
    areas = sorted({row["pickup_community_area"] for row in rows})
    both = set(shifts) & set(areas)
    people: dict[int, Counter[int | str]] = {taxi: Counter() for taxi in sorted({r["taxi_id"] for r in rows})}
    for row in rows:
        shift, area = row["shift"], row["pickup_community_area"]
        people[row["taxi_id"]][str(shift) if shift in both else shift] += 1
        people[row["taxi_id"]][f"{area}p" if area in both else area] += 1
    names = [str(one) if one in both else one for one in shifts]
    names += [f"{one}p" if one in both else one for one in areas]
    return list(people.values()), names
