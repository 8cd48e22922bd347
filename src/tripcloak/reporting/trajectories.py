"""What a report draws of released trajectories: where they are, how fine and how long samples are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.flows.report.map import map_payload
from tripcloak.ground.arrays import Floats
from tripcloak.reporting.charts import Chart, counted, doubling_edges, named, shares
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
        middle = [
            (low.astype(np.float64) + high) / 2 for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1))
        ]
        ends = [np.quantile(side, [0.01, 0.99]) for side in middle]
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

    def charts(self) -> list[Chart]:
        """Return how fine, how long and how many samples are, and when."""
        lengths = np.diff(self.published.offsets).astype(float)
        many = doubling_edges(1.0, float(lengths.max()))
        return [
            Chart(
                "How fine released samples are",
                f"Half of the samples are boxes of {np.median(self.km2):,.3g} km² or less.",
                "area of the box, km²",
                "% of the samples",
                named(AREAS_KM2),
                {"released": shares(counted(self.km2, AREAS_KM2))},
            ),
            Chart(
                "How exact their times are",
                f"Half of the samples last {np.median(self.minutes):,.0f} minutes or less.",
                "minutes",
                "% of the samples",
                named(MINUTES),
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
