"""Peers: differentially private synthesisers of others, as rows of a comparison and for nothing else.

AIM, MST and the adaptive grid (second in NIST's temporal map challenge) are mechanisms of mbi. Their noise
comes from numpy and is not fit to publish with, so none of them can make a release here.
"""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar
from warnings import catch_warnings, simplefilter

import numpy as np

from tripcloak.flows.methods.noise.noisy import Contributions, Domains, Drawn, Hidden, NoisyMethod
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError, MissingExtraError
from tripcloak.ground.noise import NoiseSource
from tripcloak.ground.progress import Progress
from tripcloak.ground.sparing import loading_all
from tripcloak.ground.spelling import spelt
from tripcloak.promises import DifferentialPrivacy

MBI_HOME = "MBI_HOME"
"""The variable that names a checkout of mbi: its package does not hold the mechanisms."""
GET_THEM = (
    f"pip install 'tripcloak[peers-dp]', and let {MBI_HOME} name a checkout of the repository ryan112358/mbi"
)
MOST_ZONES = 400
"""Zones of an axis at most: these mechanisms hold every pair of zones, and go through all of them often."""
ENDS = ("origin", "destination")


def installed() -> bool:
    """Return whether a checkout of mbi is there, and what it needs."""
    home = os.environ.get(MBI_HOME)
    return home is not None and (Path(home) / "mechanisms").is_dir() and find_spec("jax") is not None


