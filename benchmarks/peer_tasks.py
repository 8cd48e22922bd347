"""What the peer packages do, run by the Python of their own environment; tripcloak is not there.

python peer_tasks.py mondrian TRIPS.csv K     anonypy's Mondrian on rows of four coordinates
python peer_tasks.py k RELEASE.csv ...        pycanon's k of releases, one row a trip
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pandas as pd

CORNERS = ["origin_lat", "origin_lon", "destination_lat", "destination_lon"]


def mondrian(path: str, k: str) -> dict[str, Any]:
    """Return what anonypy's Mondrian costs: the cutting alone, and its whole call."""
    from anonypy import Preserver
    from anonypy.mondrian import Mondrian

    trips = pd.read_csv(path)
    started = time.process_time()
    groups = Mondrian(trips, CORNERS).partition(int(k))
    cut = time.process_time() - started
    Preserver(trips, CORNERS, "trip").anonymize_k_anonymity(int(k))
    whole = time.process_time() - started - cut
    return {"cutting_cpu_s": cut, "cpu_s": whole, "groups": len(groups)}


def smallest(*paths: str) -> dict[str, int]:
    """Return pycanon's k of every release, its released origin and destination being what is known."""
    from pycanon import anonymity

    tables = {path: pd.read_csv(path, dtype=str) for path in paths}
    return {path: int(anonymity.k_anonymity(table, list(table.columns))) for path, table in tables.items()}


if __name__ == "__main__":
    tasks = {"mondrian": mondrian, "k": smallest}
    print(json.dumps(tasks[sys.argv[1]](*sys.argv[2:])))
