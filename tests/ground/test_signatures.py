"""Signed verdicts: who signed what, held against OpenSSL, and noticed whatever is changed afterwards."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.keys import PASSPHRASE, make_keys, read_public_key, read_signing_key
from tripcloak.ground.rulebook import Finding, NotPromised, Verdict
from tripcloak.ground.signatures import (
    NAME,
    WORDS,
    SignatureCheck,
    check_signature,
    refuse_orders,
    sign_verdict,
    wrong_form,
)

SAFE = Verdict.of([Finding("a-rule", True, "it holds")], smallest_support={"travellers": 12345})
UNSAFE = Verdict.of([Finding("a-rule", False, "3 of 12345")], smallest_support={"travellers": 12345})
VERSION = "1.2.3"
PROMISE = {"kind": "k-anonymity", "k": 10}


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the keys of two publishers."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("own", "other"):
        make_keys(folder / f"{name}.key", folder / f"{name}.pub")
    return folder


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """A public part, as small as can be."""
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "flows.csv").write_text("origin,destination\n", encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps({"promise": PROMISE}), encoding="utf-8")
    return folder


@pytest.fixture
def signed(public: Path, keys: Path) -> Path:
    sign_verdict(public, SAFE, read_signing_key(keys / "own.key"), version=VERSION)
    return public


def state(public: Path, keys: Path, name: str = "own") -> str:
    return check_signature(public, read_public_key(keys / f"{name}.pub")).state


def envelope_of(public: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((public / NAME).read_text(encoding="utf-8"))
    return found


def statement_of(public: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.b64decode(envelope_of(public)["payload"]))
    return found


def test_a_passed_audit_is_signed_by_this_key_and_no_other(signed: Path, keys: Path) -> None:
    assert state(signed, keys) == "signed"
    assert state(signed, keys, "other") == "foreign"
    assert check_signature(signed).state == "unchecked"
    assert wrong_form(signed) is None


def test_a_release_without_a_signature_is_not_signed(public: Path, keys: Path) -> None:
    assert state(public, keys) == "unsigned"
    assert check_signature(public).state == "unsigned"
    assert wrong_form(public) == NotPromised("not promised: nobody has signed this release")


def test_a_failed_audit_is_never_signed_as_passed(signed: Path, keys: Path) -> None:
    sign_verdict(signed, UNSAFE, read_signing_key(keys / "own.key"), version=VERSION)
    assert state(signed, keys) == "failed"
    assert statement_of(signed)["predicate"]["verificationResult"] == "FAILED"
    sign_verdict(signed, Verdict.of([]), read_signing_key(keys / "own.key"), version=VERSION)
    assert state(signed, keys) == "failed"
    assert [path.name for path in signed.parent.iterdir()] == ["release"]


def test_openssl_agrees(signed: Path, keys: Path, tmp_path: Path) -> None:
    """By hand: the encoding of DSSE, OpenSSL's verification and its digest of the key."""
    envelope = envelope_of(signed)
    (one,) = envelope["signatures"]
    payload = base64.b64decode(envelope["payload"])
    kind = envelope["payloadType"]
    (tmp_path / "message").write_bytes(f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload)
    (tmp_path / "signature").write_bytes(base64.b64decode(one["sig"]))
    for name, code in (("own", 0), ("other", 1)):
        order = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", keys / f"{name}.pub"]
        order += ["-in", tmp_path / "message", "-sigfile", tmp_path / "signature"]
        assert subprocess.run(order, capture_output=True, check=False).returncode == code
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", keys / "own.pub", "-outform", "DER"],
        capture_output=True,
        check=True,
    ).stdout
    assert one["keyid"] == hashlib.sha256(der).hexdigest()


def test_a_signature_by_openssl_is_accepted(signed: Path, keys: Path, tmp_path: Path) -> None:
    payload = base64.b64decode(envelope_of(signed)["payload"])
    kind = "application/vnd.in-toto+json"
    (tmp_path / "message").write_bytes(f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload)
    order = [
        "openssl",
        "pkeyutl",
        "-sign",
        "-rawin",
        "-inkey",
        keys / "other.key",
        "-in",
        tmp_path / "message",
    ]
    signature = subprocess.run(order, capture_output=True, check=True).stdout
    told = envelope_of(signed)
    # What an envelope says of its key is a hint, and no proof.
    told["signatures"][0]["sig"] = base64.b64encode(signature).decode()
    (signed / NAME).write_text(json.dumps(told), encoding="utf-8")
    assert state(signed, keys, "other") == "signed"
    assert state(signed, keys) == "broken"


