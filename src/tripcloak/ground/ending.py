"""Processes that end with the one that started them, however that went."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def end_with(parent: int) -> None:
    """Have the kernel end this process when the one that started it is gone.

    Parameters
    ----------
    parent
        The number of the process that started this one; should it be gone already, this one ends here.
    """
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    # Should memory run out, then let it be this process that goes, and not the one that reports it.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
