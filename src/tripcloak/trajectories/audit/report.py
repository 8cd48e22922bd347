"""Findings: what an audit of trajectories says, in words that give nothing away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tripcloak.ground.rulebook import Finding


@dataclass(frozen=True)
class TrajectoryAudit:
    """The result of an audit of released trajectories.

    Attributes
    ----------
    safe : bool
        Whether every rule holds.
    smallest_support : int or None
        Over all original trajectories, the smallest number of released ones that contain all samples of
        one; None where it could not be worked out.
    smallest_two_sided_support : int or None
        The same, counting only released trajectories each of whose boxes holds one of the samples: what
        is left to somebody who knows that he knows everything.
    distribution : mapping
        Quantiles of both numbers over all original trajectories. They stay inside.
    findings : tuple of Finding
        One per rule, in the order they were checked.

    Examples
    --------
    >>> audit = TrajectoryAudit.of([Finding("support", False, "too few")])
    >>> audit.safe, audit.broken
    (False, ('support',))
    """

    safe: bool
    smallest_support: int | None
    smallest_two_sided_support: int | None
    distribution: Mapping[str, Mapping[str, float]] = field(repr=False)
    findings: tuple[Finding, ...]

    @classmethod
    def of(
        cls,
        findings: list[Finding] | tuple[Finding, ...],
        *,
        smallest_support: int | None = None,
        smallest_two_sided_support: int | None = None,
        distribution: Mapping[str, Mapping[str, float]] | None = None,
    ) -> TrajectoryAudit:
        """Return the audit with these findings; without any, nothing was shown to be safe."""
        return cls(
            safe=bool(findings) and all(finding.ok for finding in findings),
            smallest_support=smallest_support,
            smallest_two_sided_support=smallest_two_sided_support,
            distribution=dict(distribution or {}),
            findings=tuple(findings),
        )

    @property
    def broken(self) -> tuple[str, ...]:
        """Return the names of the rules that do not hold."""
        return tuple(finding.rule for finding in self.findings if not finding.ok)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "safe": self.safe,
            "smallest_support": self.smallest_support,
            "smallest_two_sided_support": self.smallest_two_sided_support,
            "distribution": {name: dict(values) for name, values in self.distribution.items()},
            "findings": [asdict(finding) for finding in self.findings],
        }
