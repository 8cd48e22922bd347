"""Numbers and times as they are written: what a cell becomes, and how far anybody looks before deciding."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tripcloak.ground.errors import InputError
from tripcloak.records.files import writing
from tripcloak.records.source import TripSource
from worlds.trip_readings import ReadPaths, WriteText

HEADER = "o;d;started_at;weight\n"


def lines(*cells: tuple[str, str]) -> str:
    return HEADER + "".join(f"A;B;{time};{weight}\n" for time, weight in cells)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1.5", "2"], [1.5, 2.0]),
        (["1,5", "2"], [1.5, 2.0]),
        (["1,5", "2.25"], [1.5, 2.25]),
        (["1.234,5", "2"], [1234.5, 2.0]),
        (["1,234.5", "12"], [12.0, 1234.5]),
        (["1 234,5", "2"], [2.0, 1234.5]),
        (["1'234.5", "2"], [2.0, 1234.5]),
        # What fits no way of writing is no number, and never a wrong one.
        (["1,234.5", "0,5"], [1234.5]),
        (["1.234,5", "1.5", "2"], [1.5, 2.0]),
        (["1.234", "0.5"], [0.5, 1.234]),
    ],
)
def test_numbers(cells: list[str], numbers: list[float], write_text: WriteText, read: ReadPaths) -> None:
    text = lines(*(("2024-05-01 08:30", cell) for cell in cells))
    result = read(write_text("a.csv", text))
    found = [weight for weight, reason in result.rows("weight, reason") if reason == 0]
    assert sorted(found) == sorted(numbers)
    assert len(found) + result.report.dropped.get("unparsable", 0) == len(cells)


@pytest.mark.parametrize(
    ("cells", "times"),
    [
        (["4/1/2020 0:00", "4/13/2020 8:05"], ["2020-04-01 00:00", "2020-04-13 08:05"]),
        (["4/1/2020 0:00", "13/4/2020 8:05"], ["2020-01-04 00:00", "2020-04-13 08:05"]),
        (["4-1-2020", "13-4-2020"], ["2020-01-04 00:00", "2020-04-13 00:00"]),
        (["4.1.2020 7:05", "3.1.2020 7:05"], ["2020-01-03 07:05", "2020-01-04 07:05"]),
        (["4/13/2020 12:05 AM", "4/13/2020 1:05 PM"], ["2020-04-13 00:05", "2020-04-13 13:05"]),
        (["1 April 2020", "2020-04-02 08:30"], ["2020-04-01 00:00", "2020-04-02 08:30"]),
        (["20200401", "20200402"], ["2020-04-01 00:00", "2020-04-02 00:00"]),
        (["1585699200", "1585785600"], ["2020-04-01 00:00", "2020-04-02 00:00"]),
        (["2020-04-01 08:30:00,500"], ["2020-04-01 08:30"]),
    ],
)
def test_times(cells: list[str], times: list[str], write_text: WriteText, read: ReadPaths) -> None:
    result = read(write_text("a.csv", lines(*((cell, "1") for cell in cells))))
    found = result.rows("strftime(start_time, '%Y-%m-%d %H:%M')")
    assert sorted(time for (time,) in found) == times


def test_a_file_whose_top_is_of_one_day_is_read_further(
    write_text: WriteText, read: ReadPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "ROWS_LOOKED_AT", 20)
    text = lines(*[("4/1/2020 0:00", "1")] * 30, ("4/13/2020 0:00", "1"))
    path = write_text("a.csv", text)
    assert {day for (day,) in read(path).rows("strftime(start_time, '%m-%d')")} == {"04-01", "04-13"}
    monkeypatch.setattr(writing, "ROWS_TO_SETTLE", 30)
    with pytest.raises(InputError, match="may begin with the day or with the month"):
        read(path)


def test_what_was_said_is_written_down_and_read_again(tmp_path: Path) -> None:
    source = TripSource(paths=("a.csv",), time_format=("%d/%m/%Y",), decimal="comma", encoding="latin-1")
    assert TripSource.from_dict(source.to_dict()) == source
    with pytest.raises(InputError, match="must be point or comma"):
        TripSource(paths=("a.csv",), decimal="dot")  # type: ignore[arg-type]


def test_files_of_one_header_may_write_times_in_different_ways(
    write_text: WriteText, read: ReadPaths, tmp_path: Path
) -> None:
    write_text("a.csv", lines(("2020-04-01 08:30", "1")))
    write_text("b.csv", lines(("4/13/2020 8:30", "1")))
    found = read(tmp_path).rows("start_time::TIMESTAMP")
    assert sorted(time for (time,) in found) == [datetime(2020, 4, 1, 8, 30), datetime(2020, 4, 13, 8, 30)]
