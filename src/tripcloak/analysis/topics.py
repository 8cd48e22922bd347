"""Topics: typical flows, as Latent Dirichlet Allocation finds them in the flows of every slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import ImpossibleRequestError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_PAIRS = 2000
"""Pairs of zones looked at, those with the largest volumes; the others are many and say little."""
STARTS = 5
ROUNDS = 60


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


def busiest(volume: csr_array, most: int = MOST_PAIRS) -> SlotFlows:
    """Return the flows of the pairs with the largest volumes.

    Parameters
    ----------
    volume
        Rows are slots, columns all pairs.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> found = busiest(csr_array([[1.0, 0.0, 5.0, 0.0], [3.0, 1.0, 0.0, 0.0]]), 2)
    >>> found.pair.tolist(), found.volume.tolist()
    ([0, 2], [[1.0, 5.0], [3.0, 0.0]])
    """
    total = np.asarray(volume.sum(axis=0)).reshape(-1)
    ranked = np.argsort(-total, kind="stable")[: min(most, int(np.count_nonzero(total)))]
    pair = np.sort(ranked)
    return SlotFlows(pair, volume[:, pair].toarray())


def typical_flows(flows: SlotFlows, topics: int, *, seed: int) -> Topics:
    """Return typical flows: slots are documents, pairs of zones their words (paper 004).

    Latent Dirichlet Allocation with variational inference, the likeliest of several starts. Volumes are
    taken as they are: rounded to whole trips, what a release spreads over many pairs would be gone.

    Parameters
    ----------
    topics
        How many typical flows to tell apart; the first has the largest volume.

    Raises
    ------
    ImpossibleRequestError
        There are fewer slots with trips, or fewer pairs, than topics.

    Examples
    --------
    >>> morning, evening = [90.0, 1.0, 9.0], [2.0, 80.0, 9.0]
    >>> found = typical_flows(SlotFlows(np.arange(3), np.array([morning, morning, evening])), 2, seed=0)
    >>> found.weight.round().tolist(), [found.top(topic, 1).tolist() for topic in (0, 1)]
    ([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0], [1]])
    """
    busy = flows.volume.sum(axis=1) > 0
    if min(int(busy.sum()), len(flows.pair)) < topics:
        raise ImpossibleRequestError(
            f"fewer than {topics} slots or pairs of zones have trips: the release is too coarse for this "
            "many typical flows; ask for fewer (--topics)"
        )
    likeliest = min(
        (_fitted(flows.volume[busy], topics, seed + start) for start in range(STARTS)), key=_surprise
    )
    weight = np.zeros((topics, len(busy)))
    weight[:, busy] = likeliest.transform(flows.volume[busy]).T
    share = likeliest.components_ / likeliest.components_.sum(axis=1, keepdims=True)
    order = np.argsort(-(weight @ flows.volume.sum(axis=1)), kind="stable")
    return Topics(flows.pair, share[order], weight[order])


def _fitted(volume: Floats, topics: int, seed: int) -> Any:
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(
        topics, learning_method="batch", max_iter=ROUNDS, random_state=seed, n_jobs=1
    ).fit(volume)


def _surprise(fitted: Any) -> float:
    return float(fitted.bound_)
