"""Dummies: as few as a profile asks for, as fast as people are, and what an audit and an attack say."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import dummies as plain
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.attacks.dummies import guess_apart
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.audit.dummies import disclosures
from tripcloak.trajectories.audit.screening import BoxSpans
from tripcloak.trajectories.methods._kernels import dummies as kernels
from tripcloak.trajectories.methods.dummies import Dummies
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease

RULE = "dummies-meet-profile"


def walkers(people: int = 12, moments: int = 30, seed: int = 1) -> Trajectories:
    """Return people who walk about a town, each at times of its own."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(people), moments)
    t = np.sort(np.stack([random.choice(200, moments, replace=False) for _ in range(people)]), axis=1).ravel()
    steps = random.integers(-9, 10, (2, people, moments))
    x, y = 100 + np.cumsum(steps, axis=2).reshape(2, -1)
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


def groups(release: TrajectoryRelease) -> dict[int, list[int]]:
    """Return the released trajectories of each person, the own one first."""
    assert release.guards is not None
    found = {
        one: [int(release.released_of[one])] for one in np.flatnonzero(release.released_of >= 0).tolist()
    }
    for row, one in enumerate(release.guards.tolist()):
        if one >= 0:
            found[one].append(row)
    return found


def cells(release: TrajectoryRelease, row: int, cell: int) -> list[tuple[int, int]]:
    mine = slice(*release.offsets[row : row + 2])
    x, y = (side[mine] * release.grid.metres // cell for side in (release.boxes.x0, release.boxes.y0))
    return list(zip(x.tolist(), y.tolist(), strict=True))


@pytest.mark.parametrize("pattern", ["rotation", "random"])
def test_everybody_has_dummies_that_meet_the_profile(pattern: str) -> None:
    people = walkers()
    method = Dummies(pattern=pattern, sd=0.3, ld=0.1, dst=1.5, cell=500)
    release = method.anonymise(people)
    fewest = {len(group) for group in groups(release).values()}
    assert min(fewest) >= 4
    for group in groups(release).values():
        tracks = [cells(release, row, 500) for row in group]
        rows = range(len(group))
        assert plain.mean_disclosure(tracks, rows, len(group)) <= 0.3
        assert 1 / len(plain.all_ways(tracks)) <= 0.1
        own, *others = (np.array([cell]) for cell in [places(release, row) for row in group])
        away = np.mean([np.hypot(*(other - own)[0]).mean() for other in others]) * 100 / 500
        assert away >= 1.5
    assert audit_release(people, release).safe
    assert not release.deleted.any()


def places(release: TrajectoryRelease, row: int) -> Any:
    mine = slice(*release.offsets[row : row + 2])
    return np.stack([release.boxes.x0[mine], release.boxes.y0[mine]]).astype(float)


@pytest.mark.parametrize("pattern", ["rotation", "random"])
def test_dummies_keep_times_and_sizes_and_go_no_faster(pattern: str) -> None:
    people = walkers(people=6)
    release = Dummies(pattern=pattern, sd=0.6, ld=0.5).anonymise(people)
    for own, *others in groups(release).values():
        true = slice(*release.offsets[own : own + 2])
        lasts = np.diff(release.boxes.t0[true])
        fastest = (np.hypot(*np.diff(places(release, own))) / lasts).max()
        for row in others:
            mine = slice(*release.offsets[row : row + 2])
            assert (release.boxes.t0[mine] == release.boxes.t0[true]).all()
            assert (release.boxes.x1 - release.boxes.x0)[mine].tolist() == (
                release.boxes.x1 - release.boxes.x0
            )[true].tolist()
            assert (np.hypot(*np.diff(places(release, row))) <= fastest * lasts + 2).all()


def test_turned_trajectories_meet_the_true_one() -> None:
    some = walkers(people=4)
    # Two who are far away, so that no turn leads out of the area.
    user, t = np.append(some.owner, [8, 8, 9, 9]), np.append(some.t, [0, 1, 0, 1])
    x, y = (np.append(side, [-3000, -3000, 3000, 3000]) for side in (some.x, some.y))
    release = Dummies(sd=0.6, ld=0.9, dst=0).anonymise(Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid()))
    for who in range(4):
        own, *others = groups(release)[who]
        assert others
        for row in others:
            assert (places(release, own) == places(release, row)).all(axis=0).any()


