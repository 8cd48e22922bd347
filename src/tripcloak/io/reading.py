"""Reads a release folder back as a Release, for measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.criteria import AllOf, Criterion, KAnonymity, KMAnonymity, LDiversity, TCloseness
from tripcloak.errors import InputError, InternalError
from tripcloak.hierarchy import Hierarchy, Zones
from tripcloak.io.box_reading import read_boxes
from tripcloak.io.folder import PRIVATE, read_manifest, read_run
from tripcloak.io.noisy_reading import noisy_release
from tripcloak.io.tables import AXES
from tripcloak.matrix import ODMatrix
from tripcloak.release import Release, build_release


def read_release(folder: Path, matrix: ODMatrix) -> Release:
    """Return the release that a folder holds, over the matrix of the input it was made from.

    Raises
    ------
    InputError
        The folder is no release, was made from another input, or was changed since.
    """
    facts = read_manifest(folder)
    if read_run(folder).get("input_digest") != matrix.digest():
        raise InputError(
            f"{folder} was made from another input than this one, or the input was changed since; "
            "give the very files it was made from"
        )
    groups = _groups(folder)
    try:
        if "differential_privacy" in facts:
            return noisy_release(folder, matrix, facts, groups.take(_rows_of_flows(matrix, groups)))
        return _build(matrix, facts, groups)
    except (KeyError, TypeError, ValueError, AttributeError, InternalError):
        raise InputError(
            f"{folder} was changed since it was made; `tripcloak audit` says what is wrong"
        ) from None


def _build(matrix: ODMatrix, facts: dict[str, Any], groups: Any) -> Release:
    rows = _rows_of_flows(matrix, groups)
    sent, boxes = _sent(matrix, facts, groups)
    origin, destination, *time = (zone[rows] for zone in sent)
    suppressed = np.asarray(groups["released_origin"].is_null())[rows]
    if any(((zone < 0) != suppressed).any() for zone in (origin, destination, *time)):
        raise ValueError("the table of groups names unknown zones")
    return build_release(
        matrix,
        method=facts["method"],
        parameters={n: v for n, v in facts["parameters"].items() if n != "suppression_limit"},
        criterion=_held_to(facts),
        closeness=TCloseness(t=facts["closeness"]) if "closeness" in facts else None,
        suppression_limit=facts["parameters"]["suppression_limit"],
        origin_zone=origin,
        destination_zone=destination,
        time_zone=time[0] if time else None,
        suppressed=suppressed,
        homogeneous=facts["homogeneous"],
        zones=boxes,
        seed=facts["seed"],
    )


def _sent(
    matrix: ODMatrix, facts: dict[str, Any], groups: Any
) -> tuple[list[Ints], tuple[Zones, Zones] | None]:
    """Return the zones that every row of the table went to, axis by axis, and the boxes if they are some."""
    columns = [groups[f"released_{axis}"] for axis, _ in zip(AXES, matrix.axes, strict=False)]
    if facts.get("zone_form") == "boxes":
        boxes, sent = read_boxes(matrix, facts["tile_km2"], columns)
        return sent, boxes
    return [_zones(tree, column) for (tree, _), column in zip(matrix.axes, columns, strict=True)], None


def _groups(folder: Path) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / PRIVATE / "groups.parquet"
    try:
        return parquet.read_table(path).combine_chunks()
    except FileNotFoundError:
        raise InputError(
            f"{folder} holds no private/groups.parquet, which says which flow went where"
        ) from None
    except (OSError, pa.ArrowException):
        raise InputError(f"{path} cannot be read; it may be damaged") from None


def _rows_of_flows(matrix: ODMatrix, groups: Any) -> Ints:
    """Return, for every flow of the matrix, its row in the groups table."""
    flow = matrix.find(
        _tiles(matrix.origins, groups["origin"]),
        _tiles(matrix.destinations, groups["destination"]),
        None if matrix.times is None else _tiles(matrix.times, groups["time"]),
    )
    if len(flow) != matrix.n_flows or len(np.unique(flow)) != matrix.n_flows or flow.min() < 0:
        raise ValueError("the table of groups does not hold every flow once")
    rows = np.empty(matrix.n_flows, dtype=np.int64)
    rows[flow] = np.arange(matrix.n_flows)
    return rows


def _tiles(tree: Hierarchy, column: Any) -> Ints:
    tiles = _zones(tree, column)
    if tiles.min(initial=0) < 0 or tiles.max(initial=0) >= tree.n_tiles:
        raise ValueError("the table of groups names unknown tiles")
    return tiles


def _zones(tree: Hierarchy, column: Any) -> Ints:
    """Return the zone of every id, -1 for null and for ids the hierarchy does not know."""
    coded = column.combine_chunks().dictionary_encode()
    ids = np.asarray(coded.dictionary.to_pylist(), dtype=np.str_)
    order = np.argsort(tree.zones.ids)
    at = np.minimum(np.searchsorted(tree.zones.ids, ids, sorter=order), len(order) - 1)
    known = np.where(tree.zones.ids[order[at]] == ids, order[at], -1) if len(ids) else np.empty(0, np.int64)
    indices = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    zones: Ints = np.append(known, -1)[indices].astype(np.int32)
    return zones


def _held_to(facts: dict[str, Any]) -> Criterion:
    criterion = _criterion(facts["protects"], facts.get("diversity", {}))
    known = facts.get("known_items")
    return criterion if known is None else KMAnonymity(criterion=criterion, m=known)


def _criterion(protects: dict[str, float], diversity: dict[str, int]) -> Criterion:
    parts: list[Criterion] = [KAnonymity(k=k, unit=unit) for unit, k in protects.items()]  # type: ignore[arg-type]
    parts += [LDiversity(l=least, of=what) for what, least in diversity.items()]  # type: ignore[arg-type]
    return parts[0] if len(parts) == 1 else AllOf(criteria=tuple(parts))
