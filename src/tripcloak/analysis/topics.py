"""Topics: typical flows, as Latent Dirichlet Allocation finds them in the flows of every slot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.analysis.landuse import k_means
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError

MOST_PAIRS = 500
"""Pairs of zones looked at, those with the largest volumes; the others are many and say little."""
STARTS = 8
ROUNDS = 200
INNER_ROUNDS = 50
TINY = 1e-100
SETTLED = 1e-6
"""The change, as a share, below which a search has come to its end."""


class SlotFlows(NamedTuple):
    """The volume of some pairs of zones, slot by slot: rows are slots, columns pairs, by ascending key."""

    pair: Ints
    volume: Floats

    def redrawn(self, weight: float, seed: int) -> SlotFlows:
        """Return flows such as the same city would give another time: every number is drawn anew."""
        drawn = np.random.default_rng(seed).poisson(self.volume / weight)
        return SlotFlows(self.pair, weight * drawn)


class Topics(NamedTuple):
    """Typical flows, and how much of every slot each makes up.

    Attributes
    ----------
    pair : array of int
        The pairs of zones, ascending.
    share : array of float
        Rows are topics, columns pairs: how a topic's trips are spread over the pairs.
    weight : array of float
        Rows are topics, columns slots: how much of a slot's trips belong to the topic; 0 throughout
        in a slot without trips.
    """

    pair: Ints
    share: Floats
    weight: Floats

    def top(self, topic: int, n: int) -> Ints:
        """Return the columns of the pairs that a topic has most of."""
        return np.argsort(-self.share[topic], kind="stable")[:n]

    def on(self, pairs: Ints) -> Floats:
        """Return the shares at other pairs (ascending, all of these among them); 0 where unknown."""
        shares = np.zeros((len(self.share), len(pairs)))
        shares[:, np.searchsorted(pairs, self.pair)] = self.share
        return shares


def busiest(volume: Floats, most: int = MOST_PAIRS) -> Ints:
    """Return the pairs with the largest volumes, ascending; none without any.

    >>> busiest(np.array([4.0, 1.0, 5.0, 0.0]), 2).tolist()
    [0, 2]
    """
    ranked = np.argsort(-volume, kind="stable")[: min(most, int(np.count_nonzero(volume)))]
    return np.sort(ranked)


def typical_flows(flows: SlotFlows, topics: int, *, seed: int) -> Topics:
    """Return typical flows: slots are documents, pairs of zones their words (Matet, Côme and Furno).

    Latent Dirichlet Allocation by variational inference (Blei, Ng and Jordan 2003, with a Dirichlet
    prior on topics too), the likeliest of several starts. Starts are groups of similar slots: from random
    topics, slots that are few and full of trips all end in one. Volumes are taken as they are: rounded to
    whole trips, what a release spreads over many pairs would be gone.

    Parameters
    ----------
    topics
        How many typical flows to tell apart; the first has the largest volume.

    Raises
    ------
    ImpossibleRequestError
        There are fewer slots that differ, or fewer pairs, than topics.

    Examples
    --------
    >>> morning, evening = [90.0, 1.0, 9.0], [2.0, 80.0, 9.0]
    >>> found = typical_flows(SlotFlows(np.arange(3), np.array([morning, morning, evening])), 2, seed=0)
    >>> found.weight.round().tolist(), [found.top(topic, 1).tolist() for topic in (0, 1)]
    ([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0], [1]])
    """
    busy = flows.volume.sum(axis=1) > 0
    held = flows.volume[busy]
    if min(len(np.unique(_shares(held).round(6), axis=0)), len(flows.pair)) < topics:
        raise ImpossibleRequestError(
            f"fewer than {topics} slots have flows that differ, or fewer than {topics} pairs of zones have "
            "any: the release is too coarse for this many typical flows; ask for fewer (--topics)"
        )
    likeliest = max(
        (_fitted(held, start) for start in _starts(held, topics, seed)), key=lambda fit: fit.bound
    )
    weight = np.zeros((topics, len(busy)))
    weight[:, busy] = _shares(likeliest.slots).T
    order = np.argsort(-(weight @ flows.volume.sum(axis=1)), kind="stable")
    return Topics(flows.pair, _shares(likeliest.pairs)[order], weight[order])


class _Fit(NamedTuple):
    """Dirichlet parameters of the topics of every slot and of the pairs of every topic, and the bound."""

    slots: Floats
    pairs: Floats
    bound: float


def _starts(volume: Floats, topics: int, seed: int) -> list[Floats]:
    """Return first guesses of how much of every slot is which topic: clusters of slots, and random ones."""
    total = volume.sum(axis=1)
    shapes = np.sqrt(volume / total[:, None])
    guesses = []
    for start in range(seed, seed + STARTS // 2):
        guesses.append(np.eye(topics)[k_means(shapes, topics, total, seed=start, starts=1).of_row])
        guesses.append(np.random.default_rng(start).dirichlet(np.full(topics, 0.3), len(volume)))
    return guesses


def _fitted(volume: Floats, start: Floats) -> _Fit:
    """Return the variational fit that a first guess leads to."""
    prior = 1.0 / start.shape[1]
    pairs = prior + start.T @ volume
    slots = prior * (1.0 + np.repeat(volume.sum(axis=1, keepdims=True), start.shape[1], axis=1))
    bound = -np.inf
    # Invariant: each half of a round raises the bound, given what the other half left.
    for _ in range(ROUNDS):
        topic = np.exp(_expected_logs(pairs))
        for _ in range(INNER_ROUNDS):
            mix = np.exp(_expected_logs(slots))
            before, slots = slots, prior + mix * ((volume / (mix @ topic + TINY)) @ topic.T)
            if np.abs(slots - before).sum() < SETTLED * volume.sum():
                break
        mix = np.exp(_expected_logs(slots))
        told = mix @ topic + TINY
        last = bound
        bound = float((volume * np.log(told)).sum()) + _kept(slots, prior) + _kept(pairs, prior)
        if bound - last < SETTLED * abs(bound):
            break
        pairs = prior + topic * (mix.T @ (volume / told))
    return _Fit(slots, pairs, bound)


def _expected_logs(dirichlet: Floats) -> Floats:
    """Return the expected logarithms of shares, row by row."""
    from scipy.special import psi

    logs: Floats = psi(dirichlet) - psi(dirichlet.sum(axis=1, keepdims=True))
    return logs


def _kept(dirichlet: Floats, prior: float) -> float:
    """Return what the distance of Dirichlet distributions from their prior takes off the bound."""
    from scipy.special import gammaln

    n = dirichlet.shape[1]
    by_share = (prior - dirichlet) * _expected_logs(dirichlet) + gammaln(dirichlet) - gammaln(prior)
    return float(by_share.sum() + (gammaln(prior * n) - gammaln(dirichlet.sum(axis=1))).sum())


def _shares(dirichlet: Floats) -> Floats:
    shares: Floats = dirichlet / dirichlet.sum(axis=1, keepdims=True)
    return shares
