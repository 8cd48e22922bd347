"""Engines that all connections of a process of tests share: opening one takes 20 ms, thousands of times."""

from __future__ import annotations

from typing import Any

import duckdb

from tripcloak.records import area

AMPLE = 500 * 10**6
"""Bytes with which no test comes to their end; with fewer, that is what is tested."""

fresh, registered = duckdb.connect, area._register


def share_engines() -> None:
    """Let whoever opens an engine as the project does share it with others who ask for the same.

    All that the project makes in it is temporary, and goes away with its own connection. Whoever shuts an
    engine off from files or gives it a function has it alone from then on. Processes that tests start open
    engines of their own, and so does everything in a deep run.
    """
    duckdb.connect = _connect
    area._register = _register_alone


def _register_alone(con: duckdb.DuckDBPyConnection, polygon: Any) -> None:
    _ENGINES.clear()
    registered(con, polygon)


def _connect(*given: Any, config: dict[str, Any] | None = None, **more: Any) -> duckdb.DuckDBPyConnection:
    if config is None or "temp_directory" not in config or not _is_ample(config):
        return fresh(*given, **({} if config is None else {"config": config}), **more)
    return _engine({name: value for name, value in config.items() if name != "temp_directory"}).cursor()


def _is_ample(config: dict[str, Any]) -> bool:
    return "memory_limit" not in config or int(config["memory_limit"].removesuffix("B")) >= AMPLE


_ENGINES: dict[frozenset[tuple[str, Any]], duckdb.DuckDBPyConnection] = {}


def _engine(config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return an engine that may read files, and holds nothing."""
    key = frozenset(config.items())
    if key in _ENGINES:
        told = "select current_setting('enable_external_access'), (select count(*) from duckdb_tables())"
        ((usable, left),) = _ENGINES[key].execute(told).fetchall()
        assert left == 0, "a table that is not temporary stays behind for the next connection"
        if usable:
            return _ENGINES[key]
    _ENGINES[key] = fresh(config=config)
    return _ENGINES[key]
