"""The contract every method keeps: frozen parameters, one verb, a safe release or an error."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

from tripcloak.arrays import Bools, Ints
from tripcloak.criteria import Criterion, KAnonymity
from tripcloak.errors import ImpossibleRequestError, InputError
from tripcloak.matrix import ODMatrix, group_flows
from tripcloak.release import Bound, Release, build_release

Progress = Callable[[str, int, int | None], None]
"""Called with (what is being done, steps done, steps in all or None when nobody knows)."""


def silent(what: str, done: int, total: int | None) -> None:
    """Ignore progress."""


class Solution(NamedTuple):
    """What a method decides: a pair of zones, or suppression, for every input flow."""

    origin_zone: Ints
    destination_zone: Ints
    suppressed: Bools
    homogeneous: bool
    bound: Bound | None = None


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """A method and its parameters. Pure and deterministic: same flows, same release.

    Parameters
    ----------
    criterion
        When a group is safe.
    suppression_limit
        Share of the volume that may be withheld.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]

    criterion: Criterion = KAnonymity(k=10)
    suppression_limit: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.suppression_limit < 1:
            raise InputError(
                "the suppression limit is a share of the volume, from 0 to below 1; "
                f"got {self.suppression_limit:g}"
            )

    def anonymise(self, matrix: ODMatrix, progress: Progress = silent) -> Release:
        """Return a safe release of the matrix, or raise an error that says what is possible."""
        started = time.perf_counter()
        criterion = self.criterion.resolve(matrix)
        _refuse_if_hopeless(matrix, criterion)
        solution = self.solve(matrix, criterion, progress)
        return build_release(
            matrix,
            method=self.name,
            parameters=self.parameters(),
            criterion=criterion,
            suppression_limit=self.suppression_limit,
            seconds=time.perf_counter() - started,
            **solution._asdict(),
        )

    @abstractmethod
    def solve(self, matrix: ODMatrix, criterion: Criterion, progress: Progress) -> Solution:
        """Return where every flow goes. The criterion is resolved, and all flows together are safe."""

    def parameters(self) -> dict[str, Any]:
        """Return the method's own parameters, beyond the criterion and the limit."""
        shared = {f.name for f in fields(Algorithm)}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in shared}


def _refuse_if_hopeless(matrix: ODMatrix, criterion: Criterion) -> None:
    """Raise if even one group of everything would not be safe."""
    zero = matrix.flows.origin * 0
    everything = group_flows(matrix, zero, zero)
    assert everything is not None
    if not criterion.safe(everything).all():
        raise ImpossibleRequestError(
            f"not possible: the whole input, in one single group, does not hold {criterion.words()}. "
            "Ask for a smaller k, another unit, or bring more data; "
            "`tripcloak describe` shows what is realistic."
        )
