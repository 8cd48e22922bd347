"""From a published release to flows between zones that somebody draws."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.analysis import Overlap, Reconstruction, reconstruct
from tripcloak.arrays import Bools
from tripcloak.io.published import Published, read_published
from tripcloak.workflow.drawn import Rule, overlaps_with, placed_flows, read_drawn


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
    at_least : float
        Flows with a smaller estimate are not listed.
    """

    names: NDArray[np.str_]
    times: NDArray[np.str_] | None
    parts: list[Reconstruction]
    outside: dict[str, float]
    unplaced: float
    at_least: float
    rule: Rule
    published: Published

    def columns(self) -> dict[str, Any]:
        """Return the flows worth listing: origin, destination, time where there is one, and the numbers."""
        parts = [part.where(part.volume >= self.at_least) for part in self.parts]
        origin, destination = (
            np.concatenate([getattr(part, end) for part in parts]) for end in ("origin", "destination")
        )
        table: dict[str, Any] = {"origin": self.names[origin], "destination": self.names[destination]}
        if self.times is not None:
            table["time"] = np.repeat(self.times, [len(part.volume) for part in parts])
        for number in ("volume", "low", "high", "least", "most"):
            table[number] = np.concatenate([getattr(part, number) for part in parts])
        return table

    @property
    def volume(self) -> float:
        """Return the volume between drawn zones, that of flows too small to list included."""
        return sum(float(part.volume.sum()) for part in self.parts)


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
        Flows with a smaller estimate are not listed.
    """
    published = read_published(folder)
    drawn = read_drawn(zones, id_column)
    placed = placed_flows(published)
    overlaps = overlaps_with(published, drawn, rule)
    kept = float(published.volume[placed].sum())
    ends = published.origin, published.destination
    total = float(published.volume.sum())
    return Rebuilt(
        names=drawn.ids,
        times=None if published.time is None else published.zones["time"].ids,
        parts=_parts(published, placed, overlaps),
        outside={
            f"{axis}s": float((published.volume * overlaps[axis].outside[end])[placed].sum()) / kept
            for axis, end in zip(overlaps, ends, strict=True)
        },
        unplaced=1 - kept / total,
        at_least=at_least,
        rule=rule,
        published=published,
    )


def _parts(published: Published, placed: Bools, overlaps: dict[str, Overlap]) -> list[Reconstruction]:
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
