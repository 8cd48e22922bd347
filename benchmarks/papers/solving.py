"""Runs one method on one data set in a process of its own, within a time limit."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.measuring import TookTooLong, run
from benchmarks.papers.datasets import Data, from_dict, to_dict
from benchmarks.papers.runs import LIMIT, K, Run
from benchmarks.stations import Stations
from tripcloak import METHODS, KAnonymity, TripcloakError, measure
from tripcloak.flows.model import ODMatrix

USUAL = {"promise": KAnonymity(k=K, unit="trips"), "suppression_limit": LIMIT}
"""What all methods are asked for, in both papers."""

Result = dict[str, Any]
"""Either ``matrices`` (one mapping of measures each) and ``peak_mb``, or ``failed``: the reason."""


def solved_apart(data: Data, asked: Run, matrices: int, limit_s: float) -> Result:
    """Return what a method gives on a data set, run in a process of its own."""
    order = {"data": to_dict(data), "method": asked.method, "options": dict(asked.options), "n": matrices}
    command = [sys.executable, "-m", "benchmarks.papers.solving", json.dumps(order)]
    try:
        cost = run(command, limit_s=limit_s)
    except TookTooLong:
        return {"failed": f"stopped after {limit_s:,.0f} s"}
    except SystemExit:
        return {"failed": "ended with an error of its own, see above"}
    return {**cost.json(), "peak_mb": round(cost.peak_mb)}


def solved(data: Data, method: str, options: Mapping[str, Any], matrices: int) -> Result:
    """Return what a method gives on a data set: one mapping of measures a matrix, or why there is none."""
    if method not in METHODS:
        return {"failed": "tripcloak does not have this method"}
    try:
        return {"matrices": [figures(matrix, method, options) for matrix in data.matrices(matrices)]}
    except TripcloakError as error:
        return {"failed": str(error)}


def figures(matrix: ODMatrix, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return every measure of a method's release of a matrix, with what it cost and what went in.

    Where numbers are noisy, S is the paper's: the volume missing in all, negative where noise adds some.
    """
    chosen = METHODS[method](**{**USUAL, **options})
    started = time.process_time()
    release = chosen.anonymise(matrix)
    cpu_s = time.process_time() - started
    return {
        **_input(matrix),
        **measure(matrix, release),
        **({"S": 1 - float(release.trips.sum()) / matrix.total("trips")} if release.promise.noisy else {}),
        "groups": release.n_groups,
        "origin_zones": release.zone_numbers[0],
        "destination_zones": release.zone_numbers[1],
        "homogeneous": release.homogeneous,
        "cpu_s": cpu_s,
    }


def _input(matrix: ODMatrix) -> dict[str, Any]:
    trips = matrix.flows.trips
    safe = trips >= K
    return {
        "flows": matrix.n_flows,
        "trips": int(trips.sum()),
        "origins": len(np.unique(matrix.flows.origin)),
        "destinations": len(np.unique(matrix.flows.destination)),
        "safe_flows": float(safe.mean()),
        "safe_volume": float(trips[safe].sum() / trips.sum()),
    }


def _warm_up(method: str, options: Mapping[str, Any]) -> None:
    """Let the kernels compile before the clock runs."""
    solved(Stations(tiles=20, trips=400, towns=2), method, options, 1)


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    _warm_up(told["method"], told["options"])
    print(json.dumps(solved(from_dict(told["data"]), told["method"], told["options"], told["n"])))
