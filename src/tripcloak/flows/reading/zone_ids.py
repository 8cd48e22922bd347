"""Zones and the ids that trips name: which column of a zones file holds them, and ids without zones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Tiling
from tripcloak.hierarchy.h3.cells import resolution_of, text_to_cells
from tripcloak.hierarchy.spec import needs_zones
from tripcloak.hierarchy.tiling import OUTSIDE
from tripcloak.hierarchy.zonefile.columns import Columns, read_columns
from tripcloak.hierarchy.zonefile.naming import IdsSought
from tripcloak.hierarchy.zonefile.zones import ZoneFile
from tripcloak.records.proposing import proposal
from tripcloak.records.trips import Canonical

if TYPE_CHECKING:
    import duckdb

_ROWS_LOOKED_AT = 10_000
_MOST_IDS = 2_000


def zones_of(
    con: duckdb.DuckDBPyConnection,
    canonical: Canonical,
    spec: str,
    zones: str | Columns | ZoneFile | None,
    zone_id: str | None,
) -> ZoneFile | None:
    """Return the zones that a hierarchy is made of, with the ids that trips name; None where it needs none.

    Parameters
    ----------
    zones
        The path of a file, a table whose ids are not known yet, or zones.
    zone_id
        The column of ids, as the caller said.
    """
    if zones is None or isinstance(zones, ZoneFile) or not needs_zones(spec):
        return zones if isinstance(zones, ZoneFile) else None
    preset = canonical.opened.preset
    sought = IdsSought(said=zone_id, likely=preset.zone_ids if preset else (), seen=_ids_seen(con, canonical))
    return ZoneFile.of(zones if isinstance(zones, Columns) else read_columns(Path(zones)), sought)


def refuse_ids_without_zones(con: duckdb.DuckDBPyConnection, canonical: Canonical, tiling: Tiling) -> None:
    """Raise an InputError if trips are between zones by id, and the hierarchy knows none of those."""
    if needs_zones(tiling.name):
        return
    seen = _ids_seen(con, canonical)
    if not seen or (tiling.keys(seen) != OUTSIDE).any():
        return
    columns = " and ".join(repr(canonical.columns[end]) for end in ("origin", "destination"))
    cells = text_to_cells(seen)
    if (cells != OUTSIDE).all():
        coarsest = int(np.min(resolution_of(cells)))
        raise InputError(
            f"{columns} hold H3 cells, but none of {tiling.name}; ask for "
            f"{spelt('hierarchy', f'h3:{coarsest}')}"
        )
    preset = canonical.opened.preset
    which = f" ({preset.zones})" if preset is not None and preset.zones else ""
    looks = proposal(tuple(canonical.opened.projections[0].table.types)) if preset is None else None
    raise InputError(
        f"{columns} hold zone ids, and {tiling.name} knows no zones of that name. "
        f"These are zone ids: give {spelt('zones', 'FILE')}{which}, or {spelt('hierarchy', 'dendrogram')} or "
        f"{spelt('hierarchy', 'table:COLUMN,...')} with it{f'; {looks}' if looks else ''}"
    )


def note_on_zones(zones: ZoneFile | None, said: str | None) -> tuple[str, ...]:
    """Return notes on where the ids of zones were found, and on zones of several parts."""
    if zones is None:
        return ()
    notes = []
    if said is None:
        notes.append(
            f"zone ids are those of column {zones.id_name!r} of the zones file "
            f"(say {spelt('zone_id')} for another)"
        )
    if zones.joined:
        notes.append("some zone ids stand in several rows of the zones file; those rows are one zone")
    if zones.repaired:
        outlines = "1 outline" if zones.repaired == 1 else f"{zones.repaired:,} outlines"
        notes.append(
            f"outlines of the zones file crossed themselves or were no areas otherwise: {outlines} repaired"
        )
    if zones.projection:
        notes.append(f"the zones file is in {zones.projection}; its outlines were turned into degrees")
    return tuple(notes)


def _ids_seen(con: duckdb.DuckDBPyConnection, canonical: Canonical) -> list[str]:
    """Return different zone ids of the first rows of every table, sorted; none where ends are places.

    Rows are those of the whole input, so that every segment of it finds the same.
    """
    if canonical.endpoints != "zones":
        return []
    seen: set[str] = set()
    for projection in canonical.opened.projections:
        ends = [projection.columns[end].sql for end in ("o_id", "d_id")]
        rows = (
            f"SELECT {ends[0]} AS o, {ends[1]} AS d {projection.rows(projection.table.probe)} "
            f"LIMIT {_ROWS_LOOKED_AT}"
        )
        found = con.execute(
            f"WITH rows AS ({rows}) SELECT id FROM (SELECT o AS id FROM rows UNION SELECT d FROM rows) "
            f"WHERE id IS NOT NULL ORDER BY id LIMIT {_MOST_IDS}"
        ).fetchall()
        seen.update(str(one) for (one,) in found)
    preset = canonical.opened.preset
    return sorted(seen - set(preset.unknown_zones if preset else ()))
