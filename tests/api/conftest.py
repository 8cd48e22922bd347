"""A small made-up city and some made-up calls, as everybody has them: in memory and in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

import tripcloak as tc

ZONES = "h3:7"


@pytest.fixture(scope="session")
def city() -> Any:
    """The trips of a small city, as an Arrow table."""
    return tc.City(trips=3_000, people=300, seed=5).table()


@pytest.fixture(scope="session")
def trips(city: Any) -> Any:
    """The same as a pandas frame; tests that change it take a copy."""
    return city.to_pandas()


@pytest.fixture(scope="session")
def trips_file(city: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a Parquet file."""
    path = tmp_path_factory.mktemp("city") / "trips.parquet"
    parquet.write_table(city, path)
    return path


@pytest.fixture(scope="session")
def release(trips: Any) -> tc.ReleasedFlows:
    """A release of the city that no test saves or audits."""
    return tc.anonymise(trips, k=10, zones=ZONES)


@pytest.fixture(scope="session")
def calls() -> Any:
    """Some made-up calls, as an Arrow table."""
    return tc.Cdr(users=40, samples=20, days=2, seed=3).table()


@pytest.fixture(scope="session")
def calls_file(calls: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a Parquet file."""
    path = tmp_path_factory.mktemp("calls") / "calls.parquet"
    parquet.write_table(calls, path)
    return path


@pytest.fixture(scope="session")
def tracks(calls: Any) -> tc.ReleasedTrajectories:
    """A release of the calls that no test saves or audits."""
    return tc.trajectories.anonymise(calls, k=3)
