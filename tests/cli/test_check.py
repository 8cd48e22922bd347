"""tripcloak check: what a receiver sees of a release, from the public folder alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import tripcloak as tc
from tripcloak.ground.keys import make_keys, read_signing_key
from tripcloak.ground.rulebook import Finding, Verdict
from tripcloak.ground.signatures import sign_verdict
from worlds.trips import some_trips, write_csv


@pytest.fixture(scope="module")
def flows(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("flows")
    file = write_csv(home / "trips.csv", some_trips())
    tc.anonymise(str(file), k=5, zones="h3:7", out=home / "out")
    return home / "out"


@pytest.fixture(scope="module")
def tracks(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("tracks")
    lines = ["device_id,timestamp,lat,lon"]
    lines += [
        f"d{n},2024-05-01 0{hour}:00:00,{48.85 + 0.01 * (n % 3):.3f},2.35"
        for n in range(6)
        for hour in range(4)
    ]
    (home / "fixes.csv").write_text("\n".join(lines) + "\n")
    tc.trajectories.anonymise(str(home / "fixes.csv"), k=2, out=home / "out")
    return home / "out"


@pytest.fixture(params=["flows", "tracks"])
def received(request, tmp_path) -> Path:
    """A public folder under a name of its own, with nothing beside it."""
    place = tmp_path / "from somebody"
    shutil.copytree(request.getfixturevalue(request.param) / "release", place)
    return place


@pytest.mark.parametrize("part", ["", "/", "/release", "/release/"])
def test_a_release_is_found_however_it_is_named(tripcloak, flows, part):
    told = tripcloak("check", f"{flows}{part}", "--json")
    assert (told.code, told.err) == (0, "")
    assert told.json["untouched"] is True


def test_the_public_folder_alone_is_enough_under_any_name(tripcloak, received):
    told = tripcloak("check", received, "--json")
    assert (told.code, told.err) == (0, "")
    states = {one["rule"]: one["state"] for one in told.json["findings"]}
    beside = {rule for rule, state in states.items() if state != "ok"}
    made_up = {"made-up-is-coarse", "m-samples-reach-k", "noise-adds-up", "boxes-hold-k"}
    assert beside <= {"numbers-rounded", "tables-add-up", "zones-kept", "signature-fits", *made_up}
    assert {"files-complete", "digests-match", "manifest-as-written", "readme-as-written"} <= states.keys()


def test_the_page_says_what_is_promised_of_what_and_what_is_not(tripcloak, flows, tracks):
    words = tripcloak("check", flows).out
    headings = ("What is promised", "What was counted", "What is not promised", "without the raw data")
    assert [heading for heading in headings if heading not in words] == []
    assert words.startswith("Untouched")
    assert "Every flow holds at least 5 people." in words
    assert "another release of the same people" in words
    assert "only a signature, or the raw data" in words
    words = tripcloak("check", tracks).out
    assert "What is known of a device fits 2 trajectories or more." in words
    assert "Devices, not people" in words
    readme = (tracks / "release" / "README.md").read_text()
    assert "where and when a device was" in readme
    assert "Counted are devices, not people" in readme
    assert not [word for word in ("a person ", "the person", "one person ", "many people") if word in readme]


@pytest.mark.parametrize("name", ["README.md", "map.html", "manifest.json"])
def test_one_letter_more_is_seen(tripcloak, received, name):
    path = received / name
    path.write_text(path.read_text() + " ")
    told = tripcloak("check", received)
    assert told.code == 1
    lines = told.out.strip().splitlines()
    assert lines[0].startswith("TOUCHED OR BROKEN")
    assert lines[0] == lines[-1]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"a_note": "they live here"}, "manifest-as-written"),
        ({"method": "trust-me"}, "method-known"),
        ({"counted": {"travellers": "people"}}, "manifest-as-written"),
        ({"promise": {"kind": "trust me"}}, "promise-readable"),
    ],
)
def test_what_the_manifest_may_not_say_is_seen(tripcloak, received, change, rule):
    path = received / "manifest.json"
    facts = {**json.loads(path.read_text()), **change}
    path.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    told = tripcloak("check", received, "--json")
    assert told.code == 1
    assert rule in {one["rule"] for one in told.json["findings"] if not one["ok"]}


def test_a_file_too_many_or_too_few_is_seen(tripcloak, received):
    (received / "notes.txt").write_text("they live here")
    assert tripcloak("check", received).code == 1
    (received / "notes.txt").unlink()
    assert tripcloak("check", received).code == 0
    (received / "README.md").unlink()
    assert tripcloak("check", received).code == 1


def test_what_is_no_release_is_bad_input(tripcloak, tmp_path, flows):
    for folder in (tmp_path, tmp_path / "none", flows / "release" / "README.md"):
        told = tripcloak("check", folder)
        assert (told.code, told.out) == (2, "")
        assert "holds no release" in told.words


def test_the_page_is_written_once_and_never_into_the_release(tripcloak, tmp_path, flows):
    page = tmp_path / "check.html"
    assert tripcloak("check", flows, "--html", page).code == 0
    assert "Every flow holds at least 5 people." in page.read_text()
    assert tripcloak("check", flows, "--html", page).code == 2
    assert tripcloak("check", flows, "--html", page, "--force").code == 0
    assert tripcloak("check", flows, "--html", flows / "release" / "check.html").code == 2
    assert tripcloak("check", flows).code == 0


def test_python_has_the_same_and_a_card(flows, received):
    found = tc.check(flows)
    assert found.untouched
    assert found.promised == ("Every flow holds at least 5 people.",)
    assert "Untouched" in found._repr_html_()
    (received / "README.md").write_text("")
    broken = tc.check(received)
    assert not broken.untouched
    assert "BROKEN" in repr(broken)
    assert "do not rely on it" in broken._repr_html_()


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("keys")
    for name in ("own", "other"):
        make_keys(home / name, home / f"{name}.pub")
    return {name: home / name for name in ("own", "own.pub", "other", "other.pub")}


def test_a_key_tells_whose_a_release_is(tripcloak, received, keys):
    def checked(*options) -> tuple[int, str]:
        told = tripcloak("check", received, *options, "--json")
        return told.code, told.json["signature"]["state"]

    assert checked() == (0, "unsigned")
    assert checked("--key", keys["own.pub"]) == (1, "unsigned")
    passed = Verdict.of([Finding("made-up", True, "it holds")])
    sign_verdict(received, passed, read_signing_key(keys["own"]), version="0.3.0")
    assert checked() == (0, "unchecked")
    assert checked("--key", keys["own.pub"]) == (0, "signed")
    assert checked("--key", keys["other.pub"]) == (1, "foreign")
    assert tc.check(received, key=keys["own.pub"]).signature.startswith("signed by this key")
    (received / "README.md").write_text("")
    assert checked() == (1, "broken")
    assert checked("--key", keys["own.pub"]) == (1, "broken")
    assert tripcloak("check", received, "--key", received / "none.pub").code == 2
