"""TwinCut: the best pair of cuts it can find, one for all origins and one for all destinations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.branching import Branching
from tripcloak.flows.methods.cut_pairs import CutPair, CutPairSearch, Settled
from tripcloak.flows.methods.decomposition import Decomposition, Rounds
from tripcloak.flows.methods.decomposition_in_time import DecompositionInTime
from tripcloak.flows.methods.losses import ABOUT_TIME_WEIGHT, TileLosses, find_loss, require_weight
from tripcloak.flows.methods.method import Solution
from tripcloak.flows.methods.odkanon import ODkAnon
from tripcloak.flows.methods.productcut import (
    cyclic_orders,
    highest_price,
    nested,
    partition_search,
    whole_zones,
    with_slots,
)
from tripcloak.flows.methods.products import DESTINATION, ORIGIN, TIME, Axis, SafeProducts
from tripcloak.flows.methods.scouting import Cuts, Scout, pays
from tripcloak.flows.methods.tree_method import (
    Clock,
    PricedPartition,
    PriceSearch,
    TreeMethod,
    beyond_limit,
    certificate,
)
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.threads import blocks
from tripcloak.promises import Promise

POOL = 3
"""Pairs of cuts that start the turns at the next price."""

EFFORT, FEWEST, MOST = 100_000_000, 60, 150
"""Products that the proof looks at where no time is given for it, in rounds from the fewest to the most: that
takes less time than the search itself where products are many, and up to twice that where they are few."""

SCOUTED, FEW_SCOUTED = 35_000_000, 50
"""The same where some zones alone were looked at: the proof leans on the best pair of cuts then, so that
fewer rounds do."""

TRIES, FRINGE = 3, 0.01
"""Zones are looked at anew, so many times in all, while the best pair of cuts releases more than this share
in zones below which nothing was looked at."""

ENOUGH = 10.0
"""All zones are looked at after all where those of a scout are not proven to be so many percent near."""

NEAR = 1.005
"""How near the best possible is near enough for the proof to end, where no time is given for it."""

SMALL, FEW = 10_000, 250
"""The proof goes on beyond that where rounds look at so few products; and, where so few zones are open as
well, by branching."""

BRANCHING = 30_000_000
"""Products that branching looks at, where no time is given for the proof."""

STALE = 60, 1.0002
"""Where a time is given, branching begins as soon as so many rounds prove no more than by this factor."""

FRESH = 30
"""After so many rounds the cuts of the proof are tried as a new start."""

IN_TIME = "dual decomposition into three nested cuts"
"""The relaxation where time is an axis."""

ALONE = "nested cuts, each problem by itself"
"""The relaxation where no time is given for the proof."""

ROUGHLY = 1e-3
"""How closely the prices of the nested problems are found."""

AT_ONCE = 1 << 20
"""Flows whose losses are summed at a time."""

DEARER = (1.0, 1.1, 1.25, 1.5)
"""By how much the price of the proof is raised until a new start keeps the limit."""


@dataclass(frozen=True, kw_only=True)
class TwinCut(TreeMethod):
    """Homogeneous zones: one origin cut, one destination cut, no overlaps.

    With one cut fixed the best other cut is an exact tree programme, because the cost adds up over
    zones. So the two take turns until nothing improves, from several starts (OIGH's and ODkAnon's
    answers, the nested optima), at the price of suppression that just keeps the limit; then single
    zones are split while the limit allows. It is never worse than ODkAnon or OIGH under the same
    limit, nor under a limit of what they suppress. Its certificate is by dual decomposition: two nested
    problems share the savings until they agree, and where they do not quite, their cuts are new starts.
    Where flows and zones are many, only zones about those that a scout finds are looked at, if little is lost
    by that; the certificate holds for all pairs of cuts all the same, theirs among them, and takes the
    place of the comparison.

    Where time is an axis, it has a cut of its own, shared by all pairs of zones, and the three take turns.

    Parameters
    ----------
    time_weight
        Loss of one slot of released time, in the unit of ``loss``: tiles, km2 or metres.
    certify
        Seconds for the proof; what is proven then depends on the machine. Without it the effort is a
        fixed number of rounds; 0 leaves the bound of the two nested problems by themselves.
    """

    name: ClassVar[str] = "twincut"
    summary: ClassVar[str] = "the best origin cut and destination cut, found in turns; zones never overlap"
    source: ClassVar[str] = "ours"
    relaxation: ClassVar[str | None] = "dual decomposition into two nested cuts"

    handles_time: ClassVar[bool] = True

    time_weight: float = option(1.0, **ABOUT_TIME_WEIGHT)
    certify: float | None = option(
        None,
        help="Prove for this long, such as 30s, how close to the best possible it is.",
        unset="a fixed effort",
        metavar="TIME",
        reads="duration",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_weight(self.time_weight)
        if self.certify is not None and not 0 <= self.certify < np.inf:
            raise InputError(f"the time for the proof must be 0 seconds or more; got {self.certify:g}")

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the best pair of cuts found, with the bound of the decomposition."""
        clock = Clock(self.time_limit)
        judged = self.keeps_safe or promise.by_product or self.time_limit is not None
        timed, about = matrix.times is not None, None
        if not judged and not timed and pays(matrix, find_loss(self.loss)):
            about = self._solve_about(matrix, promise, progress, clock)
            if about is not None and (self.certify == 0 or about.is_near):
                return about.solution
        # First, so that what they take of every flow is gone before the products are there.
        rivals = [] if timed else _rivals(matrix, promise, self.suppression_limit)
        products = self.find_products(matrix, promise, progress, clock)
        budget = products.budget(self.suppression_limit)
        pairs = CutPairSearch(products, budget, keeps_safe=self.keeps_safe)
        bound, price, starts = self._relaxations(pairs)
        uniform = pairs.best_uniform()
        starts += [*([] if uniform is None else [uniform]), *(_pair_of(pairs, rival) for rival in rivals)]
        possible = bool(pairs.free.all())
        best, price = _search(pairs, starts, price, clock, progress, possible=possible)
        settled = _settled(pairs, best)
        pairs.forget()
        if bound < settled.mean:
            settled, proven = self._prove(pairs, settled, price, clock, progress)
            bound = max(bound, proven)
        solution, mean = _solution(matrix, pairs, settled), settled.mean
        # They withhold single flows of a group, safe or not.
        for rival in () if self.keeps_safe else rivals:
            if (reached := self._mean(matrix, products, rival)) < mean:
                solution, mean = rival.solution(matrix), reached
        if about is not None:
            bound = max(bound, about.bound)
            solution, mean = (about.solution, about.mean) if about.mean < mean else (solution, mean)
        proven_over = self.proven_over(self.parameters(), timed=timed)
        return solution._replace(bound=certificate(products, mean, bound, proven_over))

    @classmethod
    def proven_over(cls, told: Mapping[str, Any], *, timed: bool) -> str | None:
        """Return what its bounds hold over."""
        if told["certify"] == 0:
            return ALONE
        return IN_TIME if timed else cls.relaxation

    def axes(self, matrix: ODMatrix) -> tuple[Axis, ...]:
        """Return origins, destinations and, where there is one, the axis of time."""
        return with_slots(super().axes(matrix), self.time_weight)

    def _solve_about(
        self, matrix: ODMatrix, promise: Promise, progress: Progress, clock: Clock
    ) -> _About | None:
        """Return the best pair of cuts that a scout leads to, None if it leads to none."""
        try:
            pairs, best, price = self._look_about(matrix, promise, progress, clock)
        except ImpossibleRequestError:
            return None
        settled = _settled(pairs, best)
        pairs.forget()
        settled, bound = self._prove(pairs, settled, price, clock, progress)
        proven_over = self.proven_over(self.parameters(), timed=False)
        proven = certificate(pairs.products, settled.mean, bound, proven_over)
        return _About(_solution(matrix, pairs, settled)._replace(bound=proven), settled.mean, bound)

    def _look_about(
        self, matrix: ODMatrix, promise: Promise, progress: Progress, clock: Clock
    ) -> tuple[CutPairSearch, CutPair, float]:
        """Return the best pair of cuts over zones about those that a scout found, and its price."""

        def search(pairs: CutPairSearch) -> tuple[CutPair, float]:
            _, price, starts = self._relaxations(pairs)
            return _search(pairs, starts, price, clock, progress)

        scout = Scout(matrix, promise, find_loss(self.loss), self.suppression_limit, progress)
        cuts = scout.look(search)
        for _ in range(TRIES):
            pairs = CutPairSearch(products := scout.around(cuts), products.budget(self.suppression_limit))
            best, price = _search(pairs, [pairs.evaluate(*cuts[:2])], cuts.price, clock, progress)
            if pairs.at_ends(best) <= FRINGE * products.total:
                break
            cuts = Cuts(best.origins, best.destinations, price)
        return pairs, best, price

    def _relaxations(self, pairs: CutPairSearch) -> tuple[float, float, list[CutPair]]:
        """Return the best bound of the nested problems, their price, and starts made of their cuts."""
        bound, price, starts = 0.0, 0.0, []
        products = pairs.products
        for order in cyclic_orders(len(products.axes)):
            first, *others = order
            allowed = nested(products, order)
            limit = self.suppression_limit
            search = partition_search(products, allowed, limit, keeps_safe=self.keeps_safe)
            # They are beginnings: the proof goes on from them.
            search.close = ROUGHLY
            offer = search.run(highest_price(products))
            bound, price = max(bound, search.bound), max(price, offer.price)
            # The first axis' cut: products that are whole on all others and are not split on the first.
            whole = whole_zones(products)[others].all(axis=0)
            own = [np.ones(len(tree), dtype=bool) for tree in products.axes]
            own[first][products.zone[first][whole]] = offer.plan[whole] != first
            start = pairs.between([pairs.cut_of(axis, some) for axis, some in enumerate(own)])
            for axis in others:
                start = pairs.reply(axis, start, offer.price)
            starts.append(start)
        return bound, price, starts

    def _prove(
        self, pairs: CutPairSearch, settled: Settled, price: float, clock: Clock, progress: Progress
    ) -> tuple[Settled, float]:
        """Return the best pair of cuts after new starts from the proof, and what no pair goes below."""
        if not pairs.products.complete:
            return settled, 0.0
        effort = Clock(self.certify)
        if effort.is_up():
            return settled, 0.0
        # Beyond the first nothing over the limit is worth a look; below the second nothing new is proven.
        price = max(min(price, settled.mean * pairs.products.total), settled.mean)
        scouted = pairs.products.highest < np.inf

        def is_up() -> bool:
            return clock.is_up() or effort.is_up()

        if settled.pair.times is not None:
            three = DecompositionInTime(pairs.products, pairs.budget, price, keeps_safe=self.keeps_safe)
            settled, _ = self._agree(pairs, three, settled, is_up, progress)
            return settled, three.bound
        proof = Decomposition(
            pairs.products, pairs.budget, price, keeps_safe=self.keeps_safe, narrowing=not scouted
        )
        if scouted:
            proof.lean_on(settled.pair.origins, settled.pair.destinations)
        settled, few = self._agree(pairs, proof, settled, is_up, progress)
        # Where some zones were not looked at, what is left open is more than one pair of cuts.
        if proof.bound >= settled.mean or not few or scouted:
            return settled, proof.bound
        branching = Branching(pairs, settled)

        def stop(looked: int) -> bool:
            progress("branching", looked, None)
            return clock.is_up() or effort.is_up() or (self.certify is None and looked > BRANCHING)

        bound = branching.run(proof, stop)
        return branching.best, bound

    def _agree(
        self,
        pairs: CutPairSearch,
        proof: Rounds,
        settled: Settled,
        is_up: Callable[[], bool],
        progress: Progress,
    ) -> tuple[Settled, bool]:
        """Go through the rounds; return the best pair of cuts then, and whether the rest may be branched."""
        effort, fewest = (SCOUTED, FEW_SCOUTED) if pairs.products.highest < np.inf else (EFFORT, FEWEST)
        rounds = int(np.clip(effort // proof.size, fewest, MOST)) if self.certify is None else None
        before = 0.0
        for number in count(1):
            if is_up() or proof.settled or (rounds is not None and number > rounds):
                break
            if rounds is not None and proof.size > SMALL and settled.mean <= proof.bound * NEAR:
                break
            proof.round(settled.mean)
            progress("proving", number, rounds)
            if number % FRESH == 0:
                settled = min(settled, _fresh(pairs, proof, settled), key=_by_mean)
            if rounds is None and number % STALE[0] == 0:
                if proof.bound < before * STALE[1]:
                    return settled, True
                before = proof.bound
        few = proof.n_open <= FEW and proof.size <= SMALL
        return settled, few or (rounds is None and proof.settled)

    def _mean(self, matrix: ODMatrix, products: SafeProducts, rival: _Rival) -> float:
        """Return the mean loss of a solution, flow by flow: it may withhold some of a group's."""
        zones = rival.origins, rival.destinations
        losses = [TileLosses(find_loss(self.loss), tree) for tree, _ in matrix.axes]
        lost = released = 0.0
        for some in blocks(matrix.n_flows, AT_ONCE):
            kept = np.flatnonzero(~rival.suppressed[some]) + some.start
            volume = products.flow_volume[kept].astype(np.float64, copy=False)
            ends = zip(losses, matrix.axes, zones, strict=True)
            loss = sum(of_tile.of(tile[kept], zone[tile[kept]]) for of_tile, (_, tile), zone in ends)
            lost, released = lost + float(loss @ volume), released + float(volume.sum())
        return lost / released


class _ByVolume(ODkAnon):
    """ODkAnon with no budget of rows: given what ODkAnon suppressed as its limit, it does the same."""

    def row_budget(self, matrix: ODMatrix) -> int:
        """Return the number of all flows."""
        return matrix.n_flows


class _About(NamedTuple):
    """What a scout led to: a solution, its mean loss, and what no pair of cuts goes below."""

    solution: Solution
    mean: float
    bound: float

    @property
    def is_near(self) -> bool:
        """Return whether it is proven to be near the best possible."""
        proven = self.solution.bound
        return proven is not None and proven.gap <= ENOUGH


class _Rival(NamedTuple):
    """One cut per axis, as the zone of every tile (-1 where no flow has the tile), and flows withheld.

    Zones of flows would take nine times the memory, beside all products.
    """

    origins: Ints
    destinations: Ints
    suppressed: Bools

    @classmethod
    def of(cls, matrix: ODMatrix, solution: Solution) -> _Rival:
        """Return a solution whose tiles have one zone each."""
        cuts = []
        for (tree, tile), zone in zip(matrix.axes, solution[:2], strict=True):
            cuts.append(np.full(tree.n_tiles, -1, np.int32))
            cuts[-1][tile] = zone
        return cls(cuts[ORIGIN], cuts[DESTINATION], solution.suppressed)

    def solution(self, matrix: ODMatrix) -> Solution:
        """Return the zones of every flow again."""
        origin, destination = self.origins[matrix.flows.origin], self.destinations[matrix.flows.destination]
        return Solution(origin, destination, self.suppressed, homogeneous=True)


def _rivals(matrix: ODMatrix, promise: Promise, limit: float) -> list[_Rival]:
    """Return ODkAnon's answers at this limit, and at any limit under which it suppresses as much.

    It knows nothing of what is decided of every group by itself; where that is asked for, it is no rival.
    """
    if promise.by_product:
        return []
    solution = ODkAnon(promise=promise, suppression_limit=limit).solve(matrix, promise, silent)
    found = [_Rival.of(matrix, solution)]
    del solution
    # A share is rounded: a whisker more, so that the volume it stands for is not lost.
    rival = _ByVolume(promise=promise, suppression_limit=min(limit * (1 + 5e-13), 1 - 2.0**-53))
    suppressed = rival.withheld(matrix, promise)
    if (suppressed != found[0].suppressed).any():
        found.append(_Rival.of(matrix, rival.merge(matrix, promise, suppressed, silent)))
    return found


def _search(
    pairs: CutPairSearch,
    starts: list[CutPair],
    price: float,
    clock: Clock,
    progress: Progress,
    *,
    possible: bool = False,
) -> tuple[CutPair, float]:
    """Return the best pair within the budget over all prices that the search visits, and the critical one.

    Parameters
    ----------
    possible
        One of the starts is within the budget.
    """
    pool = list(starts)
    within = [pair for pair in starts if pair.hidden <= pairs.budget]
    rounds = 0

    def solve(at: float) -> PricedPartition:
        nonlocal rounds
        # The best within the budget so far always takes part: at the highest price it stays within.
        trial = [*pool, *([min(within, key=pairs.mean)] if within else [])]
        found = sorted((pairs.descend(pair, at) for pair in trial), key=lambda pair: pair.cost(at))
        pool[:] = _different(found)[:POOL]
        within.extend(pair for pair in found if pair.hidden <= pairs.budget)
        rounds += 1
        progress("turning cuts", rounds, None)
        return PricedPartition(at, found[0].loss, found[0].hidden, None)

    if not clock.is_up():
        solve(price)
        search = PriceSearch(solve, pairs.budget, pairs.products.total, possible=possible)
        search.run(highest_price(pairs.products), clock.is_up)
        price = search.price or price
    if not within:
        raise beyond_limit(1.0)
    return min(within, key=lambda pair: (pairs.mean(pair), pair.hidden)), price


def _different(pairs: list[CutPair]) -> list[CutPair]:
    """Return the pairs without those that cost and hide the same as an earlier one."""
    seen = {(pair.loss, pair.hidden): pair for pair in reversed(pairs)}
    return list(reversed(seen.values()))


def _pair_of(pairs: CutPairSearch, rival: _Rival) -> CutPair:
    """Return a rival's zones as cuts; tiles it never mentions stand alone."""
    cuts = []
    for axis, zone in ((ORIGIN, rival.origins), (DESTINATION, rival.destinations)):
        own = np.zeros(len(pairs.products.axes[axis]), dtype=bool)
        own[zone[zone >= 0]] = True
        cuts.append(pairs.cut_of(axis, own))
    return pairs.evaluate(cuts[0], cuts[1])


def _settled(pairs: CutPairSearch, pair: CutPair) -> Settled:
    """Return a pair within the budget as it is or with zones split, whichever is better."""
    # What splits use of the limit is not there to be spent, so they may turn out not to pay.
    return min((pairs.settle(one) for one in (pair, pairs.split_while_allowed(pair))), key=_by_mean)


def _fresh(pairs: CutPairSearch, proof: Rounds, known: Settled) -> Settled:
    """Return where the cuts of the proof lead to; the pair that is known where that breaks the limit."""
    start = pairs.between([pairs.cut_of(axis, proof.cut(axis)) for axis in range(len(known.pair.cuts))])
    for factor in DEARER:
        found = pairs.descend(start, proof.price * factor)
        if found.hidden <= pairs.budget:
            return _settled(pairs, found)
    return known


def _by_mean(settled: Settled) -> float:
    return settled.mean


def _solution(matrix: ODMatrix, pairs: CutPairSearch, settled: Settled) -> Solution:
    """Return a pair of cuts as a solution."""
    pair, released, _ = settled
    ends = zip(matrix.axes, pair.cuts, strict=True)
    zones = [tree.highest(cut)[tile] for (tree, tile), cut in ends]
    cell = pairs.products.find(zones)
    time = zones[TIME] if len(zones) > TIME else None
    hidden = (cell < 0) | ~released[cell]
    return Solution(zones[ORIGIN], zones[DESTINATION], hidden, homogeneous=True, time_zone=time)
