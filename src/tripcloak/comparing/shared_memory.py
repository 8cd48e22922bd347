"""SharedMemory: objects in a file without a name, whose arrays other processes can map instead of copying."""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from pathlib import Path
from typing import IO, Any, NamedTuple

from tripcloak.ground.errors import InputError

ALIGNED = 64
"""Arrays start at multiples of this many bytes."""


class Address(NamedTuple):
    """Where a thing lies in shared memory."""

    start: int
    size: int


class SharedMemory:
    """Things put aside for processes that this one starts.

    The file never has a name that outlives its opening: no other user can open it, and it is gone as
    soon as the last process that holds it ends, however it ends. Arrays are laid down as they are
    and mapped on taking, so that any number of processes share one copy; a process that writes to
    an array writes to a page of its own.

    Parameters
    ----------
    folder
        Where the file lies; the system's temporary folder by default.

    Examples
    --------
    >>> import numpy as np
    >>> with SharedMemory() as shared:
    ...     address = shared.put({"trips": np.arange(3)})
    ...     shared.take(address)
    {'trips': array([0, 1, 2])}
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="tripcloak-", dir=folder)  # noqa: SIM115

    def __enter__(self) -> SharedMemory:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    @property
    def number(self) -> int:
        """Return the file's number, for processes that are to inherit it."""
        return self._file.fileno()

    @property
    def size(self) -> int:
        """Return how many bytes lie on the shared."""
        return os.fstat(self.number).st_size

    def put(self, thing: object) -> Address:
        """Lay a thing down and return where it lies."""
        arrays: list[pickle.PickleBuffer] = []
        body = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
        try:
            places = [self._write(array.raw()) for array in arrays]
            address = self._write(pickle.dumps((places, body)))
            self._file.flush()
        except OSError as error:
            reason = error.strerror or "writing failed"
            raise InputError(
                f"the temporary folder cannot hold the flows for the methods to read ({reason}); "
                "free some room, or set TMPDIR to a larger disk"
            ) from None
        return address

    def take(self, address: Address) -> Any:
        """Return a thing that was put there; only things of this program's own lie in shared memory."""
        return take(self.number, address)

    def _write(self, data: bytes | memoryview) -> Address:
        start = -(-self._file.seek(0, os.SEEK_END) // ALIGNED) * ALIGNED
        self._file.seek(start)
        self._file.write(data)
        return Address(start, len(data))


def take(number: int, address: Address) -> Any:
    """Return the thing at an address of the shared that this process has inherited under a number."""
    # Private pages: kernels are compiled for arrays that may be written to.
    whole = memoryview(mmap.mmap(number, 0, access=mmap.ACCESS_COPY))
    places, body = pickle.loads(whole[address.start : address.start + address.size])
    return pickle.loads(body, buffers=[whole[start : start + size] for start, size in places])