def test_the_statement_is_a_verification_summary_and_holds_nothing_private(signed: Path, keys: Path) -> None:
    told = statement_of(signed)
    assert set(told) == {"_type", "subject", "predicateType", "predicate"}
    assert told["_type"] == "https://in-toto.io/Statement/v1"
    assert told["predicateType"] == "https://slsa.dev/verification_summary/v1"
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in signed.iterdir()}
    del digests[NAME]
    assert {one["name"]: one["digest"] for one in told["subject"]} == {
        name: {"sha256": digest} for name, digest in digests.items()
    }
    summary = told["predicate"]
    assert set(summary) == {
        "verifier",
        "timeVerified",
        "resourceUri",
        "policy",
        "verificationResult",
        "verifiedLevels",
        "slsaVersion",
    }
    assert summary["verifier"] == {"id": "pkg:pypi/tripcloak", "version": {"tripcloak": VERSION}}
    manifest = base64.urlsafe_b64encode(bytes.fromhex(digests["manifest.json"])).decode().rstrip("=")
    assert summary["resourceUri"] == f"ni:///sha-256;{manifest}"
    promise = json.dumps(PROMISE, separators=(",", ":"), sort_keys=True).encode()
    assert summary["policy"] == {
        "uri": f"{summary['resourceUri']}#/promise",
        "digest": {"sha256": hashlib.sha256(promise).hexdigest()},
    }
    assert summary["verificationResult"] == "PASSED"
    for verdict in (SAFE, UNSAFE):
        sign_verdict(signed, verdict, read_signing_key(keys / "own.key"), version=VERSION)
        assert b"12345" not in base64.b64decode(envelope_of(signed)["payload"])


def appended(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a table changed": lambda public: appended(public / "flows.csv"),
    "the manifest changed": lambda public: appended(public / "manifest.json"),
    "a file gone": lambda public: (public / "flows.csv").unlink(),
    "the manifest gone": lambda public: (public / "manifest.json").unlink(),
    "a file more": lambda public: (public / "more.csv").write_text("x"),
    "a folder more": lambda public: (public / "more").mkdir(),
    "a file renamed": lambda public: (public / "flows.csv").rename(public / "flow.csv"),
    "a link to the same": lambda public: linked(public / "flows.csv"),
    "the verdict a link": lambda public: linked(public / NAME),
    "the verdict empty": lambda public: (public / NAME).write_text(""),
    "the verdict a folder": lambda public: ((public / NAME).unlink(), (public / NAME).mkdir()),
    "the verdict nested": lambda public: (public / NAME).write_text("[" * 100_000),
    "the verdict huge": lambda public: (public / NAME).write_bytes(b" " * 1_000_001),
    "no signature": lambda public: rewrite(public, lambda told: told["signatures"].clear()),
    "another kind of payload": lambda public: rewrite(
        public, lambda told: told.update(payloadType="text/plain")
    ),
    "a signature of nothing": lambda public: rewrite(
        public, lambda told: told["signatures"][0].update(sig="AAAA")
    ),
    "not base 64": lambda public: rewrite(public, lambda told: told.update(payload="{}")),
    "passed in place of failed": lambda public: restate(
        public, lambda told: told["predicate"].update(verificationResult="FAILED")
    ),
    "another time": lambda public: restate(
        public, lambda told: told["predicate"].update(timeVerified="2020-01-01T00:00:00Z")
    ),
}


