"""Answers: what analysts ask of flows in slots of time, and how alike two sets of answers are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tripcloak.analysis.agreement import (
    AgreementSpread,
    adjusted_rand,
    best_match,
    contingency,
    correlations,
    cosines,
)
from tripcloak.analysis.landuse import LEFT_OUT, LandUse, land_use
from tripcloak.analysis.profiles import Profiles
from tripcloak.analysis.topics import SlotFlows, Topics, typical_flows
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError

MOST = 8
"""Kinds that can be told apart by colour."""


@dataclass(frozen=True, kw_only=True)
class Questions:
    """How many kinds of land use and of typical flows to look for, and the seed of the search.

    >>> Questions(clusters=1)
    Traceback (most recent call last):
    tripcloak.InputError: --clusters must be 2 to 8; got 1
    """

    clusters: int = 4
    topics: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("clusters", self.clusters), ("topics", self.topics)):
            if not 2 <= value <= MOST:
                raise InputError(f"--{name} must be 2 to {MOST}; got {value}")
        if not 0 <= self.seed < 2**31:
            raise InputError(f"--seed must be a number from 0 to {2**31 - 1}; got {self.seed}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Profiles of zones, land use and typical flows of one data set.

    Attributes
    ----------
    weight : float
        What a trip counts for.
    land_use, topics : optional
        None where the data is too coarse to tell; ``failures`` then says why.
    """

    profiles: Profiles
    flows: SlotFlows
    weight: float
    land_use: LandUse | None
    topics: Topics | None
    failures: dict[str, str]


def ask(profiles: Profiles, flows: SlotFlows, questions: Questions, *, weight: float = 1.0) -> Answers:
    """Return the answers that profiles and flows give; a question they are too coarse for stays open.

    >>> nothing = np.zeros((2, 24))
    >>> ask(Profiles(nothing, nothing), SlotFlows(np.arange(0), np.zeros((24, 0))), Questions()).land_use
    """
    failures = {}
    use, topics = None, None
    try:
        use = land_use(profiles, questions.clusters, seed=questions.seed, weight=weight)
    except ImpossibleRequestError as error:
        failures["land use"] = str(error)
    try:
        topics = typical_flows(flows, questions.topics, seed=questions.seed)
    except ImpossibleRequestError as error:
        failures["typical flows"] = str(error)
    return Answers(
        profiles=profiles, flows=flows, weight=weight, land_use=use, topics=topics, failures=failures
    )


def ask_again(answers: Answers, questions: Questions) -> Answers:
    """Return the answers that the same city would give another time, by chance alone."""
    weight, seed = answers.weight, questions.seed + 1
    profiles, flows = answers.profiles.redrawn(weight, seed), answers.flows.redrawn(weight, seed)
    return ask(profiles, flows, questions, weight=weight)


class UseScore(NamedTuple):
    """How alike two clusterings of zones are, over the zones that both cluster.

    Attributes
    ----------
    adjusted_rand : float
        Over pairs of zones, each zone counting the same.
    same_kind : float
        Share of the one's volume in zones that are of the same kind in both.
    zones : int
        How many zones both cluster.
    match : array of int
        For every cluster of the one the cluster of the other that is the same kind: those that share
        most volume.
    """

    adjusted_rand: float
    same_kind: float
    zones: int
    match: Ints


class TopicScore(NamedTuple):
    """How alike typical flows are, topic by topic of the one.

    Attributes
    ----------
    pairs, slots : array of float
        Cosine with the matched topic of the other: of their pairs of zones, and of their slots.
    volume : array of float
        Share of the one's volume that each topic has.
    match : array of int
        The matched topics: those whose pairs are most alike, each taken once.
    """

    pairs: Floats
    slots: Floats
    volume: Floats
    match: Ints

    @property
    def mean_pairs(self) -> float:
        """Return the cosine of pairs over all topics, each counting by its volume."""
        return float(self.pairs @ self.volume)

    @property
    def mean_slots(self) -> float:
        """Return the cosine of slots over all topics, each counting by its volume."""
        return float(self.slots @ self.volume)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """How alike two sets of answers are.

    Attributes
    ----------
    out, into : AgreementSpread
        Correlation of the profiles of a zone, zones counted by their volume.
    by_zone : array of float
        The correlation of both at once, for every zone; NaN where the one has no trips.
    land_use, topics : optional
        None where one of the two has no answer.
    """

    out: AgreementSpread
    into: AgreementSpread
    by_zone: Floats
    land_use: UseScore | None
    topics: TopicScore | None


