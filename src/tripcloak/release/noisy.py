"""Builds a release whose numbers are noisy, under differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.criteria import DifferentialPrivacy
from tripcloak.errors import InternalError
from tripcloak.hierarchy import Zones
from tripcloak.matrix import ODMatrix
from tripcloak.release.release import Release


def build_noisy_release(
    matrix: ODMatrix,
    *,
    method: str,
    parameters: Mapping[str, Any],
    privacy: DifferentialPrivacy,
    zones: tuple[Zones, Zones],
    group_of_flow: Ints,
    group_origin: Ints,
    group_destination: Ints,
    trips: Ints,
    homogeneous: bool,
    seconds: float = 0.0,
) -> Release:
    """Return the release of noisy numbers between pairs of zones.

    Whether noise was added, and enough of it, cannot be seen from the numbers; what can be seen is
    checked, and anything odd raises :class:`InternalError`.

    Parameters
    ----------
    zones
        The zones of origins and of destinations that the groups name.
    group_of_flow
        The group whose pair of zones holds each input flow; -1 where that pair is not released.
    group_origin, group_destination, trips
        A pair of zones and a noisy number of trips for every group. No input flow need lie in it.
    homogeneous
        Zones of one axis never overlap.
    """
    groups = len(trips)
    if not len(group_origin) == len(group_destination) == groups or len(group_of_flow) != matrix.n_flows:
        raise InternalError("the noisy groups do not fit the matrix; nothing was released")
    if groups == 0 or trips.dtype.kind != "i" or trips.min() < 1:
        raise InternalError("noisy numbers must be whole and 1 or more; nothing was released")
    for rows, known in zip((group_origin, group_destination), zones, strict=True):
        if rows.min() < 0 or rows.max() >= len(known):
            raise InternalError("a noisy group names a zone that there is not; nothing was released")
    if len(np.unique(group_origin.astype(np.int64) * len(zones[1]) + group_destination)) != groups:
        raise InternalError("two noisy groups share one pair of zones; nothing was released")
    if group_of_flow.min() < -1 or group_of_flow.max() >= groups:
        raise InternalError("a flow went to a group that there is not; nothing was released")
    return Release(
        method=method,
        parameters=dict(parameters),
        criterion=privacy,
        suppression_limit=0.0,
        origins=zones[0],
        destinations=zones[1],
        group_of_flow=group_of_flow.astype(np.int32),
        group_origin=group_origin.astype(np.int32),
        group_destination=group_destination.astype(np.int32),
        trips=trips.astype(np.int64),
        travellers=None,
        population=None,
        homogeneous=homogeneous,
        volume="trips",
        input_digest=matrix.digest(),
        seconds=seconds,
    )
