"""The workspace: a folder that keeps inputs and runs, so that a restart loses nothing.

Layout: ``studio.sqlite`` (what there is), ``uploads/ID/NAME`` (files that were sent), ``runs/ID/`` (what a
run wrote), ``lock`` (held by the one server that works here).
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from tripcloak.ground.errors import InputError, OutputExistsError

State = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
ENDED = ("done", "failed", "cancelled", "interrupted")
"""States that nothing leaves any more: a run that ended is never changed."""

INTERRUPTED = "The studio ended while this ran. Nothing half-written was left; run it again."

RESULT, LOG = "result.json", "log.txt"
KEPT = {RESULT, LOG}
"""What stays of every run, however it ended."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS inputs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, path TEXT NOT NULL UNIQUE, wing TEXT NOT NULL,
    uploaded INTEGER NOT NULL, added TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, command TEXT NOT NULL, wing TEXT NOT NULL,
    input INTEGER NOT NULL REFERENCES inputs, settings TEXT NOT NULL, of_run INTEGER,
    state TEXT NOT NULL, words TEXT NOT NULL, made TEXT NOT NULL, ended TEXT, seconds REAL);
"""


@dataclass(frozen=True, kw_only=True)
class StudioInput:
    """A file or folder that the user named or sent."""

    id: int
    name: str
    path: str
    wing: str
    uploaded: bool
    added: str

    @property
    def there(self) -> bool:
        """Return whether it is still where it was."""
        return Path(self.path).exists()


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run: what was asked for, and what became of it."""

    id: int
    command: str
    wing: str
    input: int
    settings: dict[str, Any]
    of_run: int | None
    state: State
    words: str
    made: str
    ended: str | None
    seconds: float | None


