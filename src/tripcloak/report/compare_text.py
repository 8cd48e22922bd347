"""A comparison as text: CSV for programs, Markdown for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from tripcloak.report.columns import (
    INTERNAL,
    LOSS,
    OVERLAP,
    PROMISES,
    RELEASE,
    Advice,
    Column,
    Record,
    asked_columns,
    full_name,
    written,
)


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
    title: str, facts: Mapping[str, str], advice: Sequence[Advice], records: Sequence[Record]
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
    """
    ran = [record for record in records if record["ran"]]
    failed = [record for record in records if not record["ran"]]
    asked = asked_columns(records)
    parts = [f"# {title}", f"**{INTERNAL}**", "\n".join(f"- {name}: {text}" for name, text in facts.items())]
    parts += ["## Recommendation"]
    parts += [f"**{one.headline}** {' '.join(one.words)}" for one in advice]
    if ran:
        parts += ["## What is lost", _table((*asked, *LOSS), ran)]
        parts += ["## The releases", _table((*asked, *RELEASE), ran)]
    if failed:
        parts += ["## What did not run", _reasons(failed, records)]
    parts += ["## What the columns mean", _meanings((*LOSS, *RELEASE))]
    told = dict.fromkeys(record["promise"] for record in ran)
    parts += ["\n".join(f"- **{promise}**: {PROMISES[promise]}" for promise in told) + f"\n- {OVERLAP}"]
    return "\n\n".join(parts) + "\n"


def _table(columns: Sequence[Column], records: Sequence[Record]) -> str:
    head = [column.name for column in columns]
    rule = [":--" if column.form == "text" else "--:" for column in columns]
    rows = [[_cell(written(column, record[column.key])) for column in columns] for record in records]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def _reasons(failed: Sequence[Record], records: Sequence[Record]) -> str:
    return "\n".join(f"- **{full_name(record, records)}**: {record['reason']}" for record in failed)


def _meanings(columns: Sequence[Column]) -> str:
    return "\n".join(
        f"- **{column.name}**: {column.words}{f' ({column.better} is better)' if column.better else ''}"
        for column in columns
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
