"""Clusters of places: cells that stand out in noisy numbers, or dense ones of the places as they are."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.trajectories.methods.cells import codes_of
from tripcloak.trajectories.methods.noise.noisy import Drawing

SIDE = 64
"""Columns and rows of cells around the middle of the projection of which numbers are told."""

LEAF = 200
"""Visits above which a part of the published quadtree is divided."""


class Clusters(NamedTuple):
    """The cell that stands for each cluster."""

    x: Ints
    y: Ints


def noisy_clusters(x: Ints, y: Ints, most: int, drawing: Drawing) -> Clusters:
    """Return the cells with most visits by noisy numbers; all cells around the middle get noise."""
    across, up = (side.ravel() + SIDE // 2 for side in (x, y))
    inside = (across >= 0) & (across < SIDE) & (up >= 0) & (up < SIDE)
    exact = np.bincount((across * SIDE + up)[inside], minlength=SIDE * SIDE)
    # So strict that fewer than one cell stands out that nobody visits.
    least = math.ceil(math.log(SIDE * SIDE) * drawing.next_scale)
    people = drawing.noisy(exact)
    best = np.argsort(-people, kind="stable")[:most]
    best = np.sort(best[people[best] >= least])
    return Clusters(best // SIDE - SIDE // 2, best % SIDE - SIDE // 2)


def dense_clusters(x: Ints, y: Ints, most: int) -> Clusters:
    """Return, as published, dense groups of places, each told by a real place near its middle.

    DBSCAN joins cells that touch and are visited more often than a cell is on average. The middle of a
    cluster is replaced by a visit drawn from the leaf of a quadtree that it lies in. Nothing of this is
    noisy.
    """
    cell = codes_of(x, y)
    first, visits = np.unique(cell, return_index=True, return_counts=True)[1:]
    dense = np.flatnonzero(visits >= visits.mean())
    label = touching(x[first[dense]], y[first[dense]])
    many = np.bincount(label, visits[dense])
    random, chosen = np.random.default_rng(), []
    for cluster in np.argsort(-many, kind="stable")[:most]:
        mine = first[dense[label == cluster]]
        weight = visits[dense[label == cluster]]
        middle = np.average(x[mine], weights=weight), np.average(y[mine], weights=weight)
        chosen.append(random.choice(_leaf(x, y, middle)))
    return Clusters(x[chosen], y[chosen])


def touching(x: Ints, y: Ints) -> Ints:
    """Return a number for every cell, the same of those that hang together."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(np.stack([x, y], axis=1)).query_pairs(1.5, output_type="ndarray")
    graph = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(x), len(x)))
    label: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return label


def _leaf(x: Ints, y: Ints, place: tuple[float, float]) -> Ints:
    """Return the visits in the leaf of a quadtree that a place lies in; never none."""
    rows = np.arange(len(x))
    west, south = float(x.min()), float(y.min())
    width = float(max(np.ptp(x), np.ptp(y)) + 1)
    while len(rows) > LEAF and width > 1:
        width /= 2
        west += width * (place[0] >= west + width)
        south += width * (place[1] >= south + width)
        inside = (x[rows] >= west) & (x[rows] < west + width) & (y[rows] >= south) & (y[rows] < south + width)
        if not inside.any():
            break
        rows = rows[inside]
    return rows


def nearest(x: Ints, y: Ints, clusters: Clusters) -> Ints:
    """Return the cluster that is nearest to each cell."""
    from scipy.spatial import cKDTree

    tree = cKDTree(np.stack([clusters.x, clusters.y], axis=1))
    found: Ints = tree.query(np.stack([x.ravel(), y.ravel()], axis=1))[1].astype(np.int64)
    return found.reshape(x.shape)
