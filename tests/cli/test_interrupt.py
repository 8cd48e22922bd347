"""Ctrl-C at any moment: exit code 130, a word about it, nothing left behind, an old release untouched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from worlds.folders import contents, is_whole
from worlds.trips import leaks

PATIENCE = 60.0

# The command as it is, except that one of its functions says that it has done its work and then waits.
WAITS_AFTER = """
import sys, time
from importlib import import_module
from pathlib import Path
from tripcloak.cli import main

module, name, marker = sys.argv.pop(1), sys.argv.pop(1), Path(sys.argv.pop(1))
room = import_module(module)
if "." in name:
    holder, name = name.split(".")
    room = getattr(room, holder)
whole = getattr(room, name)

def waiting(*arguments, **options):
    result = whole(*arguments, **options)
    marker.touch()
    time.sleep(60)
    return result

setattr(room, name, waiting)
main()
"""

MOMENTS = {
    "reading": ("tripcloak.flows.reading.coding", "GatheredTrips.add"),
    "solving": ("tripcloak.flows.methods.odkanon", "ODkAnon.solve"),
    "writing the public part": ("tripcloak.flows.publish", "_write_public"),
    "writing the last file": ("tripcloak.flows.publish", "write_record"),
}


def wait_for(marker: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while not marker.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def waiting(tmp_path, private_temporary_folder) -> Callable[..., subprocess.Popen[str]]:
    """A command that has come to a moment and waits there."""

    def start(moment: tuple[str, str], *arguments: object) -> subprocess.Popen[str]:
        marker = tmp_path.parent / f"{tmp_path.name}-here"
        process = subprocess.Popen(
            [sys.executable, "-c", WAITS_AFTER, *moment, str(marker), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(marker, process)
        return process

    return start


@pytest.mark.one_in(2)
@pytest.mark.parametrize("old", [False, True], ids=["nothing there", "an old release"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_leaves_things_as_they_were(tripcloak, waiting, untouched, tmp_path, trips, rows, moment, old):
    order = ("anonymise", trips, "--out", tmp_path / "out", "--method", "odkanon", "--json")
    if old:
        assert tripcloak(*order, "--k", 20).code == 0
    with untouched():
        process = waiting(MOMENTS[moment], *order, *(["--force"] if old else []))
        assert contents(tmp_path).keys() >= {"trips.csv"}
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == "Interrupted; no half-written release was left behind."
    assert leaks(err, rows) == []


def test_asking_again_and_again_does_not_cut_the_cleaning_short(waiting, untouched, tmp_path, trips):
    with untouched():
        process = waiting(MOMENTS["writing the last file"], "anonymise", trips, "--out", tmp_path / "out")
        for _ in range(20):
            process.send_signal(signal.SIGINT)
            time.sleep(0.002)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 130


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGHUP])
def test_the_system_may_ask_too(waiting, untouched, tmp_path, trips, asked):
    with untouched():
        process = waiting(MOMENTS["writing the public part"], "anonymise", trips, "--out", tmp_path / "out")
        process.send_signal(asked)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + asked
    assert "Interrupted" in err


def test_ctrl_c_at_odd_moments_of_real_work(started, tmp_path, private_temporary_folder):
    """Compiled code at work: no waiting place is built in, so the run may also have ended before."""
    from tripcloak.synth import City, write_city

    city, out = tmp_path / "city.parquet", tmp_path / "out"
    write_city(City(trips=150_000), city)
    for delay in (0.5, 0.9, 1.3, 1.7):
        process = started("anonymise", city, "--out", out, "--hierarchy", "h3:9", "--method", "odkanon")
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        # Before our first line Python itself answers.
        assert process.returncode in (0, 130, -signal.SIGINT)
        assert os.listdir(private_temporary_folder) == []
        if out.exists():
            # Too late: all was done but for the last words.
            assert is_whole(out)
            break
        assert process.returncode != 0
        assert sorted(os.listdir(tmp_path)) == ["city.parquet"]


# A lock that is never given back: no signal and no exception gets a thread out of that.
HANGS = """
import ctypes, sys, tempfile
from pathlib import Path
from tripcloak.cli import interrupt, main
from tripcloak.ground.engine import connect
from tripcloak.flows import anonymise

interrupt.GRACE = 0.3
marker = Path(sys.argv.pop(1))

def hang(*arguments, **options):
    with connect():
        lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(256)
        lock(mutex)
        marker.touch()
        lock(mutex)

anonymise.read_matrix = hang
main()
"""


def test_an_engine_that_hangs_is_left_behind(untouched, tmp_path, trips, private_temporary_folder):
    marker = tmp_path.parent / f"{tmp_path.name}-here"
    arguments = ["anonymise", str(trips), "--out", str(tmp_path / "out")]
    with untouched():
        process = subprocess.Popen(
            [sys.executable, "-c", HANGS, str(marker), *arguments], stderr=subprocess.PIPE, text=True
        )
        wait_for(marker, process)
        assert os.listdir(tmp_path / "out")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Interrupted" in err


def test_a_lost_interrupt_is_found_at_the_next_step(monkeypatch, capsys, tmp_path, trips):
    from tripcloak.cli import interrupt
    from tripcloak.cli.run import run

    monkeypatch.setattr(interrupt.INTERRUPT, "signal", signal.SIGINT)
    assert run(["anonymise", str(trips), "--out", str(tmp_path / "out")]) != 0
    assert not (tmp_path / "out").exists()
    assert capsys.readouterr().out == ""
