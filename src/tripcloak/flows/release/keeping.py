"""Reads the zones of an earlier release, from its public part, so that another one can use them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.flows.model.kept import AXES, KeptZones, ZoneMembers, members_digest
from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE, PUBLIC, file_digest, write_json
from tripcloak.ground.manifest import NAME, is_release, public_part, read_manifest, read_run
from tripcloak.ground.public_files import changed_files
from tripcloak.hierarchy.spec import needs_zones

PLAN = "zones.json"
"""The public file of a series that states the zones of all its releases."""

COPY = f"{PRIVATE}/kept_zones.json"
"""Where a release holds the zones that it took over, below its folder."""


def read_kept(folder: Path) -> KeptZones:
    """Return the zones of an earlier release, or those that a series was planned with.

    Parameters
    ----------
    folder
        The folder of a release, or of a series, or the public part of either.

    Raises
    ------
    InputError
        There is neither there, or a public file was changed since.
    """
    plan = _plan(folder)
    if plan is not None:
        return KeptZones.from_dict(_document(plan), file_digest(plan))
    facts, public = read_manifest(folder, "flows"), public_part(folder).absolute()
    changed = changed_files(public, facts.get("files"), {NAME, *facts.get("files", ())})
    if changed:
        raise InputError(f"{folder} cannot lend its zones: {changed}")
    try:
        return KeptZones.of_pairs(
            _columns(public, facts),
            digest=file_digest(public / NAME),
            homogeneous=bool(facts["homogeneous"]),
            hierarchy=dict(facts["hierarchy"]),
            boxes="zone_form" in facts,
            members=_members(public),
        )
    except (OSError, KeyError, TypeError, ValueError):
        raise InputError(
            f"{folder} cannot lend its zones: flows.parquet, zones.parquet or an entry of its manifest is "
            "missing"
        ) from None


def plan_of(folders: Mapping[str, Path]) -> KeptZones:
    """Return the zones that the releases of a series have between them, from their public parts.

    Parameters
    ----------
    folders
        Period to the folder of its release, or its public part.
    """
    every = [read_kept(folder) for folder in folders.values()]
    columns: dict[str, list[str]] = {axis: [] for axis in every[0].zones}
    for folder in folders.values():
        for axis, names in _columns(public_part(folder).absolute(), read_manifest(folder, "flows")).items():
            columns[axis] += names
    return KeptZones.of_pairs(
        columns,
        digest=every[0].digest,
        homogeneous=every[0].homogeneous,
        hierarchy=every[0].hierarchy,
        boxes=every[0].boxes,
        members=_members(*(public_part(folder).absolute() for folder in folders.values())),
    )


def periods_of(folder: Path) -> dict[str, Path]:
    """Return the releases of a series beside its public part, by name; none where there is no series."""
    plan = _plan(folder)
    if plan is None:
        return {}
    above = plan.absolute().parent.parent
    return {path.name: path for path in sorted(above.iterdir()) if (path / PUBLIC / NAME).is_file()}


def zones_file_of(folder: Path) -> str | None:
    """Return the zones file that an earlier release was made with, as far as its private part knows it."""
    whole = folder if (folder / PRIVATE).is_dir() else folder.absolute().parent
    if not is_release(folder) or not (whole / PRIVATE / "run.json").is_file():
        return None
    told = read_run(whole).get("tiling", {}).get("zones")
    if not isinstance(told, str):
        return None
    path = whole / told if told.startswith(f"{PRIVATE}/") else Path(told)
    return str(path) if path.is_file() else None


def write_copy(path: Path, kept: KeptZones) -> None:
    """Write zones that were taken over, with the digest of where they are from."""
    write_json(path, {"zones_from": kept.digest, **kept.to_dict()})


def read_copy(folder: Path) -> KeptZones:
    """Return the zones that a release took over, from its private part."""
    if not (folder / COPY).is_file():
        raise InputError(f"{folder} holds no {COPY}, which says what zones it took over")
    told = _document(folder / COPY)
    return KeptZones.from_dict(told, str(told.pop("zones_from", "")))


def _plan(folder: Path) -> Path | None:
    """Return the plan of a series, None where the folder holds none."""
    places = [] if is_release(folder) else [folder / PUBLIC / PLAN, folder / PLAN]
    return next((place for place in places if place.is_file()), None)


def _document(path: Path) -> dict[str, Any]:
    try:
        told = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        told = None
    if not isinstance(told, dict):
        raise InputError(f"{path} cannot be read as JSON")
    return told


def _columns(public: Path, facts: Mapping[str, Any]) -> dict[str, list[str]]:
    from pyarrow import parquet

    flows = parquet.read_table(public.absolute() / "flows.parquet")
    axes = [axis for axis in AXES if axis in flows.column_names]
    if not len(flows) or (len(axes) > 2) != ("time_slot_minutes" in facts["hierarchy"]):
        raise ValueError("the manifest and the flows do not go together")
    return {axis: flows[axis].to_pylist() for axis in axes}


def _members(*public: Path) -> dict[str, str]:
    """Return, by axis, a digest of the tiles below zones, where the tables of zones list them."""
    from pyarrow import parquet

    tables = [parquet.read_table(folder.absolute() / "zones.parquet") for folder in public]
    if not all("members" in table.column_names for table in tables):
        return {}
    found = {}
    for axis in AXES[:2]:
        parts = [table.filter(np.asarray(table["axis"]) == axis) for table in tables]
        rows = [row for part in parts for row in part.select(["zone", "members", "lat", "lon"]).to_pylist()]
        once = {row["zone"]: ZoneMembers(*row.values()) for row in rows}
        found[axis] = members_digest(once.values())
    return found


def needs_a_zones_file(kept: KeptZones) -> bool:
    """Return whether kept zones are made of those of a file."""
    return needs_zones(str(kept.hierarchy.get("spec")))
