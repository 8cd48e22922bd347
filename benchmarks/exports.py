"""Measures exports of a million groups against the format library's own write of the same rows.

    python -m benchmarks.exports                # a Markdown table; exits 1 if one takes three times as long
    python -m benchmarks.exports --groups 100000 --only gpkg,omx

CPU seconds of one process, the best of three runs each; of a database, whose server does half of the work,
seconds by the clock, one after the other. What the library writes is ready in memory before its time begins;
ours begins with the tables of the release.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.exporting.export import PublicTables
from tripcloak.exporting.formats import FORMATS

MOST = 3.0
ZONES = 1_500
RUNS = 3


def made_tables(groups: int) -> PublicTables:
    """Return the tables of a made-up release: squares, and flows between pairs of them."""
    import pyarrow as pa
    import shapely

    rng = np.random.default_rng(1)
    pairs = np.sort(rng.choice(ZONES * ZONES, groups, replace=False))
    side = int(np.ceil(np.sqrt(ZONES)))
    lat, lon = 48 + np.arange(ZONES) // side * 0.01, 2 + np.arange(ZONES) % side * 0.01
    names = np.array([f"88{row:09x}ffff" for row in range(ZONES)])
    ends = {"origin": pairs // ZONES, "destination": pairs % ZONES}
    trips = 10 + rng.geometric(0.05, groups)
    flows = {name: pa.array(names).take(pa.array(rows)) for name, rows in ends.items()}
    flows |= {"trips": pa.array(trips), "travellers": pa.array(trips)}
    for name, rows in ends.items():
        flows |= {f"{name}_lat": pa.array(lat[rows]), f"{name}_lon": pa.array(lon[rows])}
    shapes = shapely.to_wkb(shapely.box(lon - 0.005, lat - 0.005, lon + 0.005, lat + 0.005)).tolist()
    axes = [
        pa.table({"axis": [axis] * ZONES, "zone": names, "lat": lat, "lon": lon, "geometry": shapes})
        for axis in ends
    ]
    return PublicTables({"volume": "trips", "files": {}}, pa.table(flows), pa.concat_tables(axes))


def own_writes(tables: PublicTables) -> dict[str, Callable[[Path], None]]:
    """Return, of every format, what its own library does to write the same rows."""
    import duckdb
    import geopandas
    import openmatrix
    import shapely
    from pyarrow import csv, parquet

    flows = tables.flows.to_pandas()
    at = shapely.linestrings(
        np.stack([flows[["origin_lon", "origin_lat"]], flows[["destination_lon", "destination_lat"]]], axis=1)
    )
    lines = geopandas.GeoDataFrame(flows, geometry=at, crs="EPSG:4326")
    names, row = np.unique(flows["origin"], return_inverse=True)
    matrix = np.full((len(names), len(names)), np.nan)
    matrix[row, np.searchsorted(names, flows["destination"])] = flows["trips"]
    rows = list(map(list, zip(*(column.to_pylist() for column in tables.flows.columns), strict=True)))

    def omx(path: Path) -> None:
        with openmatrix.open_file(str(path), "w") as file:
            file["trips"] = matrix
            file.create_mapping("zone", np.arange(len(names)))

    def flowmap(path: Path) -> None:
        path.mkdir()
        csv.write_csv(tables.flows.select(["origin", "destination", "trips"]), path / "flows.csv")

    def database(path: Path) -> None:
        with duckdb.connect(str(path)) as con:
            given = tables.flows
            con.execute("CREATE TABLE flows AS SELECT * FROM given").fetchall()
            del given

    return {
        "spanishoddata": lambda path: parquet.write_table(tables.flows, path, compression="zstd"),
        "hive": lambda path: parquet.write_to_dataset(tables.flows, path, compression="zstd"),
        "geoparquet": lambda path: lines.to_parquet(path, compression="zstd"),
        "gpkg": lambda path: lines.to_file(path, driver="GPKG", layer="flows"),
        "omx": omx,
        "flowmap": flowmap,
        "kepler": lambda path: json.dump(rows, path.open("w"), separators=(",", ":")),
        "duckdb": database,
    }


def moving(boxes: int) -> tuple[float, float]:
    """Return the CPU seconds of moving points, ours and movingpandas' own, of so many boxes."""
    import geopandas
    import movingpandas
    import pandas
    import pyarrow as pa
    from pyarrow import parquet

    from tripcloak.exporting.moving_points import write_moving_points

    each = 50
    rng = np.random.default_rng(1)
    name = np.repeat(np.arange(boxes // each), each)
    start = np.datetime64("2024-05-01T00:00:00", "s") + np.tile(np.arange(each) * 3600, boxes // each)
    lat, lon = 48 + rng.random(len(name)), 2 + rng.random(len(name))
    columns = {"trajectory": name, "t_start": start, "t_end": start + np.timedelta64(1800, "s")}
    columns |= {"lat_min": lat, "lat_max": lat + 0.01, "lon_min": lon, "lon_max": lon + 0.01}
    frame = geopandas.GeoDataFrame(
        {"trajectory": name, "t": pandas.to_datetime(start)},
        geometry=geopandas.points_from_xy(lon, lat),
        crs=4326,
    )
    ready = movingpandas.TrajectoryCollection(frame, "trajectory", t="t")

    def library(path: Path) -> None:
        with path.open("w") as file:
            json.dump(ready.to_mf_json(temporal_columns=[]), file)

    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "samples.parquet"
        parquet.write_table(pa.table(columns), samples)
        ours = best(lambda path: write_moving_points(samples, path), ".mfjson")
        theirs = best(library, ".mfjson", runs=1)
    return ours, theirs


def database(tables: PublicTables) -> tuple[float, float]:
    """Return seconds by the clock of a whole export to PostGIS, and of the driver's write of flows alone."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from adbc_driver_postgresql import dbapi

    from tripcloak.exporting.databases import database_address, write_postgres
    from worlds.postgres import running, why_not

    if (reason := why_not()) is not None:
        raise SystemExit(reason)
    with running() as server:
        os.environ["PGPASSFILE"] = str(server.passwords)

        def plain(_: Path) -> None:
            with dbapi.connect(server.address()) as connection, connection.cursor() as cursor:
                cursor.adbc_ingest("plain", tables.flows, mode="replace")
                connection.commit()

        address = database_address(server.address("ours"))
        ours, theirs = [], []
        for _ in range(RUNS):
            theirs.append(best(plain, "", runs=1, clock=time.perf_counter))
            ours.append(
                best(
                    lambda _: write_postgres(tables, address, force=True), "", runs=1, clock=time.perf_counter
                )
            )
    return min(ours), min(theirs)


def best(
    write: Callable[[Path], Any],
    suffix: str,
    *,
    runs: int = RUNS,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Return the seconds of the quickest of several runs."""
    found = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            start = clock()
            write(Path(folder) / f"out{suffix}")
            found.append(clock() - start)
    return min(found)


def main(arguments: list[str]) -> int:
    """Measure, print row by row, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exports")
    parser.add_argument("--groups", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="formats, separated by commas")
    asked = parser.parse_args(arguments)
    tables = made_tables(asked.groups)
    works: dict[str, Callable[[], tuple[float, float]]] = {
        name: partial(_both, tables, name, write) for name, write in own_writes(tables).items()
    }
    works |= {"mfjson": partial(moving, asked.groups), "postgresql": partial(database, tables)}
    print("| format | ours, s | its library, s | times |\n|---|--:|--:|--:|", flush=True)
    missed = False
    for name, work in works.items():
        if asked.only and name not in asked.only.split(","):
            continue
        ours, theirs = work()
        missed |= ours > MOST * theirs
        print(f"| `{name}` | {ours:.2f} | {theirs:.2f} | {ours / theirs:.1f} |", flush=True)
    return int(missed)


def _both(tables: PublicTables, name: str, write: Callable[[Path], None]) -> tuple[float, float]:
    one = FORMATS[name]
    return best(partial(one.write(), tables), one.suffix), best(write, one.suffix)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
