"""The limit on what is withheld, guarded three times: reached it passes, and one trip more does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from tripcloak.flows.audit import audit_folder, audit_matrix
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.errors import InternalError
from tripcloak.promises import KAnonymity
from worlds.released_flows import TOWNS, World

LIMIT = 0.1
RULE = "suppression-within-limit"


def world_of(withheld: int) -> World:
    """Return a world of ten thousand trips, so many of them in a flow of their own."""
    trips = [withheld, 5000, 5000 - withheld]
    start, end = TOWNS[[0, 1, 2]], TOWNS[[1, 2, 0]]
    ends = {"o_lat": start[:, 0], "o_lon": start[:, 1], "d_lat": end[:, 0], "d_lon": end[:, 1]}
    return World.of(pa.table({**ends, "trips": trips, "reason": pa.array([0] * 3, pa.int32())}), "h3:6")


def released(world: World, withheld: int, limit: float) -> Release:
    matrix = world.matrix
    return build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=KAnonymity(k=2, unit="trips"),
        suppression_limit=limit,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        suppressed=matrix.flows.trips == withheld,
        homogeneous=True,
    )


def test_exactly_the_limit_passes_every_guard(tmp_path: Path) -> None:
    world = world_of(1000)
    release = released(world, 1000, LIMIT)
    assert audit_matrix(world.matrix, release).broken == ()
    folder = world.publish(tmp_path / "out", release)
    with world.connection() as con:
        assert audit_folder(folder.path, con).broken == ()


def test_one_trip_more_is_built_by_nobody() -> None:
    with pytest.raises(InternalError, match="more than its limit"):
        released(world_of(1001), 1001, LIMIT)


def test_one_trip_more_passes_neither_audit(tmp_path: Path) -> None:
    world = world_of(1001)
    looser = released(world, 1001, LIMIT + 1e-3)
    assert audit_matrix(world.matrix, looser).broken == ()
    assert audit_matrix(world.matrix, replace(looser, suppression_limit=LIMIT)).broken == (RULE,)
    folder = world.publish(tmp_path / "out", looser)
    folder.edit_manifest(lambda facts: facts["parameters"].update(suppression_limit=LIMIT))
    with world.connection() as con:
        assert RULE in audit_folder(folder.path, con).broken
