"""Typical flows: planted ones are found again, no likelier ones by a peer, and nothing depends on luck."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.analysis import SlotFlows, best_match, busiest, cosines, typical_flows
from tripcloak.analysis.topics import _fitted, _starts
from tripcloak.ground.errors import ImpossibleRequestError


def planted(seed: int, *, slots: int = 24, pairs: int = 40, topics: int = 3, volume: float = 2000.0):
    """Return flows made of topics on pairs of their own, which are pure in some slots, and these topics."""
    draw = np.random.default_rng(seed)
    share = draw.dirichlet(np.full(pairs, 0.1), topics)
    weight = draw.dirichlet(np.full(topics, 0.5), slots).T
    weight[:, :topics] = np.eye(topics)
    flows = draw.poisson(volume * weight.T @ share).astype(float)
    return SlotFlows(np.arange(pairs) * 7, flows), share, weight


def latent_dirichlet_allocation(**options: Any) -> Any:
    """Return the peer; loading it takes longer than most tests do."""
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(3, learning_method="batch", **options)


@settings(max_examples=4)
@given(st.integers(0, 10_000))
def test_planted_topics_are_found_again(seed: int) -> None:
    flows, share, weight = planted(seed)
    found = typical_flows(flows, 3, seed=0)
    similar = cosines(share, found.share)
    match = best_match(similar)
    assert similar[np.arange(3), match].min() > 0.97
    assert np.abs(weight - found.weight[match]).mean() < 0.05


@settings(max_examples=2)
@given(st.integers(0, 10_000))
def test_no_start_of_scikit_learn_is_likelier(seed: int) -> None:
    flows, _, _ = planted(seed, volume=300.0)
    likeliest = max(_fitted(flows.volume, start).bound for start in _starts(flows.volume, 3, 0))
    for start in range(2):
        peer = latent_dirichlet_allocation(max_iter=40, random_state=start)
        assert peer.fit(flows.volume).score(flows.volume) <= likeliest + 1e-4 * abs(likeliest)


def test_the_bound_is_the_one_that_scikit_learn_gives_to_the_same_topics() -> None:
    flows, _, _ = planted(5)
    fit = _fitted(flows.volume, _starts(flows.volume, 3, 0)[0])
    peer = latent_dirichlet_allocation(max_iter=1, random_state=0).fit(flows.volume)
    peer.components_ = fit.pairs
    # Its own way from topics to what it keeps of them.
    from sklearn.decomposition._online_lda_fast import _dirichlet_expectation_2d

    peer.exp_dirichlet_component_ = np.exp(_dirichlet_expectation_2d(fit.pairs))
    assert fit.bound == pytest.approx(peer.score(flows.volume), rel=1e-4)


@given(st.integers(0, 50), st.integers(2, 4))
@settings(max_examples=5)
def test_shares_and_weights_add_up(seed: int, topics: int) -> None:
    flows, _, _ = planted(seed, volume=50.0)
    flows.volume[3] = 0
    found = typical_flows(flows, topics, seed=seed)
    np.testing.assert_allclose(found.share.sum(axis=1), 1)
    np.testing.assert_allclose(found.weight.sum(axis=0), np.where(flows.volume.sum(axis=1) > 0, 1, 0))
    assert (np.diff(found.weight @ flows.volume.sum(axis=1)) <= 1e-9).all()


def test_the_same_flows_give_the_same_topics() -> None:
    flows, _, _ = planted(9)
    one, other = (typical_flows(flows, 3, seed=4) for _ in range(2))
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, its)


def test_a_longer_list_of_pairs_and_the_largest_of_a_topic() -> None:
    flows, _, _ = planted(1)
    found = typical_flows(flows, 2, seed=0)
    wider = np.arange(300)
    shares = found.on(wider)
    np.testing.assert_array_equal(shares[:, found.pair], found.share)
    assert shares.sum() == pytest.approx(2)
    top = found.top(0, 5)
    assert found.share[0, top].min() >= np.delete(found.share[0], top).max()


@pytest.mark.parametrize(
    "volume",
    [np.zeros((24, 9)), np.ones((24, 9)), np.ones((24, 1)), np.zeros((24, 0)), np.eye(24)[:, :2] * 50],
    ids=["no trips", "one time", "one pair", "no pair", "two slots"],
)
def test_what_is_too_coarse_has_no_typical_flows(volume: np.ndarray) -> None:
    with pytest.raises(ImpossibleRequestError, match="too coarse"):
        typical_flows(SlotFlows(np.arange(volume.shape[1]), volume), 3, seed=0)


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 5))
def test_the_busiest_pairs_are_the_busiest(volumes: list[int], most: int) -> None:
    volume = np.array(volumes, dtype=float)
    found = busiest(volume, most)
    assert found.tolist() == sorted(set(found.tolist()))
    expected = sorted((number for number in volumes if number > 0), reverse=True)[:most]
    assert sorted(volume[found].tolist(), reverse=True) == expected


def test_flows_drawn_anew_keep_their_pairs_and_their_mean() -> None:
    flows = SlotFlows(np.arange(500), np.full((24, 500), 36.0))
    again = flows.redrawn(4.0, seed=2)
    assert again.pair is flows.pair
    assert again.volume.mean() == pytest.approx(36, rel=0.02)
    assert again.volume.std() == pytest.approx(12, rel=0.05)
