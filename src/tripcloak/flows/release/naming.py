"""Names for released zones: a column of its own, made from the zones alone, and never from the records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.flows.release.public import released_zones
from tripcloak.hierarchy.place_names import Box, are_checkable, box_around, member_names, place_names

if TYPE_CHECKING:
    import pyarrow as pa

    from tripcloak.flows.release import Release

NAMES = ("origin_name", "destination_name")
"""Columns of released flows: what both zones are called."""


def zones_box(zones: pa.Table) -> Box | None:
    """Return the box around the points of all published zones; None where they have no place."""
    from pyarrow import compute

    places = zones.filter(compute.not_equal(zones["axis"], "time"))
    return box_around(*(np.asarray(places[name].to_pylist(), dtype=np.float64) for name in ("lat", "lon")))


def released_box(release: Release) -> Box | None:
    """Return the box around the points of all released zones; None where they have no place."""
    sides = [side for side in released_zones(release) if side.axis != "time"]
    lat = np.concatenate([side.zones.lat[side.rows] for side in sides])
    lon = np.concatenate([side.zones.lon[side.rows] for side in sides])
    return box_around(lat, lon)


def with_names(zones: pa.Table, entry: Mapping[str, Any] | None, told: pa.Table | None = None) -> pa.Table:
    """Return the table of zones with their names, where a manifest says that it has them.

    Zones of a file, which list their members, are called after those, others after the nearest place.

    Parameters
    ----------
    entry
        What the manifest says of names; None where zones have none.
    told
        The table as it is published, whose names of places are taken where their list is not at hand.
    """
    import pyarrow as pa

    plain = zones.drop_columns(["name"]) if "name" in zones.column_names else zones
    if entry is None:
        return plain
    near = _near(plain) if told is None or are_checkable(entry) else told["name"].to_pylist()
    names = _made(plain, near)
    placed = plain.add_column(plain.column_names.index("zone") + 1, "name", pa.array(names, pa.string()))
    return placed.replace_schema_metadata(plain.schema.metadata)


def flows_with_names(flows: pa.Table, zones: pa.Table) -> pa.Table:
    """Return released flows with the names of their zones, where zones have some."""
    from pyarrow import compute

    if "name" not in zones.column_names:
        return flows
    for axis, column in zip(("origin", "destination"), NAMES, strict=True):
        side = zones.filter(compute.equal(zones["axis"], axis))
        row = compute.index_in(flows[axis].combine_chunks(), value_set=side["zone"].combine_chunks())
        flows = flows.append_column(column, side["name"].combine_chunks().take(row))
    return flows


def _made(zones: pa.Table, near: list[str | None]) -> list[str | None]:
    members = zones["members"].to_pylist() if "members" in zones.column_names else [None] * len(zones)
    return [place if own is None else member_names(own) for place, own in zip(near, members, strict=True)]


def _near(zones: pa.Table) -> list[str | None]:
    lat, lon = (np.asarray(zones[name].to_pylist(), dtype=np.float64) for name in ("lat", "lon"))
    return place_names(lat, lon)
