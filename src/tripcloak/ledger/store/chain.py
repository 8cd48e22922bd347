"""The chain: entries in the order they were made, each naming the one before by its digest, all sealed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from tripcloak._version import __version__
from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import AuditFailedError, InputError
from tripcloak.ground.folders import json_text
from tripcloak.ledger.store.files import write_whole
from tripcloak.ledger.store.key import LedgerKey

CHAIN = "chain"
HEAD = "head.json"
FORMAT = "tripcloak ledger 1"
Kind = Literal[
    "init", "prepared", "released", "abandoned", "withdrawn", "approval", "rotated", "spent", "capped"
]
NOTHING = "0" * 64
"""What the first entry says came before it."""
SKEW = timedelta(minutes=5)
"""How far clocks of two machines may differ that write to one ledger."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One entry of the chain: its place in it, when it was made, what it is, and the digest of its file."""

    sequence: int
    time: str
    kind: Kind
    content: Mapping[str, Any]
    digest: str

    def __repr__(self) -> str:
        return f"<Entry {self.sequence}: {self.kind}>"


def read_chain(folder: Path, key: LedgerKey) -> tuple[Entry, ...]:
    """Return the entries of a ledger, after checking that none was changed, lost or put in.

    An entry beyond the recorded head is a run's that was stopped just before it recorded it; it counts.

    Raises
    ------
    InputError
        The folder is no ledger, of a newer version, or of another key.
    AuditFailedError
        The chain is broken or cut off.
    """
    return _checked(folder, key, _files(folder))


def read_half_rotated(folder: Path, old: LedgerKey, new: LedgerKey) -> tuple[Entry, ...] | None:
    """Return the entries where a run was stopped while it changed the key; None where it had not yet begun.

    The entry that tells of the rotation is the first that the new key sealed, and the head may still be
    sealed by the old one.
    """
    files = _files(folder)
    last = _parsed(files[-1].read_bytes()) if files else {}
    if last.get("kind") != "rotated" or not new.sealed(_message(last), last.get("seal")):
        return None
    if new.sealed(_message(head := read_head(folder)), head.get("seal")):
        return _checked(folder, new, files)
    before, text = _checked(folder, old, files[:-1]), files[-1].read_bytes()
    if last.get("sequence") != len(files) or last.get("previous") != before[-1].digest:
        raise _broken(folder, f"entry {len(files)} was changed")
    return (*before, _entry(last, text))


def _checked(folder: Path, key: LedgerKey, files: Sequence[Path]) -> tuple[Entry, ...]:
    head = read_head(folder)
    texts = [path.read_bytes() for path in files]
    told = [_parsed(text) for text in texts]
    sealed = [key.sealed(_message(one), one.get("seal")) for one in told]
    last_key = max((at for at, one in enumerate(told) if one.get("kind") == "rotated"), default=0)
    if not any(sealed[last_key:]) and not key.sealed(_message(head), head.get("seal")):
        of = (
            "from before its last rotation"
            if any(sealed)
            else "not the one that this ledger was written with"
        )
        raise InputError(
            f"the key in {folder} is {of}; bring back the right one. `tripcloak ledger verify {folder}` says "
            "whether it is"
        )
    previous = NOTHING
    for at, (path, text) in enumerate(zip(files, texts, strict=True)):
        if path.name != _name(at + 1):
            raise _broken(folder, f"entry {at + 1} is missing")
        # What came before the last rotation is held by the digests alone: its seals were of another key.
        whole = (sealed[at] or at < last_key) and told[at].get("sequence") == at + 1
        if not whole or told[at].get("previous") != previous:
            raise _broken(folder, f"entry {at + 1}, or the one before it, was changed")
        previous = hashlib.sha256(text).hexdigest()
    entries = tuple(_entry(one, text) for one, text in zip(told, texts, strict=True))
    _hold_to_head(folder, key, head, entries)
    return entries


def _files(folder: Path) -> list[Path]:
    read_head(folder)
    return sorted((folder / CHAIN).glob("[0-9]*.json"))


