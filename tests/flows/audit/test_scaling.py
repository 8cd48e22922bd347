"""Travellers scaled anew: numbers in proportion to what they count for have no noise, and are found."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from tripcloak.flows.audit.noise import verdict
from tripcloak.flows.audit.privacy import Privacy
from tripcloak.flows.audit.scaling import Rows, ZonesAbove, scaled_numbers

TREE = ZonesAbove(np.append(np.full(10, 10), -1), np.append(np.zeros(10, dtype=np.int64), 1))


@pytest.mark.parametrize("noise", ["Gaussian", "Laplace"])
@pytest.mark.parametrize(("factor", "found"), [(0.0, False), (1.0, True)])
def test_numbers_without_noise_are_found(
    noise: Literal["Gaussian", "Laplace"], factor: float, found: bool
) -> None:
    dice = np.random.default_rng(1)
    flow, person = np.meshgrid(np.arange(100), np.arange(400))
    trips = dice.integers(1, 40, flow.size)
    rows = Rows(person.ravel(), flow.ravel() // 10, flow.ravel() % 10, trips, flow.ravel())
    told = Privacy(
        epsilon=1,
        delta=1e-6,
        unit="traveller",
        contributions=None,
        noise=noise,
        noise_scale=50.0,
        norms=(100.0,),
        norm_heights=(0,),
        multipliers=(5.0, 0.5),
    )
    # Everybody by hand: all trips in proportion, as long as the norm allows.
    own = trips.reshape(flow.shape).astype(float)
    length = own.sum(axis=1) if noise == "Laplace" else np.sqrt((own**2).sum(axis=1))
    counted = (own * (100 / length)[:, None]).sum(axis=0)
    drawn = dice.normal(0, 50, 100) if noise == "Gaussian" else dice.laplace(0, 50, 100)
    published = np.rint((counted + factor * drawn) * 3).astype(np.int64)
    recount = np.bincount(flow.ravel(), trips)
    numbers = scaled_numbers(told, rows, (TREE, TREE), published, recount, one_height=True)
    assert numbers.scaled is not None
    np.testing.assert_allclose(numbers.scaled, counted)
    large = counted.min() > 4 * 50
    assert verdict(told, numbers) is (found if large else None)
