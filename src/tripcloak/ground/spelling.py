"""Spelling: how options are written where the reader sits, as flags of the command line or as keywords."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_KEYWORDS: ContextVar[bool] = ContextVar("spelt as keywords", default=False)


def spelt(name: str, value: object = None, *, quoted: bool = False) -> str:
    """Return an option, with a value where one is meant, as the reader would write it.

    Every message that names an option asks here: one message, two spellings.

    Parameters
    ----------
    name
        The keyword of Python, from which the flag follows.
    quoted
        Whether the value stands in quotes after a flag: names of columns may hold spaces.

    Examples
    --------
    >>> f"name it with {spelt('start_time', 'NAME')}"
    'name it with --start-time NAME'
    >>> with spelt_as_keywords():
    ...     spelt("start_time", "NAME"), spelt("k", 5), spelt("area"), spelt("force", True)
    ("start_time='NAME'", 'k=5', 'area=...', 'force=True')
    """
    if _KEYWORDS.get():
        return f"{name}={'...' if value is None else repr(value)}"
    flag = f"--{name.replace('_', '-')}"
    if value is None or value is True:
        return flag
    return f"{flag} {value!r}" if quoted else f"{flag} {value}"


def spelt_command(name: str) -> str:
    """Return a command as the reader would write it.

    >>> spelt_command("audit")
    '`tripcloak audit`'
    >>> with spelt_as_keywords():
    ...     spelt_command("trajectories audit")
    '`tripcloak.trajectories.audit`'
    """
    return (
        f"`tripcloak{'.' if _KEYWORDS.get() else ' '}{name.replace(' ', '.') if _KEYWORDS.get() else name}`"
    )


@contextmanager
def spelt_as_keywords(asked: bool = True) -> Iterator[None]:
    """Have options written as keywords of Python, within, or as flags where that is asked."""
    token = _KEYWORDS.set(asked)
    try:
        yield
    finally:
        _KEYWORDS.reset(token)


def spells_keywords() -> bool:
    """Return whether options are written as keywords here; a process that is started may be told."""
    return _KEYWORDS.get()
