"""The table of released zones, made anew from their names and the tiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.flows.release.bricks import TablesWanted
from tripcloak.flows.release.public import ReleasedZones
from tripcloak.flows.release.tables import joined_zones, zone_rows
from tripcloak.flows.release.totals import levels_in_order, with_places
from tripcloak.hierarchy import Hierarchy, Zones, box_zones, read_box_names
from tripcloak.hierarchy.holding import keys_within
from tripcloak.hierarchy.tiling import OUTSIDE, Tiling

if TYPE_CHECKING:
    import pyarrow as pa


UNITS = ("trips", "travellers", "population")


@dataclass(frozen=True)
class ZoneSource:
    """What zones are made of: how places become tiles, and the tiles of each axis that occur."""

    tiling: Tiling
    tiles: Mapping[str, Sequence[str]]

    def tree(self, axis: str, zones: Sequence[str]) -> Hierarchy:
        """Return the hierarchy of one axis; of a grid it holds these zones too, if nobody was ever there.

        >>> from tripcloak.hierarchy.h3.tiling import H3Tiling
        >>> nobody = ZoneSource(H3Tiling(9), {"origin": []}).tree("origin", ["8626cb787ffffff"])
        >>> "8626cb787ffffff" in nobody.zones.ids
        True
        """
        keys = np.union1d(self.tiling.keys(self.tiles[axis]), keys_within(self.tiling, zones))
        return self.tiling.hierarchy(keys[keys != OUTSIDE])


def rebuilt_zones(told: pa.Table, facts: Mapping[str, Any], source: ZoneSource) -> pa.Table:
    """Return the table of zones with everything made anew but their names, their volumes and their times.

    Parameters
    ----------
    told
        The table as it is published.
    facts
        The manifest, which says whether zones are boxes.
    """
    parts = [_rebuilt(_part(told, axis), axis, facts, source) for axis in ("origin", "destination")]
    times = _part(told, "time")
    return joined_zones([*parts, _plain_times(times)] if len(times) else parts)


def rebuilt_levels(told: pa.Table, wanted: TablesWanted, source: ZoneSource) -> pa.Table:
    """Return the zones of levels with everything made anew but their names and the levels they are of."""
    import pyarrow as pa

    parts = []
    for axis in ("origin", "destination"):
        part = _part(told, axis).select(["axis", "level", "zone"])
        tree = source.tree(axis, sorted(set(part["zone"].to_pylist())))
        parts.append(with_places(part, tree, wanted))
    return levels_in_order(pa.concat_tables(parts), wanted)


def _part(told: pa.Table, axis: str) -> pa.Table:
    from pyarrow import compute

    return told.filter(compute.equal(told["axis"], axis))


def _rebuilt(told: pa.Table, axis: str, facts: Mapping[str, Any], source: ZoneSource) -> pa.Table:
    names = np.asarray(told["zone"].to_pylist(), dtype=np.str_)
    volumes = {name: told[name].to_numpy() for name in UNITS if name in told.column_names}
    if facts.get("zone_form") == "boxes":
        tree = source.tree(axis, ())
        zones: Zones = _boxes(tree, names, facts["tile_km2"][f"{axis}s"])
        rows = np.arange(len(names))
    else:
        tree = source.tree(axis, names.tolist())
        zones, rows = tree.zones, _rows(tree, names)
    return zone_rows(ReleasedZones(axis, zones, rows, volumes), tree)


def _boxes(tree: Hierarchy, names: NDArray[np.str_], tile_km2: float | None) -> Zones:
    everywhere = np.ones(tree.n_tiles, dtype=bool)
    return box_zones(tree, everywhere, read_box_names(names), np.nan if tile_km2 is None else tile_km2)


def _rows(tree: Hierarchy, names: NDArray[np.str_]) -> Any:
    order = np.argsort(tree.zones.ids)
    rows = order[np.minimum(np.searchsorted(tree.zones.ids, names, sorter=order), len(order) - 1)]
    if (tree.zones.ids[rows] != names).any():
        raise ValueError("a released zone is none of the hierarchy's")
    return rows


def _plain_times(told: pa.Table) -> pa.Table:
    """Return times with their lengths, and without the places and outlines that they do not have."""
    import pyarrow as pa

    nowhere = pa.array(np.full(len(told), np.nan))
    plain = told.drop_columns([name for name in ("members", "geometry") if name in told.column_names])
    for name in ("area_km2", "lat", "lon"):
        plain = plain.set_column(plain.column_names.index(name), name, nowhere)
    return plain.replace_schema_metadata(None)
