"""The signed verdict: an in-toto statement on the public files, in an envelope that anybody can check.

The statement is a SLSA verification summary (https://slsa.dev/verification_summary/v1), the envelope is DSSE
(https://github.com/secure-systems-lab/dsse). It says that an audit has passed or failed, when, by which
version, and of which files. It holds no number of the audit, and nothing on the raw input: even a digest of
that could be used to confirm a guess.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.folders import file_digest, json_text
from tripcloak.ground.keys import PublicKey, SigningKey
from tripcloak.ground.rulebook import NotPromised, Remark, Verdict
from tripcloak.ground.spelling import spelt

NAME = "verdict.dsse.json"
"""The file beside the manifest; no manifest lists it, since it is written last and covers the manifest."""
CHECKED_BY = "`tripcloak check . --key publisher.pub`"
FOR_READERS = (
    f"- `{NAME}`, if it is here: the verdict of the audit, signed by the publisher;\n"
    f"  {CHECKED_BY} says whether it is, and whether it fits these files"
)
"""What the README of a release says of the file, whether or not it is there: the README is signed too."""
RULE = "signature-fits"
"""The rule of both audits on that file."""
MANIFEST = "manifest.json"
PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/verification_summary/v1"
VERIFIER = "pkg:pypi/tripcloak"
_LEVELS = {"PASSED": "SLSA_BUILD_LEVEL_UNEVALUATED", "FAILED": "FAILED"}
_LARGEST = 1_000_000
_VERSION = r"\d{1,4}(\.\d{1,4}){1,3}([a-z]{1,4}\d{1,4})?"

State = Literal["signed", "failed", "foreign", "broken", "unsigned", "unchecked"]

WORDS: Mapping[State, str] = {
    "signed": "signed by this key: an audit against the raw data has passed, and nothing was changed since",
    "failed": "signed by this key: an audit against the raw data has FAILED",
    "foreign": "signed by another key than this one",
    "broken": "the signature does not fit the files: they, or the signature, were changed",
    "unsigned": "not signed",
    "unchecked": "signed, but nobody can tell by whom without the public key of the publisher",
}


@dataclass(frozen=True)
class SignatureCheck:
    """What became of a look at the signature of a release.

    Attributes
    ----------
    state : str
        ``signed`` (by this key, that an audit has passed, of these very files), ``failed`` (the same of an
        audit that has failed), ``foreign`` (by another key), ``broken`` (it does not fit the files),
        ``unsigned``, or ``unchecked`` (there is a signature, and no key was given).

    Examples
    --------
    >>> SignatureCheck("unsigned").words, SignatureCheck("unsigned").ok
    ('not signed', False)
    """

    state: State

    @property
    def ok(self) -> bool:
        """Return whether a passed audit of these files is signed by the key."""
        return self.state == "signed"

    @property
    def words(self) -> str:
        """Return the same in words."""
        return WORDS[self.state]


def sign_verdict(public: Path, verdict: Verdict, key: SigningKey, *, version: str) -> Path:
    """Write the signed verdict of an audit into the public part of a release, and return where it is.

    A verdict that is not safe is signed as FAILED. An earlier signature is replaced.

    Parameters
    ----------
    version
        The version of tripcloak that audited.
    """
    envelope = enveloped(_payload(public, "PASSED" if verdict.safe else "FAILED", _now(), version), key)
    # Written beside the public part, so that nothing half-written is ever published.
    aside = public.parent / f".{NAME}-{secrets.token_hex(4)}"
    try:
        aside.write_text(json_text(envelope), encoding="utf-8")
        os.replace(aside, public / NAME)
    except OSError as error:
        raise InputError(f"cannot write the signed verdict to {public}: {error.strerror}") from None
    finally:
        with suppress(FileNotFoundError):
            aside.unlink()
    return public / NAME


def check_signature(public: Path, key: PublicKey | None = None) -> SignatureCheck:
    """Return whether the public part of a release is signed by a key, and as it stands there.

    Parameters
    ----------
    public
        The folder that holds the manifest.
    key
        The public key of the publisher, from :func:`tripcloak.ground.keys.read_public_key`; without it
        nobody can tell whose a signature is.
    """
    if not os.path.lexists(public / NAME):
        return SignatureCheck("unsigned")
    envelope = _read_envelope(public)
    if envelope is None:
        return SignatureCheck("broken")
    if key is None:
        return SignatureCheck("unchecked" if _verdict_on(public, envelope.payload) else "broken")
    message = pre_authentication(PAYLOAD, envelope.payload)
    if not any(key.verifies(signature, message) for _, signature in envelope.signatures):
        own = any(name == key.id for name, _ in envelope.signatures)
        return SignatureCheck("broken" if own else "foreign")
    told = _verdict_on(public, envelope.payload)
    return SignatureCheck("broken" if told is None else "signed" if told == "PASSED" else "failed")


def wrong_form(public: Path) -> str | Remark | None:
    """Return what is wrong with a signed verdict, in words; a remark where there is none.

    Whoever has no key can still tell that the file says what its form allows, of the files that are there,
    and nothing else.
    """
    if not os.path.lexists(public / NAME):
        return NotPromised("not promised: nobody has signed this release")
    envelope = _read_envelope(public)
    if envelope is None or _verdict_on(public, envelope.payload) is None:
        return f"release/{NAME} is no signed verdict on these files"
    (name, signature), *others = envelope.signatures
    again = {
        "payload": _base64(envelope.payload),
        "payloadType": PAYLOAD,
        "signatures": [{"keyid": name, "sig": _base64(signature)}],
    }
    plain = re.fullmatch(r"[0-9a-f]{64}", name) and len(signature) == 64 and not others
    if (
        not plain
        or not _is_plain(public, envelope.payload)
        or (public / NAME).read_bytes() != json_text(again).encode()
    ):
        return f"release/{NAME} holds more than a signed verdict"
    return None


def pre_authentication(kind: str, payload: bytes) -> bytes:
    """Return what is signed of a payload (DSSE's PAE): its kind is signed with it.

    >>> pre_authentication("http://example.com/HelloWorld", b"hello world")
    b'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    """
    named = kind.encode()
    return b"DSSEv1 %d %b %d %b" % (len(named), named, len(payload), payload)


def enveloped(payload: bytes, key: SigningKey) -> dict[str, Any]:
    """Return a statement in an envelope that is signed (DSSE)."""
    signature = {"keyid": key.public.id, "sig": _base64(key.sign(pre_authentication(PAYLOAD, payload)))}
    return {"payload": _base64(payload), "payloadType": PAYLOAD, "signatures": [signature]}


def signed_payload(envelope: Any, key: PublicKey) -> bytes | None:
    """Return what an envelope holds, if it was signed with the private key that belongs to this one."""
    try:
        payload, signatures = _bytes(envelope["payload"]), envelope["signatures"]
        message = pre_authentication(envelope["payloadType"], payload)
        genuine = any(key.verifies(_bytes(one["sig"]), message) for one in signatures)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return payload if genuine and envelope["payloadType"] == PAYLOAD else None


def sign_if_asked(public: Path, verdict: Verdict, key: SigningKey | None, *, version: str) -> Verdict:
    """Return a verdict, signed if there is a key; what was signed before is replaced, and says nothing."""
    if key is None:
        return verdict
    found = tuple(finding for finding in verdict.findings if finding.rule != RULE)
    judged = replace(verdict, findings=found)
    sign_verdict(public, judged, key, version=version)
    return replace(judged, notes=(*judged.notes, signed_words(key, safe=judged.safe)))


def signed_words(key: SigningKey, *, safe: bool = True) -> str:
    """Return that something was signed, as what, and with which key."""
    as_what = "PASSED" if safe else "FAILED"
    return f"signed as {as_what} in release/{NAME}, with the key {key.public.id[:16]}..."


def refuse_failed(folder: Path, broken: Sequence[str]) -> None:
    """Raise if a release that was made just now has broken rules: that is our own bug."""
    if broken:
        raise InternalError(
            f"the release in {folder} passed the audit while it was made, and fails that of its folder "
            f"({', '.join(broken)}); it is signed as FAILED: do not publish it"
        )


def refuse_orders(ordered: Mapping[str, Any]) -> None:
    """Raise where an audit is to be signed for more than its release promises.

    That it failed, or passed, would tell how much more stands behind the release.
    """
    for name, value in ordered.items():
        if value:
            raise InputError(
                f"what is signed is what the release promises; an audit for more ({spelt(name)}) would tell "
                f"numbers that were not released. Leave it out, or audit without {spelt('sign')}"
            )


def _payload(public: Path, result: str, when: str, version: str) -> bytes:
    """Return the statement on the files as they are."""
    digests = {
        path.name: file_digest(path)
        for path in sorted(public.iterdir())
        if path.name != NAME and path.is_file()
    }
    manifest = bytes.fromhex(digests[MANIFEST])
    resource = f"ni:///sha-256;{base64.urlsafe_b64encode(manifest).decode().rstrip('=')}"
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()],
        "predicateType": PREDICATE,
        "predicate": {
            "verifier": {"id": VERIFIER, "version": {"tripcloak": version}},
            "timeVerified": when,
            "resourceUri": resource,
            "policy": {"uri": f"{resource}#/promise", "digest": {"sha256": _promise_digest(public)}},
            "verificationResult": result,
            "verifiedLevels": [_LEVELS[result]],
            "slsaVersion": "1.0",
        },
    }
    return json.dumps(statement, separators=(",", ":"), sort_keys=True).encode()


