"""Releases read back into plain Python, to hold them against the oracle and against each other."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from oracles.flows.kernels import Pair
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release

TIMING = "seconds"
"""The one field of a release that differs between two runs."""


def flow_pairs(matrix: ODMatrix) -> list[Pair]:
    """Return the tile ids of every flow."""
    origin, destination = matrix.origins.zones.ids, matrix.destinations.zones.ids
    return [
        (str(origin[o]), str(destination[d]))
        for o, d in zip(matrix.flows.origin, matrix.flows.destination, strict=True)
    ]


def group_pairs(release: Release) -> list[Pair]:
    """Return the zone ids of every released group."""
    origin, destination = release.origins.ids, release.destinations.ids
    return [
        (str(origin[o]), str(destination[d]))
        for o, d in zip(release.group_origin, release.group_destination, strict=True)
    ]


def released_as(matrix: ODMatrix, release: Release) -> dict[Pair, Pair | None]:
    """Return the pair of zones every flow is released as, None where it is withheld."""
    groups = group_pairs(release)
    return {
        pair: None if group < 0 else groups[group]
        for pair, group in zip(flow_pairs(matrix), release.group_of_flow, strict=True)
    }


def contents(release: Release) -> dict[str, Any]:
    """Return everything a release says, in a form that compares bit by bit."""
    found = {field.name: getattr(release, field.name) for field in fields(release) if field.name != TIMING}
    for name in ("origins", "destinations"):
        found[name] = found[name].ids.tolist()
    return {
        name: (value.dtype.str, value.tobytes()) if isinstance(value, np.ndarray) else value
        for name, value in found.items()
    }
