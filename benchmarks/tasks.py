"""The tasks themselves; each runs in a fresh process and prints one JSON object."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tripcloak import KAnonymity, ODkAnon, Place, TripSource, measure, read_matrix
from tripcloak.matrix import ODMatrix


def odkanon(path: str, unit: str) -> dict[str, float]:
    """Return what ODkAnon costs from ODMatrix to Release, kernels already compiled."""
    matrix = _matrix(path)
    method = ODkAnon(criterion=KAnonymity(k=10, unit=unit))  # type: ignore[arg-type]
    method.anonymise(matrix)
    started = time.process_time()
    release = method.anonymise(matrix)
    return {
        "cpu_s": time.process_time() - started,
        "trips": matrix.total("trips"),
        "flows": matrix.n_flows,
        "groups": release.n_groups,
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
    (pairs,) = con.sql(f"select count(*) from ({counting} having travellers > 0)").fetchone() or (0,)
    return {"cpu_s": time.process_time() - started, "encoding_cpu_s": encoded, "pairs": pairs}


def _matrix(path: str) -> ODMatrix:
    return read_matrix(TripSource(paths=(path,)), Place(spec="h3:10")).trips.matrix


if __name__ == "__main__":
    chosen = {"odkanon": odkanon, "metrics": metrics, "reference": reference}[sys.argv[1]]
    assert Path(sys.argv[2]).exists()
    print(json.dumps(chosen(*sys.argv[2:])))
