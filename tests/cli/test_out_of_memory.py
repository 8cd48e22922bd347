"""Where memory runs out a run ends with advice, in processes that may really not have more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from tripcloak.synth import City

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")

BOUNDED = """
import sys
from pathlib import Path
import numpy as np
from tripcloak.ground import memory
memory._CONTAINER = (Path(sys.argv[1]),)
memory.fail_rather_than_be_killed()
held = np.ones(100_000_000, np.uint8)
try:
    np.ones(3_000_000_000, np.uint8)
except MemoryError:
    print("refused")
"""

SHORT = """
import resource, sys
from pathlib import Path
from tripcloak.flows.reading.coded_rows import CodedRows
flows = CodedRows.flows

def without_memory(*given):
    told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    most = 1024 * int(told["VmData"].split()[0]) + 2_000_000
    resource.setrlimit(resource.RLIMIT_DATA, (most, resource.RLIM_INFINITY))
    return flows(*given)

CodedRows.flows = without_memory
from tripcloak.cli import main
main()
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Return what a process of its own did."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        check=False,
    )


def test_a_process_is_refused_what_its_container_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "most").write_text("1000000000\n")
    done = run(BOUNDED, str(tmp_path / "most"))
    assert (done.returncode, done.stdout) == (0, "refused\n")


def test_a_run_without_memory_ends_with_advice_and_leaves_nothing(tmp_path: Path) -> None:
    trips, out = tmp_path / "trips.parquet", tmp_path / "out"
    parquet.write_table(City(trips=300_000, seed=5).table(), trips)
    order = ["anonymise", str(trips), "--hierarchy", "h3:8", "--engine", "arrays", "--out", str(out)]
    done = run(SHORT, *order)
    assert done.returncode == 2
    assert "out of memory, and nothing was released" in done.stderr
    assert "--engine parts --memory" in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()
