"""The engine follows from the input's size and the memory, or is asked for; the release is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from tripcloak.engines.choice import ARRAY_BYTES, Engine, expected_rows
from tripcloak.flows import resuming
from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.methods import METHODS
from tripcloak.flows.reading.coded_rows import CodedRows
from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.flows.resuming import expected_size
from tripcloak.ground.errors import InputError
from tripcloak.ground.memory import Budget
from tripcloak.promises import KAnonymity
from tripcloak.records.source import TripSource
from tripcloak.synth import City


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("city") / "trips.parquet"
    parquet.write_table(City(trips=3000, seed=5).table(), path)
    return path


def test_parts_begin_where_arrays_would_not_fit() -> None:
    engine = Engine(None, Budget(1000 * ARRAY_BYTES))
    assert (engine.for_rows(1000), engine.for_rows(1001)) == ("arrays", "parts")
    assert [replace(engine, asked=name).for_rows(5) for name in ("arrays", "parts")] == ["arrays", "parts"]


def test_a_large_input_tells_what_it_will_take(trips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = TripSource(paths=(str(trips),))
    assert expected_size(source, Engine(None, Budget(10**9))) is None
    monkeypatch.setattr(resuming, "MANY", 3000)
    told = expected_size(source, Engine(None, Budget(1000)))
    assert told is not None
    assert told.startswith("3,000 rows take about 0.0006 GB as arrays, more than the 1e-06 GB allowed")
    assert "in parts" in told


def test_rows_of_text_are_not_known_before_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text("a,b")
    (tmp_path / "broken.parquet").write_text("a,b")
    assert [expected_rows([tmp_path / name]) for name in ("trips.csv", "broken.parquet")] == [None, None]


def test_what_spark_counts_is_no_stage_of_a_run(tmp_path: Path) -> None:
    engine = Engine("parts", Budget(10**9), stages=tmp_path)
    assert engine.stage("rows") is not None
    assert replace(engine, asked="spark").stage("rows") is None


def test_a_master_is_for_spark_alone() -> None:
    with pytest.raises(InputError, match=r"master=... is for engine='spark'; give both or none"):
        Engine("parts", Budget(10**9), master="yarn")


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(InputError, match="there is no engine 'disk'; there are: arrays, parts"):
        Engine("disk", Budget(10**9))


@pytest.mark.parametrize("method", ["twincut", "nestedcut", "productcut"])
def test_every_engine_makes_the_same_release(
    trips: Path, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So little memory that rows are parted many times.
    flows = CodedRows.flows
    monkeypatch.setattr(CodedRows, "flows", lambda self, memory, *more: flows(self, 40_000, *more))
    made = {}
    for engine in ("arrays", "parts"):
        request = AnonymisationRequest(
            source=TripSource(paths=(str(trips),)),
            zoning=Zoning(spec="h3:8"),
            method=METHODS[method](promise=KAnonymity(k=5)),
            engine=engine,
            out=tmp_path / engine,
        )
        anonymise(request)
        made[engine] = (
            {path.name: path.read_bytes() for path in (tmp_path / engine / "release").iterdir()},
            (tmp_path / engine / "private" / "groups.parquet").read_bytes(),
        )
    assert made["arrays"] == made["parts"]
    assert len(made["parts"][0]) > 5


@pytest.mark.parametrize("memory", [10**9, 50_000, 5_000])
def test_flows_are_the_same_in_any_number_of_parts(
    trips: Path, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, zoning = TripSource(paths=(str(trips),)), Zoning(spec="h3:8")
    whole = read_matrix(source, zoning, repeats=True, weights=True, engine="arrays").trips.matrix.flows
    flows = CodedRows.flows
    monkeypatch.setattr(CodedRows, "flows", lambda self, _, *more: flows(self, memory, *more))
    found = read_matrix(source, zoning, repeats=True, weights=True, engine="parts").trips.matrix.flows
    for name in ("origin", "destination", "trips", "population", "repeats", "weights"):
        assert np.array_equal(getattr(found, name), getattr(whole, name)), name
    assert np.array_equal(found.travellers.offsets, whole.travellers.offsets)
    assert [len(f.travellers.people) for f in (found, whole)] == [whole.travellers.offsets[-1]] * 2
