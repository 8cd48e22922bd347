"""SafePath: noise as planned and drawn by OpenDP, budgets that add up, neighbours that differ by no more."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tripcloak.flows.methods.noise.composing import Spending, composed, epsilon_at
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.noise import OpenDPNoise
from tripcloak.ground.progress import silent
from tripcloak.ledger.account import Account, Cap
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods.noise.noisy import Drawing
from tripcloak.trajectories.methods.noise.safepath import SafePath
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease
from worlds.noise_sources import Recorded

UNITS: tuple[tuple[str, int], ...] = (
    ("user", 1),
    ("event", 1),
    ("w-event", 2),
    ("l-trajectory", 2),
    ("element", 1),
)
SMALL = {"cell": 2000, "interval": 3600, "length": 2, "reach": 4000}


def people(n: int = 30, seed: int = 0) -> Trajectories:
    """Return people with some visits each in an area of four by four cells and eight slots."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(n), 4)
    t = np.concatenate([np.sort(random.choice(8, 4, replace=False)) for _ in range(n)]) * 60
    x, y = random.integers(-40, 40, (2, 4 * n))
    # Two who stay throughout pin the period, which counts as known.
    user, t = np.append(user, [n, n]), np.append(t, [0, 420])
    x, y = np.append(x, [0, 0]), np.append(y, [0, 0])
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


class Everything(Recorded):
    """Tells so large a number of everything that the tree is the same whatever the input is."""

    def _answer(self, exact: Ints, asked: dict[str, float]) -> Ints:
        super()._answer(exact, asked)
        return np.full(len(exact), 1000)


def exact_numbers(trajectories: Trajectories, **asked: object) -> list[Ints]:
    source = Everything()
    SafePath(**SMALL, **asked).anonymise(trajectories, noise=source)  # type: ignore[arg-type]
    return source.exact


def without(trajectories: Trajectories, who: int) -> Trajectories:
    return trajectories.take(np.delete(np.arange(trajectories.n_users), who))


@pytest.mark.parametrize("seed", range(3))
def test_leaving_out_a_user_changes_no_part_by_more_than_was_planned(seed: int) -> None:
    made = people(seed=seed)
    changes = [part.changes for part in SafePath(**SMALL).planned(made)]
    assert set(changes) == {1}
    for who in range(5):
        pairs = zip(exact_numbers(made), exact_numbers(without(made, who)), strict=True)
        apart = [int(np.abs(one - other).sum()) for one, other in pairs]
        assert all(found <= most for found, most in zip(apart, changes, strict=True))
        assert sum(apart) > 0


@pytest.mark.parametrize(("unit", "window"), UNITS[1:])
def test_another_visit_changes_no_part_by_more_than_was_planned(unit: str, window: int) -> None:
    made = people()
    changes = [part.changes for part in SafePath(**SMALL, unit=unit, window=window).planned(made)]
    assert set(changes) == {2}
    for sample in range(8):
        x = made.x.copy()
        x[sample] = -x[sample] - 1
        other = Trajectories(grid=made.grid, offsets=made.offsets, t=made.t, x=x, y=made.y)
        pairs = zip(exact_numbers(made), exact_numbers(other), strict=True)
        assert all(np.abs(one - two).sum() <= 2 for one, two in pairs)


@pytest.mark.parametrize(("unit", "window"), UNITS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_budgets_add_up_in_the_account_of_noise(unit: str, window: int, epsilon: float) -> None:
    method = SafePath(epsilon=epsilon, unit=unit, window=window)
    parts = method.planned(people())
    spent = composed([Spending(part.epsilon) for part in parts])
    assert spent.epsilon <= epsilon * (1 + 1e-9)
    assert spent.epsilon >= epsilon * (1 - 1e-9)
    promise = replace(method.promise, parts=parts)
    assert Spending.of(promise) == Spending(epsilon)
    assert epsilon_at([Spending.of(promise)] * 3, 0.0) == pytest.approx(3 * epsilon)
    account = Account(Cap(10.0), (), ((Spending.of(promise), Spending.of(promise)),))
    assert account.epsilon == pytest.approx(2 * epsilon)


def test_every_part_is_drawn_with_its_own_noise_and_no_other() -> None:
    source, made = Everything(), people()
    method = SafePath(**SMALL)  # type: ignore[arg-type]
    method.anonymise(made, noise=source)
    parts = method.planned(made)
    asked = [(one["scale"], one["sensitivity"], one["epsilon"]) for one in source.asked]
    assert asked == [(part.scale, part.changes, part.epsilon) for part in parts]
    assert all(part.scale * part.epsilon >= part.changes * (1 - 1e-12) for part in parts)
    assert all(part.scale * part.epsilon <= part.changes * 1.001 for part in parts)


def test_the_noise_is_distributed_as_discrete_laplace() -> None:
    parts = SafePath(epsilon=3.0, **SMALL).planned(people())  # type: ignore[arg-type]
    drawn = Drawing(parts, OpenDPNoise(), silent).noisy(np.zeros(20_000, np.int64))
    ratio = np.exp(-1 / parts[0].scale)
    values = np.arange(-6, 7)
    expected = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values) * len(drawn)
    found = np.array([(drawn == value).sum() for value in values])
    # Thirteen numbers within five standard deviations each: by chance once in a hundred thousand runs.
    assert (np.abs(found - expected) < 5 * np.sqrt(expected)).all()


