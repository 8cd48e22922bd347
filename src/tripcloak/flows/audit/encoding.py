"""From the places of raw records to tiles, as the auditor does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tripcloak.flows.audit import cells
from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.ground.arrays import Floats
from tripcloak.hierarchy.tiling import OUTSIDE, Keys, Tiling


class Encoder(Protocol):
    """Gives every place a 64-bit key, and every key its tile's name."""

    def of_points(self, lat: Floats, lon: Floats) -> Keys:
        """Return the tile of every point, or OUTSIDE."""

    def of_ids(self, ids: Sequence[str]) -> Keys:
        """Return the tile that every id names, or OUTSIDE."""

    def names(self, keys: Keys) -> Sequence[str]:
        """Return the names of tiles; keys are sorted and differ."""


def tiling_of(case: FlowEvidence, given: Tiling | None) -> Tiling | None:
    """Return the tiling that the release was made with: the one given, or that of the private record."""
    if given is not None:
        return given
    recorded = case.recorded.get("tiling")
    if not isinstance(recorded, dict):
        return None
    from tripcloak.hierarchy.spec import parse_tiling

    area = recorded.get("area")
    return parse_tiling(
        case.promise.spec, zones=recorded.get("zones"), area=None if area is None else tuple(area)
    )


class H3Encoder:
    """H3 cells of one resolution, by the h3 library; only those inside a cell, where one is given.

    Examples
    --------
    >>> encoder = H3Encoder(9)
    >>> encoder.names(encoder.of_points(np.array([48.8584]), np.array([2.2945])))
    ['891fb46741bffff']
    >>> encoder.names(encoder.of_ids(["8a1fb46622dffff"]))
    ['891fb46622fffff']
    >>> bool(H3Encoder(9, "851fb463fffffff").of_ids(["8a1fb46622dffff"])[0] == OUTSIDE)
    True
    """

    def __init__(self, resolution: int, within: str | None = None) -> None:
        self._resolution, self._within = resolution, within

    def of_points(self, lat: Floats, lon: Floats) -> Keys:
        """Return the cell of every point, or OUTSIDE."""
        from h3.api.basic_int import latlng_to_cell

        resolution = self._resolution
        found = [latlng_to_cell(*point, resolution) for point in zip(lat.tolist(), lon.tolist(), strict=True)]
        return self._inside(np.array(found, dtype=np.uint64))

    def of_ids(self, ids: Sequence[str]) -> Keys:
        """Return the cell or ancestor named by every id; OUTSIDE where it is coarser or no cell at all."""
        return self._inside(np.array([self._lifted(text) for text in ids], dtype=np.uint64))

    def names(self, keys: Keys) -> Sequence[str]:
        """Return the cells as hexadecimal text."""
        return [f"{key:x}" for key in keys.tolist()]

    def _inside(self, keys: Keys) -> Keys:
        if self._within is None:
            return keys
        at = cells.resolution_of(self._within) or 0
        known, row = np.unique(keys, return_inverse=True)
        inside = [key != OUTSIDE and cells.ancestor(f"{key:x}", at) == self._within for key in known.tolist()]
        return np.where(np.array(inside, dtype=bool)[row], keys, OUTSIDE)

    def _lifted(self, text: str) -> int:
        at = cells.resolution_of(text)
        if at is None or at < self._resolution:
            return int(OUTSIDE)
        return int(cells.ancestor(text, self._resolution), 16)


class TilingEncoder:
    """Tiles of another kind, by the tiling that the release names."""

    def __init__(self, tiling: Tiling) -> None:
        self._tiling = tiling

    def of_points(self, lat: Floats, lon: Floats) -> Keys:
        """Return the tile of every point, or OUTSIDE."""
        return self._tiling.encode(lat, lon)

    def of_ids(self, ids: Sequence[str]) -> Keys:
        """Return the tile named by every id, or OUTSIDE."""
        return self._tiling.keys(ids)

    def names(self, keys: Keys) -> Sequence[str]:
        """Return the names of tiles."""
        if not len(keys):
            return []
        hierarchy = self._tiling.hierarchy(keys)
        named: list[str] = hierarchy.zones.ids[self._tiling.tiles(keys, hierarchy)].tolist()
        return named


class NamedEncoder:
    """Tiles known by name alone, for records that already hold zone ids."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = np.unique(np.asarray(names, dtype=np.str_))

    def of_points(self, lat: Floats, lon: Floats) -> Keys:
        """Return OUTSIDE for every point: names have no places."""
        return np.full(len(lat), OUTSIDE)

    def of_ids(self, ids: Sequence[str]) -> Keys:
        """Return the place of every id among the names, or OUTSIDE."""
        texts = np.asarray(ids, dtype=np.str_)
        row = np.minimum(np.searchsorted(self._names, texts), len(self._names) - 1)
        return np.where(self._names[row] == texts, row.astype(np.uint64), OUTSIDE)

    def names(self, keys: Keys) -> Sequence[str]:
        """Return the names of tiles."""
        named: list[Any] = self._names[keys.astype(np.int64)].tolist()
        return named
