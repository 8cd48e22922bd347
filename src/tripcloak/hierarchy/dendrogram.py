"""DendrogramTiling: zones of a file, joined two by two into ever larger neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tripcloak.arrays import Ints
from tripcloak.hierarchy.sphere import EARTH_RADIUS_KM, unit_vectors
from tripcloak.hierarchy.tiling import Keys
from tripcloak.hierarchy.tree import ROOT, Hierarchy
from tripcloak.hierarchy.zone_tiling import ZoneTiling, fresh_id, with_places


@dataclass(frozen=True, eq=False)
class DendrogramTiling(ZoneTiling):
    """Tiles that are the zones of a file, under a Ward dendrogram of their points.

    For zones without a natural hierarchy: taxi zones, base stations, stops. Ward's method joins the two
    groups whose union spreads least about its centre, so zones stay compact; distances are chords
    through the globe, in km, and know no antimeridian. Inner zones are named ``d`` and the number of the
    merge. The order of the file's rows does not matter.

    Examples
    --------
    >>> from tripcloak.hierarchy import ZoneFile
    >>> zones = ZoneFile(np.array(["a", "b", "c"]), np.array([0.0, 0.1, 5.0]), np.array([0.0, 0.0, 0.0]))
    >>> tree = DendrogramTiling(zones).hierarchy(np.array([0, 2], dtype=np.uint64))
    >>> tree.zones.ids.tolist(), tree.parent.tolist(), tree.zones.tiles_observed.tolist()
    (['a', 'b', 'c', 'd0', 'd1'], [3, 3, 4, 4, -1], [1, 0, 1, 1, 2])
    """

    @property
    def name(self) -> str:
        """Return the tiling's text, ``dendrogram``."""
        return "dendrogram"

    def hierarchy(self, keys: Keys) -> Hierarchy:
        """Return the dendrogram over all zones of the file; the keys say which of them occur."""
        parent = self._parents
        ids = np.append(self.zones.ids, self._merge_names(len(parent) - len(self.zones)))
        observed = self._observed(keys, len(parent))
        return with_places(Hierarchy.from_parents(ids, parent, name=self.name, observed=observed), self.zones)

    @cached_property
    def _parents(self) -> Ints:
        """The row of every zone's parent: the file's zones first, then one zone a merge."""
        zones = len(self.zones)
        parent = np.full(2 * zones - 1, ROOT, dtype=np.int64)
        if zones > 1:
            from scipy.cluster.hierarchy import linkage

            # A hundredth of a millimetre: coarse enough that every machine rounds to the same points.
            points = np.round(unit_vectors(self.zones.lat, self.zones.lon) * EARTH_RADIUS_KM, 8)
            pairs = linkage(points, method="ward")[:, :2].astype(np.int64)
            parent[pairs] = np.arange(zones, 2 * zones - 1)[:, None]
        return parent

    def _merge_names(self, merges: int) -> NDArray[np.str_]:
        taken = set(self.zones.ids.tolist())
        width = len(str(max(merges - 1, 0)))
        return np.array([fresh_id(f"d{merge:0{width}}", taken) for merge in range(merges)], dtype=np.str_)
