"""Where the audit of trajectories cannot look, a rule has failed: every such place, on stand-ins."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import BrokenPart, NotPromised
from tripcloak.trajectories.audit import memory
from tripcloak.trajectories.audit.evidence import TrajectoryEvidence
from tripcloak.trajectories.audit.folder import NoInput
from tripcloak.trajectories.audit.promise import Stated
from tripcloak.trajectories.audit.rules import files, manifest, samples
from tripcloak.trajectories.audit.rules.files import SampleRow

COLOCATION = Stated("colocation", k=2, delta=1.0)
MADE_UP = Stated("differential privacy of trajectories", epsilon=1.0)
PRESENCE = Stated("presence", k=2)


@pytest.mark.parametrize("left_out", [None, "x", ["a.json"], ["trajectories.mfjson", "trajectories.geojson"]])
def test_only_some_files_may_be_left_out_in_their_order(left_out: Any) -> None:
    def of(told: Any) -> set[str]:
        case: Any = SimpleNamespace(facts={"left_out": told})
        return files.expected_files(case)

    assert len(of([])) - len(of(["trajectories.geojson"])) == 1
    assert of(["trajectories.geojson", "trajectories.mfjson"]) == files.FILES | {"samples.csv"}
    assert of(["samples.csv", "trajectories.geojson", "trajectories.mfjson"]) == files.FILES
    with pytest.raises(BrokenPart, match="'left_out' must name files"):
        of(left_out)


@pytest.mark.parametrize(("east", "parts"), [(179.5, 1), (180.0, 1), (180.000001, 2), (181.0, 2)])
def test_a_box_goes_on_past_the_meridian_from_180_degrees_on(east: float, parts: int) -> None:
    told = json.loads(files._box(SampleRow("n", "a", "b", 179.0, 1.0, east, 2.0)))["geometry"]
    rings = told["coordinates"] if parts == 1 else [ring for (ring,) in told["coordinates"]]
    assert (told["type"], len(rings)) == ("Polygon" if parts == 1 else "MultiPolygon", parts)
    first = rings[0]
    assert [point[0] for point in first] == [179.0, min(east, 180.0), min(east, 180.0), 179.0, 179.0]
    assert [point[1] for point in first] == [1.0, 1.0, 2.0, 2.0, 1.0]
    if parts == 2:
        assert sorted({point[0] for point in rings[1]}) == [-180.0, round(east - 360, 6)]


def guessed(people: int, blind: Any, right: Any) -> Any:
    case: Any = SimpleNamespace(
        manifest=SimpleNamespace(promise=Stated("containment", k=2)),
        facts={"guess": dict(zip(manifest.INNER["guess"], (0, 0, 0), strict=False))},
        spans=SimpleNamespace(offsets=np.arange(people + 1)),
    )
    case.facts["guess"] |= {"people": people, "blind": blind, "right": right}
    return manifest.guess_told_safely(case)


@pytest.mark.parametrize(
    ("people", "blind", "right", "fine"),
    [
        (100, 0, 100, True),
        (100, 7, 7, True),
        (100, 8, 7, False),
        (100, -1, 7, False),
        (100, 7, 101, False),
        (100, 7.0, 8, False),
        (100, 7, None, False),
        (99, 10, 20, True),
        (99, 10, 21, False),
        (99, 11, 20, False),
        (10, 10, 20, True),
        (9, None, None, True),
        (9, 10, 20, False),
        (9, None, 20, False),
    ],
)
def test_a_guess_is_whole_numbers_of_a_hundred(people: int, blind: Any, right: Any, fine: bool) -> None:
    assert (guessed(people, blind, right) is None) is fine


def mapped(
    *pairs: tuple[str, str | None], users: Any = ("u", "v"), names: Any = ("a", "b"), parted: bool = False
) -> Any:
    case: Any = SimpleNamespace(
        table="samples",
        manifest=SimpleNamespace(promise=SimpleNamespace(parted=parted)),
        tracks=SimpleNamespace(users=users),
        fetch=lambda sql: [(name,) for name in names],
        _mapping=lambda dummies=False: [] if dummies else list(pairs),
    )
    return TrajectoryEvidence.whose.func(case).tolist()


def test_the_mapping_names_everybody_and_every_trajectory_once() -> None:
    assert mapped(("u", "b"), ("v", "a")) == [1, 0]
    assert mapped(("u", "b"), ("v", None), names=("b",)) == [0]
    assert mapped(("u", "a"), ("u", "b"), ("v", None), parted=True) == [0, 0]
    for pairs in ([("u", "a")], [("u", "a"), ("u", "b")], [("u", "a"), ("v", "b"), ("w", None)]):
        with pytest.raises(BrokenPart, match="the people of the input"):
            mapped(*pairs)
    for pairs in ([("u", "a"), ("v", "a")], [("u", "a"), ("v", None)], [("u", "a"), ("v", "c")]):
        with pytest.raises(BrokenPart, match="the released trajectories"):
            mapped(*pairs)


def test_without_a_mapping_the_order_cannot_be_checked(tmp_path: Path) -> None:
    promise = SimpleNamespace(profile=None)
    case: Any = SimpleNamespace(folder=tmp_path, manifest=SimpleNamespace(promise=promise))
    with pytest.raises(BrokenPart, match="is missing, so the order"):
        TrajectoryEvidence._mapping(case)


def test_a_grid_that_nobody_can_read_again_is_not_checked() -> None:
    def grid() -> Any:
        raise InputError("too wide")

    case: Any = SimpleNamespace(manifest=None, tracks=object(), raw=SimpleNamespace(grid=grid))
    with pytest.raises(BrokenPart, match="no one projection serves the input"):
        manifest.grid_of_the_input(case)


@pytest.mark.parametrize(
    ("rule", "promises"),
    [
        (samples.support_reaches_k, (MADE_UP,)),
        (samples.two_sided_support_reaches_k, (MADE_UP, COLOCATION, PRESENCE)),
        (samples.nobody_alone, (MADE_UP, COLOCATION, PRESENCE)),
        (samples.raw_record_reaches_k, (MADE_UP, COLOCATION, PRESENCE)),
        (samples.boxes_hold_k, (MADE_UP, COLOCATION)),
        (samples.m_samples_reach_k, (MADE_UP, COLOCATION, PRESENCE)),
        (manifest.order_tells_nothing, (MADE_UP,)),
    ],
)
def test_what_is_not_promised_is_not_looked_for(rule: Any, promises: Any) -> None:
    for promise in promises:
        case: Any = SimpleNamespace(manifest=SimpleNamespace(promise=promise))
        assert isinstance(rule(case), NotPromised)
        within: Any = SimpleNamespace(promise=promise)
        if (twin := getattr(memory, rule.__name__, None)) is not None:
            assert isinstance(twin(within), NotPromised)


def evidence(place: Path, table: pa.Table | None) -> TrajectoryEvidence:
    case = object.__new__(TrajectoryEvidence)
    (place / "release").mkdir(exist_ok=True)
    if table is not None:
        parquet.write_table(table, place / "release" / "samples.parquet")
    vars(case).update(con=duckdb.connect(), folder=place, facts={}, columns={"trajectory": "VARCHAR"})
    return case


def test_samples_have_their_columns_and_rows_without_gaps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module(TrajectoryEvidence.__module__)
    monkeypatch.setattr(module, "COLUMNS", {"trajectory": "VARCHAR"})
    monkeypatch.setattr(TrajectoryEvidence, "public", lambda case, name: case.folder / "release" / name)
    for table, words in (
        (None, "is missing"),
        (pa.table({"other": ["a"]}), "lacks a column"),
        (pa.table({"trajectory": ["a"], "other": ["a"]}), "or has others"),
        (pa.table({"trajectory": ["a", None]}), "empty cells"),
        (pa.table({"trajectory": pa.array([], pa.string())}), "nothing is released"),
    ):
        with pytest.raises(BrokenPart, match=words):
            assert evidence(tmp_path, table).table
    assert evidence(tmp_path, pa.table({"trajectory": ["a"]})).table == "audit_samples"


def test_a_projection_that_is_none_cannot_be_used(tmp_path: Path) -> None:
    case = evidence(tmp_path, None)
    vars(case).update(manifest=SimpleNamespace(projection="+proj=nothing"))
    with pytest.raises(BrokenPart, match="the projection is none"):
        case.project(np.zeros(1), np.zeros(1))


def test_without_the_raw_data_nothing_of_it_is_read() -> None:
    with pytest.raises(BrokenPart, match="without the raw data"):
        NoInput().fixes()


def test_boxes_that_are_not_whole_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    broken: list[str | None] = ["a released box has no extent"]
    monkeypatch.setattr(memory, "shape_faults", lambda release: broken[0])
    release = SimpleNamespace(boxes=SimpleNamespace(), promise=None)
    case: Any = memory.Arrays(SimpleNamespace(), release)  # type: ignore[arg-type]
    vars(case).update(promise=COLOCATION)
    for ask in (case.sides, lambda: case.companions):
        with pytest.raises(BrokenPart, match="not whole"):
            ask()
    broken[0] = None
    vars(case).update(promise=PRESENCE)
    with pytest.raises(BrokenPart, match="not whole"):
        assert case.companions


def test_what_cannot_be_written_anew_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    path.write_bytes(b"ab")

    def refuse(sink: Any) -> None:
        raise OSError("no room")

    with pytest.raises(BrokenPart, match="holds other values"):
        files._writes_the_same(path, refuse)
    assert files._writes_the_same(path, lambda sink: sink.write(b"ab"))
    assert not files._writes_the_same(path, lambda sink: sink.write(b"a"))
    assert not files._writes_the_same(path, lambda sink: sink.write(b"ax"))


def test_a_table_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    case: Any = SimpleNamespace(public=lambda name: tmp_path / name)
    with pytest.raises(BrokenPart, match=r"^release/samples\.parquet is missing$"):
        TrajectoryEvidence._require(case, "samples.parquet")
    (tmp_path / "samples.parquet").touch()
    TrajectoryEvidence._require(case, "samples.parquet")
