"""An analysis as plain values, and as words for people."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripcloak.analysis import AgreementSpread, Answers, Scores, Topics
from tripcloak.analysis.agreement import QUANTILES
from tripcloak.analysis.analyse import Analysis
from tripcloak.analysis.landuse import LEFT_OUT
from tripcloak.hierarchy.time import EVERY

KINDS = "ABCDEFGH"
TOP_PAIRS = 20
TOO_MANY = {"zones": 5, "slots": 4}
"""A released zone, or time, that spreads over more than this many says little about any one of them."""


class ScoreRow(NamedTuple):
    """How alike the answers to one question are: of the release, and of other trips of the same city."""

    question: str
    measure: str
    release: str
    by_chance: str


def facts(found: Analysis) -> dict[str, Any]:
    """Return what an analysis found as plain values for JSON."""
    return {
        "internal": found.original is not None,
        "zones": {"number": len(found.drawn), "h3_cells": found.regular},
        "slots": {"number": len(found.axis.names), "minutes": found.axis.minutes, "fold": found.axis.fold},
        "outside": found.outside,
        "reach": {name: _quantiles(spread) for name, spread in found.reach.items()},
        "coarse": coarse_words(found),
        "questions": {
            "clusters": found.questions.clusters,
            "topics": found.questions.topics,
            "seed": found.questions.seed,
        },
        "release": _answers(found, found.release),
        "original": None if found.original is None else _answers(found, found.original),
        "agreement": None if found.scores is None else _scores(found.scores),
        "by_chance": None if found.by_chance is None else _scores(found.by_chance),
    }


def score_rows(found: Analysis) -> list[ScoreRow]:
    """Return the scores in words, question by question; none without the original trips."""
    if found.scores is None or found.by_chance is None:
        return []
    both = found.scores, found.by_chance
    uses, topics = [one.land_use for one in both], [one.topics for one in both]
    return [
        ScoreRow("profiles", "correlation, trips that start", *(_spread(one.out) for one in both)),
        ScoreRow("profiles", "correlation, trips that end", *(_spread(one.into) for one in both)),
        ScoreRow("land use", "adjusted Rand index", *(_number(use and use.adjusted_rand) for use in uses)),
        ScoreRow(
            "land use", "trips in zones of the same kind", *(_number(use and use.same_kind) for use in uses)
        ),
        ScoreRow(
            "typical flows", "cosine of pairs of zones", *(_number(one and one.mean_pairs) for one in topics)
        ),
        ScoreRow("typical flows", "cosine of slots", *(_number(one and one.mean_slots) for one in topics)),
    ]


def coarse_words(found: Analysis) -> list[str]:
    """Return what the release is too coarse for, in sentences."""
    half = {name: spread.quantiles[QUANTILES.index(0.5)] for name, spread in found.reach.items()}
    sentences = []
    if half["zones"] > TOO_MANY["zones"]:
        sentences.append(
            f"Half of the released trips are of zones as large as {half['zones']:,.0f} of these, or larger: "
            "neighbours look alike. Larger zones (--zones) fit this release better."
        )
    if half["slots"] > TOO_MANY["slots"]:
        sentences.append(
            f"Half of the released trips are of times of {half['slots']:,.0f} slots or longer, so profiles "
            "hardly show single ones. Raise --time-weight, or anonymise slot by slot (--slot)."
        )
    return sentences


def slots_in_words(found: Analysis) -> str:
    """Return the slots in words, such as ``24 of 60 minutes, every day``."""
    axis = found.axis
    return f"{len(axis.names)} of {axis.minutes} minutes" + (f", {EVERY[axis.fold]}" if axis.fold else "")


def zones_in_words(found: Analysis) -> str:
    """Return the zones in words."""
    if not found.regular:
        return f"{len(found.drawn):,}, as drawn"
    import h3

    resolution = h3.get_resolution(str(found.drawn.ids[0]))
    return f"{len(found.drawn):,} H3 cells of {h3.average_hexagon_area(resolution):,.3g} km2"


def pair_names(found: Analysis, pair: int) -> tuple[str, str]:
    """Return the zones of a pair."""
    origin, destination = divmod(int(pair), len(found.drawn))
    return str(found.drawn.ids[origin]), str(found.drawn.ids[destination])


def _answers(found: Analysis, answers: Answers) -> dict[str, Any]:
    use, topics = answers.land_use, answers.topics
    kinds = None
    if use is not None:
        volume = answers.profiles.volume
        kinds = [
            {
                "kind": KINDS[kind],
                "zones": int((use.cluster == kind).sum()),
                "share": float(volume[use.cluster == kind].sum() / volume.sum()),
            }
            for kind in range(len(use.profiles))
        ]
    return {
        "volume": float(answers.profiles.out.sum()),
        "land_use": kinds,
        "zones_with_too_few_trips": None if use is None else int((use.cluster == LEFT_OUT).sum()),
        "typical_flows": None if topics is None else _topics(found, answers, topics),
        "too_coarse": dict(answers.failures),
    }


def _topics(found: Analysis, answers: Answers, topics: Topics) -> list[dict[str, Any]]:
    volume = topics.weight @ answers.flows.volume.sum(axis=1)
    return [
        {
            "topic": number + 1,
            "share": float(volume[number] / volume.sum()),
            "slots": dict(
                zip(found.axis.names.tolist(), topics.weight[number].round(6).tolist(), strict=True)
            ),
            "pairs": [
                {
                    **dict(
                        zip(("origin", "destination"), pair_names(found, topics.pair[column]), strict=True)
                    ),
                    "share": float(topics.share[number, column]),
                }
                for column in topics.top(number, TOP_PAIRS)
            ],
        }
        for number in range(len(topics.share))
    ]


def _scores(scores: Scores) -> dict[str, Any]:
    use, topics = scores.land_use, scores.topics
    return {
        "profiles": {
            name: _quantiles(spread) for name, spread in (("start", scores.out), ("end", scores.into))
        },
        "land_use": None
        if use is None
        else {"adjusted_rand": use.adjusted_rand, "same_kind": use.same_kind, "zones": use.zones},
        "typical_flows": None
        if topics is None
        else {
            "pairs": topics.mean_pairs,
            "slots": topics.mean_slots,
            "by_topic": [
                {"topic": number + 1, "pairs": pairs, "slots": slots}
                for number, (pairs, slots) in enumerate(
                    zip(topics.pairs.tolist(), topics.slots.tolist(), strict=True)
                )
            ],
        },
    }


def _quantiles(spread: AgreementSpread) -> dict[str, Any]:
    return {
        "mean": spread.mean,
        "quantiles": dict(zip((f"{q:.0%}" for q in QUANTILES), spread.quantiles, strict=True)),
    }


def _spread(spread: AgreementSpread) -> str:
    return f"{spread.mean:.2f} ({spread.quantiles[0]:.2f} to {spread.quantiles[-1]:.2f})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{np.round(value, 2) + 0.0:.2f}"