def compare_answers(one: Answers, other: Answers) -> Scores:
    """Return how alike the other's answers are to the one's.

    Examples
    --------
    >>> draw = np.random.default_rng(0).poisson(50.0, (3, 6, 24)).astype(float)
    >>> profiles, flows = Profiles(*draw[:2]), SlotFlows(np.arange(6), draw[2].T)
    >>> answers = ask(profiles, flows, Questions(clusters=2, topics=2))
    >>> scores = compare_answers(answers, answers)
    >>> round(scores.out.mean, 6), scores.land_use.adjusted_rand, scores.topics.match.tolist()
    (1.0, 1.0, [0, 1])
    """
    sides = zip(one.profiles, other.profiles, strict=True)
    out, into = (AgreementSpread.of(correlations(mine, its), mine.sum(axis=1)) for mine, its in sides)
    by_zone = correlations(one.profiles.side_by_side, other.profiles.side_by_side)
    return Scores(
        out=out,
        into=into,
        by_zone=np.where(one.profiles.volume > 0, by_zone, np.nan),
        land_use=_uses(one, other),
        topics=_topics(one, other),
    )


def aligned(one: Answers, other: Answers) -> Answers:
    """Return the other's answers with clusters and topics numbered as those of the one that are most alike.

    >>> draw = np.random.default_rng(0).poisson(50.0, (3, 6, 24)).astype(float)
    >>> profiles, flows = Profiles(*draw[:2]), SlotFlows(np.arange(6), draw[2].T)
    >>> answers = ask(profiles, flows, Questions(clusters=2, topics=2))
    >>> use = answers.land_use
    >>> swapped = replace(answers, land_use=LandUse(1 - use.cluster, use.profiles[::-1]))
    >>> bool((aligned(answers, swapped).land_use.cluster == use.cluster).all())
    True
    """
    scores = compare_answers(one, other)
    use, topics = other.land_use, other.topics
    if use is not None and scores.land_use is not None:
        order = scores.land_use.match
        number = np.append(np.argsort(order), LEFT_OUT)
        use = LandUse(number[use.cluster], use.profiles[order])
    if topics is not None and scores.topics is not None:
        order = scores.topics.match
        topics = Topics(topics.pair, topics.share[order], topics.weight[order])
    return replace(other, land_use=use, topics=topics)


def _uses(one: Answers, other: Answers) -> UseScore | None:
    if one.land_use is None or other.land_use is None:
        return None
    both = (one.land_use.cluster >= 0) & (other.land_use.cluster >= 0)
    if not both.any():
        return None
    mine, its, volume = one.land_use.cluster[both], other.land_use.cluster[both], one.profiles.volume[both]
    shape = len(one.land_use.profiles), len(other.land_use.profiles)
    match = best_match(contingency(mine, its, shape, volume))
    same = float(volume[match[mine] == its].sum() / volume.sum())
    return UseScore(adjusted_rand(mine, its), same, int(both.sum()), match)


def _topics(one: Answers, other: Answers) -> TopicScore | None:
    if one.topics is None or other.topics is None:
        return None
    mine, its = one.topics, other.topics
    pairs = np.union1d(mine.pair, its.pair)
    similar = cosines(mine.on(pairs), its.on(pairs))
    match = best_match(similar)
    row = np.arange(len(match))
    volume = mine.weight @ one.flows.volume.sum(axis=1)
    return TopicScore(
        pairs=similar[row, match],
        slots=cosines(mine.weight, its.weight)[row, match],
        volume=volume / volume.sum(),
        match=match,
    )
