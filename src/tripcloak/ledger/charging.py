"""Noisy releases under a ledger: everybody in them is charged before noise is drawn, within the cap."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.methods.noise import NoisyMethod
from tripcloak.flows.methods.noise.composing import Spending
from tripcloak.flows.model import KeyedRecords
from tripcloak.flows.reading.matrix import MatrixReading
from tripcloak.flows.release import Release
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.ledger.account import OverdrawnError
from tripcloak.ledger.store import Ledger
from tripcloak.ledger.store.describing import offered_flows
from tripcloak.ledger.store.sameness import Offered
from tripcloak.ledger.store.spent import Charge
from tripcloak.records.source import TripSource

Noisy = TypeVar("Noisy")
STEPS = 12
"""Halvings by which the largest epsilon is looked for that is still possible."""


@dataclass(frozen=True, eq=False)
class Charging:
    """Makes noisy releases that a ledger charges first.

    Attributes
    ----------
    ledger : Ledger
        Holds the account.
    source : TripSource
        What is read.
    """

    ledger: Ledger
    source: TripSource

    def __call__(
        self,
        method: FlowMethod,
        reading: MatrixReading,
        part_records: tuple[KeyedRecords, ...],
        progress: Progress,
    ) -> tuple[Release, tuple[str, ...]]:
        """Return the release, and what the account says after it."""
        if not isinstance(method, NoisyMethod):
            raise InternalError(f"{method.name} draws no noise that could be charged")
        matrix = reading.trips.matrix

        def cost(asked: NoisyMethod) -> Charge:
            return Charge.of(asked.name, asked.will_promise(matrix))

        note = charge(self.ledger, method, cost, offered_flows(reading, self.source))
        release = method.anonymise(matrix, progress)
        if Spending.of(release.promise) != cost(method).spending:
            raise InternalError("more noise was charged for than was promised; nothing was released")
        return release, (note,)


def charge(ledger: Ledger, method: Noisy, cost: Callable[[Noisy], Charge], offered: Offered) -> str:
    """Charge everybody in an input for noise that is about to be drawn, and return what the account says.

    Parameters
    ----------
    cost
        What a method costs, this one or another that asks for less.

    Raises
    ------
    OverdrawnError
        The cap would be passed. Nothing is charged, and it says what would be possible.
    """
    try:
        ledger.spend(cost(method), offered)
    except OverdrawnError as refused:
        raise OverdrawnError(refused.cap, refused.before, _better(method, cost, refused)) from None
    return f"the ledger was charged for the noise. {ledger.account.words()[:-1]}"


def _better(method: Any, cost: Callable[[Any], Charge], refused: OverdrawnError) -> str:
    """Return what would be possible, in words."""

    def allowed(asked: Any) -> bool:
        return refused.cap.allows(refused.before, cost(asked).spending)

    found = _largest(method, allowed)
    if found is not None:
        return f". {spelt('epsilon', found)} would do"
    if refused.delta_left > 0 and "delta" in {field.name for field in fields(method)}:
        half = _rounded_down(refused.delta_left / 2)
        found = _largest(replace(method, delta=half), allowed)
        if found is not None:
            return f". {spelt('epsilon', found)} with {spelt('delta', half)} would do"
    if refused.delta_left <= 0 < refused.cap.delta:
        return (
            ". Deltas add up as well: set a cap with a larger one (`tripcloak ledger cap`), and ask "
            f"every release for a part of it ({spelt('delta', 1e-7)})"
        )
    return ". Nothing is possible for all of them: release numbers of others, or wait for other people"


def _largest(method: Any, allowed: Callable[[Any], bool]) -> float | None:
    """Return about the largest epsilon that is allowed, in three figures; None where there is none."""
    low, high = 0.0, method.epsilon
    for _ in range(STEPS):
        middle = (low + high) / 2
        with suppress(InputError):
            if allowed(replace(method, epsilon=middle)):
                low = middle
                continue
        high = middle
    if low == 0.0:
        return None
    # A round number close above may do as well, as 0.5 does where halving ended at 0.4998.
    for found in (_rounded_up(low), _rounded_down(low)):
        if allowed(replace(method, epsilon=found)):
            return found
    return None


def _rounded_down(value: float) -> float:
    """Return a number cut off to three figures.

    >>> _rounded_down(0.123456), _rounded_down(2.5), _rounded_down(4.999e-7)
    (0.123, 2.5, 4.99e-07)
    """
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.floor(value / step + 1e-9) * step:.3g}")


def _rounded_up(value: float) -> float:
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / step - 1e-9) * step:.3g}")
