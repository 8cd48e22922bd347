"""What a method costs: seconds, and memory beyond what was there."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

Made = TypeVar("Made")


class Cost(NamedTuple):
    """What it took to get from the input to the release."""

    cpu_s: float
    wall_s: float
    peak_mb: float | None


def timed(work: Callable[[], Made]) -> tuple[Made, Cost]:
    """Return what a piece of work returns, and what it took; memory is what it held beyond what was there.

    >>> made, cost = timed(lambda: 6 * 7)
    >>> made, cost.wall_s < 1
    (42, True)
    """
    # Linux forgets the highest mark so far when asked to; where it may not, the mark of the start stays.
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _memory("VmRSS")
    wall, cpu = time.perf_counter(), time.process_time()
    made = work()
    spent = time.process_time() - cpu, time.perf_counter() - wall
    highest = _memory("VmHWM")
    peak = None if before is None or highest is None else max(highest - before, 0.0)
    return made, Cost(*spent, peak)


def _memory(name: str) -> float | None:
    """Return one of the kernel's figures on this process, in MB; None where the kernel has none."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024 / 1e6
    return None
