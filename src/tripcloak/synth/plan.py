"""The street plan: where homes, jobs, schools, shops and hotspots of the made-up city are.

Everything is in metres east and north of the city's centre. Positions come from sums, products, quotients
and square roots only, which every processor rounds alike; exponentials and sines are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SUBCENTRES = 14
PARKS = 8
STATION_EXITS = 5
TERMINALS = 2

# Share of homes: around the centre, in sub-centres; the rest is villages and countryside.
CORE_SHARE = 0.48
SUBCENTRE_SHARE = 0.36

# Where the countryside ends, in radii.
REACH = 1.5

_STREAM = 0
_OFFSETS = 4096


@dataclass(frozen=True)
class Sites:
    """Buildings grouped by centre, in each centre with Zipf popularity."""

    at: Floats  # (sites, 2)
    ladder: Floats  # ladder[i] = centre + cumulative popularity inside the centre; increasing

    def pick(self, rng: np.random.Generator, centre: Ints) -> Floats:
        """Positions of one site for each given centre, popular sites more often."""
        rank = np.searchsorted(self.ladder, centre + rng.random(centre.size), side="right")
        return self.at[np.minimum(rank, self.ladder.size - 1)]


@dataclass(frozen=True)
class CityPlan:
    """Centres (the old town first, then sub-centres, business parks, campus) and what stands in them."""

    radius: float
    centres: Floats  # (centres, 2)
    spread: Floats
    homes: Floats  # cumulative share of sub-centre homes, one entry per sub-centre
    job_mass: Floats
    visit_mass: Floats
    jobs: Sites
    places: Sites
    station: Floats
    airport: Floats
    offsets: Floats

    @property
    def campus(self) -> int:
        """The university's centre, the last one."""
        return int(self.centres.shape[0]) - 1


