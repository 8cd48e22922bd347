"""Where made-up people are: home by night, work by day, and otherwise exploration and preferential return.

Song, Koren, Wang and Barabasi (2010): the more places somebody knows, the seldomer a new one; who returns
goes to a place in proportion to the visits it has had; stays and jumps are heavy-tailed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tripcloak.synth.country import Antennas, Country, arrows, fold_inside, home_places, work_places
from tripcloak.synth.journeys import DAY
from tripcloak.synth.laws import HABITS, MOVES, Keys, exploring, jumps, look_up, uniform, user_keys, waits
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
