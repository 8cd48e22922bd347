"""Runs as processes of their own: started, watched, cancelled, and put into words when they end.

A run is the ordinary command line. What it prints on stdout is kept as its result; lines of progress on
stderr are passed on, and the other lines are kept to tell what went wrong. A crash, or memory that runs out,
ends that process and nothing else.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from tripcloak.ground.errors import InputError
from tripcloak.studio.recipes import writes
from tripcloak.studio.settings import arguments, command_words
from tripcloak.studio.workspace import INTERRUPTED, LOG, RESULT, Run, Workspace, disk_in_words

GRACE = 12.0
"""Seconds that a run has to stop in good order; the command line insists after ten."""

MOST_LINES = 200
"""Lines of stderr that are kept."""


@dataclass
class Live:
    """What is known of a run while it runs."""

    process: subprocess.Popen[str] | None = None
    progress: dict[str, Any] = field(default_factory=dict)
    cancelled: bool = False


class Supervisor:
    """Runs what the workspace has waiting, a few at a time."""

    def __init__(
        self, workspace: Workspace, *, at_once: int = 1, program: Sequence[str] = (), grace: float = GRACE
    ) -> None:
        self.workspace = workspace
        self._program = list(program) or [sys.executable, "-m", "tripcloak.cli"]
        self._grace = grace
        self._live: dict[int, Live] = {}
        self._turn = threading.Lock()
        self._closing = False
        self._workers = ThreadPoolExecutor(at_once, thread_name_prefix="run")

    def start(self, run: Run) -> None:
        """Have a run done as soon as it is its turn."""
        with self._turn:
            self._live[run.id] = Live()
        self._workers.submit(self._do, run)

    def progress(self, number: int) -> dict[str, Any] | None:
        """Return how far a run is; None where nothing is known of it any more."""
        with self._turn:
            live = self._live.get(number)
            return None if live is None else dict(live.progress)

    def cancel(self, number: int) -> bool:
        """Ask a run to stop; return whether there was one to ask."""
        with self._turn:
            live = self._live.get(number)
            if live is None:
                return False
            live.cancelled = True
            process = live.process
        if process is None:
            # It waits for its turn, and now it will never have one.
            self.workspace.change(number, "cancelled", CANCELLED)
        else:
            threading.Thread(target=stop, args=(process, self._grace), daemon=True).start()
        return True

    def close(self) -> None:
        """End all runs and wait for them; what had not ended is told as interrupted by the next server."""
        with self._turn:
            self._closing = True
            running = [live.process for live in self._live.values() if live.process is not None]
        for process in running:
            stop(process, min(self._grace, 3.0))
        self._workers.shutdown(wait=True, cancel_futures=True)

    def _do(self, run: Run) -> None:
        live = self._live[run.id]
        began = time.monotonic()
        try:
            if self._closing or not self.workspace.change(run.id, "running"):
                return
            code, lines = self._watched(run, live)
            state, words = outcome(code, lines, cancelled=live.cancelled)
            if self._closing and state != "done":
                state, words = "interrupted", INTERRUPTED
            if state == "failed" and not self._there(run):
                words = VANISHED
            if state != "done":
                self.workspace.clear_run(run.id)
            self.workspace.change(run.id, state, words, time.monotonic() - began)
        except InputError as error:
            self._give_up(run, str(error))
        except Exception as error:
            self._give_up(run, f"the run could not be started or watched: {type(error).__name__}")
        finally:
            with self._turn:
                self._live.pop(run.id, None)

    def _there(self, run: Run) -> bool:
        of = self.workspace.input(run.input)
        return of is not None and of.there

    def _give_up(self, run: Run, words: str) -> None:
        """Say that a run failed, if even that can be written."""
        try:
            self.workspace.change(run.id, "failed", words)
        except InputError:
            print(f"tripcloak studio: {words}", file=sys.stderr, flush=True)

    def _watched(self, run: Run, live: Live) -> tuple[int, list[str]]:
        folder = self.workspace.run_folder(run.id)
        with disk_in_words(self.workspace.folder), open(folder / RESULT, "wb") as result:
            process = subprocess.Popen(
                [*self._program, *self.argv(run)],
                stdin=subprocess.DEVNULL,
                stdout=result,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**os.environ, "TRIPCLOAK_PROGRESS": "json", "TRIPCLOAK_ENDS_WITH": str(os.getpid())},
                text=True,
                errors="replace",
                start_new_session=True,
            )
        with self._turn:
            live.process = process
        if live.cancelled or self._closing:
            threading.Thread(target=stop, args=(process, self._grace), daemon=True).start()
        lines = read_lines(process, live.progress.update)
        code = process.wait()
        with disk_in_words(self.workspace.folder):
            (folder / LOG).write_text("\n".join(lines), encoding="utf-8")
        return code, lines

    def argv(self, run: Run) -> list[str]:
        """Return the arguments of a run: those that anybody could type."""
        of = self.workspace.input(run.input)
        if of is None or not of.there:
            raise InputError("the input is no longer where it was; put it back, or choose it anew")
        words = [*command_words(run.wing, run.command)]
        told = arguments(run.wing, run.command, run.settings)
        if run.command == "audit":
            release = self.workspace.release_folder(run.of_run or 0)
            return [*words, str(release), f"--against={of.path}", *told, "--json"]
        out = [f"--out={self.workspace.release_folder(run.id)}"] if writes(run.command) else []
        return [*words, of.path, *told, *out, "--json"]


VANISHED = (
    "The file was moved or removed while this ran, so that nothing was released. Put it back, or choose it "
    "anew, and run it again."
)
CANCELLED = "Cancelled; no half-written release was left behind."


def read_lines(process: subprocess.Popen[str], tell: Callable[[dict[str, Any]], None]) -> list[str]:
    """Return the last lines that a process writes to stderr, and pass on those that tell its progress."""
    lines: deque[str] = deque(maxlen=MOST_LINES)
    assert process.stderr is not None
    with process.stderr:
        for line in process.stderr:
            told = progress_in(line)
            if told is None:
                lines.append(line.rstrip("\n")[:2000])
            else:
                tell(told)
    return list(lines)


def progress_in(line: str) -> dict[str, Any] | None:
    """Return what a line of progress says; None for any other line.

    >>> progress_in('{"progress": {"what": "reading", "done": 1, "total": 2}}')
    {'what': 'reading', 'done': 1, 'total': 2}
    >>> progress_in("Warning: no ids")
    """
    if not line.startswith('{"progress"'):
        return None
    try:
        told = json.loads(line)["progress"]
    except (ValueError, KeyError):
        return None
    return told if isinstance(told, dict) else None


def outcome(code: int, lines: Sequence[str], *, cancelled: bool) -> tuple[Any, str]:
    """Return the state of a run that ended, and the words for it.

    >>> outcome(0, [], cancelled=False), outcome(2, ["Error: no file", "Next: look."], cancelled=False)
    (('done', ''), ('failed', 'no file'))
    >>> outcome(-9, [], cancelled=False)[1]
    'The run was ended by the system (signal 9), most likely because memory ran out...'
    """
    if code == 0:
        return "done", ""
    if cancelled:
        return "cancelled", CANCELLED
    if code in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return "failed", (
            "The run was ended by the system (signal 9), most likely because memory ran out. Try a smaller "
            "memory setting, coarser zones or fewer rows."
        )
    if code < 0:
        return "failed", f"The run crashed (signal {-code}). Nothing was released; please report it."
    said = [place for place, line in enumerate(lines) if line.startswith("Error: ")]
    if said:
        # What to type next is of no use to whoever looks at a page.
        told = takewhile(lambda line: not line.startswith("Next: "), lines[said[-1] :])
        return "failed", " ".join(told).removeprefix("Error: ").strip()
    return "failed", " ".join(lines[-3:]).strip() or f"The run ended with code {code} and said nothing."


def stop(process: subprocess.Popen[str], grace: float) -> None:
    """Ask a process and its children to stop, and end them if they do not."""
    for number, wait in ((signal.SIGINT, grace), (signal.SIGKILL, 5.0)):
        if process.poll() is not None:
            return
        try:
            if number == signal.SIGINT:
                process.send_signal(number)
            else:
                os.killpg(process.pid, number)
            process.wait(wait)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def result_of(folder: Path) -> Any:
    """Return what a run printed, as JSON; None where it printed nothing that can be read."""
    try:
        return json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
