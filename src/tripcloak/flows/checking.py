"""Auditing and measuring a release folder against the raw input it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripcloak._version import __version__
from tripcloak.flows.audit import audit_folder, audit_public
from tripcloak.flows.measures import measure
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.reading.matrix import KEPT_ZONES, Zoning, opened, read_matrix
from tripcloak.flows.release.keeping import read_copy
from tripcloak.flows.release.reading import read_release
from tripcloak.flows.rewriting import ReadAs, rewritten_flows
from tripcloak.ground.engine import plain_errors
from tripcloak.ground.errors import InputError
from tripcloak.ground.keys import SigningKey
from tripcloak.ground.manifest import public_part, read_manifest, read_run, release_folder
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.rulebook import Finding, Verdict
from tripcloak.ground.signatures import refuse_failed, refuse_orders, sign_if_asked
from tripcloak.ground.spelling import called, spelt
from tripcloak.hierarchy import parse_tiling
from tripcloak.pages.presenting import taken_as_given
from tripcloak.promises import Promise
from tripcloak.records.files.fingerprints import told_to_owner
from tripcloak.records.files.frames import Input
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource


def audit_against(
    folder: Path,
    inputs: tuple[Input, ...],
    *,
    k: float | None = None,
    known_items: int | None = None,
    diversity: Mapping[str, int] | None = None,
    closeness: float | None = None,
    parts: Mapping[str, float] | None = None,
    earlier: Path | None = None,
    sign: SigningKey | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> Verdict:
    """Return the audit of a release folder against the raw input, read as the release says it was.

    Beside the rules of the audit, what the folder says is written anew and compared byte by byte.

    Parameters
    ----------
    k
        A threshold the release must reach even if its manifest promises less.
    known_items
        How many items of a trip somebody may know for it to hold; all of them if not given.
    diversity, closeness
        The same for l-diversity (of ``tiles`` or ``places``) and t-closeness.
    parts
        The same for the part that one traveller has of a flow: ``dominance`` or ``p-percent``.
    earlier
        The release or series that zones are said to be from, to be compared.
    sign
        Signs the verdict, which is then written into the public part; nothing else can be ordered.
    """
    if sign is not None:
        of_parts = {name.replace("-", "_"): number for name, number in (parts or {}).items()}
        refuse_orders({"k": k, "m": known_items, "l": diversity, "t": closeness, **of_parts})
    source, zoning = how_it_was_read(folder, inputs)
    tiling = parse_tiling(zoning.spec, zones=zoning.zones, zone_id=zoning.zone_id, area=zoning.area)
    with opened(source, memory=memory) as (con, canonical), plain_errors():
        audit = audit_folder(
            folder,
            con,
            k=k,
            known_items=known_items,
            diversity=diversity,
            closeness=closeness,
            parts=parts,
            earlier=earlier,
            tiling=tiling,
            each_trip_is_a_person=canonical.people_once,
            progress=progress,
        )
    progress("writing the public files anew", 0, None)
    kept = None if zoning.kept is None else zoning.kept.digest
    read = ReadAs(tiling, zoning.told(tiling, canonical.timezone), kept)
    facts = read_manifest(folder, "flows")
    verdict = told_to_owner(
        audit,
        rewritten_flows(folder, read),
        facts=facts,
        column=canonical.columns.get("person"),
        recorded=read_run(release_folder(folder)).get("input_files"),
        inputs=source.paths,
        preset=source.preset,
        given=taken_as_given(facts),
    )
    return sign_if_asked(public_part(folder), verdict, sign, version=__version__)


def sign_release(
    folder: Path,
    inputs: tuple[Input, ...],
    key: SigningKey,
    *,
    memory: Memory = None,
    progress: Progress = silent,
) -> Verdict:
    """Return the audit of a release that was just written against the raw input, after signing it."""
    verdict = audit_against(folder, inputs, sign=key, memory=memory, progress=progress)
    refuse_failed(folder, verdict.broken)
    return verdict


def check_flows(
    folder: Path, *, earlier: Path | None = None, memory: Memory = None, progress: Progress = silent
) -> tuple[Finding, ...]:
    """Return what can be found out about a release without the raw input, from its public part alone.

    Parameters
    ----------
    earlier
        The release or series that zones are said to be from, to be compared.
    """
    progress("checking the public files", 0, None)
    found = audit_public(folder, earlier=earlier, memory=memory)
    progress("writing the public files anew", 0, None)
    return (*found, *rewritten_flows(folder))


def measure_against(
    folder: Path,
    inputs: tuple[Input, ...],
    *,
    volume: str | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Return every measure of a release folder against the raw input."""
    if volume not in (None, "trips", "population"):
        raise InputError(f"{called('volume')} must be trips or population; got {volume!r}")
    source, zoning = how_it_was_read(folder, inputs)
    matrix = read_matrix(source, zoning, memory=memory, progress=progress).trips.matrix
    progress("measuring", 0, None)
    return measure(matrix, read_release(folder, matrix), volume=volume)  # type: ignore[arg-type]


def read_as_released(
    folder: Path, inputs: tuple[Input, ...], *, memory: Memory = None, progress: Progress = silent
) -> ODMatrix:
    """Return the matrix of the very input that a release was made from, or raise where it is another."""
    source, zoning = how_it_was_read(folder, inputs)
    matrix = read_matrix(source, zoning, memory=memory, progress=progress).trips.matrix
    if read_run(release_folder(folder)).get("input_digest") != matrix.digest():
        raise InputError(
            f"{folder} was made from another input than this one, or the input was changed since; "
            f"give the very files it was made from ({spelt('against', 'FILE')})"
        )
    return matrix


def how_it_was_read(folder: Path, inputs: tuple[Input, ...]) -> tuple[TripSource, Zoning]:
    """Return how the input of a release was read, for these inputs, as its private record says."""
    facts, run = read_manifest(folder, "flows"), read_run(release_folder(folder))
    try:
        # What was released is looked at whatever was lost.
        source = TripSource.from_dict({**run["source"], "paths": inputs, "tolerate": 1.0})
        parted = (name for text in _segmented_by(facts) for name in SegmentBy.parse(text).attributes)
        carried = tuple(dict.fromkeys((*source.attributes, *parted)))
        zoning = Zoning.from_dict(run["tiling"])
        if zoning.zones == KEPT_ZONES:
            zoning = replace(zoning, zones=str(folder / KEPT_ZONES))
        if run["tiling"].get("kept"):
            zoning = replace(zoning, kept=read_copy(release_folder(folder)))
        return replace(source, attributes=carried), zoning
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{folder}/private/run.json does not say how the input was read") from None


def _segmented_by(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what parts people into segments; nothing where the promise cannot be read, as the audit says."""
    try:
        return Promise.from_manifest(facts.get("promise")).segmented_by
    except InputError:
        return ()
