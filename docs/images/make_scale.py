"""Draws scale.svg: CPU seconds and peak memory of whole runs by size, from scale.json.

python -m benchmarks.sizes --write docs/images/scale.json
python docs/images/make_scale.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WIDTH, HEIGHT, LEFT, TOP, GAP = 760, 300, 52, 34, 80
PANEL = (WIDTH - 2 * LEFT - GAP // 2) // 2
COLOURS = ("#1b5e9b", "#c2571a", "#3c7d4f", "#7a4f9b")
WORDS = {"none": "no limit", "bare": "H3 encoding and DuckDB alone"}
STYLE = "text{font:13px sans-serif;fill:#1f2733}.axis{stroke:#8a94a3;stroke-width:1}.grid{stroke:#e3e7ec}"


def drawn(rows: list[dict[str, Any]]) -> str:
    """Return both panels side by side."""
    limits = sorted({row["memory"] for row in rows}, key=lambda name: (name == "bare", name != "none", name))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
        f"<style>{STYLE}</style>",
    ]
    for number, (name, title) in enumerate((("peak_gb", "peak memory, GB"), ("cpu_s", "CPU seconds"))):
        parts += _panel(rows, limits, name, title, LEFT + number * (PANEL + GAP))
    for number, limit in enumerate(limits):
        words = WORDS.get(limit) or f"--memory {limit}"
        x = LEFT + number * 135
        parts.append(f'<circle cx="{x + 5}" cy="{HEIGHT - 12}" r="4" fill="{COLOURS[number]}"/>')
        parts.append(f'<text x="{x + 15}" y="{HEIGHT - 8}">{words}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(rows: list[dict[str, Any]], limits: list[str], name: str, title: str, left: int) -> list[str]:
    bottom = HEIGHT - 58
    widest, tallest = max(row["trips"] for row in rows), _round_up(max(row[name] for row in rows))
    parts = [f'<text x="{left}" y="{TOP - 14}">{title}</text>']
    for step in range(5):
        y = bottom - (bottom - TOP) * step / 4
        parts.append(f'<line class="grid" x1="{left}" x2="{left + PANEL}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tallest * step / 4:g}</text>')
    taken = -float("inf")
    for millions in sorted({row["trips"] // 10**6 for row in rows}):
        x = left + PANEL * millions * 10**6 / widest
        # A number that would touch the one before it is left out.
        if x - taken > 22:
            taken = x
            parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{millions}</text>')
    parts.append(f'<text x="{left + PANEL / 2}" y="{bottom + 34}" text-anchor="middle">million trips</text>')
    for limit, colour in zip(limits, COLOURS, strict=False):
        points = [
            (left + PANEL * row["trips"] / widest, bottom - (bottom - TOP) * row[name] / tallest)
            for row in sorted(rows, key=lambda row: row["trips"])
            if row["memory"] == limit
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
    return parts


def _round_up(value: float) -> float:
    """Return the next round number that four steps lead up to."""
    return next(
        step
        for size in (1, 10, 100, 1000)
        for step in (size * 1, size * 2, size * 4, size * 6)
        if step >= value
    )


if __name__ == "__main__":
    found = json.loads((HERE / "scale.json").read_text(encoding="utf-8"))
    (HERE / "scale.svg").write_text(drawn(found), encoding="utf-8")
