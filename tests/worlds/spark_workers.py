"""What Spark forks its workers from in tests: a process that has loaded all that our tasks need, once."""

from __future__ import annotations

import importlib

from worlds.compiling import compile_in_turn

for room in (
    "tripcloak.flows.methods.twincut",
    "tripcloak.flows.reading.cluster.gathering",
    "tripcloak.trajectories.methods.spark",
    "tripcloak.trajectories.audit.spread",
    "pyarrow.parquet",
    "duckdb",
):
    importlib.import_module(room)
# Workers that start on a kernel together would each compile it.
compile_in_turn()

if __name__ == "__main__":
    from pyspark.daemon import manager

    manager()  # type: ignore[no-untyped-call,unused-ignore]
