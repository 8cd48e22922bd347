"""Writes the cross-exposure table as JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripcloak.io.folder import Parts, refuse_if_taken, staged, write_json

FILES = Parts("table of exposures", files=("exposure.json", "exposure.csv", "exposure.md"))
INTERNAL = "Internal: computed from data that is not released. Not for publication."
SIDES = ("participants", "population")
MEASURES = ("C_DM", "C_AVG", "G", "E", "GDM_mean")
"""Those of tables 5.6 to 5.9 of the ODkAnon thesis."""


def refuse_taken(out: Path, *, force: bool = False) -> None:
    """Raise if a folder already holds such tables, or cannot hold them."""
    refuse_if_taken(out, force=force, parts=FILES)


def write_exposures(out: Path, facts: Mapping[str, Any], *, force: bool = False) -> None:
    """Write what is known about exposures into a folder; all or nothing."""
    rows = [_row(one) for one in facts["exposures"]]
    with staged(out, force=force, parts=FILES) as staging:
        for name in FILES.files:
            (staging / name).touch(mode=0o600)
        write_json(staging / "exposure.json", {"internal": INTERNAL, **facts})
        (staging / "exposure.csv").write_text(_csv(rows), encoding="utf-8")
        (staging / "exposure.md").write_text(_markdown(rows, facts["thresholds"]), encoding="utf-8")


def _row(one: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"method": one["method"], "protecting": one["target"], "flows": one["groups"]}
    for side in SIDES:
        for name in ("smallest", "below", "furthest"):
            row[f"{side}_{name}"] = None if one[side] is None else one[side][name]
    for side in SIDES:
        for name, value in one["metrics"].get(side, {}).items():
            row[f"{name}_on_{side}"] = value
    row["failure"] = one["failure"]
    return row


def _csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _markdown(rows: list[dict[str, Any]], thresholds: Mapping[str, float]) -> str:
    """Return the form of table 5.5 of the ODkAnon thesis, one row a method and target, and of 5.6 to 5.9."""
    needs = ", ".join(f"{k:,.0f} {unit}" for unit, k in thresholds.items())
    numbers = [f"{side}_{name}" for side in SIDES for name in ("smallest", "below", "furthest")]
    heads = [f"{words} {side}" for side in SIDES for words in ("smallest", "flows below,", "furthest,")]
    lines = [
        "# Who is exposed",
        "",
        INTERNAL,
        "",
        f"A released flow is safe with {needs}. Furthest: how far the smallest is below, as a share.",
        "",
        *_table(["flows", *heads], rows, ["flows", *numbers]),
    ]
    for side in SIDES:
        measures = [f"{name}_on_{side}" for name in MEASURES]
        lines += ["", f"## Measured on the {side}", "", *_table(list(MEASURES), rows, measures)]
    return "\n".join(lines) + "\n"


def _table(heads: list[str], rows: list[dict[str, Any]], names: list[str]) -> list[str]:
    lines = [f"| method | protecting | {' | '.join(heads)} |", f"|{'---|' * (len(heads) + 2)}"]
    for row in rows:
        told = " | ".join(_cell(row.get(name)) for name in names)
        lines.append(f"| {row['method']} | {row['protecting']} | {told} |")
    return lines


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    if abs(value) >= 1e6:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 100 or float(value).is_integer() else f"{value:.3g}"
