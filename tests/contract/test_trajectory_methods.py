"""Every method on trajectories keeps the contract: safe by an audit of its own, pure, and named."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS, find_trajectory_method
from tripcloak.trajectories.model import Grid, Trajectories
from worlds.noise_sources import Blind

MAY_REFUSE = {"nwa", "grid", "k-m", "safepath", "dptd", "adatrace", "locations", "mix-zones", "dummies"}
"""Methods that withhold up to a limit, whose noise leaves nothing, or that find no zone or dummy."""
OWN: dict[str, dict[str, Any]] = {
    "nwa": {"trash": 0.8, "period": 600, "sampling": 600},
    "mix-zones": {"width": 1500},
    "dummies": {"cell": 200},
}


def ready(name: str, k: int) -> TrajectoryMethod:
    return find_trajectory_method(name).asked(k, **OWN.get(name, {}))


def people(seed: int, users: int) -> Trajectories:
    """Return people with one to ten samples each; some share places, times, or everything."""
    random = np.random.default_rng(seed)
    samples = random.integers(1, 11, users)
    user = np.repeat(np.arange(users), samples)
    t, x, y = (random.integers(0, high, len(user)) for high in (60, 30, 30))
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())


@pytest.mark.parametrize("name", TRAJECTORY_METHODS)
@given(st.integers(0, 100_000), st.integers(2, 4))
@settings(max_examples=15, deadline=None)
def test_releases_are_safe_and_accounted_for(name: str, seed: int, k: int) -> None:
    trajectories = people(seed, k + seed % 19)
    before = trajectories.digest
    try:
        release = ready(name, k).anonymise(trajectories)
    except ImpossibleRequestError:
        assert name in MAY_REFUSE
        return
    assert audit_release(trajectories, release).safe
    assert (release.method, release.promise.k) == (name, ready(name, k).hidden_among)
    assert ready(name, k).makes_such(release.promise)
    assert (
        Trajectories(
            grid=trajectories.grid,
            **{column: getattr(trajectories, column) for column in ("offsets", "t", "x", "y")},
        ).digest
        == before
    )
    assert release.promise.withholds or not release.deleted.any()
    assert release.promise.moves_samples or release.promise.adds or not release.created.any()


DRAWN = {name for name in TRAJECTORY_METHODS if (made := ready(name, 2).promise).noisy or made.adds}


@pytest.mark.parametrize("name", [name for name in TRAJECTORY_METHODS if name not in DRAWN])
def test_the_order_of_rows_plays_no_part(name: str) -> None:
    trajectories = people(3, 30)
    order = np.random.default_rng(1).permutation(trajectories.n_samples)
    columns = {column: getattr(trajectories, column)[order] for column in "txy"}
    mixed = Trajectories.of(user=trajectories.owner[order], **columns, grid=trajectories.grid)
    one, other = (ready(name, 3).anonymise(given) for given in (trajectories, mixed))
    assert (one.box_of == other.box_of).all()
    assert all((a == b).all() for a, b in zip(one.boxes, other.boxes, strict=True))


@pytest.mark.parametrize("name", TRAJECTORY_METHODS)
def test_a_method_is_a_frozen_bundle_of_named_parameters(name: str) -> None:
    method = TRAJECTORY_METHODS[name]
    assert is_dataclass(method)
    assert all(field.kw_only for field in fields(method))
    assert method.name == name
    assert method.summary
    assert method.source
    with pytest.raises(FrozenInstanceError):
        method().name = "another"  # type: ignore[misc]


@pytest.mark.parametrize("name", TRAJECTORY_METHODS)
def test_one_person_is_refused_in_words(name: str) -> None:
    with pytest.raises(ImpossibleRequestError, match="needs 2 people or more"):
        ready(name, 2).anonymise(people(0, 1))


def test_a_method_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(
        InputError, match=r"'magic'.*k-scale, glove, w4m, nwa, grid, k-m, mix-zones, dummies, safepath, dptd"
    ):
        find_trajectory_method("magic")


@pytest.mark.parametrize("name", sorted(name for name in DRAWN if not ready(name, 2).promise.adds))
def test_where_noise_is_added_does_not_tell_how_far_somebody_went(name: str) -> None:
    """The same cells and levels whoever is in: otherwise a single sample far away would be seen."""
    method: Any = ready(name, 2)
    near = people(3, 8)
    far = replace(near, x=near.x + np.where(np.arange(near.n_samples) == 0, 900_000, 0))
    assert method.planned(far) == method.planned(near)


FEW_CELLS: dict[str, dict[str, Any]] = {
    "safepath": {"length": 1, "cell": 1500, "interval": 1200, "reach": 3000},
    "dptd": {"length": 2, "interval": 1200},
    "adatrace": {"interval": 21600, "reach": 2000},
    "locations": {"interval": 1200, "reach": 4000, "crowd": 1},
}


class Deaf(Blind):
    """Gives numbers that have nothing to do with the exact ones, of some twenty people."""

    def _answer(self, exact: Ints, asked: dict[str, Any]) -> Ints:
        return super()._answer(exact, asked) * int(asked["sensitivity"])


@pytest.mark.parametrize("name", sorted(FEW_CELLS))
def test_where_the_period_was_asked_for_nothing_but_noisy_numbers_follows_from_anybody(name: str) -> None:
    """Whoever alone began first, was last, or was anywhere else: with the same noise the same release."""
    method: Any = find_trajectory_method(name).asked(None, epsilon=40.0, **FEW_CELLS[name])
    near = replace(people(3, 8), asked=(-2000, 3000))
    alone = Trajectories.of(
        user=[*near.owner, *[9] * 3],
        t=[*near.t, -1999, 2000, 2999],
        x=[*near.x, 9000, -7, 4],
        y=[*near.y, 0, 9000, -9],
        grid=near.grid,
    )
    everybody = replace(alone, asked=(-2000, 3000))
    without = everybody.take(np.arange(near.n_users))
    releases = [method.anonymise(made, noise=Deaf()) for made in (without, everybody)]
    told = [(one.promise, one.grid, one.offsets.tolist(), *map(list, one.boxes)) for one in releases]
    assert told[0] == told[1]
