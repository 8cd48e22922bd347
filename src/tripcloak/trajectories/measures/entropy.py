"""Entropy rate and predictability of people's movements.

Mishra and Fiore 2025, figure 7; Song et al. 2010.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.measures._kernels import new_lengths
from tripcloak.trajectories.measures.distribution import Distribution, distribution
from tripcloak.trajectories.measures.shape import PersonTracks

HOLD_HOURS = 24
"""How long somebody is taken to stay where they were last seen."""

HALVINGS = 60


class Regularity(NamedTuple):
    """How regular each person's movements are.

    Attributes
    ----------
    entropy : array of float
        Bits that the next place comes as news, given all places before.
    places : array of int
        How many different places there are.
    predictability : array of float
        How often the next place could be foretold at best.
    """

    entropy: Floats
    places: Ints
    predictability: Floats


class RegularityAgreement(NamedTuple):
    """Entropy and predictability over people, original and released, and their differences by person."""

    entropy: tuple[Distribution, Distribution]
    predictability: tuple[Distribution, Distribution]
    entropy_change: Distribution
    predictability_change: Distribution
    people: int
    cell_km: float
    sequence: str

    def to_dict(self) -> dict[str, Any]:
        """Return what to tell, ready for JSON."""
        told = {}
        for name, both, change in (
            ("entropy", self.entropy, self.entropy_change),
            ("predictability", self.predictability, self.predictability_change),
        ):
            told[name] = {
                "original": both[0].to_dict(),
                "released": both[1].to_dict(),
                "difference": change.to_dict(),
            }
        basis = {"people": self.people, "cell_km": self.cell_km, "sequence": self.sequence}
        return {**told, "entropy_basis": basis}


def regularity(tracks: PersonTracks, *, cell_km: float = 1.0, hourly: bool = True) -> Regularity:
    """Return entropy rate and predictability of everybody's sequence of places.

    A place is a square cell. The sequence is hourly: the place last seen by the end of each hour from
    the first point to the last, at most 24 hours after it was seen (longer gaps are left out, and the
    sequence goes on after them). Or, not ``hourly``, it is the places of all points.

    The entropy rate is the Lempel-Ziv estimate of Song et al.: n log2 n over the sum of the lengths of
    the shortest runs, from each position on, that were not seen before. It is 0 for somebody who is
    always in one place, where the estimate tends to 0 as n grows. Predictability solves Fano's
    inequality for as many places.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> there_and_back = np.tile([1, 101], 200)
    >>> hours = 120 * np.arange(400)
    >>> found = regularity(PersonTracks(Grid(), np.array([0, 400]), hours, there_and_back, np.ones(400, int)))
    >>> found.entropy.round(2).tolist(), found.places.tolist(), found.predictability.round(2).tolist()
    ([0.09], [2], [0.99])
    """
    offsets, place = _hourly(tracks, cell_km) if hourly else (tracks.offsets, _places(tracks, cell_km))
    sums, places = new_lengths(offsets, place)
    n = np.diff(offsets)
    entropy = np.where(places > 1, n * np.log2(np.maximum(n, 1)) / np.maximum(sums, 1), 0.0)
    return Regularity(entropy, places, predictability(entropy, places))


def predictability(entropy: Floats, places: Ints) -> Floats:
    """Return the share p of places that can be foretold at best: S = H(p) + (1 - p) log2(N - 1), for p.

    An estimate of the entropy above log2 N says no more than guessing: 1 / N.

    Examples
    --------
    >>> predictability(np.array([0.0, 1.0, 2.0]), np.array([5, 2, 4])).tolist()
    [1.0, 0.5, 0.25]
    """
    entropy, places = np.asarray(entropy, dtype=np.float64), np.asarray(places, dtype=np.float64)
    chance = 1 / np.maximum(places, 1)
    low, high = chance.copy(), np.ones(len(chance))
    # Invariant: what p leaves open falls from log2 N at chance to 0 at 1, and the answer lies between.
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        too_open = _left_open(middle, places) > entropy
        low, high = np.where(too_open, middle, low), np.where(too_open, high, middle)
    found = np.where(entropy >= np.log2(np.maximum(places, 1)), chance, (low + high) / 2)
    return np.where((entropy <= 0) | (places <= 1), 1.0, found)


def compare_regularity(
    original: PersonTracks,
    released: PersonTracks,
    *,
    people: int = 20_000,
    seed: int = 0,
    cell_km: float = 1.0,
    hourly: bool = True,
) -> RegularityAgreement:
    """Return how regular the same people are in both; this many at random if there are more."""
    if original.people > people:
        some = some_people(original.people, people, seed)
        original, released = original.take(some), released.take(some)
    before, after = (regularity(tracks, cell_km=cell_km, hourly=hourly) for tracks in (original, released))
    return RegularityAgreement(
        (distribution(before.entropy), distribution(after.entropy)),
        (distribution(before.predictability), distribution(after.predictability)),
        distribution(after.entropy - before.entropy),
        distribution(after.predictability - before.predictability),
        original.people,
        original.cell_steps(cell_km) * original.km,
        "hours" if hourly else "samples",
    )


def some_people(of: int, people: int, seed: int) -> Ints:
    """Return this many rows at random, ascending; all where there are no more."""
    if of <= people:
        return np.arange(of)
    return np.sort(np.random.default_rng(seed).choice(of, size=people, replace=False))


def _left_open(p: Floats, places: Floats) -> Floats:
    """Return the entropy that is left when a share p is foretold, by Fano's inequality."""
    q = 1 - p
    bits = -p * np.log2(p) - np.where(q > 0, q * np.log2(np.where(q > 0, q, 1)), 0)
    return np.asarray(bits + q * np.log2(np.maximum(places - 1, 1)))


def _places(tracks: PersonTracks, cell_km: float) -> Ints:
    """Return a number for the cell of each point."""
    cell = tracks.cell_steps(cell_km)
    return np.asarray(tracks.x // cell * 2**32 + tracks.y // cell)


def _hourly(tracks: PersonTracks, cell_km: float) -> tuple[Ints, Ints]:
    """Return offsets and places of hourly sequences."""
    hour = tracks.seconds // 3600
    hours = np.ones(len(hour), dtype=np.int64)
    hours[:-1] = np.minimum(np.diff(hour), HOLD_HOURS)
    hours[tracks.offsets[1:] - 1] = 1
    lengths = np.add.reduceat(hours, tracks.offsets[:-1]) if tracks.people else hours[:0]
    return np.concatenate(([0], np.cumsum(lengths))), np.repeat(_places(tracks, cell_km), hours)
