"""ProductCut and NestedCut: the best recursive partition into products of zones, with a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tripcloak.flows.methods.losses import ABOUT_TIME_WEIGHT, SlotLoss, require_weight
from tripcloak.flows.methods.method import Solution
from tripcloak.flows.methods.products import DESTINATION, ORIGIN, TIME, Axis, SafeProducts, worst_that_fit
from tripcloak.flows.methods.tree_method import Clock, PricedPartition, PriceSearch, TreeMethod, certificate
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.promises import Promise


@dataclass(frozen=True, kw_only=True)
class RecursiveCut(TreeMethod):
    """A partition made by splitting products of zones, again and again, on one axis at a time."""

    relaxation: ClassVar[str | None]

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the best partition at the critical price."""
        clock = Clock(self.time_limit)
        products = self.find_products(matrix, promise, progress, clock)
        may_split = self.may_split(products)
        search = partition_search(products, may_split, self.suppression_limit, keeps_safe=self.keeps_safe)
        offer = search.run(highest_price(products), clock.is_up)
        choice = offer.plan if self.keeps_safe else spend_rest(products, offer, search.budget)
        home = products.place(choice)
        kept = home >= 0
        released = np.unique(home[kept])
        volume = products.volume[released]
        mean = float((products.loss[released] * volume).sum() / volume.sum())
        return Solution(
            origin_zone=products.zone[ORIGIN][home],
            destination_zone=products.zone[DESTINATION][home],
            suppressed=~kept,
            homogeneous=False,
            time_zone=None if matrix.times is None else products.zone[TIME][home],
            bound=certificate(products, mean, search.bound, self.relaxation),
        )

    def may_split(self, products: SafeProducts) -> Bools:
        """Return, per axis and product, whether a split is allowed; all are unless a method says no."""
        return np.ones(products.up.shape, dtype=bool)


@dataclass(frozen=True, kw_only=True)
class ProductCut(RecursiveCut):
    """The finest partition: any pair of zones may be split on either axis, again and again.

    ``F(o, d)`` is the least of releasing (o, d) as it is, the sum of F over the children of o, and the
    sum of F over the children of d; what is unsafe is suppressed at a price, and the price is raised
    until the limit is kept. Released groups are products of two zones and never overlap as products,
    but the zones of one axis may. Time, where the matrix has it, is split in the same way.

    Parameters
    ----------
    time_weight
        Loss of one slot of released time, in the unit of ``loss``: tiles, km2 or metres.
    """

    name: ClassVar[str] = "productcut"
    summary: ClassVar[str] = "the best recursive split of origin x destination; finest, zones may overlap"
    source: ClassVar[str] = "ours"
    relaxation: ClassVar[str | None] = "Lagrangian bound over all recursive partitions"
    handles_time: ClassVar[bool] = True

    time_weight: float = option(1.0, **ABOUT_TIME_WEIGHT)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_weight(self.time_weight)

    def axes(self, matrix: ODMatrix) -> tuple[Axis, ...]:
        """Return origins, destinations and, where there is one, the axis of time."""
        return with_slots(super().axes(matrix), self.time_weight)


@dataclass(frozen=True, kw_only=True)
class NestedCut(RecursiveCut):
    """One cut of the first axis, and inside each of its zones a cut of the other axis of its own.

    This is the coupled problem of the ATG paper (all origin splits come first), solved exactly for
    every price, with no target volume to be chosen.
    """

    name: ClassVar[str] = "nestedcut"
    summary: ClassVar[str] = (
        "one cut of the origins, and the best cut of the destinations for each of its zones"
    )
    source: ClassVar[str] = "ours; the coupled problem of Matet et al. 2023"
    relaxation: ClassVar[str | None] = "Lagrangian bound over all nested cuts"

    first: Literal["origins", "destinations"] = option(
        "origins", help="Which axis is cut first.", metavar="AXIS", values=("origins", "destinations")
    )

    def may_split(self, products: SafeProducts) -> Bools:
        """Return, per axis and product, whether a split is allowed: first axis first."""
        order = (ORIGIN, DESTINATION)
        return nested(products, order if self.first == "origins" else order[::-1])


def with_slots(axes: tuple[Axis, ...], weight: float) -> tuple[Axis, ...]:
    """Return the axes with this loss of a slot on that of time, where there is one."""
    return (*axes[:TIME], *(axis._replace(loss=SlotLoss(weight)) for axis in axes[TIME:]))


def nested(products: SafeProducts, order: Sequence[int]) -> Bools:
    """Return the splits of a nested cut: an axis may be split only while all later ones are whole."""
    allowed = np.ones(products.up.shape, dtype=bool)
    whole = whole_zones(products)
    for place, axis in enumerate(order):
        allowed[axis] = np.logical_and.reduce([whole[later] for later in order[place + 1 :]])
    return allowed


def cyclic_orders(n: int) -> list[tuple[int, ...]]:
    """Return the axes in their order, once from each of them on.

    >>> cyclic_orders(3)
    [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    """
    return [tuple((first + step) % n for step in range(n)) for first in range(n)]


def whole_zones(products: SafeProducts) -> Bools:
    """Return, per axis and product, whether its zone is the whole of the axis."""
    return np.stack([zone == tree.root for tree, zone in zip(products.axes, products.zone, strict=True)])


def partition_search(
    products: SafeProducts, may_split: Bools, limit: float, *, keeps_safe: bool = False
) -> PriceSearch:
    """Return the search for the critical price over partitions made of these splits.

    Parameters
    ----------
    keeps_safe
        What is safe and not split is released at any price.
    """
    from tripcloak.flows.methods._kernels.cuts import best_partition

    if keeps_safe:
        # To split a tile would be to withhold it.
        ends = zip(products.ends, products.zone, strict=True)
        may_split = may_split & ~np.stack([some[zone] for some, zone in ends])

    below = np.empty((2, *products.up.shape))

    def solve(price: float) -> PricedPartition:
        choice, loss, hidden = best_partition(
            products.loss,
            products.volume,
            products.up,
            products.inner,
            may_split,
            float(price),
            not keeps_safe,
            below,
        )
        return PricedPartition(price, loss, hidden, choice)

    return PriceSearch(
        solve,
        products.budget(limit),
        products.total,
        float(products.loss.min()),
        possible=bool(np.isfinite(products.loss).all()),
    )


def highest_price(products: SafeProducts) -> float:
    """Return a price at which suppressing the smallest flow costs more than releasing all as one group.

    Where that one group may not be released, the coarsest that may stands in for it.
    """
    volume = products.flow_volume
    smallest = volume.min(initial=int(products.total), where=volume > 0)
    coarsest = products.loss[0]
    if not np.isfinite(coarsest):
        coarsest = products.loss.max(initial=0.0, where=np.isfinite(products.loss))
    return float(coarsest * products.total / smallest + 1.0)


def spend_rest(products: SafeProducts, offer: PricedPartition, budget: float) -> Ints:
    """Return the choices after suppressing the worst released groups that still fit into the budget."""
    from tripcloak.flows.methods._kernels.cuts import SUPPRESS, follow_choices

    choice: Ints = offer.plan.copy()
    home = follow_choices(choice, products.up)
    released = np.flatnonzero(home == np.arange(len(home)))
    choice[worst_that_fit(products, released, budget)] = SUPPRESS
    return choice