@dataclass
class Workspace:
    """A folder with inputs and runs, held by one server at a time."""

    folder: Path
    _lock: Any = field(init=False, repr=False)
    _rows: sqlite3.Connection = field(init=False, repr=False)
    _turn: threading.RLock = field(init=False, repr=False, default_factory=threading.RLock)

    def __post_init__(self) -> None:
        # Runs work in folders of their own, where a relative path would lead elsewhere.
        self.folder = self.folder.absolute()
        with disk_in_words(self.folder):
            for part in (self.folder, self.folder / "uploads", self.folder / "runs"):
                part.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = hold(self.folder)
            self._rows = sqlite3.connect(self.folder / "studio.sqlite", check_same_thread=False)
            self._rows.row_factory = sqlite3.Row
            self._rows.execute("PRAGMA journal_mode = WAL")
            self._rows.executescript(SCHEMA)
            self._end_orphans()

    def close(self) -> None:
        """Let go of the folder."""
        with self._turn:
            self._rows.close()
            self._lock.close()

    def add_input(self, path: Path, *, wing: str, uploaded: bool = False) -> StudioInput:
        """Return an input, new or known already."""
        with self._changing() as rows:
            rows.execute(
                "INSERT INTO inputs (name, path, wing, uploaded, added) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (path) DO UPDATE SET wing = excluded.wing",
                (path.name, str(path), wing, uploaded, now()),
            )
            found = rows.execute("SELECT * FROM inputs WHERE path = ?", (str(path),)).fetchone()
        return _input(found)

    def input(self, number: int) -> StudioInput | None:
        """Return an input by its number."""
        with self._turn:
            found = self._rows.execute("SELECT * FROM inputs WHERE id = ?", (number,)).fetchone()
        return None if found is None else _input(found)

    def inputs(self, *, before: int | None = None, limit: int = 50) -> list[StudioInput]:
        """Return a page of inputs, the newest first."""
        return [_input(row) for row in self._page("inputs", before, limit)]

    def add_run(
        self, command: str, wing: str, of: int, settings: Mapping[str, Any], of_run: int | None = None
    ) -> Run:
        """Return a new run that waits."""
        with self._changing() as rows:
            number = rows.execute(
                "INSERT INTO runs (command, wing, input, settings, of_run, state, words, made) "
                "VALUES (?, ?, ?, ?, ?, 'waiting', '', ?)",
                (command, wing, of, json.dumps(dict(settings)), of_run, now()),
            ).lastrowid
        self.run_folder(number or 0).mkdir(mode=0o700)
        return self.known_run(number or 0)

    def run(self, number: int) -> Run | None:
        """Return a run by its number."""
        with self._turn:
            found = self._rows.execute("SELECT * FROM runs WHERE id = ?", (number,)).fetchone()
        return None if found is None else _run(found)

    def known_run(self, number: int) -> Run:
        """Return a run that must be there."""
        found = self.run(number)
        if found is None:
            raise InputError(f"there is no run {number} in this workspace")
        return found

    def runs(
        self,
        *,
        before: int | None = None,
        limit: int = 50,
        of_input: int | None = None,
        command: str | None = None,
    ) -> list[Run]:
        """Return a page of runs, the newest first."""
        asked = {"input": of_input, "command": command}
        return [_run(row) for row in self._page("runs", before, limit, **asked)]

    def change(self, number: int, state: State, words: str = "", seconds: float | None = None) -> bool:
        """Note what became of a run, and return whether that changed it; one that ended stays as it is."""
        ended = now() if state in ENDED else None
        with self._changing() as rows:
            touched = rows.execute(
                f"UPDATE runs SET state = ?, words = ?, ended = ?, seconds = ? "
                f"WHERE id = ? AND state NOT IN ({', '.join('?' * len(ENDED))})",
                (state, words, ended, seconds, number, *ENDED),
            ).rowcount
        return touched == 1

    def run_folder(self, number: int) -> Path:
        """Return the folder of a run."""
        return self.folder / "runs" / str(number)

    def release_folder(self, number: int) -> Path:
        """Return where a run writes what it releases; named after the run, as a ledger names releases."""
        return self.run_folder(number) / f"run-{number}"

    def clear_run(self, number: int) -> None:
        """Remove what a run that came to nothing has left: a release, or what a killed one had set aside."""
        for left in self.run_folder(number).glob("*"):
            if left.is_dir() and not left.is_symlink():
                remove_tree(left)
            elif left.name not in KEPT:
                left.unlink(missing_ok=True)

    def _page(self, of: str, before: int | None, limit: int, **equal: Any) -> Sequence[sqlite3.Row]:
        asked = {name: value for name, value in equal.items() if value is not None}
        conditions = [f"{name} = ?" for name in asked] + ([] if before is None else ["id < ?"])
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        values = [*asked.values(), *([] if before is None else [before]), limit]
        with self._turn:
            return self._rows.execute(
                f"SELECT * FROM {of} {where} ORDER BY id DESC LIMIT ?", values
            ).fetchall()

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._turn, disk_in_words(self.folder), self._rows:
            yield self._rows

    def _end_orphans(self) -> None:
        """Say of runs that died with an earlier server what happened, and remove what they left half done."""
        with self._changing() as rows:
            orphans = rows.execute("SELECT id FROM runs WHERE state IN ('waiting', 'running')").fetchall()
            for row in orphans:
                self.clear_run(row["id"])
                self.change(row["id"], "interrupted", INTERRUPTED)
        for part in (self.folder / "uploads").glob("*.part"):
            part.unlink(missing_ok=True)


def hold(folder: Path) -> Any:
    """Return the open lock of a workspace, or raise where another process holds it."""
    held = open(folder / "lock", "a+", encoding="utf-8")  # noqa: SIM115 (held until the server ends)
    try:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Windows has no flock; SQLite still keeps the rows whole.
        return held
    except OSError:
        held.close()
        raise OutputExistsError(
            f"another studio works in {folder}; use its page, end it, or choose another folder with "
            "--workspace"
        ) from None
    return held


@contextmanager
def disk_in_words(folder: Path) -> Iterator[None]:
    """Say in words what a full disk, or a folder that cannot be written, does to a workspace."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"the workspace {folder} cannot be written ({why}); free some space, or choose another folder "
            "with --workspace. What was finished before is still there"
        ) from None


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def remove_tree(folder: Path) -> None:
    """Remove a folder and all in it, if it is there."""
    if os.path.lexists(folder):
        shutil.rmtree(folder, ignore_errors=True)


def _input(row: sqlite3.Row) -> StudioInput:
    return StudioInput(**{**dict(row), "uploaded": bool(row["uploaded"])})


def _run(row: sqlite3.Row) -> Run:
    return Run(**{**dict(row), "settings": json.loads(row["settings"])})
