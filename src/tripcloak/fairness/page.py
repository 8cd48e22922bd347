"""The fairness table and chart: what safety costs each segment."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from tripcloak.pages.markdown import shown
from tripcloak.pages.page import render_page

INTERNAL = "Internal: computed from data that is not released. Not for publication."
COLUMNS = (
    ("segment", "segment"),
    ("trips", "trips"),
    ("travellers", "different ids"),
    ("origins", "origin zones"),
    ("destinations", "destination zones"),
    ("groups", "released flows"),
    ("G", "G"),
    ("GDM", "GDM (m)"),
    ("S", "S"),
    ("G_at_equal_size", "G at equal size"),
    ("GDM_at_equal_size", "GDM at equal size (m)"),
)


def fairness_csv(facts: Mapping[str, Any]) -> str:
    """Return the table as CSV, one row a segment."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for name, _ in COLUMNS])
    writer.writerows([row[name] for name, _ in COLUMNS] for row in facts["segments"])
    return out.getvalue()


def fairness_markdown(facts: Mapping[str, Any]) -> str:
    """Return the table as Markdown, with what it says in words."""
    lines = [f"| {' | '.join(words for _, words in COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    rows = ([shown(_cell(row[name], name)) for name, _ in COLUMNS] for row in facts["segments"])
    lines += [f"| {' | '.join(row)} |" for row in rows]
    said = "\n".join(f"- {shown(sentence)}" for sentence in fairness_words(facts))
    return f"# Who pays for being safe\n\n{INTERNAL}\n\n" + "\n".join(lines) + f"\n\n{said}\n"


def fairness_words(facts: Mapping[str, Any]) -> list[str]:
    """Return what the table says, in sentences.

    Examples
    --------
    >>> people = {"travellers": 50, "G_at_equal_size": 30.0}
    >>> facts = {"segments": [people, people], "pays_most": "sex=M", "pays_least": "sex=F", "times": 4.0,
    ...          "times_of_sampled": 4.0, "times_at_equal_size": 2.0, "explained_by_size": 0.5,
    ...          "equal_size": 50, "withheld": {"sex=X": "it does not hold at least 10 people"}}
    >>> for sentence in fairness_words(facts):
    ...     print(sentence)
    sex=M pays most: its zones hold 4.00 times as many tiles as those of sex=F, which pays least.
    In samples of 50 ids from each segment that factor is 2.00: size alone explains 50 % of it.
    Withheld: sex=X (it does not hold at least 10 people).
    """
    sentences = []
    if len(facts["segments"]) > 1:
        sentences.append(
            f"{facts['pays_most']} pays most: its zones hold {_factor(facts['times'])} times as many tiles "
            f"as those of {facts['pays_least']}, which pays least."
        )
        if facts["explained_by_size"] is not None:
            sentences.append(_explained(facts))
    reasons: dict[str, list[str]] = {}
    for name, reason in facts["withheld"].items():
        reasons.setdefault(reason, []).append(name)
    told = [f"Withheld: {', '.join(names)} ({reason})." for reason, names in reasons.items()]
    return [*sentences, *told]


def _explained(facts: Mapping[str, Any]) -> str:
    """Return how much of the difference goes when all segments are of one size, as a sentence."""
    unit = "trips" if facts["segments"][0]["travellers"] is None else "ids"
    sampled = sum(row["G_at_equal_size"] is not None for row in facts["segments"])
    equal, size = _factor(facts["times_at_equal_size"]), f"{facts['equal_size']:,} {unit}"
    share = f"size alone explains {100 * facts['explained_by_size']:.0f} % of it."
    if sampled == len(facts["segments"]):
        return f"In samples of {size} from each segment that factor is {equal}: {share}"
    own = _factor(facts["times_of_sampled"])
    return (
        f"Among the {sampled} segments of {size} or more the factor is {own}, and {equal} in samples "
        f"of {size} from each: {share}"
    )


def _factor(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def fairness_page(facts: Mapping[str, Any]) -> str:
    """Return the table and the chart as one page that works offline."""
    most = max(max(row["G"], row["G_at_equal_size"] or 0) for row in facts["segments"])
    bars = [
        {
            "segment": row["segment"],
            "bars": [
                {"kind": kind, "width": f"{100 * row[name] / most:.2f}", "value": _cell(row[name])}
                for kind, name in (("own", "G"), ("equal", "G_at_equal_size"))
                if row[name] is not None
            ],
        }
        for row in facts["segments"]
    ]
    rows = [[_cell(row[name], name) for name, _ in COLUMNS] for row in facts["segments"]]
    return render_page(
        "fairness",
        internal=INTERNAL,
        words=fairness_words(facts),
        bars=bars,
        equal_size=facts["equal_size"],
        columns=[words for _, words in COLUMNS],
        rows=rows,
    )


def _cell(value: Any, name: str = "") -> str:
    if value is None:
        return "–"
    if name == "S":
        return f"{100 * value:.1f} %"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
