"""Is there as much noise in published numbers as stated: tests with one false alarm in a billion."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.flows.audit.privacy import Privacy
from tripcloak.ground.arrays import Bools, Floats, Ints

Marks = NDArray[np.uint64]
GOLDEN = 0x9E3779B97F4A7C15
BITS = 2**64 - 1


class Counted(NamedTuple):
    """How many trips of every row are counted, and whether they are those of somebody with too many."""

    trips: Ints
    busy: Bools


def counted_trips(person: Ints, origin: Marks, destination: Marks, trips: Ints, most: int) -> Counted:
    """Return how many trips of every row are counted; a row is what one person makes in one flow.

    All rows of a person must be there; ends are given by the marks of their tiles.

    Examples
    --------
    >>> ends = id_marks(["a", "b", "a"]), id_marks(["b", "a", "a"])
    >>> counted = counted_trips(np.array([1, 1, 2]), *ends, np.array([6, 6, 3]), 4)
    >>> int(counted.trips[:2].sum()), int(counted.trips[2]), counted.busy.tolist()
    (4, 3, [True, True, False])
    """
    kept = trips.astype(np.int64).copy()
    people, at = np.unique(person, return_inverse=True)
    totals = np.bincount(at, trips, minlength=len(people)).astype(np.int64)
    too_many = totals[at] > most
    busy = np.flatnonzero(too_many)
    if not len(busy):
        return Counted(kept, too_many)
    marks = _mixed(_mixed(origin[busy]) + destination[busy])
    who, made, total = at[busy], kept[busy], totals[at[busy]]
    sums = np.zeros(len(people), dtype=np.uint64)
    np.add.at(sums, who, marks * made.astype(np.uint64))
    salt = _mixed(sums)[who]
    order = np.lexsort((_mixed(marks ^ salt), who))
    # Where every flow ends when a person's are laid end to end.
    run = np.cumsum(made[order])
    first = np.flatnonzero(np.append(True, np.diff(who[order]) != 0))
    before = np.repeat(run[first] - made[order][first], np.diff(np.append(first, len(order))))
    start = (salt[order] % total[order].astype(np.uint64)).astype(np.int64)
    upto = ((run - before) * most + start) // total[order]
    below = ((run - before - made[order]) * most + start) // total[order]
    kept[busy[order]] = upto - below
    return Counted(kept, too_many)


def id_marks(names: Iterable[str]) -> Marks:
    """Return a number for every tile that follows from its id.

    >>> int(id_marks(["a"])[0]) == ord("a") * GOLDEN + 1 & BITS
    True
    """
    return np.array([_id_mark(name) for name in names], dtype=np.uint64)


def _id_mark(name: str) -> int:
    mark = 0
    for letter in name:
        mark = ((mark ^ ord(letter)) * GOLDEN + 1) & BITS
    return mark


def _mixed(bits: Marks) -> Marks:
    """Return the numbers after the last steps of the generator SplitMix64."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


FALSE_ALARM = 1e-9
"""The chance that honest noise is called too small."""

TRIALS = 6
CLEAR = 0.5
"""Chances above this are left out where others are smaller: they would tell nothing."""


NO_NOISE = "not promised: numbers are exact, without noise (no differential privacy)"
CANNOT_TELL = "not to be told: so few numbers, or so little noise, do not show whether there is any"
TOO_MANY = "more trips are published than the stated contributions allow"
TOO_CLOSE = "published numbers are closer to the recount than the stated noise would leave them"


class NoisyNumbers(NamedTuple):
    """Published numbers beside what the raw input holds.

    Attributes
    ----------
    published : array of int
        One value per published group.
    counted : array of int
        The group's trips of which every traveller has only so many.
    recount : array of int
        All the group's trips.
    certain : array of bool
        Whether both are the same whichever trips are counted: nobody in the group has too many.
    all_counted : int, optional
        All trips that are counted, also those in no published group.
    scaled : array of float, optional
        Where travellers are scaled: what the group's then have counted for, in trips.
    one_height : bool
        Where they are: all released zones are of one height, so that without noise numbers would be these.
    """

    published: Ints
    counted: Ints
    recount: Ints
    certain: Bools
    all_counted: int | None = None
    scaled: Floats | None = None
    one_height: bool = False


class NoiseTrial(NamedTuple):
    """Which published numbers come too close to the raw input's, and the chance that honest ones do.

    ``telling`` is whether all would be close if there were no noise.
    """

    close: Bools
    chance: Floats
    telling: bool = True

    @property
    def exponent(self) -> float:
        """Return minus the logarithm of the chance of so many close numbers, at most."""
        return chernoff(int(self.close.sum()), len(self.close), self._mean)

    @property
    def strongest(self) -> float:
        """Return what :attr:`exponent` would be without noise."""
        return chernoff(len(self.close), len(self.close), self._mean) if self.telling else 0.0

    @property
    def _mean(self) -> float:
        return float(np.mean(self.chance)) if len(self.chance) else 1.0


