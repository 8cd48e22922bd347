"""Orders carried out in this process, on small made-up inputs of every form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tripcloak.flows.anonymise import AnonymisationOutcome, AnonymisationRequest, anonymise
from tripcloak.flows.methods import METHODS
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.promises import AllOf, KAnonymity
from tripcloak.records.source import TripSource
from worlds.trips import Row, counted, some_trips, write_csv, write_zones, zone_trips

Make: TypeAlias = Callable[..., AnonymisationOutcome]
Inputs: TypeAlias = Callable[..., tuple[Path, dict[str, Any]]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """An order carried out, by ODkAnon if not told otherwise; the release lies in ``out``."""
    return making_in(tmp_path)


@pytest.fixture
def input_of(tmp_path: Path) -> Inputs:
    """A file of one of the forms, with what an order needs to read it."""
    return inputs_in(tmp_path)


def making_in(folder: Path) -> Make:
    """Return what carries out an order, by ODkAnon if not told otherwise; the release lies in ``out``."""

    def carried_out(
        paths: Path | Sequence[Path],
        *,
        k: int = 5,
        units: Sequence[str | None] = (None,),
        limit: float = 0.1,
        zoning: Zoning | None = None,
        out: str = "out",
        method: str = "odkanon",
        **source: Any,
    ) -> AnonymisationOutcome:
        parts = tuple(KAnonymity(k=k, unit=unit) for unit in units)  # type: ignore[arg-type]
        files = (paths,) if isinstance(paths, Path) else tuple(paths)
        return anonymise(
            AnonymisationRequest(
                source=TripSource(paths=tuple(map(str, files)), **source),
                method=METHODS[method](
                    promise=parts[0] if len(parts) == 1 else AllOf(promises=parts), suppression_limit=limit
                ),
                zoning=zoning or Zoning(spec="h3:9"),
                out=folder / out,
            )
        )

    return carried_out


def inputs_in(folder: Path) -> Inputs:
    """Return what writes a file of one of the forms, and tells what an order needs to read it."""

    def written(form: str, seed: int = 3) -> tuple[Path, dict[str, Any]]:
        file = folder / f"{form}-{seed}.csv"
        if form in ("coordinates", "quadtree", "weights"):
            write_csv(file, some_trips(300, seed=seed))
            spec = "quadtree:6" if form == "quadtree" else "h3:9"
            units = ("population",) if form == "weights" else (None,)
            return file, {"zoning": Zoning(spec=spec), "units": units, "k": 500 if form == "weights" else 5}
        if form == "fixes":
            write_csv(file, fixes(seed))
            return file, {"zoning": Zoning(spec="h3:9")}
        zones = str(write_zones(folder / "zones.csv"))
        trips = zone_trips(seed=seed)
        tables = {"counts": "trips", "commuters": "commuters"}
        write_csv(file, counted(trips, tables[form]) if form in tables else trips)
        spec = "dendrogram" if form == "dendrogram" else "table:county"
        return file, {"zoning": Zoning(spec=spec, zones=zones)}

    return written


def fixes(seed: int) -> list[Row]:
    """GPS fixes: every trip of some people drawn as its two ends, a few minutes apart from others."""
    found = []
    for number, trip in enumerate(some_trips(120, people=30, seed=seed)):
        day, hour = 1 + number % 28, number // 28
        for minute, end in ((0, "start"), (2, "end")):
            found.append(
                {
                    "user_id": trip["person_id"],
                    "time": f"2024-05-{day:02d} {hour:02d}:{minute:02d}:00",
                    "lat": trip[f"{end}_lat"],
                    "lon": trip[f"{end}_lon"],
                }
            )
    return found