def append(
    folder: Path, key: LedgerKey, entries: Sequence[Entry], kind: Kind, content: Mapping[str, Any]
) -> Entry:
    """Return a new entry, after writing it behind the others; whoever calls this is alone in the ledger.

    Raises
    ------
    InputError
        The clock of this machine is behind the last entry.
    """
    hold_to_clock(entries)
    last = entries[-1] if entries else None
    told = {
        "sequence": len(entries) + 1,
        "previous": NOTHING if last is None else last.digest,
        "time": _written(datetime.now(UTC)),
        "kind": kind,
        **content,
    }
    text = json_text({**told, "seal": key.seal(_message(told))}).encode()
    path, entry = folder / CHAIN / _name(len(entries) + 1), _entry(told, text)
    try:
        write_whole(path, text)
        write_head(folder, key, entry)
    except OSError:
        # Where the head is in place all is written. Else what could not be finished must not have been begun:
        # the entry would count without its head.
        if not entries or read_head(folder).get("sequence") != entry.sequence:
            path.unlink(missing_ok=True)
            raise
    return entry


def hold_to_clock(entries: Sequence[Entry]) -> None:
    """Raise where the clock of this machine is behind the last entry, before anything is written."""
    now = datetime.now(UTC)
    if entries and now + SKEW < _when(entries[-1]):
        raise InputError(
            f"the clock of this machine says {_written(now)}, and the last entry of the ledger was made at "
            f"{entries[-1].time}: set the clock right. Nothing was written"
        )


def write_head(folder: Path, key: LedgerKey, last: Entry) -> None:
    """Record which entry is the last, so that a chain that was cut off is noticed."""
    told = {"format": FORMAT, "sequence": last.sequence, "digest": last.digest}
    write_whole(folder / HEAD, json_text({**told, "seal": key.seal(_message(told))}).encode())


def is_settled(folder: Path, entries: Sequence[Entry]) -> bool:
    """Return whether the recorded head is the last entry, as it is unless a run was stopped in between."""
    return read_head(folder).get("sequence") == len(entries)


def backward_times(entries: Sequence[Entry]) -> list[int]:
    """Return the entries that claim to be older than one before them: their order counts, not their times."""
    latest, found = datetime.min.replace(tzinfo=UTC), []
    for entry in entries:
        if _when(entry) < latest:
            found.append(entry.sequence)
        latest = max(latest, _when(entry))
    return found


def read_head(folder: Path) -> dict[str, Any]:
    """Return which entry is recorded as the last, or raise where the folder is no ledger that can be read."""
    if not (folder / HEAD).is_file() and any((folder / CHAIN).glob("[0-9]*.json")):
        raise _broken(folder, f"the record of its last entry, {HEAD}, is missing")
    if (folder / HEAD).is_file() and not (folder / CHAIN).is_dir():
        raise _broken(folder, f"the folder of its entries, {CHAIN}, is missing")
    if not (folder / HEAD).is_file():
        raise InputError(f"{folder} is no ledger; make one with `tripcloak ledger init {folder}`")
    head = _parsed((folder / HEAD).read_bytes())
    told = head.get("format")
    if told != FORMAT and isinstance(told, str) and told.startswith("tripcloak ledger "):
        raise InputError(
            f"{folder} is of another version ({told.removeprefix('tripcloak ')}) than this one reads "
            f"({FORMAT.removeprefix('tripcloak ')}); update tripcloak (this is {__version__})"
        )
    return head


def _hold_to_head(folder: Path, key: LedgerKey, head: dict[str, Any], entries: Sequence[Entry]) -> None:
    if not key.sealed(_message(head), head.get("seal")):
        raise _broken(folder, "the record of its last entry was changed")
    recorded = head["sequence"]
    if recorded > len(entries):
        raise _broken(folder, f"it was cut off after entry {len(entries)}")
    # One entry may be there that a run had no time to record, and no more.
    if recorded < len(entries) - 1 or entries[recorded - 1].digest != head["digest"]:
        raise _broken(folder, "its last entries were changed")


def _broken(folder: Path, what: str) -> AuditFailedError:
    return AuditFailedError(
        f"the chain of the ledger {folder} is broken: {what}. It no longer tells what was released: bring it "
        "back from a copy; `tripcloak ledger verify COPY` says whether that one is whole"
    )


def _entry(told: Mapping[str, Any], text: bytes) -> Entry:
    frame = {"sequence", "previous", "time", "kind", "seal"}
    return Entry(
        sequence=told["sequence"],
        time=told["time"],
        kind=told["kind"],
        content={name: value for name, value in told.items() if name not in frame},
        digest=hashlib.sha256(text).hexdigest(),
    )


def _message(told: Mapping[str, Any]) -> bytes:
    """Return what is sealed of an entry or a head: all of it but the seal."""
    plain = {name: value for name, value in told.items() if name != "seal"}
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        told = parse_json(text)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _name(sequence: int) -> str:
    return f"{sequence:08d}.json"


def _written(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _when(entry: Entry) -> datetime:
    return datetime.strptime(entry.time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
