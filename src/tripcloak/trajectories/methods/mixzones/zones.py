"""Mix zones: people fall silent in zones where k are inside at once, and come out under new pseudonyms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Mixing, TrajectoryPromise
from tripcloak.trajectories.methods.method import HidingMethod
from tripcloak.trajectories.methods.mixzones.candidates import SHIFTS, Zones, busy, joined, squares
from tripcloak.trajectories.methods.mixzones.passages import (
    Passages,
    mixed,
    passages_through,
)
from tripcloak.trajectories.methods.mixzones.placing import placed
from tripcloak.trajectories.methods.mixzones.roads import Roads, Shape, read_roads, road_zones
from tripcloak.trajectories.methods.moments import Moments, moments_of
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectorySolution


@dataclass(frozen=True, kw_only=True)
class MixZones(HidingMethod):
    """Mix zones (Beresford and Stajano 2003), placed where most people can change their pseudonym.

    Who goes through a zone while k people are inside at one moment is silent there and has another pseudonym
    afterwards; so a trajectory is released in pieces. Who goes through with fewer inside keeps the pseudonym,
    and nothing is left out. Outside zones everything is told as it was recorded.

    From the paper come silence and fresh pseudonyms; that all go in before any of them comes out is what the
    survey asks of k people; where zones are, greedy set cover decides (Liu et al. 2012 place them by the same
    wish: few zones, many covered).

    Parameters
    ----------
    shape
        ``square``: squares anywhere. ``roads``: zones that follow the roads out of a crossing (Palanisamy and
        Liu 2011), further where people are faster, so that who comes out when tells little.
    roads
        The network, of lines in GeoJSON, as :func:`~tripcloak.trajectories.methods.mixzones.roads.read_roads`
        reads it.
    within, entropy, speed, spread, breadth
        How far zones go along roads; see :class:`~tripcloak.trajectories.methods.mixzones.roads.Shape`.
    width
        Metres of a zone from side to side, at most.
    longest
        Seconds for which nothing is told of somebody at most; who takes longer keeps the pseudonym.
    changes
        How many changes of pseudonym each person should have.
    coverage
        Which share of the possible changes, up to that many a person, is enough.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> x = [0, 7, 14, 14, 7, 0]
    >>> made = Trajectories.of(user=[0, 0, 0, 1, 1, 1], t=[0, 1, 2] * 2, x=x, y=[0] * 6, grid=Grid())
    >>> release = MixZones(k=2, width=500).anonymise(made)
    >>> release.n_released, release.boxes.x0.tolist(), release.whose.tolist()
    (4, [0, 14, 14, 0], [0, 0, 1, 1])
    """

    name: ClassVar[str] = "mix-zones"
    summary: ClassVar[str] = "new pseudonyms for k people who are silent in one zone at once"
    source: ClassVar[str] = "Beresford and Stajano 2003, mix zones"
    makes: ClassVar[type[TrajectoryPromise]] = Mixing

    shape: str = option(
        "square",
        help="What zones are: squares, or the roads around crossings of a network.",
        metavar="NAME",
        values=("square", "roads"),
    )
    roads: str | Roads | None = option(
        None,
        help="Shape roads: the network, a GeoJSON file of lines.",
        unset="none",
        metavar="FILE",
        reads="path",
    )
    within: float = option(
        10.0,
        help="Shape roads: seconds between two who go in that must still be mixed up.",
        metavar="SECONDS",
        least=0,
    )
    entropy: float = option(
        0.9, help="Shape roads: bits left of who of two is who, from 0 to 1.", metavar="BITS", least=0
    )
    speed: float = option(30.0, help="Shape roads: speed where a road tells none.", metavar="KM/H", least=1)
    spread: float = option(
        0.3,
        help="Shape roads: by which share of the mean speeds deviate.",
        metavar="SHARE",
        least=0.01,
    )
    breadth: int = option(
        50, help="Shape roads: how far from its middle a road reaches.", metavar="METRES", least=1
    )
    width: int = option(500, help="Metres of a zone from side to side.", metavar="METRES", least=1)
    longest: int = option(3600, help="Seconds that somebody is silent at most.", metavar="SECONDS", least=1)
    changes: int = option(
        1, help="How many changes of pseudonym each person should have.", metavar="N", least=1
    )
    coverage: float = option(
        0.9, help="Share of the possible changes that is enough.", metavar="SHARE", least=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.entropy <= 1:
            raise InputError(f"what is left of who of two is who is 0 to 1 bits; got {self.entropy:g}")
        if self.roads is not None and self.shape != "roads":
            raise InputError(f"a network of roads is of use for {spelt('shape', 'roads')} only")
        if not 0 < self.coverage <= 1:
            raise InputError(f"the share of possible changes is above 0 and at most 1; got {self.coverage:g}")

    @classmethod
    def asked(cls, k: int | None, **own: Any) -> Self:
        """Return the method with this k and its own options; a file of roads is read here, once."""
        if isinstance(own.get("roads"), str):
            own["roads"] = read_roads(Path(own["roads"]))
        return super().asked(k, **own)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that play a part; the network itself is not published."""
        left_out = {"roads"} if self.shape == "roads" else {"roads", *Shape._fields[1:]}
        return {name: value for name, value in super().parameters().items() if name not in left_out}

    def finished(self, trajectories: Trajectories, solution: TrajectorySolution) -> TrajectorySolution:
        """Return the solution as it is: boxes are not what hides anybody here."""
        return solution

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return everybody in pieces that end and begin at zones."""
        if self.width < trajectories.grid.metres:
            raise ImpossibleRequestError(
                f"not possible: zones of {self.width:,} metres are narrower than one sample, which is "
                f"{trajectories.grid.metres:,} metres wide; widen them "
                f"({spelt('width', 5 * trajectories.grid.metres)})"
            )
        progress("looking for crossings", 0, None)
        moments = moments_of(trajectories)
        grid = trajectories.grid
        longest = self.longest // grid.seconds
        zones = joined([busy(moments, some, self.k, longest) for some in self._candidates(moments, grid)])
        found = passages_through(moments, zones.zone, zones.moment, longest=longest)
        found = found.take(mixed(moments, found, self.k))
        progress("placing zones", 0, None)
        chosen = placed(
            found.zone,
            moments.owner[found.first],
            zones.extents,
            people=trajectories.n_users,
            changes=self.changes,
            coverage=self.coverage,
        )
        passages = _through(moments, zones, np.array(chosen, np.int64), longest)
        passages = passages.take(mixed(moments, passages, self.k))
        if not len(passages.zone):
            raise self._nowhere()
        return _released(trajectories, moments, passages, zones.only(np.unique(passages.zone)).rows)

    def _candidates(self, moments: Moments, grid: Grid) -> Iterator[Zones]:
        """Yield zones that could be, some after the other."""
        if self.shape == "square":
            for shift in SHIFTS:
                yield squares(moments, grid, self.width, shift)
            return
        if not isinstance(self.roads, Roads):
            raise InputError(
                f"zones along roads need a network of roads: give a GeoJSON file of lines "
                f"({spelt('roads', 'FILE')}), or take squares ({spelt('shape', 'square')})"
            )
        asked = {name: getattr(self, name) for name in Shape._fields}
        yield road_zones(moments, self.roads, grid, Shape(**asked))

    def _nowhere(self) -> ImpossibleRequestError:
        where = "zone" if self.shape == "square" else "zone around a crossing"
        return ImpossibleRequestError(
            f"not possible: in no {where} of {self.width:,} metres {self.k} people were at one moment on "
            f"their way from somewhere to somewhere else; widen the zones "
            f"({spelt('width', 2 * self.width)}), let people be silent for longer "
            f"({spelt('longest', 2 * self.longest)}), ask for a smaller k, or bring more people"
        )


def _through(moments: Moments, zones: Zones, chosen: Ints, longest: int) -> Passages:
    """Return the ways through chosen zones; who comes straight from one or goes to one is seen by nobody."""
    mine = np.isin(zones.zone, chosen)
    zone, moment = zones.zone[mine], zones.moment[mine]
    inside = np.zeros(len(moments.t), dtype=bool)
    inside[moment] = True
    found = passages_through(moments, zone, moment, longest=longest)
    return found.take(~(inside[found.first - 1] | inside[found.last + 1]))


def _released(
    trajectories: Trajectories, moments: Moments, passages: Passages, zones: Ints
) -> TrajectorySolution:
    """Return what is told: all moments but the silent ones, and a new piece after each of these."""
    told = ~_silent(moments, passages)
    fresh = np.zeros(len(told), dtype=bool)
    fresh[passages.last + 1] = True
    fresh[0] = True
    fresh[1:] |= moments.owner[1:] != moments.owner[:-1]
    rows = np.flatnonzero(told)
    begins = np.flatnonzero(fresh[rows])
    box_of = np.full(len(told), -1, np.int64)
    box_of[rows] = np.arange(len(rows))
    boxes = Boxes(moments.t[rows], moments.t[rows] + 1, *(side[rows] for side in (moments[2:6])))
    pieces = moments.owner[rows][begins]
    facts: dict[str, Any] = {
        "zones": zones.tolist(),
        "changes": len(passages.zone),
        "people_who_change": len(np.unique(moments.owner[passages.first])),
    }
    return TrajectorySolution(
        np.append(begins, len(rows)),
        boxes,
        np.searchsorted(pieces, np.arange(trajectories.n_users)),
        box_of[moments.of_sample],
        facts,
        pieces,
    )


def _silent(moments: Moments, passages: Passages) -> Bools:
    """Return which moments are in one of these passages."""
    steps = np.zeros(len(moments.t) + 1, np.int64)
    np.add.at(steps, passages.first, 1)
    np.add.at(steps, passages.last + 1, -1)
    return np.cumsum(steps[:-1]) > 0
