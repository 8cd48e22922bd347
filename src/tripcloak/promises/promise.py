"""Promise: what a release is held to, and what a promise asks of the input and of groups of flows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, get_args

from tripcloak.ground.arrays import Bools, Ints

Unit = Literal["trips", "travellers", "population"]
Volume = Literal["trips", "population"]
UNITS: tuple[Unit, ...] = get_args(Unit)
Covered = Literal["tiles", "places"]


class Input(Protocol):
    """What a promise asks of the input: which units it tells, what its people stand for, what zones cover."""

    @property
    def units(self) -> tuple[Unit, ...]:
        """Return the units that can be counted."""

    @property
    def represented(self) -> Any:
        """Return how many people carry a weight, and what they stand for together; None where nobody does."""

    @property
    def axes(self) -> Sequence[Any]:
        """Return the axes of a flow: origin, destination and, if any, time."""

    def covers(self, what: Covered) -> tuple[Ints, Ints]:
        """Return how many different tiles or places every zone of origins and destinations covers."""


class FlowGroups(Protocol):
    """What a promise asks of groups of flows."""

    @property
    def matrix(self) -> Input:
        """Return the input."""

    @property
    def origin(self) -> Ints:
        """Return each group's origin zone."""

    @property
    def destination(self) -> Ints:
        """Return each group's destination zone."""

    @property
    def time(self) -> Ints | None:
        """Return each group's zone of time, where there is one."""

    def __len__(self) -> int: ...

    def support(self, unit: Unit, cap: int | None = None) -> Ints:
        """Return what stands behind every group, counted up to a cap."""

    def sharing(self, known: Sequence[int]) -> tuple[FlowGroups, Ints]:
        """Return groups of all that shares the zones of some axes, and which one each group falls into."""

    def of_segment(self, part: Any) -> FlowGroups:
        """Return the same groups with nobody in them but a segment."""


class Promise(Protocol):
    """Decides from a group's aggregates whether it may be released.

    Every promise is monotone: a group that contains a safe group is safe. Methods rely on it.
    """

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return the smallest support a safe group has, per unit; the first unit is the main one."""

    @property
    def floors(self) -> dict[Covered, int]:
        """Return how many different tiles or places a released zone covers at least, where that is asked."""

    def resolve(self, matrix: Input) -> Promise:
        """Return the same promise with every open choice settled for this matrix."""

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether it may be released."""

    def words(self) -> str:
        """Return the promise in words, for people."""
