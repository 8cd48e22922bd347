"""ATG-Dual and ATG-Soft: origins cut to a target volume, then all destination maps under one multiplier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tripcloak.flows.methods.atg_steps import (
    Attempt,
    DestinationMaps,
    OriginStep,
    check_target,
    critical_offer,
)
from tripcloak.flows.methods.method import FlowMethod, Solution
from tripcloak.flows.methods.pricing import PricedPartition
from tripcloak.flows.methods.tree_method import certificate
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.promises import Promise

MAP_SHARE = 0.1
"""ATG-Soft's multiplier as a share of the map (section 3.6 of the paper)."""


@dataclass(frozen=True, kw_only=True)
class ATGDual(FlowMethod):
    """Adaptative tree generalisation under a hard limit (the ATG paper, sections 3.2 to 3.4).

    First the origins: the cut whose zones each emit a volume near ``v_target``. Then, for all its zones
    at once, a destination cut each: the price of suppression (the multiplier of the dual problem) is
    moved from breakpoint to breakpoint until the maps together just keep the limit.

    The origin cut is a guess by design, so the bound holds for this origin cut, not for all others.

    Parameters
    ----------
    v_target
        The volume an origin zone should emit. Without one it is searched for until origins and
        destinations have the same mean size, which the paper found to be best.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> ends = np.array([[0, 2], [0, 3], [0, 3], [1, 2], [2, 0], [3, 0], [3, 1], [3, 1]]).T
    >>> matrix = ODMatrix.from_trips(tree, tree, *ends)
    >>> release = ATGDual(promise=KAnonymity(k=2), suppression_limit=0, v_target=4).anonymise(matrix)
    >>> [str(tree.zones.ids[zone]) for zone in release.group_origin]
    ['ab', 'ab', 'cd', 'cd']
    """

    name: ClassVar[str] = "atg-dual"
    summary: ClassVar[str] = "origins near a target volume, then the best destination cut for each of them"
    source: ClassVar[str] = "ATG paper, sections 3.2 to 3.5 and appendix J"

    v_target: float | None = option(
        None,
        help="Volume that an origin zone should emit.",
        unset="found, so that origins and destinations are of one mean size",
        metavar="VOLUME",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_target(self.v_target)

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the origin cut and the destination maps at the critical price."""
        step = OriginStep(matrix, promise, self.suppression_limit, critical_offer)
        attempt = step.settle(self.v_target, progress)
        maps, offer = attempt.maps, attempt.offer
        mean = offer.loss / (maps.products.total - offer.hidden)
        words = "Lagrangian bound for this origin cut"
        return maps.solution(offer.plan, certificate(maps.products, mean, maps.search.bound, words))


@dataclass(frozen=True, kw_only=True)
class ATGSoft(ATGDual):
    """Adaptative tree generalisation at a fixed multiplier (the ATG paper, section 3.3, problem H').

    A suppressed trip costs as much as one generalised to ``multiplier`` tiles, so no released flow has
    more tiles at its two ends together (appendix E; here it holds for tiles too, which the paper
    exempts). How much is suppressed follows from that; where it is more than the limit, the request is
    refused with what would do.

    Parameters
    ----------
    multiplier
        In tiles. By default 10 % of the map: of the tiles of the larger hierarchy. A grid has only
        those tiles that occur.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 0, 1]), np.array([1, 1, 1, 0]))
    >>> soft = ATGSoft(promise=KAnonymity(k=2), suppression_limit=0.3, v_target=2, multiplier=3)
    >>> soft.anonymise(matrix).suppressed.tolist()
    [False, True]
    """

    name: ClassVar[str] = "atg-soft"
    summary: ClassVar[str] = (
        "as atg-dual at a fixed price of suppression; no released flow is coarser than that"
    )
    source: ClassVar[str] = "ATG paper, sections 3.3 and 3.6, appendix E"

    multiplier: float | None = option(
        None, help="Tiles that a suppressed trip counts as.", unset="a tenth of the map", metavar="TILES"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.multiplier is not None and not 0 < self.multiplier < math.inf:
            raise InputError(f"the multiplier is a number of tiles above 0; got {self.multiplier:g}")

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the origin cut and the destination maps at the multiplier."""
        price = self.multiplier or MAP_SHARE * max(matrix.origins.n_tiles, matrix.destinations.n_tiles)

        def answer(maps: DestinationMaps) -> PricedPartition | None:
            return maps.search.offer(price) if maps.can_keep_limit else None

        step = OriginStep(matrix, promise, self.suppression_limit, answer)
        attempt = step.settle(self.v_target, progress)
        if not attempt.keeps_limit:
            raise ImpossibleRequestError(self._refusal(attempt))
        return attempt.maps.solution(attempt.offer.plan)

    def _refusal(self, attempt: Attempt) -> str:
        """Say which limit or multiplier would do, in numbers rounded so that they tell little."""
        maps, offer = attempt.maps, attempt.offer
        percent = math.ceil(100 * offer.hidden / maps.products.total)
        ways = [f"a limit of {percent} %"] if percent < 100 else []
        ways.append(f"a multiplier of {_enough(maps):g}")
        return (
            f"not possible: a multiplier of {offer.price:g} tiles withholds more than the limit of "
            f"{self.suppression_limit:.0%}. With a v_target of {attempt.v_target:g}, {' or '.join(ways)} "
            "would do; atg-dual finds its own multiplier."
        )


def _enough(maps: DestinationMaps) -> float:
    """Return a multiplier of two digits that keeps the limit, little above the smallest one."""
    maps.search.run(maps.highest)
    price = maps.search.price
    while True:
        digit = 10.0 ** (math.floor(math.log10(price)) - 1)
        price = (math.floor(price / digit) + 1) * digit
        if maps.search.offer(price).hidden <= maps.search.budget:
            return price
