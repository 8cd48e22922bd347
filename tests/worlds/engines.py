"""One engine for all connections of a process of tests: opening one takes 20 ms, and there are thousands."""

from __future__ import annotations

from functools import cache
from typing import Any

import duckdb

from tripcloak.ground.memory import Budget

fresh = duckdb.connect


def share_engines() -> None:
    """Let whoever opens the engine as the project does, and with the usual memory, share it with others.

    All that the project makes in it is temporary, and goes away with its own connection. Whoever shuts the
    engine off from files has it alone from then on. Processes that tests start open engines of their own, and
    so does everything in a deep run.
    """
    duckdb.connect = _connect


def _connect(*given: Any, config: dict[str, Any] | None = None, **more: Any) -> duckdb.DuckDBPyConnection:
    usual = f"{_usual_memory()}B"
    if given or more or config is None or config.get("memory_limit") != usual or "threads" in config:
        return fresh(*given, **({"config": config} if config else {}), **more)
    return _open_engine({name: value for name, value in config.items() if name != "temp_directory"}).cursor()


_ENGINES: list[duckdb.DuckDBPyConnection] = []


def _open_engine(config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return an engine that may read files, and holds nothing."""
    if _ENGINES:
        ((usable, left),) = (
            _ENGINES[0]
            .execute(
                """select current_setting('enable_external_access'), (select count(*) from duckdb_tables())"""
            )
            .fetchall()
        )
        assert left == 0, "a table that is not temporary stays behind for the next connection"
        if usable:
            return _ENGINES[0]
    _ENGINES[:] = [fresh(config=config)]
    return _ENGINES[0]


@cache
def _usual_memory() -> int:
    return Budget.of(None).engine
