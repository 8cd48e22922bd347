"""Writes the cross-exposure table as JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripcloak.io.folder import Parts, staged, write_json

FILES = Parts("exposure table", files=("exposure.json", "exposure.csv", "exposure.md"))
INTERNAL = "Internal: computed from data that is not released. Not for publication."
SIDES = ("participants", "population")


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
    """Return the form of table 5.5 of the ODkAnon thesis, one row a method and target."""
    needs = ", ".join(f"{k:,.0f} {unit}" for unit, k in thresholds.items())
    lines = [
        "# Who is exposed",
        "",
        INTERNAL,
        "",
        f"A released flow is safe with {needs}.",
        "",
        "| method | protecting | flows | smallest participants | below | smallest population | below |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        numbers = [row["flows"], *(row[f"{side}_{name}"] for side in SIDES for name in ("smallest", "below"))]
        told = ["–" if value is None else f"{value:,.0f}" for value in numbers]
        lines.append(f"| {row['method']} | {row['protecting']} | {' | '.join(told)} |")
    return "\n".join(lines) + "\n"
