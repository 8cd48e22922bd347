"""Facts say what trajectories are like, and single out nobody."""

from __future__ import annotations

import numpy as np

from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.reading import describe_trajectories
from worlds.trajectories import made


def test_facts_against_a_plain_count() -> None:
    trajectories = made(users=30, samples=9, seed=4)
    facts = describe_trajectories(trajectories)
    assert (facts["users"], facts["samples"]) == (30, 270)
    assert facts["samples_per_user"] == dict.fromkeys(("10%", "25%", "50%", "75%", "90%"), 9.0)
    radii, gaps = [], []
    for first, last in zip(trajectories.offsets, trajectories.offsets[1:], strict=False):
        x, y = trajectories.x[first:last], trajectories.y[first:last]
        radii.append(np.sqrt(((x - x.mean()) ** 2 + (y - y.mean()) ** 2).mean()) / 10)
        gaps += np.diff(trajectories.t[first:last]).tolist()
    assert facts["radius_of_gyration_km"]["50%"] == float(f"{np.median(radii):.2g}")
    assert facts["gap_minutes"]["90%"] == float(f"{np.quantile(gaps, 0.9):.2g}")


def test_nothing_but_numbers_of_people_is_told_of_fewer_than_ten() -> None:
    facts = describe_trajectories(made(users=9, samples=5))
    assert (facts["users"], facts["samples"]) == (9, 45)
    assert all(facts[name] is None for name in set(facts) - {"users", "samples", "resolution"})


def test_one_person_moves_no_edge() -> None:
    users = np.repeat(np.arange(40), 2)
    day = 1440
    t = np.tile([day * 20_000, day * 20_005], 40)
    x = np.tile([0, 99], 40)
    plain = Trajectories.of(user=users, t=t, x=x, y=x, grid=Grid())
    t, x = t.copy(), x.copy()
    t[1], x[0] = day * 20_400, -9000
    odd = Trajectories.of(user=users, t=t, x=x, y=x, grid=Grid())
    for name in ("period", "extent_km"):
        assert describe_trajectories(plain)[name] == describe_trajectories(odd)[name]
    assert describe_trajectories(plain)["period"] == ["2024-10-04", "2024-10-09"]
    assert describe_trajectories(plain)["extent_km"] == [10.0, 10.0]


def test_single_samples_have_no_gaps() -> None:
    lone = Trajectories.of(user=np.arange(12), t=np.arange(12), x=np.zeros(12), y=np.zeros(12), grid=Grid())
    facts = describe_trajectories(lone)
    assert facts["gap_minutes"] is None
    assert facts["radius_of_gyration_km"]["90%"] == 0.0
