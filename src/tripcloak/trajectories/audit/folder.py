"""The audit of a folder of released trajectories: published files against the raw input."""

from __future__ import annotations

from pathlib import Path

from tripcloak.ground.manifest import read_manifest, release_folder
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.rulebook import BrokenPart, Finding, Verdict
from tripcloak.trajectories.audit.containment import RawSupports, Supports
from tripcloak.trajectories.audit.evidence import RawFixes, RawTrajectories, TrajectoryEvidence


def audit_folder(
    folder: Path,
    raw: RawTrajectories,
    *,
    k: int | None = None,
    memory: Memory = None,
    jobs: int | None = None,
) -> Verdict:
    """Return what an independent recount says about a folder of released trajectories.

    The files are read with SQL of this package's own and the raw fixes projected here; published edges
    are compared with raw instants and metres. No code of methods, measures, readers or writers takes part.

    Parameters
    ----------
    folder
        The folder that holds ``release/`` and ``private/``, or its public part.
    raw
        The raw input, read as it was for the release, when it is asked for.
    k
        What was ordered, to be checked beside what the manifest promises.
    memory
        How much memory to use, such as ``1GB``; half of the machine's by default.
    jobs
        Threads; as many as there are processors if not given. The audit is the same for any number.

    Raises
    ------
    InputError
        The folder holds no release of trajectories, or the raw input cannot be read. A release with a
        broken or missing part is no error: the rules that need it fail.
    """
    from tripcloak.ground.engine import connect
    from tripcloak.trajectories.audit.rules import BOOK

    folder, facts = release_folder(folder), read_manifest(folder, "trajectories")
    with connect(Budget.of(memory).engine) as con:
        case = TrajectoryEvidence(folder, facts, con, raw, ordered=k, jobs=jobs)
        findings = BOOK.judge(case)
        try:
            counted = case.manifest.promise.whole
            numbers = Supports.told(case.supports if counted else None)
            numbers |= RawSupports.told(case.raw_supports if counted else None)
        except BrokenPart:
            numbers = Supports.told(None) | RawSupports.told(None)
    return Verdict.of(findings, **numbers)


PUBLIC_RULES = (
    *("files-complete", "digests-match", "only-allowed-columns", "parquet-holds-no-more"),
    *("csv-equals-parquet", "geojson-equals-samples", "mfjson-equals-samples", "manifest-whole"),
    *("promise-valid", "manifest-consistent", "boxes-have-extent", "edges-on-the-grid", "no-overlap-in-time"),
    *("ordered-by-pseudonym", "degrees-enclose-metres", "m-samples-reach-k", "noise-adds-up"),
    "made-up-is-coarse",
)
"""The rules that need neither the raw input nor the private part."""


class NoInput:
    """The raw input of whoever has none."""

    @property
    def fixes(self) -> RawFixes:
        """Raise: there is none."""
        raise BrokenPart("cannot be checked without the raw data")

    def grid(self) -> None:
        """Return nothing: nobody knows how the input was read."""


def audit_public(folder: Path, *, memory: Memory = None) -> tuple[Finding, ...]:
    """Return the findings on the rules that need neither the raw input nor the private part.

    Parameters
    ----------
    folder
        The public part of a release, under any name, or the folder that holds it.
    memory
        How much memory to use, such as ``1GB``; half of the machine's by default.
    """
    from tripcloak.ground.engine import connect
    from tripcloak.trajectories.audit.rules import BOOK

    facts = read_manifest(folder, "trajectories")
    with connect(Budget.of(memory).engine) as con:
        return BOOK.judge(TrajectoryEvidence(folder, facts, con, NoInput()), only=PUBLIC_RULES)
