"""What stands on the map of released trajectories beside them: where they are, a title, towns, a background.

Towns and background depend on what is published alone: on the area that nearly all released boxes lie in.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Floats
from tripcloak.hierarchy.place_names import Box, box_around, names_entry, restated_names
from tripcloak.pages.background import WORDS, read_background
from tripcloak.trajectories.release.published import PublishedTrajectories
from tripcloak.trajectories.release.release import Boxes

EDGES = (0.01, 0.99)
"""Between which of all middles of boxes a map looks: few journeys must not shrink the rest."""


def middles(boxes: Boxes) -> tuple[Floats, Floats]:
    """Return where nearly all middles of boxes lie from west to east and from south to north, in steps."""
    east, north = (
        np.quantile((low.astype(np.float64) + high) / 2, EDGES)
        for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1))
    )
    return east, north


def area_of(published: PublishedTrajectories) -> Box | None:
    """Return the box in degrees around nearly all released boxes; None where they have no place."""
    metres = published.grid.metres
    lon, lat = published.grid.unproject(*(side * metres for side in middles(published.boxes)))
    return box_around(lat, lon)


@dataclass(frozen=True, kw_only=True)
class OnMap:
    """What the owner asks to have on the map beside the trajectories."""

    title: str | None = None
    names: bool = False
    background: Path | None = None

    def of(self, published: PublishedTrajectories) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return what the manifest says of it, and what is drawn behind the map, if anything is."""
        box = area_of(published)
        drawn = None if self.background is None or box is None else read_background(self.background, box)
        told = {
            **({} if self.title is None else {"title": self.title}),
            **({"names": names_entry(box)} if self.names else {}),
            **({} if drawn is None else {"background": WORDS}),
        }
        return told, drawn


def restated_on_map(published: PublishedTrajectories) -> dict[str, Any]:
    """Return what the manifest must say of towns and of a background, where it says something."""
    facts = published.manifest
    named, drawn = "names" in facts, "background" in facts
    return {
        **({"names": restated_names(facts["names"], area_of(published))} if named else {}),
        **({"background": WORDS} if drawn else {}),
    }
