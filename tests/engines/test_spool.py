"""The spool keeps what it is given, in memory and on disk, and says when the disk is full."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tripcloak.engines.spool import CHUNK, Spool

FULL = """
import numpy as np, resource, signal
from tripcloak.ground.errors import InputError
from tripcloak.engines.spool import Spool
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    Spool({"a": np.int64}, memory=10).append(a=np.arange(5000))
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("memory", [10**9, 1000, 1])
def test_what_goes_in_comes_out(memory: int) -> None:
    rng = np.random.default_rng(3)
    spool = Spool({"tile": np.int32, "weight": np.float64}, memory=memory)
    tiles, weights = rng.integers(0, 99, CHUNK + 700), rng.random(CHUNK + 700)
    for part in np.array_split(np.arange(len(tiles)), 7):
        spool.append(tile=tiles[part], weight=weights[part])
    assert spool.on_disk == (memory < 10**9)
    assert len(spool) == len(tiles)
    assert (spool.column("tile") == tiles).all()
    pieces = list(spool.chunks("weight", "tile"))
    assert (np.concatenate([piece[0] for piece in pieces]) == weights).all()
    assert max(len(piece[0]) for piece in pieces) <= CHUNK
    rows = np.array([0, 5, CHUNK - 1, CHUNK, len(tiles) - 1])
    assert (spool.take("weight", rows) == weights[rows]).all()
    assert len(spool.take("tile", rows[:0])) == 0
    spool.close()
    assert len(spool) == 0


def test_a_full_disk_is_told_in_words() -> None:
    done = subprocess.run([sys.executable, "-c", FULL], capture_output=True, text=True, check=True)
    assert "the disk cannot hold what does not fit in memory" in done.stdout
    assert "TMPDIR" in done.stdout
