"""Writes a release: the public files, and the private ones that stay inside."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.model.kept import KeptZones
from tripcloak.flows.reading.matrix import KEPT_ZONES
from tripcloak.flows.release import Release, manifest
from tripcloak.flows.release.keeping import COPY, write_copy
from tripcloak.flows.release.largest import LargestParts
from tripcloak.flows.release.tables import (
    flows_over_time,
    flows_table,
    groups_batches,
    hierarchy_table,
    lines_table,
    segments_table,
    time_parts,
    with_points,
    zones_geojson,
    zones_table,
)
from tripcloak.flows.release.totals import levels_table, totals_table
from tripcloak.flows.report.map import render_map
from tripcloak.flows.report.readme import render_readme
from tripcloak.flows.report.totals import tables_fact
from tripcloak.ground.folders import PRIVATE, PUBLIC, staged
from tripcloak.ground.manifest import RECORD, write_manifest, write_record
from tripcloak.ground.spreadsheets import write_csv
from tripcloak.hierarchy.zonefile.zones import ZoneFile
from tripcloak.pages.background import write_background
from tripcloak.promises import Promise

if TYPE_CHECKING:
    import pyarrow as pa


def publish(
    out: Path,
    matrix: ODMatrix,
    release: Release,
    *,
    run: Mapping[str, Any],
    dropped: Mapping[str, int],
    people: Mapping[str, int] | None = None,
    tilings: Mapping[str, Any],
    segment: Mapping[str, str] | None = None,
    during: str | None = None,
    title: str | None = None,
    names: Mapping[str, Any] | None = None,
    background: Mapping[str, Any] | None = None,
    largest: LargestParts | None = None,
    zones: ZoneFile | None = None,
    kept: KeptZones | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Write ``release/`` and ``private/`` below ``out``, whole or not at all, and return the manifest.

    Parameters
    ----------
    run
        What stays inside: source, exact numbers, measures, durations.
    dropped
        Input rows dropped in cleaning, by reason.
    people
        Different people behind them, by reason, where rows carry an id: what is of few is not told.
    tilings
        How the zones were made.
    segment
        The segment of the input that the release is about, where it is about one only.
    during
        The period of the input that the release is about, where it is about one only.
    title
        What the owner calls the release.
    names
        From which list of places zones have their names; None where they have none.
    background
        What is drawn behind the map, if anything is.
    largest
        What one traveller has of released flows, where that was looked for already.
    zones
        Zones that came from no file: an audit needs them again.
    kept
        Zones that were taken over from an earlier release.
    force
        Replace a release that is already there.
    """
    facts = manifest(
        matrix,
        release,
        dropped=dropped,
        people=people,
        tilings=tilings,
        segment=segment,
        during=during,
        title=title,
        names=names,
        background=background,
        largest=largest,
    )
    with staged(out, force=force) as staging:
        public, private = staging / PUBLIC, staging / PRIVATE
        _write_public(public, matrix, release, facts, background)
        facts = write_manifest(public, facts)
        # A row a flow of the input: nobody looks for some of them by the smallest and largest of a part.
        _write_parquet(private / "groups.parquet", groups_batches(matrix, release), statistics=False)
        _write_parquet(private / "hierarchy.parquet", hierarchy_table(matrix))
        if zones is not None:
            zones.write(staging / KEPT_ZONES)
        if kept is not None:
            (staging / COPY).touch(mode=0o600)
            write_copy(staging / COPY, kept)
        (private / RECORD).touch(mode=0o600)
        write_record(private, public, {"input_digest": release.input_digest, **run})
    return facts


def _write_public(
    public: Path,
    matrix: ODMatrix,
    release: Release,
    facts: Mapping[str, Any],
    background: Mapping[str, Any] | None,
) -> None:
    flows, zones = flows_table(release), zones_table(matrix, release, facts.get("names"))
    write_flows(public, with_points(flows, zones), segments_table(release))
    collection = write_zones(public, zones)
    if release.tables is not None:
        write_tables(public, totals_table(matrix, release), levels_table(matrix, release))
    if background is not None:
        write_background(public, background)
    (public / "map.html").write_text(render_map_of(collection, flows, facts, background), encoding="utf-8")
    (public / "README.md").write_text(render_readme(facts), encoding="utf-8")


def write_flows(public: Path, flows: pa.Table, segments: pa.Table | None = None) -> None:
    """Write the released flows, with points, and those of every segment where they are told, in all forms."""
    # One part of the file a time: readers of one slot skip the others.
    _write_parquet(public / "flows.parquet", time_parts(flows))
    write_csv(flows, public / "flows.csv")
    _write_parquet(public / "lines.parquet", lines_table(flows))
    if segments is not None:
        _write_parquet(public / "segments.parquet", segments)
        write_csv(segments, public / "segments.csv")


