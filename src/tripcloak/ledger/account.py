"""The account of noise: what differentially private releases spend of the same people, and the cap on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tripcloak.flows.methods.noise.composing import ROUNDING, Spending, composed, epsilon_at
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.spelling import called

USUAL_DELTA = 1e-6
"""The delta of a cap where none is given: that of the methods."""


class Cap(NamedTuple):
    """What all noisy releases together may cost anybody.

    Examples
    --------
    >>> cap = Cap(3.0, 1e-6)
    >>> cap.holds([Spending(1.0)] * 3), cap.holds([Spending(1.0)] * 3 + [Spending(0.001)])
    (True, False)
    """

    epsilon: float
    delta: float = USUAL_DELTA

    @classmethod
    def asked(cls, epsilon: float | None, delta: float | None) -> Cap | None:
        """Return the cap that is asked for, or raise where it is none; None where nothing is asked for."""
        if epsilon is None and delta is None:
            return None
        if epsilon is None or not 0 < epsilon < math.inf:
            raise InputError(f"{called('epsilon_cap')} is a finite number above 0; got {epsilon}")
        if delta is not None and not 0 <= delta < 1:
            raise InputError(f"{called('delta_cap')} is a chance from 0 to below 1; got {delta:g}")
        return cls(float(epsilon), USUAL_DELTA if delta is None else float(delta))

    def holds(self, spent: Sequence[Spending]) -> bool:
        """Return whether somebody who is in all of these is still within the cap."""
        return epsilon_at(spent, self.delta) <= self.epsilon * (1 + ROUNDING)

    def allows(self, before: Sequence[Sequence[Spending]], spending: Spending) -> bool:
        """Return whether all may be charged once more, given what they were charged with before."""
        return all(self.holds((*one, spending)) for one in before or [()])

    def words(self) -> str:
        """Return the cap in figures."""
        return f"epsilon {self.epsilon:g}, delta {self.delta:g}"


class OverdrawnError(ImpossibleRequestError):
    """A cap would be passed: says which, and what those were charged with already who are to be in it."""

    __module__ = "tripcloak"

    def __init__(self, cap: Cap, before: Sequence[Sequence[Spending]], better: str = "") -> None:
        spent = max((epsilon_at(one, cap.delta) for one in before), default=0.0)
        left = max(0.0, cap.epsilon - spent)
        super().__init__(
            f"not possible: the cap of the ledger ({cap.words()}) would be passed. Of some who are in this "
            f"input epsilon {spent:.4g} is spent already, and {left:.4g} is left"
            f"{_of_delta(cap, _lost(before))}{better}"
        )
        self.cap = cap
        self.before = before
        self.delta_left = cap.delta - _lost(before)


class Spent(NamedTuple):
    """One time that noise was drawn: what it cost, by what method, and for which release, if any."""

    entry: int
    time: str
    method: str
    spending: Spending
    release: int | None
    name: str | None

    def words(self) -> str:
        """Return which release it was, or that nothing came of it."""
        return "drawn, and never released; it counts" if self.release is None else f"release {self.release}"

    @property
    def figures(self) -> tuple[float, float, float]:
        """Return epsilon, delta and rho."""
        return self.spending.epsilon, self.spending.delta, self.spending.as_rho

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        told = {"entry": self.entry, "time": self.time, "method": self.method}
        cost = dict(zip(("epsilon", "delta", "rho"), self.figures, strict=True))
        return {**told, **cost, "release": self.release, "name": self.name}


@dataclass(frozen=True)
class Account:
    """What was spent of the same people, by whoever is in most.

    Attributes
    ----------
    cap : Cap, optional
        What may be spent.
    spent : tuple of Spent
        Every time that noise was drawn.
    together : tuple of tuples of Spending
        What somebody is in at once, without those who are in less. Of releases that share nobody each stands
        alone here: they cost as much as the dearest of them.

    Examples
    --------
    >>> account = Account(Cap(3.0), (), ((Spending(1.0), Spending(1.0)), (Spending(0.5),)))
    >>> account.epsilon, account.left, account.words()
    (2.0, (1.0, 1e-06), 'Spent: epsilon 2 at delta 1e-06 (rho 1), of a cap of epsilon 3; 1 is left.')
    """

    cap: Cap | None
    spent: tuple[Spent, ...]
    together: tuple[tuple[Spending, ...], ...]

    @property
    def delta(self) -> float:
        """Return the delta that epsilon is told for: that of the cap, or all that was promised."""
        if self.cap is not None:
            return self.cap.delta
        return max((composed(one).delta for one in self.together), default=0.0)

    @property
    def epsilon(self) -> float:
        """Return what was spent of whoever is in most; infinity where delta is spent too."""
        return max((epsilon_at(one, self.delta) for one in self.together), default=0.0)

    @property
    def rho(self) -> float:
        """Return the same as zCDP."""
        return max((composed(one).rho for one in self.together), default=0.0)

    @property
    def left(self) -> tuple[float, float] | None:
        """Return the epsilon, and the chance for thresholds, that are left of the cap; None without one."""
        if self.cap is None:
            return None
        return max(0.0, self.cap.epsilon - self.epsilon), max(0.0, self.cap.delta - _lost(self.together))

    @property
    def overdrawn(self) -> bool:
        """Return whether more was spent than the cap allows, as where it was lowered afterwards."""
        return self.cap is not None and not all(map(self.cap.holds, self.together))

    def words(self) -> str:
        """Return the account in a sentence."""
        told = f"Spent: epsilon {self.epsilon:.4g} at delta {self.delta:g} (rho {self.rho:.3g})"
        if self.cap is None or self.left is None:
            return f"{told}; no cap."
        left = f"{self.left[0]:.4g} is left{_of_delta(self.cap, _lost(self.together))}"
        left = "it is OVERDRAWN" if self.overdrawn else left
        return f"{told}, of a cap of epsilon {self.cap.epsilon:g}; {left}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        left = None if self.left is None else {"epsilon": self.left[0], "delta": self.left[1]}
        spent = {"epsilon": _finite(self.epsilon), "delta": self.delta, "rho": self.rho}
        return {
            "cap": None if self.cap is None else self.cap._asdict(),
            "spent": spent,
            "left": left,
            "overdrawn": self.overdrawn,
            "by_release": [one.to_dict() for one in self.spent],
        }


OUTSIDE = (
    "k-anonymous releases have no noise and are outside the account; `tripcloak ledger check` attacks them."
)


def read_together(told: Iterable[Iterable[Mapping[str, Any]]]) -> tuple[tuple[Spending, ...], ...]:
    """Return what somebody is in at once, as an entry of the chain tells it."""
    return tuple(
        tuple(
            Spending(part["epsilon"], part["delta"], part["rho"])
            for part in one
            for _ in range(part["times"])
        )
        for one in told
    )


def _lost(together: Sequence[Sequence[Spending]]) -> float:
    """Return the chance that is spent of whoever is in most, whatever is made of the rest."""
    return max((composed(one).lost for one in together), default=0.0)


def _of_delta(cap: Cap, lost: float) -> str:
    """Return what must be said of delta beside an epsilon that is left: nothing with thresholds is possible.

    >>> _of_delta(Cap(3.0, 1e-6), 1e-6), _of_delta(Cap(3.0, 1e-6), 1e-7)
    (' but nothing of its delta', '')
    """
    return " but nothing of its delta" if lost > 0 and cap.delta - lost <= ROUNDING * cap.delta else ""


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
