"""The contract every method keeps: frozen parameters, one verb, a safe release or an error."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.losses import find_loss
from tripcloak.flows.methods.repair import is_close, repair
from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.release import Bound, Release, build_release, main_volume
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError, TooFewError
from tripcloak.ground.options import check_options, declared_options, percent_hint
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt, spelt_command
from tripcloak.hierarchy import Zones
from tripcloak.promises import KAnonymity, Promise

UNITS = 2.0**51
"""Units that all weights together are counted in."""


def whole_units(volume: Ints | Floats) -> Floats:
    """Return volumes as whole numbers: trips as they are, weights in units so small that nothing is lost.

    Whole numbers below 2**53 add up exactly, whatever the order, so a limit is never broken by rounding.
    Weights are rounded up: what is suppressed is never taken for less than it is.

    >>> whole_units(np.array([3, 1])).tolist(), whole_units(np.array([0.75, 0.25])).sum() == UNITS
    ([3.0, 1.0], np.True_)
    """
    if volume.dtype.kind in "iu":
        return volume.astype(np.float64)
    units: Floats = np.ceil(volume * (UNITS / max(volume.sum(), 1e-300)))
    return units


def budget_of(units: Ints | Floats, limit: float) -> float:
    """Return how many of these units may be suppressed.

    >>> budget_of(np.array([7.0, 3.0]), 0.3), budget_of(np.array([7.0, 3.0]), 1 - 2.0**-53)
    (3.0, 9.0)
    """
    # Weights were rounded up, so their sum may be more than the units there are; a limit below
    # everything leaves at least one unit, however near to everything it is.
    whole = min(float(units.sum()), UNITS)
    return min(float(np.floor(limit * whole * (1 + 5e-13))), whole - 1)


ROOM = (0.8, 0.5)
"""Shares of the limit that a method may use when its answer has to be repaired."""


class Solution(NamedTuple):
    """What a method decides for every input flow: a pair of zones (and a time), or suppression.

    ``zones`` holds the zones of origins and destinations where the method draws its own; without it
    they are those of the matrix's hierarchies.
    """

    origin_zone: Ints
    destination_zone: Ints
    suppressed: Bools
    homogeneous: bool
    bound: Bound | None = None
    time_zone: Ints | None = None
    zones: tuple[Zones, Zones] | None = None


class Settled(NamedTuple):
    """What a method decided for a matrix under a promise, and how long that took."""

    method: FlowMethod
    matrix: ODMatrix
    promise: Promise
    solution: Solution
    seconds: float

    def release(self) -> Release:
        """Return the release."""
        return build_release(
            self.matrix,
            method=self.method.released_as,
            parameters=self.method.parameters(self.matrix),
            promise=self.promise,
            suppression_limit=self.method.suppression_limit,
            seconds=self.seconds,
            **self.solution._asdict(),
        )

    @property
    def mean_tiles(self) -> float:
        """Return how many tiles the zones of a released trip have together, on average (G)."""
        decided, kept = self.solution, ~self.solution.suppressed
        zones = decided.zones or (self.matrix.origins.zones, self.matrix.destinations.zones)
        ends = zip(zones, (decided.origin_zone, decided.destination_zone), strict=True)
        tiles = sum(np.asarray(known.tiles, dtype=float)[own[kept]] for known, own in ends)
        volume = np.asarray(self.matrix.volume(main_volume(self.promise)), dtype=float)[kept]
        return float(tiles @ volume / volume.sum()) if kept.any() else math.inf


@dataclass(frozen=True, kw_only=True)
class FlowMethod(ABC):
    """A method and its parameters. Pure and deterministic: same flows, same release.

    Parameters
    ----------
    promise
        What the release is held to. Methods search for what is decided group by group; where their answer
        does not keep what is promised of the whole release, it is repaired, and gives up its bound.
    suppression_limit
        Share of the volume that may be withheld.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    handles_time: ClassVar[bool] = False
    """Whether time may be a third axis beside origins and destinations."""
    draws_zones: ClassVar[bool] = False
    """Whether released zones are the method's own, and not zones of the matrix's hierarchies."""
    noisy: ClassVar[bool] = False
    """Whether released numbers are noisy, under differential privacy, and k plays no part."""
    needs_repeats: ClassVar[bool] = False
    """Whether the matrix must tell how many trips each traveller makes in each flow."""
    judges_products: ClassVar[bool] = False
    """Whether it looks at every product of zones by itself, and need not rely on what is monotone."""
    withholds_whole: ClassVar[bool] = True
    """Whether a released pair of zones of the hierarchies holds all trips between them, none withheld."""
    relaxation: ClassVar[str | None] = None
    """What its bound is a bound of, in words; None where it proves none."""

    promise: Promise = KAnonymity(k=10)
    suppression_limit: float = 0.1

    def __post_init__(self) -> None:
        check_options(self)
        if not 0 <= self.suppression_limit < 1:
            raise InputError(
                f"the suppression limit ({spelt('suppress')}) is a share of the volume, from 0 to below 1; "
                f"got {self.suppression_limit:g}{percent_hint(self.suppression_limit)}"
            )
        if not self.promise.counts_people:
            raise InputError(self.promise.lacks)

    def anonymise(self, matrix: ODMatrix, progress: Progress = silent) -> Release:
        """Return a safe release of the matrix, or raise an error that says what is possible."""
        return self.settled(matrix, progress).release()

    def settled(self, matrix: ODMatrix, progress: Progress = silent) -> Settled:
        """Return where every flow goes, of which the release is made in a second step."""
        self.refuse(matrix)
        started = time.perf_counter()
        promise = self.promise.resolve(matrix)
        by_group = promise.by_group
        _refuse_if_hopeless(matrix, by_group.monotone)
        solution = self.settle(matrix, by_group, progress)
        if not is_close(matrix, promise, solution):
            solution = repair(
                matrix,
                promise,
                [solution, *self._with_room(matrix, by_group, progress)],
                limit=self.suppression_limit,
                loss=find_loss(getattr(self, "loss", "tiles")),
                progress=progress,
            )
        return Settled(self, matrix, promise, solution, time.perf_counter() - started)

    def settle(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return where every flow goes, with nothing released that breaks the promise of any group.

        A method that relies on what is monotone solves for that; groups of its answer that break what
        else is decided of them are withheld, and where the limit leaves no room for them, less of it is
        spent before.
        """
        if self.judges_products or not promise.by_product:
            return self.solve(matrix, promise, progress)
        least, units = 1.0, whole_units(matrix.volume(main_volume(promise)))
        for share in (1.0, *ROOM, 0.2, 0.0):
            with suppress(ImpossibleRequestError):
                less = replace(self, suppression_limit=share * self.suppression_limit)
                solution = less.solve(matrix, promise.monotone, progress)
                solution, hidden = without_broken(matrix, promise, solution)
                if hidden <= budget_of(units, self.suppression_limit):
                    return solution
                least = min(least, hidden / float(units.sum()))
        percent = math.ceil(100 * least)
        way = f"A limit of {percent} % would do ({spelt('suppress')}), or use" if percent < 100 else "Use"
        raise ImpossibleRequestError(
            f"not possible: {self.name} cannot look for groups that hold "
            f"{' and '.join(part.sentence() for part in promise.by_product)}; it can only withhold the "
            f"others, and they are more than the limit allows. {way} a method that looks for them "
            f"({', '.join(_that_judge_products())})"
        )

    def _with_room(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Iterator[Solution]:
        """Yield solutions that leave some of the limit to a repair, where there is time for them."""
        if self.suppression_limit == 0 or getattr(self, "time_limit", None) is not None:
            return
        for share in ROOM:
            with suppress(ImpossibleRequestError):
                less = replace(self, suppression_limit=share * self.suppression_limit)
                yield less.solve(matrix, promise, progress)

    @property
    def released_as(self) -> str:
        """Return the name of the method that a release bears."""
        return self.name

    def check_request(self) -> None:  # noqa: B027 - most methods have nothing to check
        """Raise an error that says why, before anything is read, if no input could meet the request."""

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise an error that says why, before any work, if this method cannot work on such a matrix."""
        if matrix.times is not None:
            self.require_time()
            if self.promise.by_release:
                raise InputError(
                    f"t-closeness does not know time as an axis; leave out {spelt('t')} or "
                    f"{spelt('time_slot')}"
                )
        self.check_request()
        if self.promise.segments:
            self.require_segments()
        if self.promise.by_product and (self.promise.segments or self.promise.by_release):
            raise InputError(
                f"what is asked of every flow by itself ({spelt('dominance')}, {spelt('p_percent')}, "
                f"{spelt('hide_choices')}) does not go together with {spelt('segment_joint')} or {spelt('t')}"
            )
        if any(part.needs_products for part in self.promise.by_product):
            self.require_products()
        if self.draws_zones and (self.promise.by_release or self.promise.floors):
            raise InputError(
                f"{self.name} draws zones of its own, for which l-diversity and t-closeness are not "
                f"defined here; leave out {spelt('l')} and {spelt('t')}, or choose a method that works on "
                "the hierarchy"
            )

    @classmethod
    def require_segments(cls) -> None:
        """Raise if this method cannot make every segment of every group safe."""
        if cls.draws_zones or cls.noisy:
            raise InputError(
                f"{cls.name} cannot ask for all segments at once; release segments apart ({spelt('segment')})"
            )

    def require_products(self) -> None:
        """Raise if this method does not look at every product of zones by itself."""
        if not self.judges_products:
            raise InputError(
                f"{self.name} cannot hide its choices: its search relies on one threshold for all; leave out "
                f"{spelt('hide_choices')}, or use a method that can ({', '.join(_that_judge_products())})"
            )

    @classmethod
    def require_time(cls) -> None:
        """Raise if this method cannot take time as an axis."""
        # The list of methods imports this module.
        from tripcloak.flows.methods.registry import METHODS

        if not cls.handles_time:
            able = ", ".join(name for name, method in METHODS.items() if method.handles_time)
            raise InputError(
                f"{cls.name} does not know time as an axis; use a method that does ({able}), "
                f"or leave out {spelt('time_slot')}"
            )

    @abstractmethod
    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return where every flow goes. The promise is resolved, and all flows together are safe."""

    @classmethod
    def restated(cls, told: Mapping[str, Any], limit: Mapping[str, Any]) -> dict[str, Any]:
        """Return its parameters as a manifest must tell them, or raise where it cannot have been made so.

        Parameters
        ----------
        told, limit
            Its own parameters, and the limit where there is one, as the manifest tells them.
        """
        return cls(**told, **limit).parameters()

    @classmethod
    def proven_over(cls, told: Mapping[str, Any], *, timed: bool) -> str | None:
        """Return what its bounds hold over, with time as an axis or without; None where it proves none.

        Parameters
        ----------
        told
            Its own parameters.
        """
        return cls.relaxation

    @classmethod
    def time_options(cls) -> set[str]:
        """Return its parameters that only speak of time."""
        return {one.name for one in declared_options(cls) if one.axis == "time"}

    def parameters(self, matrix: ODMatrix | None = None) -> dict[str, Any]:
        """Return the method's own parameters, beyond the promise and the limit.

        Given a matrix without times, parameters that only speak of time are left out.
        """
        left_out = {f.name for f in fields(FlowMethod)}
        if matrix is not None and matrix.times is None:
            left_out |= self.time_options()
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}


def without_broken(matrix: ODMatrix, promise: Promise, solution: Solution) -> tuple[Solution, float]:
    """Return a solution without the groups that break a promise, and the units that it withholds then."""
    groups = group_flows(
        matrix,
        solution.origin_zone,
        solution.destination_zone,
        time_zone=solution.time_zone,
        keep=~solution.suppressed,
    )
    assert groups is not None
    suppressed = ~np.append(promise.safe(groups), False)[groups.of_flow]
    hidden = float(whole_units(matrix.volume(main_volume(promise)))[suppressed].sum())
    if (suppressed != solution.suppressed).any():
        solution = solution._replace(suppressed=suppressed, bound=None)
    return solution, hidden


def _that_judge_products() -> list[str]:
    # The list of methods imports this module.
    from tripcloak.flows.methods.registry import METHODS

    return [name for name, method in METHODS.items() if method.judges_products]


def all_in_one(matrix: ODMatrix, promise: Promise) -> bool:
    """Return whether a single group of everything would be safe."""
    roots = (np.full(matrix.n_flows, tree.root, dtype=np.int32) for tree, _ in matrix.axes[:2])
    everything = group_flows(matrix, *roots, in_order=False)
    assert everything is not None
    return bool(promise.safe(everything).all())


def _refuse_if_hopeless(matrix: ODMatrix, promise: Promise) -> None:
    """Raise if even one group of everything would not be safe."""
    if not all_in_one(matrix, promise):
        raise TooFewError(
            f"not possible: the whole input, in one single group, does not hold {promise.sentence()}. "
            "Ask for less (a smaller k or l, another unit), or bring more data; "
            f"{spelt_command('describe')} shows what is realistic.",
            needs=promise.sentence(),
        )
