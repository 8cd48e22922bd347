"""LedgerKey: the owner's secret, by which records are known again and entries are nobody else's."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from tripcloak._version import __version__
from tripcloak.flows.reading.keyed import KEY
from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError

NAME = "key"
NEXT = "key.next"
"""A key that is to take the place of the old one, as soon as the entry is written that says so."""
KIND = "tripcloak ledger key "
FORMAT = f"{KIND}1"
_SECRET = 32


@dataclass(frozen=True)
class LedgerKey:
    """What the owner of a ledger alone has; never shown.

    Attributes
    ----------
    secret : bytes
        Seals the entries.
    records : tuple of bytes
        The keys of record digests, the first one first; each further one came with a rotation.

    Examples
    --------
    >>> key = LedgerKey.new()
    >>> key
    <LedgerKey>
    >>> turned = key.rotated()
    >>> turned.records[:1] == key.records, turned.secret == key.secret
    (True, False)
    """

    secret: bytes = field(repr=False)
    records: tuple[bytes, ...] = field(repr=False)

    def __repr__(self) -> str:
        return "<LedgerKey>"

    @classmethod
    def new(cls) -> LedgerKey:
        """Return a key that there has never been."""
        return cls(secrets.token_bytes(_SECRET), (secrets.token_bytes(KEY),))

    def rotated(self) -> LedgerKey:
        """Return the key after a rotation: another secret, and one more key on top of the digests."""
        return LedgerKey(secrets.token_bytes(_SECRET), (*self.records, secrets.token_bytes(KEY)))

    @property
    def record_key(self) -> bytes:
        """Return the key by which records are read."""
        return b"".join(self.records)

    @property
    def rounding_secret(self) -> str:
        """Return the secret that numbers are rounded by; a rotation does not change it."""
        return hashlib.blake2b(self.records[0], person=b"rounding", digest_size=32).hexdigest()

    def seal(self, message: bytes) -> str:
        """Return the seal of a message (HMAC-SHA256), which nobody makes without the secret."""
        return hmac.new(self.secret, message, hashlib.sha256).hexdigest()

    def sealed(self, message: bytes, seal: object) -> bool:
        """Return whether a seal is that of a message."""
        return isinstance(seal, str) and hmac.compare_digest(self.seal(message).encode(), seal.encode())

    def to_bytes(self) -> bytes:
        """Return what the file of the key holds."""
        keys = [key.hex() for key in self.records]
        return (json.dumps({"format": FORMAT, "secret": self.secret.hex(), "records": keys}) + "\n").encode()


def read_key(path: Path) -> LedgerKey:
    """Return the key in a file, or raise where there is none, or where others can read it."""
    try:
        mode, text = path.stat().st_mode, path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the key of the ledger cannot be read ({path}: {error.strerror}); without it no record is known "
            f"again. {_bring_back(path)}"
        ) from None
    if stat.S_IMODE(mode) & 0o077:
        raise InputError(f"others than its owner can read {path}; close it to them first: `chmod 600 {path}`")
    try:
        told = parse_json(text)
        written = str(told["format"])
        if written.startswith(KIND) and written != FORMAT:
            raise InputError(
                f"{path} was written by a newer version of tripcloak; use that one, or a newer one "
                f"(this is {__version__})"
            )
        key = LedgerKey(bytes.fromhex(told["secret"]), tuple(bytes.fromhex(one) for one in told["records"]))
        sound = written == FORMAT and len(key.secret) == _SECRET and len(key.records) > 0
    except (ValueError, KeyError, TypeError, AttributeError):
        sound = False
    if not sound or any(len(one) != KEY for one in key.records):
        raise InputError(f"{path} holds no key of a ledger. {_bring_back(path)}")
    return key


def _bring_back(path: Path) -> str:
    return (
        f"Bring it back from where you keep a copy; `tripcloak ledger verify {path.parent}` says whether it "
        "is the right one"
    )
