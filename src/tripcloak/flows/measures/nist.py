"""The score of NIST's temporal map challenge, sprint 3: synthetic taxi trips against the true ones.

Three parts, each from 0 to 1, and a thousand times their mean: marginals by area and shift, the graph of
areas, and how many individuals are alike. Nothing here knows where records come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError

INDIVIDUAL, SHIFT, PICKUP, DROPOFF = "taxi_id", "shift", "pickup_community_area", "dropoff_community_area"
NEEDED = (INDIVIDUAL, SHIFT, PICKUP, DROPOFF)
EDGES = {
    "fare": np.arange(0, 100, 10),
    "tips": np.arange(0, 100, 10),
    "trip_total": np.arange(0, 100, 10),
    "trip_seconds": np.arange(0, 2000, 200),
    "trip_miles": np.arange(0, 100, 10),
}
"""Where the bins of numbers begin; below the first and from the last on there is one more each."""
MARGINALS = ("company_id", DROPOFF, "payment_type", *EDGES)
"""The columns that marginals are made of, two at a time."""
CUTOFF = 250
"""Records by which an area and shift may be off before it counts as wrong altogether."""
SEED, ARCHETYPES, LEAST, MOST = 123456, 50, 5, 50
"""How individuals are compared: the contest's draws, how many, and how far numbers may be apart."""

ContestTable = Mapping[str, Any]
"""Records of trips: a whole number a record in every column, by the contest's names."""


@dataclass(frozen=True, kw_only=True)
class NistScore:
    """The score of synthetic records, and its parts; computed from true records, so not for publishing.

    Attributes
    ----------
    score : float
        A thousand times the mean of the three parts.
    k_marginal, graph, conjunctions : float
        Marginals by area and shift, trips between areas, and individuals alike; 0 to 1, higher is better.
    columns : tuple of str
        What the marginals were made of; the contest's others were not in both tables.
    penalised : int
        Pairs of area and shift that count as wrong altogether, because too many records are off.
    records, individuals : int
        How many the synthetic table holds.
    """

    score: float
    k_marginal: float
    graph: float
    conjunctions: float
    columns: tuple[str, ...]
    penalised: int
    records: int
    individuals: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**vars(self), "columns": list(self.columns)}


def nist_score(truth: ContestTable, made: ContestTable, *, cutoff: int | None = CUTOFF) -> NistScore:
    """Return how well synthetic records stand for true ones, as the contest's own scorer counts it.

    Columns are the contest's: ``taxi_id``, ``shift``, ``pickup_community_area`` and
    ``dropoff_community_area`` must be there; of ``company_id``, ``payment_type``, ``fare``, ``tips``,
    ``trip_total``, ``trip_seconds`` and ``trip_miles`` those count that both tables have.

    Parameters
    ----------
    truth, made
        Columns by name, one value a record.
    cutoff
        From so many records off on, an area and shift gets nothing; None for the scorer as it was handed
        to contestants, which has no such penalty.

    Examples
    --------
    >>> truth = {"taxi_id": [1, 1, 2], "shift": [0, 3, 3]}
    >>> truth |= {"pickup_community_area": [8, 8, 9], "dropoff_community_area": [9, 9, 8]}
    >>> nist_score(truth, truth).score
    1000.0
    >>> found = nist_score(truth, {**truth, "dropoff_community_area": [9, 8, 8]})
    >>> round(found.k_marginal, 3), round(found.graph, 3), found.conjunctions
    (0.667, 0.667, 1.0)
    """
    before, after = _checked(truth, "the true table"), _checked(made, "the synthetic table")
    columns = tuple(name for name in MARGINALS if name in before and name in after)
    marginal = _Marginals.of(before, after, cutoff)
    k_marginal, graph = marginal.score(before, after, columns), _graph(before, after)
    conjunctions = _conjunctions(before, after)
    return NistScore(
        score=1000.0 * float(np.mean([k_marginal, graph, conjunctions])),
        k_marginal=k_marginal,
        graph=graph,
        conjunctions=conjunctions,
        columns=columns,
        penalised=int(marginal.penalised.sum()),
        records=len(after[SHIFT]),
        individuals=len(np.unique(after[INDIVIDUAL])),
    )


def _checked(table: ContestTable, called: str) -> dict[str, Ints]:
    """Return the columns that count, numbers in their bins, or raise where they are not what they must be."""
    missing = [name for name in NEEDED if name not in table]
    if missing:
        raise InputError(f"{called} has no column {missing[0]}; the score needs {', '.join(NEEDED)}")
    known = {name: np.asarray(table[name]) for name in (*NEEDED, *MARGINALS) if name in table}
    if len({len(column) for column in known.values()}) != 1 or not len(known[SHIFT]):
        raise InputError(f"{called} must have at least one record, and a value in every column of each")
    for name, column in known.items():
        if name != INDIVIDUAL and (column.dtype.kind not in "iuf" or not np.isfinite(column).all()):
            raise InputError(f"{called} must have a number in every record's {name}")
    bins = {name: np.searchsorted(EDGES[name], known[name], "right") for name in EDGES if name in known}
    whole = {name: known[name].astype(np.int64) for name in known if name not in (INDIVIDUAL, *bins)}
    return {INDIVIDUAL: known[INDIVIDUAL], **whole, **bins}


