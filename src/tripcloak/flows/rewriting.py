"""The files of a release of flows, written anew from what they hold, and compared byte by byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.flows.methods import METHODS
from tripcloak.flows.publish import render_map_of, write_flows, write_zones
from tripcloak.flows.release import Publication, publication_of, restated
from tripcloak.flows.release.tables import (
    as_published,
    with_points,
    zones_as_named,
    zones_as_published,
    zones_geojson,
)
from tripcloak.flows.report.readme import render_readme
from tripcloak.ground.folders import json_text
from tripcloak.ground.manifest import NAME, public_part, read_manifest
from tripcloak.ground.rewriting import (
    OTHERWISE,
    Rewriting,
    manifest_rewriting,
    readme_rewriting,
    rewritten_findings,
    same_files,
    same_text,
)
from tripcloak.ground.rulebook import Finding
from tripcloak.promises import Promise
from tripcloak.records.cleaning import REASONS

if TYPE_CHECKING:
    import pyarrow as pa

LIMIT = "suppression_limit"


def rewritten_flows(folder: Path) -> tuple[Finding, ...]:
    """Return whether the public files of a release are what this version writes of the released tables.

    Parameters
    ----------
    folder
        The folder that holds ``release/``, or its public part.
    """
    public = public_part(folder)
    return rewritten_findings(public, WrittenFlows(public, read_manifest(folder, "flows")), REWRITINGS)


@dataclass(frozen=True)
class WrittenFlows:
    """What the public files hold: tables as they are written, each read when it is first asked for."""

    public: Path
    facts: Mapping[str, Any]

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
        return zones_as_named(told, self.facts)

    def _read(self, name: str) -> pa.Table:
        from pyarrow import parquet

        # One file, and no folders beside it: those of segments are called sex=F.
        with parquet.ParquetFile(self.public.absolute() / f"{name}.parquet") as file:
            return file.read()


def _method_is_known(_: Path, written: WrittenFlows) -> bool:
    facts = written.facts
    own = {name: value for name, value in facts["parameters"].items() if name != LIMIT}
    kind = METHODS[facts["method"]]
    limit = {} if kind.noisy else {LIMIT: facts["parameters"][LIMIT]}
    method = kind(**own, **limit)
    # Parameters that only speak of time are told where time is an axis.
    timed = "time_slot_minutes" in facts["hierarchy"] and "slots" not in facts["hierarchy"]
    left_out = set() if timed else method.time_options()
    right = {name: value for name, value in method.parameters().items() if name not in left_out}
    # Their order and their kinds count too: 1 and 1.0 and true are equal.
    same = repr(list({**right, **limit}.items())) == repr(list(facts["parameters"].items()))
    return same and kind.noisy == written.promise.noisy


def _flows_are_the_same(public: Path, written: WrittenFlows) -> bool:
    flows = with_points(written.flows, written.zones)
    return same_files(public, lambda aside: write_flows(aside, flows, written.segments))


def _zones_are_the_same(public: Path, written: WrittenFlows) -> bool:
    return same_files(public, lambda aside: write_zones(aside, written.zones))


def _map_is_the_same(public: Path, written: WrittenFlows) -> bool:
    page = render_map_of(zones_geojson(written.zones), written.flows, written.facts)
    return same_text(page, public / "map.html")


def _readme_is_the_same(public: Path, written: WrittenFlows) -> bool:
    return same_text(render_readme(written.facts), public / "README.md")


def _manifest_is_the_same(public: Path, written: WrittenFlows) -> bool:
    return same_text(json_text(restated(written.facts, _DROPPED)), public / NAME)


_DROPPED = (*(f"fixes: {reason.name}" for reason in REASONS), *(reason.name for reason in REASONS))

REWRITINGS: tuple[Rewriting[WrittenFlows], ...] = (
    Rewriting(
        "method-known",
        _method_is_known,
        "the method is one of tripcloak's, with its own parameters and no others",
        "the manifest names a method that there is not, or other parameters than it has",
    ),
    Rewriting(
        "flows-as-written",
        _flows_are_the_same,
        "the released flows are, byte by byte, what comes of writing their rows",
        OTHERWISE.format(
            "flows.parquet, flows.csv or lines.parquet, or those of segments,", "the released flows"
        ),
    ),
    Rewriting(
        "zones-as-written",
        _zones_are_the_same,
        "zones.parquet and zones.geojson are, byte by byte, what comes of writing the released zones",
        OTHERWISE.format("zones.parquet or zones.geojson", "the released zones"),
    ),
    Rewriting(
        "map-as-written",
        _map_is_the_same,
        "map.html is, byte by byte, what the released tables and the manifest give",
        OTHERWISE.format("map.html", "the released tables and the manifest"),
    ),
    readme_rewriting(_readme_is_the_same),
    manifest_rewriting(_manifest_is_the_same),
)
