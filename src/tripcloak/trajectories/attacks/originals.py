"""Attacks on the original trajectories: how many people share what is known of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints, to_read
from tripcloak.ground.errors import InputError
from tripcloak.ground.threads import in_threads, processors
from tripcloak.trajectories.model import Trajectories

PRECISIONS = {"year": "Y", "month": "M", "day": "D", "hour": "h", "minute": "m", "second": "s"}


@dataclass(frozen=True, eq=False)
class Index:
    """The codes that each person has, and the people that have each code.

    Attributes
    ----------
    offsets, codes, values
        Codes of person i, ascending, at ``offsets[i]:offsets[i + 1]``, and how many samples have each.
    by_code, whose, theirs
        The same the other way round: people with code c at ``by_code[c]:by_code[c + 1]``.
    """

    offsets: Ints
    codes: Ints
    values: Floats
    by_code: Ints
    whose: Ints
    theirs: Floats

    def of(self, row: int) -> tuple[Ints, Floats]:
        """Return the codes of one person, and how many samples have each."""
        mine = slice(self.offsets[row], self.offsets[row + 1])
        return self.codes[mine], self.values[mine]

    def as_shares(self) -> Index:
        """Return the index with shares of a person's samples in place of their numbers."""
        sums = np.add.reduceat(self.values, self.offsets[:-1])
        return Index(
            self.offsets,
            self.codes,
            self.values / np.repeat(sums, np.diff(self.offsets)),
            self.by_code,
            self.whose,
            self.theirs / sums[self.whose],
        )


def index_of(trajectories: Trajectories, codes: Ints) -> Index:
    """Return who has which of these codes of all samples.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> made = Trajectories.of(user=[0, 0, 1], t=[0, 1, 0], x=[7, 7, 7], y=[0, 0, 0], grid=Grid())
    >>> index_of(made, place_codes(made)).theirs.tolist()
    [2.0, 1.0]
    """
    most = int(codes.max()) + 1
    pairs, numbers = np.unique(trajectories.owner * most + codes, return_counts=True)
    people, held = np.divmod(pairs, most)
    order = np.argsort(held, kind="stable")
    values = numbers.astype(np.float64)
    return Index(
        np.searchsorted(people, np.arange(trajectories.n_users + 1)),
        held,
        values,
        np.searchsorted(held[order], np.arange(most + 1)),
        people[order].astype(np.int32),
        values[order],
    )


def place_codes(trajectories: Trajectories) -> Ints:
    """Return a number for the place of each sample, equal where places are."""
    return _numbered(_joined(trajectories.x, trajectories.y))


def sample_codes(trajectories: Trajectories) -> Ints:
    """Return a number for the place and time of each sample."""
    return _numbered(_joined(trajectories.t, place_codes(trajectories)))


def slot_codes(trajectories: Trajectories, precision: str) -> Ints:
    """Return a number for the place of each sample and the hour, day, ... that it is in."""
    return _numbered(_joined(slots(trajectories, precision), place_codes(trajectories)))


def slots(trajectories: Trajectories, precision: str) -> Ints:
    """Return the hour, day, ... since 1970 that each sample begins in (UTC)."""
    if precision not in PRECISIONS:
        raise InputError(f"the precision of times must be one of {', '.join(PRECISIONS)}")
    times = trajectories.grid.times(trajectories.t).astype("datetime64[s]")
    found: Ints = times.astype(f"datetime64[{PRECISIONS[precision]}]").astype(np.int64)
    return found


def _joined(first: Ints, second: Ints) -> Ints:
    low = int(second.min())
    width = int(second.max()) - low + 1
    joined: Ints = np.asarray(first, np.int64) * width + (np.asarray(second, np.int64) - low)
    return joined


