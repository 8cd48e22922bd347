"""What a process of our own need not load, and how seldom it need look for garbage."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS_BETWEEN = 10_000
"""So many new objects before garbage is looked for; Python's own 700 are walked through at every import."""


class _NotLoaded:
    """A finder that says of what we never use that it is not installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise for data frames, and for linear algebra in kernels; leave all else to the next finder."""
        if name == "pandas" or (name == "scipy.linalg" and _kernels_ask()):
            raise ModuleNotFoundError("this process works without it", name=name)


def load_sparingly() -> None:
    """Have nothing load what a process of ours never uses, from now on.

    Arrow and DuckDB load pandas where it is installed, in case somebody hands them a frame: half a second
    and 80 MB. The compiler loads linear algebra, in case a kernel multiplies matrices: a fifth of a second.
    Walking again and again through what was loaded takes as long.
    """
    sys.meta_path.insert(0, _NotLoaded)
    gc.set_threshold(OBJECTS_BETWEEN)


@contextmanager
def loading_all() -> Iterator[None]:
    """Let everything be loaded again for a while, by code of others that cannot do without."""
    before = sys.meta_path[:]
    sys.meta_path[:] = [finder for finder in before if finder is not _NotLoaded]
    try:
        yield
    finally:
        sys.meta_path[:] = before


def _kernels_ask() -> bool:
    """Return whether the compiler is just finding out if there is linear algebra for kernels."""
    loading = sys.modules.get("numba.np.arraymath")
    return loading is not None and not hasattr(loading, "_HAVE_BLAS")
