"""Where made-up people are, when they call, in bursts and by the clock, and which antenna serves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.synth.country import Antennas, Country, arrows, fold_inside, home_places, work_places
from tripcloak.synth.journeys import DAY
from tripcloak.synth.laws import (
    CALLS,
    HABITS,
    MOVES,
    Keys,
    activity,
    exploring,
    gaps,
    jumps,
    look_up,
    uniform,
    user_keys,
    waits,
)
from tripcloak.synth.plan import Floats, Ints

PAST = 7 * DAY
"""Seconds lived before the period, so that its first day is like the others."""

HOME, WORK = 0, 1
WORKING, NEARBY = 0.7, 0.3
"""Share of people who go to work, and share of those who work near home."""

SPEED, SETTING_OUT = 11.0, 240.0
"""Metres a second on the way, and seconds before that."""

# Chance that who leaves a place goes home, and goes to work on a weekday, by hour of the day.
_GO_HOME = np.array(
    [
        *(0.95, 0.95, 0.95, 0.95, 0.95, 0.30, 0.02, 0.02, 0.03, 0.05, 0.08, 0.10),
        *(0.15, 0.12, 0.10, 0.10, 0.15, 0.25, 0.40, 0.52, 0.68, 0.85, 0.94, 0.95),
    ]
)
_GO_TO_WORK = np.array([0.0] * 5 + [0.4, 0.6, 0.7, 0.7, 0.6, 0.4, 0.25, 0.25, 0.42, 0.3, 0.12] + [0.0] * 8)

_DRAWS = 8


@dataclass(frozen=True)
class MoverStays:
    """One row a stay and one column a user; a stay ends with the way to the next."""

    arrive: Ints  # seconds since the period's first midnight
    leave: Ints
    place: Ints  # row of `places`
    places: Floats  # (places, users, 2): home, work, then what each stay found, if it was somewhere new
    found: NDArray[np.bool_]  # (places, users): whether there is such a place


def draw_stays(country: Country, antennas: Antennas, seed: int, users: Ints, *, days: int) -> MoverStays:
    """Return where each of the users is from a week before the period to its end or later.

    Examples
    --------
    >>> from tripcloak.synth.country import draw_antennas
    >>> from tripcloak.synth.country import draw_country
    >>> country = draw_country(1, 150_000.0)
    >>> stays = draw_stays(country, draw_antennas(country, 1, 500), 1, np.arange(20), days=7)
    >>> bool((stays.leave > stays.arrive).all()), bool((stays.leave[-1] >= 7 * 86_400).all())
    (True, True)
    """
    walk = _Walk(country, antennas, seed, users, room=64 + 10 * days)
    # Invariant: the stays so far follow each other, and each begins before the period ends or is surplus.
    while (walk.leave[walk.size - 1] < days * DAY).any():
        walk.go_on()
    return MoverStays(
        walk.arrive[: walk.size],
        walk.leave[: walk.size],
        walk.place[: walk.size],
        walk.places[: walk.size + 2],
        walk.found[: walk.size + 2],
    )


class _Walk:
    """The stays so far, in arrays with room for more."""

    def __init__(self, country: Country, antennas: Antennas, seed: int, users: Ints, room: int) -> None:
        self.country, self.antennas = country, antennas
        self.keys: Keys = user_keys(seed, MOVES, users)
        self.size = 1
        self.known = np.ones(users.size, np.int64)
        self.arrive = np.zeros((room, users.size), np.int64)
        self.leave = np.zeros_like(self.arrive)
        self.place = np.zeros_like(self.arrive)
        self.places = np.zeros((room + 2, users.size, 2))
        self.found = np.zeros((room + 2, users.size), np.bool_)
        self._settle(uniform(user_keys(seed, HABITS, users), np.arange(10)[:, None]))

    def _settle(self, draws: Floats) -> None:
        """Give everybody a home, most a work place, and the first night."""
        home = home_places(self.country, draws[:4])
        near = draws[4] < WORKING * NEARBY
        work = work_places(self.country, home, draws[5:8])
        work[near] = fold_inside(_jump(home, draws[5], draws[6]), self.country.radius)[near]
        self.works = draws[4] < WORKING
        self.places[HOME], self.places[WORK] = home, work
        self.found[HOME], self.found[WORK] = True, self.works
        self.known += self.works
        self.arrive[0] = -PAST
        self.leave[0] = _morning(self.arrive[0], draws[8:10])

    def go_on(self) -> None:
        """Add everybody's next stay."""
        if self.size == self.arrive.shape[0]:
            self._make_room()
        draws = uniform(self.keys, (self.size * _DRAWS + np.arange(_DRAWS))[:, None])
        now, here = self.leave[self.size - 1], self._at(self.place[self.size - 1])
        place = self._choose(now, draws)
        new = np.flatnonzero(place == self.size + 2)
        if new.size:
            self.places[self.size + 2, new] = self._explore(here[new], draws[3:6, new])
            self.found[self.size + 2, new] = True
            self.known[new] += 1
        gap = self._at(place) - here
        way = np.sqrt(gap[:, 0] * gap[:, 0] + gap[:, 1] * gap[:, 1])
        arrive = now + np.where(way > 0, SETTING_OUT + way / SPEED, 0.0).astype(np.int64)
        self.arrive[self.size], self.place[self.size] = arrive, place
        self.leave[self.size] = _leave(arrive, place, draws[6:8])
        self.size += 1

    def _at(self, place: Ints) -> Floats:
        at: Floats = self.places[place, np.arange(place.size)]
        return at

    def _choose(self, now: Ints, draws: Floats) -> Ints:
        """Return everybody's next place: home, work, one known, or the row where a new one will be."""
        hour = now // 3600 % 24
        to_work = np.where(now // DAY % 7 < 5, _GO_TO_WORK[hour], 0.0) * self.works
        # A visit drawn evenly from all there were is a place drawn in proportion to its visits.
        visit = (draws[2] * self.size).astype(np.int64)
        back = self.place[visit, np.arange(visit.size)]
        back = np.where((back == WORK) & (to_work == 0.0), HOME, back)
        chance = exploring()
        new = draws[1] < chance[np.minimum(self.known, chance.size) - 1]
        free = np.where(new, self.size + 2, back)
        to_home = _GO_HOME[hour]
        return np.where(draws[0] < to_home, HOME, np.where(draws[0] < to_home + to_work, WORK, free))

    def _explore(self, here: Floats, draws: Floats) -> Floats:
        """Return a new place for each: so far away, to one of four sides, by what draws people."""
        far, bearing, which = draws
        ahead = _jump(here, far, bearing) - here
        turned = np.stack([ahead, -ahead, ahead[:, ::-1] * [1.0, -1.0], ahead[:, ::-1] * [-1.0, 1.0]])
        lure = np.stack([self.antennas.attraction(here + one) for one in turned])
        ladder = np.cumsum(lure, axis=0)
        chosen = (ladder <= which * ladder[-1]).sum(axis=0).clip(max=3)
        return fold_inside(here + turned[chosen, np.arange(chosen.size)], self.country.radius)

    def _make_room(self) -> None:
        for name in ("arrive", "leave", "place", "places", "found"):
            there = getattr(self, name)
            setattr(self, name, np.concatenate([there, np.zeros_like(there)]))


def _jump(here: Floats, far: Floats, bearing: Floats) -> Floats:
    landed: Floats = here + look_up(jumps(), far)[:, None] * arrows(bearing)
    return landed


def _leave(arrive: Ints, place: Ints, draws: Floats) -> Ints:
    """Return when a stay ends: in the morning, after hours of work, or after a heavy-tailed while."""
    luck, second = draws
    at_work = (10_800.0 + 21_600.0 * luck).astype(np.int64)
    leave = arrive + np.where(place == WORK, at_work, look_up(waits(), luck).astype(np.int64))
    late = (arrive // 3600 % 24 >= 22) | (arrive // 3600 % 24 < 5)
    # Who would leave home in the night sleeps on; who is elsewhere late mostly sleeps there.
    asleep = (leave // 3600 % 24 < 5) & (place == HOME)
    return np.where(asleep | (late & (second < 0.9)), _morning(arrive, draws), leave)


def _morning(arrive: Ints, draws: Floats) -> Ints:
    """Return when people leave after the night: between five and ten, later at weekends."""
    day = (arrive + 3 * 3600) // DAY
    risen = (5.25 + 2.2 * (draws[0] + draws[1]) + np.where(day % 7 < 5, 0.0, 1.5)) * 3600.0
    leave: Ints = np.maximum(arrive + 1800, day * DAY + risen.astype(np.int64))
    return leave


BUSIEST = DAY // 2
"""Calls of one user on a day, at most."""

# How much people call, by hour of the day, on weekdays and at weekends.
_WEEKDAY = np.array(
    [
        *(0.25, 0.14, 0.09, 0.06, 0.07, 0.15, 0.40, 0.80, 1.10, 1.30, 1.40, 1.45),
        *(1.40, 1.30, 1.25, 1.30, 1.40, 1.55, 1.70, 1.75, 1.70, 1.40, 0.90, 0.50),
    ]
)
_WEEKEND = np.array(
    [
        *(0.40, 0.25, 0.15, 0.10, 0.08, 0.10, 0.22, 0.45, 0.75, 1.05, 1.25, 1.35),
        *(1.35, 1.25, 1.20, 1.20, 1.25, 1.35, 1.45, 1.50, 1.50, 1.30, 0.95, 0.60),
    ]
)

# Silences add up as whole numbers: the sum of a user's does not depend on whose come before.
_UNIT = 1e6


class Calls(NamedTuple):
    """One entry per call, by user and then by time."""

    user: Ints  # column of the stays
    time: Ints  # seconds since the period's first midnight; never two calls of a user in one


def draw_calls(seed: int, users: Ints, *, samples: int, equal: bool, days: int) -> Calls:
    """Return when each user calls: at least once, on average or exactly ``samples`` times.

    Examples
    --------
    >>> calls = draw_calls(1, np.arange(3), samples=5, equal=True, days=14)
    >>> calls.user.tolist(), bool(calls.time.max() < 14 * 86_400)
    ([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2], True)
    """
    keys = user_keys(seed, CALLS, users)
    luck = uniform(keys, np.arange(3)[:, None])
    each = np.full(users.size, samples)
    if not equal:
        each = 1 + ((samples - 1) * look_up(activity(), luck[0]) + luck[1]).astype(np.int64)
        each = np.minimum(each, days * BUSIEST)
    user = np.repeat(np.arange(users.size), each)
    first = np.cumsum(each) - each
    number = np.arange(user.size) - first[user]
    silence = (_UNIT * look_up(gaps(), uniform(keys[user], number + 3))).astype(np.int64)
    since = np.cumsum(silence)
    since -= (since[first] - silence[first])[user]
    # The period closes to a circle that each user enters somewhere: no day differs for being first or last.
    share = since / since[first + each - 1][user] + luck[2][user]
    over = share >= 1.0
    wrapped = np.bincount(user, over, minlength=users.size).astype(np.int64)
    ordered = np.empty_like(share)
    ordered[first[user] + (number + wrapped[user]) % each[user]] = share - over
    return Calls(user, _one_a_second(_by_the_clock(ordered, days), user, number, each, days))


def serving(calls: Calls, stays: MoverStays, antennas: Antennas, *, days: int) -> Ints:
    """Return the antenna nearest to where each call is made; on the way that is somewhere between."""
    arrive, leave = (np.minimum(times, days * DAY).T for times in (stays.arrive, stays.leave))
    span = days * DAY + PAST + 1
    column = np.arange(arrive.shape[0]) * span
    stay = np.searchsorted((arrive + column[:, None]).ravel(), calls.time + column[calls.user], "right") - 1
    row = stay - calls.user * arrive.shape[1]
    serves = np.zeros(stays.found.shape, np.int64)
    serves[stays.found] = antennas.nearest(stays.places[stays.found])
    antenna: Ints = serves[stays.place[row, calls.user], calls.user]
    moving = np.flatnonzero(calls.time >= leave[calls.user, row])
    if moving.size:
        antenna[moving] = antennas.nearest(_on_the_way(calls, stays, row, moving))
    return antenna


def _on_the_way(calls: Calls, stays: MoverStays, row: Ints, moving: Ints) -> Floats:
    user, row = calls.user[moving], row[moving]
    left, next_arrival = stays.leave[row, user], stays.arrive[row + 1, user]
    share = (calls.time[moving] - left) / (next_arrival - left)
    start, end = (stays.places[stays.place[at, user], user] for at in (row, row + 1))
    between: Floats = start + (end - start) * share[:, None]
    return between


def _by_the_clock(share: Floats, days: int) -> Ints:
    """Return the seconds by which that share of all calling of a period is done."""
    day = np.arange(days)[:, None]
    reached = np.concatenate([[0.0], np.cumsum(np.where(day % 7 < 5, _WEEKDAY, _WEEKEND))])
    seconds = np.interp(share, reached / reached[-1], 3600.0 * np.arange(24 * days + 1))
    whole: Ints = seconds.astype(np.int64)
    return whole


def _one_a_second(time: Ints, user: Ints, number: Ints, each: Ints, days: int) -> Ints:
    """Return the times, calls of a user in one second moved to the next free one."""
    # A call takes a second: without them times may be equal, and no later than what is left of the period.
    left = np.clip(time - number, 0, days * DAY - each[user])
    # One running maximum for all: each user's times lie above those of the user before.
    start = user * (days * DAY + 1)
    free: Ints = np.maximum.accumulate(left + start) - start
    return free + number