def beside(published: Ints, recount: Ints, group: Ints, trips: Ints, counted: Counted) -> NoisyNumbers:
    """Return published numbers beside the trips of their groups, given person by person.

    Parameters
    ----------
    published, recount
        One value per group; the recount also has trips that are nobody's.
    group, trips, counted
        One value per person and flow: the group it is in, the trips, and those that are counted.
    """
    known, summed = np.zeros((2, len(published)), dtype=np.int64)
    np.add.at(known, group, trips)
    np.add.at(summed, group, counted.trips)
    certain = known == recount
    certain[group[counted.busy]] = False
    return NoisyNumbers(published, summed, recount, certain)


def verdict(privacy: Privacy, numbers: NoisyNumbers) -> bool | None:
    """Return whether there is as much noise as stated; None where so few numbers cannot tell.

    Examples
    --------
    >>> stated = Privacy(epsilon=1, delta=0, unit="trip", contributions=1, noise="Laplace", noise_scale=1)
    >>> exact = np.arange(50, 150)
    >>> verdict(stated, NoisyNumbers(exact, exact, exact, np.ones(100, dtype=bool)))
    False
    >>> verdict(stated, NoisyNumbers(*[exact[:5]] * 3, np.ones(5, dtype=bool))) is None
    True
    """
    alarm = math.log(TRIALS / FALSE_ALARM)
    trials = list(_trials(privacy, numbers))
    if any(trial.exponent > alarm for trial in trials):
        return False
    return True if any(trial.strongest > alarm for trial in trials) else None


def _trials(privacy: Privacy, numbers: NoisyNumbers) -> Iterator[NoiseTrial]:
    if privacy.norms:
        return _scaled(privacy, numbers)
    return _gaussian(privacy, numbers) if privacy.noise == "Gaussian" else _laplace(privacy, numbers)


def too_many(privacy: Privacy, numbers: NoisyNumbers) -> bool:
    """Return whether more trips are published than bounded contributions and the stated noise allow.

    Numbers with Gaussian noise add up to a total with noise of its own, which is t or more with a chance of
    at most exp(-t**2 / (2 scale**2)). How many trips are counted does not depend on which.

    >>> told = {"unit": "traveller", "contributions": 3, "noise": "Gaussian", "noise_scale": 10.0}
    >>> stated = Privacy(epsilon=1, delta=1e-6, **told)
    >>> one = np.array([1000])
    >>> [too_many(stated, NoisyNumbers(one, one, one, one > 0, total)) for total in (990, 900)]
    [False, True]
    """
    if privacy.noise != "Gaussian" or numbers.all_counted is None:
        return False
    reach = privacy.noise_scale * math.sqrt(2 * math.log(1 / FALSE_ALARM))
    return bool(numbers.published.sum() - numbers.all_counted > reach + 1)


def too_few_made_up(privacy: Privacy, made_up: int, could_be: int) -> bool:
    """Return whether too few of the pairs that do not occur are published, though every pair got noise.

    Only pairs that occur being published would tell which those are.

    >>> stated = Privacy(epsilon=1, delta=0, unit="trip", contributions=1, noise="Laplace", noise_scale=1)
    >>> too_few_made_up(stated, 0, 1000), too_few_made_up(stated, 250, 1000)
    (True, False)
    """
    q = math.exp(-1 / privacy.noise_scale)
    stays = 1 - q ** math.ceil(privacy.threshold) / (1 + q)
    return chernoff(could_be - made_up, could_be, stays) > math.log(1 / FALSE_ALARM)


def chernoff(successes: int, n: int, mean: float) -> float:
    """Return minus the logarithm of a bound on the chance of so many successes or more, out of n.

    >>> round(chernoff(10, 10, 0.5) / math.log(2), 6), chernoff(5, 10, 0.5)
    (10.0, 0.0)
    """
    if successes <= n * mean:
        return 0.0
    share = successes / n
    failing = (1 - share) * math.log((1 - share) / (1 - mean)) if share < 1 else 0.0
    return n * (share * math.log(share / mean) + failing)


def _laplace(privacy: Privacy, numbers: NoisyNumbers) -> Iterator[NoiseTrial]:
    """Yield trials of discrete Laplace noise, each number's its own.

    Given that such noise reaches a number, it goes no further than that with a chance of at most
    1 - exp(-1 / scale), wherever the number lies. So w numbers in a row hold it with a chance of at most
    1 - exp(-w / scale). Where the exact number is certain, its chance is known.
    """
    scale = privacy.noise_scale
    for exact in (numbers.counted, numbers.recount):
        # A number of 1 or more never is that of a pair which does not occur.
        error = np.abs(numbers.published - exact)[exact > 0]
        for reach in {0, math.floor(scale * math.log(2) / 2)}:
            chance = np.full(len(error), -math.expm1(-(2 * reach + 1) / scale))
            yield NoiseTrial(error <= reach, chance, exact is numbers.counted)
    known = numbers.recount[numbers.certain]
    error = np.abs(numbers.published[numbers.certain] - known)
    missing = math.ceil(privacy.threshold) - known
    for reach in {0, math.floor(scale * math.log(2))}:
        chance = laplace_within(reach, missing, scale)
        yield NoiseTrial((error <= reach)[chance > 0], chance[chance > 0])


