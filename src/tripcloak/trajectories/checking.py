"""Auditing and measuring a folder of released trajectories against the raw input it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tripcloak.ground.errors import InputError, TripcloakError
from tripcloak.ground.folders import PUBLIC, file_digest, read_manifest, read_run
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.rulebook import Finding, Verdict
from tripcloak.records.frames import Input
from tripcloak.trajectories.anonymise import local_clock
from tripcloak.trajectories.audit import audit_folder
from tripcloak.trajectories.measures import measure_trajectories
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from tripcloak.trajectories.release.published import PublishedTrajectories
from tripcloak.trajectories.release.reading import read_trajectory_folder, release_of_folder
from tripcloak.trajectories.release.release import TrajectoryRelease
from tripcloak.trajectories.release.samples import write_samples
from tripcloak.trajectories.report.map import render_trajectory_map
from tripcloak.trajectories.report.readme import render_trajectory_readme

Check = Callable[[Path, PublishedTrajectories], bool]


def rewritten_findings(folder: Path) -> tuple[Finding, ...]:
    """Return whether what a folder says beside its boxes is what this version writes of them, word by word.

    What the audit cannot know, since it shares no code with methods and writers: which parameters a
    method has, how degrees are rounded, and what the pages for readers say.
    """
    try:
        published = read_trajectory_folder(folder)
    except TripcloakError:
        broken = "could not be checked: the released samples cannot be read"
        return tuple(Finding(rule, False, broken) for rule in CHECKS)
    return tuple(_judged(folder, published))


def _judged(folder: Path, published: PublishedTrajectories) -> Iterator[Finding]:
    for rule, (check, holds, fails) in CHECKS.items():
        try:
            ok = check(folder / PUBLIC, published)
        except (TripcloakError, OSError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
            # Their words may quote what is hidden in the files.
            ok = False
        yield Finding(rule, ok, holds if ok else fails)


def _method_is_known(_: Path, published: PublishedTrajectories) -> bool:
    facts = published.manifest
    method = TRAJECTORY_METHODS[facts["method"]](k=facts["k"], **facts["parameters"])
    # Their order and their kinds count too: 1 and 1.0 and true are equal.
    return _spelt(method.parameters()) == _spelt(facts["parameters"])


def _spelt(parameters: dict[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in parameters.items()]


def _samples_are_the_same(public: Path, published: PublishedTrajectories) -> bool:
    with TemporaryDirectory() as aside:
        write_samples(Path(aside), published)
        return all(
            file_digest(Path(aside) / name) == file_digest(public / name)
            for name in ("samples.parquet", "samples.csv")
        )


def _readme_is_the_same(public: Path, published: PublishedTrajectories) -> bool:
    return (public / "README.md").read_bytes() == render_trajectory_readme(published.manifest).encode()


def _map_is_the_same(public: Path, published: PublishedTrajectories) -> bool:
    return (public / "map.html").read_bytes() == render_trajectory_map(published).encode()


_OTHERWISE = (
    "release/{} is not what this version of tripcloak writes of samples and manifest: it was changed, or "
    "made by another version (audit with that one)"
)

CHECKS: dict[str, tuple[Check, str, str]] = {
    "method-known": (
        _method_is_known,
        "the method is one of tripcloak's, with its own parameters and no others",
        "the manifest names a method that there is not, or other parameters than it has",
    ),
    "samples-as-written": (
        _samples_are_the_same,
        "samples.parquet and samples.csv are, byte by byte, what the boxes in steps of the grid give",
        _OTHERWISE.format("samples.parquet or samples.csv"),
    ),
    "readme-as-written": (
        _readme_is_the_same,
        "README.md is, byte by byte, what the manifest gives",
        _OTHERWISE.format("README.md"),
    ),
    "map-as-written": (
        _map_is_the_same,
        "map.html is, byte by byte, what the samples and the manifest give",
        _OTHERWISE.format("map.html"),
    ),
}
"""Rules by name: how it is checked, and the words where it holds and where not."""


def audit_trajectories_against(
    folder: Path,
    inputs: tuple[Input, ...],
    *,
    k: int | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> Verdict:
    """Return the audit of a release folder against the raw input, read as the release says it was.

    Beside the rules of the audit, what the folder says is written anew and compared byte by byte.

    Parameters
    ----------
    k
        A number that the release must reach even if its manifest promises less.
    """
    source = how_it_was_read(folder, inputs)
    progress("auditing", 0, None)
    audit = audit_folder(folder, source, k=k, memory=memory)
    progress("writing the public files anew", 0, None)
    more = rewritten_findings(folder)
    return replace(audit, findings=(*audit.findings, *more))


def measure_trajectories_against(
    folder: Path, inputs: tuple[Input, ...], *, memory: Memory = None, progress: Progress = silent
) -> dict[str, Any]:
    """Return every measure of a release folder against the raw input."""
    trajectories, release = read_as_released(folder, inputs, memory=memory, progress=progress)
    progress("measuring", 0, None)
    return measure_trajectories(trajectories, release, timezone=local_clock(how_it_was_read(folder, inputs)))


def read_as_released(
    folder: Path, inputs: tuple[Input, ...], *, memory: Memory = None, progress: Progress = silent
) -> tuple[Trajectories, TrajectoryRelease]:
    """Return the trajectories of the very input that a release was made from, and the release."""
    source = how_it_was_read(folder, inputs)
    trajectories = read_trajectories(source, memory=memory, progress=progress).trajectories
    return trajectories, release_of_folder(folder, trajectories)


def refuse_options(source: TrajectorySource) -> None:
    """Raise where a source says how to read an input that a release has already told."""
    if source != TrajectorySource(paths=source.paths):
        raise InputError(
            "a release says itself how its input was read; leave out the options on rows, columns and samples"
        )


def how_it_was_read(folder: Path, inputs: tuple[Input, ...]) -> TrajectorySource:
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
