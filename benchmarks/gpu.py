"""k-scale on a GPU: the same releases as by processors, and what a million people take, Parquet to Parquet.

Needs an NVIDIA GPU, CuPy, numba and pyarrow, and nothing else of what tripcloak builds on:

    PYTHONPATH=src python -m benchmarks.gpu --check 5000 --users 1000000 --out table.md

With `--device cpu` processors do it alone, and neither GPU nor CuPy is needed.

Reading and writing are this file's own, in threads over parts: pyarrow in and out, steps of the grid from
plain metres around the made-up country's centre. What is measured in between is what `--device gpu` runs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

import numpy as np

from tripcloak.ground.threads import blocks, in_threads, processors
from tripcloak.synth.cdr import Cdr
from tripcloak.synth.records import METRES_A_DEGREE
from tripcloak.trajectories.audit.memory import audit_release
from tripcloak.trajectories.methods import gpu
from tripcloak.trajectories.methods.glove import TrajectoryGlove
from tripcloak.trajectories.methods.kscale import KScale
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.published import PublishedTrajectories, under_pseudonyms
from tripcloak.trajectories.release.release import TrajectoryRelease

GRID = Grid(seconds=60, metres=100)
ASKED = ((2, 200, 60.0), (10, 1000, 180.0))
"""k, neighbours, and the seconds that a million people may take."""

MANY = 1_000_000
PART = 16_384
"""People of a part of the input."""


def make_calls(users: int, folder: Path) -> list[Path]:
    """Write the calls of `synth cdr --users N` as parts, a process a core, and return the parts."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [(first, min(first + PART, users), folder) for first in range(0, users, PART)]
    with ProcessPoolExecutor(processors()) as pool:
        return list(pool.map(_make_part, parts))


def _make_part(asked: tuple[int, int, Path]) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    first, last, folder = asked
    path = folder / f"calls-{first // PART:05d}.parquet"
    if not path.exists():
        table = pa.Table.from_batches(Cdr(users=last).batches(first=first))
        parquet.write_table(table.select(["user_id", "timestamp", "lat", "lon"]), path, compression="zstd")
    return path


def read_calls(parts: list[Path]) -> Trajectories:
    """Return the trajectories of parts; each part holds all calls of its people."""
    found = list(in_threads(_read_part, parts, processors()))
    users, lengths, *columns = zip(*found, strict=True)
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    t, x, y = map(np.concatenate, columns)
    return Trajectories(grid=GRID, offsets=offsets, t=t, x=x, y=y, users=np.concatenate(users))


