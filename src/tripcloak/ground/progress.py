"""Progress: how long work tells whoever waits for it how far it has come."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with (what is being done, steps done, steps in all or None when nobody knows)."""


def silent(what: str, done: int, total: int | None) -> None:
    """Ignore progress."""
