"""What only the owner may see: the original flows beside the released ones, and what each lost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.flows.report.map import map_payload
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError, TripcloakError
from tripcloak.ground.folders import PRIVATE
from tripcloak.hierarchy import Hierarchy, parse_tiling
from tripcloak.hierarchy.spec import needs_zones
from tripcloak.reporting.charts import LENGTHS_KM, Chart, between, counted, great_circle_km, shares
from tripcloak.reporting.flows import PublicFlows

MOST_ZONES = 1500
"""Zones of an original map; finer ones are added up until there are as few."""
MOST_FLOWS = 5000
"""Flows of an original map, the largest ones."""
TOPS = (10, 30, 100, 300, 1000, 3000)


class OriginalFlows:
    """The original flows of a release, with where each went; they must stay inside."""

    def __init__(self, folder: Path, run: Mapping[str, Any], released: PublicFlows) -> None:
        """Read the private table of groups of a release folder, whose private record is given."""
        from pyarrow import parquet

        try:
            self.groups = parquet.read_table(folder.absolute() / PRIVATE / "groups.parquet")
        except OSError as error:
            raise InputError(f"{folder / PRIVATE} is not whole: groups.parquet cannot be read") from error
        self.run, self.released = run, released
        self.volume: Floats = np.asarray(self.groups[str(released.facts["volume"])], dtype=float)
        self.kept = np.asarray(self.groups["released_origin"].is_valid())

    @cached_property
    def trees(self) -> dict[str, tuple[Hierarchy, Ints]] | None:
        """Return the hierarchy and the tile of every flow by axis; None where zones came from a lost file."""
        told = self.run["tiling"]
        try:
            zones = told["zones"] if needs_zones(str(told["spec"])) else None
            tiling = parse_tiling(str(told["spec"]), area=told["area"], zones=zones)
            found = {}
            for axis in ("origin", "destination"):
                coded = self.groups[axis].combine_chunks().dictionary_encode()
                keys = tiling.keys(coded.dictionary.to_pylist())
                tree = tiling.hierarchy(np.unique(keys))
                found[axis] = tree, tiling.tiles(keys, tree)[coded.indices.to_numpy()]
        except (TripcloakError, OSError, ValueError, TypeError, KeyError):
            return None
        return found

    def maps(self) -> list[dict[str, Any]]:
        """Return the original map, in zones of one size; nothing where it cannot be drawn."""
        words = f"PRIVATE: true numbers, safe or not, of zones of one size; at most {MOST_FLOWS:,} flows."
        return self._map("Original", words, np.ones(len(self.volume), dtype=bool))

    def withheld_maps(self) -> list[dict[str, Any]]:
        """Return where what is withheld lies; nothing where nothing is, or where it cannot be drawn."""
        share = self.volume[~self.kept].sum() / max(self.volume.sum(), 1e-9)
        volume = self.released.facts["volume"]
        words = f"PRIVATE: only what is withheld, {share:.1%} of the {volume}, in zones of one size."
        return self._map("Where suppression fell", words, ~self.kept) if share > 0 else []

    def _map(self, title: str, words: str, shown: Bools) -> list[dict[str, Any]]:
        if self.trees is None:
            return []
        volume, name = self.volume[shown], str(self.released.facts["volume"])
        zones, features = {}, []
        for axis, (tree, tile) in self.trees.items():
            # The same zones on all maps, whatever is shown of them.
            height = next(h for h in range(int(tree.zones.height[-1]) + 1) if self._few(tree, tile, h))
            zones[axis] = tree.lift(height)[tile][shown]
            features += _features(tree, axis, zones[axis], volume, name)
        pairs, place = np.unique(
            np.stack([zones["origin"], zones["destination"]]), axis=1, return_inverse=True
        )
        sums = np.bincount(np.ravel(place), volume)
        top = np.argsort(-sums, kind="stable")[:MOST_FLOWS]
        ids = {axis: tree.zones.ids for axis, (tree, _) in self.trees.items()}
        flows = [
            {
                "origin": str(ids["origin"][origin]),
                "destination": str(ids["destination"][destination]),
                name: float(amount),
            }
            for origin, destination, amount in zip(*pairs[:, top], sums[top], strict=True)
        ]
        payload = map_payload({"type": "FeatureCollection", "features": features}, flows)
        return [{"title": title, "words": words, "volume": name, "payload": payload}]

    @staticmethod
    def _few(tree: Hierarchy, tile: Ints, height: int) -> bool:
        top = height == int(tree.zones.height[-1])
        return top or len(np.unique(tree.lift(height)[tile])) <= MOST_ZONES

    def charts(self) -> list[Chart]:
        """Return the charts of what was lost where."""
        far = self._lengths_km()
        return [*([] if far is None else [self._lengths(far), self._withheld(far)]), self._tops()]

    def _lengths_km(self) -> Floats | None:
        if self.trees is None:
            return None
        ends = [side[tile] for tree, tile in self.trees.values() for side in (tree.zones.lat, tree.zones.lon)]
        far = great_circle_km(*ends)
        return far if np.isfinite(far).all() else None

    def _lengths(self, far: Floats) -> Chart:
        after = self.released.lengths_km()
        known = np.isfinite(after)
        volume = self.released.facts["volume"]
        return between(
            LENGTHS_KM,
            "Lengths of trips, before and after",
            "Original trips from tile to tile, released ones from zone to zone.",
            "km",
            f"% of the {volume}",
            {
                "original": shares(counted(far, LENGTHS_KM, self.volume)),
                "released": shares(counted(after[known], LENGTHS_KM, self.released.volume[known])),
            },
        )

    def _withheld(self, far: Floats) -> Chart:
        every = np.array(counted(far, LENGTHS_KM, self.volume))
        lost = np.array(counted(far[~self.kept], LENGTHS_KM, self.volume[~self.kept]))
        part = np.round(100 * lost / np.maximum(every, 1e-9), 2)
        return between(
            LENGTHS_KM,
            "What is withheld, by distance",
            "Long trips are rare, and rare ones are withheld first.",
            "km",
            f"% of the {self.released.facts['volume']} withheld",
            {"withheld": [float(one) if whole else None for one, whole in zip(part, every, strict=True)]},
        )

    def _tops(self) -> Chart:
        order = np.argsort(-self.volume, kind="stable")
        steps = [n for n in TOPS if n <= len(order)] or [len(order)]
        kept = [
            float(self.volume[order[:n]][self.kept[order[:n]]].sum() / self.volume[order[:n]].sum())
            for n in steps
        ]
        return Chart(
            "Are the largest flows still there?",
            "Of the largest original flows between tiles: how much of their volume is in the release.",
            "largest original flows",
            "% released",
            [f"top {n:,}" for n in steps],
            {"released": [round(100 * share, 2) for share in kept]},
        )


def _features(tree: Hierarchy, axis: str, zone: Ints, volume: Floats, name: str) -> list[dict[str, Any]]:
    rows, place = np.unique(zone, return_inverse=True)
    sums = np.bincount(place, volume)
    areas = tree.zones.areas(rows)
    return [
        {
            "type": "Feature",
            "geometry": tree.zones.outline(int(row)),
            "properties": {
                "axis": axis,
                "zone": str(tree.zones.ids[row]),
                "height": int(tree.zones.height[row]),
                "tiles": int(tree.zones.tiles[row]),
                "area_km2": float(area) if np.isfinite(area) else None,
                name: float(amount),
            },
        }
        for row, area, amount in zip(rows, areas, sums, strict=True)
    ]
