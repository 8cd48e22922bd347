"""Files of other file systems, by their addresses: private copies on this machine, while a program runs."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from tripcloak.ground.errors import InputError, MissingFileError
from tripcloak.ground.waiting import folder_of_copies
from tripcloak.records.files.databases.fetching import Fetched, remember

SCHEMES = {
    "hdfs": "hdfs",
    "viewfs": "viewfs",
    "s3": "s3",
    "s3a": "s3",
    "gs": "gs",
    "abfs": "abfs",
    "abfss": "abfss",
}
"""How addresses of files begin, and what the library that reads them calls that."""

_SECRET = ("pass", "secret", "key", "token", "sig", "sas")
"""What names of settings hold that nobody else should see."""

_PATIENCE = "retry_limit_seconds"

_PIECE = 1 << 22
"""Bytes that are copied at a time."""


class _File(NamedTuple):
    """A file there: its path on its file system, its address, where it goes below a folder, its size."""

    path: str
    address: str
    place: str
    size: int


def is_distant(given: str) -> bool:
    """Return whether a text is the address of files on another file system.

    >>> is_distant("s3a://bucket/trips/*.parquet"), is_distant("trips.parquet")
    (True, False)
    """
    scheme, found, _ = given.partition("://")
    return bool(found) and scheme.lower() in SCHEMES


def bring(given: str) -> str:
    """Return where the files of an address are on this machine, after copying them there.

    They go away with the command or the process, and only their owner can read them. Names that begin with
    a dot or a line below hold no rows, as clusters write them, and are left there.

    Raises
    ------
    InputError
        The file system cannot be reached, does not give the files or holds none there, or the address holds
        a password.
    """
    refuse_password(given)
    folder = folder_of_copies()
    try:
        system, files, alone = _listed(given)
        for file in files:
            _copy(system, file, folder / file.place)
            remember(folder / file.place, Fetched(file.address, (), exact=True))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    whole = folder / files[0].place if alone else folder / PurePosixPath(files[0].place).parts[0]
    remember(whole, Fetched(given, (), exact=True))
    return str(whole)


def bring_one(address: str, folder: Path) -> Path:
    """Return the copy of one file below a folder, which those share who ask for it there."""
    split = urlsplit(address)
    place = folder / "brought" / split.netloc.replace(":", "-") / split.path.lstrip("/")
    if not place.exists():
        system, (file,), _ = _listed(address)
        aside = place.with_name(f"{place.name}.{os.getpid()}")
        _copy(system, file, aside)
        aside.rename(place)
    return place


def _listed(given: str) -> tuple[Any, list[_File], bool]:
    """Return a file system, the files of an address, and whether it is that of one file."""
    system, root, pattern, base = _opened(given)
    try:
        asked = "".join(given.partition("?")[1:])
        found = [file._replace(address=file.address + asked) for file in _found(system, root, pattern, base)]
    except _failures() as error:
        raise InputError(
            f"{_called(given)}: the file system gives no list of files ({_why(error)})"
        ) from None
    if not found:
        raise MissingFileError(f"there is no file {_called(given)}; check the address")
    return system, found, not pattern and found[0].path == root


def _opened(given: str) -> tuple[Any, str, tuple[str, ...], str]:
    """Return a file system, where to look, what paths below that must be like, and the address looked at."""
    from pyarrow.fs import FileSystem

    scheme, _, rest = given.partition("://")
    place, asked, query = rest.partition("?")
    parts = place.rstrip("/").split("/")
    wild = next((number for number, part in enumerate(parts) if "*" in part), len(parts))
    base = "/".join(parts[:wild])
    if scheme.lower() == "gs" and _PATIENCE not in query:
        # By itself it tries for a quarter of an hour.
        asked, query = "?", "&".join(filter(None, (query, f"{_PATIENCE}=30")))
    try:
        system, root = FileSystem.from_uri(f"{SCHEMES[scheme.lower()]}://{base}{asked}{query}")
    except _failures() as error:
        raise InputError(
            f"{_called(given)}: the file system cannot be reached ({_why(error)}). HDFS needs Hadoop's "
            "libraries here (JAVA_HOME, ARROW_LIBHDFS_DIR, CLASSPATH); stores of objects need their usual "
            "credentials"
        ) from None
    return system, root, tuple(parts[wild:]), f"{scheme}://{base}"


def _found(system: Any, root: str, pattern: tuple[str, ...], base: str) -> Iterator[_File]:
    """Yield the files of a folder, or the one file there is, in the order of their paths."""
    from pyarrow.fs import FileSelector, FileType

    (here,) = system.get_file_info([root])
    name = PurePosixPath(root).name
    if here.type == FileType.File and not pattern:
        yield _File(root, base, name, here.size)
    if here.type != FileType.Directory:
        return
    below = system.get_file_info(FileSelector(root, recursive=True))
    for one in sorted((one for one in below if one.type == FileType.File), key=lambda one: str(one.path)):
        parts = PurePosixPath(one.path).relative_to(root).parts
        hidden = any(part.startswith((".", "_")) for part in parts)
        if not hidden and len(parts) >= len(pattern) and all(map(fnmatchcase, parts, pattern)):
            place = "/".join(parts)
            yield _File(one.path, f"{base}/{place}", f"{name}/{place}", one.size)


def _copy(system: Any, file: _File, place: Path) -> None:
    """Copy a file byte by byte, or raise where that is not possible or it changed meanwhile."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = _called(file.address)
    try:
        # Nothing is unpacked on the way, whatever the name says.
        with system.open_input_stream(file.path, compression=None) as there, place.open("wb") as here:
            shutil.copyfileobj(there, here, _PIECE)
            copied = here.tell()
    except _failures() as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise InputError(
                f"there is no room in the temporary folder for {name}; set TMPDIR to a folder on a "
                "larger disk"
            ) from None
        raise InputError(f"{name} could not be read ({_why(error)})") from None
    if copied != file.size:
        raise InputError(f"{name} changed while it was read; run it again when nobody writes to it any more")


def _failures() -> tuple[type[Exception], ...]:
    """Return what file systems raise."""
    import pyarrow as pa

    return OSError, ValueError, pa.ArrowException


def _why(error: Exception) -> str:
    """Return the first sentence of what a library says."""
    return str(error).split(". ")[0].split("\n")[0].strip().rstrip(".")[:200] or type(error).__name__


def _called(given: str) -> str:
    """Return what messages call an address: what is asked of the file system stays out."""
    return given.partition("?")[0]


def refuse_password(given: str) -> None:
    """Raise where an address holds what nobody else should see."""
    split = urlsplit(given)
    told = {key.lower() for key, _ in parse_qsl(split.query, keep_blank_values=True)}
    if split.password is not None or any(word in key for key in told for word in _SECRET):
        raise InputError(
            "the address of a file must not hold a password or a secret key, which everybody sees who lists "
            "the processes of this machine. Leave it to the usual credentials of the file system"
        )
