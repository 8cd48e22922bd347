"""The least that any run must do: our H3 encoding, and one aggregation in DuckDB of what it gives.

    python -m benchmarks.bare city.parquet flows.parquet

Trips, different people and weights of every pair of cells, read from Parquet and written to Parquet; nothing
is cleaned, protected, audited or measured. `python -m benchmarks.sizes` holds whole runs against it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import duckdb
import pyarrow as pa

from tripcloak.hierarchy import parse_tiling

BATCH = 1 << 20
COLUMNS = "start_lat, start_lon, end_lat, end_lon, hash(person_id) as person, weight"
FLOWS = (
    "origin, destination, count(*) as trips, count(distinct person) as travellers, sum(weight) as population"
)


def main(city: str, out: str, spec: str = "h3:10") -> None:
    """Write the flows of a city."""
    tiling = parse_tiling(spec)
    schema = pa.schema(
        {"origin": pa.uint64(), "destination": pa.uint64(), "person": pa.uint64(), "weight": pa.float64()}
    )

    def encoded() -> Iterator[pa.RecordBatch]:
        with duckdb.connect() as con:
            for batch in con.sql(f"select {COLUMNS} from read_parquet('{city}')").to_arrow_reader(BATCH):
                ends = [batch.column(n).to_numpy() for n in range(4)]
                keys = tiling.encode(*ends[:2]), tiling.encode(*ends[2:])
                yield pa.record_batch([*map(pa.array, keys), *batch.columns[4:]], schema=schema)

    with duckdb.connect() as con:
        con.register("encoded", pa.RecordBatchReader.from_batches(schema, encoded()))
        con.sql(f"select {FLOWS} from encoded group by origin, destination").write_parquet(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
