"""What Spark forks its workers from in tests: a process that has loaded all that our tasks need, once."""

from __future__ import annotations

import gc
import importlib

LOADED = (
    "pyspark.worker",
    "tripcloak.flows.methods.twincut",
    "tripcloak.flows.reading.cluster.gathering",
    "tripcloak.trajectories.methods.spark",
    "tripcloak.trajectories.audit.spread",
    "tripcloak.flows.model._kernels",
    "tripcloak.trajectories.methods._kernels.kscale",
    "tripcloak.trajectories.audit._kernels",
    "h3.api.numpy_int",
    "pyarrow.parquet",
    "duckdb",
    "pandas",
)


def load() -> None:
    """Load it, and spare workers what they would do again and again."""
    from numba.core.registry import cpu_target

    from tripcloak.engines.spark import _keep_archives
    from worlds.compiling import compile_in_turn

    for room in LOADED:
        importlib.import_module(room)
    # What Numba loads before it looks for its first kernel.
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    # Workers that start on a kernel together would each compile it.
    compile_in_turn()
    # PySpark has both looked through before or after every task.
    _keep_archives()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from pyspark.daemon import manager

    load()
    manager()  # type: ignore[no-untyped-call,unused-ignore]
