"""Memory: how much a run may use, said once and shared out the same way everywhere."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tripcloak.ground.errors import InputError

LEAST = 200_000_000
"""Bytes below which nothing can be read."""

_SIZES = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


@dataclass(frozen=True)
class Budget:
    """How many bytes a run may use: two fifths are the SQL engine's, the rest is for the arrays beside it.

    Examples
    --------
    >>> budget = Budget.of("1GB")
    >>> budget.total, budget.engine, budget.arrays
    (1000000000, 400000000, 600000000)
    """

    total: int

    @classmethod
    def of(cls, memory: Memory) -> Budget:
        """Return what was asked for; half of what the machine has where nothing was."""
        if isinstance(memory, Budget):
            return memory
        if memory is None:
            return cls(machine_memory() // 2)
        total = parse_size(memory)
        if total < LEAST:
            raise InputError(f"the memory limit must be at least {LEAST // 10**6}MB")
        return cls(total)

    @property
    def engine(self) -> int:
        """Return the share of the SQL engine, in whole megabytes."""
        return self.total * 2 // 5 // 10**6 * 10**6

    @property
    def arrays(self) -> int:
        """Return the share of the arrays."""
        return self.total * 3 // 5

    def shared_by(self, runs: int) -> Budget:
        """Return what each of several runs may use at a time."""
        return Budget(self.total // runs)


def machine_memory() -> int:
    """Return the bytes of memory there are: of the machine, or of the container where that has fewer."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in _CONTAINER:
        with suppress(OSError, ValueError):
            there = min(there, int(limit.read_text()))
    return there


def fail_rather_than_be_killed() -> None:
    """Have memory refused to this process that neither the machine nor its container has.

    What is refused can be told in words; a system that runs out of memory ends processes without one. What
    was only set aside by now, and not used, does not count. Systems that do not tell it are left alone.
    """
    import resource

    # Sets a GB aside at once, and uses little of it.
    import pyarrow as pa

    pa.default_memory_pool()
    try:
        told = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        aside, used = (1024 * int(told[name].split()[0]) for name in ("VmData", "RssAnon"))
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        bound = aside - used + SET_ASIDE + int(MOST * machine_memory())
        if most == resource.RLIM_INFINITY or bound < most:
            resource.setrlimit(resource.RLIMIT_DATA, (bound, most))
    except (OSError, KeyError, ValueError):
        return


MOST = 0.95
"""The share of all memory that a process may have: it has code and files in it as well."""

SET_ASIDE = 128 << 20
"""Bytes that threads and compilers will set aside besides, and not use, less what code takes."""

_STATUS = Path("/proc/self/status")

_CONTAINER = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container says how much memory it may use: a number, or a word where that is not limited."""

Memory: TypeAlias = str | Budget | None
"""What ``--memory`` says: a size such as ``1GB``, a budget, or nothing for half of the machine's."""


def parse_size(text: str) -> int:
    """Return a size in bytes.

    >>> parse_size("1GB"), parse_size("512 MiB")
    (1000000000, 536870912)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?b)\s*", text.lower())
    if match is None or match[2] not in _SIZES:
        raise InputError(f"the memory limit must be a size such as 512MB or 4GB; got {text!r}")
    return int(float(match[1]) * _SIZES[match[2]])