def linked(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def rewrite(public: Path, change: Callable[[Any], object]) -> None:
    told = envelope_of(public)
    change(told)
    (public / NAME).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def restate(public: Path, change: Callable[[Any], object]) -> None:
    """Change the statement, and keep the signature."""
    told = statement_of(public)
    change(told)
    text = json.dumps(told, separators=(",", ":"), sort_keys=True).encode()
    rewrite(public, lambda envelope: envelope.update(payload=base64.b64encode(text).decode()))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_is_changed_afterwards_is_noticed(
    signed: Path, keys: Path, change: Callable[[Path], object]
) -> None:
    assert state(signed, keys) == "signed"
    change(signed)
    assert state(signed, keys) == "broken"


def test_files_of_another_release_are_not_covered(signed: Path, keys: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "release"
    shutil.copytree(signed, other)
    appended(other / "flows.csv")
    assert state(other, keys) == "broken"
    assert check_signature(other).state == "broken"
    assert wrong_form(other) is not None


MORE: dict[str, Callable[[Path], object]] = {
    "a member of the envelope": lambda public: rewrite(public, lambda told: told.update(note="48.85")),
    "a member of the signature": lambda public: rewrite(
        public, lambda told: told["signatures"][0].update(x="48")
    ),
    "another signature": lambda public: rewrite(
        public, lambda told: told["signatures"].append({"keyid": "", "sig": ""})
    ),
    "a key that is none": lambda public: rewrite(
        public, lambda told: told["signatures"][0].update(keyid="48.85")
    ),
    "a longer signature": lambda public: rewrite(
        public, lambda told: told["signatures"][0].update(sig=base64.b64encode(b"x" * 65).decode())
    ),
    "a member of the statement": lambda public: restate(public, lambda told: told.update(note="48.85")),
    "a member of the summary": lambda public: restate(
        public, lambda told: told["predicate"].update(note="48")
    ),
    "a version that is none": lambda public: restate(
        public, lambda told: told["predicate"]["verifier"].update(version={"tripcloak": "48.85 2.35"})
    ),
    "a time that is none": lambda public: restate(
        public, lambda told: told["predicate"].update(timeVerified="48.85")
    ),
    "no time": lambda public: restate(public, lambda told: told["predicate"].pop("timeVerified")),
    "another policy": lambda public: restate(
        public, lambda told: told["predicate"].update(policy={"uri": "x"})
    ),
    "blanks at the end": lambda public: appended(public / NAME),
    "blanks in between": lambda public: (public / NAME).write_text(json.dumps(envelope_of(public))),
}


@pytest.mark.parametrize("change", MORE.values(), ids=MORE)
def test_without_a_key_it_is_still_seen_that_it_holds_no_more(
    signed: Path, change: Callable[[Path], object]
) -> None:
    assert wrong_form(signed) is None
    change(signed)
    assert wrong_form(signed) == f"release/{NAME} holds more than a signed verdict"


def test_keys_are_closed_and_never_replaced(tmp_path: Path) -> None:
    private, public = tmp_path / "a.key", tmp_path / "a.pub"
    mask = os.umask(0)
    try:
        make_keys(private, public)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    before = private.read_bytes(), public.read_bytes()
    for pair in ((private, tmp_path / "b"), (tmp_path / "b", public)):
        with pytest.raises(OutputExistsError, match="never replaced"):
            make_keys(*pair)
    assert (private.read_bytes(), public.read_bytes()) == before
    assert not (tmp_path / "b").exists()
    with pytest.raises(InputError, match="cannot write"):
        make_keys(tmp_path / "c.key", tmp_path / "nowhere" / "c.pub")
    assert not (tmp_path / "c.key").exists()


def test_a_locked_key_needs_its_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / "a.key"
    made = make_keys(private, tmp_path / "a.pub", passphrase="open sesame")
    monkeypatch.delenv(PASSPHRASE, raising=False)
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match=PASSPHRASE):
        read_signing_key(private)
    monkeypatch.setenv(PASSPHRASE, "open barley")
    with pytest.raises(InputError, match="passphrase is another") as told:
        read_signing_key(private)
    assert "barley" not in str(told.value)
    monkeypatch.setenv(PASSPHRASE, "open sesame")
    assert read_signing_key(private).public == made
    assert b"open sesame" not in private.read_bytes()


def test_what_is_no_key_is_said(tmp_path: Path, keys: Path) -> None:
    open_key = tmp_path / "open.key"
    open_key.write_bytes((keys / "own.key").read_bytes())
    open_key.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        read_signing_key(open_key)
    with pytest.raises(InputError, match="holds a public key"):
        read_signing_key(keys / "own.pub")
    other = tmp_path / "rsa.key"
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "X25519", "-out", other], check=True, capture_output=True
    )
    other.chmod(0o600)
    for path, words in ((other, "no private key of Ed25519"), (tmp_path / "none", "there is no private key")):
        with pytest.raises(InputError, match=words):
            read_signing_key(path)
    with pytest.raises(InputError, match="give the public one"):
        read_public_key(keys / "own.key")
    text = tmp_path / "text"
    text.write_text("hello")
    with pytest.raises(InputError, match="no public key of Ed25519"):
        read_public_key(text)
    with pytest.raises(InputError, match="there is no public key"):
        read_public_key(tmp_path / "none")
    assert "PRIVATE" not in repr(read_signing_key(keys / "own.key"))


def test_more_than_was_promised_is_not_signed() -> None:
    refuse_orders({"k": None, "diversity": {}})
    with pytest.raises(InputError, match="what is signed is what the release promises"):
        refuse_orders({"k": 20})


def test_every_state_has_words() -> None:
    assert [SignatureCheck(one).ok for one in WORDS] == [one == "signed" for one in WORDS]
    assert len({SignatureCheck(one).words for one in WORDS}) == len(WORDS)
