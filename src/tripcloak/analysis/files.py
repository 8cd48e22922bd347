"""Writes an analysis: one page to look at, JSON, and tables of profiles, kinds and typical flows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tripcloak.analysis import Answers
from tripcloak.analysis.analyse import Analysis
from tripcloak.analysis.answers import Scores
from tripcloak.analysis.facts import (
    KINDS,
    TOP_PAIRS,
    ScoreRow,
    coarse_words,
    facts,
    pair_names,
    score_rows,
    slots_in_words,
    zones_in_words,
)
from tripcloak.ground.arrays import Floats
from tripcloak.ground.folders import FolderParts, refuse_if_taken, staged, write_json
from tripcloak.pages.charts import STYLES, Chart, Sheet
from tripcloak.pages.page import render_page
from tripcloak.pages.small_maps import KindMap, frame_of, kind_map

TITLE = "What this release tells"
NOT_FOR_PUBLICATION = "Internal: shows original data. Not for publication."


class Topic(NamedTuple):
    """A typical flow: when it happens, and its largest pairs of zones by whose trips they are."""

    chart: Chart
    pairs: Mapping[str, Sequence[tuple[str, str, str]]]


class PageParts(NamedTuple):
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


def analysis_page(parts: PageParts) -> str:
    """Return the page, which works offline."""
    sheet = Sheet()
    return render_page(
        "analysis",
        script="charts",
        styles=STYLES,
        title=TITLE,
        internal=NOT_FOR_PUBLICATION if parts.internal else "",
        words=parts.words,
        facts=parts.facts,
        scores=parts.scores,
        spread=None if parts.spread is None else sheet.put(parts.spread),
        profiles=[sheet.put(chart) for chart in parts.profiles],
        maps=parts.maps,
        left_out=parts.left_out,
        kinds=[sheet.put(chart) for chart in parts.kinds],
        topics=[{"chart": sheet.put(topic.chart), "pairs": topic.pairs} for topic in parts.topics],
        failures=parts.failures,
        payload=sheet.payload,
    )


TABLES = ("profiles.csv", "kinds.csv", "topics.csv", "topic_pairs.csv")
INTERNAL = tuple(f"internal_{name}" for name in TABLES)
ANALYSIS = FolderParts("analysis", files=(*TABLES, "analysis.json", "analysis.html"), optional=INTERNAL)
MAP_PIXELS = 480
PAIRS_SHOWN = 6
STEPS = 50


def refuse_if_analysed(out: Path, *, force: bool) -> None:
    """Raise if the folder already holds an analysis, is no folder, or may not be written to."""
    refuse_if_taken(out, force=force, parts=ANALYSIS)


def write_analysis(out: Path, found: Analysis, *, force: bool = False) -> None:
    """Write an analysis to a folder, whole or not at all; what shows original data only its owner may read.

    Tables of the original trips are called ``internal_...``; ``analysis.html`` and ``analysis.json`` say
    that they are internal where they show them.
    """
    with staged(out, force=force, parts=ANALYSIS) as staging:
        if found.original is not None:
            for name in (*INTERNAL, "analysis.json", "analysis.html"):
                (staging / name).touch(mode=0o600)
            _write_tables(staging, found, found.original, "internal_")
        _write_tables(staging, found, found.release, "")
        write_json(staging / "analysis.json", facts(found))
        (staging / "analysis.html").write_text(analysis_page(_parts(found)), encoding="utf-8")


def _write_tables(folder: Path, found: Analysis, answers: Answers, prefix: str) -> None:
    import pyarrow as pa
    from pyarrow import csv

    tables = zip(TABLES, (_profiles, _kinds, _topics, _topic_pairs), strict=True)
    for name, made in tables:
        table = pa.table(made(found, answers))
        csv.write_csv(table, folder / f"{prefix}{name}", csv.WriteOptions(quoting_style="needed"))


def _profiles(found: Analysis, answers: Answers) -> dict[str, Any]:
    slots = len(found.axis.names)
    return {
        "zone": np.repeat(found.drawn.ids, slots),
        "slot": np.tile(found.axis.names, len(found.drawn)),
        "start": answers.profiles.out.reshape(-1).round(3),
        "end": answers.profiles.into.reshape(-1).round(3),
    }


def _kinds(found: Analysis, answers: Answers) -> dict[str, Any]:
    use = answers.land_use
    kind = np.full(len(found.drawn), "")
    if use is not None:
        kind = np.array([*KINDS[: len(use.profiles)], ""])[use.cluster]
    return {"zone": found.drawn.ids, "kind": kind, "volume": answers.profiles.volume.round(3)}


def _topics(found: Analysis, answers: Answers) -> dict[str, Any]:
    slots = len(found.axis.names)
    weight = np.zeros((0, slots)) if answers.topics is None else answers.topics.weight
    return {
        "topic": np.repeat(np.arange(1, len(weight) + 1), slots),
        "slot": np.tile(found.axis.names, len(weight)),
        "weight": weight.reshape(-1).round(6),
    }


def _topic_pairs(found: Analysis, answers: Answers) -> dict[str, Any]:
    topics = answers.topics
    rows: list[tuple[Any, ...]] = []
    if topics is not None:
        rows = [
            (number + 1, *pair_names(found, topics.pair[column]), round(float(share[column]), 6))
            for number, share in enumerate(topics.share)
            for column in topics.top(number, TOP_PAIRS)
        ]
    names = ("topic", "origin", "destination", "share")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _parts(found: Analysis) -> PageParts:
    sides = _sides(found)
    return PageParts(
        internal=found.original is not None,
        words=_words(found),
        facts={
            "zones": zones_in_words(found),
            "slots": slots_in_words(found),
            "outside the zones": f"{found.outside['origins']:.1%} of origins, "
            f"{found.outside['destinations']:.1%} of destinations",
            "half of the trips are of": f"{_half(found, 'zone')} and {_half(found, 'slot')}, or less",
        },
        scores=score_rows(found),
        spread=_spread(found),
        profiles=[_profile(found, row) for row in _telling_zones(found)],
        maps=_maps(found),
        left_out=_left_out(found),
        kinds=list(_kind_charts(found)),
        topics=list(_topic_parts(found)),
        failures=coarse_words(found)
        + [
            f"No answer on {question}, {whose}: {why}."
            for whose, answers in sides.items()
            for question, why in answers.failures.items()
        ],
    )


def _half(found: Analysis, what: str) -> str:
    """Return over how many zones or slots a released trip spreads, the median, in words."""
    number = f"{found.reach[f'{what}s'].quantiles[2]:,.2g}"
    return f"{number} {what}{'' if number == '1' else 's'}"


def _sides(found: Analysis) -> dict[str, Answers]:
    """Return whose answers there are."""
    original = {} if found.original is None else {"original": found.original}
    return {**original, "release": found.release}


def _words(found: Analysis) -> list[str]:
    if found.original is None:
        return [
            "Hourly profiles of zones, land use and typical flows, as anybody gets them from the release."
        ]
    return [
        "Hourly profiles of zones, land use and typical flows, from the original trips and from the release."
    ]


def _telling_zones(found: Analysis) -> list[int]:
    """Return a busy, a middling and two quieter zones, among those with enough trips to tell."""
    volume = found.release.profiles.volume
    use = found.release.land_use
    kept = volume > 0 if use is None else use.cluster >= 0
    ranked = np.flatnonzero(kept)[np.argsort(-volume[kept], kind="stable")]
    picks = dict.fromkeys(int(at * (len(ranked) - 1)) for at in (0.0, 0.1, 0.3, 0.6))
    return [int(ranked[pick]) for pick in picks if len(ranked)]


def _profile(found: Analysis, zone: int) -> Chart:
    lines: dict[str, Sequence[float]] = {}
    for direction in ("start", "end"):
        for whose, answers in _sides(found).items():
            side = answers.profiles.out if direction == "start" else answers.profiles.into
            lines[_line(found, direction, whose)] = side[zone].tolist()
    words = f"{found.release.profiles.volume[zone]:,.0f} trips start or end here, as released"
    if found.scores is not None and np.isfinite(found.scores.by_zone[zone]):
        words += f"; correlation {found.scores.by_zone[zone]:.2f}"
    return Chart(
        f"zone {found.drawn.ids[zone]}", words, found.axis.names.tolist(), lines, pairs=_paired(found)
    )


def _paired(found: Analysis) -> bool:
    """Return whether colour is the direction, and what is released dashed beside the original."""
    return found.original is not None


def _line(found: Analysis, direction: str, whose: str) -> str:
    return f"trips that {direction}" + (f", {whose}" if found.original is not None else "")


def _spread(found: Analysis) -> Chart | None:
    """Return how much of the volume lies in zones whose profile correlates at least so much."""
    if found.original is None or found.scores is None or found.by_chance is None:
        return None
    volume = found.original.profiles.volume
    levels = np.linspace(0, 1, STEPS + 1)

    def reached(scores: Scores) -> list[float]:
        known: Floats = np.nan_to_num(scores.by_zone, nan=-1.0)
        return [float(volume[known >= level - 1e-12].sum() / volume.sum()) for level in levels]

    return Chart(
        "How well profiles agree",
        "share of the trips in zones whose profile correlates at least this much with the original one",
        [f"{level:.2g}" for level in levels],
        {"release": reached(found.scores), "by chance alone": reached(found.by_chance)},
        every=STEPS // 5,
    )


def _maps(found: Analysis) -> list[KindMap]:
    import shapely

    drawn = found.drawn
    frame = frame_of(drawn.lat, drawn.lon, found.release.profiles.volume, MAP_PIXELS)
    uses = {whose: answers.land_use for whose, answers in _sides(found).items()}
    if frame is None or drawn.geometries is None:
        return []
    outlines = [shapely.geometry.mapping(shape) for shape in drawn.geometries]
    kinds = found.questions.clusters
    return [
        kind_map(whose, outlines, use.cluster, kinds, frame) for whose, use in uses.items() if use is not None
    ]


def _left_out(found: Analysis) -> str:
    told = [
        f"{int((answers.land_use.cluster < 0).sum()):,} of {len(found.drawn):,} ({whose})"
        for whose, answers in _sides(found).items()
        if answers.land_use is not None
    ]
    return f"Zones with too few trips to tell: {', '.join(told)}."


def _kind_charts(found: Analysis) -> Iterator[Chart]:
    slots = len(found.axis.names)
    uses = {whose: answers.land_use for whose, answers in _sides(found).items()}
    for kind in range(found.questions.clusters):
        lines: dict[str, Sequence[float]] = {}
        for part, direction in enumerate(("start", "end")):
            for whose, use in uses.items():
                shape = np.zeros(2 * slots) if use is None else use.profiles[kind]
                lines[_line(found, direction, whose)] = shape[part * slots : (part + 1) * slots].tolist()
        zones = ", ".join(
            f"{int((use.cluster == kind).sum()):,} zones ({whose})"
            for whose, use in uses.items()
            if use is not None
        )
        yield Chart(
            f"kind {KINDS[kind]}",
            f"{zones}; share of a zone's trips",
            found.axis.names.tolist(),
            lines,
            pairs=_paired(found),
        )


def _topic_parts(found: Analysis) -> Iterator[Topic]:
    sides = {whose: answers.topics for whose, answers in _sides(found).items() if answers.topics is not None}
    if not sides:
        return
    for number in range(found.questions.topics):
        words = "share of a slot's trips"
        if found.scores is not None and found.scores.topics is not None:
            score = found.scores.topics
            words += f"; cosine of pairs {score.pairs[number]:.2f}, of slots {score.slots[number]:.2f}"
        lines = {whose: topics.weight[number].tolist() for whose, topics in sides.items()}
        pairs = {
            whose: [
                (*pair_names(found, topics.pair[column]), f"{topics.share[number, column]:.1%}")
                for column in topics.top(number, PAIRS_SHOWN)
            ]
            for whose, topics in sides.items()
        }
        yield Topic(Chart(f"topic {number + 1}", words, found.axis.names.tolist(), lines), pairs)
