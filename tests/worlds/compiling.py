"""Kernels compiled once for all processes of tests, not once by each of them."""

from __future__ import annotations

import fcntl
import gc
from pathlib import Path
from threading import RLock
from typing import Any

from numba.core.dispatcher import Dispatcher


def compile_in_turn() -> None:
    """Have this process compile only while no other process of tests does.

    Compiling every kernel takes minutes. Whoever waited for its turn finds what the other has kept on disk.
    Looking for garbage meanwhile, of which there is none, would take a sixth longer. Asked for twice, a
    process would wait for itself.
    """
    if Dispatcher.compile.__name__ == "in_turn":
        return
    ourselves, compiled, depth = RLock(), Dispatcher.compile, 0

    def in_turn(self: Dispatcher, signature: Any) -> Any:
        nonlocal depth
        # Nobody writes to this very file, and it is there for all of them.
        with ourselves, Path(__file__).open(encoding="utf-8") as turn:
            if depth == 0:
                fcntl.flock(turn, fcntl.LOCK_EX)
                gc.disable()
            # Kernels that call others compile those too, in the same turn.
            depth += 1
            try:
                return compiled(self, signature)
            finally:
                depth -= 1
                if depth == 0:
                    gc.enable()

    Dispatcher.compile = in_turn
