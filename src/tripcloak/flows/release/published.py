"""Reads what was published of a release: the flows, the zones with their outlines, and the manifest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import public_part, read_manifest


@dataclass(frozen=True, eq=False)
class PublishedZones:
    """The released zones of one axis: ids, outlines (shapely, None where there is none) and tiles."""

    ids: NDArray[np.str_]
    shapes: NDArray[Any]
    tiles: Ints

    def __repr__(self) -> str:
        return f"<PublishedZones: {len(self.ids):,}>"

    def rows(self, ids: NDArray[np.str_]) -> Ints:
        """Return the row of every id."""
        order = np.argsort(self.ids)
        ascending = self.ids[order]
        place = np.searchsorted(ascending, ids)
        if (np.append(ascending, "")[place] != ids).any():
            raise InputError("the released flows name a zone that the table of zones does not have")
        found: Ints = order[place]
        return found


@dataclass(frozen=True, eq=False)
class Published:
    """A release as its readers have it.

    Attributes
    ----------
    facts : dict
        The manifest.
    origin, destination, time : array of int
        Rows of ``zones`` by axis, one value a released flow; time is None where it is no axis.
    volume : array of float
        Trips, or population where only that is published.
    zones : dict
        Axis to its zones.
    """

    facts: dict[str, Any]
    origin: Ints
    destination: Ints
    time: Ints | None
    volume: Floats
    zones: dict[str, PublishedZones]

    def __repr__(self) -> str:
        return f"<Published: {len(self.origin):,} flows>"


def read_published(folder: Path) -> Published:
    """Return a release from its public files alone: ``folder`` is the release folder, or its public part."""
    from pyarrow import parquet

    public, facts = public_part(folder), read_manifest(folder, "flows")
    try:
        flows = parquet.read_table(public / "flows.parquet")
        table = parquet.read_table(public / "zones.parquet")
        zones = {axis: _zones_of(table, axis) for axis in ("origin", "destination", "time")}
        names = {axis: _text(flows[axis]) for axis in zones if axis in flows.column_names}
        volume = np.asarray(flows[facts["volume"]], dtype=float)
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"{public} is not a whole release: flows.parquet, zones.parquet or a column of theirs is missing"
        ) from error
    rows = {axis: zones[axis].rows(ids) for axis, ids in names.items()}
    return Published(facts, rows["origin"], rows["destination"], rows.get("time"), volume, zones)


def _zones_of(table: Any, axis: str) -> PublishedZones:
    import shapely

    rows = table.filter(np.asarray(_text(table["axis"]) == axis))
    shapes = np.full(len(rows), None, dtype=object)
    if "geometry" in rows.column_names:
        shapes = shapely.from_wkb(rows["geometry"].to_numpy(zero_copy_only=False))
    return PublishedZones(_text(rows["zone"]), shapes, np.asarray(rows["tiles"], dtype=np.int64))


def _text(column: Any) -> NDArray[np.str_]:
    return np.asarray(column.to_pylist(), dtype=np.str_)
