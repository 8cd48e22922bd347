"""Writing of what does not fit in memory; a full disk is named."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import called, spelt


def appended(path: Path, parts: Iterable[NDArray[Any]]) -> None:
    """Add arrays to the end of a private file, or raise in words that the disk has no room for them."""
    try:
        with path.open("ab") as file:
            for part in parts:
                # Not tofile, whose error does not say that the disk is full.
                file.write(part.data)
    except OSError as error:
        reason = error.strerror or "writing failed"
        raise InputError(
            f"the disk cannot hold what does not fit in memory ({reason}); free some room, put "
            f"{called('out')} (TMPDIR, where there is none) on a larger disk, or allow more {spelt('memory')}"
        ) from None
