"""A search for sets among more choices than can be tried: a programme in zeros and ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, hstack, vstack

from tripcloak.ground.arrays import Ints
from tripcloak.ledger.elimination import PRIME, fraction

SECONDS = 5.0
"""How long one search may take."""

MOST = 200
"""Sets that are searched for in one block; one of them is reason enough to refuse."""


def search_sets(values: Ints, people: Sequence[Ints], below: int) -> tuple[list[Ints], bool]:
    """Return choices of rows that make least sets of fewer people, and whether those are all.

    Every set is a sum of rows modulo the prime, each taken or not. The programme looks for the set of the
    fewest people; each set that was found is then ruled out, with all that hold it.

    Parameters
    ----------
    values
        What every row has of every column, modulo the prime, in reduced echelon form.
    """
    exact = _fractions(values)
    if exact is None:
        return [], False
    programme = _Programme(exact, people)
    found: list[Ints] = []
    while len(found) < MOST:
        choice, proven = programme.solve()
        if choice is None or programme.count(choice) >= below:
            return found, proven
        found.append(choice)
        programme.rule_out(choice)
    return found, False


def _fractions(values: Ints) -> csr_array | None:
    remainders, at = np.unique(values % PRIME, return_inverse=True)
    told = [fraction(int(one)) for one in remainders]
    if any(one is None for one in told):
        return None
    return csr_array(np.array([float(one or 0) for one in told])[at].reshape(values.shape))


class _Programme:
    """Rows taken or not, columns in or not, people counted once: as few people as there can be."""

    def __init__(self, values: csr_array, people: Sequence[Ints]) -> None:
        n = values.shape[0]
        used = np.unique(values.nonzero()[1])
        everybody, who = np.unique(np.concatenate([people[c] for c in used]), return_inverse=True)
        self.values, self.used, self.n, self.width = values, used, n, len(used)
        size = np.array([len(people[c]) for c in used])
        column = np.repeat(np.arange(len(used)), size)
        total, pairs = n + len(used) + len(everybody), np.arange(len(column))
        adds_up = hstack([values[:, used].T, -_eye(len(used)), csr_array((len(used), len(everybody)))])
        counted = csr_array(
            (
                np.concatenate([np.ones(len(column)), -np.ones(len(column))]),
                (np.concatenate([pairs, pairs]), np.concatenate([n + len(used) + who, n + column])),
            ),
            shape=(len(column), total),
        )
        self.rows = [adds_up, counted, csr_array((np.ones(n), (np.zeros(n, int), np.arange(n))), (1, total))]
        self.least = [np.zeros(len(used)), np.zeros(len(column)), np.ones(1)]
        self.most = [np.zeros(len(used)), np.full(len(column), np.inf), np.full(1, np.inf)]
        self.cost = np.concatenate([np.zeros(n + len(used)), np.ones(len(everybody))])

    def solve(self) -> tuple[Ints | None, bool]:
        """Return the choice of rows with the fewest people, and whether that is proven."""
        limits = LinearConstraint(
            vstack(self.rows, format="csr"), np.concatenate(self.least), np.concatenate(self.most)
        )
        answer = milp(
            self.cost,
            constraints=limits,
            integrality=np.where(np.arange(len(self.cost)) < self.n + self.width, 1, 0),
            bounds=Bounds(0, 1),
            options={"time_limit": SECONDS},
        )
        if answer.x is None:
            return None, answer.status == 2
        return np.rint(answer.x[: self.n]).astype(np.int64), answer.status == 0

    def count(self, choice: Ints) -> int:
        """Return how many people a choice of rows concerns."""
        columns = np.flatnonzero(np.abs(self.values[:, self.used].T @ choice) > 0.5)
        pairs = self.rows[1].tocoo()
        inside = np.isin(pairs.col, self.n + columns)
        people = np.isin(pairs.row, pairs.row[inside]) & (pairs.col >= self.n + self.width)
        return len(np.unique(pairs.col[people]))

    def rule_out(self, choice: Ints) -> None:
        """Let no further set hold all columns of this one."""
        columns = np.flatnonzero(np.abs(self.values[:, self.used].T @ choice) > 0.5)
        row = np.zeros(len(self.cost))
        row[self.n + columns] = 1
        self.rows.append(csr_array(row[None]))
        self.least.append(np.full(1, -np.inf))
        self.most.append(np.full(1, len(columns) - 1.0))


def _eye(n: int) -> csr_array:
    return csr_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n))
