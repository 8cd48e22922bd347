"""The tasks themselves; each runs in a fresh process and prints one JSON object."""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

from tripcloak import METHODS, KAnonymity, ODkAnon, Place, TripSource, measure, read_matrix
from tripcloak.matrix import ODMatrix


def solve(path: str, method: str, unit: str) -> dict[str, float]:
    """Return what a method costs from ODMatrix to Release, kernels already compiled."""
    _solve(_small(), method, "trips")
    return _solve(_matrix(path), method, unit)


def dendrogram(method: str) -> dict[str, float]:
    """Return what a method costs on two dendrograms of 6,664 tiles, 305 k flows and 957 k trips."""
    _solve(_small(), method, "trips")
    return _solve(_base_stations(), method, "trips")


def _solve(matrix: ODMatrix, method: str, unit: str) -> dict[str, float]:
    algorithm = METHODS[method](criterion=KAnonymity(k=10, unit=unit))  # type: ignore[arg-type]
    before = _peak_mb()
    started = time.process_time()
    release = algorithm.anonymise(matrix)
    return {
        "cpu_s": time.process_time() - started,
        "trips": matrix.total("trips"),
        "flows": matrix.n_flows,
        "groups": release.n_groups,
        "matrix_mb": before,
        "peak_mb": _peak_mb(),
    }


def metrics(path: str) -> dict[str, float]:
    """Return what all measures together cost, kernels already compiled."""
    matrix = _matrix(path)
    release = ODkAnon(criterion=KAnonymity(k=10, unit="trips")).anonymise(matrix)
    measure(matrix, release)
    started = time.process_time()
    measure(matrix, release)
    return {"cpu_s": time.process_time() - started, "flows": matrix.n_flows}


def reference(path: str) -> dict[str, float]:
    """Return what the least possible costs: H3 encoding, then DuckDB's exact distinct count per pair."""
    import duckdb
    import h3.api.basic_int as h3
    import numpy as np
    import pyarrow as pa

    started = time.process_time()
    con = duckdb.connect(config={"memory_limit": "8GB"})
    con.execute("create table coded (o ubigint, d ubigint, person varchar)")
    columns = "start_lat, start_lon, end_lat, end_lon, person_id"
    for batch in con.cursor().sql(f"select {columns} from '{path}'").to_arrow_reader(1 << 18):
        o_lat, o_lon, d_lat, d_lon = (batch.column(i).to_numpy().tolist() for i in range(4))
        origin = [h3.latlng_to_cell(lat, lon, 10) for lat, lon in zip(o_lat, o_lon, strict=True)]
        destination = [h3.latlng_to_cell(lat, lon, 10) for lat, lon in zip(d_lat, d_lon, strict=True)]
        coded = pa.table(
            {
                "o": np.array(origin, dtype=np.uint64),
                "d": np.array(destination, dtype=np.uint64),
                "person": batch.column(4),
            }
        )
        con.register("part", coded)
        con.execute("insert into coded select * from part")
    encoded = time.process_time() - started
    counting = "select o, d, count(*) as trips, count(distinct person) as travellers from coded group by o, d"
    ((pairs,),) = con.execute(f"select count(*) from ({counting} having travellers > 0)").fetchall()
    return {"cpu_s": time.process_time() - started, "encoding_cpu_s": encoded, "pairs": pairs}


def _matrix(path: str) -> ODMatrix:
    return read_matrix(TripSource(paths=(path,)), Place(spec="h3:10")).trips.matrix


def _small() -> ODMatrix:
    """Return a matrix on which the kernels compile before the clock runs."""
    return _stations(tiles=20, flows=60, trips=200)


def _base_stations() -> ODMatrix:
    return _stations(tiles=6_664, flows=305_000, trips=957_000)


def _stations(tiles: int, flows: int, trips: int) -> ODMatrix:
    """Return trips between base stations: dense in towns, drawn to mass and put off by distance."""
    import numpy as np

    from tripcloak.hierarchy import DendrogramTiling, ZoneFile

    rng = np.random.default_rng(1)
    towns = rng.uniform((12.5, -17.0), (16.5, -11.5), (40, 2))
    at = towns[rng.integers(40, size=tiles)] + rng.normal(0, 0.08, (tiles, 2)) * rng.exponential(
        1, (tiles, 1)
    )
    names = np.array([f"s{i:05d}" for i in range(tiles)])
    tree = DendrogramTiling(ZoneFile(names, at[:, 0], at[:, 1]))
    hierarchy = tree.hierarchy(tree.keys(names.tolist()))
    mass = rng.pareto(2.5, tiles) + 0.3
    origin = rng.choice(tiles, 12 * flows, p=mass / mass.sum())
    target = rng.choice(tiles, 12 * flows, p=mass / mass.sum())
    apart = np.hypot(*(at[origin] - at[target]).T)
    near = np.flatnonzero(rng.random(12 * flows) < 1 / (1 + (apart / 0.5) ** 2))
    pairs = np.unique(np.column_stack((origin[near], target[near])), axis=0)
    pairs = pairs[np.sort(rng.choice(len(pairs), min(flows, len(pairs)), replace=False))]
    extra = rng.choice(len(pairs), trips - len(pairs), p=_heavy(rng, len(pairs)))
    rows = np.concatenate((np.arange(len(pairs)), extra))
    return ODMatrix.from_trips(hierarchy, hierarchy, pairs[rows, 0], pairs[rows, 1])


def _heavy(rng: Any, n: int) -> Any:
    weight = rng.pareto(1.5, n) + 0.05
    return weight / weight.sum()


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    tasks = {"solve": solve, "dendrogram": dendrogram, "metrics": metrics, "reference": reference}
    print(json.dumps(tasks[sys.argv[1]](*sys.argv[2:])))
