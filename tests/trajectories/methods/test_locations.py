"""Interesting locations: neighbours that differ by no more than planned, budgets, and places as they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tripcloak.flows.methods.noise.composing import Spending, composed
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.noise import OpenDPNoise
from tripcloak.ground.progress import silent
from tripcloak.ledger.account import Account, Cap
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods.noise.locations import InterestingLocations
from tripcloak.trajectories.methods.noise.noisy import Drawing
from tripcloak.trajectories.model import Grid, Trajectories
from worlds.noise_sources import Recorded

UNITS = ("user", "event", "w-event", "l-trajectory", "element")
SMALL = {"cell": 500, "reach": 8000, "length": 2, "crowd": 1}


def people(n: int = 30, seed: int = 0) -> Trajectories:
    """Return people who stay three times for half an hour each, somewhere within 14 km."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(n), 6)
    t = np.tile([0, 30, 60, 90, 120, 150], n)
    x, y = np.repeat(random.integers(-70, 70, (2, 3 * n)), 2, axis=1)
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


class Everything(Recorded):
    """Tells so large a number of everything that the quadtree is the same whatever the input is."""

    def _answer(self, exact: Ints, asked: dict[str, float]) -> Ints:
        super()._answer(exact, asked)
        return np.full(len(exact), 1000)


def apart(one: Trajectories, other: Trajectories) -> list[int]:
    told = []
    for made in (one, other):
        source = Everything()
        InterestingLocations(epsilon=9.0, **SMALL).anonymise(made, noise=source)  # type: ignore[arg-type]
        told.append(source.exact)
    return [int(np.abs(a - b).sum()) for a, b in zip(*told, strict=True)]


def test_leaving_out_a_user_changes_no_part_by_more_than_was_planned() -> None:
    made = people()
    changes = [part.changes for part in InterestingLocations(**SMALL).planned(made)]  # type: ignore[arg-type]
    assert set(changes) == {2}
    for who in range(5):
        found = apart(made, made.take(np.delete(np.arange(made.n_users), who)))
        assert found == changes


@pytest.mark.parametrize("unit", UNITS[1:])
def test_another_visit_changes_no_part_by_more_than_was_planned(unit: str) -> None:
    made = people()
    changes = [part.changes for part in InterestingLocations(unit=unit, **SMALL).planned(made)]  # type: ignore[arg-type]
    changed = 0
    for sample in range(6):
        x = made.x.copy()
        x[sample] = -x[sample] - 1
        other = Trajectories(grid=made.grid, offsets=made.offsets, t=made.t, x=x, y=made.y)
        found = apart(made, other)
        assert all(least <= most for least, most in zip(found, changes, strict=True))
        changed += sum(found)
    assert changed > 0


@pytest.mark.parametrize("unit", UNITS)
def test_budgets_add_up_in_the_account_of_noise(unit: str) -> None:
    method = InterestingLocations(epsilon=0.7, unit=unit)
    parts = method.planned(people())
    assert composed([Spending(part.epsilon) for part in parts]).epsilon == pytest.approx(0.7)
    assert {part.changes for part in parts} == {3 if unit == "user" else 6}
    spent = Spending.of(replace(method.promise, parts=parts))
    assert Account(Cap(10.0), (), ((spent, spent),)).epsilon == pytest.approx(1.4)


def test_every_part_is_drawn_with_its_own_noise_which_is_discrete_laplace() -> None:
    source, made = Everything(), people()
    method = InterestingLocations(epsilon=6.0, **SMALL)  # type: ignore[arg-type]
    method.anonymise(made, noise=source)
    parts = method.planned(made)
    asked = [(one["scale"], one["sensitivity"], one["epsilon"]) for one in source.asked]
    assert asked == [(part.scale, part.changes, part.epsilon) for part in parts]
    drawn = Drawing(parts[-1:], OpenDPNoise(), silent).noisy(np.zeros(10_000, np.int64))
    ratio, values = np.exp(-1 / parts[-1].scale), np.arange(-4, 5)
    expected = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values) * len(drawn)
    found = np.array([(drawn == value).sum() for value in values])
    assert (np.abs(found - expected) < 5 * np.sqrt(expected)).all()


