"""One file by its name, whatever the name holds: the engine takes names for patterns."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    import duckdb

# What is known to mean itself; all else goes by a link, so that nothing rests on the engine's way to escape.
_PLAIN = r"[\w .=+,@()#-]"
_PLAIN_PATH = re.compile(rf"/(?!/)(?:{_PLAIN}|/)*")
_LONGEST = 200

_folders: weakref.WeakKeyDictionary[duckdb.DuckDBPyConnection, Path] = weakref.WeakKeyDictionary()


def exact_path(con: duckdb.DuckDBPyConnection, file: Path) -> str:
    r"""Return a path by which a connection reads this very file, and never a neighbour.

    The engine takes ``*``, ``?``, ``[`` and a backslash in a path for a pattern, and lists the folder to
    match it. A path that holds anything unusual is therefore read through a link with a plain name, in a
    private folder that goes away with the connection. Its parts are named after those of the path.

    Examples
    --------
    >>> import duckdb
    >>> with duckdb.connect() as con:
    ...     exact_path(con, Path("/data/trips.csv")), exact_path(con, Path("/data/[x]*.csv"))[-20:]
    ('/data/trips.csv', '/data/%5Bx%5D%2A.csv')
    """
    whole = str(file.absolute())
    if _PLAIN_PATH.fullmatch(whole):
        return whole
    link = private_folder(con).joinpath(*(plain_part(part) for part in Path(whole).parts[1:]))
    if not link.is_symlink():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(whole)
    return str(link)


def exact_literal(con: duckdb.DuckDBPyConnection, file: Path) -> str:
    """Return the exact path of a file as SQL."""
    return "'" + exact_path(con, file).replace("'", "''") + "'"


def plain_part(part: str) -> str:
    """Return a part of a path in plain letters; different parts stay different, and none leads elsewhere.

    >>> plain_part("a*b.csv"), plain_part("..")
    ('a%2Ab.csv', '%2E%2E')
    """
    plain = "%2E%2E" if part == ".." else re.sub(rf"(?!{_PLAIN}).", _escaped, part, flags=re.DOTALL)
    if len(os.fsencode(plain)) <= _LONGEST:
        return plain
    # Its endings say how to read it.
    return hashlib.sha256(plain.encode()).hexdigest() + "".join(Path(plain).suffixes[-2:])[-_LONGEST // 2 :]


def _escaped(letter: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in os.fsencode(letter[0]))


def private_folder(con: duckdb.DuckDBPyConnection) -> Path:
    """Return a folder that goes away with a connection, for links and for what is unpacked.

    Its own path is plain, and only its owner can read it.
    """
    if con not in _folders:
        if not _PLAIN_PATH.fullmatch(tempfile.gettempdir()):
            raise InputError(
                "the path of a file holds unusual characters, and so does that of the temporary folder in "
                "which a link to it is made; set TMPDIR to a folder with a plain path"
            )
        folder = Path(tempfile.mkdtemp(prefix="tripcloak-"))
        weakref.finalize(con, shutil.rmtree, folder, ignore_errors=True)
        _folders[con] = folder
    return _folders[con]
