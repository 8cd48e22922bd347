"""The audit of a release folder: every rule against the files and the raw input."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tripcloak.flows.audit.centres import TileCentres
from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.flows.audit.promise import AuditRequest
from tripcloak.flows.audit.raw import RawInput
from tripcloak.flows.audit.rules import BOOK
from tripcloak.flows.audit.rules.counts import smallest_support
from tripcloak.flows.audit.trees import load_tree
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.progress import Progress
from tripcloak.ground.rulebook import BrokenPart, Finding, Verdict

if TYPE_CHECKING:
    import duckdb

    from tripcloak.hierarchy.tiling import Tiling


def audit_folder(
    folder: Path,
    con: duckdb.DuckDBPyConnection,
    *,
    k: float | None = None,
    unit: str | None = None,
    diversity: Mapping[str, int] | None = None,
    closeness: float | None = None,
    known_items: int | None = None,
    parts: Mapping[str, float] | None = None,
    earlier: Path | None = None,
    tiling: Tiling | None = None,
    each_trip_is_a_person: bool = False,
    progress: Progress | None = None,
) -> Verdict:
    """Return what an independent recount says about a release folder.

    The raw input is counted afresh with SQL of this package's own; no code of the methods or the
    measures takes part. The thresholds are those of the public manifest, never of the private record.

    Parameters
    ----------
    folder
        The folder that holds ``release/`` and ``private/``.
    con
        A connection with the view ``canonical`` of the raw input: ``o_lat, o_lon, d_lat, d_lon`` or
        ``o_id, d_id``; ``reason`` (0 where the row counts); optionally ``person``, ``weight``, ``trips``
        and ``mark`` (rows with equal marks are duplicates). Its memory limit holds for the audit.
    k, unit
        What was ordered, to be checked beside what the manifest promises; the unit is the manifest's
        main one if not given.
    diversity, closeness
        The same for l-diversity (of ``tiles`` or ``places``) and t-closeness.
    known_items
        For how many known items of a trip k was ordered, if not for all of them.
    parts
        What was ordered of the part that one traveller has of a flow: ``dominance`` or ``p-percent``.
    earlier
        The release or series that zones are said to be from, to be compared.
    tiling
        How places become tiles. Not used for H3, where the h3 library is asked; for other hierarchies
        it is rebuilt from the release's record if not given.
    each_trip_is_a_person
        The input is a table of people in which everybody is counted once, so trips are travellers.
    progress
        Called with (rule, rules done, rules in all).

    Raises
    ------
    InputError
        The folder holds no release (no readable manifest of this format), or the raw input cannot be
        read. A release with a broken or missing part is no error: the rules that need it fail.
    """
    raw = RawInput(tiling=tiling, each_trip_is_a_person=each_trip_is_a_person)
    centres = TileCentres(tiling)
    loaders = {"tree": load_tree, "centres": centres.load, "raw": raw.load, "recount": raw.recount}
    request = AuditRequest(
        k=k,
        unit=unit,
        diversity=dict(diversity or {}),
        closeness=closeness,
        known_items=known_items,
        parts=dict(parts or {}),
        earlier=earlier,
    )
    case = FlowEvidence(folder, con, request=request, loaders=loaders, tiling=tiling)
    try:
        findings = BOOK.judge(case, progress=progress)
        return Verdict.of(findings, smallest_support=_smallest(case))
    finally:
        case.close()


def audit_files(folder: Path, *, memory: Memory = None) -> tuple[Finding, ...]:
    """Return the findings on the rules that need no raw input.

    They say whether the files are whole, unchanged and agree with each other; whether the groups are
    safe only :func:`audit_folder` can tell.

    Parameters
    ----------
    folder
        The folder that holds ``release/`` and ``private/``.
    memory
        How much memory to use, such as ``1GB``; half of the machine's by default.
    """
    from tripcloak.ground.engine import connect

    with connect(Budget.of(memory).engine) as con:
        case = FlowEvidence(folder, con, loaders={"tree": load_tree, "centres": TileCentres().load})
        return BOOK.judge(case, without=("raw", "recount"))


PRIVATE_PARTS = ("raw", "recount", "record", "groups", "tree", "centres", "hierarchy")


def audit_public(folder: Path, *, earlier: Path | None = None, memory: Memory = None) -> tuple[Finding, ...]:
    """Return the findings on the rules that need neither the raw input nor the private part.

    Parameters
    ----------
    folder
        The public part of a release, under any name, or the folder that holds it.
    earlier
        The release or series that zones are said to be from, to be compared.
    memory
        How much memory to use, such as ``1GB``; half of the machine's by default.
    """
    from tripcloak.ground.engine import connect

    with connect(Budget.of(memory).engine) as con:
        request = AuditRequest(earlier=earlier)
        return BOOK.judge(FlowEvidence(folder, con, request=request, alone=True), without=PRIVATE_PARTS)


def _smallest(case: FlowEvidence) -> dict[str, float]:
    try:
        return smallest_support(case)
    except BrokenPart:
        return {}
