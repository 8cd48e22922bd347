"""AdaTrace: neighbours that differ by no more than planned, budgets that add up, walks by their tables."""

from __future__ import annotations

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
from tripcloak.trajectories.methods.cells import Lattice
from tripcloak.trajectories.methods.noise.adatrace import AdaTrace, on_simplex
from tripcloak.trajectories.methods.noise.days import days_of
from tripcloak.trajectories.methods.noise.leaves import divided
from tripcloak.trajectories.methods.noise.noisy import Drawing, shared_budget
from tripcloak.trajectories.model import Grid, Trajectories
from worlds.noise_sources import Recorded

UNITS = ("user", "event", "w-event", "l-trajectory", "element")
SMALL = {"cell": 2000, "interval": 3600, "reach": 8000}


def people(n: int = 40, seed: int = 0) -> Trajectories:
    """Return people with up to four visits on each of two days; one is there first and one last."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(n), 5)
    t = np.concatenate([np.sort(random.choice(48, 5, replace=False)) for _ in range(n)]) * 60
    x, y = random.integers(-60, 60, (2, 5 * n))
    user, t = np.append(user, [n, n + 1]), np.append(t, [0, 2879])
    return Trajectories.of(user=user, t=t, x=np.append(x, [1, 1]), y=np.append(y, [1, 1]), grid=Grid())


class Everything(Recorded):
    """Tells the same large numbers whatever the input is, so that cells are the same."""

    def _answer(self, exact: Ints, asked: dict[str, float]) -> Ints:
        super()._answer(exact, asked)
        return np.full(len(exact), 1000 if asked["sensitivity"] <= 2 else 10**9)


def exact_numbers(trajectories: Trajectories, **asked: str) -> list[Ints]:
    source = Everything()
    AdaTrace(epsilon=9.0, **SMALL, **asked).anonymise(trajectories, noise=source)  # type: ignore[arg-type]
    return source.exact


def apart(one: Trajectories, other: Trajectories) -> list[int]:
    pairs = zip(exact_numbers(one), exact_numbers(other), strict=True)
    return [int(np.abs(a - b).sum()) for a, b in pairs]


@pytest.mark.parametrize("seed", range(2))
def test_leaving_out_a_user_changes_no_part_by_more_than_was_planned(seed: int) -> None:
    made = people(seed=seed)
    changes = [part.changes for part in AdaTrace(**SMALL).planned(made)]  # type: ignore[arg-type]
    for who in range(5):
        found = apart(made, made.take(np.delete(np.arange(made.n_users), who)))
        assert all(least <= most for least, most in zip(found, changes, strict=True))
        assert all(found)


@pytest.mark.parametrize("unit", UNITS[1:])
def test_another_visit_changes_no_part_by_more_than_was_planned(unit: str) -> None:
    made = people()
    changes = [part.changes for part in AdaTrace(unit=unit, **SMALL).planned(made)]  # type: ignore[arg-type]
    for sample in range(6):
        x = made.x.copy()
        x[sample] = -x[sample] - 1
        other = Trajectories(grid=made.grid, offsets=made.offsets, t=made.t, x=x, y=made.y)
        found = apart(made, other)
        assert all(least <= most for least, most in zip(found, changes, strict=True))
        assert found[1] > 0


def test_everybody_weighs_the_same_however_many_days_and_slots() -> None:
    made = people()
    days = days_of(made, Lattice.of(made.grid, cell=1000, interval=3600), 1_000_000)
    assert days.weight.max() <= 1_000_000
    for part in (days.share, days.per_move()):
        assert 0 <= days.weight.sum() - part.sum() < 50 * len(days.weight)
    assert days.weight.sum() == pytest.approx(made.n_users * 1_000_000, rel=1e-4)


def test_a_day_is_the_place_in_every_slot_from_the_first_to_the_last() -> None:
    made = Trajectories.of(
        user=[0] * 4, t=[60, 245, 250, 1500], x=[0, 29, 28, 70], y=[0, 0, 0, 11], grid=Grid()
    )
    days = days_of(made, Lattice.of(made.grid, cell=1000, interval=3600), 120)
    assert (days.begin.tolist(), days.day.tolist(), days.a_day, days.many) == ([1, 1], [0, 1], 24, 2)
    assert days.x.tolist() == [0, 0, 0, 2, 7]
    assert days.y.tolist() == [0, 0, 0, 0, 1]
    origin, target = days.moves()
    assert (origin.tolist(), target.tolist()) == ([0, 1, 2, 4], [1, 2, 3, 4])
    assert days.per_move().tolist() == [20, 20, 20, 60]


def test_every_place_has_one_leaf_and_lies_in_it_or_near_it() -> None:
    dice = np.random.default_rng(3)
    x, y = (dice.normal(5, 6, 4000).astype(np.int64) for _ in range(2))
    parts = shared_budget(100.0, [("level", 1)] * 6, [1 / 6] * 6)
    leaves = divided((x, y, np.ones(4000)), depth=6, least=100, drawing=Drawing(parts, OpenDPNoise(), silent))
    leaf, wide = leaves.of(x, y), 1 << leaves.level
    inside = (x // wide[leaf] == leaves.x[leaf]) & (y // wide[leaf] == leaves.y[leaf])
    assert inside.mean() > 0.99
    assert len(np.unique(leaves.level)) > 1
    centre = np.stack([(leaves.x + 0.5) * wide, (leaves.y + 0.5) * wide], axis=1)
    for row in np.flatnonzero(~inside):
        far = np.hypot(*(centre - [x[row] + 0.5, y[row] + 0.5]).T)
        assert far[leaf[row]] == pytest.approx(far.min())
    assert (leaves.of(np.array([10**6]), np.array([-(10**6)])) >= 0).all()


def test_a_cell_is_divided_where_there_are_many_and_no_leaf_lies_in_another() -> None:
    x, y = np.array([0] * 40 + [-3] * 4), np.array([0] * 40 + [2] * 4)
    parts = shared_budget(1e6, [("level", 1)] * 3, [1 / 3] * 3)
    leaves = divided((x, y, np.ones(44)), depth=3, least=10, drawing=Drawing(parts, Recorded(), silent))
    told = sorted(zip(leaves.level.tolist(), leaves.x.tolist(), leaves.y.tolist(), strict=True))
    assert told == [(0, 0, 0), (2, -1, 0)]
    none = divided((x, y, np.zeros(44)), depth=3, least=10, drawing=Drawing(parts, Recorded(), silent))
    assert len(none.x) == 0


@pytest.mark.parametrize("unit", UNITS)
def test_budgets_add_up_in_the_account_of_noise(unit: str) -> None:
    method = AdaTrace(epsilon=0.7, unit=unit)
    parts = method.planned(people())
    assert composed([Spending(part.epsilon) for part in parts]).epsilon == pytest.approx(0.7)
    promise = replace(method.promise, parts=parts)
    account = Account(Cap(10.0), (), ((Spending.of(promise), Spending.of(promise)),))
    assert account.epsilon == pytest.approx(1.4)


def test_every_part_is_drawn_with_its_own_noise_which_is_discrete_laplace() -> None:
    source, made = Everything(), people()
    method = AdaTrace(epsilon=3.0, **SMALL)  # type: ignore[arg-type]
    method.anonymise(made, noise=source)
    parts = method.planned(made)
    asked = [(one["scale"], one["sensitivity"], one["epsilon"]) for one in source.asked]
    assert asked == [(part.scale, part.changes, part.epsilon) for part in parts]
    drawn = Drawing(parts[1:], OpenDPNoise(), silent).noisy(np.zeros(10_000, np.int64)) / parts[1].scale
    # Quartiles of a Laplace distribution; a share of 10,000 draws is within five standard deviations.
    for share, at in ((0.25, -np.log(2)), (0.5, 0.0), (0.75, np.log(2)), (0.95, np.log(10))):
        assert abs((drawn <= at).mean() - share) < 5 * np.sqrt(share * (1 - share) / 10_000)


def test_numbers_that_add_up_are_the_nearest_ones() -> None:
    dice = np.random.default_rng(0)
    for _ in range(20):
        noisy = dice.integers(-20, 40, 6)
        best = on_simplex(noisy, 50.0)
        assert best.sum() == pytest.approx(50)
        assert best.min() >= 0
        for _ in range(50):
            other = dice.dirichlet(np.ones(6)) * 50
            assert ((other - noisy) ** 2).sum() >= ((best - noisy) ** 2).sum() - 1e-9


def commuters() -> Trajectories:
    """Return 600 people who go from west to east and 300 who go back, in three slots of a day."""
    user = np.repeat(np.arange(900), 3)
    way = np.tile([5, 45, 95], 900)
    x = np.where(user < 600, way, 100 - way)
    return Trajectories.of(user=user, t=[480, 540, 600] * 900, x=x, y=[5] * 2700, grid=Grid())


def test_with_little_noise_days_are_about_those_of_people() -> None:
    made = commuters()
    release = AdaTrace(epsilon=80.0, cell=1000, interval=3600, reach=8000).anonymise(made)
    first, last = release.boxes.x0[release.offsets[:-1]], release.boxes.x0[release.offsets[1:] - 1]
    assert abs(release.n_released - 900) < 10
    assert abs(int((first < last).sum()) - 600) < 40
    # Noise is of the system's own: a few days of another length may be among them.
    assert (np.diff(release.offsets) == 3).mean() > 0.98
    assert np.isin(release.boxes.t0, [480, 540, 600]).mean() > 0.98
    middle = release.boxes.x0[release.offsets[:-1] + 1]
    assert ((np.minimum(first, last) <= middle) & (middle <= np.maximum(first, last))).mean() > 0.95
    assert audit_release(made, release).safe


def test_forged_noise_and_raw_places_are_found() -> None:
    made = commuters()
    release = AdaTrace(epsilon=20.0, **SMALL).anonymise(made)  # type: ignore[arg-type]
    parts = release.promise.parts  # type: ignore[attr-defined]
    forged = replace(release.promise, parts=(parts[0]._replace(epsilon=99.0), *parts[1:]))  # type: ignore[call-arg]
    assert audit_release(made, replace(release, promise=forged)).broken == ("noise-adds-up",)
    boxes = release.boxes._replace(x0=release.boxes.x0 + (np.arange(len(release.boxes.x0)) == 2))
    assert audit_release(made, replace(release, boxes=boxes)).broken == ("made-up-is-coarse",)


def test_what_is_impossible_is_refused_in_words() -> None:
    with pytest.raises(ImpossibleRequestError, match="nothing is left"):
        AdaTrace(epsilon=0.001).anonymise(people(), noise=Recorded())
    for epsilon in (0.0, -1.0):
        with pytest.raises(InputError, match="epsilon must be a finite number above 0"):
            AdaTrace(epsilon=epsilon)
    with pytest.raises(InputError, match="reach"):
        AdaTrace(reach=0)


def test_slots_so_short_that_hours_are_noise_alone_are_refused_and_the_shortest_advised_is_taken() -> None:
    made = people()
    with pytest.raises(ImpossibleRequestError, match=r"a day has 720,.* 1,036,800 .*interval=300 or more"):
        AdaTrace(**{**SMALL, "interval": 61}).planned(made)  # type: ignore[arg-type]
    assert AdaTrace(**{**SMALL, "interval": 300}).planned(made)  # type: ignore[arg-type]


def test_people_beyond_the_reach_are_called_to_mind_and_found_with_a_larger_one() -> None:
    user = np.repeat(np.arange(300), 2)
    far = Trajectories.of(user=user, t=[0, 300] * 300, x=[9005] * 600, y=[5] * 600, grid=Grid())
    asked = {"epsilon": 50.0, "cell": 2000, "interval": 14400}
    with pytest.raises(ImpossibleRequestError, match="a larger reach where people are further"):
        AdaTrace(**asked).anonymise(far, noise=Recorded())  # type: ignore[arg-type]
    assert AdaTrace(**{**asked, "reach": 1_000_000}).anonymise(far, noise=Recorded()).n_released == 300  # type: ignore[arg-type]
