"""The tasks on trajectories; each runs in a fresh process and prints one JSON object."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from contextlib import suppress
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError, TripcloakError
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.measures import measure_trajectories
from tripcloak.trajectories.methods.kmerge import pair_costs
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.methods.partners import SquareTree, squares
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease

REPEATS = 3
"""The best of so many runs counts, where one takes only seconds."""

NEAR = 200
"""Nearest ones by the proxy distance that make pairs of neighbours."""


def pairs(path: str, choice: str, number: str) -> dict[str, float]:
    """Return how many pairs of trajectories are merged a second by two threads, kernels already compiled.

    ``pairs_per_s`` is what two free cores do: twice the pairs over the CPU time of both threads.
    """
    trajectories = _read(path)
    first, second = _drawn_pairs(trajectories, choice, int(number))
    pair_costs(trajectories, first[:1], second[:1])
    cpu_s = wall_s = math.inf
    for _ in range(REPEATS):
        before, started = time.process_time(), time.perf_counter()
        pair_costs(trajectories, first, second, jobs=2)
        cpu_s = min(cpu_s, time.process_time() - before)
        wall_s = min(wall_s, time.perf_counter() - started)
    return {
        "pairs": len(first),
        "samples": float(trajectories.lengths.mean()),
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "pairs_per_s": 2 * len(first) / cpu_s,
    }


def solve(path: str, method: str, options: str) -> dict[str, Any]:
    """Return what a method costs, reading apart, kernels already compiled; the most memory is of both."""
    chosen = _chosen(method, options)
    _warm_up(chosen)
    trajectories, reading_s = _timed_reading(path)
    cpu, started = time.process_time(), time.perf_counter()
    release = chosen.anonymise(trajectories)
    return {
        "cpu_s": time.process_time() - cpu,
        "wall_s": time.perf_counter() - started,
        "reading_cpu_s": reading_s,
        "users": trajectories.n_users,
        "samples": trajectories.n_samples,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "released": release.n_released,
        "facts": dict(release.facts),
    }


def _warm_up(chosen: TrajectoryMethod) -> None:
    """Compile the kernels of a method; a few people may be too few for it."""
    of_k = {} if chosen.hidden_among is None else {"k": chosen.hidden_among}
    with suppress(ImpossibleRequestError):
        type(chosen)(**of_k).anonymise(_small())


def quality(path: str, method: str, options: str) -> dict[str, Any]:
    """Return what a release is worth and what its audit says, or why the method refuses."""
    trajectories, _ = _timed_reading(path)
    cpu = time.process_time()
    try:
        release = _chosen(method, options).anonymise(trajectories)
    except TripcloakError as refusal:
        return {"refused": str(refusal).replace("|", "/").replace("\n", " ")}
    return {"cpu_s": time.process_time() - cpu, **_worth(trajectories, release)}


def _worth(trajectories: Trajectories, release: TrajectoryRelease) -> dict[str, Any]:
    audit = audit_release(trajectories, release)
    return {
        "users": trajectories.n_users,
        "samples": trajectories.n_samples,
        "measures": measure_trajectories(trajectories, release),
        "promise": release.promise.kind,
        "safe": audit.safe,
        "smallest_support": audit.smallest_support,
    }


def _drawn_pairs(trajectories: Trajectories, choice: str, number: int) -> tuple[Ints, Ints]:
    """Return pairs drawn at random, or of the nearest ones of some people drawn at random."""
    random = np.random.default_rng(1)
    n = trajectories.n_users
    if choice == "random":
        first = random.integers(n, size=number)
        return first, (first + random.integers(1, n, size=number)) % n
    near = min(NEAR, n - 1)
    tree = SquareTree(squares(trajectories))
    people = random.permutation(n)[: math.ceil(number / near)]
    found = [tree.nearest(slice(int(one), int(one) + 1), near)[0] for one in people]
    return np.repeat(people, near), np.concatenate(found).astype(np.int64)


def _chosen(method: str, options: str) -> TrajectoryMethod:
    return find_trajectory_method(method)(**json.loads(options))


def _read(path: str) -> Trajectories:
    return read_trajectories(TrajectorySource(paths=(path,))).trajectories


def _timed_reading(path: str) -> tuple[Trajectories, float]:
    started = time.process_time()
    trajectories = _read(path)
    return trajectories, time.process_time() - started


def _small() -> Trajectories:
    """Return a few people on whom the kernels compile before the clock runs."""
    random = np.random.default_rng(1)
    people, samples = 40, 20
    n = people * samples
    x, y = random.integers(40, size=(2, n))
    t = np.tile(np.arange(samples) * 60, people) + random.integers(60, size=n)
    return Trajectories.of(user=np.repeat(range(people), samples), t=t, x=x, y=y, grid=Grid())


TASKS = {task.__name__: task for task in (pairs, solve, quality)}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
