"""Copies of inputs go with their process, and those of a process that was killed with the next one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tripcloak.ground.waiting import folder_of_copies

LEAVE = """
import os, signal
from tripcloak.ground.waiting import folder_of_copies
(folder_of_copies() / "rows").touch()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = folder_of_copies()
    (mine / "rows").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "lock").touch()
    (tmp_path / "tripcloak-copy-link").symlink_to(elsewhere)
    (tmp_path / "tripcloak-copy-begun").mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", LEAVE], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    names = {path.name for path in tmp_path.iterdir()}
    assert len(names) == 5
    other = folder_of_copies()
    left = {mine.name, other.name, "elsewhere", "tripcloak-copy-link", "tripcloak-copy-begun"}
    assert {path.name for path in tmp_path.iterdir()} == left
    assert (mine / "rows").exists()
    assert (elsewhere / "lock").exists()
    for folder in (mine, other):
        shutil.rmtree(folder)