def laplace_within(reach: int, least: Ints, scale: float) -> Floats:
    """Return the chance that discrete Laplace noise is at most ``reach`` in size, given that it is ``least``.

    >>> laplace_within(0, np.array([-100, 0, 1]), 1.0).round(3).tolist()
    [0.462, 0.632, 0.0]
    """
    q = math.exp(-1 / scale)

    def beyond(start: Ints) -> Floats:
        """Return the chance of ``start`` or more, at a start of 0 or less."""
        return 1 - q ** (1.0 - start) / (1 + q)

    low = np.minimum(np.maximum(least, -reach), 0)
    inside = (beyond(low) - q ** (reach + 1) / (1 + q)) / beyond(np.minimum(least, 0))
    # From 1 on, every step up has the same chance.
    above = 1 - q ** np.maximum(reach + 1.0 - least, 0)
    found: Floats = np.where(least >= 1, above, inside)
    return found


def _gaussian(privacy: Privacy, numbers: NoisyNumbers) -> Iterator[NoiseTrial]:
    """Yield trials of discrete Gaussian noise in numbers that were made to add up afterwards.

    Making them add up moves the parts of one number by one of three amounts, and ties them together so
    that all j of them are right with the chance of j - 1, so of j / 2 at least: hence the square root.
    """
    scale = privacy.noise_scale
    for exact in (numbers.counted, numbers.recount):
        error = np.abs(numbers.published - exact)
        for reach in {0, math.floor(scale / 16)}:
            chance = np.minimum(3 * (2 * reach + 1) * gaussian_hit(exact - 1 - reach, scale), 1)
            clear = chance <= CLEAR
            yield NoiseTrial((error <= reach)[clear], np.sqrt(chance[clear]), exact is numbers.counted)


WELL_ABOVE = 4
"""Times the noise that numbers must have to be looked at; small ones share what noise left of others."""


def _scaled(privacy: Privacy, numbers: NoisyNumbers) -> Iterator[NoiseTrial]:
    """Yield trials of Gaussian noise in numbers of travellers that were scaled, and then rescaled to a total.

    A large number has noise of its own of half the stated scale at least, of whichever height it is and
    whatever it was made to agree with. What is published lies above some threshold, of four standard
    deviations at most: given that, it hits any number with a chance of about 2 / scale at most, by the hazard
    of :func:`gaussian_hit`; the square root is for what numbers have in common. Laplace noise hits any number
    with less. Without noise numbers would be in proportion to those of scaled travellers; being far from
    those of all trips tells nothing.
    """
    if numbers.scaled is None:
        yield from _close(
            privacy.noise_scale, numbers.published, numbers.recount, telling=privacy.unit == "trip"
        )
        return
    # Numbers were rescaled to a noisy total; by how much, those that are not small tell together.
    large = numbers.scaled >= WELL_ABOVE * privacy.noise_scale
    times = numbers.published[large].sum() / numbers.scaled[large].sum() if large.any() else 1.0
    exact = numbers.scaled * times
    yield from _close(privacy.noise_scale * times, numbers.published, exact, telling=numbers.one_height)
    yield from _close(privacy.noise_scale * times, numbers.published, numbers.recount, telling=False)


def _close(scale: float, published: Ints, exact: Floats, *, telling: bool) -> Iterator[NoiseTrial]:
    large = np.minimum(published, exact) >= WELL_ABOVE * scale
    error = np.abs(published - exact)[large]
    # Proportions that were rounded along a list are off by less than one: nearer than that none could be.
    least = 1 if exact.dtype.kind == "f" else 0
    for reach in {least, max(least, math.floor(scale / 64))}:
        chance = min(2 * (2 * reach + 1) / scale, 1.0)
        yield NoiseTrial(error <= reach, np.full(len(error), math.sqrt(chance)), telling)


def gaussian_hit(beyond: Ints, scale: float) -> Floats:
    """Return a bound on the chance that discrete Gaussian noise is ``beyond`` above some number.

    Given that it reaches that number, whichever it is. The chance to stop right there is at most
    (z + 0.8) / scale at z times the scale (the hazard of a normal variable grows with a slope below 1),
    and falls by exp(-z beyond / scale); this is the largest such product.

    >>> gaussian_hit(np.array([0, 4, 1000]), 20.0).round(3).tolist()
    [1.0, 0.108, 0.04]
    """
    steps = np.maximum(beyond, 1e-9)
    at_best = np.exp(np.minimum(0.8 * steps / scale, 1) - 1) / steps
    found: Floats = np.where(
        beyond <= 0, 1.0, np.where(0.8 * steps < scale, np.minimum(at_best, 1), 0.8 / scale)
    )
    return found
