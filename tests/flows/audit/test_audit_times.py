"""The quick audit of releases with times: the third axis is climbed and compared like the others."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows.kernels import Tree, below
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_release
from tripcloak.promises import KAnonymity
from worlds.matrices import hierarchy_of

PLACES: Tree = {"all": None, "ab": "all", "a": "ab", "b": "ab", "c": "all"}
TIMES: Tree = {"week": None, "day": "week", "hour": "day", "noon": "day", "sunday": "week"}
TREES = (PLACES, PLACES, TIMES)


def everywhere() -> ODMatrix:
    """Return a matrix with two trips in every combination of tiles."""
    origin, destination, slot = np.array(list(product(range(3), repeat=3)) * 2, dtype=np.int32).T
    places, times = hierarchy_of(PLACES), hierarchy_of(TIMES)
    return ODMatrix.from_trips(places, places, origin, destination, times=times, slot=slot)


MATRIX = everywhere()
TILES = [tuple(tree.zones.ids[codes[flow]] for tree, codes in MATRIX.axes) for flow in range(MATRIX.n_flows)]


def release_of(sent: list[tuple[str, str, str]]) -> Release:
    """Return the release in which every flow goes to these zones."""
    columns = []
    for axis, (tree, _) in enumerate(MATRIX.axes):
        row = {zone: number for number, zone in enumerate(tree.zones.ids)}
        columns.append(np.array([row[zones[axis]] for zones in sent], dtype=np.int32))
    return build_release(
        MATRIX,
        method="by hand",
        parameters={},
        promise=KAnonymity(k=2, unit="trips"),
        suppression_limit=0.5,
        origin_zone=columns[0],
        destination_zone=columns[1],
        time_zone=columns[2],
        suppressed=np.zeros(MATRIX.n_flows, dtype=bool),
        homogeneous=False,
    )


def ancestors(tree: Tree, tile: str) -> list[str]:
    return [zone for zone in tree if tile in below(tree, zone)]


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.integers(0, 2**16), min_size=len(TILES), max_size=len(TILES)), st.integers(0, 2))
def test_flows_overlap_exactly_where_two_of_them_hold_one_combination_of_tiles(
    dice: list[int], coarse: int
) -> None:
    sent = []
    for tile, number in zip(TILES, dice, strict=True):
        above = list(product(*(ancestors(tree, one) for tree, one in zip(TREES, tile, strict=True))))
        # Mostly the tiles themselves, so that some releases have no overlap at all.
        sent.append(above[number % len(above)] if number % 64 < coarse else tile)
    report = audit_matrix(MATRIX, release_of(sent))
    holders = {
        tile: {
            zones
            for zones in set(sent)
            if all(one in below(tree, zone) for tree, one, zone in zip(TREES, tile, zones, strict=True))
        }
        for tile in TILES
    }
    overlap = any(len(zones) > 1 for zones in holders.values())
    assert report.broken == (("flows-never-overlap",) if overlap else ())


def test_a_time_that_does_not_hold_its_slots_is_found() -> None:
    release = release_of([(*tile[:2], "week") for tile in TILES])
    assert audit_matrix(MATRIX, release).safe
    assert release.group_time is not None
    sunday = MATRIX.axes[2][0].zones.ids.tolist().index("sunday")
    wrong = replace(release, group_time=np.full_like(release.group_time, sunday))
    assert audit_matrix(MATRIX, wrong).broken == ("zones-contain-tiles",)


def test_one_time_for_two_groups_of_the_same_places_is_found() -> None:
    release = release_of(TILES)
    assert release.group_time is not None
    same = replace(release, group_time=np.zeros_like(release.group_time))
    assert "flows-match-recount" in audit_matrix(MATRIX, same).broken


@pytest.mark.parametrize("axis", ["origin", "destination", "time"])
def test_every_axis_is_climbed(axis: str) -> None:
    release = release_of(TILES)
    column = getattr(release, f"group_{axis}").copy()
    column[column == 0] = 1
    assert "zones-contain-tiles" in audit_matrix(MATRIX, replace(release, **{f"group_{axis}": column})).broken