def _read_part(path: Path) -> tuple[Any, ...]:
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.ParquetFile(path).read(use_threads=False).combine_chunks()
    people = table["user_id"].combine_chunks().dictionary_encode()
    lat0, lon0 = Cdr().centre
    x = (table["lon"].to_numpy() - lon0) * METRES_A_DEGREE * np.cos(np.radians(lat0))
    y = (table["lat"].to_numpy() - lat0) * METRES_A_DEGREE
    steps = GRID.steps(seconds=table["timestamp"].cast(pa.int64()).to_numpy() // 1_000_000, x=x, y=y)
    # People, times and places in one number each: one sort orders samples, and equal ones are one sample.
    lows = [int(column.min()) for column in steps]
    spans = [int(column.max()) - low + 1 for column, low in zip(steps, lows, strict=True)]
    key = people.indices.to_numpy().astype(np.int64)
    for column, low, span in zip(steps, lows, spans, strict=True):
        key = key * span + (column - low)
    key.sort()
    key = key[np.concatenate(([True], key[1:] != key[:-1]))]
    columns = []
    for low, span in reversed(list(zip(lows, spans, strict=True))):
        key, column = np.divmod(key, span)
        columns.append((column + low).astype(np.int32))
    names = np.array(people.dictionary.to_pylist())
    return names, np.bincount(key, minlength=len(names)), *reversed(columns)


def write_release(release: TrajectoryRelease, folder: Path) -> int:
    """Write the samples of a release under pseudonyms, in metres, as parts; return their bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    published, _, _ = under_pseudonyms(release)
    parts = [(published, part, folder) for part in blocks(published.n_released, 4 * PART)]
    return sum(in_threads(_write_part, parts, processors()))


def _write_part(asked: tuple[PublishedTrajectories, slice, Path]) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    published, part, folder = asked
    offsets, grid = published.offsets[part.start : part.stop + 1], published.grid
    rows = slice(int(offsets[0]), int(offsets[-1]))
    owner = np.repeat(np.arange(part.stop - part.start, dtype=np.int32), np.diff(offsets))
    boxes = [side[rows] for side in published.boxes]
    names = pa.DictionaryArray.from_arrays(owner, pa.array(published.pseudonyms[part]))
    columns = {"trajectory": names}
    for name, side in zip(("t_start", "t_end"), boxes[:2], strict=True):
        columns[name] = pa.array(grid.times(side), pa.timestamp("s", tz="UTC"))
    for name, side in zip(("x_min", "x_max", "y_min", "y_max"), boxes[2:], strict=True):
        columns[name] = pa.array(grid.places(side))
    path = folder / f"samples-{part.start:09d}.parquet"
    parquet.write_table(pa.table(columns), path, compression="zstd", store_schema=False)
    return path.stat().st_size


@dataclass
class Clock:
    """Seconds by stage, and by loop of the GPU."""

    stages: dict[str, float] = field(default_factory=dict)
    loops: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of a block."""
        started = time.perf_counter()
        yield
        self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - started

    def progress(self) -> Any:
        """Return a progress callback that counts the time between one kind of report and the next."""
        last, told = [time.perf_counter()], [time.perf_counter()]

        def report(what: str, done: int, total: int | None) -> None:
            now = time.perf_counter()
            self.loops[f"until {what}"] = self.loops.get(f"until {what}", 0.0) + now - last[0]
            last[0] = now
            if now > told[0] + 10:
                told[0] = now
                print(
                    what,
                    done,
                    total,
                    {name: round(spent, 2) for name, spent in self.loops.items()},
                    flush=True,
                )

        return report


def watch_loops(clock: Clock) -> None:
    """Let every launch of a loop be timed: it is waited for."""
    kind = gpu._Cuda
    plain = kind.launch

    def launch(self: Any, kernel: str, threads: int, *given: Any, **how: Any) -> None:
        self.arrays.cuda.Device().synchronize()
        started = time.perf_counter()
        plain(self, kernel, threads, *given, **how)
        self.arrays.cuda.Device().synchronize()
        clock.loops[kernel] = clock.loops.get(kernel, 0.0) + time.perf_counter() - started

    kind.launch = launch  # type: ignore[method-assign]


def check(users: int, folder: Path) -> Iterator[str]:
    """Yield whether releases of some people are the same on both devices."""
    people = read_calls(make_calls(users, folder))
    some = people.take(np.arange(min(users, 1000)))
    nu = {"constraint": "nu-k-pick"}
    methods: list[tuple[TrajectoryMethod, Trajectories]] = [
        (KScale(k=2, neighbours=200, **nu), people),
        (KScale(k=10, neighbours=500, **nu), some),
        (KScale(k=5, neighbours=200, picking="alone", **nu), people),
        (TrajectoryGlove(k=2), some),
    ]
    for method, of in methods:
        seconds, processor, made = {}, {}, {}
        for device in ("cpu", "gpu"):
            started, spent = time.perf_counter(), time.process_time()
            made[device] = replace(method, device=device).anonymise(of)  # type: ignore[call-arg]
            seconds[device] = time.perf_counter() - started
            processor[device] = time.process_time() - spent
        cpu, other = made["cpu"], made["gpu"]
        same = all(
            np.array_equal(a, b)
            for a, b in zip(
                (cpu.offsets, *cpu.boxes, cpu.box_of),
                (other.offsets, *other.boxes, other.box_of),
                strict=True,
            )
        )
        how = " ".join(str(method.parameters().get(name, "")) for name in ("constraint", "picking"))
        what = f"{method.name} {how}, k = {method.k}"
        yield (
            f"{what}, {of.n_users:,} people: {'the same' if same else 'DIFFERENT'} "
            f"(cpu {seconds['cpu']:.1f} s, {processor['cpu']:.0f} of all processors, "
            f"gpu {seconds['gpu']:.1f} s, compiling included)"
        )


def warm_up(folder: Path, *, audit: bool, device: str) -> None:
    """Let everything be compiled, by numba or for the GPU as well: a machine does that once."""
    started = time.perf_counter()
    few = read_calls(make_calls(500, folder))
    for k in (2, 3):
        method = KScale(k=k, neighbours=100, constraint="nu-k-pick", device=device)
        release = method.anonymise(few)
        if audit:
            audit_release(few, release)
        print(f"compiled for k = {k} in {time.perf_counter() - started:.1f} s", flush=True)


def run(
    parts: list[Path], k: int, neighbours: int, folder: Path, *, audit: bool, clock: Clock, device: str
) -> dict[str, Any]:
    """Return the seconds of each stage of a release, Parquet to Parquet."""
    method = KScale(k=k, neighbours=neighbours, constraint="nu-k-pick", device=device)
    spent = time.process_time()
    with clock.stage("read"):
        people = read_calls(parts)
    with clock.stage("solve"):
        release = method.anonymise(people, clock.progress())
    with clock.stage("write"):
        size = write_release(release, folder)
    found = {
        "users": people.n_users,
        "samples": people.n_samples,
        "k": k,
        "neighbours": neighbours,
        "boxes": release.n_boxes,
        "megabytes": size / 1e6,
        "sets": release.facts["sets"],
        **clock.stages,
        "total": sum(clock.stages.values()),
        "processors": time.process_time() - spent,
    }
    if audit:
        spent = time.process_time()
        with clock.stage("audit"):
            verdict = audit_release(people, release)
        found |= {"audit": clock.stages["audit"], "safe": verdict.safe, "smallest": verdict.smallest_support}
        found["audit_processors"] = time.process_time() - spent
    return found | {"peak": getrusage(RUSAGE_SELF).ru_maxrss * 1024}


def table(found: list[dict[str, Any]], device: str) -> str:
    """Return the runs as a table in Markdown, with date and device."""
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, {device}, {os.cpu_count()} CPU cores.",
        "",
        "| people | samples | k | K | read s | solve s | write s | sum s | limit | CPU s | audit s | CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    limits = {(k, neighbours): limit for k, neighbours, limit in ASKED}
    for one in found:
        limit = limits[one["k"], one["neighbours"]] if one["users"] >= MANY else None
        audit = f"{one['audit']:.1f} | {one['audit_processors']:.0f}" if "audit" in one else " | "
        counts = f"{one['users']:,} | {one['samples']:,} | {one['k']} | {one['neighbours']:,}"
        spent = " | ".join(f"{one[stage]:.1f}" for stage in ("read", "solve", "write", "total"))
        allowed = "" if limit is None else f"{limit:.0f}"
        lines.append(f"| {counts} | {spent} | {allowed} | {one['processors']:.0f} | {audit} |")
    return "\n".join(lines) + "\n"


def gpu_name() -> str:
    """Return what the GPU calls itself."""
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def free_gpu() -> None:
    """Give back the GPU's memory that nothing uses."""
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()


def main() -> None:
    """Check, run and tell, as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=int, default=0, help="people whose releases are compared")
    parser.add_argument("--users", type=int, nargs="*", default=[], help="people to release")
    parser.add_argument("--k", type=int, nargs="*", default=[2, 10])
    parser.add_argument("--device", choices=("gpu", "cpu"), default="gpu", help="cpu: processors alone")
    parser.add_argument("--audit", action="store_true")
    parser.add_argument("--watch", action="store_true", help="time each loop of the GPU")
    parser.add_argument("--folder", type=Path, default=Path("bench-gpu"))
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    device = "processors alone" if asked.device == "cpu" else gpu_name()
    for line in check(asked.check, asked.folder / "check") if asked.check else ():
        print(line, flush=True)
    found, clock = [], Clock()
    if asked.users:
        warm_up(asked.folder / "few", audit=asked.audit, device=asked.device)
    if asked.watch:
        watch_loops(clock)
    for users in asked.users:
        started = time.perf_counter()
        parts = make_calls(users, asked.folder / f"calls-{users}")
        print(f"{users:,} people made in {time.perf_counter() - started:.1f} s", flush=True)
        for k, neighbours, _ in ASKED:
            if k not in asked.k:
                continue
            clock.stages, clock.loops = {}, {}
            how = {"audit": asked.audit, "clock": clock, "device": asked.device}
            found.append(run(parts, k, neighbours, asked.folder / f"release-{asked.device}", **how))
            print(json.dumps(found[-1]), flush=True)
            print(json.dumps(clock.loops), flush=True)
            if asked.device == "gpu":
                free_gpu()
    told = table(found, device) if found else ""
    print(told)
    if asked.out:
        asked.out.write_text(told)


if __name__ == "__main__":
    main()
