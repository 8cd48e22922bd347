"""Measures whole runs on Spark against arrays: CPU seconds of all processes, and bytes shuffled a trip.

    python -m benchmarks.cluster --trips 20000000
    python -m benchmarks.cluster --trips 2000000,5000000 --master 'local-cluster[2,1,2048]'
    python -m benchmarks.cluster --people 10000

Every run is as in benchmarks/sizes.py. Beside it stands what starting Spark takes, with tasks that load what
they need. Releases must be the same bytes, and Spark may take 2.5 times the CPU seconds of arrays beside its
start; else exits 1. With --people it is k-scale (nu-k-pick, k = 2) of calls of so many people, on one machine
and on Spark: their releases have names of their own, so that facts and measures of both must be the same.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks import measuring

MASTER = "local-cluster[2,1,2048]"
MOST = 2.5
"""Times the CPU seconds of arrays that Spark may take beside its start."""
_SUBREAPER = 36
_TRIPCLOAK = (sys.executable, "-m", "tripcloak.cli")
_START = """
import sys
from tripcloak.engines.spark import spark_cluster
def load(plan, tasks):
    import tripcloak.flows.reading.cluster.counting
    yield from tasks
with spark_cluster(sys.argv[1]) as cluster:
    print(cluster.spread([1, 2], load, None).joined(int, max))
"""


def main(arguments: list[str]) -> int:
    """Measure, print row by row, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster")
    parser.add_argument("--trips", default="2000000", help="sizes, separated by commas")
    parser.add_argument("--people", help="numbers of people, separated by commas; instead of trips")
    parser.add_argument("--master", default=MASTER)
    asked = parser.parse_args(arguments)
    # Processes that lose their parent become ours, so that nobody's time is lost.
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    row, what = (_row, "trip") if asked.people is None else (_row_of_people, "sample")
    print(
        f"| {'trips' if asked.people is None else 'people'} | one machine CPU s | Spark's start CPU s | "
        f"Spark CPU s | times one machine | bytes shuffled a {what} | the same release |\n"
        "|--:|--:|--:|--:|--:|--:|---|",
        flush=True,
    )
    good = True
    for many in map(int, (asked.people or asked.trips).split(",")):
        with tempfile.TemporaryDirectory() as home:
            good &= row(Path(home), many, asked.master)
    return 0 if good else 1


def _row(home: Path, trips: int, master: str) -> bool:
    city = home / "city.parquet"
    measuring.run([*_TRIPCLOAK, "synth", "city", "--trips", str(trips), "--out", str(city)])
    order = [*_TRIPCLOAK, "anonymise", str(city), "--hierarchy", "h3:10", "--json"]
    arrays = _cpu_s([*order, "--engine", "arrays", "--out", str(home / "arrays")], {})
    start, spark, shuffled = _on_spark(home, order, master)
    same, times = _released(home / "arrays") == _released(home / "spark"), (spark - start) / arrays
    _print(trips, arrays, start, spark, shuffled / trips, same=same)
    return same and times <= MOST


def _row_of_people(home: Path, people: int, master: str) -> bool:
    calls = home / "calls.parquet"
    measuring.run([*_TRIPCLOAK, "synth", "cdr", "--users", str(people), "--out", str(calls)])
    order = [
        *_TRIPCLOAK,
        "trajectories",
        "anonymise",
        str(calls),
        "--method",
        "k-scale",
        "--k",
        "2",
        "--json",
    ]
    order += ["--constraint", "nu-k-pick", "--neighbours", "200"]
    told = home / "arrays.json", home / "spark.json"
    arrays = _cpu_s([*order, "--out", str(home / "arrays")], {}, told[0])
    start, spark, shuffled = _on_spark(home, order, master, told[1])
    one, other = (json.loads(path.read_text()) for path in told)
    same = all(one[name] == other[name] for name in ("facts", "measures", "released", "audit"))
    _print(people, arrays, start, spark, shuffled / one["samples"], same=same)
    return same


def _on_spark(
    home: Path, order: list[str], master: str, told: Path | None = None
) -> tuple[float, float, int]:
    """Return the CPU seconds of Spark's start and of a run on it, and the bytes that were shuffled."""
    logs = home / "logs"
    settings = _settings(home, logs)
    start = _cpu_s([sys.executable, "-c", _START, master], settings)
    for log in _logs(logs):
        log.unlink()
    asked = ["--engine", "spark", "--master", master, "--out", str(home / "spark")]
    spark = _cpu_s([*order, *asked], settings, told)
    return start, spark, sum(_shuffled(log) for log in _logs(logs))


def _print(many: int, arrays: float, start: float, spark: float, shuffled: float, *, same: bool) -> None:
    print(
        f"| {many:,} | {arrays:.0f} | {start:.0f} | {spark:.0f} | {(spark - start) / arrays:.2f} | "
        f"{shuffled:.0f} | {'yes' if same else 'NO'} |",
        flush=True,
    )


def _settings(home: Path, logs: Path) -> dict[str, str]:
    """Return the environment in which Spark notes what it does."""
    folder = home / "conf"
    folder.mkdir()
    logs.mkdir()
    lines = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": logs.as_uri(),
        "spark.local.dir": str(home),
    }
    lines |= {"spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false"}
    (folder / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
    return {"SPARK_CONF_DIR": str(folder), "SPARK_WORKER_DIR": str(home)}


def _cpu_s(command: list[str], environment: dict[str, str], told: Path | None = None) -> float:
    """Return the CPU seconds of a command and of all that came of it; what it tells goes to a file."""
    before = _spent()
    with open(told or os.devnull, "wb") as out:
        done = subprocess.run(command, stdout=out, env={**os.environ, **environment}, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed with exit code {done.returncode}")
    with suppress(ChildProcessError):
        while True:
            os.wait()
    return _spent() - before


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _logs(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _shuffled(log: Path) -> int:
    """Return the bytes that tasks wrote for others to read."""
    told = 0
    for line in log.read_text().splitlines():
        if '"SparkListenerTaskEnd"' in line and (metrics := json.loads(line).get("Task Metrics")):
            told += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    return told


def _released(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "release").iterdir()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
