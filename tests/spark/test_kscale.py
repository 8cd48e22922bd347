"""k-scale on Spark, block by block: the very release of one machine, whatever is lost on the way."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from tripcloak.engines.spark import spark_cluster
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.synth import Cdr
from tripcloak.trajectories.anonymise import TrajectoryReleaseRequest, make_trajectories
from tripcloak.trajectories.audit import memory, spread
from tripcloak.trajectories.methods import kscale
from tripcloak.trajectories.methods import spark as on_spark
from tripcloak.trajectories.methods.glove import TrajectoryGlove
from tripcloak.trajectories.methods.kscale import KScale
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.reading import TrajectorySource
from worlds.depth import DEEP
from worlds.spark import kill_one_at
from worlds.trajectories import made

PEOPLE = made(users=60, samples=12, seed=3, days=2, spread=20)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sixty people fill several parts, and blocks of others, and choose in few rounds."""
    monkeypatch.setattr(on_spark, "PART_SAMPLES", 200)
    monkeypatch.setattr(kscale, "ROUNDS", 4)


def assert_same(method: KScale, people: Trajectories = PEOPLE) -> None:
    alone = replace(method, device="cpu").anonymise(people)
    with spark_cluster(None) as cluster:
        found = method.on_cluster(cluster).anonymise(people)
    for name in ("offsets", "released_of", "box_of"):
        assert np.array_equal(getattr(found, name), getattr(alone, name)), name
    for name, one, other in zip(found.boxes._fields, found.boxes, alone.boxes, strict=True):
        assert np.array_equal(one, other), name
    told = "method", "promise", "grid", "facts", "parameters", "input_digest"
    assert all(repr(getattr(found, name)) == repr(getattr(alone, name)) for name in told)


@pytest.mark.parametrize(
    "method",
    [
        KScale(k=2, constraint="nu-k-pick", picking="alone", neighbours=12),
        KScale(k=3, constraint="nu-k-pick", picking="together", neighbours=20),
        KScale(k=3, constraint="k-pick", neighbours=30),
    ],
    ids=["alone", "together", "k-pick"],
)
def test_spark_makes_the_same_release(spark: Any, method: KScale) -> None:
    # Some are the same as others to the sample, and stand in different parts: ties fall alike.
    assert_same(method, PEOPLE.take(np.append(np.arange(60), np.arange(0, 60, 6))))


def test_what_is_impossible_is_said_as_on_one_machine(spark: Any) -> None:
    method = KScale(k=3, constraint="k-pick", neighbours=2)
    with spark_cluster(None) as cluster, pytest.raises(ImpossibleRequestError) as found:
        method.on_cluster(cluster).anonymise(PEOPLE)
    with pytest.raises(ImpossibleRequestError, match="everybody to pick 2 others") as here:
        method.anonymise(PEOPLE)
    assert str(found.value) == str(here.value)


def request_of(folder: Path, **asked: Any) -> TrajectoryReleaseRequest:
    """Return a request for calls of some people, in two files."""
    calls = Cdr(users=30, days=2, seed=4).table()
    for name, rows in (("a", calls.slice(0, 700)), ("b", calls.slice(700))):
        parquet.write_table(rows, folder / f"{name}.parquet")
    asked = {"method": KScale(k=2, constraint="nu-k-pick", picking="alone", neighbours=8), **asked}
    return TrajectoryReleaseRequest(source=TrajectorySource(paths=(str(folder),)), engine="spark", **asked)


def test_a_request_goes_all_the_way(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_of(tmp_path)
    here = make_trajectories(replace(request, engine=None))
    # The audit counts on the cluster too, in parts; the driver compares nobody's samples.
    monkeypatch.setattr(spread, "PART", 500)
    monkeypatch.setattr(memory, "count_supports", None)
    there = make_trajectories(request)
    assert there.audit.safe
    assert there.audit.to_dict() == here.audit.to_dict()
    assert there.measures.to_dict() == here.measures.to_dict()
    assert all(
        np.array_equal(one, other) for one, other in zip(there.release.boxes, here.release.boxes, strict=True)
    )
    assert dict(there.release.parameters) == dict(here.release.parameters)


def test_a_damaged_part_among_many_is_refused(spark: Any, tmp_path: Path) -> None:
    request = request_of(tmp_path)
    path = tmp_path / "b.parquet"
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(len(data) // 2) + data[4 + len(data) // 2 :])
    with pytest.raises(InputError, match="the file could not be read; it may be damaged"):
        make_trajectories(request)


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (KScale(k=2), "on a cluster there are constraint='nu-k-pick' and constraint='k-pick'"),
        (TrajectoryGlove(k=2), "glove works on one machine; on a cluster there is k-scale"),
        (KScale(k=2, constraint="nu-k-pick", device="gpu"), "leave out device='gpu' or engine='spark'"),
    ],
    ids=["full", "glove", "gpu"],
)
def test_what_a_cluster_cannot_do_is_refused_before_anything_is_read(method: Any, said: str) -> None:
    request = TrajectoryReleaseRequest(
        source=TrajectorySource(paths=("nowhere.csv",)), method=method, engine="spark"
    )
    with pytest.raises(InputError) as error:
        make_trajectories(request)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"engine": "parts"}, "there is no engine 'parts' for trajectories; there are: arrays, spark"),
        ({"master": "local[2]"}, "is for engine='spark'; give both or none"),
    ],
)
def test_an_engine_that_is_none_is_refused(asked: dict[str, Any], said: str) -> None:
    source = TrajectorySource(paths=("nowhere.csv",))
    with pytest.raises(InputError, match=re.escape(said)):
        make_trajectories(TrajectoryReleaseRequest(source=source, method=KScale(k=2), **asked))


@pytest.mark.skipif(not DEEP, reason="needs executors that are processes; run by make test-deep")
@pytest.mark.parametrize("stages", [2, 4, 6, 12])
def test_a_killed_executor_changes_nothing(spark: Any, stages: int) -> None:
    killed: list[int] = []
    watch = threading.Thread(target=kill_one_at, args=(spark, stages, killed))
    watch.start()
    assert_same(KScale(k=3, constraint="nu-k-pick", neighbours=20))
    watch.join()
    assert killed, "the run was over before an executor was killed"
