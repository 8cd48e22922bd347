"""Every method in processes of their own: neither the hash seed nor compilation changes a release.

One process a seed solves for all methods, since starting one costs more than any of them takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from worlds.depth import size
from worlds.methods import HELD_TO_IT

SOLVE = """
import hashlib, json, sys
import numpy as np
from tripcloak.flows.methods import METHODS
from tripcloak.promises import KAnonymity
from tripcloak.hierarchy import Hierarchy
from tripcloak.flows.model import ODMatrix

def matrix_of(tiles, trips, near, *known):
    draw, n = np.random.default_rng(11), tiles + tiles // 8 + 1
    ids = [f"t{i}" for i in range(tiles)] + [f"m{i}" for i in range(tiles // 8)] + ["all"]
    at = dict(lat=draw.random(n), lon=draw.random(n), area_km2=np.ones(n))
    above = [tiles + i // 8 for i in range(tiles)] + [n - 1] * (tiles // 8) + [-1]
    tree = Hierarchy.from_parents(ids, above, **at)
    columns = dict(person=draw.integers(0, trips * 3 // 40, trips), weight=draw.random(trips))
    ends = np.minimum(draw.geometric(near, (2, trips)), tiles - 1)
    return ODMatrix.from_trips(tree, tree, *ends, **{name: columns[name] for name in known})

def protected(matrix):
    for tree in (matrix.origins, matrix.destinations):
        zones = tree.zones
        yield from (tree.parent, zones.ids, zones.height, zones.tiles)
        yield from (zones.tiles_observed, zones.area_km2, zones.lat, zones.lon)
    flows = matrix.flows
    yield from (flows.origin, flows.destination, flows.trips)
    yield from () if flows.population is None else (flows.population,)
    yield from () if flows.travellers is None else flows.travellers

def mark_of(release):
    mark = hashlib.sha256(release.input_digest.encode())
    for array in (release.group_of_flow, release.group_origin, release.group_destination, release.population):
        mark.update(b"" if array is None else array.tobytes())
    return [release.n_groups, mark.hexdigest()]

found, asked, protect = {}, json.loads(sys.argv[1]), sys.argv[2] == "protect"
for name, parameters in asked["methods"]:
    for form in asked["forms"]:
        matrix = matrix_of(*form)
        for array in protected(matrix) if protect else ():
            array.flags.writeable = False
        release = METHODS[name](promise=KAnonymity(k=5), **parameters).anonymise(matrix)
        found.setdefault(name, []).append(mark_of(release))
print(json.dumps(found))
"""

SMALL = [[16, 200, 0.4], [16, 400, 0.4, "person"], [16, 400, 0.4, "person", "weight"]]
LARGE = [[size(64, 512), size(4000, 40_000), 0.1, "person", "weight"]]


def solve(forms: list[list[Any]], *, protect: bool = False, **environment: str) -> dict[str, Any]:
    """Return, by method, the number of groups and a digest of each release."""
    # A limit that suppression alone can keep; the others find it no harder.
    methods = [
        (method.name, {**method().parameters(), "suppression_limit": 0.5}) for method in HELD_TO_IT.values()
    ]
    asked = json.dumps({"methods": methods, "forms": forms})
    told = subprocess.run(
        [sys.executable, "-c", SOLVE, asked, "protect" if protect else ""],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def test_neither_the_hash_seed_nor_compiling_matters() -> None:
    """The last of the three runs uncompiled, on an input that neither kernels nor others can write to."""
    compiled = solve(SMALL + LARGE, PYTHONHASHSEED="0")
    assert set(compiled) == set(HELD_TO_IT)
    assert all(groups > 1 for releases in compiled.values() for groups, _ in releases)
    assert solve(SMALL + LARGE, PYTHONHASHSEED="4242") == compiled
    plain = solve(SMALL, protect=True, NUMBA_DISABLE_JIT="1")
    assert plain == {name: releases[: len(SMALL)] for name, releases in compiled.items()}
