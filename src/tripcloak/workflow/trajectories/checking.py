"""Auditing and measuring a folder of released trajectories against the raw input it was made from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tripcloak.errors import InputError
from tripcloak.io.folder import read_manifest, read_run
from tripcloak.io.trajectory_reading import release_of_folder
from tripcloak.trajectories import Trajectories, TrajectoryRelease
from tripcloak.trajectories.audit import TrajectoryAudit, audit_folder
from tripcloak.trajectories.measures import measure_trajectories
from tripcloak.trajectories.methods.base import Progress, silent
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from tripcloak.workflow.reading import engine_memory
from tripcloak.workflow.trajectories.anonymise import local_clock
from tripcloak.workflow.trajectories.rewriting import rewritten_findings


def audit_trajectories_against(
    folder: Path,
    inputs: tuple[str, ...],
    *,
    k: int | None = None,
    memory: str | None = None,
    progress: Progress = silent,
) -> TrajectoryAudit:
    """Return the audit of a release folder against the raw input, read as the release says it was.

    Beside the rules of the audit, what the folder says is written anew and compared byte by byte.

    Parameters
    ----------
    k
        A number that the release must reach even if its manifest promises less.
    """
    source = how_it_was_read(folder, inputs)
    progress("auditing", 0, None)
    audit = audit_folder(folder, source, k=k, memory=engine_memory(memory))
    progress("writing the public files anew", 0, None)
    more = rewritten_findings(folder)
    return replace(
        audit, safe=audit.safe and all(finding.ok for finding in more), findings=(*audit.findings, *more)
    )


def measure_trajectories_against(
    folder: Path, inputs: tuple[str, ...], *, memory: str | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """Return every measure of a release folder against the raw input."""
    trajectories, release = read_as_released(folder, inputs, memory=memory, progress=progress)
    progress("measuring", 0, None)
    return measure_trajectories(trajectories, release, timezone=local_clock(how_it_was_read(folder, inputs)))


def read_as_released(
    folder: Path, inputs: tuple[str, ...], *, memory: str | None = None, progress: Progress = silent
) -> tuple[Trajectories, TrajectoryRelease]:
    """Return the trajectories of the very input that a release was made from, and the release."""
    source = how_it_was_read(folder, inputs)
    trajectories = read_trajectories(source, memory=engine_memory(memory), progress=progress).trajectories
    return trajectories, release_of_folder(folder, trajectories)


def refuse_options(source: TrajectorySource) -> None:
    """Raise where a source says how to read an input that a release has already told."""
    if source != TrajectorySource(paths=source.paths):
        raise InputError(
            "a release says itself how its input was read; leave out the options on rows, columns and samples"
        )


def how_it_was_read(folder: Path, inputs: tuple[str, ...]) -> TrajectorySource:
    """Return how the input of a release was read, for these inputs, as its private record says."""
    if read_manifest(folder).get("kind") != "trajectories":
        raise InputError(
            f"{folder} holds a release of flows, not of trajectories; see `tripcloak audit` and `metrics`"
        )
    run = read_run(folder)
    try:
        return replace(TrajectorySource.from_dict(run["source"]), paths=inputs)
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{folder}/private/run.json does not say how the input was read") from None
