"""The tasks themselves; each runs in a fresh process and prints one JSON object."""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

import numpy as np

from benchmarks.papers.datasets import MADE
from benchmarks.stations import Stations
from tripcloak import METHODS, KAnonymity, ODkAnon, TripSource, Zoning, audit_matrix, measure, read_matrix
from tripcloak.flows.methods import FlowMethod, SlotBySlot
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release.bricks import TablesWanted
from tripcloak.flows.release.laying import lay_tables
from tripcloak.hierarchy import Hierarchy

OPTIONS: dict[str, dict[str, Any]] = {
    "suppression": {"suppression_limit": 0.999},
    "atg-soft": {"suppression_limit": 0.999},
    "laplace": {"epsilon": 1.0},
    "inftda": {"epsilon": 1.0},
    "noisycut": {"epsilon": 1.0},
}
"""What a method needs beyond k: room to withhold all that is unsafe, or a budget for its noise."""


def solve(path: str, method: str, unit: str) -> dict[str, float]:
    """Return what a method costs from ODMatrix to Release, kernels already compiled."""
    _solve(_small(), method, "trips")
    return _solve(_matrix(path, repeats=METHODS[method].needs_repeats), method, unit)


def dendrogram(method: str) -> dict[str, float]:
    """Return what a method costs on two dendrograms of 6,664 tiles, 311 k flows and 957 k trips."""
    _solve(_small(), method, "trips")
    return _solve(_base_stations(), method, "trips")


def stations(method: str) -> dict[str, float]:
    """Return what a method costs on two dendrograms of 1,666 tiles and 18 k flows."""
    _solve(_small(), method, "trips")
    return _solve(_senegal(), method, "trips")


def hourly(method: str) -> dict[str, float]:
    """Return what a method costs on 1,000 hours of about 3,000 flows between 263 zones, both cores used.

    The form of the New York taxi zones. Time of other processes counts as well.
    """
    _solve(_small(), method, "trips")
    matrix = Stations(tiles=263, trips=12_000, towns=6, box=(40.5, -74.2, 40.9, -73.7), near=0.02).slots(1000)
    chosen = SlotBySlot.of(_chosen(method, "trips"), jobs=2)
    before, started = _cpu_s(), time.perf_counter()
    release = chosen.anonymise(matrix)
    return {
        "cpu_s": _cpu_s() - before,
        "wall_s": time.perf_counter() - started,
        "flows": matrix.n_flows,
        "groups": release.n_groups,
    }


def _solve(matrix: ODMatrix, method: str, unit: str) -> dict[str, float]:
    chosen = _chosen(method, unit)
    before = _peak_mb()
    started = time.process_time()
    release = chosen.anonymise(matrix)
    return {
        "cpu_s": time.process_time() - started,
        "trips": matrix.total("trips"),
        "flows": matrix.n_flows,
        "groups": release.n_groups,
        "matrix_mb": before,
        "peak_mb": _peak_mb(),
    }


def door(path: str, holder: str) -> dict[str, float]:
    """Return what ``anonymise`` costs on trips that are in memory already, or in a file."""
    import tripcloak as tc

    tc.anonymise(tc.City(trips=2_000, people=200).table(), k=10)
    trips = _held(path, holder)
    held, started = _resident_mb(), time.process_time()
    release = tc.anonymise(trips, k=10)
    spent = time.process_time() - started
    return {"cpu_s": spent, "groups": release.facts["groups"], "held_mb": held, "peak_mb": _peak_mb()}


def _held(path: str, holder: str) -> Any:
    """Return the trips of a file as somebody would have them."""
    import pyarrow.parquet

    if holder == "polars":
        import polars

        return polars.read_parquet(path)
    if holder.startswith("pandas"):
        import pandas

        frame = pandas.read_parquet(path)
        return frame if holder == "pandas" else frame.astype({"person_id": object, "sex": object})
    return path if holder == "file" else pyarrow.parquet.read_table(path)


def metrics(path: str) -> dict[str, float]:
    """Return what all measures together cost, kernels already compiled."""
    matrix = _matrix(path)
    release = ODkAnon(promise=KAnonymity(k=10, unit="trips")).anonymise(matrix)
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


def clustering() -> dict[str, float]:
    """Return what scikit-learn's own clustering costs on the flows of :func:`stations`."""
    import numpy as np
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.neighbors import kneighbors_graph

    matrix = _senegal()
    flows, zones = matrix.flows, matrix.origins.zones
    ends = [degrees[tile] for tile in (flows.origin, flows.destination) for degrees in (zones.lat, zones.lon)]
    points = np.column_stack(ends)
    started = time.process_time()
    near = kneighbors_graph(points, min(100, len(points) - 1), p=1)
    AgglomerativeClustering(
        n_clusters=1, metric="l1", linkage="complete", connectivity=near, compute_full_tree=True
    ).fit(points)
    return {"cpu_s": time.process_time() - started, "flows": matrix.n_flows}


def grouping(path: str) -> dict[str, float]:
    """Return what it costs DuckDB to add up the trips of every flow, once."""
    import duckdb
    import pyarrow as pa

    flows = _matrix(path).flows
    table = pa.table({"o": flows.origin, "d": flows.destination, "trips": flows.trips})
    con = duckdb.connect(config={"threads": 1})
    con.register("flows", table)
    started = time.process_time()
    found = con.sql("select o, d, sum(trips) as trips from flows group by o, d").to_arrow_table()
    return {"cpu_s": time.process_time() - started, "flows": found.num_rows}


