"""Who came out of a mix zone: pieces linked by how long people take, where they go on and where they were."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.guess import TRIED, LinkGuess
from tripcloak.trajectories.release.release import TrajectoryRelease

SEED = 0
BINS = 240
"""Into how many parts lengths of silence are cut, at most."""
PLACE = 500
"""Metres of what counts as one place where pieces are compared."""
HARDLY = 1e-3
"""As much as pieces are alike at least: who was nowhere twice may be anybody."""
SIDES = 4
"""From which sides of a zone people come and go: east, north, west, south."""


def guess_links(trajectories: Trajectories, release: TrajectoryRelease) -> LinkGuess | None:
    """Return how often pieces of one person are linked; None where trajectories are released whole.

    The attacker sees who falls silent at a zone and who begins there, and takes those who begin later and
    within the longest silence. He knows how many of all took how long (timing), how many of those who came
    from one side went on to which (transition), or both, as if he had counted those of this very release; or
    he compares, beside both, the places of pieces that begin later with those of the piece before: people
    come back to where they live and work. He names the likeliest, for each person alone.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> from tripcloak.trajectories.methods.registry import find_trajectory_method
    >>> user, x = np.repeat(np.arange(20), 3), np.tile([0, 7, 14], 20)
    >>> made = Trajectories.of(user=user, t=np.tile([0, 1, 2], 20), x=x, y=[0] * 60, grid=Grid())
    >>> release = find_trajectory_method("mix-zones")(k=20).anonymise(made)
    >>> guess_links(made, release)
    LinkGuess(changes=20, blind=10, timing=10, transition=10, both=10, places=10, alike=20.0)
    """
    if not release.promise.parted:
        return None
    changes, shares = _changes(trajectories, release), _shares_of_places(release)
    chances, bits = _chances(changes, shares, _longest(release))
    return LinkGuess.of({name: right.tolist() for name, right in chances.items()}, bits.tolist())


class Changes(NamedTuple):
    """Changes of pseudonyms: the zone, when somebody was last seen and seen again, on which side, as whom."""

    zone: Ints
    out: Ints
    back: Ints
    entry: Ints
    exit: Ints
    before: Ints
    after: Ints


def _longest(release: TrajectoryRelease) -> int:
    return int(release.parameters["longest"]) // release.grid.seconds


def _changes(trajectories: Trajectories, release: TrajectoryRelease) -> Changes:
    silent = release.box_of < 0
    first = np.flatnonzero(silent & ~np.concatenate(([True], silent[:-1])))
    last = np.flatnonzero(silent & ~np.concatenate((silent[1:], [True])))
    zones = np.array(release.facts["zones"], np.int64)
    zone = _zone_of(trajectories.x[first], trajectories.y[first], zones)
    numbers = np.unique(zones[:, 0])
    centre = np.array([[zones[zones[:, 0] == one, side].mean() for side in (1, 2, 3, 4)] for one in numbers])
    x, y = centre[:, :2].mean(axis=1)[zone], centre[:, 2:].mean(axis=1)[zone]

    def side(rows: Ints) -> Ints:
        angle = np.arctan2(trajectories.y[rows] + 0.5 - y, trajectories.x[rows] + 0.5 - x)
        sides: Ints = np.rint(angle / (2 * np.pi) * SIDES).astype(np.int64) % SIDES
        return sides

    def piece(rows: Ints) -> Ints:
        found: Ints = np.searchsorted(release.offsets, release.box_of[rows], side="right") - 1
        return found

    t = trajectories.t.astype(np.int64)
    ends = first - 1, last + 1
    return Changes(zone, t[ends[0]] + 1, t[ends[1]], *map(side, ends), *map(piece, ends))


def _shares_of_places(release: TrajectoryRelease) -> Any:
    """Return the roots of the shares of each piece's boxes that are in each place: a sparse row a piece."""
    from scipy.sparse import csr_array

    cell = max(1, PLACE // release.grid.metres)
    x, y = (np.asarray(side, np.int64) // cell for side in (release.boxes.x0, release.boxes.y0))
    _, place = np.unique((x << 32) + y, return_inverse=True)
    lengths = np.diff(release.offsets)
    piece = np.repeat(np.arange(len(lengths)), lengths)
    counted = csr_array((1.0 / lengths[piece], (piece, place)))
    counted.sum_duplicates()
    return counted.sqrt()


def _zone_of(x: Ints, y: Ints, zones: Ints) -> Ints:
    """Return which of the different zones holds each place."""
    _, number = np.unique(zones[:, 0], return_inverse=True)
    found = np.zeros(len(x), np.int64)
    for one, (_, x0, x1, y0, y1) in zip(number.tolist(), zones.tolist(), strict=True):
        found[(x0 <= x) & (x < x1) & (y0 <= y) & (y < y1)] = one
    return found


def _chances(changes: Changes, shares: Any, longest: int) -> tuple[dict[str, Floats], Floats]:
    """Return the chance of each change that it is linked right, by attack, and the bits that are left."""
    lengths = changes.back - changes.out
    width = -(-(longest + 1) // BINS)
    timing = np.bincount(lengths // width, minlength=BINS + 1) + 0.5
    turns = np.ones((int(changes.zone.max(initial=0)) + 1, SIDES, SIDES))
    np.add.at(turns, (changes.zone, changes.entry, changes.exit), 1.0)
    turns /= turns.sum(axis=2, keepdims=True)
    tried = np.sort(np.random.default_rng(SEED).permutation(len(lengths))[:TRIED])
    order = np.lexsort((changes.back, changes.zone))
    found: dict[str, list[float]] = {"blind": [], "timing": [], "transition": [], "both": [], "places": []}
    bits: list[float] = []
    begins = np.searchsorted(changes.zone[order], np.arange(len(turns) + 1))
    for row in tried.tolist():
        zone, out = changes.zone[row], changes.out[row]
        there = order[begins[zone] : begins[zone + 1]]
        fits = there[slice(*np.searchsorted(changes.back[there], (out, out + longest + 1)))]
        by_time = timing[(changes.back[fits] - out) // width]
        by_turn = turns[zone, changes.entry[row], changes.exit[fits]]
        weights = {"blind": np.ones(len(fits)), "timing": by_time, "transition": by_turn}
        weights["both"] = by_time * by_turn
        alike = shares[changes.after[fits]] @ shares[[changes.before[row]]].T
        weights["places"] = weights["both"] * (alike.toarray().ravel() + HARDLY)
        own = fits == row
        for name, weight in weights.items():
            found[name].append(_named(weight, own))
        bits.append(_entropy(weights["both"]))
    return {name: np.array(right) for name, right in found.items()}, np.array(bits)


def _named(weight: Floats, own: Bools) -> float:
    """Return the chance that the likeliest is the right one; of several, one is drawn."""
    best = weight >= weight.max() * (1 - 1e-12)
    return float(own[best].sum() / best.sum())


def _entropy(weight: Floats) -> float:
    share = weight / weight.sum()
    return float(-(share * np.log2(share)).sum())
