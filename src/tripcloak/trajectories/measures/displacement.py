"""Displacement laws: how far people go, by how far they range.

Mishra and Fiore 2025, figure 8; Gonzalez et al. 2008.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.measures.shape import PersonTracks, moves_between

GROUPS_KM = (1.0, 4.0, 10.0, 40.0, 100.0, 200.0)
"""The radii of gyration that groups of people are named by: the paper's, and one for small towns."""

DECADES = (-3, 3)
PER_DECADE = 6
FIT = (0.5, 10.0)
"""Between which ratios of displacement and radius a slope is fitted: below, the spacing of antennas or of
places rules, not the people."""

FEWEST = 10
"""Moves that a bin needs for its density to count in a slope."""


class Law(NamedTuple):
    """How far a group of people with similar radius goes.

    Attributes
    ----------
    people, moves : int
        How many people there are, and how many times they moved.
    ratio, density : array of float
        Displacement over radius of gyration, and its probability density there; log-spaced bins.
    slope : float or None
        The exponent of a power law, fitted to the bins between FIT; None where there are too few.
    """

    people: int
    moves: int
    ratio: Floats
    density: Floats
    slope: float | None


def displacement_laws(
    tracks: PersonTracks, radius: Floats, groups: tuple[float, ...] = GROUPS_KM
) -> dict[float, Law]:
    """Return the law of each group of people, by the radius that names the group.

    People belong to the group with the nearest radius by ratio; below and above, a group reaches as far
    as to its neighbour. Displacements are between consecutive points; staying is none.

    Parameters
    ----------
    tracks : PersonTracks
        Everybody's points.
    radius : array of float
        Everybody's radius of gyration in km.
    groups : tuple of float
        The radii that name the groups, rising.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> x = np.array([0, 80, 0, 80])
    >>> tracks = PersonTracks(Grid(), np.array([0, 4]), np.arange(4), x, np.zeros(4, int))
    >>> law = displacement_laws(tracks, np.array([2.0]))[4.0]
    >>> law.people, law.moves
    (1, 3)
    """
    return laws_of(*count_moves(tracks, radius, groups), groups)


def count_moves(
    tracks: PersonTracks, radius: Floats, groups: tuple[float, ...] = GROUPS_KM
) -> tuple[Ints, Ints]:
    """Return the people of each group, and their moves by group and bin; those of several tracks add up."""
    group = group_of(radius, groups)
    owner, km = moves_between(tracks)
    some = group[owner] >= 0
    owner, km = owner[some], km[some]
    n_bins = (DECADES[1] - DECADES[0]) * PER_DECADE
    bins = np.floor((np.log10(km / radius[owner]) - DECADES[0]) * PER_DECADE).astype(np.int64)
    inside = (bins >= 0) & (bins < n_bins)
    key = group[owner[inside]] * n_bins + bins[inside]
    moves = np.bincount(key, minlength=len(groups) * n_bins).reshape(len(groups), n_bins)
    return np.bincount(group[group >= 0], minlength=len(groups)), moves


def laws_of(people: Ints, moves: Ints, groups: tuple[float, ...] = GROUPS_KM) -> dict[float, Law]:
    """Return the laws, given what :func:`count_moves` counts."""
    return {name: _law(int(people[i]), moves[i]) for i, name in enumerate(groups)}


def group_of(radius: Floats, groups: tuple[float, ...] = GROUPS_KM) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the group of each radius, -1 where it is too small or too large for any.

    >>> group_of(np.array([0.0, 0.6, 1.9, 2.1, 100.0]), (1.0, 4.0, 16.0)).tolist()
    [-1, 0, 0, 1, -1]
    """
    names = np.array(groups)
    between = np.sqrt(names[1:] * names[:-1])
    outer = names[0] ** 2 / between[0], names[-1] ** 2 / between[-1]
    group = np.searchsorted(np.concatenate(([outer[0]], between, [outer[1]])), radius, side="right") - 1
    return np.where(group < len(groups), group, -1)


def slopes(
    original: dict[float, Law], released: dict[float, Law]
) -> dict[str, dict[str, float | int | None]]:
    """Return the slopes S_o and S_a of every group, their difference and how many people are in it."""
    told: dict[str, dict[str, float | int | None]] = {}
    for name, before in original.items():
        after = released[name]
        known = before.slope is not None and after.slope is not None
        told[f"{name:g}_km"] = {
            "people_original": before.people,
            "people_released": after.people,
            "slope_original": before.slope,
            "slope_released": after.slope,
            "difference": abs(before.slope - after.slope) if known else None,  # type: ignore[operator]
        }
    return told


def _law(people: int, moves: np.ndarray[Any, np.dtype[np.int64]]) -> Law:
    edges = 10.0 ** (DECADES[0] + np.arange(len(moves) + 1) / PER_DECADE)
    middle = np.sqrt(edges[1:] * edges[:-1])
    total = int(moves.sum())
    density = moves / np.diff(edges) / max(total, 1)
    fitted = (moves >= FEWEST) & (middle >= FIT[0]) & (middle <= FIT[1])
    seen = moves > 0
    slope = _slope(middle[fitted], density[fitted]) if fitted.sum() >= 3 else None
    return Law(people, total, middle[seen], density[seen], slope)


def _slope(ratio: Floats, density: Floats) -> float:
    """Return the exponent of the power law through points, by least squares on logarithms."""
    x, y = np.log(ratio), np.log(density)
    x = x - x.mean()
    return float(-(x * y).sum() / (x * x).sum())
