"""When made-up people call, in bursts and by the clock, and which antenna serves them then."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.synth.country import Antennas
from tripcloak.synth.journeys import DAY
from tripcloak.synth.laws import CALLS, activity, gaps, look_up, uniform, user_keys
from tripcloak.synth.movers import PAST, MoverStays
from tripcloak.synth.plan import Floats, Ints

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
