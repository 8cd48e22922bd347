"""Stays against a plain twin, and the trips between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.trajectories import stays as oracle
from tripcloak.ground.arrays import to_read
from tripcloak.ground.errors import InputError
from tripcloak.trajectories._kernels import mark_arrivals
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes
from tripcloak.trajectories.stays import Stays, Visits, find_stays, trips_between

HOUR = 3600


def walks(*people):
    """Return visits of one step of a minute each, from (minute, x, y) of every person."""
    samples = np.array([sample for person in people for sample in sorted(person)], dtype=float)
    offsets = np.cumsum([0, *map(len, people)])
    begins = (samples[:, 0] * 60).astype(np.int64)
    return Visits(offsets, begins, begins + 60, samples[:, 1], samples[:, 2])


SAMPLES = st.tuples(st.integers(0, 300), st.integers(0, 8), st.integers(0, 8))
PEOPLE = st.lists(st.lists(SAMPLES, min_size=1, max_size=12), min_size=1, max_size=4)


@given(PEOPLE, st.sampled_from([1.0, 2.0, 5.0]), st.sampled_from([0, 10, 60]))
def test_stays_are_those_of_the_plain_twin(people, metres, minutes):
    visits = walks(*people)
    stays = find_stays(visits, metres=metres, minutes=minutes)
    plain = oracle.find_stays(visits, metres, minutes)
    assert len(stays.owner) == len(plain)
    assert np.allclose(np.column_stack(stays), np.array(plain).reshape(-1, 5))


@pytest.mark.parametrize("mark", [mark_arrivals, mark_arrivals.py_func], ids=["compiled", "uncompiled"])
def test_arrivals_are_those_of_the_plain_twin(mark):
    draw = np.random.default_rng(5)
    visits = walks(*(draw.integers(0, 9, (30, 3)).tolist() for _ in range(5)))
    found = np.zeros(len(visits.x), dtype=bool)
    mark(to_read(visits.offsets), visits.x.copy(), visits.y.copy(), 3.0, found)
    assert 5 < found.sum() < len(found)
    people = [slice(*visits.offsets[i : i + 2]) for i in range(5)]
    plain = [oracle.mark_arrivals(visits.x[own], visits.y[own], 3.0) for own in people]
    assert found.tolist() == [new for one in plain for new in one]


def test_a_commute_is_two_trips_and_the_way_there_is_no_stay():
    home, work = (0.0, 0.0), (8000.0, 0.0)
    day = [(minute, *home) for minute in (0, 200, 420)]
    day += [(425, 2000.0, 0.0), (435, 5000.0, 0.0)]
    day += [(445, *work), (700, *work), (1000, *work), (1030, *home), (1300, *home)]
    visits = walks(day)
    trips = trips_between(find_stays(visits))
    assert (trips.leaves // 60).tolist() == [421, 1001]
    assert (trips.arrives // 60).tolist() == [445, 1030]
    assert trips.origin_x.tolist() == [0, 8000]
    assert trips.destination_x.tolist() == [8000, 0]
    assert trips.too_long == 0


def test_nobody_travels_from_one_persons_last_stay_to_anothers_first():
    visits = walks([(0, 0.0, 0.0), (60, 0.0, 0.0)], [(100, 9000.0, 0.0), (160, 9000.0, 0.0)])
    stays = find_stays(visits)
    assert len(stays.owner) == 2
    assert len(trips_between(stays).owner) == 0


def test_after_a_long_silence_nobody_knows_and_that_is_no_trip():
    visits = walks([(0, 0.0, 0.0), (60, 0.0, 0.0), (3000, 9000.0, 0.0), (3100, 9000.0, 0.0)])
    trips = trips_between(find_stays(visits))
    assert (len(trips.owner), trips.too_long) == (0, 1)
    assert len(trips_between(find_stays(visits), hours=72).owner) == 1


def test_nobody_arrives_before_they_leave():
    visits = walks([(0, 0.0, 0.0), (60, 0.0, 0.0), (60, 9000.0, 0.0), (99, 9000.0, 0.0)])
    trips = trips_between(find_stays(visits))
    assert trips.leaves.tolist() == trips.arrives.tolist() == [HOUR]


def test_a_walk_around_the_block_is_no_trip():
    visits = walks([(0, 0.0, 0.0), (60, 0.0, 0.0), (65, 900.0, 0.0), (70, 10.0, 0.0), (130, 10.0, 0.0)])
    stays = find_stays(visits)
    assert len(stays.owner) == 2
    assert len(trips_between(stays).owner) == 0


def test_check_ins_need_no_duration():
    visits = walks([(0, 0.0, 0.0), (60, 5000.0, 0.0), (120, 0.0, 0.0)])
    assert len(find_stays(visits).owner) == 0
    assert len(trips_between(find_stays(visits, minutes=0)).owner) == 2


def test_samples_and_boxes_are_taken_at_their_centres():
    grid = Grid(seconds=60, metres=100)
    made = Trajectories.of(user=["a", "a"], t=[1, 5], x=[0, 3], y=[-1, 0], grid=grid)
    visits = Visits.of_trajectories(made)
    assert visits.begins.tolist() == [60, 300]
    assert visits.ends.tolist() == [120, 360]
    assert visits.x.tolist() == [50, 350]
    assert visits.y.tolist() == [-50, 50]
    box = Boxes(*(np.array([side], dtype=np.int32) for side in (0, 60, 0, 10, 2, 4)))
    assert find_stays(Visits.of_boxes(grid, np.array([0, 1]), box)) == Stays(
        *(np.array([value]) for value in (0, 0, HOUR, 500.0, 300.0))
    )


@pytest.mark.parametrize("wish", [{"metres": 0}, {"minutes": -1}, {"metres": float("nan")}])
def test_what_cannot_be_a_stay_is_refused(wish):
    with pytest.raises(InputError, match="stay"):
        find_stays(walks([(0, 0.0, 0.0)]), **wish)


def test_a_trip_takes_some_time():
    with pytest.raises(InputError, match="hours"):
        trips_between(find_stays(walks([(0, 0.0, 0.0)])), hours=0)