def test_dummies_are_drawn_anew_every_time() -> None:
    people = walkers(people=4)
    one, other = (Dummies().anonymise(people) for _ in range(2))
    assert not all(np.array_equal(a, b) for a, b in zip(one.boxes, other.boxes, strict=True))
    silent = lambda *_: None  # noqa: E731
    same = [Dummies().solve(people, silent, np.random.default_rng(1)).boxes for _ in range(2)]
    assert all(np.array_equal(a, b) for a, b in zip(*same, strict=True))


def test_who_never_moves_has_random_dummies() -> None:
    still = Trajectories.of(
        user=np.repeat([0, 1, 2], 4),
        t=np.tile(np.arange(4), 3),
        x=np.repeat([5, 300, 120], 4),
        y=np.repeat([5, 200, 10], 4),
        grid=Grid(),
    )
    release = Dummies().anonymise(still)
    assert len(groups(release)) == 3
    assert audit_release(still, release).safe


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_kernels_are_their_plain_twins(seed: int, tracks: int, reach: int) -> None:
    random = np.random.default_rng(seed)
    codes = random.integers(0, reach, (tracks, 5))
    away = random.uniform(0, 4, tracks)
    rows = np.arange(tracks)
    assert kernels.count_ways(codes, rows, tracks) == plain.count_ways(codes, rows, tracks)
    assert np.isclose(
        kernels.mean_disclosure(codes, rows, tracks), plain.mean_disclosure(codes, rows, tracks)
    )
    asked = (0.6, 0.4, 1.0)
    assert np.isclose(
        kernels.lacking(codes, away, rows, tracks, *asked), plain.lacking(codes, away, rows, tracks, *asked)
    )
    fits = random.integers(0, 4, tracks).clip(0, 1)
    mine, theirs = np.zeros(tracks + 1, np.int64), np.zeros(tracks + 1, np.int64)
    n = kernels.choose_dummies(codes, away, fits, 3, *asked, mine)
    assert n == plain.choose_dummies(codes, away, fits, 3, *asked, theirs)
    assert mine[:n].tolist() == theirs[:n].tolist()
    if n and fits[1:].all():
        assert n - 1 >= plain.fewest(codes, away, 3, *asked)


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_the_auditor_counts_as_the_equations_do(seed: int, tracks: int, moments: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.integers(0, 4, (2, tracks * moments))
    t = np.tile(np.arange(moments), tracks)
    spans = BoxSpans(np.arange(tracks + 1) * moments, t, t + 1, x, x + 1, y, y + 1)
    sd, ld, dst = disclosures(spans, np.arange(tracks)[None, :], 2.0)
    codes = [[(int(x[at]) // 2, int(y[at]) // 2) for at in range(a, b)] for a, b in pairwise(spans.offsets)]
    assert np.isclose(sd[0], plain.mean_disclosure(codes, range(tracks), tracks))
    assert np.isclose(ld[0], 1 / len(plain.all_ways(codes)))
    far = [
        np.hypot(x[row * moments + at] - x[at], y[row * moments + at] - y[at]) / 2
        for row in range(1, tracks)
        for at in range(moments)
    ]
    assert np.isclose(dst[0], np.mean(far) if far else 0.0)


def test_the_paper_s_ways_where_two_meet_once() -> None:
    # Two that cross at one moment: four ways; a third apart from them: one more (equation 2.7).
    codes = np.array([[0, 5, 1], [2, 5, 3], [7, 8, 9]])
    assert kernels.count_ways(codes, np.arange(3), 2) == 4
    assert kernels.count_ways(codes, np.arange(3), 3) == 5


@pytest.mark.parametrize(
    "asked",
    [
        {"sd": 0.0},
        {"sd": 1.0},
        {"ld": 0.0},
        {"ld": 1.5},
        {"dst": -1.0},
        {"dst": float("nan")},
        {"cell": 0},
        {"most": 0},
        {"withheld": 1.0},
        {"pattern": "odd"},
    ],
)
def test_profiles_that_mean_nothing_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Dummies(**asked)


def test_impossible_profiles_are_told_with_what_is_possible() -> None:
    with pytest.raises(ImpossibleRequestError, match=r"takes 9 dummies or more.*most=9.*sd=0\.25"):
        Dummies(sd=0.1, most=3)
    with pytest.raises(ImpossibleRequestError, match=r"for too many people.*withheld=0\.5"):
        Dummies(dst=1e6).anonymise(walkers(people=3))


def released() -> tuple[Trajectories, TrajectoryRelease]:
    people = walkers(people=5)
    return people, Dummies(sd=0.4, ld=0.25, dst=1.0).anonymise(people)


def test_a_profile_that_is_not_met_is_found() -> None:
    people, release = released()
    assert audit_release(people, release).safe
    for change in ({"sd": 0.2}, {"ld": 1e-9}, {"dst": 500.0}):
        forged = replace(release, promise=replace(release.promise, **change))
        assert audit_release(people, forged).broken == (RULE,), change


def test_dummies_unlike_their_trajectory_are_found() -> None:
    people, release = released()
    dummy = int(np.flatnonzero(release.guards >= 0)[0])  # type: ignore[operator]
    at = int(release.offsets[dummy])
    for side, by in (("x1", 1), ("t1", 0), ("x0", -4000)):
        boxes = Boxes(*(np.asarray(one).copy() for one in release.boxes))
        if side == "t1":
            last = int(release.offsets[dummy + 1]) - 1
            boxes.t0[last] += 1000
            boxes.t1[last] += 1000
        elif side == "x0":
            boxes.x0[at] += by
            boxes.x1[at] += by
        else:
            boxes.x1[at] += by
        assert RULE in audit_release(people, replace(release, boxes=boxes)).broken, side


def test_trajectories_that_are_nobodys_or_untrue_are_found() -> None:
    people, release = released()
    assert release.guards is not None
    assert RULE in audit_release(people, replace(release, guards=None)).broken
    lost = np.where(np.arange(release.n_released) == 1, -1, release.guards)
    assert {"everybody-accounted", RULE} <= set(audit_release(people, replace(release, guards=lost)).broken)
    boxes = Boxes(*(np.asarray(one).copy() for one in release.boxes))
    boxes.x0[0] += 1
    boxes.x1[0] += 1
    assert {"own-samples-held", RULE} <= set(audit_release(people, replace(release, boxes=boxes)).broken)


def test_whoever_knows_samples_or_looks_at_others_finds_people() -> None:
    # All walk between the same five places.
    random = np.random.default_rng(3)
    spots = random.integers(0, 300, (5, 2))
    x, y = spots[random.integers(0, 5, 150 * 20)].T
    user, t = np.repeat(np.arange(150), 20), np.tile(np.arange(20) * 7, 150)
    people = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    release = Dummies().anonymise(people)
    guess, apart = guess_owner(people, release), guess_apart(people, release)
    assert guess is not None
    assert guess.right is not None
    assert guess.right >= 95
    assert (guess.people, apart.people) == (150, 150)
    assert apart.right is not None
    assert apart.blind is not None
    assert apart.right >= 80
    assert apart.blind <= 40


@pytest.mark.parametrize("pattern", ["rotation", "random"])
def test_dummies_of_people_who_meet_nobody_are_told_by_meetings_and_by_speeds(pattern: str) -> None:
    random = np.random.default_rng(5)
    n, moments = 60, 40
    begin, end = random.uniform(0, 400, (2, n, 1, 2))
    gone = np.clip((np.arange(moments) - 12) / 16, 0, 1)[:, None]
    way = begin * (1 - gone) + end * gone + 0.3 * np.cumsum(random.normal(0, 1, (n, moments, 2)), axis=1)
    x, y = np.floor(way).reshape(-1, 2).T.astype(int)
    user, t = np.repeat(np.arange(n), moments), np.tile(np.arange(moments), n)
    people = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    apart = guess_apart(people, Dummies(pattern=pattern, withheld=0.5).anonymise(people))
    assert apart.right is not None
    assert apart.right >= 80
