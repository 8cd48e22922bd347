"""OMX matrices as a table of trips between zones, a row for every cell that is not empty."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.ground.errors import TripcloakError, UnreadableFileError
from tripcloak.ground.extras import needing

ROWS = 256
"""Rows of the matrices that are in memory at a time."""


def matrix_rows(file: Path, name: str) -> Iterator[list[str]]:
    """Yield the column names and then a row for every pair of zones with a number that is not 0.

    A single matrix is the column ``trips``; of several each has a column of its name.

    Parameters
    ----------
    name
        What messages call the file.

    Raises
    ------
    UnreadableFileError
        It is no open matrix.
    """
    with needing("formats", f"reading {name}"):
        import openmatrix
    try:
        with openmatrix.open_file(str(file), "r") as opened:
            yield from _rows(opened, name)
        return
    except TripcloakError:
        raise
    except Exception:
        # Whatever a damaged file makes the library raise, its words may quote cells.
        pass
    raise UnreadableFileError(f"{name} could not be read as an open matrix (OMX); it may be damaged")


def _rows(opened: Any, name: str) -> Iterator[list[str]]:
    matrices = opened.list_matrices()
    if not matrices:
        raise UnreadableFileError(f"{name} holds no matrix; expected one of trips between zones")
    yield ["origin", "destination", *(["trips"] if len(matrices) == 1 else matrices)]
    size = opened.shape()
    labels = _labels(opened, max(size))
    for top in range(0, size[0], ROWS):
        blocks = [np.nan_to_num(np.asarray(opened[one][top : top + ROWS], dtype=float)) for one in matrices]
        row, column = np.nonzero(np.any([block != 0 for block in blocks], axis=0))
        cells = [block[row, column].tolist() for block in blocks]
        for place, (start, end) in enumerate(zip((row + top).tolist(), column.tolist(), strict=True)):
            yield [labels[start], labels[end], *(_number(values[place]) for values in cells)]


def _labels(opened: Any, size: int) -> list[str]:
    """Return what zones are called: by names, by the numbers of a mapping, or by their rows from 1."""
    with suppress(Exception):
        names = opened.root.lookup_names.zone[:]
        if len(names) == size:
            return [one.decode() if isinstance(one, bytes) else str(one) for one in names]
    for mapping in opened.list_mappings():
        entries = opened.map_entries(mapping)
        if len(entries) == size:
            return [str(one) for one in entries]
    return [str(row + 1) for row in range(size)]


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
