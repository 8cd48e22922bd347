"""What releases of trajectories are worth at equal k: k-scale against its peers, under one set of measures.

    python -m benchmarks.trajectory_quality calls.parquet checkins.parquet

prints the comparison table alone, for files of your own.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.lines import Line, Skipped
from benchmarks.measuring import calls, trajectory_task
from tripcloak.trajectories.measures import comparison_table

KS = (2, 5)

RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("k-scale", {}),
    ("k-scale, nu-k-pick", {"constraint": "nu-k-pick"}),
    ("k-scale, picking alone", {"constraint": "nu-k-pick", "picking": "alone"}),
    ("glove", {}),
    ("w4m", {}),
    ("nwa", {}),
)

REAL = {"Foursquare NYC": "*foursquare*nyc*.parquet", "Geolife": "*geolife*.parquet"}
"""Data sets that cannot be part of the project, and how their files are named."""

ERRORS = (("spatial_error_km", "spatial", "km"), ("time_error_minutes", "time", "min"))

JUDGED = {"k-scale": ("glove",), "k-scale, nu-k-pick": ("glove", "w4m")}
"""Those whose errors k-scale's must stay below. GLOVE makes groups, too; W4M deletes what is hard to hide."""


class Row(NamedTuple):
    """One method on one data set."""

    data: str
    k: int
    title: str
    found: Mapping[str, Any]


def quality(folder: Path, users: int, data: Path | None) -> Iterator[Line | Skipped]:
    """Yield the errors of every method on made-up calls and on the real data there is, and who wins."""
    yield from _compared(f"{users:,} made-up people", calls(folder, users))
    for name, pattern in REAL.items():
        files = sorted(data.glob(pattern)) if data else []
        if files:
            yield from _compared(name, files[0])
        else:
            where = f"no {pattern} in the folder of real data" if data else "no folder named with --data"
            yield Skipped(f"quality on {name}", where)


def rows(data: str, path: Path, k: int) -> Iterator[Row]:
    """Yield what each method's release is worth, each from a process of its own."""
    for title, options in RUNS:
        method = title.partition(",")[0]
        asked = json.dumps({"k": k, **options})
        yield Row(data, k, title, trajectory_task("quality", str(path), method, asked).json())


def _compared(data: str, path: Path) -> Iterator[Line | Skipped]:
    for k in KS:
        errors: dict[str, Mapping[str, Any]] = {}
        for row in rows(data, path, k):
            what = f"{row.title}, {data}, k = {k}, mean spatial error"
            if "refused" in row.found:
                yield Skipped(what, row.found["refused"])
                continue
            errors[row.title] = row.found["measures"]
            space = row.found["measures"]["spatial_error_km"]["mean"]
            yield Line(what, space, math.inf, "km", remark=_told(row.found))
        yield from _won(f"{data}, k = {k}", errors)


def _won(where: str, errors: Mapping[str, Mapping[str, Any]]) -> Iterator[Line]:
    for title, judged_by in JUDGED.items():
        ours = errors[title]
        for key, name, unit in ERRORS:
            peers = {peer: errors[peer][key]["mean"] for peer in judged_by if peer in errors}
            best = min(peers, key=lambda peer: peers[peer])
            remark = f"{ours[key]['mean']:,.2f} against {peers[best]:,.2f} {unit} of {best}"
            what = f"{title}: {name} error / the least of {' and '.join(judged_by)}, {where}"
            yield Line(what, ours[key]["mean"] / peers[best], 1, "times", remark=remark)
        changed = 100 * (ours["created"] + ours["deleted"])
        yield Line(f"{title}: samples created or deleted, {where}", changed, 0, "%")


def _told(found: Mapping[str, Any]) -> str:
    measures = found["measures"]
    return (
        f"{measures['time_error_minutes']['mean']:,.1f} min; created {measures['created']:.1%}, "
        f"deleted {measures['deleted']:.1%}; {_audited(found)}; {found['cpu_s']:,.1f} CPU s"
    )


def _audited(found: Mapping[str, Any]) -> str:
    verdict = "safe" if found["safe"] else "NOT SAFE"
    return f"{verdict}, {found['promise']}, smallest support {found['smallest_support']}"


def main(paths: Iterable[str]) -> None:
    """Print one table of all methods on these files."""
    told = []
    for path in map(Path, paths):
        for k in KS:
            for row in rows(path.stem, path, k):
                if "refused" in row.found:
                    print(f"{row.title}, {row.data}, k = {k}: {row.found['refused']}", file=sys.stderr)
                    continue
                named = {"data": row.data, "k": k, "method": row.title, "audit": _audited(row.found)}
                told.append((named, row.found["measures"]))
    print(comparison_table(told))


if __name__ == "__main__":
    main(sys.argv[1:])