def _numbered(keys: Ints) -> Ints:
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def random_points(trajectories: Trajectories, known: int, seed: int) -> Ints:
    """Return samples of everybody, ``known`` of each or all where there are fewer, as ascending rows.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> made = Trajectories.of(user=[0, 0, 0, 1], t=[0, 1, 2, 0], x=[0] * 4, y=[0] * 4, grid=Grid())
    >>> len(random_points(made, 2, seed=0))
    3
    """
    drawn = np.random.default_rng(seed).random(trajectories.n_samples)
    order = np.lexsort((drawn, trajectories.owner))
    place = np.arange(trajectories.n_samples) - trajectories.offsets[trajectories.owner]
    return np.sort(order[place < known])


def random_window(trajectories: Trajectories, hours: int, seed: int) -> Ints:
    """Return all samples of everybody in a window of time that begins with one of theirs."""
    random = np.random.default_rng(seed)
    chosen = trajectories.offsets[:-1] + (random.random(trajectories.n_users) * trajectories.lengths).astype(
        np.int64
    )
    begin = trajectories.t[chosen].astype(np.int64)[trajectories.owner]
    length = max(1, hours * 3600 // trajectories.grid.seconds)
    return np.flatnonzero((trajectories.t >= begin) & (trajectories.t < begin + length))


def top_places(index: Index, known: int) -> tuple[Ints, Ints]:
    """Return where the places of each person begin, and the codes of those that are visited most."""
    n = len(index.offsets) - 1
    owner = np.repeat(np.arange(n), np.diff(index.offsets))
    # By visits, descending; of equals the place that comes first on the map.
    order = np.lexsort((index.codes, -index.values, owner))
    chosen = order[np.arange(len(owner)) - index.offsets[owner] < known]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(owner[chosen], minlength=n))))
    return offsets, index.codes[chosen]


def only(trajectories: Trajectories, samples: Ints) -> Trajectories:
    """Return the trajectories with these samples alone, ascending rows; everybody keeps one or more."""
    sizes = np.bincount(trajectories.owner[samples], minlength=trajectories.n_users)
    return Trajectories(
        grid=trajectories.grid,
        offsets=np.concatenate(([0], np.cumsum(sizes))),
        t=trajectories.t[samples],
        x=trajectories.x[samples],
        y=trajectories.y[samples],
    )


ALL, MANY = -1.0, -2.0
"""In place of a tolerance: having a place is enough, or having it as many times."""


class Settings(NamedTuple):
    """How much is known, how exactly, drawn how, worked out by how many threads."""

    known: int
    tolerance: float = 0.0
    precision: str = "hour"
    seed: int = 0
    jobs: int | None = None


def match_originals(trajectories: Trajectories, rows: Ints, kind: str, settings: Settings) -> Ints:
    """Return how many original trajectories fit what is known of each of these people."""
    if kind in {"points", "window"}:
        return _having_samples(trajectories, rows, kind, settings)
    if kind == "location-sequence":
        return _following(trajectories, rows, settings)
    if kind == "location-time":
        index = index_of(trajectories, slot_codes(trajectories, settings.precision))
        return _sharing(index, rows, settings, MANY)
    return _match_places(index_of(trajectories, place_codes(trajectories)), rows, kind, settings)


def _match_places(index: Index, rows: Ints, kind: str, settings: Settings) -> Ints:
    """Return the same of attackers who know places, and how often they are visited."""
    if kind == "places":
        return _having(index, *_queries(*top_places(index, settings.known), rows))
    if kind == "home-work":
        return _same_top_two(index)[rows]
    if kind == "location-proportion":
        return _proportional(index, rows, settings)
    shares = index.as_shares() if kind == "location-probability" else index
    nearness = {"location": MANY, "unique-location": ALL}.get(kind, settings.tolerance)
    return _sharing(shares, rows, settings, nearness)


def known_samples(trajectories: Trajectories, kind: str, settings: Settings) -> Ints:
    """Return the samples that the attacker knows, as ascending rows; the same against all."""
    draw = random_points if kind == "points" else random_window
    return draw(trajectories, settings.known, settings.seed)


