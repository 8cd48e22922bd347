"""OMX: trips between zones as a matrix, for transport models."""

from __future__ import annotations

import errno
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tripcloak.exporting.places import places_of
from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from tripcloak.exporting.export import PublicTables

MOST_ZONES = 20_000
"""A matrix of so many zones has 400 million cells, of which a release fills few."""
ROWS = 512
"""Rows of the matrix that are laid out at a time."""


def write_omx(tables: PublicTables, path: Path) -> int:
    """Write trips as a square matrix over the zones of both axes, and return how many flows are in it.

    A pair that was not released is NaN, not 0: what was withheld is unknown. Times are summed over. The
    mapping ``zone`` numbers rows and columns from 1; ``/lookup_names/zone`` holds what each is called.
    """
    import openmatrix

    from tripcloak.flows.release.tables import flows_over_time

    volume = tables.facts["volume"]
    flows = flows_over_time(tables.flows)
    places = places_of(type(tables)(tables.facts, flows, tables.zones))
    size = len(places.names)
    if size > MOST_ZONES:
        raise InputError(
            f"a matrix over {size:,} zones is too large ({MOST_ZONES:,} at most); take spanishoddata, a row "
            "a flow, or make a coarser release"
        )
    numbers = flows[volume].to_numpy().astype(float)
    order = np.argsort(places.origin, kind="stable")
    starts = np.searchsorted(places.origin[order], np.arange(0, size + ROWS, ROWS))
    with openmatrix.open_file(str(path), "w") as file:
        matrix = file.create_matrix(
            volume, atom=_double(), shape=(size, size), attrs={"NA": float("nan")}, title=f"released {volume}"
        )
        for part, (start, end) in enumerate(pairwise(starts.tolist())):
            top = part * ROWS
            block = np.full((min(ROWS, size - top), size), np.nan)
            rows = order[start:end]
            block[places.origin[rows] - top, places.destination[rows]] = numbers[rows]
            matrix[top : top + len(block), :] = block
        file.create_mapping("zone", np.arange(1, size + 1, dtype=np.uint32))
        names = file.create_group(file.root, "lookup_names")
        file.create_array(names, "zone", obj=np.char.encode(places.names, "utf-8"))
    _refuse_cut(path, volume, float(numbers.sum()))
    return len(flows)


def _refuse_cut(path: Path, volume: str, total: float) -> None:
    """Raise unless the matrix can be read and holds all trips: a full disk stops the library in silence."""
    import openmatrix
    import tables

    found = np.nan
    try:
        with openmatrix.open_file(str(path)) as file:
            matrix = file[volume]
            found = sum(
                float(np.nansum(matrix[top : top + ROWS, :])) for top in range(0, matrix.shape[0], ROWS)
            )
    except (tables.HDF5ExtError, OSError, LookupError):
        pass
    if not np.isclose(found, total, rtol=1e-9, atol=0):
        raise OSError(errno.EIO, "the file was not written whole; is its disk full?")


def _double() -> object:
    import tables

    return tables.Float64Atom(dflt=float("nan"))
