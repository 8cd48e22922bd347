"""Attacks as their definitions say: every instance of knowledge, every trajectory, one after the other.

Pellungrini et al. (2017): an attacker knows some of a person's visits (an instance); the risk is the
largest, over all instances, of one over the number of people whom the instance fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise, product

import numpy as np

from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease

Visit = tuple[int, int, int]
"""A time and a place (x, y)."""


def least_matching(
    people: list[list[Visit]], kind: str, known: int, *, tolerance: float = 0.0, slot: int = 1
) -> list[int]:
    """Return, for each person, the fewest people whom an instance of what is known fits."""
    fits = {
        "location": fits_places,
        "location-sequence": fits_sequence,
        "location-time": lambda other, instance: fits_slots(other, instance, slot),
        "unique-location": lambda other, instance: set(instance) <= set(other),
        "location-frequency": lambda other, instance: near(other, instance, tolerance),
        "location-probability": lambda other, instance: near(other, instance, tolerance),
        "location-proportion": lambda other, instance: near(
            shared_proportions(other, instance), proportions(instance), tolerance
        ),
        "home-work": lambda other, instance: set(instance) <= set(other),
    }[kind]
    views = [view(person, kind) for person in people]
    return [min(matching(views, one, fits) for one in instances(mine, known, kind)) for mine in views]


def matching(views: list, instance: object, fits: Callable[..., bool]) -> int:
    return sum(fits(other, instance) for other in views)


def view(visits: list[Visit], kind: str) -> object:
    """Return what of a trajectory an attack looks at: visits, or visits to each place."""
    if kind in {"location", "location-sequence", "location-time"}:
        return visits
    number = Counter((x, y) for _, x, y in visits)
    if kind == "location-probability":
        return {place: visits_to / len(visits) for place, visits_to in number.items()}
    if kind == "home-work":
        return dict(sorted(number.items(), key=lambda item: (-item[1], item[0]))[:2])
    return dict(number)


def instances(mine: object, known: int, kind: str) -> Iterable[object]:
    if isinstance(mine, list):
        yield from combinations(mine, min(known, len(mine)))
        return
    assert isinstance(mine, dict)
    size = len(mine) if kind == "home-work" else min(known, len(mine))
    for chosen in combinations(mine, size):
        yield {place: mine[place] for place in chosen}


def fits_places(other: list[Visit], instance: Iterable[Visit]) -> bool:
    return not Counter(places_of(instance)) - Counter(places_of(other))


def places_of(visits: Iterable[Visit]) -> list[tuple[int, int]]:
    return [(x, y) for _, x, y in visits]


def fits_slots(other: list[Visit], instance: Iterable[Visit], slot: int) -> bool:
    def slots(visits: Iterable[Visit]) -> Counter:
        return Counter((t // slot, x, y) for t, x, y in visits)

    return not slots(instance) - slots(other)


def fits_sequence(other: list[Visit], instance: Iterable[Visit]) -> bool:
    rest = iter(places_of(other))
    return all(place in rest for place in places_of(instance))


def near(other: dict, instance: dict, tolerance: float) -> bool:
    return all(
        place in other
        and other[place] - other[place] * tolerance <= value <= other[place] + other[place] * tolerance
        for place, value in instance.items()
    )


def proportions(visits: dict) -> dict:
    return {place: number / max(visits.values()) for place, number in visits.items()}


def shared_proportions(other: dict, instance: dict) -> dict:
    shared = {place: other[place] for place in instance if place in other}
    return proportions(shared) if shared else {}


def visits_of(trajectories: Trajectories) -> list[list[Visit]]:
    """Return the visits of everybody, by time."""
    t, x, y = (side.tolist() for side in (trajectories.t, trajectories.x, trajectories.y))
    bounds = trajectories.offsets.tolist()
    return [list(zip(t[a:b], x[a:b], y[a:b], strict=True)) for a, b in pairwise(bounds)]


def boxes_of(release: TrajectoryRelease) -> list[list[tuple]]:
    """Return the boxes of every released trajectory, by time."""
    rows = list(zip(*(side.tolist() for side in release.boxes), strict=True))
    bounds = release.offsets.tolist()
    return [rows[a:b] for a, b in pairwise(bounds)]


def covers(box: tuple, x: int, y: int, begin: float = -np.inf, end: float = np.inf) -> bool:
    t0, t1, x0, x1, y0, y1 = box
    return bool(t0 < end and t1 > begin and x0 <= x < x1 and y0 <= y < y1)


def covered(boxes: list[tuple], known: Iterable[tuple]) -> bool:
    """Return whether some box covers each known place, at a known time where there is one."""
    return all(any(covers(box, *thing) for box in boxes) for thing in known)


def passes(boxes: list[tuple], places: Iterable[tuple[int, int]]) -> bool:
    """Return whether boxes may hold visits to these places in their order, several in one if need be."""
    at = 0
    for x, y in places:
        while at < len(boxes) and not covers(boxes[at], x, y):
            at += 1
    return at < len(boxes)


def guess_owners(
    known: list[Visit], released: list[list[tuple]], own: int, *, whole: bool
) -> tuple[int, dict[str, float]]:
    """Return how many released trajectories fit what is known, and how often each guess names the own one."""
    scores = {}
    for number, boxes in enumerate(released):
        homes = [[b for b in boxes if covers(b, x, y, t, t + 1)] for t, x, y in known]
        if not all(homes) or (whole and {b for home in homes for b in home} != set(boxes)):
            continue
        filled = {home[0] for home in homes}
        reached = sum(reaches(box, known) for box in filled)
        cost = sum((t1 - t0) * (x1 - x0 + y1 - y0) for [(t0, t1, x0, x1, y0, y1)] in homes)
        duration = sum(box[1] - box[0] for box in boxes)
        scores[number] = {
            "blind": 0,
            "most-boxes": -len(boxes),
            "least-cost": cost,
            "shortest": duration,
            "innermost": reached / len(filled),
        }
    chances = {}
    for guess in ("blind", "most-boxes", "least-cost", "shortest", "innermost"):
        least = min((score[guess] for score in scores.values()), default=0)
        best = [number for number, score in scores.items() if score[guess] == least]
        chances[guess] = (own in best) / len(best) if best else 0.0
    return len(scores), chances


def reaches(box: tuple, known: list[Visit]) -> int:
    """Return how many of the six sides of a box known samples in it touch."""
    t0, t1, x0, x1, y0, y1 = box
    inside = [(t, x, y) for t, x, y in known if covers(box, x, y, t, t + 1)]
    return sum(
        any(sample[axis] == edge for sample in inside)
        for axis, edges in enumerate(((t0, t1 - 1), (x0, x1 - 1), (y0, y1 - 1)))
        for edge in edges
    )


# --- twins of the kernels --------------------------------------------------------------------------


Held = dict[int, float]
"""What somebody has: a value, such as the number of visits, by place."""


def mark_having(mine: Held, people: list[Held], known: int, tolerance: float) -> list[list[set[int]]]:
    """Return, place by place, who has it too: as nearly (0 or more), at all (-1), or n times (-2)."""
    found = []
    for place, value in mine.items():
        if tolerance == -2:
            wanted = range(1, min(int(value), known) + 1)
            found.append([{i for i, other in enumerate(people) if other.get(place, 0) >= n} for n in wanted])
        else:
            having = {i for i, other in enumerate(people) if place in other}
            found.append([{i for i in having if tolerance < 0 or near(people[i], {place: value}, tolerance)}])
    return found


def least_common(items: list[list[set[int]]], known: int) -> int:
    """Return the fewest, but none, that are in one set of some items, the n-th of an item being worth n."""
    sizes = []
    for worth in product(*(range(len(sets) + 1) for sets in items)):
        if sum(worth) == known:
            taken = [sets[n - 1] for sets, n in zip(items, worth, strict=True) if n]
            sizes.append(len(set.intersection(*taken)))
    return min((size for size in sizes if size), default=0)


def least_proportional(mine: Held, people: list[Held], known: int, tolerance: float) -> int:
    """Return the fewest who have so many places of somebody's in the same proportions."""
    return min(
        sum(near(shared_proportions(other, some), proportions(some), tolerance) for other in people)
        for some in ({place: mine[place] for place in chosen} for chosen in combinations(mine, known))
    )


def least_following(mine: list[int], people: list[list[int]], known: int) -> int:
    """Return the fewest who visit so many of somebody's places in their order."""
    return min(
        sum(all(place in rest for place in chosen) for rest in map(iter, people))
        for chosen in combinations(mine, known)
    )


def count_having(queries: list[list[int]], people: list[set[int]]) -> list[int]:
    """Return how many people have everything that each query asks for."""
    return [sum(set(wanted) <= held for held in people) for wanted in queries]


def mark_covering(known: list[tuple], released: list[list[tuple]]) -> list[set[int]]:
    """Return, for every known place and span of time, which released trajectories cover it."""
    return [{r for r, boxes in enumerate(released) if covered(boxes, [thing])} for thing in known]


def least_passing(mine: list[tuple[int, int]], released: list[list[tuple]], known: int) -> int:
    """Return the fewest released trajectories, but none, that may visit so many places in their order."""
    found = [sum(passes(boxes, chosen) for boxes in released) for chosen in combinations(mine, known)]
    return min((number for number in found if number), default=0)
