"""Which methods stand in which table, under which name, with which parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Run:
    """One row of a table: a method as the paper ran it.

    ``published`` names the paper's row it stands beside; None where the paper has none.
    """

    title: str
    method: str
    published: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


K = 10
LIMIT = 0.1
OPEN = {"suppression_limit": 0.999}
"""For methods whose suppression follows from something else: the tables say how much it was."""

_OURS = (Run("TwinCut", "twincut"), Run("NestedCut", "nestedcut"), Run("ProductCut", "productcut"))
"""Not in the papers."""


LEVELS = {"paris": 4, "porto": 2}
"""Heights that ODkAnon's filter looks up where 3 is not the best of 2 to 5; the thesis does not tell."""


def thesis_runs(name: str) -> tuple[Run, ...]:
    """Return the rows of tables 5.2 to 5.4, with the thesis's target volume for ATG-Soft (section 4.2)."""
    target = {"v_target": 2_500 if name == "turin" else 1_000}
    levels = LEVELS.get(name, 3)
    return (
        Run(f"ODkAnon, {levels} levels", "odkanon", "odkanon", {"levels": levels}),
        Run("ATG-Soft", "atg-soft", "atg-soft", {**target, **OPEN}),
        Run("OIGH, nothing suppressed", "oigh", "oigh", {"suppression_limit": 0.0}),
        Run("OIGH, 10 % like the others", "oigh"),
        Run("Mondrian", "mondrian", "mondrian"),
        *_OURS,
    )


ATG_RUNS: tuple[Run, ...] = (
    Run("ATG-Dual", "atg-dual", "atg-dual"),
    Run("ATG-Soft", "atg-soft", "atg-soft", OPEN),
    Run("oigh", "oigh", "oigh"),
    Run("glove-sk", "glove-sk", "glove-sk"),
    Run("glove", "glove", "glove"),
    Run("mondrian", "mondrian", "mondrian"),
    Run("suppression", "suppression", "suppression", OPEN),
    Run("laplace_noise", "laplace", "laplace", {"epsilon": 1.0}),
    *_OURS,
)
"""The rows of tables 3, 4 and 6."""
