"""Profiles: how many trips start and end in every zone, slot by slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tripcloak.analysis.overlap import Overlap
from tripcloak.ground.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Profiles(NamedTuple):
    """Trips that start (``out``) and end (``into``) in every zone: rows are zones, columns slots.

    Examples
    --------
    >>> profiles = Profiles(np.array([[3.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]]))
    >>> profiles.volume.tolist(), profiles.shapes.tolist()
    ([4.0, 0.0], [[0.75, 0.0, 0.0, 0.25], [0.0, 0.0, 0.0, 0.0]])
    """

    out: Floats
    into: Floats

    @property
    def volume(self) -> Floats:
        """Return how many trips start or end in every zone."""
        volume: Floats = self.out.sum(axis=1) + self.into.sum(axis=1)
        return volume

    @property
    def side_by_side(self) -> Floats:
        """Return one row a zone: what starts there slot by slot, then what ends there."""
        return np.concatenate([self.out, self.into], axis=1)

    @property
    def shapes(self) -> Floats:
        """Return the same as shares of the zone's volume; 0 throughout where it has none."""
        volume = self.volume
        shapes: Floats = self.side_by_side / np.where(volume > 0, volume, 1.0)[:, None]
        return shapes

    def redrawn(self, weight: float, seed: int) -> Profiles:
        """Return profiles such as the same city would give another time: every number is drawn anew.

        ``weight`` is what a trip counts for: the numbers are as uncertain as the trips behind them.
        """
        draw = np.random.default_rng(seed)
        return Profiles(*(weight * draw.poisson(side / weight) for side in self))


def time_shares(slots: Sequence[Ints], n_slots: int) -> csr_array:
    """Return what share of every released time lies in every slot: the same in each that it covers.

    Parameters
    ----------
    slots
        The slots that a time covers, one array a time; a slot named twice gets twice the share.

    Examples
    --------
    >>> time_shares([np.array([0]), np.array([0, 1, 1, 2])], 3).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.25, 0.5, 0.25]]
    """
    from scipy.sparse import coo_array

    lengths = [len(covered) for covered in slots]
    row = np.repeat(np.arange(len(slots)), lengths)
    column = np.concatenate([np.empty(0, np.int64), *slots])
    share = 1.0 / np.repeat(np.array(lengths, dtype=float), lengths)
    return coo_array((share, (row, column)), shape=(len(slots), n_slots)).tocsr()


def released_profile(zone: Ints, time: Ints, volume: Floats, zones: Overlap, times: csr_array) -> Floats:
    """Return how much starts, or ends, in every drawn zone slot by slot, as a release tells it.

    Parameters
    ----------
    zone, time, volume
        The released flows: rows of the overlap, rows of ``times``, and what is summed.
    zones
        Which share of every released zone lies in which drawn zone.
    times
        Which share of every released time lies in which slot, see :func:`time_shares`.

    Examples
    --------
    Ten trips of two hours, from a zone of which a half lies in drawn zone 0.

    >>> from scipy.sparse import csr_array
    >>> half = Overlap(csr_array([[0.5, 0.0]]), np.array([0.5]))
    >>> hours = time_shares([np.array([0, 1])], 2)
    >>> released_profile(np.array([0]), np.array([0]), np.array([10.0]), half, hours).tolist()
    [[2.5, 2.5], [0.0, 0.0]]
    """
    from scipy.sparse import coo_array

    shape = zones.shares.shape[0], times.shape[0]
    flows = coo_array((volume.astype(float), (zone, time)), shape=shape).tocsr()
    profile: Floats = (zones.shares.T @ flows @ times).toarray()
    return profile


def counted_profile(zone: Ints, slot: Ints, volume: Floats, n_zones: int, n_slots: int) -> Floats:
    """Return how much starts, or ends, in every zone slot by slot; what has no zone or slot (-1) is left out.

    >>> counted_profile(np.array([0, 0, -1]), np.array([1, 1, 0]), np.ones(3), 2, 2).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    kept = (zone >= 0) & (slot >= 0)
    key = zone[kept].astype(np.int64) * n_slots + slot[kept]
    profile: Floats = np.bincount(key, volume[kept], minlength=n_zones * n_slots)
    return profile.reshape(n_zones, n_slots)