def ways(made: TrajectoryRelease) -> Counter[tuple[tuple[int, ...], ...]]:
    rows = list(zip(made.boxes.t0.tolist(), made.boxes.x0.tolist(), made.boxes.y0.tolist(), strict=True))
    return Counter(tuple(rows[a:b]) for a, b in pairwise(made.offsets.tolist()))


def test_without_noise_the_ways_are_those_of_people() -> None:
    made = people(60)
    release = SafePath(epsilon=1e6, **SMALL).anonymise(made, noise=Recorded())  # type: ignore[arg-type]
    expected: Counter[tuple[tuple[int, ...], ...]] = Counter()
    for begin, end in pairwise(made.offsets.tolist()):
        way: list[tuple[int, int, int]] = []
        for t, x, y in zip(made.t[begin:end], made.x[begin:end], made.y[begin:end], strict=True):
            place = (int(x) // 20 * 20, int(y) // 20 * 20)
            if not way or way[-1][1:] != place:
                way.append((int(t) // 60 * 60, *place))
        expected[tuple(way[:2])] += 1
    assert ways(release) == expected


def test_numbers_agree_and_made_up_ways_go_forward_in_time() -> None:
    user = np.repeat(np.arange(3000), 2)
    x = np.where(user % 3 == 0, 5, 95)
    made = Trajectories.of(
        user=user, t=[0, 300] * 3000, x=np.where(np.arange(6000) % 2, 100 - x, x), y=[5] * 6000, grid=Grid()
    )
    release = SafePath(epsilon=4.0, length=2).anonymise(made)
    assert abs(release.n_released - 3000) < 400
    assert (release.released_of == -1).all()
    audit = audit_release(made, release)
    assert audit.safe
    finding = next(one for one in audit.findings if one.rule == "noise-adds-up")
    assert "no look at a release can tell" in finding.words


def released() -> tuple[Trajectories, TrajectoryRelease]:
    made = people(60)
    return made, SafePath(epsilon=1e6, **SMALL).anonymise(made, noise=Recorded())  # type: ignore[arg-type]


def test_forged_noise_is_found() -> None:
    made, release = released()
    promise = release.promise
    dearer = tuple(part._replace(epsilon=2 * part.epsilon) for part in promise.parts)  # type: ignore[attr-defined]
    quieter = tuple(part._replace(scale=part.scale / 2) for part in promise.parts)  # type: ignore[attr-defined]
    for parts in (dearer, quieter):
        forged = replace(release, promise=replace(promise, parts=parts))  # type: ignore[call-arg]
        assert audit_release(made, forged).broken == ("noise-adds-up",)


def test_raw_places_and_owners_among_what_is_made_up_are_found() -> None:
    made, release = released()
    boxes = Boxes(*(np.asarray(side).copy() for side in release.boxes))
    boxes.x0[3] += 1
    assert audit_release(made, replace(release, boxes=boxes)).broken == ("made-up-is-coarse",)
    owned = replace(release, released_of=np.append(release.released_of[:-1], 0))
    assert "everybody-accounted" in audit_release(made, owned).broken


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": 0.0},
        {"epsilon": -1.0},
        {"epsilon": float("nan")},
        {"epsilon": 1e13},
        {"unit": "w-event", "window": 0},
        {"unit": "household"},
        {"length": 0},
    ],
)
def test_what_means_nothing_is_refused_in_words(asked: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"epsilon|window|unit|length"):
        SafePath(**asked)  # type: ignore[arg-type]


def test_an_empty_tree_is_refused_in_words() -> None:
    with pytest.raises(ImpossibleRequestError, match="empty prefix tree"):
        SafePath(epsilon=0.001).anonymise(people())


def test_noise_without_end_and_more_tables_than_epsilon_is_for_are_refused_in_words() -> None:
    for epsilon in (1e-12, 1e-300):
        with pytest.raises(ImpossibleRequestError, match="larger epsilon"):
            SafePath(epsilon=epsilon).anonymise(people())
    with pytest.raises(ImpossibleRequestError, match="fewer visits"):
        SafePath(length=200).anonymise(people())
