"""Cross-exposure: who is left exposed when participants, the population or both are protected."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tripcloak.flows.measures import measure
from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.folders import FolderParts, refuse_if_taken, staged, write_json
from tripcloak.ground.progress import Progress, silent
from tripcloak.promises import KAnonymity, Promise, Unit, Volume, all_of

Target = Literal["participants", "population", "both"]
TARGETS: tuple[Target, ...] = ("participants", "population", "both")


class Side(NamedTuple):
    """What one side has to fear of a release.

    Attributes
    ----------
    smallest : float
        The smallest support of a released group.
    below : int
        Groups whose support is below the threshold.
    furthest : float
        How far the smallest is below the threshold, as a share of it; 0 where none is.
    """

    smallest: float
    below: int
    furthest: float

    @classmethod
    def of(cls, release: Release, unit: Unit, threshold: float) -> Side:
        """Return what a side has to fear, given the threshold that would protect it."""
        support = np.asarray(release.support(unit), dtype=float)
        smallest = float(support.min())
        return cls(smallest, int((support < threshold).sum()), max(0.0, 1 - smallest / threshold))


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """One method under one protection target; for the eyes of the data owner.

    ``measures`` holds all measures twice: on participants (their trips) and on the population they
    stand for. Where the target cannot be met, ``failure`` says why and the rest is empty.
    """

    method: str
    target: Target
    groups: int = 0
    zones: tuple[int, int] = (0, 0)
    participants: Side | None = None
    population: Side | None = None
    measures: dict[str, dict[str, float | None]]
    failure: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "method": self.method,
            "target": self.target,
            "groups": self.groups,
            "zones": {"origins": self.zones[0], "destinations": self.zones[1]},
            "participants": None if self.participants is None else self.participants._asdict(),
            "population": None if self.population is None else self.population._asdict(),
            "measures": self.measures,
            "metrics": self.measures,
            "failure": self.failure,
        }


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """What would protect each side: k participants, counted in a unit, and so much of the population."""

    k: float
    unit: Unit
    population: float

    def promise(self, target: Target) -> Promise:
        """Return what a group must reach under a protection target."""
        participants = KAnonymity(k=self.k, unit=self.unit)
        population = KAnonymity(k=self.population, unit="population")
        if target == "both":
            return all_of([participants, population])
        return participants if target == "participants" else population


def cross_exposure(
    matrix: ODMatrix, methods: Sequence[FlowMethod], thresholds: Thresholds, *, progress: Progress = silent
) -> list[Exposure]:
    """Return every method under every protection target.

    The form of table 5.5 of the ODkAnon thesis (table 3 of the NetMob paper), and of its tables 5.6 to
    5.9, with the third target that both ask for: participants and population at once.

    Parameters
    ----------
    methods
        Methods with their parameters; their promise is replaced by each target's.
    """
    if "population" not in matrix.units:
        raise InputError("weights tell the population, and this input has none; name their column (--weight)")
    exposures = []
    for done, method in enumerate(methods):
        for target in TARGETS:
            what = f"{method.name}, protecting {target}"
            progress(what, done, len(methods))
            exposures.append(_exposure(matrix, method, target, thresholds, _about(what, progress)))
    return exposures


def _about(what: str, progress: Progress) -> Progress:
    return lambda step, done, total: progress(f"{what}: {step}", done, total)


def _exposure(
    matrix: ODMatrix, method: FlowMethod, target: Target, thresholds: Thresholds, progress: Progress
) -> Exposure:
    try:
        release = replace(method, promise=thresholds.promise(target)).anonymise(matrix, progress)
    except (ImpossibleRequestError, InputError) as error:
        return Exposure(method=method.name, target=target, measures={}, failure=str(error))
    return Exposure(
        method=method.name,
        target=target,
        groups=release.n_groups,
        zones=(release.zone_numbers[0], release.zone_numbers[1]),
        participants=Side.of(release, thresholds.unit, thresholds.k),
        population=Side.of(release, "population", thresholds.population),
        measures={
            "participants": _measured(matrix, release, "trips", thresholds.k),
            "population": _measured(matrix, release, "population", thresholds.population),
        },
    )


def _measured(matrix: ODMatrix, release: Release, volume: Volume, k: float) -> dict[str, float | None]:
    """Return all measures in a volume, group sizes in multiples of the threshold that goes with it."""
    found = measure(matrix, release, volume=volume)
    released = float(np.sum(release.support(volume)))
    return {**found, "C_AVG": released / release.n_groups / k}


FILES = FolderParts("table of exposures", files=("exposure.json", "exposure.csv", "exposure.md"))
INTERNAL = "Internal: computed from data that is not released. Not for publication."
SIDES = ("participants", "population")
MEASURES = ("C_DM", "C_AVG", "G", "E", "GDM_mean")
"""Those of tables 5.6 to 5.9 of the ODkAnon thesis."""


def refuse_taken(out: Path, *, force: bool = False) -> None:
    """Raise if a folder already holds such tables, or cannot hold them."""
    refuse_if_taken(out, force=force, parts=FILES)


def write_exposures(out: Path, facts: Mapping[str, Any], *, force: bool = False) -> None:
    """Write what is known about exposures into a folder; all or nothing."""
    rows = [_row(one) for one in facts["exposures"]]
    with staged(out, force=force, parts=FILES) as staging:
        for name in FILES.files:
            (staging / name).touch(mode=0o600)
        write_json(staging / "exposure.json", {"internal": INTERNAL, **facts})
        (staging / "exposure.csv").write_text(_csv(rows), encoding="utf-8")
        (staging / "exposure.md").write_text(_markdown(rows, facts["thresholds"]), encoding="utf-8")


def _row(one: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"method": one["method"], "protecting": one["target"], "flows": one["groups"]}
    for side in SIDES:
        for name in ("smallest", "below", "furthest"):
            row[f"{side}_{name}"] = None if one[side] is None else one[side][name]
    for side in SIDES:
        for name, value in one["measures"].get(side, {}).items():
            row[f"{name}_on_{side}"] = value
    row["failure"] = one["failure"]
    return row


def _csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _markdown(rows: list[dict[str, Any]], thresholds: Mapping[str, float]) -> str:
    """Return the form of table 5.5 of the ODkAnon thesis, one row a method and target, and of 5.6 to 5.9."""
    needs = ", ".join(f"{k:,.0f} {unit}" for unit, k in thresholds.items())
    numbers = [f"{side}_{name}" for side in SIDES for name in ("smallest", "below", "furthest")]
    heads = [f"{words} {side}" for side in SIDES for words in ("smallest", "flows below,", "furthest,")]
    lines = [
        "# Who is exposed",
        "",
        INTERNAL,
        "",
        f"A released flow is safe with {needs}. Furthest: how far the smallest is below, as a share.",
        "",
        *_table(["flows", *heads], rows, ["flows", *numbers]),
    ]
    for side in SIDES:
        measures = [f"{name}_on_{side}" for name in MEASURES]
        lines += ["", f"## Measured on the {side}", "", *_table(list(MEASURES), rows, measures)]
    return "\n".join(lines) + "\n"


def _table(heads: list[str], rows: list[dict[str, Any]], names: list[str]) -> list[str]:
    lines = [f"| method | protecting | {' | '.join(heads)} |", f"|{'---|' * (len(heads) + 2)}"]
    for row in rows:
        told = " | ".join(_cell(row.get(name)) for name in names)
        lines.append(f"| {row['method']} | {row['protecting']} | {told} |")
    return lines


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    if abs(value) >= 1e6:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 100 or float(value).is_integer() else f"{value:.3g}"
