"""Which numbers of a flow a manifest says are published, and how they are rounded, read with distrust."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tripcloak.ground.entries import unreadable

if TYPE_CHECKING:
    from tripcloak.flows.audit.promise import StatedParts

UNITS = ("trips", "travellers", "population")
TOLERANCE = 1e-9
"""Relative, for sums of weights."""


@dataclass(frozen=True, kw_only=True)
class StatedColumns:
    """The numbers that are published.

    Attributes
    ----------
    columns : tuple of str
        One or more of trips, travellers and population.
    volume : str
        The one that is summed over flows: never in steps.
    steps : mapping
        Column to the step that it is rounded down by, counted from its own threshold.
    limited : str
        What the limit on withholding is a share of: trips, or population when nothing else is protected.
    """

    columns: tuple[str, ...]
    volume: str
    limited: str
    steps: Mapping[str, int] = field(default_factory=dict)

    @property
    def summed(self) -> tuple[str, ...]:
        """Return the columns that zones have: not travellers, who may be in several flows, unless alone."""
        return tuple(name for name in self.columns if name != "travellers") or self.columns


def read_columns(facts: Mapping[str, Any], stated: StatedParts) -> StatedColumns:
    """Return the published numbers of a manifest, or raise :class:`BrokenPart`.

    All that the thresholds cover may be published together, exactly or with all but the volume in steps;
    or trips or travellers alone. Where the manifest lists anything else, what is covered is returned, which
    is not what it lists.
    """
    limited = "population" if set(stated.thresholds) == {"population"} else "trips"
    covered, listed = _covered(stated, limited), facts.get("columns")
    alone = [[unit] for unit in ("trips", "travellers") if unit in covered]
    columns = tuple(listed) if listed in alone else covered
    if stated.rounding is not None:
        # What is told beside rounded trips would tell them better.
        columns = ("trips",)
    volume = "travellers" if columns == ("travellers",) else limited
    if facts.get("volume") != volume:
        raise unreadable(
            "volume", "population when nothing else is protected, travellers if told alone, trips otherwise"
        )
    return StatedColumns(
        columns=columns, volume=volume, limited=limited, steps=_steps(facts, stated, columns, volume)
    )


def _covered(stated: StatedParts, volume: str) -> tuple[str, ...]:
    """Return the numbers that thresholds cover: trips go with their travellers, others stand alone.

    Under differential privacy they are the noisy trips; where a flow may be small, its volume only.
    """
    if stated.privacy is not None:
        return ("trips",)
    if stated.known_items is not None:
        return (volume,)
    allowed = set(stated.thresholds) | ({"trips"} if "travellers" in stated.thresholds else set())
    return tuple(unit for unit in UNITS if unit in allowed)


def _steps(
    facts: Mapping[str, Any], stated: StatedParts, columns: tuple[str, ...], volume: str
) -> dict[str, int]:
    """Return the step of every column but the volume; nothing where all are exact."""
    if "steps" not in facts:
        return {}
    others = [name for name in columns if name != volume]
    thresholds = stated.thresholds
    right = {name: int(thresholds.get("travellers") or thresholds["trips"]) for name in others}
    if not others or facts["steps"] != right or not all(type(n) is int for n in facts["steps"].values()):
        raise unreadable("steps", "k for every number but the volume, where there are several")
    return right


def differs(told: str, recount: str, unit: str, *, step: int | None = None, base: float = 0.0) -> str:
    """Return SQL that is true where a published number is not what comes of the recount.

    Parameters
    ----------
    step, base
        What the number is rounded down by, and where steps begin; not given where it is exact.

    Examples
    --------
    >>> differs("a", "b", "trips")
    'a is distinct from b'
    """
    if step is not None:
        slack = TOLERANCE if unit == "population" else 0.0
        return f"""not coalesce(
            {told} <= {recount} * (1 + {slack!r}) and {recount} * (1 - {slack!r}) < {told} + {step}
            and {told} >= {base!r} and ({told} - {int(base)}) % {step} = 0, false)"""
    if unit != "population":
        return f"{told} is distinct from {recount}"
    return f"not coalesce(abs({told} - {recount}) <= 0.5 + {TOLERANCE!r} * {recount}, false)"
