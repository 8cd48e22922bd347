"""Progress: how long work tells whoever waits for it how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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


def steps_in_words(done: int, total: int | None) -> str:
    """Return how far work has come, in words.

    >>> steps_in_words(1200, None), steps_in_words(3, 16)
    ('1,200', '3 of 16')
    """
    return f"{done:,}" if total is None else f"{done:,} of {total:,}"
