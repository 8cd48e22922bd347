"""Reads a release back: its private part with the matrix it was made from, or its public part alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, build_noisy_release, build_release
from tripcloak.flows.release.bricks import NONE
from tripcloak.flows.release.laying import read_tables
from tripcloak.flows.release.tables import AXES
from tripcloak.flows.release.totals import names_of, wanted_of
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import HierarchyError, InputError, InternalError
from tripcloak.ground.folders import PRIVATE, PUBLIC
from tripcloak.ground.manifest import public_part, read_manifest, read_run, release_folder
from tripcloak.ground.spelling import spelt, spelt_command
from tripcloak.hierarchy import BoxZones, Domain, Hierarchy, Zones, box_zones, read_box_names, shared_domains
from tripcloak.promises import Promise


class SentToBoxes(NamedTuple):
    """The boxes of origins and of destinations, and the box of every row on each axis, -1 for null."""

    zones: tuple[BoxZones, BoxZones]
    rows: list[Ints]


def read_boxes(matrix: ODMatrix, tile_km2: Mapping[str, float | None], columns: Sequence[Any]) -> SentToBoxes:
    """Return the boxes that two columns of the table name, and where every row went.

    Parameters
    ----------
    matrix
        The input that the release was made from.
    tile_km2
        The area of a tile by axis, from the manifest.
    columns
        The columns of released origins and released destinations.
    """
    if matrix.times is not None:
        raise ValueError("boxes do not go with slots of time")
    sides = [
        _boxes(tree, tile, column, tile_km2[axis])
        for axis, (tree, tile), column in zip(("origins", "destinations"), matrix.axes, columns, strict=True)
    ]
    return SentToBoxes((sides[0][0], sides[1][0]), [rows for _, rows in sides])


def _boxes(tree: Hierarchy, tile: Ints, column: Any, tile_km2: float | None) -> tuple[BoxZones, Ints]:
    coded = column.combine_chunks().dictionary_encode()
    try:
        corners = read_box_names(np.asarray(coded.dictionary.to_pylist(), dtype=np.str_))
    except HierarchyError:
        raise ValueError("the table of groups names zones that are no boxes") from None
    occurs = np.bincount(tile, minlength=tree.n_tiles) > 0
    zones = box_zones(tree, occurs, corners, np.nan if tile_km2 is None else float(tile_km2))
    return zones, coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)


def noisy_release(
    folder: Path, matrix: ODMatrix, facts: dict[str, Any], promise: Promise, groups: Any
) -> Release:
    """Return the release whose public part a folder holds.

    The numbers come from the published table: noise cannot be drawn twice alike.

    Parameters
    ----------
    facts, promise
        The manifest, and what it promises.
    groups
        The table of groups, one row per flow of the matrix, in its order.
    """
    from pyarrow import parquet

    # Arrow takes a path that begins with ~ or s3: for another place, but not if it begins at the root.
    public = folder.absolute() / PUBLIC
    flows = parquet.read_table(public.absolute() / "flows.parquet")
    told = parquet.read_table(public.absolute() / "zones.parquet")
    domains = shared_domains(matrix.origins, matrix.destinations)
    if domains is None:
        raise ValueError("the hierarchy does not say which zones there could be")
    zones, pairs, sent = [], [], []
    for axis, domain, (tree, _) in zip(("origin", "destination"), domains, matrix.axes, strict=True):
        known = tree.zones if tree.complete else _noisy_zones(told, axis, domain, tree)
        zones.append(known)
        pairs.append(_rows(known.ids, flows[axis]))
        sent.append(_rows(known.ids, groups[f"released_{axis}"]))
    return build_noisy_release(
        matrix,
        method=facts["method"],
        parameters=facts["parameters"],
        promise=promise,
        zones=(zones[0], zones[1]),
        group_of_flow=_group_of_flows(pairs, sent, len(zones[1])),
        group_origin=pairs[0],
        group_destination=pairs[1],
        trips=flows["trips"].to_numpy(),
        homogeneous=facts["homogeneous"],
    )


def _noisy_zones(told: Any, axis: str, domain: Domain, tree: Hierarchy) -> Zones:
    """Return the published zones of one axis of a grid, sorted by id."""
    rows = np.asarray(told["axis"]) == axis
    column = {
        name: np.asarray(told[name])[rows] for name in ("zone", "height", "tiles", "area_km2", "lat", "lon")
    }
    order = np.argsort(column["zone"].astype(np.str_))
    ids, height, tiles, area, lat, lon = (values[order] for values in column.values())
    ids = ids.astype(np.str_)
    observed = np.zeros(len(ids), dtype=np.int64)
    for one in np.unique(height).tolist():
        occurring, _ = domain.released(domain.lift(tree, int(one)), tree)
        at = np.minimum(np.searchsorted(ids, occurring.ids), len(ids) - 1)
        published = ids[at] == occurring.ids
        observed[at[published]] = occurring.tiles_observed[published]
    return Zones(ids, height, tiles, observed, area, lat, lon)


def _rows(ids: NDArray[np.str_], column: Any) -> Ints:
    """Return the row of every id, -1 for null; raise where there is no such zone."""
    coded = column.combine_chunks().dictionary_encode()
    names = np.asarray(coded.dictionary.to_pylist(), dtype=np.str_)
    order = np.argsort(ids)
    at = order[np.minimum(np.searchsorted(ids, names, sorter=order), len(order) - 1)]
    if not (ids[at] == names).all():
        raise ValueError("the release names zones that are not in its own table")
    rows: Ints = np.append(at, -1)[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return rows


def _group_of_flows(pairs: list[Ints], sent: list[Ints], width: int) -> Ints:
    """Return the group of every flow by its pair of zones, -1 where it has none."""
    key = pairs[0].astype(np.int64) * width + pairs[1]
    order = np.argsort(key)
    wanted = sent[0].astype(np.int64) * width + sent[1]
    at = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)]
    lost = sent[0] < 0
    if not (lost == (sent[1] < 0)).all() or not (lost | (key[at] == wanted)).all():
        raise ValueError("a flow lies in a pair of zones that is not published")
    return np.where(lost, -1, at)


def read_release(folder: Path, matrix: ODMatrix) -> Release:
    """Return the release that a folder holds, over the matrix of the input it was made from.

    Raises
    ------
    InputError
        The folder is no release, was made from another input, or was changed since.
    """
    folder = release_folder(folder)
    facts = read_manifest(folder, "flows")
    if read_run(folder).get("input_digest") != matrix.digest():
        raise InputError(
            f"{folder} was made from another input than this one, or the input was changed since; "
            f"give the very files it was made from ({spelt('against', 'FILE')})"
        )
    groups = _groups(folder)
    try:
        promise = Promise.from_manifest(facts["promise"])
        if promise.noisy:
            return noisy_release(folder, matrix, facts, promise, groups.take(_rows_of_flows(matrix, groups)))
        # The matrix does not tell whose trips are of which segment: measures look at all of them together.
        # Nor does it tell what each traveller has of a flow, unless somebody asked for it.
        release = _build(matrix, facts, promise.of_everybody.monotone, groups)
        if promise.rounding is not None:
            release = replace(release, rounded=_rounded(folder, release))
        return _with_tables(matrix, facts, release, groups)
    except (KeyError, TypeError, ValueError, AttributeError, InternalError, InputError):
        raise InputError(
            f"{folder} was changed since it was made; {spelt_command('audit')} says what is wrong"
        ) from None


def _rounded(folder: Path, release: Release) -> Ints:
    """Return the published trips of every group, which nobody can work out from the true ones."""
    from pyarrow import parquet

    flows = parquet.read_table(folder.absolute() / PUBLIC / "flows.parquet")
    told = zip(*(flows[axis].to_pylist() for axis, _, _ in release.axes), strict=True)
    numbers = dict(zip(told, flows["trips"].to_pylist(), strict=True))
    own = zip(*(zones.ids[column].tolist() for _, zones, column in release.axes), strict=True)
    return np.array([numbers[names] for names in own], dtype=np.int64)


def _build(matrix: ODMatrix, facts: dict[str, Any], promise: Promise, groups: Any) -> Release:
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
        promise=promise,
        suppression_limit=facts["parameters"]["suppression_limit"],
        origin_zone=origin,
        destination_zone=destination,
        time_zone=time[0] if time else None,
        suppressed=suppressed,
        homogeneous=facts["homogeneous"],
        zones=boxes,
        seed=facts["seed"],
    )


def _with_tables(matrix: ODMatrix, facts: dict[str, Any], release: Release, groups: Any) -> Release:
    """Return the release with the tables that the manifest says are beside its flows."""
    wanted = wanted_of(facts)
    if wanted is None:
        return release
    order = names_of(facts)
    place = {",".join(pair): at for at, pair in enumerate(order)} | {None: NONE}
    first = np.array([place[name] for name in groups["counted_from"].to_pylist()], dtype=np.int32)
    return replace(
        release, tables=read_tables(matrix, release, wanted, order, first[_rows_of_flows(matrix, groups)])
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

    path = folder.absolute() / PRIVATE / "groups.parquet"
    try:
        return parquet.read_table(path.absolute()).combine_chunks()
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


@dataclass(frozen=True, eq=False)
class PublishedZones:
    """The released zones of one axis: ids, outlines (shapely, None where there is none) and tiles."""

    ids: NDArray[np.str_]
    shapes: NDArray[Any]
    tiles: Ints

    def __repr__(self) -> str:
        return f"<PublishedZones: {len(self.ids):,}>"

    def rows(self, ids: NDArray[np.str_]) -> Ints:
        """Return the row of every id."""
        order = np.argsort(self.ids)
        ascending = self.ids[order]
        place = np.searchsorted(ascending, ids)
        if (np.append(ascending, "")[place] != ids).any():
            raise InputError("the released flows name a zone that the table of zones does not have")
        found: Ints = order[place]
        return found


@dataclass(frozen=True, eq=False)
class Published:
    """A release as its readers have it.

    Attributes
    ----------
    facts : dict
        The manifest.
    origin, destination, time : array of int
        Rows of ``zones`` by axis, one value a released flow; time is None where it is no axis.
    volume : array of float
        Trips, or population where only that is published.
    zones : dict
        Axis to its zones.
    """

    facts: dict[str, Any]
    origin: Ints
    destination: Ints
    time: Ints | None
    volume: Floats
    zones: dict[str, PublishedZones]

    def __repr__(self) -> str:
        return f"<Published: {len(self.origin):,} flows>"


def read_published(folder: Path) -> Published:
    """Return a release from its public files alone: ``folder`` is the release folder, or its public part."""
    from pyarrow import parquet

    public, facts = public_part(folder).absolute(), read_manifest(folder, "flows")
    try:
        flows = parquet.read_table(public.absolute() / "flows.parquet")
        return published_of(facts, flows, parquet.read_table(public.absolute() / "zones.parquet"))
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"{public} is not a whole release: flows.parquet, zones.parquet or a column of theirs is missing"
        ) from error


def published_of(facts: dict[str, Any], flows: Any, table: Any) -> Published:
    """Return a release from its tables of flows and of zones, as its readers have it."""
    zones = {axis: _zones_of(table, axis) for axis in ("origin", "destination", "time")}
    names = {axis: _text(flows[axis]) for axis in zones if axis in flows.column_names}
    volume = np.asarray(flows[facts["volume"]], dtype=float)
    rows = {axis: zones[axis].rows(ids) for axis, ids in names.items()}
    return Published(facts, rows["origin"], rows["destination"], rows.get("time"), volume, zones)


def _zones_of(table: Any, axis: str) -> PublishedZones:
    import shapely

    rows = table.filter(np.asarray(_text(table["axis"]) == axis))
    shapes = np.full(len(rows), None, dtype=object)
    if "geometry" in rows.column_names:
        shapes = shapely.from_wkb(rows["geometry"].to_numpy(zero_copy_only=False))
    return PublishedZones(_text(rows["zone"]), shapes, np.asarray(rows["tiles"], dtype=np.int64))


def _text(column: Any) -> NDArray[np.str_]:
    return np.asarray(column.to_pylist(), dtype=np.str_)