def generator(seed: int, *key: int) -> np.random.Generator:
    """The random stream of one part of a city, independent of every other part's."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def draw_plan(seed: int, radius: float) -> CityPlan:
    """The street plan of a seed, for a built-up area of ``radius`` metres.

    Examples
    --------
    >>> plan = draw_plan(1, 15_000.0)
    >>> plan.station.shape, plan.centres.shape == (plan.spread.size, 2)
    ((5, 2), True)
    """
    rng = generator(seed, _STREAM)
    at = np.concatenate(
        [
            np.zeros((1, 2)),
            _ring(rng, SUBCENTRES, 0.25 * radius, 0.95 * radius),
            _ring(rng, PARKS, 0.30 * radius, 0.80 * radius),
            _ring(rng, 1, 0.25 * radius, 0.35 * radius),
        ]
    )
    zipf = 1.0 / np.arange(1.0, SUBCENTRES + 1.0)
    mass = zipf / np.cumsum(zipf)[-1]
    spread = radius * np.concatenate(
        [[0.085], 0.022 + 0.05 * rng.random(SUBCENTRES), np.full(PARKS, 0.018), [0.02]]
    )
    job_mass = np.concatenate([[0.45], 0.30 * mass, np.full(PARKS, 0.22 / PARKS), [0.03]])
    visit_mass = np.concatenate([[0.42], 0.50 * mass, np.full(PARKS, 0.06 / PARKS), [0.02]])
    station = _ring(rng, 1, 0.05 * radius, 0.08 * radius)
    airport = _ring(rng, 1, 0.85 * radius, 1.0 * radius)
    flat = np.cumsum(0.5 / SUBCENTRES + 0.5 * mass)
    return CityPlan(
        radius=radius,
        centres=at,
        spread=spread,
        homes=flat / flat[-1],
        job_mass=job_mass,
        visit_mass=visit_mass,
        jobs=_sites(rng, at, spread, job_mass, sites=5000),
        places=_sites(rng, at, spread, visit_mass, sites=6000),
        station=station + 60.0 * rng.standard_normal((STATION_EXITS, 2)),
        airport=airport + 300.0 * rng.standard_normal((TERMINALS, 2)),
        offsets=0.15 + 0.7 * rng.random((_OFFSETS, 2)),
    )


def draw_homes(rng: np.random.Generator, plan: CityPlan, people: int) -> Floats:
    """Homes: a gradient around the old town, sub-centres, and villages that thin out into countryside."""
    kind = rng.random(people)
    # A normal whose variance is exponential: a sharp peak and a long tail, as population density has.
    scale = 0.30 * plan.radius * np.sqrt(rng.standard_exponential(people))
    home = rng.standard_normal((people, 2)) * scale[:, None]
    town = np.flatnonzero((kind >= CORE_SHARE) & (kind < CORE_SHARE + SUBCENTRE_SHARE))
    which = 1 + np.minimum(np.searchsorted(plan.homes, rng.random(town.size)), SUBCENTRES - 1)
    around = 1.6 * plan.spread[which, None] * rng.standard_normal((town.size, 2))
    home[town] = plan.centres[which] + around
    rural = np.flatnonzero(kind >= CORE_SHARE + SUBCENTRE_SHARE)
    field = 0.75 * plan.radius * rng.standard_normal((rural.size, 2))
    village = local_place(plan, field, 3000.0) + 250.0 * rng.standard_normal((rural.size, 2))
    home[rural] = np.where(rng.random((rural.size, 1)) < 0.6, village, field)
    return fold_inside(plan, home)


def local_place(plan: CityPlan, near: Floats, spacing: float) -> Floats:
    """The one local place (corner shop, school, village) of the square of side ``spacing`` around a point."""
    cell = np.floor(near / spacing)
    key = cell.astype(np.int64) * np.array([73_856_093, 19_349_663])
    place: Floats = (cell + plan.offsets[(key[:, 0] ^ key[:, 1]) % _OFFSETS]) * spacing
    return place


def fold_inside(plan: CityPlan, at: Floats) -> Floats:
    """Points as they are, those beyond ``REACH`` radii mirrored inwards at that circle."""
    reach = (REACH * plan.radius) ** 2
    square = at[:, 0] * at[:, 0] + at[:, 1] * at[:, 1]
    folded: Floats = at * (reach / np.maximum(square, reach))[:, None]
    return folded


def choose_centre(
    rng: np.random.Generator, plan: CityPlan, home: Floats, mass: Floats, *, scale: float, draws: int
) -> Ints:
    """Centres by gravity, (people, draws): drawn to mass, put off by the square of the distance."""
    east = home[:, :1] - plan.centres[:, 0]
    north = home[:, 1:] - plan.centres[:, 1]
    pull = mass / (1.0 + (east * east + north * north) / (scale * scale))
    ladder = np.cumsum(pull, axis=1)
    mark = rng.random((draws, home.shape[0])) * ladder[:, -1]
    return np.stack([(ladder <= one[:, None]).sum(axis=1).clip(max=mass.size - 1) for one in mark], axis=1)


def _ring(rng: np.random.Generator, size: int, inner: float, outer: float) -> Floats:
    """Points at all bearings between two distances."""
    arrow = rng.standard_normal((size, 2))
    length = np.sqrt(arrow[:, 0] * arrow[:, 0] + arrow[:, 1] * arrow[:, 1])
    distance = inner + (outer - inner) * rng.random(size)
    ring: Floats = arrow * (distance / length)[:, None]
    return ring


def _sites(rng: np.random.Generator, at: Floats, spread: Floats, mass: Floats, *, sites: int) -> Sites:
    share = mass / np.cumsum(mass)[-1]
    size = np.maximum(4, (sites * share).astype(np.int64))
    centre = np.repeat(np.arange(size.size), size)
    rank = np.arange(centre.size) - np.repeat(np.cumsum(size) - size, size)
    zipf = np.cumsum(1.0 / (1.0 + rank))
    ends = zipf[np.cumsum(size) - 1]
    before = np.concatenate([[0.0], ends[:-1]])
    ladder = centre + (zipf - before[centre]) / (ends - before)[centre]
    return Sites(at=at[centre] + spread[centre, None] * rng.standard_normal((centre.size, 2)), ladder=ladder)