@dataclass(frozen=True, kw_only=True)
class Synthesiser(NoisyMethod):
    """A mechanism of mbi that makes synthetic trips between all zones of one height.

    Zones are the lowest of which the study area has few enough. Mechanisms hide one record; where a traveller
    may have several, each gets so much less of the budget that all of them together are hidden.
    """

    file: ClassVar[str]
    most_zones: ClassVar[int] = MOST_ZONES

    def check_request(self) -> None:
        """Raise if there is no epsilon or delta, or no mbi."""
        if self.epsilon is None or self.delta == 0:
            raise InputError(f"{self.name} needs {spelt('epsilon')}, and a delta above 0")
        if not installed():
            raise MissingExtraError(f"{self.name} is a mechanism of mbi, which is not installed; {GET_THEM}")

    def stated(
        self, matrix: ODMatrix, domains: Domains, hidden: Hidden | Contributions
    ) -> DifferentialPrivacy:
        """Return what is promised, at the height that zones are few enough at."""
        height = self.zone_height(domains)
        return self.promised(hidden, self.delta, f"{self.name} of mbi", zone_height=float(height))

    def zone_height(self, domains: Domains) -> int:
        """Return the lowest height of which there are few enough zones, whatever the data."""
        height = self.height or 0
        while max(domain.size(height) for domain in domains) > self.most_zones:
            height += 1
        return height

    def draw(
        self,
        matrix: ODMatrix,
        counted: Contributions,
        domains: Domains,
        noise: NoiseSource,
        progress: Progress,
    ) -> Drawn:
        """Return how many synthetic trips there are between which zones."""
        height = self.zone_height(domains)
        sides = [
            _Side.of(np.sort(domain.split(domain.root, height)[1]), domain.lift(tree, height)[tile])
            for domain, (tree, tile) in zip(domains, matrix.axes, strict=False)
        ]
        records = [np.repeat(side.zone, counted.trips) for side in sides]
        made = self._synthesised(records, [len(side.keys) for side in sides], counted.most or 1)
        width = len(sides[1].keys)
        pairs, trips = np.unique(made[0] * width + made[1], return_counts=True)
        own = sides[0].zone * width + sides[1].zone
        at = np.minimum(np.searchsorted(pairs, own), max(len(pairs) - 1, 0))
        return Drawn(
            origin=sides[0].keys[pairs // width],
            destination=sides[1].keys[pairs % width],
            trips=trips,
            group_of_flow=np.where(pairs[at] == own, at, -1) if len(pairs) else np.full(len(own), -1),
            promise=self.stated(matrix, domains, counted),
        )

    def _synthesised(self, records: list[Ints], sizes: list[int], most: int) -> list[Ints]:
        with _mechanisms() as load:
            mbi, budget = load("mbi"), load("cdp2adp")
            domain = mbi.Domain(ENDS, sizes)
            data = mbi.Dataset(dict(zip(ENDS, records, strict=True)), domain)
            # Whoever hides one record with a rho hides n of them with n squared times that.
            assert self.epsilon is not None
            rho = budget.cdp_rho(self.epsilon, self.delta) / most**2
            made = self._run(load(self.file), data, budget.cdp_eps(rho, self.delta))
        return [np.asarray(made[end], dtype=np.int64) for end in ENDS]

    def _run(self, mechanism: Any, data: Any, epsilon: float) -> dict[str, Any]:
        try:
            made: dict[str, Any] = self.run(mechanism, data, epsilon).to_dict()
        except Exception as error:
            # Not its message, which may quote data.
            raise ImpossibleRequestError(
                f"{self.name} of mbi stopped with an unexpected {type(error).__name__}; try another checkout"
            ) from error
        return made

    @abstractmethod
    def run(self, mechanism: Any, data: Any, epsilon: float) -> Any:
        """Return the mechanism's synthetic records."""


class _Side:
    """The zones of an axis, and which of them every flow begins or ends in."""

    def __init__(self, keys: Any, zone: Ints) -> None:
        self.keys, self.zone = keys, zone

    @classmethod
    def of(cls, keys: Any, of_flow: Any) -> _Side:
        """Return the side on which flows have these zones."""
        return cls(keys, np.searchsorted(keys, of_flow).astype(np.int64))


@contextmanager
def _mechanisms() -> Iterator[Any]:
    """Give a function that loads modules of mbi's; they print, and want pandas."""
    folders = [str(Path(os.environ[MBI_HOME]) / name) for name in ("mechanisms", "src")]
    before = sys.path[:]
    sys.path[:0] = folders
    try:
        with loading_all(), redirect_stdout(StringIO()), catch_warnings():
            simplefilter("ignore")
            yield import_module
    finally:
        sys.path[:] = before


@dataclass(frozen=True, kw_only=True)
class AIM(Synthesiser):
    """Adaptive and iterative: measures what the model has worst, round after round."""

    name: ClassVar[str] = "aim"
    summary: ClassVar[str] = "a peer: the adaptive and iterative mechanism of mbi"
    source: ClassVar[str] = "McKenna et al. 2022"
    file: ClassVar[str] = "aim"

    def run(self, mechanism: Any, data: Any, epsilon: float) -> Any:
        """Return what AIM makes with its defaults, both ends together being what is asked for."""
        return mechanism.AIM(epsilon, self.delta).run(data, [(ENDS, 1.0)])[1]


@dataclass(frozen=True, kw_only=True)
class MST(Synthesiser):
    """A tree of the pairs of columns that depend on each other most; first in NIST's contest of 2018."""

    name: ClassVar[str] = "mst"
    summary: ClassVar[str] = "a peer: the maximum spanning tree of mbi"
    source: ClassVar[str] = "McKenna et al. 2021"
    file: ClassVar[str] = "mst"
    # It keeps numbers of zones in a byte where only few zones are busy.
    most_zones: ClassVar[int] = 255

    def run(self, mechanism: Any, data: Any, epsilon: float) -> Any:
        """Return what MST makes."""
        return mechanism.MST(data, epsilon, self.delta)


@dataclass(frozen=True, kw_only=True)
class AdaptiveGrid(Synthesiser):
    """Pairs that are likely to be empty are measured together; second in NIST's temporal map challenge."""

    name: ClassVar[str] = "adaptive-grid"
    summary: ClassVar[str] = "a peer: the adaptive grid of mbi"
    source: ClassVar[str] = "team Minutemen 2021"
    file: ClassVar[str] = "adaptive_grid"

    def run(self, mechanism: Any, data: Any, epsilon: float) -> Any:
        """Return what the adaptive grid makes with its defaults."""
        return mechanism.adagrid(data, epsilon, self.delta, 5.0, split_strategy=[0.1, 0.1, 0.8])


PEERS: dict[str, type[Synthesiser]] = {one.name: one for one in (AIM, MST, AdaptiveGrid)}
"""The peers by the names that rows give them."""
