"""The chain: one byte, one entry, one file out of place is noticed; and what a stranger's folder is told."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tripcloak.cli.next_steps import next_step
from tripcloak.ground.errors import AuditFailedError, InputError, TripcloakError
from tripcloak.ledger.store import Ledger, chain, init_ledger, open_ledger
from tripcloak.ledger.store.chain import append, read_chain
from tripcloak.ledger.store.key import LedgerKey
from worlds.folders import contents


@pytest.fixture(scope="module")
def long_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a ledger of five entries, none of which is of a release."""
    ledger = init_ledger(tmp_path_factory.mktemp("long") / "ledger")
    for number in range(4):
        with ledger.changing():
            ledger._append("init", {"words": f"entry of number {number}"})
    return ledger.folder


@pytest.fixture
def folder(long_ledger: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(long_ledger, tmp_path / "copy"))


def entry(folder: Path, sequence: int) -> Path:
    return folder / "chain" / f"{sequence:08d}.json"


def assert_broken(folder: Path, words: str = "is broken") -> None:
    before = contents(folder)
    with pytest.raises(AuditFailedError, match=words):
        open_ledger(folder)
    assert contents(folder) == before


def test_a_whole_chain_is_read(folder: Path) -> None:
    ledger = open_ledger(folder)
    assert [one.sequence for one in ledger.entries] == [1, 2, 3, 4, 5]
    assert ledger.faults() == []


@pytest.mark.parametrize("sequence", [1, 3, 5])
def test_one_byte_of_an_entry(folder: Path, sequence: int) -> None:
    path = entry(folder, sequence)
    whole = path.read_bytes()
    for at in {0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 2, len(whole) - 1}:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert_broken(folder)
    path.write_bytes(whole + b"\n")
    assert_broken(folder)
    path.write_bytes(whole)
    open_ledger(folder)


def test_every_byte_of_the_last_entry_and_of_the_head(folder: Path) -> None:
    for path in (entry(folder, 5), folder / "head.json"):
        whole = path.read_bytes()
        for at in range(0, len(whole), 3):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            with pytest.raises(TripcloakError):
                open_ledger(folder)
        path.write_bytes(whole)


@pytest.mark.parametrize("sequence", [1, 2, 4])
def test_an_entry_that_is_missing(folder: Path, sequence: int) -> None:
    entry(folder, sequence).unlink()
    assert_broken(folder, f"entry {sequence} is missing")


def test_a_chain_that_was_cut_off(folder: Path) -> None:
    entry(folder, 5).unlink()
    assert_broken(folder, "cut off after entry 4")
    entry(folder, 4).unlink()
    assert_broken(folder, "cut off after entry 3")
    for sequence in (1, 2, 3):
        entry(folder, sequence).unlink()
    assert_broken(folder, "cut off after entry 0")


def test_entries_that_changed_places(folder: Path) -> None:
    two, three = entry(folder, 2).read_bytes(), entry(folder, 3).read_bytes()
    entry(folder, 2).write_bytes(three)
    entry(folder, 3).write_bytes(two)
    assert_broken(folder, "entry 2")


def test_an_entry_of_another_ledger(folder: Path, tmp_path: Path) -> None:
    other = init_ledger(tmp_path / "other")
    shutil.copy(entry(other.folder, 1), entry(folder, 1))
    assert_broken(folder, "entry 1")


def test_an_entry_that_was_sealed_without_the_key(folder: Path) -> None:
    key, entries = open_ledger(folder).key, open_ledger(folder).entries
    head = (folder / "head.json").read_bytes()
    append(folder, LedgerKey.new(), entries, "init", {})
    (folder / "head.json").write_bytes(head)
    assert_broken(folder, "entry 6")
    entry(folder, 6).unlink()
    assert read_chain(folder, key) != ()


def test_a_head_of_before(folder: Path) -> None:
    """One entry may be there that a stopped run had no time to record, and no more."""
    ledger, heads = open_ledger(folder), []
    for _ in range(2):
        heads.append((folder / "head.json").read_bytes())
        with ledger.changing():
            ledger._append("init", {})
    (folder / "head.json").write_bytes(heads[1])
    assert len(open_ledger(folder).entries) == 7
    (folder / "head.json").write_bytes(heads[0])
    assert_broken(folder, "last entries")


def test_a_head_that_was_not_recorded_is_recorded_by_the_next_run(folder: Path) -> None:
    ledger, head = open_ledger(folder), (folder / "head.json").read_bytes()
    with ledger.changing():
        ledger._append("init", {})
    recorded = (folder / "head.json").read_bytes()
    (folder / "head.json").write_bytes(head)
    with open_ledger(folder).changing():
        pass
    assert (folder / "head.json").read_bytes() == recorded


def test_what_came_before_a_rotation_is_held_as_well(folder: Path) -> None:
    open_ledger(folder).rotate()
    ledger = open_ledger(folder)
    with ledger.changing():
        ledger._append("init", {})
    assert len(open_ledger(folder).entries) == 7
    whole = entry(folder, 2).read_bytes()
    entry(folder, 2).write_bytes(whole.replace(b"number 0", b"number 7"))
    assert_broken(folder, "entry 3, or the one before it")
    entry(folder, 2).write_bytes(whole)
    whole = entry(folder, 6).read_bytes()
    entry(folder, 6).write_bytes(whole.replace(b'"rotated"', b'"init"   '))
    assert_broken(folder)
    entry(folder, 6).write_bytes(whole)
    entry(folder, 7).unlink()
    assert_broken(folder, "cut off")


