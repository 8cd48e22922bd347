"""The files of a comparison: one page to look at, and the same as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripcloak.comparing.choice import Choice
from tripcloak.comparing.compare import Comparison
from tripcloak.comparing.page import WORDS, render_compare
from tripcloak.comparing.rows import (
    INTERNAL,
    LOSS,
    RELEASE,
    Advice,
    ComparisonColumn,
    Record,
    asked_columns,
    full_name,
    written,
)
from tripcloak.ground.folders import FolderParts, refuse_if_taken, staged, write_json
from tripcloak.pages.markdown import shown
from tripcloak.promises import Promise
from tripcloak.promises.counted import called_in_words, known_of, ones_of


def render_csv(records: Sequence[Record]) -> str:
    """Return the records as CSV: exact numbers, empty where there is none.

    The first column says that the file is internal: a table is easily sent on without its folder.

    >>> render_csv([{"method": "twincut", "G": 77.4, "E": None}]).splitlines()
    ['internal,method,G,E', 'not for publication,twincut,77.4,']
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["internal", *records[0]])
    writer.writerows(["not for publication", *record.values()] for record in records)
    return text.getvalue()


def render_markdown(
    title: str,
    facts: Mapping[str, str],
    advice: Sequence[Advice],
    records: Sequence[Record],
    columns: tuple[Sequence[ComparisonColumn], Sequence[ComparisonColumn]] = (LOSS, RELEASE),
    remarks: Mapping[str, str] = WORDS.remarks,
) -> str:
    """Return a comparison as Markdown: the recommendation, two tables, what did not run, and what it means.

    Parameters
    ----------
    title, facts
        The question, and what was asked of which input.
    advice
        One for every k and limit.
    records
        The rows.
    columns
        Those that tell what is lost, and those on the releases.
    remarks
        What else there is to know, by what it is about.
    """
    lost, released = columns
    ran = [record for record in records if record["ran"]]
    failed = [record for record in records if not record["ran"]]
    asked = asked_columns(records)
    parts = [
        f"# {title}",
        f"**{INTERNAL}**",
        "\n".join(f"- {name}: {shown(text)}" for name, text in facts.items()),
    ]
    parts += ["## Recommendation"]
    parts += [f"**{one.headline}** {' '.join(one.words)}" for one in advice]
    if ran:
        parts += ["## What is lost", _table((*asked, *lost), ran)]
        parts += ["## The releases", _table((*asked, *released), ran)]
    if failed:
        parts += ["## What did not run", _reasons(failed, records)]
    parts += ["## What the columns mean", _meanings((*lost, *released))]
    told = {promise: Promise.of_kind(promise).meaning for promise in _promises(ran)} | dict(remarks)
    parts += ["\n".join(f"- **{name}**: {words}" for name, words in told.items() if words)]
    return "\n\n".join(parts) + "\n"


def _promises(ran: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(record["promise"] for record in ran))


def _table(columns: Sequence[ComparisonColumn], records: Sequence[Record]) -> str:
    head = [column.name for column in columns]
    rule = [":--" if column.form == "text" else "--:" for column in columns]
    rows = [[shown(written(column, record[column.key])) for column in columns] for record in records]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def _reasons(failed: Sequence[Record], records: Sequence[Record]) -> str:
    return "\n".join(
        f"- **{shown(full_name(record, records))}**: {shown(record['reason'])}" for record in failed
    )


def _meanings(columns: Sequence[ComparisonColumn]) -> str:
    return "\n".join(
        f"- **{column.name}**: {column.words}{f' ({column.better} is better)' if column.better else ''}"
        for column in columns
    )


FILES = ("compare.csv", "compare.json", "compare.md", "compare.html")
COMPARISON = FolderParts("comparison", files=FILES)
TITLE = "Which method for these trips?"


def refuse_if_compared(out: Path, *, force: bool) -> None:
    """Raise if the folder already holds a comparison, is no folder, or may not be written to."""
    refuse_if_taken(out, force=force, parts=COMPARISON)


def write_comparison(out: Path, found: Comparison, *, force: bool = False) -> None:
    """Write a comparison to a folder, whole or not at all; only its owner may read the files.

    Parameters
    ----------
    force
        Replace a comparison that is already there.
    """
    records = [row.record() for row in found.rows]
    advice = [_advice(choice, found.input["id_is"]) for choice in found.choices]
    facts = _facts(found)
    with staged(out, force=force, parts=COMPARISON) as staging:
        for name in FILES:
            (staging / name).touch(mode=0o600)
        (staging / "compare.csv").write_text(render_csv(records), encoding="utf-8")
        write_json(staging / "compare.json", found.to_dict())
        (staging / "compare.md").write_text(render_markdown(TITLE, facts, advice, records), encoding="utf-8")
        (staging / "compare.html").write_text(
            render_compare(
                title=TITLE,
                question=_question(found),
                facts=facts,
                advice=advice,
                records=records,
                maps=found.maps,
                frame=found.frame,
            ),
            encoding="utf-8",
        )


def headline(choice: Choice, id_is: str | None = None) -> str:
    """Return what to use at one k and one limit, in one sentence.

    Parameters
    ----------
    id_is
        What the ids of the input stand for.

    Examples
    --------
    >>> asked = Choice(k=10, unit="travellers", limit=0.1, method="twincut", runner_up=None, words=())
    >>> headline(asked, "vehicle")
    'Use twincut at k = 10 vehicles (not people) with up to 10 % withheld.'
    """
    unit = _counted(choice.unit, id_is)
    asked = f"k = {choice.k:,.0f} {unit} with up to {100 * choice.limit:g} % withheld"
    return f"{'Nothing to recommend' if choice.method is None else f'Use {choice.method}'} at {asked}."


def _counted(units: str, id_is: str | None) -> str:
    return " and ".join(called_in_words(unit, id_is) for unit in units.split(","))


def _advice(choice: Choice, id_is: str | None) -> Advice:
    return Advice(choice.k, choice.limit, choice.method, headline(choice, id_is), choice.words)


def _question(found: Comparison) -> str:
    return (
        "How fine can released flows stay if every one must be safe and only so much may be withheld? "
        f"{len({row.method for row in found.rows})} methods on the same trips, all measured alike and all "
        "checked by an auditor that shares no code with them."
    )


def _facts(found: Comparison) -> dict[str, str]:
    of, choices = found.input, found.choices
    ks = ", ".join(f"{k:,.0f}" for k in dict.fromkeys(choice.k for choice in choices))
    limits = ", ".join(f"{100 * limit:g} %" for limit in dict.fromkeys(choice.limit for choice in choices))
    return {
        "Input": ", ".join(of["files"]),
        "Trips": f"{of['trips']:,}",
        **_travellers(of),
        "Flows between tiles": f"{of['flows']:,}",
        "Hierarchy": of["hierarchy"],
        "Protected": f"k = {ks} {_counted(found.unit, of['id_is'])}",
        "May be withheld": limits,
    }


def _travellers(of: Mapping[str, Any]) -> dict[str, str]:
    """Return how many ids there are, and what they stand for; or that trips may be anybody's."""
    if of["travellers"] is None:
        return {"Counted": known_of("trips", None)}
    several = ones_of(of["id_is"]).several
    return {
        f"{several[:1].upper()}{several[1:]}": f"{of['travellers']:,}",
        "Counted": known_of("travellers", of["id_is"]),
    }
