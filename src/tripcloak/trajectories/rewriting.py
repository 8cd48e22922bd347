"""The files of a release of trajectories, written anew from what they hold, and compared byte by byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tripcloak.ground.errors import TripcloakError
from tripcloak.ground.folders import json_text
from tripcloak.ground.manifest import NAME, public_part
from tripcloak.ground.rewriting import (
    OTHERWISE,
    Rewriting,
    manifest_rewriting,
    readme_rewriting,
    rewritten_findings,
    same_files,
    same_text,
)
from tripcloak.ground.rulebook import Finding
from tripcloak.promises import TrajectoryPromise
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS
from tripcloak.trajectories.release.published import PublishedTrajectories, write_samples
from tripcloak.trajectories.release.reading import read_trajectory_folder
from tripcloak.trajectories.release.writing import restated
from tripcloak.trajectories.report.map import render_trajectory_map
from tripcloak.trajectories.report.readme import render_trajectory_readme


def rewritten_trajectories(folder: Path) -> tuple[Finding, ...]:
    """Return whether what a folder says beside its boxes is what this version writes of them, word by word.

    Parameters
    ----------
    folder
        The folder that holds ``release/``, or its public part.
    """
    try:
        published = read_trajectory_folder(folder)
    except TripcloakError:
        broken = "could not be checked: the released samples cannot be read"
        return tuple(Finding(one.rule, False, broken) for one in REWRITINGS)
    return rewritten_findings(public_part(folder), published, REWRITINGS)


def _method_is_known(_: Path, published: PublishedTrajectories) -> bool:
    facts = published.manifest
    promise = TrajectoryPromise.from_manifest(facts["promise"])
    method = TRAJECTORY_METHODS[facts["method"]](k=promise.k, **facts["parameters"])
    # Their order and their kinds count too: 1 and 1.0 and true are equal.
    same = repr(list(method.parameters().items())) == repr(list(facts["parameters"].items()))
    return same and repr(replace(method.promise, id_is=promise.id_is)) == repr(promise)


def _samples_are_the_same(public: Path, published: PublishedTrajectories) -> bool:
    return same_files(public, lambda aside: write_samples(aside, published))


def _readme_is_the_same(public: Path, published: PublishedTrajectories) -> bool:
    return same_text(render_trajectory_readme(published.manifest), public / "README.md")


def _map_is_the_same(public: Path, published: PublishedTrajectories) -> bool:
    return same_text(render_trajectory_map(published), public / "map.html")


def _manifest_is_the_same(public: Path, published: PublishedTrajectories) -> bool:
    return same_text(json_text(restated(published.manifest)), public / NAME)


REWRITINGS: tuple[Rewriting[PublishedTrajectories], ...] = (
    Rewriting(
        "method-known",
        _method_is_known,
        "the method is one of tripcloak's, with its own parameters and no others, and makes such a promise",
        "the manifest names a method that there is not, other parameters than it has, or another promise",
    ),
    Rewriting(
        "samples-as-written",
        _samples_are_the_same,
        "samples.parquet and samples.csv are, byte by byte, what the boxes in steps of the grid give",
        OTHERWISE.format("samples.parquet or samples.csv", "the boxes"),
    ),
    readme_rewriting(_readme_is_the_same),
    Rewriting(
        "map-as-written",
        _map_is_the_same,
        "map.html is, byte by byte, what the samples and the manifest give",
        OTHERWISE.format("map.html", "the samples and the manifest"),
    ),
    manifest_rewriting(_manifest_is_the_same),
)
