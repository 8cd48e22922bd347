"""Made-up call detail records as a model: antennas, moves and calls follow the laws they claim to."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from tripcloak.synth import Cdr
from tripcloak.synth.country import TOWN_SHARE, Antennas, Country, draw_antennas, draw_country, home_places
from tripcloak.synth.laws import GAMMA, JUMP_EXPONENT, RHO, WAIT_EXPONENT, jumps, look_up, waits
from tripcloak.synth.movers import HOME, WORK, MoverStays, draw_stays

DAYS, USERS = 14, 1500
DAY, HOUR = 86_400, 3600
Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def country() -> Country:
    return draw_country(1, 150_000.0)


@pytest.fixture(scope="module")
def antennas(country: Country) -> Antennas:
    return draw_antennas(country, 1, 2000)


@pytest.fixture(scope="module")
def stays(country: Country, antennas: Antennas) -> MoverStays:
    return draw_stays(country, antennas, 1, np.arange(USERS), days=DAYS)


@pytest.fixture(scope="module")
def calls() -> pa.Table:
    return pa.Table.from_batches(list(Cdr(users=USERS).batches())).combine_chunks()


def users_of(calls: pa.Table) -> NDArray[np.int64]:
    found: NDArray[np.int64] = calls["user_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    return found


def seconds_of(calls: pa.Table) -> NDArray[np.int64]:
    since = calls["timestamp"].to_numpy() - np.datetime64("2024-09-02")
    return np.asarray(since.astype("m8[s]").astype(np.int64))


def length(gap: Floats) -> Floats:
    return np.asarray(np.hypot(gap[..., 0], gap[..., 1]))


def test_town_sizes_follow_their_rank_and_so_do_their_people(country: Country) -> None:
    assert np.allclose(country.size[0] / country.size[:5], [1, 2, 3, 4, 5])
    homes = home_places(country, np.random.default_rng(3).random((4, 40_000)))
    near = length(homes[:, None, :] - country.towns[:3]) < 7.0 * country.spread[:3]
    assert near.mean(axis=0) == pytest.approx(TOWN_SHARE * country.size[:3], rel=0.1)


def test_antennas_stand_close_in_towns_and_far_apart_elsewhere(country: Country, antennas: Antennas) -> None:
    apart = antennas.tree.query(antennas.at, k=2)[0][:, 1]
    from_towns = length(antennas.at[:, None, :] - country.towns)
    assert 200 < np.median(apart[from_towns[:, 0] < 1500]) < 600
    assert 600 < np.median(apart[(from_towns[:, 0] > 4000) & (from_towns[:, 0] < 9000)]) < 2500
    rural = from_towns.min(axis=1) > 12_000
    assert rural.mean() > 0.1
    assert 3000 < np.median(apart[rural]) < 12_000
    assert length(antennas.at).max() <= country.radius
    # Antennas keep their distance, as points drawn at random would not.
    assert apart.min() > 100


def test_the_nearest_antenna_is_found(antennas: Antennas) -> None:
    points = antennas.reach * (np.random.default_rng(5).random((200, 2)) - 0.5)
    by_hand = length(points[:, None, :] - antennas.at).argmin(axis=1)
    assert np.array_equal(antennas.nearest(points), by_hand)


def test_jumps_and_waits_are_power_laws() -> None:
    """The slope of the density, in the middle of the range, over a decade."""
    even = (np.arange(400_000) + 0.5) / 400_000
    for table, exponent, low in ((jumps(), JUMP_EXPONENT, 1000.0), (waits(), WAIT_EXPONENT, 3600.0)):
        drawn = look_up(table, even)
        first = np.count_nonzero((drawn >= low) & (drawn < 1.2 * low))
        second = np.count_nonzero((drawn >= 10 * low) & (drawn < 12 * low))
        assert np.log10(10 * first / second) == pytest.approx(exponent, abs=0.05)


def test_somewhere_new_becomes_seldom_as_the_law_says(stays: MoverStays) -> None:
    """At weekends by day, when almost nobody goes home or to work for the hour's sake."""
    leave = stays.leave[:-1]
    free = (leave // DAY % 7 >= 5) & (leave // HOUR % 24 >= 6) & (leave // HOUR % 24 < 10)
    known = np.cumsum(stays.found, axis=0)[2:-1]
    new = stays.found[3:]
    expected = 0.97 * RHO * known**-GAMMA
    for few in (known < 12, known >= 12):
        some = free & few
        assert np.count_nonzero(some) > 2000
        assert new[some].mean() == pytest.approx(expected[some].mean(), rel=0.1)
    assert new[free & (known >= 12)].mean() < 0.85 * new[free & (known < 12)].mean()


def test_returns_go_to_places_in_proportion_to_their_visits(stays: MoverStays) -> None:
    """Among places other than home and work, which the hour sends people to as well."""
    seen, expected = np.zeros(3), np.zeros(3)
    for user in range(400):
        visits: dict[int, int] = {}
        for stay, place in enumerate(stays.place[:, user].tolist()):
            if place in visits:
                chosen = np.minimum(list(visits.values()), 3) - 1
                shares = np.array(list(visits.values())) / sum(visits.values())
                expected += np.bincount(chosen, shares, minlength=3)
                seen[min(visits[place], 3) - 1] += 1
            if place not in (HOME, WORK):
                assert place in visits or place == stay + 2
                visits[place] = visits.get(place, 0) + 1
    assert expected.min() > 400
    assert seen == pytest.approx(expected, rel=0.1)


def test_stays_follow_each_other_and_nobody_flies(stays: MoverStays) -> None:
    column = np.arange(USERS)
    at = stays.places[stays.place, column]
    way = length(np.diff(at, axis=0))
    took = stays.arrive[1:] - stays.leave[:-1]
    assert (took >= 0).all()
    assert (stays.leave > stays.arrive).all()
    assert (way[took == 0] == 0).all()
    assert (way[took > 0] / took[took > 0]).max() < 12.0


def test_people_sleep_at_home_and_work_by_day(stays: MoverStays) -> None:
    def share(place: int, day: int, hour: int) -> float:
        now = day * DAY + hour * HOUR
        there = (stays.arrive <= now) & (stays.leave > now) & (stays.place == place)
        return float(there.any(axis=0).mean())

    assert share(HOME, 2, 4) > 0.85
    assert share(HOME, 2, 11) < 0.35
    assert 0.4 < share(WORK, 2, 11) < 0.7
    assert share(WORK, 2, 23) < 0.05
    assert share(WORK, 5, 11) < 0.05
    assert share(HOME, 5, 8) > share(HOME, 2, 8) + 0.3


def test_calls_keep_to_the_clock(calls: pa.Table) -> None:
    time = seconds_of(calls)
    by_hour = np.bincount(time // HOUR % 24, minlength=24) / time.size
    assert by_hour[2:5].sum() < 0.02
    assert 0.18 < by_hour[18:21].sum() < 0.26
    by_day = np.bincount(time // DAY, minlength=DAYS) / time.size
    weekend = np.arange(DAYS) % 7 >= 5
    assert by_day[weekend].mean() < 0.95 * by_day[~weekend].mean()
    # No day is busier for being the first or the last.
    assert by_day[~weekend].max() < 1.12 * by_day[~weekend].min()


def test_calls_come_in_bursts(calls: pa.Table) -> None:
    """Burstiness (Goh and Barabasi 2008) is 0 where calls come at random, and above 0 in bursts."""
    user, time = users_of(calls), seconds_of(calls)
    same = user[1:] == user[:-1]
    gap, whose = np.diff(time)[same].astype(np.float64), user[1:][same]
    many = np.bincount(whose, minlength=USERS)
    often = many > 30
    mean = np.bincount(whose, gap)[often] / many[often]
    spread = np.sqrt(np.bincount(whose, gap * gap)[often] / many[often] - mean * mean)
    assert 0.2 < np.median((spread - mean) / (spread + mean)) < 0.6
    assert np.median(gap) < 0.25 * gap.mean()


def test_users_have_one_place_above_all_and_range_over_a_few_kilometres(calls: pa.Table) -> None:
    user, antenna = users_of(calls), calls["antenna_id"].to_numpy().astype(np.int64)
    pairs, many = np.unique(user * 10_000 + antenna, return_counts=True)
    each = np.bincount(user)
    top = np.zeros(USERS, np.int64)
    np.maximum.at(top, pairs // 10_000, many)
    assert 0.4 < np.median(top / each) < 0.65
    assert 5 <= np.median(np.bincount(pairs // 10_000)) <= 15
    at = np.stack([calls["lon"].to_numpy() * np.cos(np.radians(15.0)), calls["lat"].to_numpy()]) * 111.195
    mean = np.stack([np.bincount(user, axis) / each for axis in at])
    square = ((at - mean[:, user]) ** 2).sum(axis=0)
    gyration = np.sqrt(np.bincount(user, square) / each)
    assert 2 < np.median(gyration) < 8
    assert np.percentile(gyration, 99) > 5 * np.median(gyration)


def test_on_the_way_the_antennas_in_between_serve() -> None:
    """Between two calls close in time lies no more than can be travelled, and half a cell at each end."""
    calls = pa.Table.from_batches(list(Cdr(users=60, samples=3000, antennas=2000).batches()))
    user, time = users_of(calls), seconds_of(calls)
    at = np.stack([calls["lon"].to_numpy() * np.cos(np.radians(15.0)), calls["lat"].to_numpy()]) * 111_195.0
    close = (user[1:] == user[:-1]) & (np.diff(time) < 120)
    step = np.hypot(*np.diff(at, axis=1))[close]
    assert np.count_nonzero(step) > 100
    assert step.max() < 30_000
