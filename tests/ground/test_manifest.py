"""One manifest, one reader: releases are found, and what is none says so in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import (
    DEEPEST,
    FORMAT,
    is_release,
    is_sealed,
    new_manifest,
    public_part,
    read_manifest,
    read_run,
    release_folder,
    write_manifest,
    write_record,
)

PROMISE = {"kind": "k-anonymity", "k": 10, "unit": "trips", "sentence": "at least 10 trips"}


def written(out: Path, **entries: Any) -> Path:
    """Return a folder with both parts of a release of flows, whose manifest says these things instead."""
    for part in ("release", "private"):
        (out / part).mkdir(parents=True)
    told = {"version": "0.3.0", "method": "twincut", "parameters": {}, "promise": PROMISE}
    facts = {**new_manifest("flows", **told), **entries}  # type: ignore[arg-type]
    (out / "release" / "flows.csv").write_text("origin,destination,trips\n")
    write_manifest(out / "release", {name: value for name, value in facts.items() if value is not None})
    (out / "private" / "run.json").write_text("{}")
    return out


def test_a_manifest_begins_the_same_way_whatever_it_is_of(tmp_path: Path) -> None:
    facts = read_manifest(written(tmp_path / "out"))
    assert list(facts) == ["format", "kind", "version", "method", "parameters", "promise", "files"]
    assert facts["format"] == f"tripcloak release {FORMAT}"
    assert list(facts["files"]) == ["flows.csv"]
    text = (tmp_path / "out" / "release" / "manifest.json").read_text()
    assert text == json.dumps(facts, indent=2) + "\n"


@pytest.mark.parametrize("given", ["out", "out/", "out/release", "out/release/", "./out/../out/release"])
def test_a_release_is_found_by_its_folder_and_by_its_public_part(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    folder = Path(given)
    assert public_part(folder).resolve() == tmp_path / "out" / "release"
    assert release_folder(folder).resolve() == tmp_path / "out"
    assert read_manifest(folder, "flows")["method"] == "twincut"
    assert read_run(release_folder(folder)) == {}


def test_a_release_is_found_from_within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "out")
    for inside in ("out", "out/release"):
        monkeypatch.chdir(tmp_path / inside)
        assert release_folder(Path()).resolve() == tmp_path / "out"
        assert read_manifest(Path())["kind"] == "flows"


def test_a_public_part_alone_may_be_called_anything_and_has_no_private_one(tmp_path: Path) -> None:
    public = (written(tmp_path / "out") / "release").rename(tmp_path / "downloaded")
    assert read_manifest(public)["method"] == "twincut"
    with pytest.raises(InputError, match="the public part of a release alone"):
        release_folder(public)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "holds no release"),
        ("{", "cannot be read as JSON"),
        ("[]", "not a manifest"),
        (b"\xff\xfe", "JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "cannot be read as JSON|nested deeper"),
        ('{"a":' * 900 + "1" + "}" * 900, "nested deeper"),
        ("1" * 5000, "cannot be read as JSON"),
    ],
)
@pytest.mark.parametrize("read", [read_manifest, read_run])
def test_a_folder_that_is_no_release_is_named(tmp_path: Path, read: Any, text: Any, words: str) -> None:
    for path in (tmp_path / "release" / "manifest.json", tmp_path / "private" / "run.json"):
        path.parent.mkdir()
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=words) as told:
        read(tmp_path)
    assert told.value.exit_code == 2


def test_no_manifest_is_as_deep_as_what_is_refused(tmp_path: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(DEEPEST - 3):
        deep = {"a": deep}
    written(tmp_path / "out", parameters=deep)
    assert read_manifest(tmp_path / "out")["parameters"] == deep
    written(tmp_path / "deeper", parameters={"a": {"a": {"a": {"a": deep}}}})
    with pytest.raises(InputError, match="nested deeper"):
        read_manifest(tmp_path / "deeper")


def test_a_file_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps({}))
    with pytest.raises(InputError, match="holds no release"):
        read_manifest(tmp_path / "file")
    with pytest.raises(InputError, match="holds no release"):
        read_manifest(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no release"):
        release_folder(tmp_path)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"format": "tripcloak release 1"}, "format 1, which tripcloak 0.1 reads and this version does not"),
        ({"format": None, "kind": "trajectories", "tripcloak": "0.1.0"}, "which tripcloak 0.1 reads"),
        ({"format": None, "kind": "trajectories"}, "not a manifest of tripcloak"),
        ({"format": None, "kind": "flows", "tripcloak": "0.1.0"}, "not a manifest of tripcloak"),
        (
            {"format": "tripcloak release 2", "kind": "flows", "tripcloak": "0.1.0"},
            "which tripcloak 0.2 reads",
        ),
        ({"format": "tripcloak release 2"}, "format 2, which tripcloak 0.2 reads and this version does not"),
        ({"format": "tripcloak release 4"}, "format 4, .* update tripcloak"),
        ({"format": "tripcloak release 9999"}, "format 9999, .* update tripcloak"),
        ({"format": "tripcloak release 0"}, "not a manifest of tripcloak"),
        ({"format": "tripcloak release 03"}, "not a manifest of tripcloak"),
        ({"format": "tripcloak release 10000"}, "not a manifest of tripcloak"),
        ({"format": " tripcloak release 3"}, "not a manifest of tripcloak"),
        ({"format": "tripcloak release 3\n"}, "not a manifest of tripcloak"),
        ({"format": "tripcloak release 2 for p17"}, "not a manifest of tripcloak"),
        ({"format": 2}, "not a manifest of tripcloak"),
        ({"format": None}, "not a manifest of tripcloak"),
        ({"kind": "words"}, "neither flows nor trajectories"),
        ({"kind": ["flows"]}, "neither flows nor trajectories"),
        ({"kind": None}, "neither flows nor trajectories"),
    ],
)
def test_other_formats_and_kinds_say_what_to_do(entries: dict[str, Any], words: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "out", **entries)
    for read in (read_manifest, lambda place: read_manifest(place, "flows")):
        with pytest.raises(InputError, match=words) as told:
            read(folder)
        assert told.value.exit_code == 2
        assert "p17" not in str(told.value)


def test_a_release_of_another_kind_says_where_to_go(tmp_path: Path) -> None:
    flows, trajectories = written(tmp_path / "a"), written(tmp_path / "b", kind="trajectories")
    with pytest.raises(InputError, match="of flows, not of trajectories; `tripcloak audit`"):
        read_manifest(flows, "trajectories")
    with pytest.raises(InputError, match="of trajectories, not of flows; the commands below `tripcloak tr"):
        read_manifest(trajectories, "flows")
    assert read_manifest(trajectories, "trajectories")["kind"] == "trajectories"


def test_one_byte_more_breaks_the_seal(tmp_path: Path) -> None:
    folder = written(tmp_path / "out")
    assert not is_sealed(folder)
    write_record(folder / "private", folder / "release", {"seed": 1})
    assert is_sealed(folder)
    assert read_run(folder)["seed"] == 1
    manifest = folder / "release" / "manifest.json"
    manifest.write_text(manifest.read_text() + "\n")
    assert read_manifest(folder)["method"] == "twincut"
    assert not is_sealed(folder)


def test_a_folder_of_raw_files_is_no_release_though_one_is_called_manifest(tmp_path: Path) -> None:
    folder = written(tmp_path / "out")
    assert is_release(folder)
    assert is_release(folder / "release")
    assert not is_release(folder / "private")
    (folder / "release").rename(tmp_path / "raw")
    assert not is_release(tmp_path / "raw")
    assert not is_release(folder)


def test_entries_one_level_deeper_than_any_are_refused(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(DEEPEST - 2):
        deep = [deep]
    (tmp_path / "private").mkdir()
    record = tmp_path / "private" / "run.json"
    record.write_text(json.dumps({"a": deep}))
    assert read_run(tmp_path) == {"a": deep}
    record.write_text(json.dumps({"a": [deep]}))
    with pytest.raises(InputError, match="nested deeper"):
        read_run(tmp_path)