def regulars() -> Trajectories:
    """Return 60 people at one place for hours and at a second for a while, and 5 who only pass a third."""
    rows = [(who, t, -30, -30) for who in range(60) for t in (0, 60, 120)]
    rows += [(who, t, 41, 22) for who in range(60) for t in (200, 230)]
    rows += [(who, 150, 0, 60) for who in range(5)]
    user, t, x, y = zip(*rows, strict=True)
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


def places(made: Trajectories, **asked: int) -> Counter[tuple[int, int]]:
    method = InterestingLocations(epsilon=1e6, **{**SMALL, **asked})  # type: ignore[arg-type]
    boxes = method.anonymise(made, noise=Recorded()).boxes
    return Counter(zip(boxes.x0.tolist(), boxes.y0.tolist(), strict=True))


def test_without_noise_locations_are_where_people_stay_and_how_many_do() -> None:
    made = regulars()
    assert places(made) == {(-30, -30): 60, (40, 20): 60}
    # Of as many stays those that came first.
    assert places(made, stay=0) == {(-30, -30): 60, (40, 20): 55, (0, 60): 5}
    assert places(made, stay=0, length=3) == {(-30, -30): 60, (40, 20): 60, (0, 60): 5}
    assert places(made, stay=0, length=3, crowd=6) == {(-30, -30): 60, (40, 20): 60}
    assert places(made, stay=100) == {(-30, -30): 60}


def test_a_place_is_a_persons_own_after_so_many_stays() -> None:
    twice = [
        (who, t, x, 0)
        for who in range(9)
        for t, x in ((0, 0), (40, 0), (60, 50), (90, 50), (100, 0), (140, 0))
    ]
    user, t, x, y = zip(*twice, strict=True)
    made = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    assert places(made, stays=2) == {(0, 0): 9}
    assert places(made) == {(0, 0): 9, (50, 0): 9}


def test_cells_that_touch_are_one_location_told_by_its_middle() -> None:
    rows = [(who, t, 5 * (who % 3), 0) for who in range(90) for t in (0, 60)]
    user, t, x, y = zip(*rows, strict=True)
    made = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    assert places(made) == {(5, 0): 90}


def test_a_release_is_over_the_whole_period_and_its_forgeries_are_found() -> None:
    made = regulars()
    release = InterestingLocations(epsilon=1e6, **SMALL).anonymise(made, noise=Recorded())  # type: ignore[arg-type]
    assert (set(release.boxes.t0.tolist()), set(release.boxes.t1.tolist())) == ({0}, {240})
    assert audit_release(made, release).safe
    quiet = tuple(part._replace(scale=part.scale / 2) for part in release.promise.parts)  # type: ignore[attr-defined]
    forged = replace(release, promise=replace(release.promise, parts=quiet))  # type: ignore[call-arg]
    assert audit_release(made, forged).broken == ("noise-adds-up",)
    boxes = release.boxes._replace(y1=release.boxes.y1 + (np.arange(release.n_released) == 2))
    assert audit_release(made, replace(release, boxes=boxes)).broken == ("made-up-is-coarse",)


def test_what_is_impossible_is_refused_in_words() -> None:
    for asked, words in (
        ({"epsilon": 0.001}, "nothing is left"),
        ({"epsilon": 1e6, "stay": 10_000}, "no part of the quadtree"),
        ({"epsilon": 1e6, "crowd": 10_000}, r"no location of 10,000 people or more\).* a smaller crowd"),
    ):
        with pytest.raises(ImpossibleRequestError, match=words):
            InterestingLocations(**asked).anonymise(people(), noise=Recorded())  # type: ignore[arg-type]
    for epsilon in (0.0, -1.0):
        with pytest.raises(InputError, match="epsilon must be a finite number above 0"):
            InterestingLocations(epsilon=epsilon)
    with pytest.raises(InputError, match="crowd"):
        InterestingLocations(crowd=0)
