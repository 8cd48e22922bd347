"""Trajectories: what k-merge, k-scale and its peers cost, how k-scale grows, what releases are worth."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.lines import Line, Skipped
from benchmarks.measuring import calls, trajectory_task
from benchmarks.trajectory_quality import quality

MANY = 100_000
"""People for whom the limits of k-scale are meant; with fewer, a limit on time shrinks as they do."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How many people and pairs each part is measured on."""

    pairs: int
    paired_users: int
    users: int
    growing: tuple[int, ...]
    compared_users: int


FULL = Sizes(
    pairs=1_000_000,
    paired_users=10_000,
    users=MANY,
    growing=(10_000, 20_000, 40_000, 80_000),
    compared_users=2_000,
)
QUICK = Sizes(
    pairs=100_000, paired_users=2_000, users=2_000, growing=(1_000, 2_000, 4_000), compared_users=500
)


def trajectories(folder: Path, sizes: Sizes = FULL, data: Path | None = None) -> Iterator[Line | Skipped]:
    """Yield every line on trajectories; real data is looked for in a folder, if one is named."""
    yield from merging(folder, sizes)
    yield from scaling(folder, sizes)
    yield from growing(folder, sizes)
    yield from finishing(folder, sizes)
    yield from quality(folder, sizes.compared_users, data)


def merging(folder: Path, sizes: Sizes) -> Iterator[Line]:
    """Yield how many pairs of 144 samples each are merged a second, anybody's and neighbours'."""
    path = str(calls(folder, sizes.paired_users, equal=True))
    for choice, whose in (("random", "pairs at random"), ("near", "pairs of neighbours")):
        cost = trajectory_task("pairs", path, choice, str(sizes.pairs))
        found = cost.json()
        remark = (
            f"{found['pairs']:,} pairs of {found['samples']:.0f} samples each in {found['cpu_s']:.2f} CPU s; "
            f"{found['pairs'] / found['wall_s']:,.0f} a second by the clock"
        )
        what = f"k-merge, {whose}, 2 free cores"
        yield Line(what, found["pairs_per_s"], 150_000, "pairs/s", cost.peak_mb, remark=remark, at_least=True)


def scaling(folder: Path, sizes: Sizes) -> Iterator[Line]:
    """Yield time and memory of k-scale at the sizes that have limits, reading included."""
    path = calls(folder, sizes.users)
    picked = {f"picking {how}": {"constraint": "nu-k-pick", "picking": how} for how in ("together", "alone")}
    asked = [
        (5, 1_000, 60.0, "full", {"constraint": "full"}),
        *((2, 200, 20.0, how, options) for how, options in picked.items()),
        *((10, 1_000, 60.0, how, options) for how, options in picked.items()),
    ]
    for k, neighbours, minutes, how, options in asked:
        found = _solved(path, "k-scale", k=k, neighbours=neighbours, **options)
        what = f"k-scale, {found['users']:,} people, k = {k}, K = {neighbours:,}, {how}"
        spent = (found["cpu_s"] + found["reading_cpu_s"]) / 60
        limit = minutes * sizes.users / MANY
        yield Line(what, spent, limit, "CPU min", found["peak_mb"], _told(found))
        yield Line(f"{what}, peak memory", found["peak_mb"] / 1000, 4, "GB", found["peak_mb"])


def growing(folder: Path, sizes: Sizes) -> Iterator[Line]:
    """Yield how the time of k-scale grows with people, for the same number of neighbours."""
    least, most = sizes.growing[0], sizes.growing[-1]
    allowed = most * math.log(most) / (least * math.log(least))
    spent = []
    for users in sizes.growing:
        found = _solved(calls(folder, users), "k-scale", k=2, neighbours=200)
        what = f"k-scale, {users:,} people, k = 2, K = 200"
        yield Line(what, found["cpu_s"], math.inf, "CPU s", found["peak_mb"], _told(found))
        spent.append(found["cpu_s"])
    grown = spent[-1] / spent[0]
    exponent, bound = (math.log(times) / math.log(most / least) for times in (grown, allowed))
    remark = f"limit: n log n; exponent {exponent:.3f} against {bound:.3f}"
    what = f"k-scale, growth from {least:,} to {most:,} people"
    yield Line(what, grown, allowed, "times", remark=remark)


def finishing(folder: Path, sizes: Sizes) -> Iterator[Line]:
    """Yield what the peers cost at the sizes at which they have to finish."""
    for method, users in (("glove", sizes.compared_users), ("w4m", sizes.users)):
        found = _solved(calls(folder, users), method, k=2)
        remark = f"{found['wall_s']:,.0f} s by the clock"
        what = f"{method}, {found['users']:,} people, k = 2"
        yield Line(what, found["cpu_s"], math.inf, "CPU s", found["peak_mb"], remark)


def _solved(path: Path, method: str, **options: Any) -> dict[str, Any]:
    return trajectory_task("solve", str(path), method, json.dumps({**options, "jobs": 2})).json()


def _told(found: dict[str, Any]) -> str:
    pairs = found["facts"]["pairs"]
    return (
        f"bounds spare {pairs['spared']:.1%} of {pairs['candidates']:,} pairs "
        f"({pairs['passed_over'] / pairs['candidates']:.1%} before merging); "
        f"{found['samples']:,} samples; {found['wall_s']:,.0f} s by the clock"
    )
