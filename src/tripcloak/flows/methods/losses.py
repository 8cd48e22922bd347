"""Losses: what it costs to say a zone where a tile was known. Every loss adds up over records and axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy

LossName = Literal["tiles", "area", "metres"]
EARTH_M = 6_371_008.8

ABOUT_LOSS: dict[str, Any] = {
    "help": "What is minimised.",
    "metavar": "LOSS",
    "values": ("tiles", "area", "metres"),
}
ABOUT_TIME_WEIGHT: dict[str, Any] = {
    "help": "Loss of one slot of released time, in tiles, km2 or metres.",
    "metavar": "WEIGHT",
    "axis": "time",
}


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
        return np.asarray(size, dtype=np.float64)[ancestors]


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
        with np.errstate(invalid="ignore"):
            within = 2 / 3 * np.sqrt(np.nan_to_num(zones.area_km2[tiles]) * 1e6 / np.pi)
        metres: Floats = np.hypot(away, within)
        return metres


@dataclass(frozen=True)
class SlotLoss:
    """A weight for every slot of the released time: what one slot costs, in the unit of the other axes."""

    weight: float
    name: str = "slots"

    def of_ancestors(self, tree: Hierarchy, ancestors: Ints) -> Floats:
        """Return the weighted number of slots of every ancestor."""
        return self.weight * tree.zones.tiles[ancestors]


def require_weight(weight: float) -> None:
    """Raise where this can be no loss of a slot.

    >>> require_weight(-1.0)
    Traceback (most recent call last):
    tripcloak.InputError: the weight of a slot of time must be 0 or more; got -1
    """
    if not 0 <= weight < np.inf:
        raise InputError(f"the weight of a slot of time must be 0 or more; got {weight:g}")


def find_loss(name: str) -> Loss:
    """Return the loss of this name.

    >>> find_loss("tiles").name
    'tiles'
    >>> find_loss("regret")
    Traceback (most recent call last):
    tripcloak.InputError: there is no loss 'regret'; there are: tiles, area, metres
    """
    if name not in get_args(LossName):
        raise InputError(f"there is no loss {name!r}; there are: {', '.join(get_args(LossName))}")
    return MetresLoss() if name == "metres" else ZoneLoss(name)


def losses_of(loss: Loss, tree: Hierarchy, ancestors: Ints) -> Floats:
    """Return the loss of every tile and ancestor, or raise if that is not one number of zero or more each.

    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> losses_of(find_loss("tiles"), tree, np.array([[2, 2], [0, 1]])).tolist()
    [[2.0, 2.0], [1.0, 1.0]]
    >>> losses_of(find_loss("area"), tree, np.array([[2, 2], [0, 1]]))
    Traceback (most recent call last):
    tripcloak.InputError: the loss area needs zones with a geometry: some have no area
    """
    losses = np.asarray(loss.of_ancestors(tree, ancestors))
    if losses.shape != ancestors.shape or losses.dtype.kind not in "iuf":
        raise InputError(
            f"the loss {loss.name} must be one number for every tile and each of its zones, "
            "so that it adds up over records"
        )
    used = losses[ancestors >= 0]
    if not np.isfinite(used).all():
        raise InputError(f"the loss {loss.name} needs zones with a geometry: some have no {loss.name}")
    if (used < 0).any():
        raise InputError(f"the loss {loss.name} must be zero or more for every zone; some have less")
    return np.ascontiguousarray(losses, dtype=np.float64)


class TileLosses:
    """The loss of a tile released as one of its ancestors, by the number of steps between them.

    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> TileLosses(find_loss("tiles"), tree).of(np.array([0, 1, 2]), np.array([3, 1, 4])).tolist()
    [2.0, 1.0, 3.0]
    """

    def __init__(self, loss: Loss, tree: Hierarchy) -> None:
        steps = [np.arange(tree.n_tiles, dtype=np.int32)]
        while (up := np.where(steps[-1] >= 0, tree.parent[steps[-1]], -1)).max() >= 0:
            steps.append(up)
        self._table = losses_of(loss, tree, np.stack(steps))
        self._depth = depths(tree)

    def of(self, tile: Ints, zone: Ints) -> Floats:
        """Return the loss of each tile released as the zone beside it."""
        losses: Floats = self._table[self._depth[tile] - self._depth[zone], tile]
        return losses


def depths(tree: Hierarchy) -> Ints:
    """Return, for every zone, how many steps it lies below the root.

    >>> depths(Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])).tolist()
    [2, 2, 1, 1, 0]
    """
    depth = np.zeros(len(tree), dtype=np.int32)
    for level in reversed(tree.levels[:-1]):
        depth[level] = depth[tree.parent[level]] + 1
    return depth
