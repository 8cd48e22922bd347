"""The quick audit right after anonymising: arrays against arrays, before a file is written."""

from __future__ import annotations

from tripcloak.flows.audit.matrix import counts, tables, zones
from tripcloak.flows.audit.matrix.case import BOOK, MatrixCase
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.rulebook import Verdict

__all__ = ["BOOK", "audit_matrix", "counts", "tables", "zones"]


def audit_matrix(matrix: ODMatrix, release: Release, *, memory: Memory = None) -> Verdict:
    """Return what a recount of the matrix says about a release of it.

    Parameters
    ----------
    matrix, release
        The input flows, and what was made of them.
    memory
        How much memory to use, such as ``1GB``; half of the machine's by default.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> from tripcloak.flows.release import build_release
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 1]), np.array([1, 1, 1]))
    >>> release = build_release(
    ...     matrix, method="by hand", parameters={}, promise=KAnonymity(k=2, unit="trips"),
    ...     suppression_limit=0, origin_zone=np.array([2, 2]), destination_zone=np.array([1, 1]),
    ...     suppressed=np.array([False, False]), homogeneous=True,
    ... )
    >>> report = audit_matrix(matrix, release)
    >>> report.safe, report.smallest_support
    (True, {'trips': 3})
    """
    from tripcloak.ground.engine import connect

    with connect(Budget.of(memory).engine) as con:
        case = MatrixCase(matrix, release, con)
        findings = BOOK.judge(case)
        return Verdict.of(findings, smallest_support=counts.smallest_support(case))