def _having_samples(trajectories: Trajectories, rows: Ints, kind: str, settings: Settings) -> Ints:
    codes = sample_codes(trajectories)
    known = known_samples(trajectories, kind, settings)
    sizes = np.bincount(trajectories.owner[known], minlength=trajectories.n_users)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return _having(index_of(trajectories, codes), *_queries(offsets, codes[known], rows))


def _queries(offsets: Ints, codes: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return where the codes of each of these rows begin, and the codes."""
    sizes = np.diff(offsets)[rows]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return starts, codes[np.arange(starts[-1]) + np.repeat(offsets[:-1][rows] - starts[:-1], sizes)]


def _having(index: Index, starts: Ints, wanted: Ints) -> Ints:
    from tripcloak.trajectories.attacks._kernels.originals import count_having

    return count_having(starts, wanted, index.by_code, index.whose, index.offsets, index.codes)


def _same_top_two(index: Index) -> Ints:
    """Return, for everybody, whose two most visited places are (among) the two of how many."""
    offsets, codes = top_places(index, 2)
    first, last = codes[offsets[:-1]], codes[offsets[1:] - 1]
    low, high = np.minimum(first, last), np.maximum(first, last)
    single = first == last
    _, pair, pairs = np.unique(np.stack([low, high]), axis=1, return_inverse=True, return_counts=True)
    holders = np.bincount(codes)
    return np.where(single, holders[first], pairs[pair.ravel()])


def for_each(rows: Ints, worker: Callable[[], Callable[[int], int]], jobs: int | None) -> Ints:
    """Return what a worker's function gives for each row; every thread gets a function of its own."""
    workers = processors(jobs)
    found = np.zeros(len(rows), np.int64)

    def work(number: int) -> None:
        least = worker()
        for at in range(number, len(rows), workers):
            found[at] = least(int(rows[at]))

    list(in_threads(work, range(workers), workers))
    return found


def _sharing(index: Index, rows: Ints, settings: Settings, tolerance: float) -> Ints:
    from tripcloak.trajectories.attacks._kernels.originals import least_common, mark_having

    def worker() -> Callable[[int], int]:
        seats = np.full(len(index.offsets) - 1, -1, np.int32)

        def least(row: int) -> int:
            codes, values = index.of(row)
            all_of_it = int(values.sum()) if tolerance == MANY else len(codes)
            known = min(settings.known, all_of_it)
            others = (index.by_code, index.whose, index.theirs)
            return least_common(*mark_having(codes, values, *others, known, tolerance, seats), known)

        return least

    return for_each(rows, worker, settings.jobs)


def _proportional(index: Index, rows: Ints, settings: Settings) -> Ints:
    from tripcloak.trajectories.attacks._kernels.originals import least_proportional

    def worker() -> Callable[[int], int]:
        seats = np.full(len(index.offsets) - 1, -1, np.int32)

        def least(row: int) -> int:
            codes, values = index.of(row)
            known = min(settings.known, len(codes))
            others = (index.by_code, index.whose, index.theirs)
            return least_proportional(codes, values, *others, known, settings.tolerance, seats)

        return least

    return for_each(rows, worker, settings.jobs)


def _following(trajectories: Trajectories, rows: Ints, settings: Settings) -> Ints:
    from tripcloak.trajectories.attacks._kernels.originals import WIDTH, least_following

    places = place_codes(trajectories)
    index = index_of(trajectories, places)
    position = np.arange(trajectories.n_samples) - trajectories.offsets[trajectories.owner] + 1
    keys = places * WIDTH + position
    keys = keys[np.lexsort((keys, trajectories.owner))]

    def least(row: int) -> int:
        known = min(settings.known, int(trajectories.lengths[row]))
        told = (to_read(trajectories.offsets), places, keys, index.by_code, index.whose)
        return least_following(row, index.of(row)[0], *told, known)

    return for_each(rows, lambda: least, settings.jobs)
