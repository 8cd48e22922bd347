"""What a report draws of released flows: a map and charts, of published numbers alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.flows.release.tables import flows_over_time
from tripcloak.flows.report.map import map_payload
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy.place_names import Box, box_around
from tripcloak.promises import Promise
from tripcloak.promises.counted import called_in_words
from tripcloak.reporting.charts import (
    LENGTHS_KM,
    MOST_BARS,
    Chart,
    between,
    counted,
    doubling_edges,
    great_circle_km,
    named,
    shares,
)

AREAS_KM2 = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


class PublicFlows:
    """The public tables of a release of flows."""

    def __init__(self, public: Path, facts: Mapping[str, Any]) -> None:
        """Read the tables of the public part, whose manifest is given."""
        from pyarrow import parquet

        self.facts, self.public = facts, public.absolute()
        self.promise = Promise.from_manifest(facts["promise"])
        try:
            self.flows = parquet.read_table(self.public.absolute() / "flows.parquet")
            self.zones = json.loads((self.public / "zones.geojson").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{public} is not a whole release: its flows or zones cannot be read") from error
        self.volume = np.asarray(self.flows[facts["volume"]], dtype=float)

    def maps(self) -> list[dict[str, Any]]:
        """Return the map of released zones and flows."""
        places = [item for item in self.zones["features"] if item["properties"]["axis"] != "time"]
        payload = map_payload({**self.zones, "features": places}, flows_over_time(self.flows).to_pylist())
        return [
            {
                "title": "Released zones and flows",
                "words": "Zones are shaded by what begins or ends in them; lines are the largest flows.",
                "volume": str(self.facts["volume"]),
                "payload": payload,
            }
        ]

    @property
    def box(self) -> Box | None:
        """Return the box around the points of all zones; None where they have no place."""
        rows = [item["properties"] for item in self.zones["features"]]
        known = [(row["lat"], row["lon"]) for row in rows if row.get("lat") is not None]
        return box_around(*np.array(known, dtype=float).T) if known else None

    def charts(self) -> list[Chart]:
        """Return all charts that such a release has something for."""
        found = [self._support(), self._lengths(), self._concentration(), self._areas()]
        return [chart for chart in (*found, self._slots(), self._segments()) if chart is not None]

    def _support(self) -> Chart:
        """Return how many stand behind flows, with k marked."""
        unit = next(iter(self.promise.thresholds), self.facts["volume"])
        unit = unit if unit in self.flows.column_names else self.facts["volume"]
        numbers = np.asarray(self.flows[unit], dtype=float)
        least = (
            self.promise.k if unit in self.promise.thresholds and self.promise.k else max(1, numbers.min())
        )
        edges = doubling_edges(float(least), float(max(numbers.max(), least)))
        called = called_in_words(unit, self.promise.id_is)
        marked = unit in self.promise.thresholds and self.promise.k is not None
        return Chart(
            f"How many {called} stand behind each flow",
            f"The smallest released flow has {numbers.min():,.0f}."
            + (f" Below {self.promise.k:g} nothing may be published, and nothing is." if marked else ""),
            f"{called} per flow",
            "released flows",
            named(edges, whole=True),
            {"released flows": counted(numbers, edges)},
            mark=(-0.5, f"k = {self.promise.k:g}") if marked else None,
        )

    def lengths_km(self) -> Any:
        """Return how far apart the points of both zones of a flow are; not a number where one has none."""
        sides = ("origin_lat", "origin_lon", "destination_lat", "destination_lon")
        degrees = [np.asarray(self.flows[side].to_numpy(zero_copy_only=False), dtype=float) for side in sides]
        return great_circle_km(*degrees)

    def _lengths(self) -> Chart | None:
        far = self.lengths_km()
        known = np.isfinite(far)
        if not known.any():
            return None
        return between(
            LENGTHS_KM,
            "How far released trips go",
            "From the point of one zone to that of the other; trips within a zone count as 0 km.",
            "km",
            f"% of the {self.facts['volume']}",
            {"released": shares(counted(far[known], LENGTHS_KM, self.volume[known]))},
        )

    def _concentration(self) -> Chart:
        below = np.cumsum(np.sort(self.volume)[::-1])
        at = np.unique(np.linspace(1, len(below), min(len(below), 60)).astype(int))
        half = int(np.searchsorted(below, below[-1] / 2)) + 1
        return Chart(
            "Few flows hold much",
            f"The {half:,} largest of {len(below):,} flows hold half of the {self.facts['volume']}.",
            "% of the flows, largest first",
            f"% of the {self.facts['volume']}",
            (),
            {"share": [0.0, *np.round(100 * below[at - 1] / below[-1], 2).tolist()]},
            values=[0.0, *np.round(100 * at / len(below), 2).tolist()],
        )

    def _areas(self) -> Chart | None:
        rows = [
            item["properties"] for item in self.zones["features"] if item["properties"]["axis"] == "origin"
        ]
        known = [row for row in rows if row.get("area_km2") and self.facts["volume"] in row]
        if not known:
            return None
        areas = np.array([row["area_km2"] for row in known])
        volume = np.array([row[self.facts["volume"]] for row in known], dtype=float)
        return between(
            AREAS_KM2,
            "How fine the zones are",
            "Where many trips begin, zones can be small; where few do, they must be large.",
            "area of the zone of origin, km²",
            f"% of the {self.facts['volume']}",
            {"released": shares(counted(areas, AREAS_KM2, volume))},
        )

    def _slots(self) -> Chart | None:
        if "time" not in self.flows.column_names:
            return None
        names, place = np.unique(np.asarray(self.flows["time"].to_pylist()), return_inverse=True)
        sums = np.bincount(place, self.volume)
        return Chart(
            "When released trips begin",
            "By slot; longer times stand for slots that held too few.",
            "slot",
            str(self.facts["volume"]),
            names[:MOST_BARS].tolist(),
            {"released": sums[:MOST_BARS].tolist()},
        )

    def _segments(self) -> Chart | None:
        path = self.public / "segments.parquet"
        if not path.is_file():
            return None
        from pyarrow import parquet

        table = parquet.read_table(path.absolute())
        unit = next(name for name in ("trips", "population", "travellers") if name in table.column_names)
        names, place = np.unique(np.asarray(table["segment"].to_pylist()), return_inverse=True)
        return Chart(
            "Who they are",
            "Released numbers by segment, wherever a segment is safe on its own.",
            "segment",
            unit,
            names[:MOST_BARS].tolist(),
            {"released": np.bincount(place, np.asarray(table[unit], dtype=float))[:MOST_BARS].tolist()},
        )
