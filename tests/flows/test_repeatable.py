"""The same trips give the same public files, byte by byte, whatever the order, the machine or the moment."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tripcloak.engines.choice import Engine
from tripcloak.flows.reading import matrix as reading
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.memory import Budget
from worlds.folders import contents
from worlds.trips import some_trips, write_csv


@pytest.fixture
def rows():
    return some_trips(300)


def public(out: Path) -> dict[str, str]:
    return contents(out / "release")


@pytest.mark.parametrize("spec", ["h3:9", "quadtree:6"])
@pytest.mark.parametrize("units", [("travellers",), ("trips", "population")])
def test_the_order_of_the_rows_does_not_matter(make, tmp_path, rows, spec, units):
    order = {"zoning": Zoning(spec=spec), "units": units, "k": 10}
    first = make(write_csv(tmp_path / "trips.csv", rows), **order, out="first")
    shuffled = random.Random(1).sample(rows, len(rows))
    second = make(write_csv(tmp_path / "shuffled.csv", shuffled), **order, out="second")
    assert public(first.out) == public(second.out)
    assert first.release.input_digest == second.release.input_digest


def test_neither_does_the_kind_or_the_number_of_files(make, tmp_path, rows):
    import duckdb

    whole = write_csv(tmp_path / "trips.csv", rows)
    parts = [write_csv(tmp_path / f"part{number}.csv", rows[number::3]) for number in range(3)]
    duckdb.sql(f"copy (from read_csv('{whole}', all_varchar = true)) to '{tmp_path}/trips.parquet'")
    first = make(whole, out="first")
    assert public(make(parts, out="parts").out) == public(first.out)
    assert public(make(tmp_path / "trips.parquet", out="parquet").out) == public(first.out)


@pytest.mark.parametrize("threads", [1, 7])
def test_nor_the_number_of_threads(make, tmp_path, rows, monkeypatch, threads):
    file = write_csv(tmp_path / "trips.csv", rows)
    first = make(file, out="first")
    whole = reading.connect
    monkeypatch.setattr(reading, "connect", lambda *given: whole(*given, threads=threads))
    assert public(make(file, out="second").out) == public(first.out)


def test_nor_the_memory(make, tmp_path, rows, monkeypatch):
    file = write_csv(tmp_path / "trips.csv", rows)
    first = make(file, out="first")
    little = Budget(8000)
    monkeypatch.setattr(reading, "Engine", lambda asked, _, *more: Engine("parts", little, *more))
    assert public(make(file, out="second").out) == public(first.out)


def test_nor_the_moment_or_the_place(make, tmp_path, rows, monkeypatch):
    file = write_csv(tmp_path / "trips.csv", rows)
    first = make(file, out="first")
    monkeypatch.setattr(time, "time", lambda: 2e9)
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        second = make(file.rename(tmp_path / "renamed.csv"), out="somewhere/else")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert public(second.out) == public(first.out)


COMMAND = [sys.executable, "-m", "tripcloak.cli", "anonymise", "--method", "odkanon"]


def test_nor_the_hash_seed(tmp_path, rows):
    file = write_csv(tmp_path / "trips.csv", rows)
    for seed in ("1", "2"):
        subprocess.run(
            [*COMMAND, str(file), "--k", "5", "--hierarchy", "h3:9", "--out", str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.DEVNULL,
            check=True,
        )
    assert public(tmp_path / "1") == public(tmp_path / "2")


def test_but_other_trips_do_matter(make, tmp_path, rows):
    first = make(write_csv(tmp_path / "trips.csv", rows), out="first")
    second = make(write_csv(tmp_path / "fewer.csv", rows[:-1]), out="second")
    assert public(first.out) != public(second.out)
