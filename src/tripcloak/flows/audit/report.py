"""Findings: what an audit says, in words that give nothing away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tripcloak.ground.rulebook import Finding

TOLERANCE = 1e-9
"""Relative, for sums of weights."""


@dataclass(frozen=True)
class AuditReport:
    """The result of an audit.

    Attributes
    ----------
    safe : bool
        Whether every rule holds.
    smallest_support : mapping
        Per protected unit, what stands behind the smallest released group in the auditor's own recount.
        Of a release that is not safe this is an unreleased number: it stays inside.
    findings : tuple of Finding
        One per rule, in the order they were checked.

    Examples
    --------
    >>> report = AuditReport.of([Finding("digests-match", False, "a file was changed")])
    >>> report.safe, report.broken
    (False, ('digests-match',))
    """

    safe: bool
    smallest_support: Mapping[str, float]
    findings: tuple[Finding, ...]

    @classmethod
    def of(
        cls,
        findings: list[Finding] | tuple[Finding, ...],
        smallest_support: Mapping[str, float] | None = None,
    ) -> AuditReport:
        """Return the report on these findings."""
        safe = bool(findings) and all(finding.ok for finding in findings)
        return cls(safe=safe, smallest_support=dict(smallest_support or {}), findings=tuple(findings))

    @property
    def broken(self) -> tuple[str, ...]:
        """Return the names of the rules that do not hold."""
        return tuple(finding.rule for finding in self.findings if not finding.ok)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "safe": self.safe,
            "smallest_support": dict(self.smallest_support),
            "findings": [asdict(finding) for finding in self.findings],
        }


def least(unit: str, k: float) -> float:
    """Return the smallest recount that reaches a threshold.

    Sums of weights depend on their order in the last digits; trips and people are whole.

    Examples
    --------
    >>> least("travellers", 10), least("population", 5000) < 5000
    (10, True)
    """
    return k * (1 - TOLERANCE) if unit == "population" else k
