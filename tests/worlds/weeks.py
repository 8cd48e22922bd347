"""Two weeks of the same people, each a release of trajectories of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import tripcloak as tc
from tripcloak.synth import Cdr


def two_weeks(home: Path) -> Path:
    """Return a folder with the releases ``first`` and ``second``."""
    rows = pa.Table.from_batches(Cdr(users=40, samples=40, days=14).batches())
    time = rows["timestamp"].to_numpy()
    middle = time.min().astype("datetime64[D]") + np.timedelta64(7, "D")
    for name, kept in (("first", time < middle), ("second", time >= middle)):
        tc.trajectories.anonymise(rows.filter(kept), k=2, method="glove", out=home / name)
    return home
