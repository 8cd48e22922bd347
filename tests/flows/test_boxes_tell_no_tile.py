"""Edges of boxes under attack: they name nearly every tile of tight boxes, and none of those on the grid."""

from __future__ import annotations

from typing import Any

import h3
import numpy as np
import pytest

from oracles.flows.box_attack import Claims, claim_tiles
from tripcloak.flows.methods import METHODS
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.hierarchy import BoxZones, H3Tiling, tile_centres, tile_extents
from tripcloak.hierarchy.box_grid import longitude_step
from tripcloak.promises import KAnonymity
from tripcloak.synth.city import City
from worlds.released_flows import World, raw_trips, tract_file

RESOLUTION = 9


@pytest.fixture(scope="module")
def city() -> ODMatrix:
    """A made-up city on cells of H3."""
    (trips,) = City(trips=6000, seed=4, radius_km=6).batches()
    tiling = H3Tiling(RESOLUTION)
    sides = []
    for end in ("start", "end"):
        keys = tiling.encode(*(trips[f"{end}_{side}"].to_numpy() for side in ("lat", "lon")))
        tree = tiling.hierarchy(np.unique(keys))
        sides.append((tree, tiling.tiles(keys, tree)))
    person = np.unique(trips["person_id"].to_numpy(zero_copy_only=False), return_inverse=True)[1]
    trees, tiles = zip(*sides, strict=True)
    return ODMatrix.from_trips(*trees, *tiles, person=person.astype(np.int32))


def all_tiles(matrix: ODMatrix, centres: bool) -> tuple[list[str], Any]:
    """Return every cell of the region, with or without people, and where it ends, or its centre."""
    lat, lon = tile_centres(matrix.origins)
    low, high = (lat.min() / 1e6 - 0.1, lon.min() / 1e6 - 0.1), (lat.max() / 1e6 + 0.1, lon.max() / 1e6 + 0.1)
    region = h3.LatLngPoly([low, (low[0], high[1]), high, (high[0], low[1])])
    cells = sorted(h3.polygon_to_cells(region, RESOLUTION))
    tree = H3Tiling(RESOLUTION).hierarchy(np.array([int(cell, 16) for cell in cells], dtype=np.uint64))
    ends = tile_extents(tree)
    if centres:
        ends = tile_centres(tree) * 2
    return tree.zones.ids[: tree.n_tiles].tolist(), np.stack(ends)


def attacked(matrix: ODMatrix, release: Release, tight: bool) -> Claims:
    """Return what the claims on the origins of a release are worth; tight: as boxes were drawn before."""
    names, tiles = all_tiles(matrix, centres=tight)
    row = {name: number for number, name in enumerate(names)}
    place = np.array([row[str(name)] for name in matrix.origins.zones.ids[: matrix.origins.n_tiles]])
    was_in: list[set[int]] = [set() for _ in range(release.n_groups)]
    for group, tile in zip(release.group_of_flow.tolist(), matrix.flows.origin.tolist(), strict=True):
        if group >= 0:
            was_in[group].add(int(place[tile]))
    zones = release.origins
    assert isinstance(zones, BoxZones)
    if tight:
        own = [tiles[:, sorted(mine)] for mine in was_in]
        boxes = [(*ends[:2].min(axis=1).tolist(), *ends[2:].max(axis=1).tolist()) for ends in own]
        return claim_tiles(boxes, was_in, tiles, {"lat": [0] * len(boxes), "lon": [0] * len(boxes)})
    corners = np.stack(zones.corners)[:, release.group_origin]
    wide = longitude_step(zones.step, corners[0], corners[2])
    widths = {"lat": [zones.step] * len(wide), "lon": wide.tolist()}
    return claim_tiles([tuple(box) for box in corners.T.tolist()], was_in, tiles, widths)


@pytest.mark.parametrize("name", ["mondrian", "glove"])
def test_claims_on_the_tiles_of_edges_are_no_better_than_chance(name: str, city: ODMatrix) -> None:
    release = METHODS[name](promise=KAnonymity(k=5, unit="travellers")).anonymise(city)
    assert release.n_groups > 100
    before = attacked(city, release, tight=True)
    assert before.right > 0.98
    assert before.only_choice > 0.9
    after = attacked(city, release, tight=False)
    assert after.only_choice == 0
    assert after.right <= after.by_chance
    assert after.by_chance < 0.35


def test_no_edge_fits_one_zone_of_a_file(tmp_path: Any) -> None:
    world = World.of(raw_trips(900, people=120), "dendrogram", zones=tract_file(tmp_path))
    matrix = world.matrix
    release = METHODS["mondrian"](promise=KAnonymity(k=20, unit="travellers")).anonymise(matrix)
    zones, tiles = release.origins, np.stack(tile_extents(matrix.origins))
    assert isinstance(zones, BoxZones)
    spread = 0
    for group, row in enumerate(release.group_origin.tolist()):
        box = np.array([side[row] for side in zones.corners])[:, None]
        held = ((tiles[:2] >= box[:2]).all(axis=0) & (tiles[2:] <= box[2:]).all(axis=0)).sum()
        own = np.unique(matrix.flows.origin[release.group_of_flow == group])
        assert held >= 3 or held == len(own) == 1
        spread += len(own) > 1
    assert spread >= 3
