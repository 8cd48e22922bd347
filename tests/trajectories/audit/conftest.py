"""Raw fixes and a safe release of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from forgeries.trajectories import K, written
from tripcloak.trajectories.checking import ReadInput
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from worlds.merged_trajectories import merged_release
from worlds.trajectories import made


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> ReadInput:
    """Return raw fixes, somewhere within the steps of made trajectories, rows in any order; read once."""
    path = tmp_path_factory.mktemp("raw") / "fixes.csv"
    trajectories = made(users=24, samples=6, seed=2, spread=40)
    random = np.random.default_rng(0)
    n, grid = trajectories.n_samples, trajectories.grid
    x, y = (grid.places(side) + random.uniform(0, 100, n) for side in (trajectories.x, trajectories.y))
    lon, lat = grid.unproject(x, y)
    seconds = grid.times(trajectories.t) + random.integers(0, 60, n)
    rows = [f"{trajectories.users[trajectories.owner[s]]},{seconds[s]},{lat[s]},{lon[s]}" for s in range(n)]
    random.shuffle(rows)
    path.write_text("\n".join(["user_id,timestamp,lat,lon", *rows]))
    source = TrajectorySource(paths=(str(path),), seconds=60, metres=100)
    return ReadInput(read_trajectories(source).source)


@pytest.fixture(scope="module")
def safe(raw: ReadInput, tmp_path_factory: pytest.TempPathFactory) -> Path:
    trajectories = read_trajectories(raw.source).trajectories
    return written(tmp_path_factory.mktemp("safe"), trajectories, merged_release(trajectories, k=K))
