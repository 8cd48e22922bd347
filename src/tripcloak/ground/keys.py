"""Keys that sign verdicts: Ed25519, made and read offline, in files that every tool knows."""

from __future__ import annotations

import getpass
import hashlib
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.extras import needing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PASSPHRASE = "TRIPCLOAK_PASSPHRASE"
"""The environment variable that holds the passphrase of a private key."""

LOCKED = b"ENCRYPTED"
"""What stands in the file of a private key that has a passphrase."""
_LARGEST = 10_000


@dataclass(frozen=True)
class PublicKey:
    """A key that tells whether a signature is its owner's.

    Attributes
    ----------
    id : str
        SHA-256 of the key (DER, SubjectPublicKeyInfo), in hexadecimal digits.
    """

    id: str
    _key: Ed25519PublicKey = field(repr=False, compare=False)

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Return whether a message was signed with the private key that belongs to this one."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def pem(self) -> str:
        """Return the key as it stands in its file."""
        from cryptography.hazmat.primitives import serialization as form

        told = self._key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
        return told.decode()


@dataclass(frozen=True)
class SigningKey:
    """A private key that was read from its file; never shown."""

    public: PublicKey
    _key: Ed25519PrivateKey = field(repr=False, compare=False)

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""
        return self._key.sign(message)


def make_keys(private: Path, public: Path, *, passphrase: str | None = None) -> PublicKey:
    """Write a new private key, for its owner alone, and its public key; return the latter.

    Parameters
    ----------
    passphrase
        Locks the private key; whoever reads it must know it.

    Raises
    ------
    OutputExistsError
        One of the files is there already: a key is never replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     made = make_keys(Path(place) / "a.key", Path(place) / "a.pub")
    ...     read_signing_key(Path(place) / "a.key").public == read_public_key(Path(place) / "a.pub") == made
    True
    """
    with needing("signing", "making keys"):
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    for path in (private, public):
        if os.path.lexists(path):
            raise OutputExistsError(
                f"{path} is there already, and a key is never replaced; take another name"
            )
    key = Ed25519PrivateKey.generate()
    lock: form.KeySerializationEncryption = form.NoEncryption()
    if passphrase:
        lock = form.BestAvailableEncryption(passphrase.encode())
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, lock)
    told = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    _write_new(private, pem, 0o600)
    try:
        _write_new(public, told, 0o644)
    except BaseException:
        private.unlink()
        raise
    return _public(key.public_key())


def read_signing_key(path: Path) -> SigningKey:
    """Return the private key in a file; its passphrase, if it has one, is asked for or in the environment.

    Raises
    ------
    InputError
        There is no such key, it cannot be unlocked, or others can read it.
    """
    with needing("signing", "signing a verdict"):
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    text = _read(path, "private")
    if b"PUBLIC KEY" in text:
        raise InputError(f"{path} holds a public key; sign with the private one, which only its owner has")
    if path.stat().st_mode & 0o077:
        raise InputError(f"{path} holds a private key that others can read; close it: chmod 600 {path}")
    phrase = _passphrase(path) if LOCKED in text else None
    key: object = None
    with suppress(ValueError, TypeError):
        key = form.load_pem_private_key(text, phrase)
    if phrase is not None and key is None:
        raise InputError(f"{path} cannot be unlocked; the passphrase is another")
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path} holds no private key of Ed25519 (PEM, PKCS8); tripcloak keygen makes one")
    return SigningKey(_public(key.public_key()), key)


def is_locked(path: Path) -> bool:
    """Return whether a private key has a passphrase."""
    return LOCKED in _read(path, "private")


def read_public_key(path: Path) -> PublicKey:
    """Return the public key in a file."""
    text = _read(path, "public")
    if b"PRIVATE KEY" in text:
        raise InputError(f"{path} holds a private key; give the public one, and keep this one to yourself")
    key = public_key_of(text)
    if key is None:
        raise InputError(f"{path} holds no public key of Ed25519 (PEM)")
    return key


def public_key_of(text: bytes) -> PublicKey | None:
    """Return the public key that a text holds; None where it holds none of Ed25519."""
    with needing("signing", "checking a signature"):
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key: object = None
    with suppress(ValueError, TypeError, UnsupportedAlgorithm):
        key = form.load_pem_public_key(text)
    return _public(key) if isinstance(key, Ed25519PublicKey) else None


def _public(key: Ed25519PublicKey) -> PublicKey:
    from cryptography.hazmat.primitives import serialization as form

    told = key.public_bytes(form.Encoding.DER, form.PublicFormat.SubjectPublicKeyInfo)
    return PublicKey(hashlib.sha256(told).hexdigest(), key)


def _read(path: Path, what: str) -> bytes:
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path} is too large for a {what} key")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"there is no {what} key {path} that can be read ({error.strerror})") from None


def _passphrase(path: Path) -> bytes:
    if PASSPHRASE in os.environ:
        return os.environ[PASSPHRASE].encode()
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError(f"{path} is locked; give its passphrase in the environment variable {PASSPHRASE}")
    return getpass.getpass(f"Passphrase of {path}: ").encode()


def _write_new(path: Path, text: bytes, mode: int) -> None:
    """Write a file that was not there before, closed to others from the start."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    with os.fdopen(file, "wb") as out:
        out.write(text)
