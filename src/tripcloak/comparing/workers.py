"""Workers: the methods of a comparison, each in a process of its own, within time and memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from tripcloak.comparing.rows import ComparisonRow, Trial
from tripcloak.comparing.shared_memory import Address, SharedMemory
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.ground.threads import processors
from tripcloak.pages.small_maps import SmallMap

LIBRARIES = 300 * 10**6
"""Bytes that a process takes for the code it loads, before it has done anything."""
GROWTH = 12
"""Bytes that a method may take for every byte of the matrix; some take far less."""
GRACE = 60.0
"""Seconds beyond the limit to make ready for a method, and again to check what it made."""
PAUSE = 0.02
"""Seconds between two looks at the processes."""


class Limits(NamedTuple):
    """What the methods may use: seconds each, bytes all together, and how many may run at a time."""

    seconds: float
    memory: int
    jobs: int


class TrialResult(NamedTuple):
    """What came of a trial: a row, and a small map where there is something to draw."""

    row: ComparisonRow
    map: SmallMap | None


def jobs_that_fit(memory: int, matrix: int, asked: int | None = None) -> int:
    """Return how many methods may run side by side: as memory allows, one a core at most, one at least.

    Parameters
    ----------
    memory
        Bytes that may be used.
    matrix
        Bytes of the matrix, which all processes share.
    asked
        More than this many are never run.

    Examples
    --------
    >>> jobs_that_fit(memory=500_000_000, matrix=50_000_000, asked=8)
    1
    """
    # The flows lie in memory once; what a method works out about them, once a method.
    fit = (memory - matrix) // (LIBRARIES + GROWTH * matrix)
    return max(1, min(fit, processors(asked)))


def run_trials(
    shared: SharedMemory, workspace: Address, trials: Sequence[Trial], limits: Limits, progress: Progress
) -> list[TrialResult]:
    """Return what came of every trial, in their order; one that fails is a row that says why.

    A method that needs more than its share of the memory is run again when it can have all of it.
    No process outlives this call.
    """
    found: dict[int, TrialResult] = {}
    waiting, alone = list(enumerate(trials)), list[tuple[int, Trial]]()
    running: dict[int, _Process] = {}
    try:
        while waiting or alone or running:
            jobs = limits.jobs if waiting else 1
            while (waiting or (alone and not running)) and len(running) < jobs:
                number, trial = (waiting or alone).pop(0)
                share = limits.memory // (limits.jobs if jobs > 1 else 1)
                running[number] = _Process.start(shared, workspace, trial, limits.seconds, share)
            progress("running methods", len(found), len(trials))
            time.sleep(PAUSE)
            for number, process in list(running.items()):
                answer = process.look()
                if answer is None:
                    continue
                del running[number]
                if answer.get("failure") == "memory" and process.share < limits.memory:
                    alone.append((number, process.trial))
                else:
                    found[number] = _found(process, answer)
        return [found[number] for number in range(len(trials))]
    finally:
        for process in running.values():
            process.end()


@dataclass
class _Process:
    """A method at work, seen from outside."""

    trial: Trial
    process: subprocess.Popen[bytes]
    answers: IO[bytes]
    seconds: float
    share: int
    phase: str = "starting"
    since: float = field(default_factory=time.monotonic)
    read: int = 0
    told: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def start(
        cls, shared: SharedMemory, workspace: Address, trial: Trial, seconds: float, share: int
    ) -> _Process:
        """Return a process that has been started on a trial."""
        answers = tempfile.TemporaryFile(prefix="tripcloak-")  # noqa: SIM115
        numbers = shared.number, answers.fileno()
        arguments = (*numbers, os.getpid(), *workspace, *shared.put(trial))
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tripcloak.comparing.trial_process", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None if os.environ.get("TRIPCLOAK_DEBUG") else subprocess.DEVNULL,
            pass_fds=numbers,
            # Ctrl-C is for this process alone: it ends the others, in good order.
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        return cls(trial, process, answers, seconds, share)

    def look(self) -> dict[str, Any] | None:
        """Return the last answer once there is one, or why there will be none; None while at work."""
        over = self.process.poll() is not None
        self._listen()
        failure: dict[str, Any] | None = None
        if "row" in self.told or "failure" in self.told:
            failure = self.told
        elif over:
            failure = {"failure": "died"}
        elif self._memory() > self.share + LIBRARIES:
            failure = {"failure": "memory"}
        elif time.monotonic() - self.since > self.seconds + (0 if self.phase == "solving" else GRACE):
            failure = {"failure": "time"}
        if failure is not None:
            self.end()
        return failure

    def end(self) -> None:
        """End the process and all that it started, if any still run, and forget its answers."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.answers.close()

    def _listen(self) -> None:
        """Take in the whole lines that have been written since the last time."""
        file = self.answers.fileno()
        # The place to write at is shared with the process, so it must not be moved by reading.
        fresh = os.pread(file, os.fstat(file).st_size - self.read, self.read)
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self.read += len(whole)
        for line in whole.splitlines():
            self.told = json.loads(line)
            if "phase" in self.told:
                self.phase, self.since = self.told["phase"], time.monotonic()

    def _memory(self) -> int:
        """Return the bytes that the process holds now; 0 where the system does not tell."""
        with suppress(OSError, ValueError):
            resident = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
            return int(resident) * os.sysconf("SC_PAGE_SIZE")
        return 0


def _found(process: _Process, answer: dict[str, Any]) -> TrialResult:
    if "row" not in answer:
        return TrialResult(ComparisonRow(**process.trial.asked, reason=_reason(process, answer)), None)
    row = ComparisonRow(**{**answer["row"], "broken": tuple(answer["row"]["broken"])})
    return TrialResult(row, None if answer["map"] is None else SmallMap(*answer["map"]))


def _reason(process: _Process, answer: dict[str, Any]) -> str:
    """Return why there is no release, in words that quote no data."""
    failure = answer["failure"]
    if failure == "said":
        return str(answer["words"])
    if failure == "time":
        doing = {"solving": "", "checking": "was solved, but checking it "}.get(process.phase, "starting it ")
        return f"{doing}took longer than the time limit of {process.seconds:g} s ({spelt('time_limit')})"
    if failure == "memory":
        return f"needed more than the {process.share / 1e9:.1f} GB of memory it may use ({spelt('memory')})"
    if failure == "crash":
        return f"stopped by an unexpected {answer['words']}, our own bug; TRIPCLOAK_DEBUG=1 shows where"
    code = process.process.returncode
    if code == -signal.SIGKILL:
        return "ended by the system, most likely for want of memory"
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"its process died without a word ({how}), our own bug"
