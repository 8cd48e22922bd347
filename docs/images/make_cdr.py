"""Draws cdr.svg of docs/synth.md: antennas, hours and ranges of made-up call detail records.

python docs/images/make_cdr.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tripcloak.synth import Cdr
from tripcloak.synth.country import draw_country

HERE = Path(__file__).parent
SIDE, GAP, TOP = 230, 52, 62
INK, QUIET, LINE, BAD = "#1b2733", "#5b6875", "#1d4e89", "#c2410c"
CDR = Cdr(users=10_000)
RANGES = (0.1, 100.0)


def main() -> None:
    """Write the picture beside this script."""
    calls = pa.Table.from_batches(list(CDR.batches())).combine_chunks()
    width, height = 4 * SIDE + 5 * GAP, SIDE + TOP + 48
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="12">'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    )
    capital = draw_country(CDR.seed, CDR.radius_km * 1000.0).towns[0]
    parts = [
        *_antennas(0, "The country", np.zeros(2), CDR.radius_km * 1000.0, 2),
        *_antennas(1, "The capital", capital, 12_000.0, 4),
        *_hours(calls),
        *_ranges(calls),
    ]
    (HERE / "cdr.svg").write_text("\n".join([head, *parts, "</svg>", ""]), encoding="utf-8")


def _antennas(panel: int, title: str, middle: Any, reach: float, dot: int) -> Iterator[str]:
    """Yield a map of the antennas within ``reach`` metres of a point."""
    left = GAP + panel * (SIDE + GAP)
    at = (_metres(pa.Table.from_batches([CDR.stations()])) - middle[:, None]) / reach
    x, y = left + SIDE * (1 + at[0]) / 2, TOP + SIDE * (1 - at[1]) / 2
    seen = (np.abs(at) < 0.99).all(axis=0)
    dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x[seen], y[seen], strict=True))
    yield from _words(left, title, f"{seen.sum():,} antennas, {2 * reach / 1000:.0f} km across")
    yield _frame(left)
    yield f'<path d="{dots}" stroke="{LINE}" stroke-width="{dot}" stroke-linecap="round"/>'


def _hours(calls: pa.Table) -> Iterator[str]:
    """Yield calls by hour, and how many of them are made at the user's most used antenna."""
    left = GAP + 2 * (SIDE + GAP)
    hour = calls["timestamp"].to_numpy().astype("M8[h]").astype(np.int64) % 24
    user = calls["user_id"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    pair, of = np.unique(user * CDR.antennas + calls["antenna_id"].to_numpy(), return_inverse=True)
    many = np.bincount(of)
    most = np.zeros(CDR.users, np.int64)
    np.maximum.at(most, pair // CDR.antennas, many)
    share = np.bincount(hour, many[of] == most[user]) / np.bincount(hour)
    made = np.bincount(hour) / hour.size
    yield from _words(left, "The day", "bars: calls; line: share at the top antenna")
    yield _frame(left)
    step = SIDE / 24
    for at, value in enumerate(made):
        high = 0.9 * SIDE * value / made.max()
        box = f'x="{left + at * step + 1:.1f}" y="{TOP + SIDE - high:.1f}" width="{step - 2:.1f}"'
        yield f'<rect {box} height="{high:.1f}" fill="#9db8d6"/>'
    yield _line([(left + (at + 0.5) * step, TOP + SIDE * (1 - value)) for at, value in enumerate(share)])
    for at in (0, 6, 12, 18, 24):
        yield _text(left + at * step, TOP + SIDE + 18, f"{at} h", "middle")
    yield _text(left + SIDE - 4, TOP + 14, "100 %", "end")


def _ranges(calls: pa.Table) -> Iterator[str]:
    """Yield the share of users whose radius of gyration is larger, both on logarithmic scales."""
    left = GAP + 3 * (SIDE + GAP)
    user = calls["user_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    at, each = _metres(calls) / 1000.0, np.bincount(user)
    mean = np.stack([np.bincount(user, axis) / each for axis in at])
    radius = np.sort(np.sqrt(np.bincount(user, ((at - mean[:, user]) ** 2).sum(axis=0)) / each))
    beyond = 1.0 - np.arange(radius.size) / radius.size
    some = np.unique(np.geomspace(1, radius.size, 90).astype(int))
    low, high = np.log10(RANGES)
    x = left + SIDE * (np.log10(np.clip(radius, *RANGES)) - low) / (high - low)
    y = TOP - SIDE * np.log10(beyond) / 4
    yield from _words(left, "The range", "share of users whose radius is larger")
    yield _frame(left)
    yield _line([(x[-i], y[-i]) for i in some])
    for km in (0.1, 1, 10, 100):
        yield _text(
            left + SIDE * (np.log10(km) - low) / (high - low), TOP + SIDE + 18, f"{km:g} km", "middle"
        )
    for power, words in ((0, "100 %"), (1, "10 %"), (2, "1 %"), (3, "0.1 %")):
        yield _text(left + 4, TOP + SIDE * power / 4 + 14, words)


def _metres(rows: pa.Table) -> Any:
    """Return metres east and north of the country's centre."""
    east = (rows["lon"].to_numpy() - CDR.centre[1]) * np.cos(np.radians(CDR.centre[0]))
    return np.stack([east, rows["lat"].to_numpy() - CDR.centre[0]]) * 111_195.0


def _words(left: float, title: str, words: str) -> list[str]:
    bold = f'<text x="{left}" y="26" font-weight="600" font-size="15" fill="{INK}">{title}</text>'
    return [bold, _text(left, 46, words)]


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{QUIET}" text-anchor="{anchor}">{words}</text>'


def _frame(left: float) -> str:
    return f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="#f8fafc" stroke="#aab4be"/>'


def _line(points: list[tuple[float, float]]) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{BAD}" stroke-width="2"/>'


if __name__ == "__main__":
    main()
