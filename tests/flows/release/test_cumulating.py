"""Cumulative numbers of a series, from tables of flows written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.release.cumulating import adds_up, cumulative_table
from tripcloak.ground.errors import InputError

POINTS = {f"{axis}_{side}": 1.5 for axis in ("origin", "destination") for side in ("lat", "lon")}


def written(place: Path, rows: list[dict[str, Any]]) -> Path:
    public = place / "release"
    public.mkdir(parents=True)
    parquet.write_table(pa.Table.from_pylist(rows), public / "flows.parquet")
    (public / "manifest.json").write_text("{}")
    return place


def flow(origin: str, destination: str, trips: int, **more: Any) -> dict[str, Any]:
    return {"origin": origin, "destination": destination, "trips": trips, **more}


def test_every_period_adds_its_numbers_and_a_flow_may_be_missing_in_one(tmp_path: Path) -> None:
    periods = {
        "march": [flow("b", "a", 5, travellers=4, population=50, **POINTS)],
        "april": [
            flow("b", "a", 7, travellers=4, population=70, **POINTS),
            flow("a", "b", 3, travellers=3, population=30, **POINTS),
        ],
        "may": [flow("a", "b", 1, travellers=1, population=10, **POINTS)],
    }
    table = cumulative_table({name: written(tmp_path / name, rows) for name, rows in periods.items()})
    assert table.column_names == ["until", "origin", "destination", "trips", "population", "periods"]
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        ("march", "b", "a", 5, 50, 1),
        ("april", "a", "b", 3, 30, 1),
        ("april", "b", "a", 12, 120, 2),
        ("may", "a", "b", 4, 40, 2),
        ("may", "b", "a", 12, 120, 2),
    ]


def test_flows_by_time_stay_apart_and_what_only_a_later_period_tells_is_left_out(tmp_path: Path) -> None:
    first = written(tmp_path / "1", [flow("a", "b", 5, time="n"), flow("a", "b", 2, time="m")])
    second = written(
        tmp_path / "2", [flow("a", "b", 1, time="n", population=9, origin_name="A", destination_name="B")]
    )
    table = cumulative_table({"1": first, "2": second / "release"})
    assert table.column_names == ["until", "time", "origin", "destination", "trips", "periods"]
    assert [(row["until"], row["time"], row["trips"], row["periods"]) for row in table.to_pylist()] == [
        ("1", "m", 2, 1),
        ("1", "n", 5, 1),
        ("2", "m", 2, 1),
        ("2", "n", 6, 2),
    ]


def test_one_period_is_what_it_published(tmp_path: Path) -> None:
    table = cumulative_table({"may": written(tmp_path, [flow("a", "b", 3, travellers=2)])})
    assert table.to_pylist() == [
        {"until": "may", "origin": "a", "destination": "b", "trips": 3, "periods": 1},
    ]


def test_travellers_never_add_up() -> None:
    assert adds_up(["trips", "travellers", "population"]) == ["trips", "population"]
    with pytest.raises(InputError, match="may travel in the next"):
        adds_up(["travellers"])
