"""Spelling: how options are written where the reader sits, as keywords of Python or as flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace

_READER = SimpleNamespace(flags=False)
"""Where the reader sits: one for the process and all its threads."""


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
    >>> spelt("start_time", "NAME"), spelt("k", 5), spelt("area"), spelt("force", True)
    ("start_time='NAME'", 'k=5', 'area=...', 'force=True')
    >>> with spelt_as_flags():
    ...     f"name it with {spelt('start_time', 'NAME')}"
    'name it with --start-time NAME'
    """
    if not _READER.flags:
        return f"{name}={'...' if value is None else repr(value)}"
    if value is None or value is True:
        return flag(name)
    return f"{flag(name)} {value!r}" if quoted else f"{flag(name)} {value}"


def spelt_together(values: Mapping[str, object]) -> str:
    """Return several options with their values, as they would stand side by side.

    >>> spelt_together({"lat": "y", "lon": "x"})
    "lat='y', lon='x'"
    >>> with spelt_as_flags():
    ...     spelt_together({"lat": "y", "lon": "x"})
    "--lat 'y' --lon 'x'"
    """
    written = (spelt(name, value, quoted=True) for name, value in values.items())
    return (" " if _READER.flags else ", ").join(written)


def called(name: str) -> str:
    """Return what an option is called, where a sentence is about it.

    >>> called("time_limit")
    'time_limit'
    >>> with spelt_as_flags():
    ...     called("time_limit")
    '--time-limit'
    """
    return flag(name) if _READER.flags else name


def spelt_command(name: str) -> str:
    """Return a command as the reader would write it.

    >>> spelt_command("trajectories audit")
    '`tripcloak.trajectories.audit`'
    >>> with spelt_as_flags():
    ...     spelt_command("audit")
    '`tripcloak audit`'
    """
    return f"`tripcloak {name}`" if _READER.flags else f"`tripcloak.{name.replace(' ', '.')}`"


def flag(name: str) -> str:
    """Return the flag of an option.

    >>> flag("time_limit")
    '--time-limit'
    """
    return f"--{name.replace('_', '-')}"


@contextmanager
def spelt_as_flags(asked: bool = True) -> Iterator[None]:
    """Have options written as flags of the command line, within, in this process and all its threads."""
    before, _READER.flags = _READER.flags, asked
    try:
        yield
    finally:
        _READER.flags = before


def spells_flags() -> bool:
    """Return whether options are written as flags here; a process that is started may be told."""
    return bool(_READER.flags)
