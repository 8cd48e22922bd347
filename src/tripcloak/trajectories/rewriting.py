"""The files of a release of trajectories, written anew from what they hold, and compared byte by byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tripcloak._version import __version__
from tripcloak.ground.errors import TripcloakError
from tripcloak.ground.folders import json_text
from tripcloak.ground.manifest import public_part
from tripcloak.ground.rewriting import (
    Rewriting,
    background_rewriting,
    manifest_rewriting,
    map_rewriting,
    readme_rewriting,
    rewritten_findings,
    same_files,
)
from tripcloak.ground.rulebook import Finding
from tripcloak.pages.background import write_background
from tripcloak.promises import TrajectoryPromise
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS
from tripcloak.trajectories.release.presenting import restated_on_map
from tripcloak.trajectories.release.published import PublishedTrajectories
from tripcloak.trajectories.release.reading import read_trajectory_folder
from tripcloak.trajectories.release.writing import restated, write_tables
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
    k = None if promise.k is None else int(promise.k)
    method = TRAJECTORY_METHODS[facts["method"]].asked(k, **facts["parameters"])
    # Their order and their kinds count too: 1 and 1.0 and true are equal.
    same = repr(list(method.parameters().items())) == repr(list(facts["parameters"].items()))
    return same and method.makes_such(promise)


def _write_samples(folder: Path, published: PublishedTrajectories) -> None:
    write_tables(folder, published, published.manifest["files"])


def _readme(published: PublishedTrajectories) -> str:
    return render_trajectory_readme(published.manifest)


def _manifest(published: PublishedTrajectories) -> str:
    released = {"trajectories": published.n_released, "samples": published.n_boxes}
    told = {**published.manifest, "version": __version__}
    return json_text(
        restated({**told, "released": {**told["released"], **released}, **restated_on_map(published)})
    )


def _map(published: PublishedTrajectories) -> str:
    told = {**published.manifest, **restated_on_map(published)}
    return render_trajectory_map(replace(published, manifest=told))


def _background_is_the_same(public: Path, published: PublishedTrajectories) -> bool:
    """Return whether what is behind the map is shapes and nothing else; where nothing is told, yes."""
    behind = published.background
    return behind is None or same_files(public, lambda aside: write_background(aside, behind))


REWRITINGS: tuple[Rewriting[PublishedTrajectories], ...] = (
    Rewriting(
        "method-known",
        _method_is_known,
        "the method is one of tripcloak's, with its own parameters and no others, and makes such a promise",
        "the manifest names a method that there is not, other parameters than it has, or another promise",
    ),
    Rewriting.of_files(
        "samples-as-written",
        "samples.parquet or samples.csv, or those for exchange,",
        "the boxes",
        _write_samples,
        "the samples are, byte by byte and in every form, what the boxes in steps of the grid give",
    ),
    readme_rewriting(_readme),
    background_rewriting(_background_is_the_same),
    map_rewriting(_map, "the samples and the manifest"),
    manifest_rewriting(_manifest),
)
