"""JSON read with distrust: no deeper than anything that means something."""

from __future__ import annotations

import json
from typing import Any

DEEPEST = 64
"""Entries within entries that no document has; GeoJSON needs about ten."""


class TooDeepError(ValueError):
    """A text is nested to exhaust whoever reads it."""


def parse_json(text: str | bytes, *, deepest: int = DEEPEST) -> Any:
    """Return what a JSON text holds, or raise a ValueError, also where it is nested too deeply to be walked.

    Examples
    --------
    >>> parse_json('{"k": [1, 2]}')
    {'k': [1, 2]}
    >>> parse_json("[" * 100_000 + "]" * 100_000)
    Traceback (most recent call last):
    ...
    tripcloak.ground.documents.TooDeepError: nested too deeply
    """
    try:
        content = json.loads(text)
    except RecursionError:
        raise TooDeepError("nested too deeply") from None
    if _is_deep(content, deepest):
        raise TooDeepError("nested too deeply")
    return content


def _is_deep(content: Any, deepest: int) -> bool:
    """Return whether entries are nested deeper than that; level by level, since depth is what is feared."""
    level = [content] if isinstance(content, dict | list) else []
    for _ in range(deepest - 1):
        level = [
            value
            for entry in level
            for value in (entry.values() if isinstance(entry, dict) else entry)
            if isinstance(value, dict | list)
        ]
    return any(level)
