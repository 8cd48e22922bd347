"""InfTDA: noise height by height from the study area down, in numbers that add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.noise.bounding import Bounded, BoundedMethod, Shares, bounded
from tripcloak.flows.methods.noise.bounding import whole as whole_numbers
from tripcloak.flows.methods.noise.noisy import Contributions, Domains, Drawn, Hidden, most_of
from tripcloak.flows.methods.noise.parts import Parts, zones_of_flows
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.noise import NoiseSource, Purse, gaussian_scale, in_chunks, largest_rho
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.hierarchy import steps_down
from tripcloak.hierarchy.tiling import Keys
from tripcloak.promises import DifferentialPrivacy
from tripcloak.promises.differential_privacy import Detail


class ZonePairs(NamedTuple):
    """Pairs of zones with their noisy trips, 1 or more, and the pair of every flow (-1: in none of them)."""

    origin: Keys
    destination: Keys
    trips: Ints
    of_flow: Ints

    def rescaled(self, total: int) -> ZonePairs:
        """Return the pairs with whole numbers in the same proportions that add up to a total."""
        if not len(self.trips):
            return self
        order = np.lexsort((self.destination, self.origin))
        trips = whole_numbers(self.trips.astype(float), max(total, 0), order)
        kept = np.flatnonzero(trips)
        number = np.full(len(trips) + 1, -1, dtype=np.int32)
        number[kept] = np.arange(len(kept), dtype=np.int32)
        return ZonePairs(self.origin[kept], self.destination[kept], trips[kept], number[self.of_flow])


def whole(domains: Domains, total: Ints, n_flows: int) -> ZonePairs:
    """Return the one pair that holds everything; none if the noisy total is 0 or less."""
    kept = total > 0
    of_flow = np.full(n_flows, 0 if kept.any() else -1, dtype=np.int32)
    return ZonePairs(domains[0].root[kept], domains[1].root[kept], total[kept], of_flow)


def split(
    pairs: ZonePairs,
    domains: Domains,
    height: int,
    flows: tuple[Keys, Keys],
    counted: Ints,
    add: Callable[[Ints], Ints],
) -> ZonePairs:
    """Return the pairs of parts, at most this high, that hold trips once noise is added and sums are kept.

    Parameters
    ----------
    flows
        The zones at most this high that every flow starts and ends in.
    counted
        The trips of every flow.
    add
        Adds noise. It sees all parts of a pair, also those that no flow lies in: which those are must not
        show.
    """
    from tripcloak.flows.methods._kernels.noise import closest_with_sums

    alive = np.flatnonzero(pairs.of_flow >= 0)
    within = pairs.of_flow[alive]
    parts = Parts(domains, pairs.origin, pairs.destination, height)
    sizes, first = parts.sizes, parts.first
    part = parts.holding(within, *(zones[alive] for zones in flows))
    exact = np.bincount(part, counted[alive], minlength=first[-1]).astype(np.int64)
    # A pair that is not split keeps its number; its exact one is not looked at again.
    noisy, open_ = np.zeros(first[-1], dtype=np.int64), np.repeat(sizes > 1, sizes)
    noisy[open_] = add(exact[open_])
    trips = closest_with_sums(noisy, first, pairs.trips)
    kept = np.flatnonzero(trips)
    number = np.full(first[-1], -1, dtype=np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    of_flow = pairs.of_flow.copy()
    of_flow[alive] = number[part]
    _, origin, destination = parts.zones(kept)
    return ZonePairs(origin, destination, trips[kept], of_flow)


@dataclass(frozen=True, kw_only=True)
class InfTDA(BoundedMethod):
    """Noise top down over the pairs of zones of a hierarchy, after Boninsegna and Silvestri (PoPETs 2025).

    The number of all trips gets discrete Gaussian noise. Then, from the study area down, every pair of
    zones that still holds trips is split into all pairs of its parts, whether they occur or not; each
    part gets noise, and then the closest whole numbers of 0 or more that add up to their parent's number
    are taken (closest: the largest change is smallest). Parts with 0 trips are not followed further, so
    that even a fine grid can be walked.

    Parameters
    ----------
    bounding
        With ``scale`` every traveller's whole vector of flows is scaled to a Euclidean norm, instead of some
        trips being drawn, and numbers are rescaled to a noisy number of all trips.
    delta
        Above 0: Gaussian noise is never private with certainty.
    height
        0, the tiles, by default.

    Examples
    --------
    >>> from tripcloak.hierarchy import H3Tiling
    >>> tiling = H3Tiling(8)
    >>> tree = tiling.hierarchy(tiling.encode(np.array([48.80, 48.85]), np.array([2.35, 2.35])))
    >>> zeros = np.zeros(5000, dtype=int)
    >>> matrix = ODMatrix.from_trips(tree, tree, zeros, zeros)
    >>> release = InfTDA(epsilon=1).anonymise(matrix)
    >>> abs(int(release.trips.sum()) - 5000) < 200, int(release.trips.max()) > 4000
    (True, True)
    """

    name: ClassVar[str] = "inftda"
    summary: ClassVar[str] = "differential privacy: noise from the top down, in numbers that add up"
    source: ClassVar[str] = "Boninsegna and Silvestri, PoPETs 2025; noise by OpenDP"

    height: int | None = option(
        0,
        help="Height of the released zones, 0 being tiles; never chosen by looking at the data.",
        metavar="HEIGHT",
    )

    def check_request(self) -> None:
        """Raise if there is no epsilon or no delta."""
        super().check_request()
        if self.delta == 0:
            raise InputError(f"{self.name} adds Gaussian noise, which needs a delta above 0; 1e-6 is usual")

    def draw(
        self,
        matrix: ODMatrix,
        counted: Contributions,
        domains: Domains,
        noise: NoiseSource,
        progress: Progress,
    ) -> Drawn:
        """Return noisy numbers of pairs of zones, all of one height."""
        steps, purse = steps_down(domains, self.height or 0), Purse(noise, 2)
        _, share = self._shares(matrix, domains, counted)
        found = self._bounded(matrix, counted, domains, purse)

        def add(number: int, exact: Ints) -> Ints:
            return in_chunks(lambda some: purse.add(some, found.allowed[number], share), exact, progress)

        pairs = whole(domains, np.maximum(add(0, found.counted.sum(keepdims=True)), 0), matrix.n_flows)
        for number, height in enumerate(steps[1:], 1):
            flows = zones_of_flows(matrix, domains, height)
            pairs = split(pairs, domains, height, flows, found.counted, partial(add, number))
        stated = self.stated(matrix, domains, counted)
        if not self.scales_in(matrix):
            return Drawn(*pairs, promise=stated)
        finest = purse.scale(found.allowed[-1], share) / found.parts
        facts = (("noise_scale", finest), ("norms", found.norms))
        promise = replace(stated, details=(*facts, *stated.details))
        return Drawn(*pairs.rescaled(found.total), promise=promise)

    def stated(
        self, matrix: ODMatrix, domains: Domains, hidden: Hidden | Contributions
    ) -> DifferentialPrivacy:
        """Return what is promised of a release of such a matrix; norms are not known before."""
        assert self.epsilon is not None
        steps = steps_down(domains, self.height or 0)
        heights = len(steps)
        shares, share = self._shares(matrix, domains, hidden)
        rho = largest_rho(self.epsilon, self.delta)
        facts: dict[str, Detail] = {"rho": rho, "heights": heights}
        if self.scales_in(matrix):
            draws = [*shares.draws(heights), *[share] * heights]
            facts["norm_heights"] = tuple(steps)
            facts["multipliers"] = tuple(gaussian_scale(1, rho) for rho in draws)
        else:
            facts = {"noise_scale": gaussian_scale(most_of(hidden), share), **facts}
        return self.promised(
            hidden,
            self.delta,
            "discrete Gaussian noise on all pairs of zones, from the study area down, made to add up",
            **facts,
            study_area=domains[0].study_area,
        )

    def _shares(
        self, matrix: ODMatrix, domains: Domains, hidden: Hidden | Contributions
    ) -> tuple[Shares, float]:
        """Return how the zCDP is shared, and that of each height."""
        assert self.epsilon is not None
        steps = steps_down(domains, self.height or 0)
        rho = largest_rho(self.epsilon, self.delta)
        scaling = self.scales_in(matrix)
        shares = Shares.of(rho, len(steps), hidden) if scaling else Shares(0.0, 0.0, rho)
        # Each step looks at all that is counted once, so the budget is shared among the steps.
        return shares, shares.rest / len(steps)

    def _bounded(self, matrix: ODMatrix, counted: Contributions, domains: Domains, purse: Purse) -> Bounded:
        """Return what is counted: the trips of the sample, or parts of all trips."""
        steps = steps_down(domains, self.height or 0)
        if not self.scales_in(matrix):
            return Bounded(counted.trips, [most_of(counted)] * len(steps), 1, 0)
        shares, _ = self._shares(matrix, domains, counted)
        return bounded(matrix, counted, domains, steps, shares, purse)