def write_cumulative(public: Path, sums: pa.Table) -> None:
    """Write the sums over the periods of a series in both forms."""
    _write_parquet(public / "cumulative.parquet", sums)
    write_csv(sums, public / "cumulative.csv")


def write_tables(public: Path, totals: pa.Table, levels: pa.Table | None) -> None:
    """Write the tables beside the flows, and the zones of their levels where there are some, in all forms."""
    _write_parquet(public / "tables.parquet", totals)
    write_csv(totals, public / "tables.csv")
    if levels is not None:
        _write_parquet(public / "levels.parquet", levels)
        text = json.dumps(zones_geojson(levels), ensure_ascii=False)
        (public / "levels.geojson").write_text(text, encoding="utf-8")


def write_zones(public: Path, zones: pa.Table) -> dict[str, Any]:
    """Write the released zones in both forms, and return them as a GeoJSON FeatureCollection."""
    _write_parquet(public / "zones.parquet", zones)
    collection = zones_geojson(zones)
    (public / "zones.geojson").write_text(json.dumps(collection, ensure_ascii=False), encoding="utf-8")
    return collection


def render_map_of(
    collection: dict[str, Any],
    flows: pa.Table,
    facts: Mapping[str, Any],
    background: Mapping[str, Any] | None = None,
) -> str:
    """Return the map page of a release; it holds the released table, what is behind it, and nothing else."""
    promise = Promise.from_manifest(facts["promise"])
    further = promise.further()
    places = [item for item in collection["features"] if item["properties"]["axis"] != "time"]
    return render_map(
        title=facts.get("title") or f"Released flows ({facts['method']})",
        zones={**collection, "features": places},
        flows=flows_over_time(flows).to_pylist(),
        towns=facts.get("names", {}).get("towns", ()),
        background=background,
        facts={
            "Method": facts["method"],
            **dict([promise.headline()]),
            "Counted": "; ".join(facts["counted"].values()),
            **({"Also": "; ".join(further)} if further else {}),
            "Flows": f"{facts['groups']:,}",
            "Origin zones": f"{facts['zones']['origins']:,}",
            "Destination zones": f"{facts['zones']['destinations']:,}",
            f"Released {facts['volume']}": f"{facts['released']:,}",
            "Withheld": facts["withheld"]["words"],
            **({"Zones from": _whose(facts)} if "zones_from" in facts["parameters"] else {}),
            **({"Period": facts["during"]} if "during" in facts else {}),
            **({"Also published": tables_fact(facts)} if "tables" in facts else {}),
            **({"Numbers": words} if (words := facts.get("columns_words")) else {}),
            **({"Zones are": "boxes; those of different flows overlap"} if "zone_form" in facts else {}),
            **({"Names of places": facts["names"]["attribution"]} if "names" in facts else {}),
            **_not_drawn(places),
        },
    )


def _whose(facts: Mapping[str, Any]) -> str:
    """Return from where zones were taken over."""
    digest = facts["parameters"]["zones_from"]
    return f"an earlier release or a series, not chosen from these trips (SHA-256 {digest[:12]}...)"


def _not_drawn(places: list[dict[str, Any]]) -> dict[str, str]:
    """Return a fact on the zones that have no outline, so that nobody looks for them on the map.

    A box around a single point, where tiles have no area, is no more than that point.
    """
    lacking = sum(place["geometry"] is None or place["properties"]["area_km2"] == 0 for place in places)
    if not lacking:
        return {}
    which = "all zones" if lacking == len(places) else f"{lacking:,} of {len(places):,} zones"
    return {"Not on the map": f"{which}, which have no outline; they are in the tables"}


def _write_parquet(path: Path, tables: pa.Table | Iterable[pa.Table], *, statistics: bool = True) -> None:
    from pyarrow import parquet

    parts = iter([tables] if hasattr(tables, "schema") else tables)
    first = next(parts)
    # Without Arrow's own schema the dictionary columns read back as plain text everywhere.
    how = {"compression": "zstd", "store_schema": False, "write_statistics": statistics}
    with parquet.ParquetWriter(path, first.schema, **how) as writer:
        for part in chain([first], parts):
            writer.write_table(part)
        # Without the schema its metadata, which make GeoParquet of Parquet, are not stored by themselves.
        writer.add_key_value_metadata(first.schema.metadata or {})
