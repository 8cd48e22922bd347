"""Drawing: a release rebuilt between zones that somebody draws, and asked what analysts ask."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.lines import Line
from benchmarks.measuring import city, tripcloak

COLUMNS, ROWS = 40, 25
SOUTH, WEST, NORTH, EAST = 48.6, 18.05, 48.92, 18.55
"""Where nearly all trips of the made-up city lie."""


def rebuilding(folder: Path) -> list[Line]:
    """A release of some 50 k groups onto 1,000 polygons, the whole command; and the analysis of a day."""
    trips, zones = city(folder, 1_600_000), _rectangles(folder / "rectangles.geojson")
    release, by_hour = folder / "drawn-on", folder / "by-hour"
    made = ("anonymise", str(trips), "--method", "productcut", "--k", "10", "--unit", "trips", "--json")
    groups = tripcloak(*made, "--out", str(release)).json()["groups"]
    lines = []
    for rule in ("area", "tiles"):
        out = folder / f"rebuilt-{rule}"
        cost = tripcloak(
            "reconstruct", str(release), "--zones", str(zones), "--rule", rule, "--out", str(out), "--json"
        )
        remark = f"{groups:,} groups, {cost.json()['flows']:,} flows rebuilt"
        what = f"reconstruct onto {COLUMNS * ROWS:,} zones by {rule}"
        lines.append(Line(what, cost.cpu_s, 10, "CPU s", cost.peak_mb, remark))
    tripcloak(*made, "--time-slot", "1h", "--fold", "day", "--out", str(by_hour))
    cost = tripcloak("analyse", str(by_hour), "--out", str(folder / "analysed"), "--json")
    remark = f"{cost.json()['zones']['number']:,} zones, 24 slots"
    return [*lines, Line("analyse, without the original", cost.cpu_s, 20, "CPU s", cost.peak_mb, remark)]


def _rectangles(path: Path) -> Path:
    """Write rectangles that cover the city without a gap, and return the path."""
    wide, high = (EAST - WEST) / COLUMNS, (NORTH - SOUTH) / ROWS
    features = []
    for number in range(COLUMNS * ROWS):
        row, column = divmod(number, COLUMNS)
        west, south = WEST + column * wide, SOUTH + row * high
        east, north = WEST + (column + 1) * wide, SOUTH + (row + 1) * high
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        shape = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "properties": {"zone": f"r{number}"}, "geometry": shape})
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path