class _Marginals(NamedTuple):
    """The areas and shifts of two tables: which each record is of, and which are penalised."""

    of_truth: Ints
    of_made: Ints
    penalised: Bools

    @classmethod
    def of(cls, truth: Mapping[str, Ints], made: Mapping[str, Ints], cutoff: int | None) -> _Marginals:
        """Return the areas and shifts that occur in either table."""
        place = _joint(truth, made, (PICKUP, SHIFT))
        before, after = place[: len(truth[SHIFT])], place[len(truth[SHIFT]) :]
        n = int(place.max()) + 1
        off = np.abs(np.bincount(before, minlength=n) - np.bincount(after, minlength=n))
        return cls(before, after, off >= (np.inf if cutoff is None else cutoff))

    def score(self, truth: Mapping[str, Ints], made: Mapping[str, Ints], columns: tuple[str, ...]) -> float:
        """Return the mean over areas and shifts of how alike their marginals are."""
        pairs: list[tuple[str, ...]] = [*combinations(columns, 2)] or [columns]
        # The contest takes every pair in both orders, which changes no mean.
        apart = np.mean([self._apart(truth, made, pair) for pair in pairs], axis=0)
        return (2.0 - float(np.where(self.penalised, 2.0, apart).mean())) / 2.0

    def _apart(self, truth: Mapping[str, Ints], made: Mapping[str, Ints], columns: tuple[str, ...]) -> Floats:
        """Return how far the shares of two tables are apart in every area and shift; 0 to 2."""
        n = len(self.penalised)
        place = np.concatenate((self.of_truth, self.of_made))
        cell = _joint(truth, made, columns)
        width = int(cell.max()) + 1
        cells, cell = np.unique(place * width + cell, return_inverse=True)
        home = cells // width
        counts = [
            np.bincount(part, minlength=len(cells)).astype(float)
            for part in (cell[: len(self.of_truth)], cell[len(self.of_truth) :])
        ]
        sums = [np.bincount(home, count, minlength=n) for count in counts]
        shares = [count / np.maximum(total, 1.0)[home] for count, total in zip(counts, sums, strict=True)]
        apart = np.bincount(home, np.abs(shares[0] - shares[1]), minlength=n)
        return np.where(np.minimum(*sums) < 1, 2.0, apart)


def _joint(truth: Mapping[str, Ints], made: Mapping[str, Ints], columns: tuple[str, ...]) -> Ints:
    """Return a number from 0 on for every combination of values, records of the truth first."""
    joint: Ints = np.zeros(len(truth[SHIFT]) + len(made[SHIFT]), dtype=np.int64)
    for name in columns:
        values, place = np.unique(np.concatenate((truth[name], made[name])), return_inverse=True)
        joint = np.unique(joint * len(values) + place, return_inverse=True)[1]
    return joint


def _graph(truth: Mapping[str, Ints], made: Mapping[str, Ints]) -> float:
    """Return how alike the shares of trips between areas are."""
    pair = _joint(truth, made, (PICKUP, DROPOFF))
    n, first = int(pair.max()) + 1, len(truth[SHIFT])
    shares = [np.bincount(part, minlength=n) / len(part) for part in (pair[:first], pair[first:])]
    return (2.0 - float(np.abs(shares[0] - shares[1]).sum())) / 2.0


def _conjunctions(truth: Mapping[str, Ints], made: Mapping[str, Ints]) -> float:
    """Return how alike the shares of individuals are who work when and where some true one does."""
    before, after = _profiles(truth), _profiles(made)
    theirs = _Profiles(before.names, np.zeros((len(after.counts), len(before.names)), dtype=np.int64))
    # Names are the contest's: an area that the synthetic table lacks takes the shift of its number along.
    for column, name in enumerate(before.names):
        if name in after.names:
            theirs.counts[:, column] = after.counts[:, after.names.index(name)]
    draw = np.random.RandomState(SEED)
    apart = []
    for _ in range(ARCHETYPES):
        one = before.counts[draw.randint(low=0, high=len(before.counts))]
        limits = draw.randint(LEAST, MOST + 1, size=len(before.names))
        alike = [np.mean((np.abs(x.counts - one) <= limits).all(axis=1)) for x in (before, theirs)]
        apart.append(abs(alike[0] - alike[1]))
    return 1.0 - float(np.mean(apart))


class _Profiles(NamedTuple):
    """Records of every individual by shift and area of pickup, and the contest's names of the columns."""

    names: list[int | str]
    counts: Ints


def _profiles(table: Mapping[str, Ints]) -> _Profiles:
    """Return the profiles of a table, individuals in the order of their ids."""
    people, person = np.unique(table[INDIVIDUAL], return_inverse=True)
    counted, occurring = [], []
    for name in (SHIFT, PICKUP):
        values, place = np.unique(table[name], return_inverse=True)
        size = len(people) * len(values)
        counted.append(np.bincount(person * len(values) + place, minlength=size).reshape(len(people), -1))
        occurring.append(values.tolist())
    shifts, areas = occurring
    names = [str(one) if one in areas else one for one in shifts]
    names += [f"{one}p" if one in shifts else one for one in areas]
    return _Profiles(names, np.hstack(counted))
