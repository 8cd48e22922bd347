"""The files of a comparison on trajectories: its page, and the same as Markdown, CSV and JSON.

Numbers of whole releases alone: no id, no place, no time of anybody, and no name of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from tripcloak.comparing.files import COMPARISON, FILES, render_csv, render_markdown
from tripcloak.comparing.page import PageWords, rendered, table_rows
from tripcloak.comparing.pareto import Kind, Point, render_plot
from tripcloak.comparing.rows import Advice, ComparisonColumn, Record, asked_columns
from tripcloak.comparing.trajectories import TrajectoryComparison, TrajectoryRow
from tripcloak.ground.folders import staged, write_json
from tripcloak.promises import Promise

TITLE = "Which method for these trajectories?"
LOSS = (
    ComparisonColumn(
        "spatial_km", "km", "how far a kept sample is from the true place, mean", "figure", "lower"
    ),
    ComparisonColumn(
        "time_minutes",
        "min",
        "how far a kept sample is from the true time, in minutes, mean",
        "figure",
        "lower",
    ),
    ComparisonColumn("created", "created", "share of samples that nobody made", "share", "lower"),
    ComparisonColumn("deleted", "deleted", "share of samples that are withheld", "share", "lower"),
    ComparisonColumn(
        "deleted_users", "people", "share of people of whom nothing is released", "share", "lower"
    ),
    ComparisonColumn(
        "places_apart",
        "places",
        "how far shares of places are apart from the true ones: 0 the same, 1 nothing in common",
        "figure",
        "lower",
    ),
    ComparisonColumn(
        "distances_apart",
        "distances",
        "the same of distances that people go in four hours",
        "figure",
        "lower",
    ),
    ComparisonColumn(
        "moves_apart", "moves", "the same of moves from one part of the area to another", "figure", "lower"
    ),
)
RELEASE = (
    ComparisonColumn("promise", "promise", "what protects people", "text"),
    ComparisonColumn("smallest_support", "smallest", "people that the least hidden one hides among", "whole"),
    ComparisonColumn(
        "guessed", "guessed", "of 100 people, those whom the best simple guess finds", "whole", "lower"
    ),
    ComparisonColumn(
        "guessed_blindly", "blindly", "the same of any guess among those that fit", "whole", "lower"
    ),
    ComparisonColumn("audit", "audit", "what a recount by other code says", "text"),
    ComparisonColumn("cpu_seconds", "CPU s", "processor seconds from samples to release", "seconds", "lower"),
    ComparisonColumn("seconds", "s", "clock seconds", "seconds", "lower"),
    ComparisonColumn("memory_mb", "MB", "memory at its peak, beyond the input", "megabytes", "lower"),
)


class _Drawn(NamedTuple):
    """A plot: its button, its two axes in words, and what the one across shows."""

    button: str
    words: str
    against: str
    across: str


DELETED = "deleted", "deleted: share of all samples"
LOSSES = {
    "spatial_km": _Drawn("Kilometres", "kilometres from the true to the released place, mean", *DELETED),
    "time_minutes": _Drawn("Minutes", "minutes from the true to the released time, mean", *DELETED),
    "places_apart": _Drawn(
        "Places", "places: how far shares are apart", "moves_apart", "moves: how far shares are apart"
    ),
}
WORDS = PageWords(
    plots="What it costs",
    note="Lower and further left is better. The line is the front, what no other safe release beats in both. "
    "Grey marks are beaten.",
    kinds={
        "shared": "whole trajectories hide people",
        "overlapping": "made up from noisy numbers, and nobody's",
        "noise": "hides less than that: see its promise",
        "unsafe": "not safe by the audit",
    },
    remarks={
        "places": "Of every trajectory the place in each slot of four hours counts, and all weigh the same. "
        "Shares of originals and release are compared by their Jensen-Shannon divergence: of 64 by 64 cells "
        "over 95 of 100 places, of kinds of distance, and of pairs of 16 by 16 wider cells.",
        "guessed": "Somebody who knows all samples of a person takes the trajectory that fits them best. Not "
        "told where samples are moved, and of few people.",
    },
)
QUESTION = (
    "How exact can released trajectories stay if each must hide people among others? {methods} methods on "
    "the same people, one after the other, all measured alike and all checked by an auditor that shares no "
    "code with them."
)


def write_trajectory_comparison(out: Path, found: TrajectoryComparison, *, force: bool = False) -> None:
    """Write a comparison to a folder, whole or not at all; only its owner may read the files.

    Parameters
    ----------
    force
        Replace a comparison that is already there.
    """
    records, advice, facts = [_record(row) for row in found.rows], [_advice(found)], _facts(found)
    markdown = render_markdown(TITLE, facts, advice, records, (LOSS, RELEASE), WORDS.remarks)
    with staged(out, force=force, parts=COMPARISON) as staging:
        for name in FILES:
            (staging / name).touch(mode=0o600)
        told = [{"audit": row["audit"], **asdict(one)} for row, one in zip(records, found.rows, strict=True)]
        (staging / "compare.csv").write_text(render_csv(told), encoding="utf-8")
        write_json(staging / "compare.json", _numbers(found))
        (staging / "compare.md").write_text(markdown, encoding="utf-8")
        (staging / "compare.html").write_text(
            render_trajectory_compare(facts, advice, records), encoding="utf-8"
        )


def render_trajectory_compare(
    facts: dict[str, str], advice: Sequence[Advice], records: Sequence[Record]
) -> str:
    """The text of ``compare.html``: the page of comparisons without small maps.

    Parameters
    ----------
    facts
        What was compared, in numbers.
    advice
        What to use.
    records
        The rows.
    """
    ran = [record for record in records if record["ran"]]
    chosen = {(one.k, one.limit): one.method for one in advice}
    columns = (*asked_columns(records), *LOSS, *RELEASE)
    svgs = {key: _plot(ran, key, advice[0].method) for key in LOSSES}
    drawn = {key: svg for key, svg in svgs.items() if svg}
    return rendered(
        WORDS,
        title=TITLE,
        question=QUESTION.format(methods=len(records)),
        facts=facts,
        advice=advice,
        losses={key: drawn.button for key, drawn in LOSSES.items()},
        plots=[(f"k = {advice[0].k:g}", drawn, [])] if drawn else [],
        columns=columns,
        rows=table_rows(columns, ran, chosen),
        records=records,
    )


def _plot(ran: Sequence[Record], key: str, best: str | None) -> str:
    drawn = LOSSES[key]
    points = [
        Point(
            record["method"],
            record[drawn.against],
            record[key],
            _kind(record),
            f"{record[key]:,.3g} {drawn.button.lower()}, {drawn.across}: {record[drawn.against]:.3g}",
            record["method"] == best,
        )
        for record in ran
        # Where nothing is moved there is nothing to draw on a scale of powers.
        if record[key] and record[drawn.against] is not None
    ]
    return render_plot(points, (), drawn.words, drawn.across) if points else ""


def _kind(record: Record) -> Kind:
    if not record["safe"]:
        return "unsafe"
    if record["hides"]:
        return "shared"
    return "overlapping" if record["made_up"] else "noise"


def _record(row: TrajectoryRow) -> dict[str, Any]:
    held = Promise.of_kind(row.promise).held if row.safe and row.promise else "NOT SAFE"
    ran = row.reason is None
    told = {"suppression_limit": None, "ran": ran, "hides": row.hides, "made_up": row.made_up, "note": None}
    return {**asdict(row), **told, "audit": held if ran else None}


def _advice(found: TrajectoryComparison) -> Advice:
    first, _, rest = found.advice().partition(": ")
    best = None if found.best is None else found.best.method
    return Advice(found.k, None, best, f"{first}.", [f"{rest[:1].upper()}{rest[1:]}"])


def _numbers(found: TrajectoryComparison) -> dict[str, Any]:
    """Return what ``--json`` prints, without where and when the samples lie."""
    told, grid = found.to_dict(), found.reading.trajectories.grid
    return {**told, "grid": {"metres": grid.metres, "seconds": grid.seconds}, "notes": []}


def _facts(found: TrajectoryComparison) -> dict[str, str]:
    of = found.reading.trajectories
    return {
        "Trajectories": f"{of.n_users:,}",
        "Samples": f"{of.n_samples:,}",
        "Steps": f"{of.grid.metres:,} m, {of.grid.seconds:,} s",
        "Hidden among": f"k = {found.k}" if found.k else "no k: noise alone",
    }
