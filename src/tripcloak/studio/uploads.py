"""Files that are sent: streamed to disk, written aside and put in place whole, up to a limit."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from tripcloak.ground.errors import InputError
from tripcloak.studio.workspace import disk_in_words, remove_tree

LARGEST = 8 * 10**9
"""Bytes of a file that may be sent, where nothing else is asked for; larger ones are named by path."""

PATIENCE = 60.0
"""Seconds without a byte after which an upload is given up."""


class UploadError(InputError):
    """A file that was sent cannot be taken; carries the status to answer with."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def plain_name(name: str) -> str:
    """Return the name of a file without folders, or raise where it is none.

    >>> plain_name("trips.csv")
    'trips.csv'
    >>> plain_name("../trips.csv")
    Traceback (most recent call last):
    tripcloak.studio.uploads.UploadError: '../trips.csv' is no name of a file...
    """
    if (
        not name.strip(". ")
        or len(name.encode()) > 200
        or any(letter in name for letter in "/\\\0")
        or not name.isprintable()
        or name.startswith("-")
    ):
        raise UploadError(
            400, f"{name[:80]!r} is no name of a file; send it under a plain name such as trips.csv"
        )
    return name


async def receive(
    folder: Path,
    name: str,
    chunks: AsyncIterator[bytes],
    *,
    size: int | None,
    largest: int,
    patience: float = PATIENCE,
) -> Path:
    """Return where a file that is sent was put; nothing is left of one that is cut off, too large, too slow.

    Parameters
    ----------
    size
        What the sender says its size is.
    largest
        Bytes it may have.
    """
    name = plain_name(name)
    if size is not None and size > largest:
        raise too_large(largest)
    number = secrets.token_hex(8)
    aside, home = folder / f"{number}.part", folder / number
    got = 0
    try:
        with disk_in_words(folder.parent), open(aside, "wb") as file:
            while (chunk := await _next(chunks, patience)) is not None:
                got += len(chunk)
                if got > largest:
                    raise too_large(largest)
                file.write(chunk)
        if size is not None and got != size:
            raise UploadError(400, f"only {got:,} of {size:,} bytes arrived; send the file again")
        if not got:
            raise UploadError(400, "the file is empty")
        with disk_in_words(folder.parent):
            home.mkdir(mode=0o700)
            aside.rename(home / name)
    except BaseException:
        aside.unlink(missing_ok=True)
        remove_tree(home)
        raise
    return home / name


async def _next(chunks: AsyncIterator[bytes], patience: float) -> bytes | None:
    try:
        return await asyncio.wait_for(anext(chunks), patience)
    except StopAsyncIteration:
        return None
    except TimeoutError:
        raise UploadError(408, f"no byte arrived for {patience:g} seconds; send the file again") from None


def too_large(largest: int) -> UploadError:
    """Return the error that says how large a file may be."""
    return UploadError(
        413,
        f"the file is larger than {largest / 1e6:,.0f} MB, which is the most that may be sent; name it by "
        "its path, or raise the limit with --max-upload",
    )
