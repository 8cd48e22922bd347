"""Rule about zones that a release took over from an earlier one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tripcloak.flows.audit.evidence import BOOK, FlowEvidence
from tripcloak.ground.documents import parse_json
from tripcloak.ground.entries import unreadable
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PUBLIC, file_digest
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from tripcloak.ground.spelling import spelt

METHOD = "fixed-zones"
ENTRY = "zones_from"
MANIFEST, PLAN = "manifest.json", "zones.json"


@BOOK.rule("zones-kept", "flows")
def zones_kept(case: FlowEvidence) -> str | Remark | None:
    """Zones that are said to be those of an earlier release are its zones, and no others."""
    parameters = case.facts.get("parameters")
    told = parameters.get(ENTRY) if isinstance(parameters, dict) else None
    folder = case.request.earlier
    if case.facts.get("method") != METHOD:
        return _own_zones(told, folder)
    if not isinstance(told, str) or not re.fullmatch(r"[0-9a-f]{64}", told):
        raise unreadable(f"parameters.{ENTRY}", "a SHA-256")
    if folder is None:
        return Remark(
            "zones are said to be those of the release or series whose public part has the SHA-256 "
            f"{told[:12]}...; to compare, give it with {spelt(ENTRY)}"
        )
    return _compared(case, told, _read(folder))


def _own_zones(told: Any, folder: Path | None) -> str | Remark:
    """Return what is wrong if zones were found by a method, and are said or thought to be kept."""
    if told is not None:
        return "the manifest says where zones are from, and that a method found them"
    if folder is not None:
        return "the release does not say that its zones are those of an earlier one"
    return NotPromised("not promised: no zones are said to be those of an earlier release")


def _compared(case: FlowEvidence, told: str, earlier: _Earlier) -> str | None:
    if earlier.digest != told:
        return "the zones are said to be from another release than the one that was given"
    if earlier.hierarchy != case.facts.get("hierarchy") or earlier.shared != case.promise.homogeneous:
        return "the zones are said to be those of the release that was given, which has zones of another kind"
    return _strangers(case, earlier)


class _Earlier(NamedTuple):
    """What the public part of an earlier release, or of a series, says of its zones."""

    digest: str
    hierarchy: Any
    shared: bool
    pairs: set[tuple[str, ...]]


def _strangers(case: FlowEvidence, earlier: _Earlier) -> str | None:
    """Return what is released between other zones than the earlier ones."""
    released = list(case.rows(f"select {', '.join(case.promise.axes)} from audit_flows"))
    if earlier.shared:
        known = [set(names) for names in zip(*earlier.pairs, strict=True)]
        strange = sum(
            not all(zone in names for zone, names in zip(row, known, strict=True)) for row in released
        )
    else:
        strange = sum(row not in earlier.pairs for row in released)
    return (
        f"{mask_small(strange, 'released flows')} are between zones that the earlier release does not have"
        if strange
        else None
    )


def _read(folder: Path) -> _Earlier:
    """Return the zones of an earlier release or series, from its public part alone."""
    names = (f"{PUBLIC}/{MANIFEST}", f"{PUBLIC}/{PLAN}", MANIFEST, PLAN)
    stated = next((folder / name for name in names if (folder / name).is_file()), None)
    if stated is None:
        raise InputError(f"{folder} holds neither a release nor a series, whose zones could be compared")
    try:
        facts = parse_json(stated.read_text(encoding="utf-8"))
        if stated.name == PLAN:
            return _of_plan(file_digest(stated), facts)
        flows = stated.parent / "flows.parquet"
        if file_digest(flows) != facts["files"][flows.name]:
            raise BrokenPart("the earlier release was changed since it was made")
        pairs = set(_pairs(flows))
        return _Earlier(file_digest(stated), facts["hierarchy"], facts["homogeneous"] is True, pairs)
    except (OSError, KeyError, TypeError, ValueError, IndexError):
        raise BrokenPart("the earlier release cannot be read, so that zones cannot be compared") from None


def _pairs(flows: Path) -> Iterable[tuple[str, ...]]:
    from pyarrow import parquet

    table = parquet.read_table(flows.absolute())
    axes = [axis for axis in ("origin", "destination", "time") if axis in table.column_names]
    return zip(*(table[axis].to_pylist() for axis in axes), strict=True)


def _of_plan(digest: str, told: Any) -> _Earlier:
    sides = [told["zones"][axis] for axis in ("origin", "destination", "time") if axis in told["zones"]]
    shared = "pairs" not in told
    if not shared:
        pairs = {tuple(side[place] for side, place in zip(sides, row, strict=True)) for row in told["pairs"]}
        return _Earlier(digest, told["hierarchy"], shared, pairs)
    most = max(map(len, sides))
    # Of a cut only the zones of each axis count, so that any pairs that name them all will do.
    pairs = {tuple(side[row % len(side)] for side in sides) for row in range(most)}
    return _Earlier(digest, told["hierarchy"], shared, pairs)
