"""Which letters the bytes of a text file stand for: found on a bounded sample, or said, and made UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt

if TYPE_CHECKING:
    import duckdb

UTF_8 = "utf-8"
WESTERN = "windows-1252"
"""What Western European text is where it is no Unicode; all that Latin-1 can print means the same in it."""

COMPRESSED = {".gz": "gzip", ".tgz": "gzip", ".bz2": "bz2", ".zst": "zstd"}

_TOP = 1 << 16
_WINDOW = 1 << 14
_WINDOWS = 15
_CHUNK = 1 << 20
_MARKS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, UTF_8))
_WIDE_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NO_LETTERS = frozenset(b"\x81\x8d\x8f\x90\x9d")
"""Bytes that stand for nothing in Windows-1252."""


def checked_encoding(name: str | None) -> str | None:
    """Return the name of an encoding as Python knows it, or raise an InputError that says what there is.

    >>> checked_encoding("Latin-1"), checked_encoding("UTF8"), checked_encoding(None)
    ('iso8859-1', 'utf-8', None)
    """
    if name is None:
        return None
    try:
        found = codecs.lookup(name)
        "".encode(found.name)
    except (LookupError, ValueError):
        raise InputError(
            f"unknown encoding ({spelt('encoding')}); expected a name such as utf-8, windows-1252 or utf-16"
        ) from None
    return UTF_8 if found.name == "utf-8-sig" else found.name


def found_encoding(file: Path) -> str | None:
    """Return the encoding of a text file, as some of it shows; None where nothing tells.

    Text that is no UTF-8 anywhere is taken for Windows-1252, which Latin-1 is part of. Where some of it is
    and some is not, it is damaged UTF-8: lines that cannot be read are found when all are.
    """
    pieces = list(_pieces(file))
    top = pieces[0]
    for mark, name in (*_MARKS, *_WIDE_MARKS):
        if top.startswith(mark):
            return name
    if b"\0" in top:
        return _wide(top)
    found = {_letters(piece, first=number == 0) for number, piece in enumerate(pieces)} - {"plain"}
    if found <= {"unicode"}:
        return UTF_8
    if "both" in found or "unicode" in found:
        return UTF_8
    return WESTERN if not any(_NO_LETTERS & set(piece) for piece in pieces) else None


def is_utf_8(encoding: str | None) -> bool:
    """Return whether the engine can read text of that encoding as it is."""
    return encoding in (UTF_8, "ascii")


def write_as_utf_8(file: Path, encoding: str, target: Path) -> None:
    """Write the text of a file anew as UTF-8, or raise an InputError where it is not of that encoding."""
    decode = codecs.getincrementaldecoder(encoding)("strict")
    with opened(file) as source, target.open("wb") as made:
        try:
            while piece := source.read(_CHUNK):
                made.write(decode.decode(piece).removeprefix("\ufeff").encode())
            made.write(decode.decode(b"", final=True).encode())
        except UnicodeError:
            pass
        else:
            return
    raise InputError(
        f"{file.name} is not text in {encoding}; say what it is with {spelt('encoding')} (such as utf-8, "
        "windows-1252 or utf-16), or save it as UTF-8"
    )


def opened(file: Path) -> IO[bytes]:
    """Return the bytes of a text file as a stream, unpacked where its name says that it is compressed."""
    import pyarrow as pa

    stream: IO[bytes] = pa.input_stream(str(file.absolute()), compression=COMPRESSED.get(file.suffix.lower()))
    return stream


def object_to_encoding(con: duckdb.DuckDBPyConnection, noted: Iterable[str | None]) -> None:
    """Raise an InputError where lines were left out because their bytes are no letters in UTF-8.

    Parameters
    ----------
    noted
        The tables that broken lines are noted in.
    """
    for rejects in {table for table in noted if table}:
        if not con.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [rejects]).fetchall():
            continue
        if con.execute(f"SELECT 1 FROM {rejects} WHERE error_type = 'INVALID ENCODING' LIMIT 1").fetchall():
            raise InputError(
                "some lines are not text in UTF-8, although others are; say what the text is with "
                f"{spelt('encoding', WESTERN)}, or drop and count such lines with {spelt('encoding', UTF_8)}"
            )


def _pieces(file: Path) -> Iterator[bytes]:
    """Yield the beginning of a file, and where it can be had without reading all of it, parts of the rest."""
    with opened(file) as source:
        yield source.read(_TOP)
    if file.suffix.lower() in COMPRESSED:
        return
    rest = file.stat().st_size - _TOP
    with file.open("rb") as plain:
        for number in range(min(_WINDOWS, -(-max(rest, 0) // _WINDOW))):
            plain.seek(_TOP + number * max(0, rest - _WINDOW) // max(1, _WINDOWS - 1))
            yield plain.read(_WINDOW)


def _letters(piece: bytes, *, first: bool) -> str:
    """Return what the bytes beyond ASCII in a piece are: Unicode, none of it, both, or not there."""
    if piece.isascii():
        return "plain"
    # A piece may begin or end in the middle of a letter.
    begin = 0 if first else next((n for n, byte in enumerate(piece[:4]) if byte & 0xC0 != 0x80), 0)
    text = codecs.getincrementaldecoder(UTF_8)("replace").decode(piece[begin:])
    damaged, whole = "\ufffd" in text, any("\x7f" < letter != "\ufffd" for letter in text)
    return "both" if damaged and whole else "other" if damaged else "unicode" if whole else "plain"


def _wide(top: bytes) -> str | None:
    """Return the order of bytes in UTF-16 without a mark; None where zeros stand elsewhere."""
    even, odd = top[0::2].count(0), top[1::2].count(0)
    if odd > 0.4 * len(top) / 2 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 * len(top) / 2 and not odd else None