def test_another_key(folder: Path) -> None:
    before = (folder / "key").read_bytes()
    (folder / "key").write_bytes(LedgerKey.new().to_bytes())
    with pytest.raises(InputError, match="not the one that this ledger was written with"):
        open_ledger(folder)
    bare = json.dumps({**json.loads(before), "records": []}).encode()
    for text in (b"", b"{}", b"[]", bare, before[:-40] + b"\n"):
        (folder / "key").write_bytes(text)
        with pytest.raises(InputError, match="holds no key"):
            open_ledger(folder)
    (folder / "key").unlink()
    with pytest.raises(InputError, match="key of the ledger cannot be read"):
        open_ledger(folder)


def test_a_key_of_a_newer_version(folder: Path) -> None:
    key = folder / "key"
    told = json.loads(key.read_text())
    key.write_text(json.dumps({**told, "format": "tripcloak ledger key 2"}))
    with pytest.raises(InputError, match="written by a newer version of tripcloak"):
        open_ledger(folder)
    key.write_text(json.dumps({**told, "format": "another tool's key"}))
    with pytest.raises(InputError, match="holds no key"):
        open_ledger(folder)


def test_the_key_from_before_a_rotation(folder: Path) -> None:
    before = (folder / "key").read_bytes()
    open_ledger(folder).rotate()
    (folder / "key").write_bytes(before)
    with pytest.raises(InputError, match="from before its last rotation"):
        open_ledger(folder)


@pytest.mark.parametrize("what", ["head.json", "chain"])
def test_a_ledger_of_which_a_part_is_missing(folder: Path, what: str) -> None:
    (folder / what).rename(folder.parent / what)
    assert_broken(folder, rf"{re.escape(what)}, is missing")


def test_who_has_a_wrong_key_is_told_what_to_type(folder: Path) -> None:
    (folder / "key").write_bytes(b"{}")
    with pytest.raises(InputError) as caught:
        open_ledger(folder)
    assert f"`tripcloak ledger verify {folder}`" in str(caught.value)
    where = ["trips.csv", "--where", "a = 1", "--ledger", str(folder)]
    assert next_step(caught.value, "anonymise", where) == ""


def test_nothing_is_begun_where_the_clock_ran_backwards(
    folder: Path, clock: Callable[[timedelta], None]
) -> None:
    ledger, before = open_ledger(folder), contents(folder)
    clock(-timedelta(hours=2))
    with pytest.raises(InputError, match="set the clock right"):
        ledger.rotate()
    assert contents(folder) == before


def test_a_key_that_others_can_read(folder: Path) -> None:
    (folder / "key").chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        open_ledger(folder)


def test_a_ledger_of_a_newer_version(folder: Path) -> None:
    told = json.loads((folder / "head.json").read_text())
    (folder / "head.json").write_text(json.dumps({**told, "format": "tripcloak ledger 2"}))
    with pytest.raises(InputError, match=r"another version \(ledger 2\).*update tripcloak"):
        open_ledger(folder)


def test_a_folder_that_is_no_ledger(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(InputError, match="is no ledger; make one with `tripcloak ledger init"):
            open_ledger(place)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    def turn(by: timedelta) -> None:
        class Turned(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return datetime.now(UTC) + by

        monkeypatch.setattr(chain, "datetime", Turned)

    return turn


def test_a_clock_that_ran_backwards(folder: Path, clock: Callable[[timedelta], None]) -> None:
    ledger = open_ledger(folder)
    before = contents(folder)
    clock(-timedelta(minutes=6))
    with pytest.raises(InputError, match="set the clock right"), ledger.changing():
        ledger._append("init", {})
    assert contents(folder) == before
    # Clocks of two machines may differ a little: the order counts, and it is told.
    clock(-timedelta(minutes=4))
    with ledger.changing():
        ledger._append("init", {})
    assert [fault for fault in ledger.faults() if "entry 6 claims to be older" in fault]
    clock(timedelta())
    with ledger.changing():
        ledger._append("init", {})
    assert len(open_ledger(folder).faults()) == 1


def test_a_ledger_on_a_disk_without_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refuses(*_: Any) -> None:
        raise OSError(38, "no locks")

    monkeypatch.setattr(fcntl, "flock", refuses)
    with pytest.raises(InputError, match="knows no locks"):
        open_ledger(folder)


def test_somebodys_notes_stay(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    (folder / "data/notes.txt").write_text("mine")
    (folder / "data/00000099-groups.parquet").write_text("left behind")
    (folder / "chain/.aside-0123").write_text("left behind")
    ledger: Ledger = open_ledger(folder)
    with ledger.changing():
        pass
    left = {path.name for path in folder.rglob("*")}
    assert "notes.txt" in left
    assert not left & {"00000099-groups.parquet", ".aside-0123"}
