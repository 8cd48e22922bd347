"""A process of ours loads no data frames, and no linear algebra only because kernels might want some."""

from __future__ import annotations

import subprocess
import sys

ASKED = """
import sys
from tripcloak.ground.sparing import load_sparingly
load_sparingly()
import numpy as np
from tripcloak.flows.model._kernels import sum_runs
assert sum_runs(np.arange(3.0), np.array([0, 1])).tolist() == [0, 3]
assert "numba.np.arraymath" in sys.modules and "scipy.linalg" not in sys.modules
import scipy.linalg
try:
    import pandas
except ModuleNotFoundError:
    print("as said")
"""


def test_kernels_come_without_linear_algebra_and_whoever_asks_for_it_gets_it():
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("as said\n", "")
