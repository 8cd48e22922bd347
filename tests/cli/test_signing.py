"""tripcloak keygen and --sign: what is signed, what is not, and how anybody checks it."""

from __future__ import annotations

import base64
import json
import re
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc
from tripcloak.cli.run import run
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.folders import file_digest
from tripcloak.ground.keys import PASSPHRASE, read_public_key
from tripcloak.ground.manifest import SEAL
from tripcloak.ground.signatures import NAME, check_signature
from worlds.fixes import some_fixes
from worlds.trips import some_trips, write_csv

ROOT = Path(__file__).parents[2]
FLOWS = ("anonymise", "--k", 5, "--hierarchy", "h3:7")
PATHS = ("trajectories", "anonymise", "--k", 2, "--method", "glove")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with keys, inputs, and a signed release of either wing."""
    folder = tmp_path_factory.mktemp("signed")
    for name in ("own", "other"):
        assert run(["keygen", str(folder / name)]) == 0
    for name, rows, order in (("flows", some_trips(300), FLOWS), ("paths", some_fixes(), PATHS)):
        write_csv(folder / f"{name}.csv", rows)
        signed = ("--out", folder / name, "--sign", folder / "own.key")
        assert run([str(one) for one in (*order, folder / f"{name}.csv", *signed)]) == 0
    return folder


@pytest.fixture(params=["flows", "paths"])
def name(request: Any) -> str:
    found: str = request.param
    return found


@pytest.fixture
def out(place: Path, name: str, tmp_path: Path) -> Path:
    """A copy of a signed release."""
    shutil.copytree(place / name, tmp_path / "out")
    return tmp_path / "out"


def state(out: Path, place: Path, key: str = "own") -> str:
    return check_signature(out / "release", read_public_key(place / f"{key}.pub")).state


def test_a_signed_release_is_signed_and_safe(tripcloak: Any, place: Path, out: Path, name: str) -> None:
    assert state(out, place) == "signed"
    assert state(out, place, "other") == "foreign"
    told = tripcloak("audit", out, "--against", place / f"{name}.csv", "--json")
    assert told.code == 0, told.out
    assert "signature-fits" in [one["rule"] for one in told.json["findings"]]
    manifest = json.loads((out / "release" / "manifest.json").read_text(encoding="utf-8"))
    assert NAME not in manifest["files"]
    assert f"`{NAME}`" in (out / "release" / "README.md").read_text(encoding="utf-8")
    assert "check . --key" in (out / "release" / "README.md").read_text(encoding="utf-8")


def test_the_command_check_tells_whose_it_is(tripcloak: Any, place: Path, out: Path) -> None:
    public = out / "release"

    def told(*order: object, verdict: str = "Untouched") -> tuple[int, str]:
        found = tripcloak("check", public, *order, "--json")
        assert found.json["verdict"].startswith(verdict)
        return found.code, found.json["signature"]["state"]

    assert told("--key", place / "own.pub") == (0, "signed")
    assert told("--key", place / "other.pub", verdict="SIGNED BY ANOTHER KEY") == (1, "foreign")
    assert told() == (0, "unchecked")
    (public / NAME).rename(out / NAME)
    assert told("--key", place / "own.pub", verdict="NOT SIGNED:") == (1, "unsigned")
    assert told() == (0, "unsigned")
    (out / NAME).rename(public / NAME)
    (public / "README.md").write_text("other words")
    assert told("--key", place / "own.pub", verdict="TOUCHED OR BROKEN") == (1, "broken")


def test_nothing_private_is_signed(place: Path, out: Path) -> None:
    envelope = json.loads((out / "release" / NAME).read_text(encoding="utf-8"))
    told = base64.b64decode(envelope["payload"]).decode()
    run_record = json.loads((out / "private" / "run.json").read_text(encoding="utf-8"))
    # Of the manifest, which is public, the verdict names the digest itself.
    assert run_record.pop(SEAL) == file_digest(out / "release" / "manifest.json")
    private = re.findall(r"[0-9a-f]{64}", json.dumps(run_record))
    assert private
    for digest in private:
        assert digest not in told
    assert "support" not in told
    assert str(place) not in told
    assert ".csv.gz" not in told


CHANGES: dict[str, Callable[[Path], object]] = {
    "a table": lambda public: (public / "README.md").write_text("other words"),
    "more": lambda public: (public / "more.txt").write_text("more"),
    "the verdict itself": lambda public: (public / NAME).write_text((public / NAME).read_text() + "\n"),
}


@pytest.mark.parametrize(
    ("name", "change"), [*(("flows", one) for one in CHANGES), ("paths", "more")], indirect=["name"]
)
def test_what_is_changed_afterwards_is_told_and_signed_as_failed(
    tripcloak: Any, place: Path, out: Path, name: str, change: str
) -> None:
    CHANGES[change](out / "release")
    told = tripcloak("audit", out, "--against", place / f"{name}.csv", "--json")
    assert told.code == 1
    assert "signature-fits" in [one["rule"] for one in told.json["findings"] if not one["ok"]]
    again = tripcloak("audit", out, "--against", place / f"{name}.csv", "--sign", place / "own.key")
    as_what = "FAILED" if again.code else "PASSED"
    assert f"signed as {as_what} in release/{NAME}" in " ".join(again.out.split())
    if change == "the verdict itself":
        # It is replaced, and all else is as it was.
        assert (again.code, state(out, place)) == (0, "signed")
    else:
        assert (again.code, state(out, place)) == (1, "failed")


def test_an_audit_for_more_than_was_promised_is_not_signed(
    tripcloak: Any, place: Path, out: Path, name: str
) -> None:
    before = (out / "release" / NAME).read_bytes()
    order = ("audit", out, "--against", place / f"{name}.csv", "--k", 3, "--sign", place / "own.key")
    told = tripcloak(*order)
    assert told.code == 2
    assert "what is signed is what the release promises" in told.words
    assert (out / "release" / NAME).read_bytes() == before


def test_a_key_that_does_not_serve_is_told_before_anything_is_read(tripcloak: Any, tmp_path: Path) -> None:
    order = ("anonymise", tmp_path / "nothing.csv", "--out", tmp_path / "out", "--sign", tmp_path / "no.key")
    told = tripcloak(*order)
    assert told.code == 2
    assert "there is no private key" in told.words
    assert not (tmp_path / "out").exists()


def test_keys_are_made_once_and_locked_if_asked(
    tripcloak: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tripcloak("keygen", tmp_path / "a").code == 0
    before = (tmp_path / "a.key").read_bytes()
    assert stat.S_IMODE((tmp_path / "a.key").stat().st_mode) == 0o600
    told = tripcloak("keygen", tmp_path / "a")
    assert (told.code, (tmp_path / "a.key").read_bytes()) == (2, before)
    assert "never replaced" in told.words
    monkeypatch.setenv(PASSPHRASE, "open sesame")
    told = tripcloak("keygen", tmp_path / "b.c", "--json")
    assert told.json["locked"] is True
    assert told.json["id"] == read_public_key(tmp_path / "b.c.pub").id
    assert b"ENCRYPTED" in (tmp_path / "b.c.key").read_bytes()
    assert "sesame" not in told.out + told.err


@pytest.mark.skipif(
    not all(map(shutil.which, ("openssl", "jq"))),
    reason="openssl or jq is not here: apt-get install openssl jq",
)
@pytest.mark.parametrize("name", ["flows"], indirect=True)
def test_anybody_can_check_by_openssl_alone(place: Path, out: Path) -> None:
    """As the page says."""
    page = (ROOT / "docs" / "signing.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)
    for key, code in (("own", 0), ("other", 1)):
        (out / "release" / "publisher.pub").write_bytes((place / f"{key}.pub").read_bytes())
        done = subprocess.run(
            ["bash", "-e", "-c", script], cwd=out.parent, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
    (out / "release" / "publisher.pub").write_bytes((place / "own.pub").read_bytes())
    with (out / "release" / "README.md").open("a") as file:
        file.write("x")
    done = subprocess.run(["bash", "-e", "-c", script], cwd=out.parent, capture_output=True, check=False)
    assert done.returncode != 0


def test_every_segment_is_signed(tripcloak: Any, place: Path, tmp_path: Path) -> None:
    rows = some_trips(300)
    sex = {one: "FM"[at % 2] for at, one in enumerate(sorted({row["person_id"] for row in rows}))}
    trips = write_csv(tmp_path / "trips.csv", [{**row, "sex": sex[row["person_id"]]} for row in rows])
    parted = (*FLOWS, trips, "--segment", "sex", "--draws", 1, "--out", tmp_path / "out")
    told = tripcloak(*parted, "--sign", place / "own.key")
    assert told.code == 0, told.err
    assert f"Signed as PASSED in release/{NAME}" in " ".join(told.out.split())
    found = sorted((tmp_path / "out").rglob(NAME))
    assert len(found) == 2
    assert {state(path.parents[1], place) for path in found} == {"signed"}


def test_python_signs_what_it_saves(place: Path, tmp_path: Path) -> None:
    out, key = tmp_path / "out", place / "own.key"
    made = tc.anonymise(place / "flows.csv", k=5, hierarchy="h3:7", out=out, sign=key)
    assert state(out, place) == "signed"
    made.save(tmp_path / "again", sign=str(key))
    assert state(tmp_path / "again", place) == "signed"
    assert tc.audit(out, against=place / "flows.csv", sign=place / "other.key").safe
    assert state(out, place) == "foreign"
    paths = tc.trajectories.anonymise(place / "paths.csv", k=2, method="glove")
    with pytest.raises(InputError, match="save the release first"):
        paths.audit(sign=key)
    with pytest.raises(InputError, match="say where to save"):
        tc.anonymise(place / "flows.csv", k=5, sign=key)
    paths.save(tmp_path / "paths", sign=key)
    assert state(tmp_path / "paths", place) == "signed"


def test_a_release_that_fails_right_after_it_was_made_is_our_own_bug(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tripcloak.flows import checking
    from tripcloak.ground.rulebook import Finding

    broken = (Finding("readme-as-written", False, "other words"),)
    monkeypatch.setattr(checking, "rewritten_flows", lambda folder, read=None: broken)
    with pytest.raises(InternalError, match="signed as FAILED"):
        tc.anonymise(place / "flows.csv", k=5, hierarchy="h3:7", out=tmp_path / "out", sign=place / "own.key")
    assert state(tmp_path / "out", place) == "failed"
