"""A random stream for every user, by number: draw 7 of user 12 is the same whoever is drawn beside them.

The generator is SplitMix64 (Steele, Lea and Flood 2014): the i-th number is a hash of the stream's key and i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tripcloak.synth.plan import Floats, Ints

Keys = NDArray[np.uint64]

HABITS, MOVES, CALLS = 0, 1, 2
"""What the streams of a user are for."""

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def user_keys(seed: int, stream: int, users: Ints) -> Keys:
    """Return the key of one stream of every user; another seed, stream or user has another key.

    Examples
    --------
    >>> keys = user_keys(1, 0, np.arange(3))
    >>> bool((user_keys(1, 0, np.array([2])) == keys[2:]).all())
    True
    """
    of_stream = _mixed(np.array([seed], np.uint64) * _STEP + np.uint64(stream + 1))
    return _mixed(_mixed(of_stream + users.astype(np.uint64) * _STEP) + of_stream)


def uniform(keys: Keys, number: Ints | int) -> Floats:
    """Return the draw of that number from each stream, from 0 up to but without 1.

    Examples
    --------
    >>> draws = uniform(user_keys(1, 0, np.arange(1000)), 5)
    >>> bool(abs(draws.mean() - 0.5) < 0.05), bool(draws.max() < 1)
    (True, True)
    """
    at = np.asarray(number, np.int64).astype(np.uint64) * np.atleast_1d(_STEP)
    draws: Floats = (_mixed(keys + at) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return draws


def _mixed(x: Keys) -> Keys:
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))
