"""Made-up base stations and the trips between them: what the ATG paper's data sets look like from afar.

Towns of very different size, the largest in the west; stations crowd in towns. A trip between two
stations is as likely as the product of their masses, less with distance, times chance. All trips of a
country follow one such law, so more trips are more of the same country.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tripcloak.flows.model import ODMatrix
from tripcloak.hierarchy import DendrogramTiling, Hierarchy, ZoneFile, time_hierarchy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PLAN, _LAW, _TRIPS = range(3)


@dataclass(frozen=True, kw_only=True)
class Stations:
    """A country of base stations, as its parameters; the same parameters give the same matrices.

    Parameters
    ----------
    tiles
        Number of stations.
    trips
        Mean number of trips of a matrix; single ones differ by up to half.
    towns, box, spread
        Number of towns, the box (south, west, north, east) they lie in, and how far stations are from
        their town's centre, in degrees.
    mass
        Spread of the stations' masses (of their logarithms).
    decay, near
        Trips fall off as 1 / (1 + (distance / near) ** decay), distances in degrees.
    chance
        Spread of what neither mass nor distance explains (of its logarithm).
    western
        Keep only so many stations, the western-most.
    parts
        Shares by which every station is split into several, origins and destinations on their own.
    """

    tiles: int
    trips: int
    towns: int = 40
    box: tuple[float, float, float, float] = (12.5, -17.0, 16.5, -11.5)
    spread: float = 0.06
    mass: float = 1.2
    decay: float = 1.8
    near: float = 0.015
    chance: float = 1.5
    western: int | None = None
    parts: tuple[float, ...] = (1.0,)
    seed: int = 1

    def matrices(self, number: int) -> Iterator[ODMatrix]:
        """Yield this many matrices: other hours of the same country."""
        for origin, destination in self._hours(number):
            yield ODMatrix.from_trips(self.tree, self.tree, origin, destination)

    def slots(self, number: int) -> ODMatrix:
        """Return the same hours as one matrix with slots of time."""
        hours = list(self._hours(number))
        origin, destination = (np.concatenate(ends) for ends in zip(*hours, strict=True))
        return ODMatrix.from_trips(
            self.tree,
            self.tree,
            origin,
            destination,
            times=time_hierarchy(np.arange(number), 60),
            slot=np.repeat(np.arange(number), [len(origin) for origin, _ in hours]),
        )

    def _hours(self, number: int) -> Iterator[list[Ints]]:
        """Yield both ends of the trips of so many hours."""
        for hour in range(number):
            rng = self._generator(_TRIPS, hour)
            trips = round(self.trips * rng.uniform(0.5, 1.5)) if hour else self.trips
            origin, destination = np.divmod(self._drawn(rng, trips), len(self._kept))
            yield self._split(rng, origin, destination)

    @cached_property
    def tree(self) -> Hierarchy:
        """The dendrogram of the stations, each split into its parts."""
        step = 1e-3 * np.arange(len(self.parts))
        at = self._places[self._kept, None, :] + np.stack((step, -step), axis=1)
        at = np.round(at, 5).reshape(-1, 2)
        names = np.array([f"s{number:05d}" for number in range(len(at))])
        tiling = DendrogramTiling(ZoneFile(names, at[:, 0], at[:, 1]))
        return tiling.hierarchy(tiling.keys(names.tolist()))

    @cached_property
    def _places(self) -> Floats:
        """The stations' latitudes and longitudes, before some are left out and all are split."""
        rng = self._generator(_PLAN)
        south, west, north, east = self.box
        towns = rng.uniform((south, west), (north, east), (self.towns, 2))
        towns = towns[np.argsort(towns[:, 1])]
        size = 1 / np.arange(1, self.towns + 1)
        around = towns[rng.choice(self.towns, self.tiles, p=size / size.sum())]
        away = rng.normal(0, self.spread, (self.tiles, 2)) * rng.exponential(1, (self.tiles, 1))
        return np.round(around + away, 5)

    @cached_property
    def _kept(self) -> Ints:
        return np.sort(np.argsort(self._places[:, 1], kind="stable")[: self.western])

    @cached_property
    def _law(self) -> Floats:
        """How trips are shared over all pairs of stations, added up from the first pair to the last."""
        rng = self._generator(_LAW)
        mass = rng.lognormal(0, self.mass, self.tiles)
        apart = np.sqrt(((self._places[:, None] - self._places[None]) ** 2).sum(axis=2))
        share = np.outer(mass, mass) / (1 + (apart / self.near) ** self.decay)
        share *= rng.lognormal(0, self.chance, share.shape)
        np.fill_diagonal(share, 0)
        return np.cumsum(share[np.ix_(self._kept, self._kept)])

    def _drawn(self, rng: np.random.Generator, trips: int) -> Ints:
        upto = self._law
        return np.searchsorted(upto, rng.random(trips) * upto[-1], side="right").astype(np.int64)

    def _split(self, rng: np.random.Generator, *ends: Ints) -> list[Ints]:
        parts = len(self.parts)
        if parts == 1:
            return list(ends)
        return [end * parts + rng.choice(parts, len(end), p=self.parts) for end in ends]

    def _generator(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, *stream))
