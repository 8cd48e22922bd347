"""Approvals: verdicts of people on a release, signed as in-toto statements, in the chain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError
from tripcloak.ground.keys import SigningKey, public_key_of
from tripcloak.ground.signatures import STATEMENT, enveloped, signed_payload
from tripcloak.ground.spelling import called, spelt
from tripcloak.ledger.store.releases import VERDICTS, RecordedRelease

PREDICATE = "https://in-toto.io/attestation/human-review/v0.1"
LONGEST = 2_000
"""Letters of a comment or a name."""


def approval(
    release: RecordedRelease, *, by: str, key: SigningKey, verdict: str, comment: str = ""
) -> dict[str, Any]:
    """Return the entry of a verdict on a release: who, what, and the signature over its public files.

    Parameters
    ----------
    by
        Who judges.
    verdict
        ``approve``, ``subject-to-change`` or ``reject``.

    Raises
    ------
    InputError
        There is no such verdict, nobody gives it, or the release was never written.
    """
    if verdict not in VERDICTS:
        raise InputError(f"{called('verdict')} is one of {', '.join(VERDICTS)}; got {verdict!r}")
    if not by.strip() or max(len(by), len(comment)) > LONGEST:
        raise InputError(
            f"{spelt('by', 'Data Protection', quoted=True)} says who; {called('comment')} is a few words"
        )
    if release.released is None:
        raise InputError(f"release {release.number} ({release.name}) was not written, so nobody can judge it")
    told = {"result": verdict, "timestamp": _now(), "reviewer": by, "comment": comment}
    envelope = enveloped(_statement(release, told), key)
    return {
        "release": release.number,
        "by": by,
        "verdict": verdict,
        "comment": comment,
        "key": key.public.id,
        "public_key": key.public.pem(),
        "envelope": envelope,
    }


def is_genuine(entry: Mapping[str, Any], release: RecordedRelease) -> bool:
    """Return whether the entry of a verdict is signed by the key that it names, of these very files."""
    key = public_key_of(str(entry.get("public_key")).encode())
    payload = None if key is None else signed_payload(entry.get("envelope"), key)
    if key is None or payload is None or key.id != entry.get("key"):
        return False
    try:
        told = parse_json(payload)["predicate"]
        same = all(told[name] == entry[ours] for name, ours in _SAID.items())
        return same and payload == _statement(release, told)
    except (ValueError, KeyError, TypeError):
        return False


_SAID: dict[str, str] = {"result": "verdict", "reviewer": "by", "comment": "comment"}


def _statement(release: RecordedRelease, predicate: Mapping[str, Any]) -> bytes:
    files = {} if release.released is None else release.released.content["files"]
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": files[name]}} for name in sorted(files)],
        "predicateType": PREDICATE,
        "predicate": dict(predicate),
    }
    return json.dumps(statement, separators=(",", ":"), sort_keys=True).encode()


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
