"""Progress where the caller sits: a bar in a notebook, bars on stderr where asked for, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, TypeAlias

from tripcloak.ground.progress import Progress, bars_on_stderr, silent, steps_in_words

Shown: TypeAlias = bool | Progress | None
"""Whether progress is shown: in notebooks alone if not given, never, always, or by the caller's function.

A function is called with what is being done, the steps done, and the steps in all or None.
"""

PAUSE = 0.1
"""Seconds between two drawings of a bar."""


@contextmanager
def shown(progress: Shown) -> Iterator[Progress]:
    """Give the callback that shows progress where the caller sits.

    Scripts stay silent unless they ask: what is printed there may be read by another program.

    Examples
    --------
    >>> with shown(lambda what, done, total: print(what, done)) as progress:
    ...     progress("reading", 1, None)
    reading 1
    """
    if callable(progress):
        yield progress
    elif progress is not False and in_notebook():
        with _notebook_bar() as bar:
            yield bar
    elif progress:
        with bars_on_stderr() as bars:
            yield bars
    else:
        yield silent


def in_notebook() -> bool:
    """Return whether this runs in the kernel of a notebook.

    >>> in_notebook()
    False
    """
    ask = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    return getattr(ask(), "kernel", None) is not None


@contextmanager
def _notebook_bar() -> Iterator[Progress]:
    """Give a callback that draws one bar of HTML, which needs no widgets, and goes away at the end."""
    from IPython import display as shell

    draw: Any = shell.display
    handle = draw(_drawn("starting", 0, None), raw=True, display_id=True)
    last_what, last_drawn = "", 0.0

    def show(what: str, done: int, total: int | None) -> None:
        nonlocal last_what, last_drawn
        now = time.monotonic()
        if what != last_what or now - last_drawn > PAUSE:
            last_what, last_drawn = what, now
            handle.update(_drawn(what, done, total), raw=True)

    try:
        yield show
    finally:
        handle.update({"text/html": "", "text/plain": ""}, raw=True)


def _drawn(what: str, done: int, total: int | None) -> dict[str, str]:
    """Return a bar as HTML and as text.

    >>> _drawn("reading trips", 3, 4)["text/plain"]
    'reading trips 3 of 4'
    """
    told = steps_in_words(done, total) if done else ""
    far = f' value="{done}" max="{total}"' if total and done else ""
    bar = f'<progress{far} style="vertical-align: middle; width: 16em"></progress>'
    label = f'<span style="margin-left: .8em">{escape(what)}</span>'
    number = f'<span style="margin-left: .8em; opacity: .65">{escape(told)}</span>'
    return {
        "text/html": f'<div style="font-variant-numeric: tabular-nums">{bar}{label}{number}</div>',
        "text/plain": f"{what} {told}".strip(),
    }
