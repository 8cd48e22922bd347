"""The command line under test: in this process where that is enough, as a real command where it matters."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tripcloak.cli.app import split
from tripcloak.cli.run import run
from worlds.folders import contents
from worlds.next_steps import leads_on
from worlds.trips import Row, some_trips, write_csv

COMMAND = (sys.executable, "-m", "tripcloak.cli")


@dataclass(frozen=True)
class Told:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def words(self) -> str:
        """What was said on stderr, on one line and without the frames of boxes."""
        return " ".join(self.err.replace("│", " ").split())


Tripcloak: TypeAlias = Callable[..., Told]


@pytest.fixture(autouse=True, scope="session")
def signals_are_heard() -> None:
    """Children inherit ignored signals: under nohup or in the background they would hear none of ours."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


@pytest.fixture
def tripcloak(capsys: pytest.CaptureFixture[str], private_temporary_folder: Path) -> Tripcloak:
    """A command run in this process, where only its own words are captured."""

    def command(*arguments: object) -> Told:
        capsys.readouterr()
        typed = [str(argument) for argument in arguments]
        code = run(typed)
        told = Told(code, *capsys.readouterr())
        # Every command line that some test gets wrong is one that somebody gets wrong.
        if "Error" in told.err:
            assert leads_on(told.words, split(typed)[0]), f"what is typed next? {told.words}"
        return told

    return command


@pytest.fixture
def real_tripcloak(private_temporary_folder: Path) -> Tripcloak:
    """A command run as its own process, its ends read from pipes."""

    def command(*arguments: object, **options: Any) -> Told:
        ended = subprocess.run(
            [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, **options
        )
        return Told(ended.returncode, ended.stdout, ended.stderr)

    return command


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """A command started and left running; ended with the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        running.append(subprocess.Popen([*COMMAND, *map(str, arguments)], **piped))
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()


@pytest.fixture
def private_temporary_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any) -> Path:
    """The folder that programs take for temporary files, empty at first."""
    folder: Path = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def untouched(tmp_path: Path, private_temporary_folder: Path) -> Callable[[], Any]:
    """A block that leaves the test's folder as it was, and no temporary file."""

    @contextmanager
    def block() -> Iterator[None]:
        before = contents(tmp_path)
        yield
        # An error's traceback may hold on to connections, whose spill folders go away with them.
        if os.listdir(private_temporary_folder) or contents(tmp_path) != before:
            gc.collect()
        assert contents(tmp_path) == before
        assert os.listdir(private_temporary_folder) == []

    return block


@pytest.fixture
def rows() -> list[Row]:
    return some_trips()


@pytest.fixture
def trips(tmp_path: Path, rows: list[Row]) -> Path:
    """A CSV file of ordinary trips with ids, times and weights."""
    return write_csv(tmp_path / "trips.csv", rows)
