"""Tiny requests with a target volume, and everything that could become of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from oracles.flows.kernels import safe
from oracles.flows.maps import Outcome, outcomes, outcomes_of_map, size
from tripcloak.flows.methods.atg import origin_cut
from tripcloak.flows.release import Release, main_volume
from tripcloak.promises import KAnonymity
from worlds.matrices import Case, cases, single_criteria

targets = st.sampled_from([0.5, 1.0, 2.5, 4.0, 7.0, 12.0, 20.0, 1e6])
limits = st.sampled_from([0.0, 0.1, 0.3, 0.6])


@dataclass(frozen=True)
class Request:
    """A tiny case with a target volume, and everything that could become of it."""

    case: Case
    promise: KAnonymity
    limit: float
    v_target: float

    @cached_property
    def total(self) -> int:
        return sum(row.trips for row in self.case.rows)

    @property
    def budget(self) -> float:
        return self.limit * self.total * (1 + 1e-12)

    @cached_property
    def zone_of(self) -> dict[str, str]:
        """The origin cut, as the zone of every tile."""
        tree, _ = self.case.hierarchies
        volume = np.bincount(self.case.matrix().flows.origin, self.case.matrix().flows.trips, tree.n_tiles)
        cut = origin_cut(tree, volume, self.v_target)
        return {str(tree.zones.ids[tile]): str(tree.zones.ids[zone]) for tile, zone in enumerate(cut)}

    @cached_property
    def outcomes(self) -> set[Outcome]:
        """Every outcome of every destination map of the origin cut."""
        rows = defaultdict(list)
        for row in self.case.rows:
            rows[self.zone_of[row.origin]].append(row)
        first, second = self.case.trees
        unseen, thresholds = self.case.unseen_tiles, self.case.thresholds(self.promise)
        return outcomes(
            outcomes_of_map(some, second, size(first, zone, unseen), unseen, thresholds)
            for zone, some in rows.items()
        )

    def outcome(self, release: Release) -> Outcome:
        hidden = self.total - float(release.trips.sum())
        sizes = (
            release.origins.tiles[release.group_origin]
            + release.destinations.tiles[release.group_destination]
        )
        return hidden, float((sizes * release.trips).sum())

    def parameters(self) -> dict[str, Any]:
        return {"promise": self.promise, "suppression_limit": self.limit, "v_target": self.v_target}


@st.composite
def requests(draw: st.DrawFn, max_zones: int = 8) -> Request:
    case = draw(cases(max_zones=max_zones, max_rows=25))
    promise = draw(single_criteria(case))
    assume(main_volume(promise.resolve(case.matrix())) == "trips")
    assume(safe(case.rows, case.thresholds(promise)))
    return Request(case, promise, draw(limits), draw(targets))
