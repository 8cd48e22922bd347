"""The public part of a release of flows that is in memory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tripcloak.api.released import PublicPart

if TYPE_CHECKING:
    import pyarrow as pa

    from tripcloak.flows.anonymise import MadeRelease

TABLES = ("flows", "zones", "segments", "tables", "levels")
"""The tables that a release may have; the first two are always there."""


class MadeFlows(PublicPart):
    """The public part of a release of flows in memory."""

    def __init__(self, made: MadeRelease) -> None:
        from tripcloak.flows.release.tables import segments_table

        self._made = made
        self._segments = segments_table(made.release)
        beside = {"segments": self._segments, "tables": self._tables, "levels": self._levels}
        self.names = (*TABLES[:2], *(name for name, table in beside.items() if table is not None))

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Return what the manifest says."""
        from tripcloak.flows.release import manifest

        return manifest(self._made.matrix, self._made.release, **self._made.to_publish())

    def table(self, name: str) -> pa.Table:
        """Return one of the tables."""
        return {
            "flows": self._flows,
            "zones": self._zones,
            "segments": self._segments,
            "tables": self._tables,
            "levels": self._levels,
        }[name]

    def map_page(self) -> str:
        """Return the map, as one page of HTML."""
        from tripcloak.flows.publish import render_map_of
        from tripcloak.flows.release.tables import zones_geojson

        behind = self._made.background
        return render_map_of(zones_geojson(self._zones), self._flows, self.facts, behind)

    @cached_property
    def _flows(self) -> pa.Table:
        from tripcloak.flows.release.tables import flows_table, with_points

        return with_points(flows_table(self._made.release), self._zones)

    @cached_property
    def _zones(self) -> pa.Table:
        from tripcloak.flows.release.tables import zones_table

        return zones_table(self._made.matrix, self._made.release, self.facts.get("names"))

    @cached_property
    def _tables(self) -> pa.Table | None:
        from tripcloak.flows.release.totals import totals_table

        release = self._made.release
        return None if release.tables is None else totals_table(self._made.matrix, release)

    @cached_property
    def _levels(self) -> pa.Table | None:
        from tripcloak.flows.release.totals import levels_table

        release = self._made.release
        return None if release.tables is None else levels_table(self._made.matrix, release)
