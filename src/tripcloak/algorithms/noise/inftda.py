"""InfTDA: noise height by height from the study area down, in numbers that add up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from tripcloak.algorithms.base import Progress
from tripcloak.algorithms.noise.contributions import Contributions
from tripcloak.algorithms.noise.noisy import Domains, Drawn, Noisy
from tripcloak.algorithms.noise.source import NoiseSource, gaussian_scale, in_chunks
from tripcloak.algorithms.noise.topdown import split, whole, zones_of_flows
from tripcloak.algorithms.noise.zcdp import largest_rho
from tripcloak.errors import InputError
from tripcloak.hierarchy import steps_down
from tripcloak.matrix import ODMatrix


@dataclass(frozen=True, kw_only=True)
class InfTDA(Noisy):
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

    height: int | None = 0

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
        assert self.epsilon is not None
        steps = steps_down(domains, self.height or 0)
        rho = largest_rho(self.epsilon, self.delta)
        # Each step looks at every counted trip once, so the budget is shared among the steps.
        share = rho / len(steps)
        scale = gaussian_scale(counted.most, share)
        add = partial(noise.gaussian, scale=scale, sensitivity=counted.most, rho=share)
        total = np.maximum(add(counted.trips.sum(keepdims=True)), 0)
        pairs = whole(domains, total, matrix.n_flows)
        for height in steps[1:]:
            flows = zones_of_flows(matrix, domains, height)
            pairs = split(pairs, domains, height, flows, counted.trips, lambda x: in_chunks(add, x, progress))
        return Drawn(
            *pairs,
            privacy=self.promise(
                counted,
                self.delta,
                "discrete Gaussian noise on all pairs of zones, from the study area down, made to add up",
                noise_scale=scale,
                rho=rho,
                heights=len(steps),
                study_area=domains[0].study_area,
            ),
        )
