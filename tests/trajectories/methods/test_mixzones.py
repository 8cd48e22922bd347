"""Mix zones: silence among k, new pseudonyms, few zones; and what is told of how well they mix."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import mixing as plain
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.attacks.passages import guess_links
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods.mixzones.passages import (
    Passages,
    mixed,
    passages_through,
)
from tripcloak.trajectories.methods.mixzones.placing import Extents, placed
from tripcloak.trajectories.methods.mixzones.zones import MixZones
from tripcloak.trajectories.methods.moments import moments_of
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease


def crossing(people: int, *, late: int = 0, seed: int = 0) -> Trajectories:
    """Return people who come from four sides, meet in the middle and go on to four sides."""
    random = np.random.default_rng(seed)
    ends = np.array([(-20, 2), (2, 20), (20, 2), (2, -20)])
    rows = []
    for who in range(people):
        come, go = random.integers(0, 4, 2)
        start = late * who
        for at, (x, y) in enumerate((ends[come], ends[come] // 2, (1, 1), (2, 2), ends[go] // 2, ends[go])):
            rows.append((who, start + at, x, y))
    user, t, x, y = np.array(rows).T
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


def silences(people: Trajectories, release: TrajectoryRelease) -> list[tuple[int, float, float]]:
    """Return zone, first moment of silence and first one after it, of every change, by plain loops."""
    zones = release.facts["zones"]
    found = []
    for who in range(people.n_users):
        mine = range(*people.offsets[who : who + 2])
        quiet = [at for at in mine if release.box_of[at] < 0]
        for at in quiet:
            if at - 1 not in quiet:
                last = next(other for other in mine if other > at and other not in quiet)
                where = [
                    row[0]
                    for row in zones
                    if row[1] <= people.x[at] < row[2] and row[3] <= people.y[at] < row[4]
                ]
                assert len(where) == 1
                found.append((where[0], float(people.t[at]), float(people.t[last])))
    return found


def test_k_who_meet_are_silent_and_have_another_name_afterwards() -> None:
    people = crossing(6)
    release = MixZones(k=6, width=500).anonymise(people)
    assert release.n_released == 12
    assert release.whose.tolist() == sorted([*range(6), *range(6)])
    assert release.deleted.reshape(6, 6).tolist() == [[False, False, True, True, False, False]] * 6
    assert release.facts["zones"] == [[0, 0, 5, 0, 5]]  # of all squares around it the first
    assert audit_release(people, release).safe
    with pytest.raises(ImpossibleRequestError, match=r"in no zone of 500 metres 7 people .*width=1000"):
        MixZones(k=7, width=500).anonymise(Trajectories.of(**columns(people, crossing(1, seed=5))))


def columns(one: Trajectories, other: Trajectories) -> dict[str, Any]:
    """Return two crowds as one, the second at another time."""
    user = np.concatenate([one.owner, other.owner + one.n_users])
    t = np.concatenate([one.t, other.t + 500])
    x, y = (np.concatenate([getattr(one, name), getattr(other, name)]) for name in "xy")
    return {"user": user, "t": t, "x": x, "y": y, "grid": Grid()}


def test_who_passes_alone_or_too_slowly_keeps_the_name_and_every_sample() -> None:
    people = Trajectories.of(**columns(crossing(4), crossing(1)))
    release = MixZones(k=3, width=500).anonymise(people)
    assert release.whose.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    assert not release.deleted[people.owner == 4].any()
    with pytest.raises(ImpossibleRequestError, match="silent for longer"):
        MixZones(k=3, width=500, longest=59).anonymise(people)
    assert MixZones(k=3, width=500, longest=60).anonymise(people).n_released == 9


def test_one_after_the_other_is_not_together() -> None:
    # The second goes in at the very moment at which the first is seen outside again.
    assert MixZones(k=2, width=500).anonymise(crossing(5, late=1)).n_released == 10
    with pytest.raises(ImpossibleRequestError, match="at one moment"):
        MixZones(k=2, width=500).anonymise(crossing(5, late=2))


@given(st.integers(0, 10**6), st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_every_change_is_among_k_by_a_plain_count(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(12), 12)
    t = np.sort(random.integers(0, 40, (12, 12)), axis=1).ravel()
    x, y = random.integers(0, 24, (2, len(user)))
    people = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    try:
        release = MixZones(k=k, width=800, longest=900).anonymise(people)
    except ImpossibleRequestError:
        return
    found = silences(people, release)
    assert len(found) == release.facts["changes"] == release.n_released - 12
    assert min(plain.inside_at_once(found)) >= k
    assert audit_release(people, release).safe


@given(st.integers(0, 10**6), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_passages_with_k_inside_are_those_of_a_plain_count(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    people = Trajectories.of(
        user=np.repeat(np.arange(8), 6),
        t=np.concatenate([np.sort(random.choice(30, 6, replace=False)) for _ in range(8)]),
        x=random.integers(0, 3, 48),
        y=np.zeros(48),
        grid=Grid(),
    )
    moments = moments_of(people)
    zone, moment = moments.x0, np.arange(48)
    order = np.lexsort((moment, zone))
    found = passages_through(moments, zone[order], moment[order], longest=30)
    told = [
        (int(one), float(moments.t[a]), float(moments.t[b + 1]))
        for one, a, b in zip(*(column.tolist() for column in found), strict=True)
    ]
    expected = [number >= k for number in plain.inside_at_once(told)] if told else []
    assert mixed(moments, found, k).tolist() == expected


def test_no_moment_in_a_zone_is_no_passage() -> None:
    nothing = np.zeros(0, np.int64)
    moments = moments_of(crossing(1))
    assert len(passages_through(moments, nothing, nothing, longest=9).zone) == 0
    assert len(mixed(moments, Passages(nothing, nothing, nothing), 2)) == 0


@given(st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=7))
def test_zones_are_few_and_serve_everybody(serves: list[set[int]]) -> None:
    pairs = [(zone, who) for zone, people in enumerate(serves) for who in sorted(people)]
    zone, owner = np.array(pairs).T
    apart = np.arange(len(serves)) * 10
    where = Extents(apart, apart + 1, apart, apart + 1)
    chosen = placed(zone, owner, where, people=10, changes=1, coverage=1.0)
    served = set().union(*(serves[one] for one in chosen))
    assert served == set().union(*serves)
    best = plain.fewest_zones(dict(enumerate(serves)))
    # Chvatal's bound for greedy set cover.
    assert best <= len(chosen) <= best * math.fsum(1 / n for n in range(1, max(map(len, serves)) + 1)) + 1e-9


def test_zones_that_touch_a_chosen_one_are_left_out_and_more_changes_ask_for_more() -> None:
    zone, owner = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 0, 1, 0])
    side = np.array([0, 5, 20])
    touching = Extents(side, side + 5, np.zeros(3, int), np.full(3, 5))
    ask = {"people": 3, "coverage": 1.0}
    assert placed(zone, owner, touching, changes=1, **ask) == [0]  # type: ignore[arg-type]
    assert placed(zone, owner, touching, changes=2, **ask) == [0, 2]  # type: ignore[arg-type]
    assert placed(zone, owner, touching, changes=1, people=3, coverage=0.1) == [0]


def test_pieces_are_found_by_who_knows_them_and_linked_by_who_knows_ways() -> None:
    people = crossing(200, late=1, seed=3)
    release = MixZones(k=2, width=500).anonymise(people)
    guess, links = guess_owner(people, release), guess_links(people, release)
    assert guess is not None
    assert guess.right is not None
    assert guess.right >= 90
    assert links is not None
    assert links.changes == release.facts["changes"]
    # All take the same time here, so that who knows it finds everybody.
    assert links.timing == links.both == 100
    assert links.blind is not None
    assert links.blind < 50


def test_who_always_goes_straight_on_is_linked_by_the_way() -> None:
    rows = [
        (who, at, x * sign, y * sign)
        for who in range(120)
        for sign in (1 if who % 2 else -1,)
        for at, (x, y) in enumerate(((-20, 0), (-9, 0), (0, 0), (0, 9), (0, 20)))
    ]
    user, t, x, y = np.array(rows).T
    people = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    links = guess_links(people, MixZones(k=120, width=500).anonymise(people))
    assert links is not None
    assert (links.blind, links.timing, links.transition, links.both, links.places) == (1, 1, 2, 2, 2)
    assert links.alike is not None
    assert 55 < links.alike < 70


def test_who_goes_back_home_is_linked_by_the_home() -> None:
    n = 110
    homes = 50 + 10 * np.arange(n)
    x = np.stack([homes, np.zeros(n, int), homes], axis=1).ravel()
    user, t = np.repeat(np.arange(n), 3), np.tile([0, 10, 20], n)
    people = Trajectories.of(user=user, t=t, x=x, y=x * 0, grid=Grid())
    links = guess_links(people, MixZones(k=n, width=500).anonymise(people))
    assert links is not None
    assert (links.blind, links.timing, links.both, links.places) == (1, 1, 1, 100)


def test_whole_trajectories_have_no_links() -> None:
    from tripcloak.trajectories.methods.glove import TrajectoryGlove

    people = crossing(4)
    assert guess_links(people, TrajectoryGlove(k=2).anonymise(people)) is None


@pytest.mark.parametrize(
    "asked", [{"width": 0}, {"longest": 0}, {"coverage": 0.0}, {"coverage": 2.0}, {"k": 1}]
)
def test_parameters_that_mean_nothing_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        MixZones(**asked)


def test_zones_narrower_than_a_sample_are_refused() -> None:
    with pytest.raises(ImpossibleRequestError, match="narrower than one sample"):
        MixZones(k=2, width=99).anonymise(crossing(4))


def released() -> tuple[Trajectories, TrajectoryRelease]:
    people = crossing(6)
    return people, MixZones(k=5, width=500).anonymise(people)


RULE = "pseudonyms-change-among-k"


def test_fewer_than_promised_longer_or_wider_is_found() -> None:
    people, release = released()
    for change in ({"k": 7}, {"width": 499}, {"longest": 119}):
        forged = replace(release, promise=replace(release.promise, **change))
        assert RULE in audit_release(people, forged).broken, change
    assert audit_release(people, replace(release, promise=replace(release.promise, longest=120))).safe


@pytest.mark.parametrize(
    "zones", [None, [], [[0, 0, 5, 0]], [[0, 5, 0, 0, 5]], [[0, 0.0, 5, 0, 5]], "here", [[0, 2, 5, 0, 5]]]
)
def test_zones_that_are_none_or_elsewhere_are_found(zones: Any) -> None:
    people, release = released()
    assert RULE in audit_release(people, replace(release, facts={"zones": zones})).broken


def test_a_zone_split_in_two_does_not_hold_as_many() -> None:
    people, release = released()
    split = [[0, 0, 5, 0, 2], [1, 0, 5, 2, 5]]
    assert RULE in audit_release(people, replace(release, facts={"zones": split})).broken
    # The same place in two rectangles of one zone is the zone.
    same = [[0, 0, 5, 0, 2], [0, 0, 5, 2, 5]]
    assert audit_release(people, replace(release, facts={"zones": same})).safe


def test_pieces_of_somebody_else_and_pieces_left_out_are_found() -> None:
    people, release = released()
    assert release.pieces is not None
    swapped = release.pieces.copy()
    swapped[[1, 3]] = swapped[[3, 1]]
    assert "own-samples-held" in audit_release(people, replace(release, pieces=swapped)).broken
    assert "everybody-accounted" in audit_release(people, replace(release, pieces=None)).broken
    assert "everybody-accounted" in audit_release(people, replace(release, pieces=release.pieces - 1)).broken
    other = release.released_of.copy()
    other[0] += 1
    assert "everybody-accounted" in audit_release(people, replace(release, released_of=other)).broken
