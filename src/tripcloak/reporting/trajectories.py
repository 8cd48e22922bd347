"""What a report draws of released trajectories: where they are, how fine and how long samples are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.flows.report.map import map_payload
from tripcloak.ground.arrays import Floats
from tripcloak.hierarchy.place_names import Box
from tripcloak.reporting.charts import Chart, between, counted, doubling_edges, named, shares
from tripcloak.trajectories.release.presenting import area_of, middles
from tripcloak.trajectories.release.reading import read_trajectory_folder

CELLS = 48
"""Cells of the map from side to side."""
AREAS_KM2 = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
MINUTES = (0.0, 5.0, 15.0, 60.0, 180.0, 720.0, 1440.0, 10080.0)


class PublicTrajectories:
    """The public samples of a release of trajectories."""

    def __init__(self, public: Path, facts: Mapping[str, Any]) -> None:
        """Read the samples of the public part, whose manifest is given."""
        self.facts, self.published = facts, read_trajectory_folder(public)
        boxes, grid = self.published.boxes, self.published.grid
        sides = [
            (high.astype(np.float64) - low) * grid.metres / 1000
            for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1))
        ]
        self.km2: Floats = sides[0] * sides[1]
        self.minutes: Floats = (boxes.t1.astype(np.float64) - boxes.t0) * grid.seconds / 60

    def maps(self) -> list[dict[str, Any]]:
        """Return where released trajectories are, on cells of one size; nothing where there is no place."""
        features = self._cells()
        if not features:
            return []
        payload = map_payload({"type": "FeatureCollection", "features": features}, [])
        words = "How much of the released samples lies in each cell, every sample spread evenly over its box."
        return [{"title": "Where they are", "words": words, "volume": "samples", "payload": payload}]

    def _cells(self) -> list[dict[str, Any]]:
        boxes, grid = self.published.boxes, self.published.grid
        ends = middles(boxes)
        size = max(1.0, max(high - low for low, high in ends) / CELLS)
        edges = [low + size * np.arange(int(np.ceil(max(high - low, size) / size)) + 1) for low, high in ends]
        weight = _spread(boxes, edges)
        x, y = np.meshgrid(*edges, indexing="ij")
        lon, lat = grid.unproject(x * grid.metres, y * grid.metres)
        if not (np.isfinite(lon).all() and np.isfinite(lat).all()):
            return []
        km2 = (size * grid.metres / 1000) ** 2
        return [
            _cell(lon, lat, row, column, float(weight[row, column]), km2)
            for row, column in zip(*np.nonzero(weight >= 0.05), strict=True)
        ]

    @property
    def box(self) -> Box | None:
        """Return the box around nearly all samples; None where they have no place."""
        return area_of(self.published)

    def figures(self) -> list[tuple[str, str]]:
        """Return how fine a typical sample is, for the first screen: the value, and its words."""
        return [
            (f"{np.median(self.km2):,.3g} km²", "is the box of a typical sample"),
            (f"{np.median(self.minutes):,.3g} min", "is how long a typical sample lasts"),
        ]

    def charts(self) -> list[Chart]:
        """Return how fine, how long and how many samples are, and when."""
        lengths = np.diff(self.published.offsets).astype(float)
        many = doubling_edges(1.0, float(lengths.max()))
        return [
            between(
                AREAS_KM2,
                "How fine released samples are",
                f"Half of the samples are boxes of {np.median(self.km2):,.3g} km² or less.",
                "area of the box, km²",
                "% of the samples",
                {"released": shares(counted(self.km2, AREAS_KM2))},
            ),
            between(
                MINUTES,
                "How exact their times are",
                f"Half of the samples last {np.median(self.minutes):,.0f} minutes or less.",
                "minutes",
                "% of the samples",
                {"released": shares(counted(self.minutes, MINUTES))},
            ),
            Chart(
                "How much is told of each trajectory",
                f"A typical one has {np.median(lengths):,.0f} samples.",
                "samples of a trajectory",
                "trajectories",
                named(many, whole=True),
                {"released": counted(lengths, many)},
            ),
            self._hours(),
        ]

    def _hours(self) -> Chart:
        boxes, grid = self.published.boxes, self.published.grid
        middle = grid.start + (boxes.t0.astype(np.float64) + boxes.t1) / 2 * grid.seconds
        hours = (middle // 3600 % 24).astype(np.int64)
        return Chart(
            "At what time of day",
            "The hour in the middle of each sample's time" + (", UTC." if grid.clock == "UTC" else "."),
            "hour of the day",
            "samples",
            [f"{hour}" for hour in range(24)],
            {"released": np.bincount(hours, minlength=24).astype(float).tolist()},
        )


def _spread(boxes: Any, edges: list[Floats]) -> Floats:
    """Return how many samples lie in each cell, every box spread evenly over what it covers."""
    parts = []
    for low, high, side in ((boxes.x0, boxes.x1, edges[0]), (boxes.y0, boxes.y1, edges[1])):
        first, last = low.astype(np.float64)[:, None], high.astype(np.float64)[:, None]
        inside = np.clip(np.minimum(last, side[1:]) - np.maximum(first, side[:-1]), 0.0, None)
        parts.append(inside / (last - first))
    cells: Floats = parts[0].T @ parts[1]
    return cells


def _cell(lon: Floats, lat: Floats, row: int, column: int, weight: float, km2: float) -> dict[str, Any]:
    corners = [(row, column), (row + 1, column), (row + 1, column + 1), (row, column + 1), (row, column)]
    ring = [[float(lon[at]), float(lat[at])] for at in corners]
    told = {"axis": "origin", "zone": f"cell {row},{column}", "height": 0, "tiles": 1, "area_km2": km2}
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": {**told, "trips": round(weight, 1)},
    }


QUANTILES = {"q05": "5 %", "q25": "25 %", "median": "half", "q75": "75 %", "q95": "95 %"}


def original_charts(measures: Mapping[str, Any]) -> list[Chart]:
    """Return what became of the original trajectories, for their owner: as far as it was measured."""
    found = [
        _error(measures, "spatial_error_km", "How far samples were moved", "km"),
        _error(measures, "time_error_minutes", "How far their times were moved", "minutes"),
        _anchors(measures),
        _compared(measures, "predictability", "Are people still predictable?", "predictability"),
        _compared(measures, "radius_of_gyration", "How far people get about", "radius of gyration", " km"),
        _slopes(measures),
    ]
    return [chart for chart in found if chart is not None]


def _error(measures: Mapping[str, Any], name: str, title: str, unit: str) -> Chart | None:
    told = measures.get(name)
    if not isinstance(told, Mapping):
        return None
    half, far = (f"{told[part]:,.3g} {unit}" for part in ("median", "q95"))
    words = f"Half of the original samples by less than {half}, 5 % by more than {far}."
    values = [float(told[part]) for part in QUANTILES]
    return Chart(
        title, words, "share of the samples", f"{unit} at most", list(QUANTILES.values()), {"moved": values}
    )


def _anchors(measures: Mapping[str, Any]) -> Chart | None:
    known = [name for name in ("home", "work") if "within_1_km" in measures.get(name, {})]
    if not known:
        return None
    rows = {
        "within 1 km": [round(100 * measures[name]["within_1_km"], 2) for name in known],
        "not found any more": [round(100 * measures[name]["lost"], 2) for name in known],
    }
    words = "Where people seem to live and to work in the release, beside where they do."
    return Chart("Are home and work still found?", words, "", "% of the people", known, rows)


def _compared(measures: Mapping[str, Any], name: str, title: str, what: str, unit: str = "") -> Chart | None:
    told = measures.get(name, {})
    if not all(isinstance(told.get(side), Mapping) for side in ("original", "released")):
        return None
    rows = {side: [float(told[side][part]) for part in QUANTILES] for side in ("original", "released")}
    before, after = (f"{told[side]['median']:,.3g}" for side in ("original", "released"))
    words = f"Of a typical person {before}{unit} before and {after}{unit} after."
    what = f"{what},{unit}" if unit else what
    return Chart(title, words, "share of the people below", what, list(QUANTILES.values()), rows)


def _slopes(measures: Mapping[str, Any]) -> Chart | None:
    told = measures.get("displacement_slopes", {})
    known = {name: row for name, row in told.items() if row.get("slope_original") is not None}
    if not known:
        return None
    rows = {side: [row[f"slope_{side}"] for row in known.values()] for side in ("original", "released")}
    names = [name.replace("_", " ") for name in known]
    words = "The law of displacements: how quickly long ones become rare, by how far people get about."
    return Chart(
        "Do displacements follow the same law?", words, "people who get about so far", "slope", names, rows
    )
