"""Progress: how long work tells whoever waits for it how far it has come."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

Progress = Callable[[str, int, int | None], None]
"""Called with (what is being done, steps done, steps in all or None when nobody knows)."""


def silent(what: str, done: int, total: int | None) -> None:
    """Ignore progress."""


@contextmanager
def bars_on_stderr() -> Iterator[Progress]:
    """Give a progress callback that draws bars with numbers on stderr, and wipes them when all is done."""
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                # A new step means that the ones before it are done.
                for task in tasks.values():
                    bars.update(task, total=1, completed=1)
                tasks[what] = bars.add_task(what, total=total, told="")
            told = steps_in_words(done, total)
            bars.update(tasks[what], completed=done, total=total, told=told if done else "")

        yield show


def lines_of_json(to: TextIO | None = None, *, between: float = 0.1) -> Progress:
    """Return a progress callback that writes a line of JSON for a program that waits.

    Parameters
    ----------
    to
        Where to; stderr if not given.
    between
        Seconds between two lines of one step, so that millions of steps write few lines.

    Examples
    --------
    >>> tell = lines_of_json(sys.stdout, between=60)
    >>> tell("reading", 1, None), tell("reading", 2, None), tell("checking", 0, 3)
    {"progress": {"what": "reading", "done": 1, "total": null}}
    {"progress": {"what": "checking", "done": 0, "total": 3}}
    (None, None, None)
    """
    last: list[Any] = ["", 0.0]

    def tell(what: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if what == last[0] and now < last[1] + between:
            return
        last[:] = what, now
        told = {"what": what, "done": int(done), "total": None if total is None else int(total)}
        print(json.dumps({"progress": told}), file=to or sys.stderr, flush=True)

    return tell


def steps_in_words(done: int, total: int | None) -> str:
    """Return how far work has come, in words.

    >>> steps_in_words(1200, None), steps_in_words(3, 16)
    ('1,200', '3 of 16')
    """
    return f"{done:,}" if total is None else f"{done:,} of {total:,}"
