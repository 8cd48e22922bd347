"""InfTDA: noise height by height from the study area down, in numbers that add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.noise.noisy import Contributions, Domains, Drawn, Hidden, NoisyMethod, most_of
from tripcloak.flows.methods.noise.parts import Parts, zones_of_flows
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.noise import NoiseSource, gaussian_scale, in_chunks, largest_rho
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.hierarchy import steps_down
from tripcloak.hierarchy.tiling import Keys
from tripcloak.promises import DifferentialPrivacy


class ZonePairs(NamedTuple):
    """Pairs of zones with their noisy trips, 1 or more, and the pair of every flow (-1: in none of them)."""

    origin: Keys
    destination: Keys
    trips: Ints
    of_flow: Ints


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
class InfTDA(NoisyMethod):
    """Noise top down over the pairs of zones of a hierarchy, after Boninsegna and Silvestri (PoPETs 2025).

    The number of all trips gets discrete Gaussian noise. Then, from the study area down, every pair of
    zones that still holds trips is split into all pairs of its parts, whether they occur or not; each
    part gets noise, and then the closest whole numbers of 0 or more that add up to their parent's number
    are taken (closest: the largest change is smallest). Parts with 0 trips are not followed further, so
    that even a fine grid can be walked.

    Parameters
    ----------
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
        steps, _, share = self._shares(domains)
        most = most_of(counted)
        scale = gaussian_scale(most, share)
        add = partial(noise.gaussian, scale=scale, sensitivity=most, rho=share)
        total = np.maximum(add(counted.trips.sum(keepdims=True)), 0)
        pairs = whole(domains, total, matrix.n_flows)
        for height in steps[1:]:
            flows = zones_of_flows(matrix, domains, height)
            pairs = split(pairs, domains, height, flows, counted.trips, lambda x: in_chunks(add, x, progress))
        return Drawn(*pairs, promise=self.stated(matrix, domains, counted))

    def stated(
        self, matrix: ODMatrix, domains: Domains, hidden: Hidden | Contributions
    ) -> DifferentialPrivacy:
        """Return what is promised of a release of such a matrix."""
        steps, rho, share = self._shares(domains)
        return self.promised(
            hidden,
            self.delta,
            "discrete Gaussian noise on all pairs of zones, from the study area down, made to add up",
            noise_scale=gaussian_scale(most_of(hidden), share),
            rho=rho,
            heights=len(steps),
            study_area=domains[0].study_area,
        )

    def _shares(self, domains: Domains) -> tuple[list[int], float, float]:
        """Return the heights that get noise, rho for all of them, and rho for each."""
        assert self.epsilon is not None
        steps = steps_down(domains, self.height or 0)
        rho = largest_rho(self.epsilon, self.delta)
        # Each step looks at every counted trip once, so the budget is shared among the steps.
        return steps, rho, rho / len(steps)
