"""DPTD: ours spends on clusters and moves as well; the published variant says that it is not private."""

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
from tripcloak.trajectories.methods.noise.dptd import DPTD
from tripcloak.trajectories.methods.noise.noisy import Drawing
from tripcloak.trajectories.model import Grid, Trajectories
from worlds.noise_sources import Recorded

UNITS = ("user", "event", "w-event", "l-trajectory", "element")
FEW = {"cell": 2000, "interval": 3600, "length": 3, "clusters": 6}


def people(n: int = 40, seed: int = 0) -> Trajectories:
    """Return people with four visits each among nine cells; one is there from the first slot to the last."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(n), 4)
    t = np.concatenate([np.sort(random.choice(8, 4, replace=False)) for _ in range(n)]) * 60
    x, y = random.integers(0, 60, (2, 4 * n))
    user, t = np.append(user, [n, n]), np.append(t, [0, 420])
    return Trajectories.of(user=user, t=t, x=np.append(x, [1, 1]), y=np.append(y, [1, 1]), grid=Grid())


class Everything(Recorded):
    """Tells the same large numbers whatever the input is, so that clusters and tree are the same."""

    def _answer(self, exact: Ints, asked: dict[str, float]) -> Ints:
        super()._answer(exact, asked)
        return np.full(len(exact), 1000)


def exact_numbers(trajectories: Trajectories, unit: str) -> list[Ints]:
    source = Everything()
    DPTD(epsilon=9.0, unit=unit, **FEW).anonymise(trajectories, noise=source)  # type: ignore[arg-type]
    return source.exact


def test_leaving_out_a_user_changes_no_part_by_more_than_was_planned() -> None:
    made = people()
    changes = [part.changes for part in DPTD(**FEW).planned(made)]  # type: ignore[arg-type]
    for who in range(6):
        others = made.take(np.delete(np.arange(made.n_users), who))
        pairs = zip(exact_numbers(made, "user"), exact_numbers(others, "user"), strict=True)
        apart = [int(np.abs(one - other).sum()) for one, other in pairs]
        assert all(found <= most for found, most in zip(apart, changes, strict=True))
        # Three visits, one beginning and two moves: no more is planned than it takes.
        assert apart[:3] == changes[:3] == [3, 1, 2]


def test_when_the_last_way_begins_follows_from_noise_alone() -> None:
    made = people()
    late = Trajectories.of(
        user=np.append(made.owner, made.n_users),
        t=np.append(made.t, 400),
        x=np.append(made.x, 1),
        y=np.append(made.y, 1),
        grid=made.grid,
    )
    with_it, without = (exact_numbers(one, "user")[1] for one in (late, made))
    assert len(with_it) == len(without) == 8
    assert (with_it - without).tolist() == [0, 0, 0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("unit", UNITS[1:])
def test_another_visit_changes_no_part_by_more_than_was_planned(unit: str) -> None:
    made = people()
    changes = [part.changes for part in DPTD(unit=unit, **FEW).planned(made)]  # type: ignore[arg-type]
    for sample in range(10):
        x = made.x.copy()
        x[sample] = 59 - x[sample]
        other = Trajectories(grid=made.grid, offsets=made.offsets, t=made.t, x=x, y=made.y)
        pairs = zip(exact_numbers(made, unit), exact_numbers(other, unit), strict=True)
        apart = [int(np.abs(one - two).sum()) for one, two in pairs]
        assert all(found <= most for found, most in zip(apart, changes, strict=True))


@pytest.mark.parametrize("variant", ["private", "published"])
def test_every_part_is_drawn_with_its_own_noise_which_is_discrete_laplace(variant: str) -> None:
    source, made = Everything(), people()
    method = DPTD(epsilon=6.0, variant=variant, **FEW)  # type: ignore[arg-type]
    method.anonymise(made, noise=source)
    parts = method.planned(made)
    asked = [(one["scale"], one["sensitivity"], one["epsilon"]) for one in source.asked]
    assert asked == [(part.scale, part.changes, part.epsilon) for part in parts]
    drawn = Drawing(parts[-1:], OpenDPNoise(), silent).noisy(np.zeros(10_000, np.int64))
    ratio, values = np.exp(-1 / parts[-1].scale), np.arange(-3, 4)
    expected = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values) * len(drawn)
    found = np.array([(drawn == value).sum() for value in values])
    assert (np.abs(found - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("unit", UNITS)
def test_budgets_add_up_in_the_account_of_noise(unit: str) -> None:
    method = DPTD(epsilon=0.7, unit=unit)
    spent = Spending.of(replace(method.promise, parts=method.planned(people())))
    assert Account(Cap(10.0), (), ((spent, spent),)).epsilon == pytest.approx(1.4)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("variant", ["private", "published"])
def test_budgets_add_up(unit: str, variant: str) -> None:
    parts = DPTD(epsilon=0.7, unit=unit, variant=variant).planned(people())
    assert composed([Spending(part.epsilon) for part in parts]).epsilon == pytest.approx(0.7)
    assert len(parts) == (5 if variant == "private" else 2)


def test_the_published_variant_is_not_called_private() -> None:
    made = people(300)
    release = DPTD(epsilon=50.0, variant="published").anonymise(made)
    audit = audit_release(made, release)
    assert audit.safe
    assert release.promise.held == "NOT private"
    assert release.promise.budget is None
    words = {one.rule: one.words for one in audit.findings}["noise-adds-up"]
    assert "hides nobody in the sense of differential privacy" in words


def test_ours_is_called_private_and_forgeries_are_found() -> None:
    made = people(300)
    release = DPTD(epsilon=50.0, **FEW).anonymise(made)  # type: ignore[arg-type]
    assert audit_release(made, release).safe
    parts = release.promise.parts  # type: ignore[attr-defined]
    forged = replace(release.promise, parts=(parts[0]._replace(epsilon=99.0), *parts[1:]))  # type: ignore[call-arg]
    assert audit_release(made, replace(release, promise=forged)).broken == ("noise-adds-up",)


def test_with_little_noise_ways_are_about_those_of_people() -> None:
    user = np.repeat(np.arange(900), 2)
    going = np.array([5, 95] * 900)
    x = np.where(user < 600, going, 100 - going)
    made = Trajectories.of(user=user, t=[0, 300] * 900, x=x, y=[5] * 1800, grid=Grid())
    release = DPTD(epsilon=60.0, length=2).anonymise(made)
    first = release.boxes.x0[release.offsets[:-1]]
    assert abs(int((first == 0).sum()) - 600) < 30
    assert abs(int((first == 80).sum()) - 300) < 30


def test_ways_of_one_visit_have_no_moves_and_are_told() -> None:
    made = people(300)
    one_visit = {**FEW, "length": 1}
    assert [part.changes for part in DPTD(**one_visit).planned(made)] == [1] * 4  # type: ignore[arg-type]
    release = DPTD(epsilon=50.0, **one_visit).anonymise(made)  # type: ignore[arg-type]
    assert set(np.diff(release.offsets).tolist()) == {1}
    assert abs(release.n_released - 301) < 20


def test_what_is_impossible_is_refused_in_words() -> None:
    with pytest.raises(ImpossibleRequestError, match="nothing is left"):
        DPTD(epsilon=0.001).anonymise(people(), noise=Recorded())
    with pytest.raises(InputError, match="epsilon must be a finite number above 0"):
        DPTD(epsilon=0.0)
