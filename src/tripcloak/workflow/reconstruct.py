"""From a published release to flows between zones that somebody draws."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tripcloak.analysis import Overlap, Reconstruction, area_overlap, equal_area, point_overlap, reconstruct
from tripcloak.analysis.overlap import Shapes, refuse_overlaps
from tripcloak.errors import InputError
from tripcloak.hierarchy import ZoneFile
from tripcloak.io.published import Published, PublishedZones, read_published
from tripcloak.workflow.centres import tile_points

Rule = Literal["area", "tiles"]
RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rebuilt:
    """Flows between drawn zones.

    Attributes
    ----------
    names : array of str
        The drawn zones.
    times : array of str, optional
        The released times, where time is an axis.
    parts : list of Reconstruction
        One per released time, or a single one.
    outside : dict
        Share of the released volume whose origin, or destination, lies in no drawn zone.
    unplaced : float
        Share of the released volume between zones of which one has no outline.
    left_out : float
        Volume of flows whose estimate is too small to list.
    """

    names: NDArray[np.str_]
    times: NDArray[np.str_] | None
    parts: list[Reconstruction]
    outside: dict[str, float]
    unplaced: float
    left_out: float
    rule: Rule
    published: Published

    def columns(self) -> dict[str, Any]:
        """Return the table of flows: origin, destination, time where there is one, and the numbers."""
        origin, destination = (
            np.concatenate([getattr(part, end) for part in self.parts]) for end in ("origin", "destination")
        )
        table: dict[str, Any] = {"origin": self.names[origin], "destination": self.names[destination]}
        if self.times is not None:
            table["time"] = np.repeat(self.times, [len(part.volume) for part in self.parts])
        for number in ("volume", "low", "high", "least", "most"):
            table[number] = np.concatenate([getattr(part, number) for part in self.parts])
        return table


def rebuild(
    folder: Path, zones: str, *, rule: Rule = "area", id_column: str | None = None, at_least: float = 0.0
) -> Rebuilt:
    """Return the flows of a published release between the zones of a file.

    Nothing but the public files is read.

    Parameters
    ----------
    zones
        GeoJSON, GeoParquet or CSV with outlines.
    rule
        How a released zone is spread: evenly over its area, or over its tiles.
    id_column
        The column of the file that names the zones, where it has no usual name.
    at_least
        Flows with a smaller estimate are left out.
    """
    published = read_published(folder)
    drawn = ZoneFile.read(zones, id_column=id_column)
    if drawn.geometries is None or any(shape is None for shape in drawn.geometries):
        raise InputError("flows are rebuilt between zones with outlines, and some of these have none")
    shapes = equal_area(drawn.geometries)
    refuse_overlaps(shapes, drawn.ids)
    overlaps = {
        axis: _overlap(published, axis, shapes, drawn.geometries, rule) for axis in ("origin", "destination")
    }
    placed, kept = _placed(published)
    ends = published.origin, published.destination
    total = float(published.volume.sum())
    parts = _parts(published, placed, overlaps)
    listed = [part.where(part.volume >= at_least) for part in parts]
    return Rebuilt(
        names=drawn.ids,
        times=None if published.time is None else published.zones["time"].ids,
        parts=listed,
        outside={
            f"{axis}s": float((published.volume * overlaps[axis].outside[end])[placed].sum()) / kept
            for axis, end in zip(overlaps, ends, strict=True)
        },
        unplaced=1 - kept / total,
        left_out=_volume(parts) - _volume(listed),
        rule=rule,
        published=published,
    )


def _volume(parts: list[Reconstruction]) -> float:
    return sum(float(part.volume.sum()) for part in parts)


def _placed(published: Published) -> tuple[NDArray[np.bool_], float]:
    """Return the released flows of which both zones have an outline, and their volume."""
    has = [
        np.array([shape is not None for shape in published.zones[axis].shapes], dtype=bool)[rows]
        for axis, rows in (("origin", published.origin), ("destination", published.destination))
    ]
    placed: NDArray[np.bool_] = has[0] & has[1]
    kept = float(published.volume[placed].sum())
    if kept == 0:
        raise InputError("the released zones have no outlines, so nothing can be said about other zones")
    return placed, kept


def _overlap(published: Published, axis: str, flat: Shapes, drawn: Shapes, rule: Rule) -> Overlap:
    zones: PublishedZones = published.zones[axis]
    if rule == "area":
        import shapely

        empty = shapely.Polygon()
        shapes = np.array([empty if shape is None else shape for shape in zones.shapes], dtype=object)
        return area_overlap(equal_area(shapes), flat)
    row, points = tile_points(zones.ids, zones.shapes, str(published.facts["hierarchy"]["spec"]))
    return point_overlap(row, points, drawn, len(zones.ids))


def _parts(
    published: Published, placed: NDArray[np.bool_], overlaps: dict[str, Overlap]
) -> list[Reconstruction]:
    flows = np.flatnonzero(placed)
    if published.time is None:
        chosen = [flows]
    else:
        order = flows[np.argsort(published.time[flows], kind="stable")]
        edges = np.searchsorted(published.time[order], np.arange(1, len(published.zones["time"].ids)))
        chosen = np.split(order, edges)
    return [
        reconstruct(
            published.origin[rows],
            published.destination[rows],
            published.volume[rows],
            overlaps["origin"],
            overlaps["destination"],
        )
        for rows in chosen
    ]
