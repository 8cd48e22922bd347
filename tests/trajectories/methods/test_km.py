"""k^m of trajectories: no m visits that fewer than k people share, and nothing coarser than that asks for."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import crowds as plain
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.attacks import attack
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods import km
from tripcloak.trajectories.methods.km import KMTrajectories, _Cut, _sets
from tripcloak.trajectories.model import Grid, Trajectories
from worlds.trajectories import made


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_any_m_visits_are_those_of_k(seed: int, k: int, m: int) -> None:
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(12), 5)
    t, x, y = (random.integers(low, high, 60) for low, high in ((0, 240), (-20, 20), (-20, 20)))
    people = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    try:
        release = KMTrajectories(k=k, m=m, cell=300, withheld=0.8).anonymise(people)
    except ImpossibleRequestError:
        return
    assert plain.fewest_sharing(plain.listed(release.offsets, *release.boxes), m) >= k
    assert audit_release(people, release).safe
    held = release.box_of >= 0
    for column, low, high in ((people.x, 2, 3), (people.y, 4, 5), (people.t, 0, 1)):
        box = release.box_of[held]
        assert (release.boxes[low][box] <= column[held]).all()
        assert (column[held] < release.boxes[high][box]).all()


def test_who_shares_everything_is_told_in_the_finest_cells() -> None:
    same = Trajectories.of(user=np.repeat([0, 1, 2], 2), t=[0, 90] * 3, x=[1, 55] * 3, y=[0] * 6, grid=Grid())
    release = KMTrajectories(k=3, m=2, cell=500).anonymise(same)
    assert set((release.boxes.x1 - release.boxes.x0).tolist()) == {5}
    assert not release.deleted.any()


def test_pairs_are_what_m_of_two_protects_beyond_single_visits() -> None:
    # Each single visit is shared by two; no two people share both.
    x = [1, 1, 1, 31, 31, 1, 31, 31]
    crossed = Trajectories.of(user=np.repeat(np.arange(4), 2), t=[0, 90] * 4, x=x, y=[0] * 8, grid=Grid())
    single, pairs = (KMTrajectories(k=2, m=m, cell=1000).anonymise(crossed) for m in (1, 2))
    assert set((single.boxes.x1 - single.boxes.x0).tolist()) == {10}
    assert max((pairs.boxes.x1 - pairs.boxes.x0).tolist()) > 10
    known = {
        m: attack(crossed, "points", knowledge=2, release=made).matches
        for m, made in ((1, single), (2, pairs))
    }
    assert known[1].tolist() == [1, 1, 1, 1]
    assert known[2].min() >= 2


def test_slots_that_too_few_share_are_withheld_or_refused() -> None:
    people = Trajectories.of(user=[0, 1, 2, 0], t=[0, 1, 2, 600], x=[1] * 4, y=[0] * 4, grid=Grid())
    release = KMTrajectories(k=3, m=1).anonymise(people)
    assert release.deleted.tolist() == [False, True, False, False]
    with pytest.raises(ImpossibleRequestError, match="too many visits would be withheld"):
        KMTrajectories(k=3, m=1, withheld=0.1).anonymise(people)


def test_a_refusal_names_ways_that_do_and_the_least_share_of_each() -> None:
    # All three are there in two slots of a day; each is there in one of three more with a single other.
    slots = [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 3, 4]]
    user = np.repeat([0, 1, 2], 4)
    people = Trajectories.of(user=user, t=np.ravel(slots) * 60, x=[1] * 12, y=[0] * 12, grid=Grid())
    asked = KMTrajectories(k=3, m=2, withheld=0.2)
    with pytest.raises(ImpossibleRequestError) as refused:
        asked.anonymise(people)
    found = re.search(r"withheld, (\d+) %.* What would do: withheld=([\d.]+), or (.*)", str(refused.value))
    assert found is not None
    percent, share, others = found.groups()
    assert (percent, share, others) == (
        "50",
        "0.5",
        "m=1 with withheld=0.5, or interval=86400, or interval=604800",
    )
    assert replace(asked, withheld=0.5).anonymise(people).deleted.sum() == 6
    assert replace(asked, interval=86400).anonymise(people).n_released == 3
    with pytest.raises(ImpossibleRequestError, match="50 %"):
        replace(asked, withheld=0.49).anonymise(people)


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_sets_of_changed_cells_are_all_that_need_counting(seed: int) -> None:
    people = made(users=12, samples=10, seed=seed, days=1, spread=20)
    asked = KMTrajectories(k=3, m=2, cell=300, interval=14400, withheld=0.9)
    counted = asked.anonymise(people).boxes
    with pytest.MonkeyPatch.context() as every:
        every.setattr(km, "_sets", lambda owner, size, changed: _sets(owner, size, np.ones_like(changed)))
        for one, other in zip(counted, asked.anonymise(people).boxes, strict=True):
            assert one.tolist() == other.tolist()


def test_too_many_sets_to_count_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tripcloak.trajectories.methods.km.MOST_SETS", 100)
    with pytest.raises(ImpossibleRequestError, match="more than 100 sets of 2 visits"):
        KMTrajectories(k=2, interval=14400).anonymise(made(users=6, samples=12))


def test_sets_that_no_number_of_63_bits_tells_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    people = made(users=60, samples=12)
    monkeypatch.setattr(_Cut, "n_items", (1 << 21) - 1)
    assert KMTrajectories(k=2, m=3, interval=86400, cell=5000).anonymise(people).n_released
    monkeypatch.setattr(_Cut, "n_items", 1 << 21)
    with pytest.raises(ImpossibleRequestError, match="more than 2 to the 63 sets of 3 visits"):
        KMTrajectories(k=2, m=3, interval=86400, cell=5000).anonymise(people)


def test_whoever_knows_all_visits_finds_people_all_the_same() -> None:
    people = made(users=150, samples=25, seed=7, days=1, spread=15)
    release = KMTrajectories(k=3, m=1, withheld=0.9).anonymise(people)
    guess = guess_owner(people, release)
    assert guess is not None
    assert guess.right is not None
    assert guess.right > 60


@pytest.mark.parametrize("asked", [{"m": 0}, {"m": 4}, {"withheld": 1.0}, {"k": 1}, {"cell": 0}])
def test_parameters_that_mean_nothing_are_refused(asked: dict[str, float]) -> None:
    with pytest.raises(InputError):
        KMTrajectories(**asked)  # type: ignore[arg-type]
