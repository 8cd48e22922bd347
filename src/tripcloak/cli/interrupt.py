"""Ctrl-C: whatever the program is doing, it stops, cleans up and says so."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import NoReturn

from tripcloak.ground.engine import STOPS

GRACE = 5.0
"""Seconds to stop in good order."""


class Interrupt:
    """Remembers that the user, or the system, asked the program to stop.

    A KeyboardInterrupt alone does not do: compiled libraries turn it into errors of their own, or lose it.
    """

    def __init__(self) -> None:
        self.signal: int | None = None

    def watch(self) -> None:
        """Take over the signals that ask a program to stop, except those that the caller ignores."""
        told, tell = os.pipe()
        os.set_blocking(tell, False)
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        threading.Thread(target=self._insist, args=(told,), daemon=True).start()
        for number in STOPS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._asked)

    def check(self) -> None:
        """Raise KeyboardInterrupt if the program was asked to stop."""
        if self.signal is not None:
            raise KeyboardInterrupt

    def leave(self, number: int) -> NoReturn:
        """Say that the program was stopped by a signal, remove its temporary files and end it."""
        # A bar that was cut off in the middle has hidden the terminal's cursor.
        cursor = "\x1b[?25h" if sys.stderr.isatty() else ""
        print(f"{cursor}\nInterrupted; no half-written release was left behind.", file=sys.stderr, flush=True)
        # Not sys.exit: taking the engine apart in the middle of a query may hang or write to stderr.
        atexit._run_exitfuncs()
        os._exit(128 + number)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        # Asking twice must not cut the cleaning short.
        if self.signal is None:
            self.signal = number
            raise KeyboardInterrupt

    def _insist(self, told: int) -> None:
        """Wait for a signal, which reaches this thread even while compiled code keeps the main one."""
        while (number := os.read(told, 1)[0]) not in STOPS:
            pass
        time.sleep(GRACE)
        threading.Thread(target=self.leave, args=(number,), daemon=True).start()
        time.sleep(GRACE)
        os._exit(128 + number)


INTERRUPT = Interrupt()
"""The one of this process."""