def ends(path: str, out: str) -> dict[str, int]:
    """Return how many trips went to a CSV file as the centres of their tiles, one row a trip."""
    import numpy as np

    matrix = _matrix(path)
    flows = matrix.flows
    columns = {"trip": np.arange(flows.trips.sum())}
    for axis, tree, tile in (
        ("origin", matrix.origins, flows.origin),
        ("destination", matrix.destinations, flows.destination),
    ):
        for name, degrees in (("lat", tree.zones.lat), ("lon", tree.zones.lon)):
            columns[f"{axis}_{name}"] = np.repeat(degrees[tile], flows.trips)
    _write(columns, out)
    return {"trips": len(columns["trip"])}


def tables(depth: str, rows: str, levels: str, out: str = "") -> dict[str, float]:
    """Return what it costs to protect totals and several heights of one release among themselves.

    Rows of trips between the tiles of two quadtrees of this depth; flows of ten trips and more are released,
    and so many heights above the tiles beside them. Given a file, every flow is written to it, with its
    brick and its cell in every table; 0 stands for none.
    """
    wanted = TablesWanted(levels=tuple(range(1, int(levels) + 1)), margins=True)
    small, matrix = (_nested_tiles(*size) for size in ((max(int(levels), 1), 3_000), (int(depth), int(rows))))
    lay_tables(small, _chosen("suppression", "trips").anonymise(small), wanted)
    release = _chosen("suppression", "trips").anonymise(matrix)
    started = _cpu_s()
    made = lay_tables(matrix, release, wanted)
    spent = _cpu_s() - started
    if out:
        ids, flows, brick = matrix.origins.zones.ids, matrix.flows, made.brick_of_flow
        cells = {
            f"table{at}": np.append(table.cell_of_brick, -1)[brick] + 1
            for at, table in enumerate(made.tables)
        }
        ends = {"origin": ids[flows.origin], "destination": ids[flows.destination], "trips": flows.trips}
        _write({**ends, "released": release.group_of_flow + 1, **cells}, out)
    counted = [int(table.summed(made.trips).sum()) for table in made.tables]
    return {
        "cpu_s": spent,
        "groups": release.n_groups,
        "cells": release.n_groups + sum(len(table.origin) for table in made.tables),
        "bricks": len(made.laid_at),
        "counted": sum(counted) / len(counted) / int(matrix.flows.trips.sum()),
    }


def _nested_tiles(depth: int, rows: int) -> ODMatrix:
    """Return trips between places of very different size, in four quarters of quarters."""
    names, parents = ["q"], [-1]
    for level in range(depth):
        first = len(names) - 4**level
        for at in range(first, first + 4**level):
            names += [f"{names[at]}{digit}" for digit in range(4)]
            parents += [at] * 4
    tree = Hierarchy.from_parents(names, parents)
    draw = np.random.default_rng(7)
    size = draw.pareto(2.0, (2, tree.n_tiles)) + 0.1
    origin, destination = (
        draw.choice(tree.n_tiles, rows, p=side / side.sum()).astype(np.int32) for side in size
    )
    trips = np.ceil(6 * draw.pareto(1.2, rows)).astype(np.int64)
    return ODMatrix.from_trips(tree, tree, origin, destination, trips=trips)


def releases(path: str, folder: str) -> dict[str, float]:
    """Return the smallest group our audit finds in the release of every k-anonymous method.

    Each release goes to a CSV file of its method's name: one row a kept trip, released origin and
    destination.
    """
    matrix = _matrix(path)
    found = {}
    for method in (name for name, known in METHODS.items() if not known.noisy):
        release = _chosen(method, "trips").anonymise(matrix)
        if "m" in release.parameters:
            continue  # k^m-anonymity promises nothing about whole pairs of zones
        group = release.group_of_flow[~release.suppressed].repeat(matrix.flows.trips[~release.suppressed])
        columns = {
            "origin": release.origins.ids[release.group_origin[group]],
            "destination": release.destinations.ids[release.group_destination[group]],
        }
        _write(columns, f"{folder}/{method}.csv")
        found[method] = audit_matrix(matrix, release).smallest_support["trips"]
    return found


def _write(columns: dict[str, Any], out: str) -> None:
    import pyarrow as pa
    from pyarrow import csv

    csv.write_csv(pa.table(columns), out)


def _chosen(method: str, unit: str) -> FlowMethod:
    usual = {"promise": KAnonymity(k=10, unit=unit)}  # type: ignore[arg-type]
    return METHODS[method](**{**usual, **OPTIONS.get(method, {})})


def _matrix(path: str, *, repeats: bool = False) -> ODMatrix:
    return read_matrix(TripSource(paths=(path,)), Zoning(spec="h3:10"), repeats=repeats).trips.matrix


def _small() -> ODMatrix:
    """Return a matrix on which the kernels compile before the clock runs."""
    return next(Stations(tiles=20, trips=400, towns=2).matrices(1))


def _base_stations() -> ODMatrix:
    return next(MADE["senegal_split"].matrices(1))


def _senegal() -> ODMatrix:
    """Return as many flows as an hour of the ATG paper's Senegal has, 18 k."""
    return next(Stations(tiles=1_666, trips=48_500).matrices(1))


def _cpu_s() -> float:
    """Return the time of this process and of those it has started and seen end."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


def _resident_mb() -> float:
    """Return the memory that this process holds now."""
    import psutil

    return float(psutil.Process().memory_info().rss) / 2**20


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    told = (
        *(solve, dendrogram, hourly, stations, clustering, grouping, ends, releases, metrics, reference),
        *(door, tables),
    )
    tasks = {task.__name__: task for task in told}
    print(json.dumps(tasks[sys.argv[1]](*sys.argv[2:])))
