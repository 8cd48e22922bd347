"""The page of an analysis: how well a release answers, profiles, land use and typical flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tripcloak.report.kind_map import KindMap
from tripcloak.report.lines import Chart, drawing
from tripcloak.report.page import render_page

TITLE = "What this release tells"
INTERNAL = "Internal: shows original data. Not for publication."


class ScoreRow(NamedTuple):
    """How alike the answers to one question are: of the release, and of other trips of the same city."""

    question: str
    measure: str
    release: str
    by_chance: str


class Topic(NamedTuple):
    """A typical flow: when it happens, and its largest pairs of zones by whose trips they are."""

    chart: Chart
    pairs: Mapping[str, Sequence[tuple[str, str, str]]]


class Parts(NamedTuple):
    """What the page shows; a question that the data is too coarse for has words instead."""

    internal: bool
    words: Sequence[str]
    facts: Mapping[str, str]
    scores: Sequence[ScoreRow]
    spread: Chart | None
    profiles: Sequence[Chart]
    maps: Sequence[KindMap]
    left_out: str
    kinds: Sequence[Chart]
    topics: Sequence[Topic]
    failures: Sequence[str]


def analysis_page(parts: Parts) -> str:
    """Return the page, which works offline."""
    return render_page(
        "analysis",
        scripts=(),
        styles=("lines.css",),
        title=TITLE,
        internal=INTERNAL if parts.internal else "",
        words=parts.words,
        facts=parts.facts,
        scores=parts.scores,
        spread=None if parts.spread is None else drawing(parts.spread),
        spread_names=[] if parts.spread is None else list(parts.spread.lines),
        profiles=[drawing(chart) for chart in parts.profiles],
        profile_names=list(parts.profiles[0].lines) if parts.profiles else [],
        maps=parts.maps,
        left_out=parts.left_out,
        kinds=[drawing(chart) for chart in parts.kinds],
        topics=[{"chart": drawing(topic.chart), "pairs": topic.pairs} for topic in parts.topics],
        topic_names=list(parts.topics[0].chart.lines) if parts.topics else [],
        failures=parts.failures,
    )