def _promise_digest(public: Path) -> str:
    """Return the digest of the promise, which is the policy, as JSON without blanks and with sorted keys."""
    promise = None
    with suppress(OSError, ValueError, AttributeError):
        promise = parse_json((public / MANIFEST).read_bytes()).get("promise")
    return hashlib.sha256(json.dumps(promise, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class _Envelope:
    """What an envelope holds: the payload, and who is said to have signed it how."""

    payload: bytes
    signatures: tuple[tuple[str, bytes], ...]


def _read_envelope(public: Path) -> _Envelope | None:
    """Return the envelope of a release; None where it is none, or a link to elsewhere."""
    path = public / NAME
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            return None
        told = parse_json(path.read_bytes())
        if told["payloadType"] != PAYLOAD:
            return None
        signatures = [(one.get("keyid", ""), _bytes(one["sig"])) for one in told["signatures"]]
        named = all(isinstance(name, str) for name, _ in signatures)
        return _Envelope(_bytes(told["payload"]), tuple(signatures)) if signatures and named else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _verdict_on(public: Path, payload: bytes) -> str | None:
    """Return the verdict that a statement tells of exactly the files that are there; None if of others."""
    try:
        told = parse_json(payload)
        result = told["predicate"]["verificationResult"]
        signed = {one["name"]: one["digest"]["sha256"] for one in told["subject"]}
        there = [path for path in public.iterdir() if path.name != NAME]
        if any(path.is_symlink() or not path.is_file() for path in there):
            return None
        same = signed == {path.name: file_digest(path) for path in there} and len(signed) == len(
            told["subject"]
        )
        known = told["_type"] == STATEMENT and told["predicateType"] == PREDICATE and result in _LEVELS
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return str(result) if same and known and MANIFEST in signed else None


def _is_plain(public: Path, payload: bytes) -> bool:
    """Return whether a statement is to the last letter what is written of these files."""
    try:
        told = parse_json(payload)["predicate"]
        result, when = told["verificationResult"], told["timeVerified"]
        version = told["verifier"]["version"]["tripcloak"]
        plain = re.fullmatch(r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}Z", when) and re.fullmatch(_VERSION, version)
        return bool(plain) and payload == _payload(public, result, when, version)
    except (KeyError, TypeError):
        return False


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
