"""Noisy: what methods of differential privacy have in common."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tripcloak.algorithms.base import Algorithm, Progress, Solution, silent
from tripcloak.algorithms.noise.contributions import Contributions, bound_contributions
from tripcloak.algorithms.noise.source import NoiseSource, OpenDPNoise, require_opendp
from tripcloak.arrays import Ints
from tripcloak.criteria import AllOf, AveragePeople, Criterion, DifferentialPrivacy, KAnonymity
from tripcloak.errors import ImpossibleRequestError, InputError, InternalError
from tripcloak.hierarchy import Domain, shared_domains
from tripcloak.matrix import ODMatrix
from tripcloak.release import Release, build_noisy_release

Domains = tuple[Domain, Domain]

LARGEST_NOISE = 1_000_000_000
"""Contributions by epsilon, at most: beyond that thresholds and sums are no longer exact."""
SMALLEST_DELTA = 1e-100
"""A chance so small that smaller ones promise nothing more, and are no longer exact."""


class Drawn(NamedTuple):
    """Noisy numbers of pairs of zones, 1 or more each, the pair that each input flow lies in, the promise."""

    origin: Ints
    destination: Ints
    trips: Ints
    group_of_flow: Ints
    privacy: DifferentialPrivacy


@dataclass(frozen=True, kw_only=True)
class Noisy(Algorithm):
    """A method that adds noise to numbers of trips, so that nobody can tell who was in the input.

    It promises differential privacy and no k: the criterion and the suppression limit play no part.
    The noise is drawn anew every time, without a seed: whoever knew the seed could take it off again.

    Parameters
    ----------
    epsilon
        How much one traveller may change the odds of any outcome: by a factor of exp(epsilon) at most.
        There is no default; it is for the publisher to choose.
    delta
        The chance that this fails.
    contributions
        Trips of one traveller that are counted at most.
    height
        How high the released zones are; must not be chosen by looking at the data.
    """

    noisy: ClassVar[bool] = True
    needs_repeats: ClassVar[bool] = True

    epsilon: float | None = None
    delta: float = 1e-6
    contributions: int = 10
    height: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon is not None and not 0 < self.epsilon < math.inf:
            raise InputError(f"epsilon must be a finite number above 0; got {self.epsilon:g}")
        if not 0 <= self.delta < 1:
            raise InputError(f"delta must be a chance from 0 to below 1; got {self.delta:g}")
        if self.contributions < 1:
            raise InputError(f"contributions must be 1 or more; got {self.contributions}")
        if 0 < self.delta < SMALLEST_DELTA:
            raise InputError(f"delta must be 0, or {SMALLEST_DELTA:g} or more; got {self.delta:g}")
        if self.epsilon is not None and self.contributions / self.epsilon > LARGEST_NOISE:
            raise InputError(
                f"epsilon {self.epsilon:g} with contributions {self.contributions:,} asks for noise of more "
                f"than {LARGEST_NOISE:,} trips, in which every number drowns; choose a larger epsilon or "
                "fewer contributions"
            )
        if self.height is not None and self.height < 0:
            raise InputError(f"height must be 0 (tiles) or more; got {self.height}")

    def check_request(self) -> None:
        """Raise if there is no epsilon, or no OpenDP to draw noise with."""
        if self.epsilon is None:
            raise InputError(
                f"{self.name} needs --epsilon, which is yours to choose: the smaller, the better it hides "
                "one traveller and the noisier its numbers; 1 is a usual value"
            )
        require_opendp()

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if the zones there could be are not known, or more than noise is asked for."""
        super().refuse(matrix)
        if self.closeness is not None or not _is_plain(self.criterion):
            raise InputError(
                f"{self.name} promises differential privacy, which knows no l-diversity, t-closeness or "
                "safe segments; leave out --l, --l-places, --t and --segment-joint"
            )
        if shared_domains(matrix.origins, matrix.destinations) is None:
            raise InputError(
                f"{self.name} needs zones that do not depend on the data: use h3:RES (of the whole world), "
                "h3:RES/root=CELL (of one H3 cell), quadtree:DEPTH with --area, or a zones file with "
                "dendrogram or table (h3:RES/root=RES takes the cell that holds the data, and h3:RES/binary "
                "leaves out unions that do not occur)"
            )

    def anonymise(
        self, matrix: ODMatrix, progress: Progress = silent, *, noise: NoiseSource | None = None
    ) -> Release:
        """Return a differentially private release of the matrix, different each time.

        Parameters
        ----------
        noise
            Where noise comes from; OpenDP by default, and nothing else is private.
        """
        self.refuse(matrix)
        started = time.perf_counter()
        domains = shared_domains(matrix.origins, matrix.destinations)
        assert domains is not None
        counted = bound_contributions(matrix, self.contributions)
        drawn = self.draw(matrix, counted, domains, noise or OpenDPNoise(), progress)
        if len(drawn.trips) == 0:
            raise ImpossibleRequestError(
                "not possible: with so much noise no number is large enough to be published. Choose a larger "
                "epsilon, fewer contributions or coarser zones (--height), or bring more data."
            )
        origins, origin = domains[0].released(drawn.origin, matrix.origins)
        destinations, destination = domains[1].released(drawn.destination, matrix.destinations)
        return build_noisy_release(
            matrix,
            method=self.name,
            parameters=self.parameters(matrix),
            privacy=drawn.privacy,
            zones=(origins, destinations),
            group_of_flow=drawn.group_of_flow,
            group_origin=origin,
            group_destination=destination,
            trips=drawn.trips,
            homogeneous=True,
            seconds=time.perf_counter() - started,
        )

    @abstractmethod
    def draw(
        self,
        matrix: ODMatrix,
        counted: Contributions,
        domains: Domains,
        noise: NoiseSource,
        progress: Progress,
    ) -> Drawn:
        """Return noisy numbers of pairs of zones of the domains."""

    def solve(self, matrix: ODMatrix, criterion: Criterion, progress: Progress) -> Solution:
        """Raise: noise goes to pairs of zones, most of which no input flow lies in."""
        raise InternalError(f"{self.name} does not send flows to zones; nothing was released")

    def promise(
        self, counted: Contributions, delta: float, mechanism: str, **details: float | str
    ) -> DifferentialPrivacy:
        """Return what is promised."""
        assert self.epsilon is not None
        return DifferentialPrivacy(
            epsilon=float(self.epsilon),
            delta=delta,
            unit=counted.unit,
            contributions=counted.most,
            mechanism=mechanism,
            details=tuple(details.items()),
        )


def _is_plain(criterion: Criterion) -> bool:
    """Return whether a criterion asks for k alone, which every method is given and noise does not heed."""
    if isinstance(criterion, AllOf):
        return all(_is_plain(part) for part in criterion.criteria)
    return isinstance(criterion, KAnonymity | AveragePeople)
