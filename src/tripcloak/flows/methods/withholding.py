"""Withholding: which safe cells between two cuts to withhold, so that the others lose least on average."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tripcloak.flows.methods.cut_pairs import CutPair, CutPairSearch, Settled, mean_of
from tripcloak.ground.arrays import Floats, Ints

MOST_STEPS = 4_000
"""Steps of the search for the best choice; beyond them it is not proven."""

NO_BETTER = 1 - 1e-12


def withhold_best(pairs: CutPairSearch, pair: CutPair) -> tuple[Settled, float]:
    """Return a pair within the budget with the best choice of what it withholds, and what it cannot go below.

    The two are the same where the choice is proven to be the best.
    """
    settled = pairs.settle(pair)
    if pairs.keeps_safe:
        return settled, settled.mean
    p = pairs.products
    cells = np.flatnonzero(
        pair.origins[p.zone[0]] & pair.destinations[p.zone[1]] & pairs.free & (p.volume > 0)
    )
    cells = cells[np.argsort(-p.loss[cells], kind="stable")]
    loss, volume = p.loss[cells], p.volume[cells]
    room = pairs.budget - (p.total - float(volume.sum()))
    mean, proven = settled.mean, True
    # A choice that lowers the mean is found by its sum against that mean; the next sum is against its own.
    while proven:
        search = _Choice(loss - mean, volume, room)
        proven = search.run()
        kept = np.ones(len(cells), dtype=bool)
        kept[search.best] = False
        found = mean_of(loss[kept], volume[kept]) if kept.any() else mean
        if found >= mean * NO_BETTER:
            break
        released = np.zeros(len(p), dtype=bool)
        released[cells[kept]] = True
        mean, settled = found, Settled(pair, released, found)
    return settled, mean if proven else min(mean, _in_parts(loss, volume, room))


@dataclass
class _Choice:
    """The knapsack: cells, the worst first, whose gains per unit of volume add up to most within the room."""

    gain: Floats
    volume: Floats
    room: float
    best: Ints = field(init=False)

    def run(self) -> bool:
        """Find the best choice; return whether it is proven to be the best."""
        n = int((self.gain > 0).sum())
        gain, volume = self.gain[:n].tolist(), self.volume[:n].tolist()
        most, chosen = 0.0, list[int]()
        taken = list[int]()
        left, value, at = self.room, 0.0, 0
        self.best = np.array([], dtype=np.int64)
        for _ in range(MOST_STEPS):
            # Invariant: `taken` is a choice among the cells before `at`; those with less are still to come.
            if value > most:
                most, chosen = value, taken.copy()
            if at < n and value + self._at_most(gain, volume, at, left) > most * (1 + 1e-12):
                if volume[at] <= left:
                    taken.append(at)
                    left, value = left - volume[at], value + gain[at] * volume[at]
                at += 1
                continue
            if not taken:
                self.best = np.array(chosen, dtype=np.int64)
                return True
            last = taken.pop()
            left, value, at = left + volume[last], value - gain[last] * volume[last], last + 1
        self.best = np.array(chosen, dtype=np.int64)
        return False

    @staticmethod
    def _at_most(gain: list[float], volume: list[float], at: int, left: float) -> float:
        """Return what the cells from one on add at most, if parts of them could be taken."""
        total = 0.0
        for i in range(at, len(gain)):
            if volume[i] >= left:
                return total + gain[i] * left
            total, left = total + gain[i] * volume[i], left - volume[i]
        return total


def _in_parts(loss: Floats, volume: Floats, room: float) -> float:
    """Return the least mean if parts of cells could be withheld."""
    kept, lost = float(volume.sum()), float(loss @ volume)
    for each, size in zip(loss.tolist(), volume.tolist(), strict=True):
        some = min(size, room)
        if some <= 0 or some >= kept or each * kept <= lost:
            break
        kept, lost, room = kept - some, lost - each * some, room - some
    return lost / kept
