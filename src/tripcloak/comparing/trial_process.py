"""The process that runs one method of a comparison alone, so that its memory and time are its own.

Started as ``python -m tripcloak.comparing.trial_process`` with numbers of two inherited files (the shared
memory it reads from, the answers it writes to), that of the process that started it, and two addresses in
the first. It says nothing anywhere else.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

from tripcloak.comparing.peers import PEERS
from tripcloak.comparing.rows import MEASURES, ComparisonRow, Cost, Trial, timed
from tripcloak.comparing.shared_memory import Address, take
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.measures import measure
from tripcloak.flows.model import Flows, ODMatrix, Travellers, TripEndSource
from tripcloak.flows.release import Release, released_zones
from tripcloak.flows.release.public import typical_zone_km2
from tripcloak.ground.ending import end_with
from tripcloak.ground.errors import InternalError, TripcloakError
from tripcloak.ground.memory import Budget
from tripcloak.ground.sparing import load_sparingly
from tripcloak.ground.spelling import spelt_as_flags
from tripcloak.pages.raster import MapFrame
from tripcloak.pages.small_maps import SmallMap, small_map

SAMPLE = 1_000
"""Flows of the run that comes before the one that is measured."""

Tell = Callable[[dict[str, Any]], None]


class Workspace(NamedTuple):
    """What all processes of a comparison read: the matrix, its raw points, and how to look at a release."""

    matrix: Address
    points: tuple[Address, ...] | None
    frame: MapFrame | None
    outline_bytes: int
    memory: Budget
    flags: bool = False
    """Whether errors spell options as flags."""


def main(arguments: list[str]) -> None:
    """Run one trial and write down, line by line, how far it has come and what came of it."""
    shared, answers, parent, *places = (int(argument) for argument in arguments)
    end_with(parent)
    load_sparingly()
    workspace: Workspace = take(shared, Address(*places[:2]))
    trial: Trial = take(shared, Address(*places[2:4]))
    with os.fdopen(answers, "w", encoding="utf-8") as file, spelt_as_flags(workspace.flags):

        def tell(answer: dict[str, Any]) -> None:
            file.write(json.dumps(answer, allow_nan=False) + "\n")
            file.flush()

        tell(_answer(lambda: run(workspace, trial, lambda address: take(shared, address), tell)))


def _answer(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a piece of work returns, or in words that quote no data why it did not."""
    try:
        return work()
    except MemoryError:
        return {"failure": "memory"}
    except TripcloakError as error:
        ours = "our own bug: " if isinstance(error, InternalError) else ""
        return {"failure": "said", "words": f"{ours}{error}"}
    except Exception as error:
        if os.environ.get("TRIPCLOAK_DEBUG"):
            raise
        # Not its message, which may quote data.
        return {"failure": "crash", "words": type(error).__name__}


def run(workspace: Workspace, trial: Trial, taken: Callable[[Address], Any], tell: Tell) -> dict[str, Any]:
    """Return what came of a trial: the row's values, and the small map."""
    tell({"phase": "preparing"})
    # The rehearsal has trees of its own: what a run works out about them is part of the run.
    _rehearse(trial, taken(workspace.matrix))
    matrix: ODMatrix = taken(workspace.matrix)
    _touch(matrix)
    tell({"phase": "solving"})
    release, cost = timed(lambda: trial.method.anonymise(matrix))
    tell({"phase": "checking"})
    if workspace.points is not None:
        matrix = replace(matrix, points=_points(workspace.points, taken))
    row = _row(trial, matrix, release, cost, workspace.memory)
    drawn = None if workspace.frame is None else _drawn(release, workspace.frame, workspace.outline_bytes)
    return {"row": vars(row), "map": drawn}


def _drawn(release: Release, frame: MapFrame, outline_bytes: int) -> SmallMap | None:
    """Return a small map of the origin zones of a release."""
    side = released_zones(release)[0]
    volume = side.volumes[release.volume].astype(float)
    return small_map(side.zones, side.rows, volume, frame, outline_bytes)


def _row(trial: Trial, matrix: ODMatrix, release: Release, cost: Cost, memory: Budget) -> ComparisonRow:
    found = measure(matrix, release)
    noisy = release.promise.noisy
    audit = None if noisy else audit_matrix(matrix, release, memory=memory)
    behind = release.trips if release.travellers is None else release.travellers
    bound = release.bound
    asked = {**trial.asked, "k": None, "limit": None} if noisy else trial.asked
    return ComparisonRow(
        **asked,
        promise=release.promise.family,
        epsilon=release.promise.budget,
        groups=release.n_groups,
        origins=release.zone_numbers[0],
        destinations=release.zone_numbers[1],
        shared=release.homogeneous,
        measures={name: found.get(name) for name in MEASURES},
        smallest=float(behind.min()) if len(behind) else None,
        people="trips" if release.travellers is None else "travellers",
        safe=None if audit is None else audit.safe,
        broken=() if audit is None else audit.broken,
        cpu_s=cost.cpu_s,
        wall_s=cost.wall_s,
        peak_mb=cost.peak_mb,
        bound=None if bound is None else bound.value,
        gap=None if bound is None else bound.gap,
        relaxation=None if bound is None else bound.relaxation,
        note=_note(trial, release, cost),
        zone_km2=typical_zone_km2(release),
    )


def _note(trial: Trial, release: Release, cost: Cost) -> str | None:
    limit = getattr(trial.method, "time_limit", None)
    if limit is None or cost.wall_s < limit:
        return release.promise.note()
    return f"stopped after {limit:.0f} s with its best release so far; more time may give a finer one"


def _points(addresses: tuple[Address, ...], taken: Callable[[Address], Any]) -> TripEndSource:
    return lambda: (taken(address) for address in addresses)


def _rehearse(trial: Trial, matrix: ODMatrix) -> None:
    """Run the method on a few flows, so that loading and compiling its code is not taken for its work."""
    if trial.method.name in PEERS:
        # Their work goes with the zones there could be, not with the flows: that would be as much again.
        return
    try:
        trial.method.anonymise(_first_flows(matrix, SAMPLE))
    except Exception:
        # So few flows may not do; then at least the compiler is there.
        import_module("tripcloak.flows.methods._kernels.cuts")


def _first_flows(matrix: ODMatrix, number: int) -> ODMatrix:
    f = matrix.flows
    people, repeats, weights = f.travellers, f.repeats, f.weights
    if people is not None:
        offsets = people.offsets[: number + 1]
        people = Travellers(offsets, people.people[: offsets[-1]])
        repeats = None if repeats is None else repeats[: offsets[-1]]
        weights = None if weights is None else weights[: offsets[-1]]
    flows = Flows(
        origin=f.origin[:number],
        destination=f.destination[:number],
        trips=f.trips[:number],
        population=None if f.population is None else f.population[:number],
        travellers=people,
        slot=None if f.slot is None else f.slot[:number],
        repeats=repeats,
        weights=weights,
    )
    return replace(matrix, flows=flows)


def _touch(matrix: ODMatrix) -> None:
    """Read the matrix once: its pages are then there, and not taken for memory of the method."""
    f = matrix.flows
    people = () if f.travellers is None else f.travellers
    for column in (f.origin, f.destination, f.trips, f.population, f.slot, f.repeats, f.weights, *people):
        if column is not None:
            column.max(initial=0)


if __name__ == "__main__":
    main(sys.argv[1:])
