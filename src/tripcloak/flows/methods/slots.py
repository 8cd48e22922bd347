"""Slot by slot: any method once for every slot of time, as if each slot were a matrix of its own."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.method import FlowMethod, Solution
from tripcloak.flows.model import Flows, ODMatrix, Slot, WorkersElsewhere, by_slot, group_flows
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Promise

WORTH_A_PROCESS = 200_000
"""Flows below which starting other processes takes longer than they save."""


@dataclass(frozen=True, kw_only=True)
class SlotBySlot(FlowMethod):
    """A method, run once for every slot of time; Matet et al. 2023 anonymises hourly matrices this way.

    Each slot gets zones of its own, so the release is homogeneous within a slot at most. Slots in which
    all trips together are not safe are withheld whole; what is left of the limit then holds in every
    other slot. A slot that the method cannot release within that gets what the others did not use; if
    that does not help it is withheld whole as well, and all others are solved again with what is then
    left. The request is refused only when whole slots no longer fit into the limit.

    Parameters
    ----------
    method
        What is run in every slot. Its promise and its limit are those of the whole.
    jobs
        Processes to use, where no cluster keeps the flows: its machines solve slots each by itself.

    Examples
    --------
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy, time_hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    >>> times = {"times": time_hierarchy(np.array([8, 9]), 60), "slot": np.array([0, 0, 1, 1])}
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 0, 0]), np.zeros(4, dtype=int), **times)
    >>> release = SlotBySlot.of(ODkAnon(promise=KAnonymity(k=2))).anonymise(matrix)
    >>> [str(tree.zones.ids[zone]) for zone in release.group_origin]
    ['a', 'ab']
    """

    name: ClassVar[str] = "slot by slot"
    summary: ClassVar[str] = "any method, once for every slot of time"
    source: ClassVar[str] = "Matet et al. 2023, section 5"
    handles_time: ClassVar[bool] = True

    method: FlowMethod
    jobs: int = field(default=1)

    @classmethod
    def of(cls, method: FlowMethod, jobs: int = 1) -> SlotBySlot:
        """Return a method as one that works slot by slot."""
        return cls(
            method=method,
            jobs=jobs,
            promise=method.promise,
            suppression_limit=method.suppression_limit,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.jobs < 1:
            raise InputError(f"jobs must be 1 or more; got {self.jobs}")

    @property
    def released_as(self) -> str:
        """Return the name under which releases go: that of the method."""
        return self.method.name

    def parameters(self, matrix: ODMatrix | None = None) -> dict[str, Any]:
        """Return the parameters of the method that is run in every slot, where there is no time."""
        of_time = self.method.time_options()
        return {name: value for name, value in self.method.parameters().items() if name not in of_time}

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if there are no slots, or the method cannot be run slot by slot."""
        if matrix.times is None:
            raise InputError(f"there are no slots of time; give their length with {spelt('slot')}")
        if self.promise.by_release:
            raise InputError(
                f"t-closeness does not know slots of time; leave out {spelt('t')} or {spelt('slot')}"
            )
        if self.method.draws_zones or self.method.noisy:
            raise InputError(
                f"{self.method.name} cannot be run slot by slot; choose a method that works on the hierarchy"
            )

    def require_products(self) -> None:
        """Raise if the method that is run in every slot does not look at every product by itself."""
        self.method.require_products()

    def settle(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return where every flow goes; the method settles every slot by itself."""
        return self.solve(matrix, promise, progress)

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return where every flow goes, slot by slot."""
        slots = self._possible(matrix, promise)
        volume = matrix.volume(main_volume(promise))
        method = replace(self.method, promise=promise)
        workers = self._workers(matrix)
        solved, stuck = self._within_limit(method, slots, volume, workers, progress)
        # Invariant: what is stuck could not be solved with a larger limit than the next round leaves it.
        while stuck:
            slots = [slot for slot in slots if slot.tile not in stuck]
            self._refuse_if_beyond(slots, volume, next(iter(stuck.values())))
            solved, stuck = self._within_limit(method, slots, volume, workers, progress)
        suppressed = np.ones(matrix.n_flows, dtype=bool)
        origin, destination = (tiles.astype(np.int32) for _, tiles in matrix.axes[:2])
        for slot, answer in solved:
            origin[slot.rows] = answer.origin_zone
            destination[slot.rows] = answer.destination_zone
            suppressed[slot.rows] = answer.suppressed
        return Solution(origin, destination, suppressed, homogeneous=False, time_zone=matrix.flows.slot)

    def _workers(self, matrix: ODMatrix) -> int | WorkersElsewhere:
        """Return who solves slots: so many processes, or other machines."""
        if matrix.n_flows < WORTH_A_PROCESS:
            return 1
        return matrix.parts if isinstance(matrix.parts, WorkersElsewhere) else self.jobs

    def _possible(self, matrix: ODMatrix, promise: Promise) -> list[Slot]:
        """Return the slots that can be safe at all."""
        roots = (np.full(matrix.n_flows, tree.root) for tree in (matrix.origins, matrix.destinations))
        whole = group_flows(matrix, *roots, time_zone=matrix.flows.slot)
        assert whole is not None
        assert whole.time is not None
        safe = set(whole.time[promise.monotone.safe(whole)].tolist())
        slots = [slot for slot in by_slot(matrix) if slot.tile in safe]
        volume = matrix.volume(main_volume(promise))
        total = volume.sum()
        hopeless = total - sum(volume[slot.rows].sum() for slot in slots)
        if hopeless > self._allowed(float(total)) or not slots:
            raise ImpossibleRequestError(
                f"not possible: some slots of time, taken whole, do not hold {promise.sentence()}, and to "
                f"withhold them takes up to {math.ceil(100 * hopeless / total)} % of the volume. {_ways()}"
            )
        return slots

    def _within_limit(
        self,
        method: FlowMethod,
        slots: Sequence[Slot],
        volume: Ints | Floats,
        workers: int | WorkersElsewhere,
        progress: Progress,
    ) -> tuple[list[tuple[Slot, _Answer]], dict[int, str]]:
        """Return the slots that are solved when all others are withheld, and why some are not.

        What the limit allows is shared out evenly; what solved slots leave of it goes to the rest, as
        long as that helps one of them.
        """
        total, waiting = float(volume.sum()), list(slots)
        left = self._allowed(total) - (total - _held(volume, slots))
        solved: list[tuple[Slot, _Answer]] = []
        while waiting:
            stuck: dict[int, str] = {}
            limit = self._share(left, _held(volume, waiting), total)
            for slot, answer in _solved(replace(method, suppression_limit=limit), waiting, workers):
                if isinstance(answer, str):
                    stuck[slot.tile] = answer
                    continue
                solved.append((slot, answer))
                left -= float(volume[slot.rows][answer.suppressed].sum())
                progress("solving slots", len(solved), len(slots))
            if len(stuck) == len(waiting):
                return solved, {} if _held(volume, waiting) <= left else stuck
            waiting = [slot for slot in waiting if slot.tile in stuck]
        return solved, {}

    def _share(self, left: float, held: float, total: float) -> float:
        """Return the limit for slots that hold so much, of which so much may be withheld."""
        if held == total:
            return self.suppression_limit
        return min(max(0.0, left / held), 1 - 2.0**-53) if held > 0 else 0.0

    def _allowed(self, total: float) -> float:
        """Return how much may be withheld of so much."""
        # A hair more, so that sums that differ by rounding alone do not decide; releases bear twice that.
        return self.suppression_limit * total * (1 + 4e-13)

    def _refuse_if_beyond(self, slots: Sequence[Slot], volume: Ints | Floats, reason: str) -> None:
        """Raise if all but these slots are more than may be withheld."""
        total = float(volume.sum())
        if not slots or total - _held(volume, slots) > self._allowed(total):
            raise ImpossibleRequestError(
                "not possible: some slots of time need more than all slots together may withhold, and so "
                f"does withholding them whole. {_ways()} One of them, taken alone, is {reason}"
            )


def _ways() -> str:
    return (
        f"Take longer slots ({spelt('slot')}), fold them over days or weeks ({spelt('fold')}), or raise "
        f"the limit ({spelt('suppress')})."
    )


def _held(volume: Ints | Floats, slots: Sequence[Slot]) -> float:
    return float(sum(volume[slot.rows].sum() for slot in slots))


class _Answer(NamedTuple):
    """The part of a solution that travels between processes."""

    origin_zone: Ints
    destination_zone: Ints
    suppressed: Bools


def _solved(
    method: FlowMethod, slots: Sequence[Slot], workers: int | WorkersElsewhere
) -> Iterator[tuple[Slot, _Answer | str]]:
    if not isinstance(workers, int):
        flows = (slot.matrix.flows for slot in slots)
        yield from zip(slots, workers.each_apart(flows, _Alone.of(method, slots[0].matrix)), strict=True)
        return
    if workers == 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from ((slot, _solve(method, slot.matrix)) for slot in slots)
        return
    # A forked process inherits what it starts with: nothing is sent but numbers of slots, and answers.
    with ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("fork"),
        initializer=_Worker.begin,
        initargs=(method, slots),
    ) as pool:
        chunk = max(1, len(slots) // (8 * workers))
        yield from zip(slots, pool.map(_Worker.solve, range(len(slots)), chunksize=chunk), strict=True)


class _Worker:
    """What a process knows from its start."""

    method: ClassVar[FlowMethod]
    slots: ClassVar[Sequence[Slot]]

    @classmethod
    def begin(cls, method: FlowMethod, slots: Sequence[Slot]) -> None:
        cls.method, cls.slots = method, slots

    @classmethod
    def solve(cls, number: int) -> _Answer | str:
        return _solve(cls.method, cls.slots[number].matrix)


@dataclass(frozen=True, eq=False)
class _Alone:
    """Solves the flows of a slot on another machine; what slots share is sent there once."""

    method: FlowMethod
    shared: ODMatrix

    @classmethod
    def of(cls, method: FlowMethod, matrix: ODMatrix) -> _Alone:
        return cls(method, replace(matrix, flows=matrix.flows.only(np.arange(1))))

    def __call__(self, flows: Flows) -> _Answer | str:
        return _solve(self.method, replace(self.shared, flows=flows))


def _solve(method: FlowMethod, matrix: ODMatrix) -> _Answer | str:
    """Return what a method makes of a slot, or why that is not possible."""
    method.refuse(matrix)
    try:
        answer = method.settle(matrix, method.promise, silent)
    except ImpossibleRequestError as error:
        return str(error)
    return _Answer(answer.origin_zone, answer.destination_zone, answer.suppressed)
