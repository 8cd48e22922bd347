"""Made-up call detail records as a stream: exact, repeatable, independent of blocks, and small in memory."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.synth import Cdr, write_cdr
from tripcloak.synth.laws import uniform, user_keys

SMALL = Cdr(users=120, seed=5, antennas=300)

DIGEST_SCRIPT = """
import hashlib
from tripcloak.synth import Cdr
digest = hashlib.sha256()
for batch in Cdr(users=120, seed=5, antennas=300).batches(block_users=50):
    for row in batch.to_pylist():
        digest.update(repr(row).encode())
print(digest.hexdigest())
"""


def table(cdr: Cdr, block_users: int | None = None) -> pa.Table:
    return pa.Table.from_batches(list(cdr.batches(block_users)), schema=cdr.schema).combine_chunks()


@pytest.fixture(scope="module")
def calls() -> pa.Table:
    return table(SMALL)


@pytest.mark.parametrize("block_users", [3, 50, 119, 5000])
def test_the_size_of_a_block_changes_neither_rows_nor_order(calls: pa.Table, block_users: int) -> None:
    assert table(SMALL, block_users).equals(calls)


def test_one_seed_is_one_country_on_every_machine(calls: pa.Table) -> None:
    """A second process with another hash seed and without vector instructions says the same."""
    import numpy._core._multiarray_umath as compiled  # type: ignore[import-not-found]

    vector = [name for name in compiled.__cpu_dispatch__ if compiled.__cpu_features__.get(name)]
    environment = os.environ | {"PYTHONHASHSEED": "4321", "NPY_DISABLE_CPU_FEATURES": " ".join(vector)}
    plain = subprocess.run(
        [sys.executable, "-c", DIGEST_SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    digest = hashlib.sha256()
    for row in calls.to_pylist():
        digest.update(repr(row).encode())
    assert plain.stdout.strip() == digest.hexdigest()


def test_another_seed_is_another_country(calls: pa.Table) -> None:
    other = Cdr(users=120, seed=6, antennas=300)
    assert not other.stations().equals(SMALL.stations())
    assert not set(table(other)["timestamp"].to_pylist()) & set(calls["timestamp"].to_pylist()[:50])


def test_more_users_are_added_to_the_same_ones(calls: pa.Table) -> None:
    more = table(Cdr(users=150, seed=5, antennas=300))
    assert more.slice(0, len(calls)).equals(calls)
    assert len(more["user_id"].unique()) == 150


@pytest.mark.parametrize(
    ("cdr", "names"),
    [
        (SMALL, ["user_id", "timestamp", "antenna_id", "lat", "lon"]),
        (Cdr(users=120, seed=5, antennas=300, positions=False), ["user_id", "timestamp", "antenna_id"]),
    ],
)
def test_the_columns_are_those_promised_and_full(cdr: Cdr, names: list[str], calls: pa.Table) -> None:
    found = table(cdr)
    assert found.column_names == names
    assert [found[name].null_count for name in names] == [0] * len(names)
    assert found.equals(calls.select(names))
    assert found.schema.field("timestamp").type == pa.timestamp("us", tz="UTC")


def test_a_call_lies_where_its_antenna_is(calls: pa.Table) -> None:
    stations = SMALL.stations()
    assert stations["antenna_id"].to_pylist() == list(range(300))
    antenna = calls["antenna_id"].to_numpy()
    for name in ("lat", "lon"):
        assert np.array_equal(calls[name].to_numpy(), stations[name].to_numpy()[antenna])


@pytest.mark.parametrize("days", [1, 14])
def test_calls_follow_each_other_inside_the_period(days: int) -> None:
    found = table(Cdr(users=40, samples=3000, days=days, antennas=50))
    time = found["timestamp"].to_numpy()
    user = found["user_id"].to_numpy(zero_copy_only=False)
    same = user[1:] == user[:-1]
    # Never two calls of a user in one second.
    assert (np.diff(time)[same] >= np.timedelta64(1, "s")).all()
    assert np.count_nonzero(~same) == 39
    assert time.min() >= np.datetime64("2024-09-02")
    assert time.max() < np.datetime64("2024-09-02") + np.timedelta64(days, "D")


def test_calls_are_as_many_as_asked_on_average_and_exactly_so_if_equal() -> None:
    found = table(Cdr(users=3000, samples=30, antennas=50))
    each = found["user_id"].value_counts().field("counts").to_numpy()
    assert each.size == 3000
    # Four standard errors of a mean of users who differ by about as much as they call.
    assert abs(each.mean() - 30) < 4 * 30 / np.sqrt(3000)
    assert each.min() >= 1
    assert np.percentile(each, 95) > 5 * np.percentile(each, 5)
    equal = table(Cdr(users=50, samples=30, antennas=50, equal=True))
    assert set(equal["user_id"].value_counts().field("counts").to_pylist()) == {30}


def test_one_user_with_one_call() -> None:
    assert len(table(Cdr(users=1, samples=1, days=1, antennas=2))) == 1


def test_draws_of_users_and_streams_are_even_and_unrelated() -> None:
    users = np.arange(20_000)
    one, two = uniform(user_keys(1, 0, users), 0), uniform(user_keys(1, 0, users), 1)
    other, seed = uniform(user_keys(1, 1, users), 0), uniform(user_keys(2, 0, users), 0)
    for draws in (one, two, other, seed):
        filled = np.histogram(draws, bins=20, range=(0.0, 1.0))[0]
        assert abs(filled - 1000).max() < 5 * np.sqrt(1000)
    for second in (two, other, seed, np.roll(one, 1)):
        assert abs(np.corrcoef(one, second)[0, 1]) < 4 / np.sqrt(users.size)


def test_a_file_holds_exactly_the_stream_and_the_antennas_lie_beside_it(
    tmp_path: Path, calls: pa.Table
) -> None:
    seen: list[tuple[int, int]] = []
    write_cdr(SMALL, tmp_path / "c.parquet", lambda *told: seen.append(told), stations=tmp_path / "s.parquet")
    assert pq.read_table(tmp_path / "c.parquet").equals(calls)
    assert pq.read_table(tmp_path / "s.parquet").equals(pa.Table.from_batches([SMALL.stations()]))
    assert seen == [(120, 120)]


def test_a_failed_write_leaves_neither_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_cdr(SMALL, tmp_path / "c.csv", stop, stations=tmp_path / "s.csv")
    assert list(tmp_path.iterdir()) == []

    def fail(cdr: Cdr) -> pa.RecordBatch:
        raise OSError

    monkeypatch.setattr(Cdr, "stations", fail)
    with pytest.raises(OSError):
        write_cdr(SMALL, tmp_path / "c.csv", stations=tmp_path / "s.csv")
    assert list(tmp_path.iterdir()) == []


def test_both_files_need_a_place_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found that of the calls"):
        write_cdr(SMALL, tmp_path / "c.csv", stations=tmp_path / "." / "c.csv")
    with pytest.raises(InputError, match="folder for the file does not exist"):
        write_cdr(SMALL, tmp_path / "c.csv", stations=tmp_path / "none" / "s.csv")
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_users_or_their_days() -> None:
    def peak(blocks: int, days: int) -> int:
        users = blocks * Cdr(samples=800, days=days).block_users
        tracemalloc.start()
        for _ in Cdr(users=users, samples=800, days=days, antennas=50).batches():
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    # From the second block on the one before is still in the hands of who asked for it.
    small = peak(2, days=7)
    assert peak(5, days=7) < 1.2 * small
    assert small < 150e6
    assert Cdr(samples=1, days=366).block_users < Cdr(samples=1, days=36).block_users / 9


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"users": 0}, "users: expected a whole number from 1"),
        ({"samples": 0}, "samples: expected a whole number from 1"),
        ({"samples": 9000, "days": 1}, "samples: expected a whole number from 1 to 8640"),
        ({"days": 0}, "days: expected a whole number from 1"),
        ({"seed": -1}, "seed: expected a whole number from 0"),
        ({"antennas": 1}, "antennas: expected a whole number from 2"),
        ({"radius_km": 400}, "radius_km: expected a number from 20 to 280, found 400"),
        ({"equal": "yes"}, "equal: expected True or False, found 'yes'"),
        ({"centre": 15.0}, "latitude, longitude"),
    ],
)
def test_bad_parameters_are_refused_in_clear_words(bad: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Cdr(**bad)  # type: ignore[arg-type]
