"""Auditing and measuring a folder of released trajectories against the raw input it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak._version import __version__
from tripcloak.ground.errors import InputError
from tripcloak.ground.keys import SigningKey
from tripcloak.ground.manifest import public_part, read_manifest, read_run, release_folder
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.rewriting import Rewriting, rewritten_findings
from tripcloak.ground.rulebook import Finding, Verdict
from tripcloak.ground.signatures import refuse_failed, refuse_orders, sign_if_asked
from tripcloak.pages.presenting import taken_as_given
from tripcloak.records.files.fingerprints import told_to_owner
from tripcloak.records.files.frames import Input, checked_inputs
from tripcloak.trajectories.anonymise import local_clock
from tripcloak.trajectories.attacks.beside import guess_beside
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.audit import audit_folder, audit_public
from tripcloak.trajectories.measures import measure_trajectories
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.reading import Tracks, TrajectorySource, read_tracks, read_trajectories
from tripcloak.trajectories.reading.projection import Region, box_around, choose_region, tally_cells
from tripcloak.trajectories.reading.sampling import start_of, trajectories_on
from tripcloak.trajectories.release.guess import BESIDE
from tripcloak.trajectories.release.reading import read_trajectory_folder, release_of_folder
from tripcloak.trajectories.release.release import TrajectoryRelease
from tripcloak.trajectories.rewriting import rewritten_trajectories


@dataclass(frozen=True)
class ReadInput:
    """The raw input of an audit: read once, when the audit first asks for it."""

    source: TrajectorySource
    memory: Memory = None
    k: int | None = None

    @cached_property
    def fixes(self) -> Tracks:
        """Return the clean fixes."""
        return read_tracks(self.source, memory=self.memory)

    def grid(self) -> Grid | None:
        """Return the grid on which such an input is told; None where nothing says how fine it is."""
        source, fixes = self.source, self.fixes
        if source.seconds is None or source.metres is None:
            return None
        everywhere = tally_cells(fixes, np.zeros(len(fixes.lat), dtype=bool))
        found = None if source.centre is None else Region(*source.centre)
        # An area that was found lies around the centre; of others, the centre follows from the area.
        known = source.centre if found is not None and source.box == box_around(found) else None
        return Grid(
            seconds=source.seconds,
            metres=source.metres,
            start=start_of(fixes, source.seconds),
            projection=choose_region(everywhere, source.box, k=self.k, centre=known).projection,
            clock=fixes.clock,
        )


def audit_trajectories_against(
    folder: Path,
    inputs: tuple[Input, ...],
    *,
    k: int | None = None,
    sign: SigningKey | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> Verdict:
    """Return the audit of a release folder against the raw input, read as the release says it was.

    Beside the rules of the audit, what the folder says is written anew and compared byte by byte.

    Parameters
    ----------
    k
        A number that the release must reach even if its manifest promises less.
    sign
        Signs the verdict, which is then written into the public part; nothing else can be ordered.
    """
    if sign is not None:
        refuse_orders({"k": k})
    source = how_it_was_read(folder, inputs)
    told = read_manifest(folder, "trajectories").get("promise")
    promised = told.get("k") if isinstance(told, dict) else None
    raw = ReadInput(source, memory, promised if type(promised) is int else None)
    progress("auditing", 0, None)
    audit = audit_folder(folder, raw, k=k, memory=memory)
    progress("writing the public files anew", 0, None)
    more = (
        *rewritten_trajectories(folder),
        *rewritten_findings(public_part(folder), (folder, raw), (GUESS,)),
    )
    run = read_run(release_folder(folder))
    facts = read_manifest(folder, "trajectories")
    verdict = told_to_owner(
        audit,
        more,
        facts=facts,
        column=run.get("columns", {}).get("person"),
        recorded=run.get("input_files"),
        inputs=source.paths,
        preset=source.preset,
        given=taken_as_given(facts),
    )
    return sign_if_asked(public_part(folder), verdict, sign, version=__version__)


def sign_trajectories(
    folder: Path,
    inputs: tuple[Input, ...],
    key: SigningKey,
    *,
    memory: Memory = None,
    progress: Progress = silent,
) -> Verdict:
    """Return the audit of a release that was just written against the raw input, after signing it."""
    verdict = audit_trajectories_against(folder, inputs, sign=key, memory=memory, progress=progress)
    refuse_failed(folder, verdict.broken)
    return verdict


def check_trajectories(
    folder: Path, *, memory: Memory = None, progress: Progress = silent
) -> tuple[Finding, ...]:
    """Return what can be found out about a release without the raw input, from its public part alone."""
    progress("checking the public files", 0, None)
    found = audit_public(folder, memory=memory)
    progress("writing the public files anew", 0, None)
    return (*found, *rewritten_trajectories(folder))


def _guess_is_the_same(_: Path, what: tuple[Path, ReadInput]) -> bool:
    folder, raw = what
    published = read_trajectory_folder(folder)
    # The last to ask for the raw fixes, whose room is taken from here on.
    trajectories = trajectories_on(raw.fixes, published.grid)
    release = release_of_folder(folder, trajectories)
    guess, beside = guess_owner(trajectories, release), guess_beside(trajectories, release)
    found = {} if guess is None else {"guess": guess.to_manifest()}
    found |= {} if beside is None else {beside.entry: beside.to_manifest()}
    told = {name: published.manifest[name] for name in ("guess", *BESIDE) if name in published.manifest}
    return repr(told) == repr(found)


GUESS = Rewriting(
    "guess-as-counted",
    _guess_is_the_same,
    "a simple guess names as many people as the manifest says, tried once more on the same people",
    "a simple guess names another number of people than the manifest says, or cannot be tried",
)


def measure_trajectories_against(
    folder: Path, inputs: tuple[Input, ...], *, memory: Memory = None, progress: Progress = silent
) -> dict[str, Any]:
    """Return every measure of a release folder against the raw input."""
    inputs = checked_inputs(inputs)
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
    if source != TrajectorySource(paths=source.paths, tolerate=source.tolerate):
        raise InputError(
            "a release says itself how its input was read; leave out the options on rows, columns and samples"
        )


def how_it_was_read(folder: Path, inputs: tuple[Input, ...]) -> TrajectorySource:
    """Return how the input of a release was read, for these inputs, as its private record says."""
    read_manifest(folder, "trajectories")
    run = read_run(release_folder(folder))
    try:
        # What was released is looked at whatever was lost.
        return TrajectorySource.from_dict({**run["source"], "paths": inputs, "tolerate": 1.0})
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{folder}/private/run.json does not say how the input was read") from None
