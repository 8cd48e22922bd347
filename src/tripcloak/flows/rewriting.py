"""The files of a release of flows, written anew from what they hold, and compared byte by byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak._version import __version__
from tripcloak.flows.methods.registry import method_released_as
from tripcloak.flows.publish import render_map_of, write_flows, write_tables, write_zones
from tripcloak.flows.release import Publication, measures_of_table, publication_of, restated
from tripcloak.flows.release.naming import with_names, zones_box
from tripcloak.flows.release.rebuilding import ZoneSource, rebuilt_levels, rebuilt_zones
from tripcloak.flows.release.tables import (
    AXES,
    as_published,
    with_points,
    zones_as_named,
    zones_as_published,
    zones_geojson,
)
from tripcloak.flows.release.totals import (
    levels_as_published,
    levels_in_order,
    names_of,
    tables_entry,
    totals_as_published,
    wanted_of,
)
from tripcloak.flows.report.readme import render_readme
from tripcloak.ground.folders import PRIVATE, json_text
from tripcloak.ground.manifest import public_part, read_manifest
from tripcloak.ground.rewriting import (
    Rewriting,
    background_rewriting,
    manifest_rewriting,
    map_rewriting,
    readme_rewriting,
    rewritten_findings,
    same_files,
)
from tripcloak.ground.rulebook import Finding
from tripcloak.hierarchy.place_names import restated_names
from tripcloak.hierarchy.tiling import Tiling
from tripcloak.pages.background import WORDS as BACKGROUND_WORDS
from tripcloak.pages.background import published_background, write_background
from tripcloak.promises import Promise
from tripcloak.records.cleaning import REASONS

if TYPE_CHECKING:
    import pyarrow as pa

LIMIT = "suppression_limit"
FAR = 10**6
"""Percent that no bound is away."""


@dataclass(frozen=True)
class ReadAs:
    """How the input was read, which the zones and the manifest follow from."""

    tiling: Tiling
    hierarchy: Mapping[str, Any]
    """What the manifest says of it."""
    zones_from: str | None = None
    """The digest of where zones were taken over from, if they were."""


def rewritten_flows(folder: Path, read: ReadAs | None = None) -> tuple[Finding, ...]:
    """Return whether the public files of a release are what this version writes of the released tables.

    Parameters
    ----------
    folder
        The folder that holds ``release/``, or its public part.
    read
        How the input was read. Without it the zones' sizes, places and outlines are taken as they are.
    """
    public = public_part(folder)
    written = WrittenFlows(public, read_manifest(folder, "flows"), read)
    return rewritten_findings(public, written, REWRITINGS)


@dataclass(frozen=True)
class WrittenFlows:
    """What the public files hold: tables as they are written, each read when it is first asked for."""

    public: Path
    facts: Mapping[str, Any]
    read: ReadAs | None = None

    @cached_property
    def promise(self) -> Promise:
        """Return what is promised."""
        return Promise.from_manifest(self.facts["promise"])

    @cached_property
    def publication(self) -> Publication:
        """Return which numbers are published, and how exactly."""
        return publication_of(self.facts, self.promise)

    @cached_property
    def flows(self) -> pa.Table:
        """Return the released flows."""
        return as_published(self._read("flows"), self.publication.columns)

    @cached_property
    def segments(self) -> pa.Table | None:
        """Return the released flows of every segment; None where none are promised."""
        if not self.promise.segments:
            return None
        found = self._read("segments")
        # Whether travellers are told depends on whether some are in several segments.
        told = [name for name in self.publication.by_segment if name in found.column_names]
        return as_published(found, told)

    @cached_property
    def zones(self) -> pa.Table:
        """Return the released zones."""
        told = zones_as_published(self._read("zones"), self.publication.columns)
        made = (
            zones_as_named(told, self.facts)
            if self.read is None
            else rebuilt_zones(told, self.facts, ZoneSource(self.read.tiling, self._tiles()))
        )
        return with_names(made, self.facts.get("names"), told)

    @cached_property
    def background(self) -> dict[str, Any] | None:
        """Return what is drawn behind the map; None where the manifest tells of nothing."""
        return published_background(self.public, self.facts)

    @cached_property
    def totals(self) -> pa.Table | None:
        """Return the tables beside the flows; None where there are none."""
        if wanted_of(self.facts) is None:
            return None
        return totals_as_published(self._read("tables"), names_of(self.facts))

    @cached_property
    def levels(self) -> pa.Table | None:
        """Return the zones of their levels; None where there are none."""
        wanted = wanted_of(self.facts)
        if wanted is None or not wanted.levels:
            return None
        told = levels_as_published(self._read("levels"))
        if self.read is None:
            return levels_in_order(zones_as_named(told, self.facts), wanted)
        return rebuilt_levels(told, wanted, ZoneSource(self.read.tiling, self._tiles()))

    def _tiles(self) -> dict[str, list[str]]:
        """Return the tiles that occur, by axis."""
        from pyarrow import parquet

        path = self.public.parent / PRIVATE / "hierarchy.parquet"
        rows = parquet.read_table(
            path.absolute(), columns=["axis", "zone"], filters=[("height", "=", 0)]
        ).to_pylist()
        return {axis: [row["zone"] for row in rows if row["axis"] == axis] for axis in AXES}

    def _read(self, name: str) -> pa.Table:
        from pyarrow import parquet

        # One file, and no folders beside it: those of segments are called sex=F.
        with parquet.ParquetFile(self.public.absolute() / f"{name}.parquet") as file:
            return file.read()


def _method_is_known(_: Path, written: WrittenFlows) -> bool:
    facts = written.facts
    own = {name: value for name, value in facts["parameters"].items() if name != LIMIT}
    kind = method_released_as(facts["method"])
    limit = {} if kind.noisy else {LIMIT: facts["parameters"][LIMIT]}
    # Parameters that only speak of time are told where time is an axis.
    timed = "time_slot_minutes" in facts["hierarchy"] and "slots" not in facts["hierarchy"]
    left_out = set() if timed else kind.time_options()
    right = {name: value for name, value in kind.restated(own, limit).items() if name not in left_out}
    # Their order and their kinds count too: 1 and 1.0 and true are equal.
    same = repr(list({**right, **limit}.items())) == repr(list(facts["parameters"].items()))
    from_there = written.read is None or own.get("zones_from") == written.read.zones_from
    return (
        same
        and from_there
        and kind.noisy == written.promise.noisy
        and _is_bound(facts["bound"], kind.proven_over(own, timed=timed))
    )


def _is_bound(told: Any, relaxation: str | None) -> bool:
    """Return whether a method can have proven this: whole percent, of what it proves if anything."""
    if told is None:
        return True
    percent = told["within_percent"]
    return type(percent) is int and 0 <= percent < FAR and told["relaxation"] == relaxation is not None


def _write_flows(folder: Path, written: WrittenFlows) -> None:
    write_flows(folder, with_points(written.flows, written.zones), written.segments)


def _write_tables(folder: Path, written: WrittenFlows) -> None:
    if written.totals is not None:
        write_tables(folder, written.totals, written.levels)


def _tables_are_the_same(public: Path, written: WrittenFlows) -> bool:
    """Return whether the tables beside the flows are what comes of writing them; where none are told, yes."""
    if written.totals is None:
        return True
    return same_files(public, lambda aside: _write_tables(aside, written))


def _background_is_the_same(public: Path, written: WrittenFlows) -> bool:
    """Return whether what is behind the map is shapes and nothing else; where nothing is told, yes."""
    behind = written.background
    return behind is None or same_files(public, lambda aside: write_background(aside, behind))


def _write_zones(folder: Path, written: WrittenFlows) -> None:
    write_zones(folder, written.zones)


def _map(written: WrittenFlows) -> str:
    facts = {**written.facts, **_names(written)}
    return render_map_of(zones_geojson(written.zones), written.flows, facts, written.background)


def _names(written: WrittenFlows) -> dict[str, Any]:
    """Return what the manifest must say of names, where it says something."""
    told = written.facts.get("names")
    return {} if told is None else {"names": restated_names(told, zones_box(written.zones))}


def _readme(written: WrittenFlows) -> str:
    return render_readme(written.facts)


def _manifest(written: WrittenFlows) -> str:
    return json_text(restated({**written.facts, **_following(written)}, _DROPPED))


def _following(written: WrittenFlows) -> dict[str, Any]:
    """Return the entries that follow from the tables, from how the input was read, and from this version."""
    flows = written.flows
    axes = [axis for axis in AXES if axis in flows.column_names]
    units = written.publication.columns
    told = {
        "version": __version__,
        "seed": None,
        "groups": len(flows),
        "zones": {f"{axis}s": len(flows[axis].unique()) for axis in axes},
        "columns": list(units),
        "smallest": {unit: int(flows[unit].to_numpy().min()) for unit in units},
        "measures": _measures(written),
        **_names(written),
        **({"background": BACKGROUND_WORDS} if "background" in written.facts else {}),
    }
    wanted = wanted_of(written.facts)
    if wanted is not None and written.totals is not None:
        order = names_of(written.facts)
        told["tables"] = tables_entry(written.totals, wanted, order, {**written.facts, **told})
    return told if written.read is None else {**told, "hierarchy": dict(written.read.hierarchy)}


def _measures(written: WrittenFlows) -> dict[str, float]:
    flows, zones = written.flows, written.zones
    listed = zip(
        zones["axis"].to_pylist(), zones["zone"].to_pylist(), zones["tiles"].to_pylist(), strict=True
    )
    size = {(axis, zone): tiles for axis, zone, tiles in listed}
    tiles = {
        axis: np.array([size[axis, zone] for zone in flows[axis].to_pylist()], dtype=np.int64)
        for axis in AXES
        if axis in flows.column_names
    }
    return measures_of_table(
        flows[written.publication.volume].to_numpy(),
        tiles["origin"] + tiles["destination"],
        tiles.get("time"),
        released=written.facts["released"],
        k=next(iter(written.promise.thresholds.values()), None),
    )


_DROPPED = (*(f"fixes: {reason.name}" for reason in REASONS), *(reason.name for reason in REASONS))

REWRITINGS: tuple[Rewriting[WrittenFlows], ...] = (
    Rewriting(
        "method-known",
        _method_is_known,
        "the method is one of tripcloak's, with its own parameters and no others",
        "the manifest names a method that there is not, or other parameters than it has",
    ),
    Rewriting.of_files(
        "flows-as-written",
        "flows.parquet, flows.csv or lines.parquet, or those of segments,",
        "the released flows",
        _write_flows,
        "the released flows are, byte by byte, what comes of writing their rows",
    ),
    Rewriting.of_files(
        "zones-as-written",
        "zones.parquet or zones.geojson",
        "the released zones",
        _write_zones,
        "zones.parquet and zones.geojson are, byte by byte, what comes of writing the released zones",
    ),
    Rewriting(
        "tables-as-written",
        _tables_are_the_same,
        "tables beside the flows, if any, are, byte by byte, what comes of writing their rows and levels",
        "tables.* or levels.* are not, byte by byte, what the rows of the tables give",
        _write_tables,
    ),
    background_rewriting(_background_is_the_same),
    map_rewriting(_map, "the released tables and the manifest"),
    readme_rewriting(_readme),
    manifest_rewriting(_manifest),
)
