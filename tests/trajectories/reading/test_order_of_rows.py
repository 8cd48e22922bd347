"""Rows in any order, in any number of files, of any kind, make the same trajectories."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from worlds.fix_lines import HEADER, NOON, told

Row = tuple[str, int, float, float]

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["10", "9", "b", "B", "é", "77"]),
        st.integers(0, 4000),
        st.sampled_from([(48.85, 2.35), (48.8501, 2.35), (48.8509, 2.36), (51.0, 9.0), (0.0, 0.0)]),
    ).map(lambda drawn: (drawn[0], drawn[1], *drawn[2])),
    min_size=1,
    max_size=40,
)
ANCHORS: list[Row] = [(user, 5, 48.85, 2.35) for user in ("10", "b", "é")]


def read(folder: Path, parts: list[list[Row]], kind: str) -> tuple[Any, ...]:
    paths = []
    for number, rows in enumerate(parts):
        path = folder / f"{number}.{kind}"
        if kind == "csv":
            lines = [HEADER, *(f"{user},{NOON + t},{lat},{lon}" for user, t, lat, lon in rows)]
            path.write_text("\n".join(lines), encoding="utf-8")
        else:
            user, t, lat, lon = (list(column) for column in zip(*rows, strict=True))
            columns = {"user_id": user, "timestamp": [NOON + one for one in t], "lat": lat, "lon": lon}
            pq.write_table(pa.table(columns), path)
        paths.append(str(path))
    reading = read_trajectories(TrajectorySource(paths=tuple(paths)))
    return *told(reading.trajectories), dict(reading.cleaning.dropped), dict(reading.facts)


@settings(max_examples=15)
@given(ROWS, st.randoms(use_true_random=False), st.integers(1, 3))
def test_order_and_files_make_no_difference(rows: list[Row], draw: random.Random, files: int) -> None:
    whole = [*ANCHORS, *rows]
    mixed = whole.copy()
    draw.shuffle(mixed)
    parts = [part for part in (mixed[number::files] for number in range(files)) if part]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        assert read(Path(one), [whole], "csv") == read(Path(other), parts, "parquet")


def test_numbers_and_text_are_the_same_ids(tmp_path: Path) -> None:
    columns = {"timestamp": [NOON] * 3, "lat": [48.85, 48.86, 48.87], "lon": [2.35] * 3}
    for name, ids in (("number", [10, 9, 100]), ("text", ["10", "9", "100"])):
        pq.write_table(pa.table({"user_id": ids, **columns}), tmp_path / f"{name}.parquet")
    number, text = (
        read_trajectories(TrajectorySource(paths=(str(tmp_path / f"{name}.parquet"),))).trajectories
        for name in ("number", "text")
    )
    assert told(number) == told(text)
    assert number.users.tolist() == ["10", "100", "9"]


def test_samples_of_one_step_of_time_are_ordered_by_place(tmp_path: Path) -> None:
    path = tmp_path / "fixes.csv"
    # By instant these go east, west, east; in one minute only the place decides.
    rows = [("a", 0, 2.37), ("a", 10, 2.35), ("a", 20, 2.36), ("a", 70, 2.30), ("b", 0, 2.35)]
    path.write_text("\n".join([HEADER, *(f"{user},{NOON + t},48.85,{lon}" for user, t, lon in rows)]))
    made = read_trajectories(TrajectorySource(paths=(str(path),))).trajectories
    x = made.x[:4].tolist()
    assert x[:3] == sorted(x[:3])
    assert x[3] < x[0]
