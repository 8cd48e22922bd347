"""Reads a release of noisy numbers back: what is published, and which input flow lies in which pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.arrays import Ints
from tripcloak.criteria import DifferentialPrivacy
from tripcloak.hierarchy import Domain, Hierarchy, Zones, shared_domains
from tripcloak.io.folder import PUBLIC
from tripcloak.matrix import ODMatrix
from tripcloak.release import Release, build_noisy_release

PROMISED = ("epsilon", "delta", "unit", "contributions", "mechanism")


def noisy_release(folder: Path, matrix: ODMatrix, facts: dict[str, Any], groups: Any) -> Release:
    """Return the release whose public part a folder holds.

    The numbers come from the published table: noise cannot be drawn twice alike.

    Parameters
    ----------
    facts
        The manifest.
    groups
        The table of groups, one row per flow of the matrix, in its order.
    """
    from pyarrow import parquet

    flows = parquet.read_table(folder / PUBLIC / "flows.parquet")
    told = parquet.read_table(folder / PUBLIC / "zones.parquet")
    domains = shared_domains(matrix.origins, matrix.destinations)
    if domains is None:
        raise ValueError("the hierarchy does not say which zones there could be")
    zones, pairs, sent = [], [], []
    for axis, domain, (tree, _) in zip(("origin", "destination"), domains, matrix.axes, strict=True):
        known = tree.zones if tree.complete else _zones(told, axis, domain, tree)
        zones.append(known)
        pairs.append(_rows(known.ids, flows[axis]))
        sent.append(_rows(known.ids, groups[f"released_{axis}"]))
    stated = dict(facts["differential_privacy"])
    privacy = DifferentialPrivacy(
        **{name: stated.pop(name) for name in PROMISED}, details=tuple(stated.items())
    )
    return build_noisy_release(
        matrix,
        method=facts["method"],
        parameters=facts["parameters"],
        privacy=privacy,
        zones=(zones[0], zones[1]),
        group_of_flow=_groups(pairs, sent, len(zones[1])),
        group_origin=pairs[0],
        group_destination=pairs[1],
        trips=flows["trips"].to_numpy(),
        homogeneous=facts["homogeneous"],
    )


def _zones(told: Any, axis: str, domain: Domain, tree: Hierarchy) -> Zones:
    """Return the published zones of one axis of a grid, sorted by id."""
    rows = np.asarray(told["axis"]) == axis
    column = {
        name: np.asarray(told[name])[rows] for name in ("zone", "height", "tiles", "area_km2", "lat", "lon")
    }
    order = np.argsort(column["zone"].astype(np.str_))
    ids, height, tiles, area, lat, lon = (values[order] for values in column.values())
    ids = ids.astype(np.str_)
    occurring, _ = domain.released(domain.lift(tree, int(height[0])), tree)
    at = np.minimum(np.searchsorted(ids, occurring.ids), len(ids) - 1)
    observed = np.zeros(len(ids), dtype=np.int64)
    published = ids[at] == occurring.ids
    observed[at[published]] = occurring.tiles_observed[published]
    return Zones(ids, height, tiles, observed, area, lat, lon)


def _rows(ids: NDArray[np.str_], column: Any) -> Ints:
    """Return the row of every id, -1 for null; raise where there is no such zone."""
    coded = column.combine_chunks().dictionary_encode()
    names = np.asarray(coded.dictionary.to_pylist(), dtype=np.str_)
    order = np.argsort(ids)
    at = order[np.minimum(np.searchsorted(ids, names, sorter=order), len(order) - 1)]
    if not (ids[at] == names).all():
        raise ValueError("the release names zones that are not in its own table")
    rows: Ints = np.append(at, -1)[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return rows


def _groups(pairs: list[Ints], sent: list[Ints], width: int) -> Ints:
    """Return the group of every flow by its pair of zones, -1 where it has none."""
    key = pairs[0].astype(np.int64) * width + pairs[1]
    order = np.argsort(key)
    wanted = sent[0].astype(np.int64) * width + sent[1]
    at = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)]
    lost = sent[0] < 0
    if not (lost == (sent[1] < 0)).all() or not (lost | (key[at] == wanted)).all():
        raise ValueError("a flow lies in a pair of zones that is not published")
    return np.where(lost, -1, at)
