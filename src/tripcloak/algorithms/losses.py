"""Losses: what it costs to say a zone where a tile was known. Every loss adds up over records and axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError
from tripcloak.hierarchy import Hierarchy

LossName = Literal["tiles", "area", "metres"]
EARTH_M = 6_371_008.8


class Loss(Protocol):
    """An additive loss: per record, one number for each axis, given its tile and the zone released."""

    @property
    def name(self) -> str:
        """Return the loss by name."""

    def of_ancestors(self, tree: Hierarchy, ancestors: Ints) -> Floats:
        """Return, for every depth and tile, the loss of a record of that tile released as that ancestor.

        ``ancestors[depth, tile]`` is a zone, or -1 where there is none (the value is then not used).
        """


@dataclass(frozen=True)
class ZoneLoss:
    """A loss that depends on the released zone alone: its number of tiles, or its area in km2."""

    name: str

    def of_ancestors(self, tree: Hierarchy, ancestors: Ints) -> Floats:
        """Return the size of every ancestor."""
        size = tree.zones.tiles if self.name == "tiles" else tree.zones.area_km2
        return _checked(self.name, np.asarray(size, dtype=np.float64)[ancestors], ancestors)


@dataclass(frozen=True)
class MetresLoss:
    """The expected distance from a trip's end to the point that is published for its zone.

    A trip's end lies somewhere in its tile: at the tile's own point the expected distance is that of
    a disc of the tile's area, and further away both distances add up as at a right angle.
    """

    name: str = "metres"

    def of_ancestors(self, tree: Hierarchy, ancestors: Ints) -> Floats:
        """Return the expected distance from every tile to each of its ancestors' points."""
        zones, tiles = tree.zones, slice(0, tree.n_tiles)
        lat, lon = np.radians(zones.lat), np.radians(zones.lon)
        half = np.sin((lat[ancestors] - lat[tiles]) / 2) ** 2
        across = np.sin((lon[ancestors] - lon[tiles]) / 2) ** 2
        away = 2 * EARTH_M * np.arcsin(np.sqrt(half + np.cos(lat[ancestors]) * np.cos(lat[tiles]) * across))
        within = 2 / 3 * np.sqrt(np.nan_to_num(zones.area_km2[tiles]) * 1e6 / np.pi)
        return _checked(self.name, np.hypot(away, within), ancestors)


@dataclass(frozen=True)
class SlotLoss:
    """A weight for every slot of the released time: what one slot costs, in the unit of the other axes."""

    weight: float
    name: str = "slots"

    def of_ancestors(self, tree: Hierarchy, ancestors: Ints) -> Floats:
        """Return the weighted number of slots of every ancestor."""
        return _checked(self.name, self.weight * tree.zones.tiles[ancestors], ancestors)


def find_loss(name: str) -> Loss:
    """Return the loss of this name.

    >>> find_loss("tiles").name
    'tiles'
    >>> find_loss("regret")
    Traceback (most recent call last):
    tripcloak.errors.InputError: there is no loss 'regret'; there are: tiles, area, metres
    """
    if name not in get_args(LossName):
        raise InputError(f"there is no loss {name!r}; there are: {', '.join(get_args(LossName))}")
    return MetresLoss() if name == "metres" else ZoneLoss(name)


def _checked(name: str, losses: Floats, ancestors: Ints) -> Floats:
    used = losses[ancestors >= 0]
    if not (np.isfinite(used).all() and (used >= 0).all()):
        raise InputError(f"the loss {name} needs zones with a geometry: some have no {name} of zero or more")
    return np.ascontiguousarray(losses)
