"""A host in the place of a GPU: its loops compiled as plain C++, run one thread after the other."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripcloak.trajectories.methods.gpu import SOURCE, Gpu, Machine


@cache
def compiled_loops() -> ctypes.CDLL:
    """Return the loops of a GPU, compiled for this machine; skips where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler at hand (g++ or clang++): the loops of a GPU are not tried on this host")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "loops.so"
        asked = ["-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([compiler, *asked, "-o", str(library), str(SOURCE)], check=True)
        return ctypes.CDLL(str(library))


@dataclass(frozen=True, kw_only=True, eq=False)
class HostMachine(Machine):
    """A machine without a GPU that does what one would."""

    loops: ctypes.CDLL

    def launch(self, kernel: str, threads: int, *given: Any, near: int = 0) -> None:
        assert near <= 1 << 18
        assert threads % self.block == 0
        told = [self._argument(one) for one in given]
        for thread in range(threads):
            self.loops.be_thread(ctypes.c_longlong(thread), ctypes.c_longlong(threads))
            getattr(self.loops, kernel)(*told)

    def fetch(self, array: Any) -> Any:
        return array

    def _argument(self, one: Any) -> Any:
        if isinstance(one, np.ndarray):
            assert one.flags.c_contiguous
            return ctypes.c_void_p(one.ctypes.data)
        return ctypes.c_double(one) if isinstance(one, float) else ctypes.c_longlong(one)


def host_gpu(memory: int = 1 << 26, threads: int = 64) -> Gpu:
    """Return a device that works as a GPU of this much memory would; more threads than tasks may start."""
    loops = compiled_loops()
    machine = HostMachine(arrays=np, threads=threads, block=32, memory=memory, shares=False, loops=loops)
    return Gpu(machine, jobs=1)
