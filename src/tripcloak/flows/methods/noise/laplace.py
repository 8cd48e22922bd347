"""Laplace: discrete Laplace noise on the trips between zones of one height."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.noise.bounding import OF_TOTAL, Bounded, BoundedMethod, Shares, bounded
from tripcloak.flows.methods.noise.noisy import Contributions, Domains, Drawn, Hidden, most_of
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.noise import NoiseSource, Purse, in_chunks, laplace_scale
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import shared_domains
from tripcloak.promises import DifferentialPrivacy
from tripcloak.promises.differential_privacy import Detail

EVERY_PAIR = 1_000_000
"""Pairs of zones that may all get noise, whether they occur or not: some seconds of OpenDP's time."""

GRID_HEIGHT = 3
"""Height of the released zones of a grid by default; tiles of a grid are far too fine for noise."""


@dataclass(frozen=True, kw_only=True)
class Laplace(BoundedMethod):
    """Discrete Laplace noise on the trips between all zones of one height.

    Noise on the pairs that occur would, if all of those were published, tell which pairs occur. Two
    ways out. Where the zones are those of a file and there are few, every pair gets noise, and the
    release is epsilon-private (delta is 0). Otherwise only pairs that occur get noise, and only noisy
    numbers from a threshold on are published: one so high that a pair which occurs because of one
    traveller alone shows up with a chance of delta at most.

    Parameters
    ----------
    bounding
        With ``scale`` all trips of a traveller are counted with a part of each, instead of some being drawn,
        and numbers are rescaled to a noisy number of all trips.
    delta
        The chance that a pair shows up because of one traveller; 0 gives noise to every pair of the study
        area, whatever the hierarchy.
    height
        0 for the zones of a file and 3 for grids by default.

    Examples
    --------
    >>> from tripcloak.hierarchy import H3Tiling
    >>> tiling = H3Tiling(8)
    >>> tree = tiling.hierarchy(tiling.encode(np.array([48.85]), np.array([2.35])))
    >>> zeros = np.zeros(5000, dtype=int)
    >>> matrix = ODMatrix.from_trips(tree, tree, zeros, zeros)
    >>> release = Laplace(epsilon=1, height=0).anonymise(matrix)
    >>> release.promise.sentence(), abs(int(release.trips[0]) - 5000) < 50
    ('differential privacy of every trip (not person) (epsilon 1, delta 1e-06)', True)
    """

    name: ClassVar[str] = "laplace"
    summary: ClassVar[str] = "differential privacy: noise on trips between zones of one height"
    source: ClassVar[str] = "Dwork et al. 2006; threshold as in Korolova et al. 2009; noise by OpenDP"

    def parameters(self, matrix: ODMatrix | None = None) -> dict[str, Any]:
        """Return the method's own parameters, with the height that was used."""
        settled = {} if matrix is None else {"height": self._height(matrix)}
        return {**super().parameters(matrix), **settled}

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if every pair of zones is to get noise, and there are too many."""
        super().refuse(matrix)
        domains = shared_domains(matrix.origins, matrix.destinations)
        if self.delta == 0 and domains is not None and self._pairs(matrix, domains) > EVERY_PAIR:
            raise InputError(
                f"{self.name} without a delta gives noise to every pair of zones of the study area, and at "
                f"height {self._height(matrix)} there are {self._pairs(matrix, domains):,}, more than "
                f"{EVERY_PAIR:,}; choose coarser zones ({spelt('height')}), or a delta above 0"
            )

    def draw(
        self,
        matrix: ODMatrix,
        counted: Contributions,
        domains: Domains,
        noise: NoiseSource,
        progress: Progress,
    ) -> Drawn:
        """Return noisy numbers of pairs of zones at one height."""
        every, purse = self._every(matrix, domains), Purse(noise, 1)
        shares = self._shares(matrix, counted)
        found = self._bounded(matrix, counted, domains, purse)
        numbers = _numbers(matrix, found.counted, domains, self._height(matrix), every=every)
        (most,) = found.allowed
        scale, least = self._noise(most, shares.rest, every=every)
        noisy = in_chunks(lambda some: purse.add(some, most, shares.rest), numbers.exact, progress)
        trips, stated, fewest = noisy, self.stated(matrix, domains, counted), least
        if self.scales_in(matrix):
            # What a part of a trip stands for follows from two noisy sums, of all trips and of what counts;
            # travellers were made shorter, so it never is less than a part.
            parts = int(purse.add(found.counted.sum(keepdims=True), most, shares.total)[0])
            trips = np.rint(noisy * max(found.total / max(parts, 1), 1 / found.parts)).astype(np.int64)
            fewest = 1 if every else math.ceil(least / found.parts)
            facts: dict[str, Detail] = {"noise_scale": scale / found.parts, "norms": found.norms}
            facts |= {} if every else {"threshold": least / found.parts}
            stated = replace(stated, details=(*facts.items(), *stated.details))
        shown = np.flatnonzero((noisy >= least) & (trips >= fewest))
        number = np.full(len(noisy) + 1, -1, dtype=np.int32)
        number[shown] = np.arange(len(shown), dtype=np.int32)
        return Drawn(
            origin=numbers.origin[shown],
            destination=numbers.destination[shown],
            trips=trips[shown],
            group_of_flow=number[numbers.pair_of_flow],
            promise=stated,
        )

    def stated(
        self, matrix: ODMatrix, domains: Domains, hidden: Hidden | Contributions
    ) -> DifferentialPrivacy:
        """Return what is promised of a release of such a matrix; norms are not known before."""
        every = self._every(matrix, domains)
        shares = self._shares(matrix, hidden)
        which = "every pair of zones" if every else "pairs of zones that occur"
        facts: dict[str, Detail]
        if self.scales_in(matrix):
            draws = [*shares.draws(1), shares.total, shares.rest]
            facts = {"multipliers": tuple(laplace_scale(1, epsilon) for epsilon in draws)}
        else:
            scale, least = self._noise(most_of(hidden), shares.rest, every=every)
            facts = {"noise_scale": scale, "threshold": least}
        return self.promised(
            hidden,
            0.0 if every else self.delta,
            f"discrete Laplace noise on {which}",
            **facts,
            study_area=domains[0].study_area,
        )

    def _shares(self, matrix: ODMatrix, hidden: Hidden | Contributions) -> Shares:
        """Return how epsilon is shared; two sums are drawn where travellers are scaled."""
        assert self.epsilon is not None
        if not self.scales_in(matrix):
            return Shares(0.0, 0.0, self.epsilon)
        shares = Shares.of(self.epsilon, 1, hidden)
        return shares._replace(rest=shares.rest - OF_TOTAL * self.epsilon)

    def _bounded(self, matrix: ODMatrix, counted: Contributions, domains: Domains, purse: Purse) -> Bounded:
        """Return what is counted: the trips of the sample, or parts of all trips."""
        if not self.scales_in(matrix):
            return Bounded(counted.trips, [most_of(counted)], 1, 0)
        height = self._height(matrix)
        return bounded(matrix, counted, domains, [height], self._shares(matrix, counted), purse)

    def _every(self, matrix: ODMatrix, domains: Domains) -> bool:
        """Return whether every pair of zones gets noise."""
        return self.delta == 0 or (_complete(matrix) and self._pairs(matrix, domains) <= EVERY_PAIR)

    def _noise(self, most: int, epsilon: float, *, every: bool) -> tuple[float, int]:
        """Return the scale of the noise, and the least noisy number that is published."""
        scale = laplace_scale(most, epsilon)
        return scale, 1 if every else threshold(scale, most, self.delta)

    def _height(self, matrix: ODMatrix) -> int:
        if self.height is not None:
            return self.height
        return 0 if _complete(matrix) else GRID_HEIGHT

    def _pairs(self, matrix: ODMatrix, domains: Domains) -> int:
        return math.prod(domain.size(self._height(matrix)) for domain in domains)


def threshold(scale: float, most: int, delta: float) -> int:
    """Return the least whole number from which noisy numbers may be published.

    A pair that occurs because of one traveller alone holds 1 to ``most`` of their trips. The chance that
    any of theirs is published, however they spread their trips, must be ``delta`` at most; see
    :func:`chance_to_show`.

    Examples
    --------
    >>> threshold(1.0, 1, 1e-6), threshold(10.0, 10, 1e-6)
    (15, 156)
    """
    # From the formula, and up if rounding made it one too low.
    least = most + 1
    if chance_to_show(least, scale, most) > delta:
        least += max(0, math.floor(scale * math.log(chance_to_show(least, scale, most) / delta)) - 1)
    while chance_to_show(least, scale, most) > delta * (1 - 1e-9):
        least += 1
    return least


def chance_to_show(least: int, scale: float, most: int) -> float:
    """Return the chance that noise lifts any pair of one traveller's own to ``least``, at worst.

    Discrete Laplace noise is z or more with a chance of q**z / (1 + q), q = exp(-1 / scale), for z of 1
    or more. The logarithm of the chance that none of several pairs shows is a sum over the pairs of a
    concave function of the trips in them, so the worst spread is an extreme one: all trips in one pair,
    or each in a pair of its own.
    """
    q = math.exp(-1 / scale)
    together = q ** (least - most) / (1 + q)
    single = q ** (least - 1) / (1 + q)
    return max(together, -math.expm1(most * math.log1p(-single)))


class _Numbers(NamedTuple):
    """The pairs of zones that get noise, with their exact numbers, and the pair of every flow (-1: none)."""

    origin: Ints
    destination: Ints
    exact: Ints
    pair_of_flow: Ints


def _complete(matrix: ODMatrix) -> bool:
    return matrix.origins.complete and matrix.destinations.complete


def _numbers(matrix: ODMatrix, counted: Ints, domains: Domains, height: int, *, every: bool) -> _Numbers:
    """Return the exact numbers of pairs of zones: of every pair there is, or of those that occur."""
    zones, codes = [], []
    for domain, (tree, tile) in zip(domains, matrix.axes, strict=True):
        of_tile = domain.lift(tree, height)
        known = np.unique(domain.split(domain.root, height)[1] if every else of_tile)
        zones.append(known)
        codes.append(np.searchsorted(known, of_tile)[tile])
    pair = codes[0] * len(zones[1]) + codes[1]
    if every:
        held = np.arange(len(zones[0]) * len(zones[1]))
        of_flow = pair
    else:
        # Only what is counted occurs: a pair that is there because of trips left out would tell of those.
        held = np.unique(pair[counted > 0])
        at = np.minimum(np.searchsorted(held, pair), max(len(held) - 1, 0))
        of_flow = np.where(held[at] == pair, at, -1) if len(held) else np.full(len(pair), -1)
    present = of_flow >= 0
    exact = np.bincount(of_flow[present], counted[present], minlength=len(held)).astype(np.int64)
    return _Numbers(zones[0][held // len(zones[1])], zones[1][held % len(zones[1])], exact, of_flow)
