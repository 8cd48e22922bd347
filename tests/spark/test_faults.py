"""What happens to a run whose machines fail: a lost executor changes nothing, no error quotes data."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tripcloak.engines.spark import spark_cluster
from tripcloak.flows.reading.cluster import dealing, reading
from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.ground.errors import InputError
from tripcloak.records.source import TripSource
from tripcloak.synth import City
from worlds.depth import DEEP
from worlds.spark import kill_one_at


@pytest.mark.skipif(not DEEP, reason="needs executors that are processes; run by make test-deep")
@pytest.mark.parametrize("stages", [1, 3, 4])
def test_a_killed_executor_changes_nothing(
    spark: Any, tmp_path: Path, stages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "TASK_ROWS", 2000)
    monkeypatch.setattr(dealing, "PART_ROWS", 2000)
    parquet.write_table(City(trips=30_000, seed=3).table(), tmp_path / "city.parquet", row_group_size=2000)
    source, zoning = TripSource(paths=(str(tmp_path),)), Zoning(spec="h3:8")
    whole = read_matrix(source, zoning, engine="arrays").trips
    killed: list[int] = []
    watch = threading.Thread(target=kill_one_at, args=(spark, stages, killed))
    watch.start()
    found = read_matrix(source, zoning, engine="spark").trips
    watch.join()
    assert killed, "the run was over before an executor was killed"
    assert found.matrix.digest() == whole.matrix.digest()
    assert found.cleaning.to_dict() == whole.cleaning.to_dict()


def test_an_error_on_the_cluster_quotes_nothing(spark: Any) -> None:
    # Sent to the executors as it stands: they do not have this module.
    def raise_what_is_secret(plan: Any, tasks: Any) -> Any:
        raise ValueError("person 4711 was at 48.8566")
        yield

    with pytest.raises(InputError, match="Spark gave up") as error, spark_cluster(None) as cluster:
        cluster.spread([1], raise_what_is_secret, None).joined(str, max)
    assert "4711" not in str(error.value)
    assert error.value.__cause__ is None


def test_without_a_master_it_is_said_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark", reason="there is no PySpark (extra spark)")
    monkeypatch.setattr(pyspark.SparkContext, "_active_spark_context", None)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setenv("JAVA_HOME", "/somewhere")
    with pytest.raises(InputError, match=r"give master='local\[2\]' for this machine"), spark_cluster(None):
        pass
