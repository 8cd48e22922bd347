"""A made-up city on disk: whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.synth import City, write_city
from tripcloak.synth.city import BLOCK_TRIPS


class StopError(Exception):
    """Stands for anything that goes wrong half-way."""


def test_the_file_holds_exactly_the_stream(tmp_path: Path) -> None:
    city = City(trips=BLOCK_TRIPS + 1000, seed=3)
    path = tmp_path / "city.parquet"
    seen: list[tuple[int, int]] = []
    write_city(city, path, progress=lambda done, total: seen.append((done, total)))
    assert pq.read_table(path).equals(pa.Table.from_batches(list(city.batches())))
    assert [entry.name for entry in tmp_path.iterdir()] == ["city.parquet"]
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert seen[-1] == (city.trips, city.trips)


@pytest.mark.parametrize("problem", [StopError, KeyboardInterrupt, OSError])
def test_a_failed_write_leaves_nothing(tmp_path: Path, problem: type[BaseException]) -> None:
    there: list[int] = []

    def stop(done: int, total: int) -> None:
        there.append(len(list(tmp_path.iterdir())))
        raise problem

    with pytest.raises(problem):
        write_city(City(trips=2 * BLOCK_TRIPS), tmp_path / "city.parquet", progress=stop)
    assert there == [1]
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "city.parquet"
    write_city(City(trips=100), path)
    before = path.read_bytes()

    def stop(done: int, total: int) -> None:
        raise StopError

    with pytest.raises(StopError):
        write_city(City(trips=200), path, progress=stop)
    assert path.read_bytes() == before
    write_city(City(trips=200), path)
    assert pq.read_metadata(path).num_rows == 200


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder for the file does not exist"):
        write_city(City(trips=10), tmp_path / "nowhere" / "city.parquet")
    with pytest.raises(InputError, match="found a folder"):
        write_city(City(trips=10), tmp_path)
