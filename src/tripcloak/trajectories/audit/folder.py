"""The audit of a folder of released trajectories: published files against the raw input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.rulebook import BrokenPart, Verdict
from tripcloak.trajectories.audit.containment import Supports
from tripcloak.trajectories.audit.evidence import TrajectoryEvidence
from tripcloak.trajectories.audit.manifest import read_facts

if TYPE_CHECKING:
    from tripcloak.trajectories.reading import TrajectorySource


def audit_folder(
    folder: Path,
    source: TrajectorySource,
    *,
    k: int | None = None,
    memory: Memory = None,
    jobs: int | None = None,
) -> Verdict:
    """Return what an independent recount says about a folder of released trajectories.

    The files are read with SQL of this package's own and the raw fixes projected here; published edges
    are compared with raw instants and metres. No code of methods, measures or writers takes part.

    Parameters
    ----------
    folder
        The folder that holds ``release/`` and ``private/``.
    source
        The raw input, read as it was for the release.
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

    facts = read_facts(folder / "release" / "manifest.json")
    if facts is None:
        raise InputError(
            f"{folder} holds no release of trajectories: no readable release/manifest.json of that kind"
        )
    with connect(Budget.of(memory).engine) as con:
        case = TrajectoryEvidence(folder, facts, con, source, ordered=k, memory=memory, jobs=jobs)
        findings = BOOK.judge(case)
        try:
            supports = case.supports
        except BrokenPart:
            supports = None
    return Verdict.of(findings, **Supports.told(supports))
