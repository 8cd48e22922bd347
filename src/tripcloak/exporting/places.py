"""One list of zones for both axes, as formats with a single list of places want them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints

if TYPE_CHECKING:
    from tripcloak.exporting.export import PublicTables

SIDES = ("origin", "destination")


class Places(NamedTuple):
    """Zones of both axes in one list, and the row of each flow's origin and destination in it."""

    names: NDArray[np.str_]
    lat: Floats
    lon: Floats
    geometry: list[bytes | None]
    origin: Ints
    destination: Ints


def places_of(tables: PublicTables) -> Places:
    """Return the zones of both axes, ascending by name.

    A zone of both axes is one place. Where one name means two places, each is told apart by its axis.
    """
    zones = tables.zones
    axis = np.asarray(zones["axis"].to_pylist(), dtype=np.str_)
    spatial = axis != "time"
    names = np.asarray(zones["zone"].to_pylist(), dtype=np.str_)[spatial]
    axis = axis[spatial]
    lat, lon = (zones[name].to_numpy().astype(float)[spatial] for name in ("lat", "lon"))
    shapes = (
        zones["geometry"].filter(spatial).to_pylist()
        if "geometry" in zones.column_names
        else [None] * len(names)
    )
    told = np.char.add(names, np.where(_two_places(names, lat, lon), np.char.add(" as ", axis), ""))
    unique, first, row = np.unique(told, return_index=True, return_inverse=True)
    ends = [_rows(tables.flows[side], names[axis == side], row[axis == side]) for side in SIDES]
    return Places(unique, lat[first], lon[first], [shapes[at] for at in first.tolist()], *ends)


def _two_places(names: NDArray[np.str_], lat: Floats, lon: Floats) -> Any:
    """Return, of every zone, whether its name stands for different places on the two axes."""
    _, row = np.unique(names, return_inverse=True)
    spread = np.zeros(row.max(initial=-1) + 1, dtype=bool)
    order = np.argsort(row, kind="stable")
    same = row[order[1:]] == row[order[:-1]]
    apart = ~np.isclose(lat[order[1:]], lat[order[:-1]], equal_nan=True) | ~np.isclose(
        lon[order[1:]], lon[order[:-1]], equal_nan=True
    )
    spread[row[order[1:]][same & apart]] = True
    return spread[row]


def _rows(column: Any, names: NDArray[np.str_], rows: Ints) -> Ints:
    """Return the place of every flow's zone on one axis."""
    import pyarrow as pa
    from pyarrow import compute

    at = compute.index_in(column.combine_chunks(), value_set=pa.array(names.tolist()))
    found: Ints = rows[at.to_numpy()]
    return found
