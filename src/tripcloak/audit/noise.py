"""Is there as much noise in published numbers as stated: tests with one false alarm in a billion.

Noise hides an exact number only if the published one rarely comes close to it. Each trial bounds, for every
published number, the chance that it comes so close to one reckoned from the raw input, given that it was
published at all, and counts how many did. By Chernoff's bound, the chance of s or more out of n is at most
exp(-n KL(s/n, mean chance)); for events that are not independent this holds if every set of j of them has a
chance of at most the j-th power of the mean (Impagliazzo and Kabanets 2010).

The bounds hold wherever the number lies to which noise was added. So an auditor who reckons it wrongly may
miss that there is no noise, but never accuses anybody of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Bools, Floats, Ints
from tripcloak.audit.counted import Counted
from tripcloak.audit.privacy import Privacy

FALSE_ALARM = 1e-9
"""The chance that honest noise is called too small."""

TRIALS = 6
CLEAR = 0.5
"""Chances above this are left out where others are smaller: they would tell nothing."""


CANNOT_TELL = "not to be told: so few numbers, or so little noise, do not show whether there is any"
TOO_MANY = "more trips are published than the stated contributions allow"
TOO_CLOSE = "published numbers are closer to the recount than the stated noise would leave them"


class Noisy(NamedTuple):
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
    """

    published: Ints
    counted: Ints
    recount: Ints
    certain: Bools
    all_counted: int | None = None


class Trial(NamedTuple):
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


def beside(published: Ints, recount: Ints, group: Ints, trips: Ints, counted: Counted) -> Noisy:
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
    return Noisy(published, summed, recount, certain)


def verdict(privacy: Privacy, numbers: Noisy) -> bool | None:
    """Return whether there is as much noise as stated; None where so few numbers cannot tell.

    Examples
    --------
    >>> stated = Privacy(epsilon=1, delta=0, unit="trip", contributions=1, noise="Laplace", noise_scale=1)
    >>> exact = np.arange(50, 150)
    >>> verdict(stated, Noisy(exact, exact, exact, np.ones(100, dtype=bool)))
    False
    >>> verdict(stated, Noisy(*[exact[:5]] * 3, np.ones(5, dtype=bool))) is None
    True
    """
    alarm = math.log(TRIALS / FALSE_ALARM)
    trials = list(_gaussian(privacy, numbers) if privacy.noise == "Gaussian" else _laplace(privacy, numbers))
    if any(trial.exponent > alarm for trial in trials):
        return False
    return True if any(trial.strongest > alarm for trial in trials) else None


def too_many(privacy: Privacy, numbers: Noisy) -> bool:
    """Return whether more trips are published than bounded contributions and the stated noise allow.

    Numbers with Gaussian noise add up to a total with noise of its own, which is t or more with a chance of
    at most exp(-t**2 / (2 scale**2)). How many trips are counted does not depend on which.

    >>> told = {"unit": "traveller", "contributions": 3, "noise": "Gaussian", "noise_scale": 10.0}
    >>> stated = Privacy(epsilon=1, delta=1e-6, **told)
    >>> one = np.array([1000])
    >>> [too_many(stated, Noisy(one, one, one, one > 0, total)) for total in (990, 900)]
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
    if could_be <= made_up:
        return False
    return chernoff(could_be - made_up, could_be, stays) > math.log(1 / FALSE_ALARM)


def chernoff(successes: int, n: int, mean: float) -> float:
    """Return minus the logarithm of a bound on the chance of so many successes or more, out of n.

    >>> round(chernoff(10, 10, 0.5) / math.log(2), 6), chernoff(5, 10, 0.5)
    (10.0, 0.0)
    """
    if n == 0 or mean >= 1 or successes <= n * mean:
        return 0.0
    share = successes / n
    failing = (1 - share) * math.log((1 - share) / (1 - mean)) if share < 1 else 0.0
    return n * (share * math.log(share / mean) + failing)


def _laplace(privacy: Privacy, numbers: Noisy) -> Iterator[Trial]:
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
            yield Trial(error <= reach, chance, exact is numbers.counted)
    known = numbers.recount[numbers.certain]
    error = np.abs(numbers.published[numbers.certain] - known)
    missing = math.ceil(privacy.threshold) - known
    for reach in {0, math.floor(scale * math.log(2))}:
        chance = laplace_within(reach, missing, scale)
        yield Trial((error <= reach)[chance > 0], chance[chance > 0])


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


def _gaussian(privacy: Privacy, numbers: Noisy) -> Iterator[Trial]:
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
            yield Trial((error <= reach)[clear], np.sqrt(chance[clear]), exact is numbers.counted)


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
