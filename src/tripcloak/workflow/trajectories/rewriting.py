"""Writing the public files of trajectories anew, to see that those of a folder say nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tripcloak.errors import TripcloakError
from tripcloak.findings import Finding
from tripcloak.io.folder import PUBLIC, file_digest
from tripcloak.io.trajectory_reading import read_trajectory_folder
from tripcloak.io.trajectory_samples import write_samples
from tripcloak.report.trajectory_map import render_trajectory_map
from tripcloak.report.trajectory_readme import render_trajectory_readme
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS
from tripcloak.trajectories.published import PublishedTrajectories

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
