"""A real Spark on this machine: two threads, in a deep run two executors that are processes."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from worlds.depth import DEEP

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


def why_no_spark() -> str | None:
    """Return why Spark cannot be started here; None where it can."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "there is no PySpark (extra spark)"
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        return "there is no Java, which Spark runs on"
    return None


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Give the Spark context that all tests share."""
    if reason := why_no_spark():
        pytest.skip(f"not tried on Spark: {reason}")
    from pyspark import SparkConf, SparkContext

    room = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_WORKER_DIR"] = str(room)
    settings = {
        "spark.master": "local-cluster[2,1,1024]" if DEEP else "local[2]",
        "spark.app.name": "tests",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(room),
        "spark.driver.host": "localhost",
        # Tests are short: compiling thoroughly costs more than it saves, and so do many threads for garbage.
        "spark.driver.extraJavaOptions": JAVA,
        "spark.executor.extraJavaOptions": JAVA,
        "spark.executor.memory": "512m",
        "spark.python.daemon.module": "worlds.spark_workers",
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[1]),
    }
    with SparkContext(conf=SparkConf().setAll(list(settings.items()))) as context:
        context.setLogLevel("OFF")
        yield context


def executors() -> list[psutil.Process]:
    """Return the processes of Spark's executors below this one."""
    below = psutil.Process().children(recursive=True)
    found = []
    for one in below:
        with suppress(psutil.NoSuchProcess):
            found += [one] if "CoarseGrainedExecutorBackend" in " ".join(one.cmdline()) else []
    return found


def kill_one_at(context: Any, stages: int, killed: list[int]) -> None:
    """Kill an executor while the last of so many stages runs."""
    seen: set[int] = set()
    for _ in range(6000):
        seen |= set(context.statusTracker().getActiveStageIds())
        if len(seen) >= stages:
            victim = executors()[0]
            killed.append(victim.pid)
            victim.kill()
            return
        time.sleep(0.02)
