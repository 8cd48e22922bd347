"""Runs that are killed, two at once, and a full disk: the ledger holds the old or the new state, whole."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tripcloak.ground.errors import InputError
from tripcloak.ledger.disclosing import disclosed
from tripcloak.ledger.store import Ledger, open_ledger
from tripcloak.ledger.store.describing import flows_to_record
from worlds.ledgers import Releases, record

STEPS: tuple[tuple[Any, str], ...] = (
    (os, "replace"),
    (os, "fsync"),
    (Path, "unlink"),
    (parquet, "write_table"),
)
"""All that touches what stands in a ledger."""
KILLED = 9
NewLedger = Callable[..., Ledger]


def killed(step: int, *, after: bool, work: Callable[[], None]) -> bool:
    """Do some work in a process of its own that is killed at a step; return whether it came that far."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status) == KILLED
    done = 0

    def trapped(whole: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            done += 1
            mine = done
            if mine == step and not after:
                os._exit(KILLED)
            try:
                return whole(*arguments, **options)
            finally:
                if mine == step:
                    os._exit(KILLED)

        return call

    try:
        for owner, name in STEPS:
            setattr(owner, name, trapped(getattr(owner, name)))
        work()
    finally:
        os._exit(0)


def states_after_kills(
    base: Path, tmp_path: Path, work: Callable[[Path], None], *, after: bool
) -> list[tuple[int, Ledger]]:
    """Return how many entries are there whenever a run is killed, and the ledger as the next run finds it."""
    found = []
    for step in range(1, 60):
        folder = tmp_path / f"{step}-{after}"
        shutil.copytree(base, folder)
        if not killed(step, after=after, work=lambda: work(folder)):  # noqa: B023
            return found
        ledger = open_ledger(folder)
        with ledger.changing():
            pass
        assert ledger.faults() == []
        found.append((len(ledger.entries), ledger))
    raise AssertionError("the work has no end")


@pytest.fixture
def base(new_ledger: NewLedger, releases: Releases, tmp_path: Path) -> Path:
    ledger = new_ledger("base")
    record(ledger, releases.women, tmp_path / "women")
    return ledger.folder


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_run_that_is_killed_while_it_records_a_release(
    base: Path, releases: Releases, tmp_path: Path, after: bool
) -> None:
    made = releases.first
    told = disclosed(made, "first")

    def work(folder: Path) -> None:
        ledger = open_ledger(folder)
        with ledger.changing():
            ledger.prepare(flows_to_record(made), told, folder / "first")

    states = states_after_kills(base, tmp_path, work, after=after)
    assert {entries for entries, _ in states} == {2, 3}
    assert [entries for entries, _ in states] == sorted(entries for entries, _ in states)
    for entries, ledger in states:
        names = [one.name for one in ledger.disclosures()]
        assert names == ["women", "first"][: entries - 1]
        # Nothing is left of what did not come to be.
        assert len(list((ledger.folder / "data").iterdir())) == (3 if entries == 2 else 6)
    last = states[0][1]
    work(last.folder)
    assert len(open_ledger(last.folder).disclosures()) == 2


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_run_that_is_killed_while_it_changes_the_key(
    base: Path, releases: Releases, tmp_path: Path, after: bool
) -> None:
    before = open_ledger(base).disclosures()[0]
    states = states_after_kills(base, tmp_path, lambda folder: open_ledger(folder).rotate(), after=after)
    assert {entries for entries, _ in states} == {2, 3}
    for entries, ledger in states:
        (told,) = ledger.disclosures()
        assert (told.record.tolist() == before.record.tolist()) == (entries == 2)
        assert len(ledger.key.records) == entries - 1
        assert not (ledger.folder / "key.next").exists()
        assert len(list((ledger.folder / "data").iterdir())) == 3
        assert told.n_records == before.n_records
        assert told.trips.tolist() == before.trips.tolist()


def test_two_runs_at_once_see_each_other(base: Path, releases: Releases, tmp_path: Path) -> None:
    """Each looks at what was released before it, and waits while the other does."""
    told = [(made, disclosed(made, "new")) for made in (releases.first, releases.coarser)]
    children = []
    for made, new in told:
        child = os.fork()
        if not child:
            try:
                ledger = open_ledger(base)
                with ledger.changing():
                    seen = len(ledger.disclosures())
                    time.sleep(0.3)
                    ledger.prepare(flows_to_record(made), new, tmp_path / f"saw-{seen}")
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    ledger = open_ledger(base)
    assert [one.name for one in ledger.releases] == ["women", "saw-1", "saw-2"]
    assert ledger.faults() == []


class Full:
    """A disk that is full from some step on."""

    def __init__(self, patched: pytest.MonkeyPatch, step: int) -> None:
        self.calls, self.step = 0, step
        for owner, name in (*STEPS[:2], STEPS[3], (Path, "write_bytes")):
            patched.setattr(owner, name, self._trapped(getattr(owner, name)))

    def _trapped(self, whole: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            if self.calls >= self.step:
                raise OSError(errno.ENOSPC, "No space left on device")
            return whole(*arguments, **options)

        return call


def refused(work: Callable[[], None]) -> bool:
    """Return whether some work is refused for want of room."""
    try:
        work()
    except InputError as error:
        if "no room left on its disk" not in str(error):
            raise
        return True
    return False


@pytest.mark.parametrize("what", ["release", "rotation", "words"])
def test_a_full_disk(base: Path, releases: Releases, tmp_path: Path, what: str) -> None:
    made = releases.first
    told = disclosed(made, "first")
    before = sorted(path.name for path in base.rglob("*"))

    def work(ledger: Ledger) -> None:
        if what == "rotation":
            ledger.rotate()
        elif what == "words":
            ledger.withdraw(ledger.find("1"), reason="none")
        else:
            with ledger.changing():
                ledger.prepare(flows_to_record(made), told, tmp_path / "first")

    for step in range(1, 60):
        ledger = open_ledger(base)
        with pytest.MonkeyPatch.context() as patched:
            full = Full(patched, step)
            if not refused(lambda: work(ledger)):  # noqa: B023
                break
        assert full.calls >= step
        ledger = open_ledger(base)
        assert len(ledger.entries) == 2
        with ledger.changing():
            pass
        assert sorted(path.name for path in base.rglob("*")) == before
    assert step > 4
    assert len(open_ledger(base).entries) == 3
