"""AttackResult: how many trajectories fit what an attacker knows of each person."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tripcloak.ground.arrays import Floats, Ints

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
FEWER = (2, 5, 10)


@dataclass(frozen=True, eq=False)
class AttackResult:
    """What an attack finds.

    Attributes
    ----------
    kind, knowledge
        The attack, and how much the attacker knows; None is everything.
    against : str
        ``originals`` or ``release``.
    rows : array of int64
        The people who were attacked, as rows of the original trajectories.
    matches : array of int64
        How many trajectories fit what is known of each of them; where an attack tries all that could be
        known, the fewest that anything fits. One: the person is found, unless the trajectory is somebody
        else's, which can only be where samples were moved. None: the attacker looks in vain.
    chances : dict of str to array of float64
        Of ``owner`` alone: the chance of each person that a guess names the own released trajectory, for
        a blind guess and some simple ones.

    Examples
    --------
    >>> result = AttackResult("points", 4, "originals", np.arange(4), np.array([1, 1, 2, 0]))
    >>> result.risk.tolist()
    [1.0, 1.0, 0.5, 0.0]
    >>> result.summary()["unique"]
    0.5
    """

    kind: str
    knowledge: int | None
    against: Literal["originals", "release"]
    rows: Ints = field(repr=False)
    matches: Ints = field(repr=False)
    chances: dict[str, Floats] = field(repr=False, default_factory=dict)

    @property
    def risk(self) -> Floats:
        """Return the chance of each person that a guess among the matching trajectories is right."""
        risk: Floats = np.where(self.matches > 0, 1.0 / np.maximum(self.matches, 1), 0.0)
        return risk

    def summary(self) -> dict[str, Any]:
        """Return shares of people and quantiles; nothing that tells of one person."""
        found = self.matches[self.matches > 0]
        return {
            "kind": self.kind,
            "knowledge": self.knowledge,
            "against": self.against,
            "unique": _share(self.matches == 1),
            "fewer_than": {str(k): _share((self.matches > 0) & (self.matches < k)) for k in FEWER},
            "none": _share(self.matches == 0),
            "mean_risk": float(self.risk.mean()) if len(self.matches) else 0.0,
            "matches": _quantiles(found),
            "risk": _quantiles(self.risk),
            **(
                {"named": {name: _share(right) for name, right in self.chances.items()}}
                if self.chances
                else {}
            ),
        }


def _share(which: Any) -> float:
    return float(np.mean(which)) if len(which) else 0.0


def _quantiles(values: Any) -> dict[str, float]:
    if not len(values):
        return {}
    return {f"{q:g}": float(v) for q, v in zip(QUANTILES, np.quantile(values, QUANTILES), strict=True)}
