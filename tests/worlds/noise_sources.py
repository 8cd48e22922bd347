"""Sources of noise for tests: none at all, the same each time, and one that never looks at the numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Ints


@dataclass
class Recorded:
    """Adds nothing, and remembers what it was asked for."""

    exact: list[Ints] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def laplace(self, exact: Ints, **asked: Any) -> Ints:
        return self._answer(exact, asked)

    gaussian = laplace

    def _answer(self, exact: Ints, asked: dict[str, Any]) -> Ints:
        self.exact.append(exact.copy())
        self.asked.append(asked)
        return exact + self.noise(len(exact))

    def noise(self, n: int) -> Ints:
        return np.zeros(n, dtype=np.int64)


@dataclass
class Same(Recorded):
    """Adds what looks like noise, the same in every run."""

    seed: int = 1
    scale: float = 3.0

    def __post_init__(self) -> None:
        self._dice = np.random.default_rng(self.seed)

    def noise(self, n: int) -> Ints:
        return np.rint(self._dice.normal(0, self.scale, n)).astype(np.int64)


@dataclass
class Blind(Same):
    """Gives numbers that have nothing to do with the exact ones."""

    def _answer(self, exact: Ints, asked: dict[str, Any]) -> Ints:
        return super()._answer(exact, asked) - exact + 20
