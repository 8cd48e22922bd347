"""Destination maps: with the origin cut fixed, a destination cut for each of its zones, under one limit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tripcloak.algorithms.base import Solution
from tripcloak.algorithms.losses import find_loss
from tripcloak.algorithms.pricing import PriceSearch
from tripcloak.algorithms.productcut import highest_price, partition_search
from tripcloak.algorithms.products import DESTINATION, ORIGIN, Axis, SafeProducts, find_products
from tripcloak.arrays import Bools, Ints
from tripcloak.criteria import Criterion
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import ODMatrix
from tripcloak.release import Bound


@dataclass(frozen=True, eq=False)
class DestinationMaps:
    """The choice of all destination maps at once (section 3.4 of the ATG paper).

    Attributes
    ----------
    zones : array of int
        The zones of the origin cut that have flows, and the root of the tree behind them.
    products : SafeProducts
        Pairs of a zone of the cut and a destination zone; ``zones`` tells the first one's name.
    may_split : array (axes, n)
        The whole map into the zones of the cut, and any of those by destination; nothing else.
    search : PriceSearch
        The search for the one price of suppression over all maps.
    highest : float
        A price at which only what can never be safe is suppressed.
    """

    zones: Ints
    products: SafeProducts
    may_split: Bools
    search: PriceSearch
    highest: float

    @property
    def can_keep_limit(self) -> bool:
        """Return whether few enough trips start in zones that are not safe with any destination."""
        products = self.products
        hopeless = products.total - products.inner[ORIGIN, 0] if self.may_split[ORIGIN, 0] else 0.0
        return bool(hopeless <= self.search.budget)

    def released(self, choice: Ints) -> Ints:
        """Return the products that these choices release."""
        from tripcloak.algorithms._kernels import follow_choices

        home = follow_choices(choice, self.products.up)
        return np.flatnonzero(home == np.arange(len(home)))

    def mean_sizes(self, choice: Ints) -> tuple[float, float] | None:
        """Return the mean tiles of origin and destination per unit released, None if nothing is."""
        products = self.products
        released = self.released(choice)
        if len(released) == 0:
            return None
        volume = products.volume[released]
        origin, destination = (
            float((tree.zones.tiles[zone[released]] * volume).sum() / volume.sum())
            for tree, zone in zip(products.axes, products.zone, strict=True)
        )
        return origin, destination

    def solution(self, choice: Ints, bound: Bound | None = None) -> Solution:
        """Return the choices as zones of the matrix's own hierarchies."""
        home = self.products.place(choice)
        return Solution(
            origin_zone=self.zones[self.products.zone[ORIGIN][home]],
            destination_zone=self.products.zone[DESTINATION][home],
            suppressed=home < 0,
            homogeneous=False,
            bound=bound,
        )


def destination_maps(
    matrix: ODMatrix, criterion: Criterion, limit: float, zone_of_tile: Ints
) -> DestinationMaps:
    """Return the destination maps of an origin cut, given as the zone of every origin tile.

    The size of a zone is its number of tiles.
    """
    zone_of_flow = zone_of_tile[matrix.flows.origin]
    zones, cut = _flat(matrix.origins, zone_of_flow)
    codes = np.empty(len(matrix.origins), dtype=np.int32)
    codes[zones] = np.arange(len(zones), dtype=np.int32)
    # A copy is of one type with the new codes, whatever made the matrix: kernels index the pair by axis.
    destination = matrix.flows.destination.astype(np.int32)
    # The origin cut is settled: the map as a whole must be split into it at any price.
    origins = Axis(cut, codes[zone_of_flow], zones=zones, must_split=len(cut) > 1)
    axes = origins, Axis(matrix.destinations, destination)
    products = find_products(matrix, criterion, find_loss("tiles"), axes=axes)
    highest = highest_price(products)
    may_split = np.zeros(products.up.shape, dtype=bool)
    whole = products.zone[ORIGIN] == cut.root
    if len(cut) == 1:
        may_split[DESTINATION] = True
    else:
        may_split[ORIGIN, 0] = True
        may_split[DESTINATION] = ~whole
        products = replace(products, loss=np.where(whole, np.inf, products.loss))
    return DestinationMaps(zones, products, may_split, partition_search(products, may_split, limit), highest)


def _flat(tree: Hierarchy, zone_of_flow: Ints) -> tuple[Ints, Hierarchy]:
    """Return a tree of just the zones that have flows and a root above them, and its zones' old numbers."""
    used = np.flatnonzero(np.bincount(zone_of_flow, minlength=len(tree)))
    used = used[np.argsort(tree.zones.ids[used], kind="stable")]
    zones = used if len(used) == 1 else np.append(used, tree.root)
    parent, height = np.full(len(zones), len(zones) - 1), np.zeros(len(zones), dtype=np.int32)
    parent[-1], height[-1] = -1, len(zones) > 1
    return zones, Hierarchy.from_parents(
        tree.zones.ids[zones], parent, height=height, tiles=tree.zones.tiles[zones]
    )
