"""Runs a command in a process of its own and reads what it cost from the kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEPT = {"PYTHONDONTWRITEBYTECODE": ""}
"""Python compiles its modules once, as it does for everybody, and not before every run."""


@dataclass(frozen=True)
class Cost:
    """What one process used, and what it printed."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    output: str

    def json(self) -> dict[str, Any]:
        """Return the JSON object the process printed."""
        content: dict[str, Any] = json.loads(self.output)
        return content


class TookTooLong(Exception):
    """A command was stopped because it ran past its time."""


def run(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    limit_s: float | None = None,
    answers: Sequence[int] = (0,),
) -> Cost:
    """Return the cost of a command; it must succeed, within the limit if there is one.

    Parameters
    ----------
    answers
        Exit codes that count as success: some commands answer by them.
    """
    started = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, env={**os.environ, **KEPT, **(environment or {})})
        clock = threading.Timer(limit_s or threading.TIMEOUT_MAX, child.kill)
        clock.start()
        _, status, usage = os.wait4(child.pid, 0)
        clock.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        out.seek(0)
        output = out.read().decode()
    if limit_s is not None and wall >= limit_s:
        raise TookTooLong
    if child.returncode not in answers:
        raise SystemExit(f"{' '.join(command)} failed with exit code {child.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, output)


def task(name: str, *arguments: str) -> Cost:
    """Return the cost of one of the tasks in benchmarks.tasks."""
    return run([sys.executable, "-m", "benchmarks.tasks", name, *arguments])


def trajectory_task(name: str, *arguments: str) -> Cost:
    """Return the cost of one of the tasks in benchmarks.trajectory_tasks."""
    return run([sys.executable, "-m", "benchmarks.trajectory_tasks", name, *arguments])


def tripcloak(
    *arguments: str, environment: Mapping[str, str] | None = None, answers: Sequence[int] = (0,)
) -> Cost:
    """Return the cost of a whole tripcloak command."""
    return run([sys.executable, "-m", "tripcloak.cli", *arguments], environment, answers=answers)


def city(folder: Path, trips: int) -> Path:
    """Return the file of the made-up city with this many trips, made if it is not there."""
    path = folder / f"city-{trips}.parquet"
    if not path.exists():
        made = tripcloak("synth", "city", "--trips", str(trips), "--out", str(path))
        assert made.output == ""
    return path


def calls(folder: Path, users: int, *, equal: bool = False) -> Path:
    """Return the file of made-up phone calls of this many people, on average 144 each.

    Everybody equally many if asked; one more then, since about one has the minute and place of another.
    """
    path = folder / f"calls-{users}{'-equal' if equal else ''}.parquet"
    if not path.exists():
        samples = ("--equal", "--samples", "145") if equal else ("--samples", "144")
        tripcloak("synth", "cdr", "--users", str(users), *samples, "--out", str(path))
    return path
