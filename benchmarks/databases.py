"""Measures how quickly trips come from PostgreSQL, against ``COPY ... TO`` of the same rows.

    python -m benchmarks.databases                 # 5 million trips; exits 1 below half the speed of COPY
    python -m benchmarks.databases --trips 500000

A server is started on the loopback address, as the tests do. Seconds are by the clock, each the best of three
in turn.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from tripcloak.records.files.databases.fetching import fetch, forget_fetched
from worlds.postgres import Server, running, why_not

RUNS = 3
TABLES = {
    "trips": "48.8 + random() / 10 AS start_lat, 2.2 + random() / 5 AS start_lon, "
    "48.8 + random() / 10 AS end_lat, 2.2 + random() / 5 AS end_lon",
    "points": "ST_SetSRID(ST_Point(2.2 + random() / 5, 48.8 + random() / 10), 4326) AS start_geom, "
    "ST_SetSRID(ST_Point(2.2 + random() / 5, 48.8 + random() / 10), 4326) AS end_geom",
}


def main(arguments: list[str]) -> int:
    """Measure, print row by row, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.databases")
    parser.add_argument("--trips", type=int, default=5_000_000)
    asked = parser.parse_args(arguments)
    if (reason := why_not()) is not None:
        print(reason)
        return 1
    slow = False
    print("| table | COPY ... TO, s | fetched, s | speed of COPY | peak GB |\n|---|--:|--:|--:|--:|")
    with running() as server:
        os.environ["PGPASSFILE"] = str(server.passwords)
        for name, places in TABLES.items():
            server.run(
                f"CREATE TABLE {name} AS SELECT 'p' || i % 400000 AS person, timestamptz '2024-05-01' + "
                f"i % 2000000 * interval '1 second' AS start_time, {places} FROM "
                f"generate_series(1, {asked.trips}) i; ANALYZE {name}"
            )
            copied, fetched = _in_turn(partial(_copy, server, name), partial(_fetch, server, name))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            slow |= fetched > 2 * copied
            print(
                f"| {name} | {copied:.1f} | {fetched:.1f} | {copied / fetched:.0%} | {peak:.2f} |", flush=True
            )
    return int(slow)


def _in_turn(*works: Callable[[], None]) -> list[float]:
    found = [[_seconds(work) for work in works] for _ in range(RUNS)]
    return [min(own) for own in zip(*found, strict=True)]


def _seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _copy(server: Server, table: str) -> None:
    command = ["psql", "-Xq", "-h", "127.0.0.1", "-p", str(server.port), "-U", server.user, "-d", "city"]
    subprocess.run([*command, "-c", f"COPY {table} TO STDOUT"], check=True, stdout=subprocess.DEVNULL)


def _fetch(server: Server, table: str) -> None:
    fetch(server.address(table))
    forget_fetched()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
