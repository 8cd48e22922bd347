"""Plain twins of the attack on several releases: every combination tried, every solution written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np

from tripcloak.flows.model import KeyedRecords
from tripcloak.ledger.atoms import Atoms
from tripcloak.ledger.disclosure import Disclosure


def plain_atoms(disclosures: Sequence[Disclosure]) -> dict[tuple[int, ...], list[tuple[int, int, int]]]:
    """Return the records (record, person, trips) of every vector of groups that some release tells of."""
    where: dict[int, list[int]] = {}
    who: dict[int, tuple[int, int]] = {}
    for number, one in enumerate(disclosures):
        for at, record in enumerate(one.record.tolist()):
            where.setdefault(record, [-1] * len(disclosures))[number] = int(one.group[at])
            who[record] = int(one.person[at]), 1 if one.weight is None else int(one.weight[at])
    atoms: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
    for record, groups in where.items():
        if max(groups) >= 0:
            atoms.setdefault(tuple(groups), []).append((record, *who[record]))
    return dict(sorted(atoms.items()))


def exposed_sets(disclosures: Sequence[Disclosure], k: int, reach: int) -> set[frozenset[tuple[int, ...]]]:
    """Return the least sets of atoms of fewer than k people whose total is a combination of exact numbers.

    Parameters
    ----------
    reach
        Factors from minus this to this are tried.
    """
    atoms = plain_atoms(disclosures)
    names = list(atoms)
    rows = [
        np.array([int(name[release] == group) for name in names])
        for release, one in enumerate(disclosures)
        for group in range(one.n_groups)
        if one.rounded is None
    ]
    if not rows:
        return set()
    totals = _factors(reach, len(rows)) @ np.array(rows, dtype=np.float32)
    highest = totals.max(axis=1, keepdims=True)
    even = np.all((totals == 0) | (totals == highest), axis=1) & (highest[:, 0] > 0)
    sets = {
        frozenset(name for name, held in zip(names, total, strict=True) if held)
        for total in np.unique(totals[even] > 0, axis=0)
    }
    least = {one for one in sets if not any(other < one for other in sets)}
    return {one for one in least if len({person for name in one for _, person, _ in atoms[name]}) < k}


@cache
def _factors(reach: int, numbers: int) -> np.ndarray:
    grid = np.indices((2 * reach + 1,) * numbers, dtype=np.int8) - reach
    return grid.reshape(numbers, -1).T.astype(np.float32)


def possible_totals(disclosures: Sequence[Disclosure]) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return the least and the greatest trips of every atom over all whole numbers that fit what is told."""
    names, solutions = _all_solutions(disclosures)
    return {
        name: (int(column.min()), int(column.max())) for name, column in zip(names, solutions.T, strict=True)
    }


def few_in_all(
    disclosures: Sequence[Disclosure], k: int
) -> dict[frozenset[tuple[int, ...]], tuple[int, int]]:
    """Return the least sets of atoms with 1 to k - 1 trips in all that fits; how few and how many of them."""
    names, solutions = _all_solutions(disclosures)
    found: dict[frozenset[tuple[int, ...]], tuple[int, int]] = {}
    for size in range(1, len(names) + 1):
        for some in combinations(range(len(names)), size):
            total = solutions[:, some].sum(axis=1)
            own = frozenset(names[at] for at in some)
            if total.min() >= 1 and total.max() < k and not any(one < own for one in found):
                found[own] = int(total.min()), int(total.max())
    return found


def possible_total(disclosures: Sequence[Disclosure], some: Iterable[tuple[int, ...]]) -> tuple[int, int]:
    """Return the least and the greatest trips of some atoms together over all whole numbers that fit."""
    names, solutions = _all_solutions(disclosures)
    total = solutions[:, [names.index(one) for one in some]].sum(axis=1)
    return int(total.min()), int(total.max())


def _all_solutions(disclosures: Sequence[Disclosure]) -> tuple[list[tuple[int, ...]], np.ndarray]:
    names = list(plain_atoms(disclosures))
    sums = [
        ([at for at, name in enumerate(names) if name[release] == group], int(least), int(most))
        for release, one in enumerate(disclosures)
        for group, (least, most) in enumerate(one.room.T)
    ]
    return names, np.array(list(_solutions(len(names), sums)))


def met_by_exchanges(atoms: Atoms) -> np.ndarray:
    """Return what atoms hold in all solutions met by passing trips from one or two to as many others.

    Those pairs are in the very same groups, so no sum is ever another.
    """
    n, groups = len(atoms), [Counter(own[own >= 0].tolist()) for own in atoms.told]
    some = [(one,) for one in range(n)] + list(combinations(range(n), 2))
    alike = [
        (more, less)
        for more in some
        for less in some
        if more != less
        and sum((groups[one] for one in more), Counter()) == sum((groups[one] for one in less), Counter())
    ]
    met, waiting = set(), [tuple(atoms.trips.tolist())]
    while waiting:
        now = waiting.pop()
        if now in met:
            continue
        met.add(now)
        for more, less in alike:
            then = [held + more.count(at) - less.count(at) for at, held in enumerate(now)]
            if min(then) >= 0:
                waiting.append(tuple(then))
    return np.array(sorted(met))


def _solutions(
    n: int, sums: Sequence[tuple[list[int], int, int]], so_far: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    at = len(so_far)
    held = [sum(so_far[one] for one in members if one < at) for members, _, _ in sums]
    for had, (members, least, most) in zip(held, sums, strict=True):
        if had > most or (had < least and max(members, default=-1) < at):
            return
    if at == n:
        yield so_far
        return
    room = min(most - had for had, (members, _, most) in zip(held, sums, strict=True) if at in members)
    for value in range(room + 1):
        yield from _solutions(n, sums, (*so_far, value))


def people_in(disclosures: Sequence[Disclosure], sets: Sequence[tuple[int, ...]]) -> int:
    """Return how many different people have trips in some atoms."""
    atoms = plain_atoms(disclosures)
    return len({person for name in sets for _, person, _ in atoms[name]})


def remainders_hold(now: KeyedRecords, earlier: Sequence[Disclosure], flows: Sequence[int], k: int) -> bool:
    """Return whether nobody or enough remain of some flows, or of what holds them, against earlier releases.

    Releases that share no published record count as one.
    """
    person = {int(r): int(p) for one in earlier for r, p in zip(one.record, one.person, strict=True)}
    own = {int(r) for r, flow in zip(now.record, now.flow, strict=True) if flow in flows}
    for parts in _partitions(earlier):
        whole = set().union(*(part for part in parts if part <= own)) if parts else set()
        left = [own - whole]
        around = set().union(*(part for part in parts if part & own)) if parts else set()
        if own <= around:
            left.append(around - own)
        for rest in left:
            # Records of nobody are their own.
            if rest and len({person[record] for record in rest} - set(person)) < k:
                return False
    return True


def marks_of_flows(groups, mark) -> list[int]:
    """Return the sum of the marks of all groups of each flow, given those of its records by partition."""
    none = len(mark) - len(groups[0]) if groups else 0
    inside = [
        {one if one >= 0 else none + part for part, own in enumerate(flow) for one in own} for flow in groups
    ]
    return [sum(int(mark[one]) for one in flow) % 2**64 for flow in inside]


def groups_of_kinds(groups) -> list[list[tuple[set[int], bool]]]:
    """Return for some flows, by partition, the groups of their records, and whether some are in none."""
    return [[(set(own) - {-1}, -1 in own) for own in flow] for flow in groups]


def people_of_groups(one: Disclosure) -> list[int]:
    """Return how many different people have records in every group; records of nobody are their own."""
    nobody = set(one.record.tolist())
    inside = [one.group == group for group in range(one.n_groups)]
    return [len(set(one.person[own].tolist()) - nobody) for own in inside]


def put_in_order(flows, groups, partial) -> tuple[dict[int, tuple[int, int]], list[list[bool]]]:
    """Return the first and last place of earlier groups that an order has whole, and what it has of flows.

    The latter by partition: whether all groups of a flow are there whole.
    """
    places: dict[int, list[int]] = {}
    for flow, parts in enumerate(groups):
        for one in {one for own in parts for one in own if one >= 0}:
            places.setdefault(one, []).append(flows.index(flow) if flow in flows else -1)
    whole = {one: (min(at), max(at)) for one, at in places.items() if min(at) >= 0 and not partial[one]}
    return whole, [[all(one in whole for one in own) for own in parts] for parts in groups]


def enough_people(segments, kinds, seen, k: int) -> list[bool]:
    """Return which segments hold atoms of k people, or a kind that is enough by itself."""

    def run(pair, at: int) -> list[int]:
        return pair[1][pair[0][at] : pair[0][at + 1]]

    found = []
    for segment in range(len(segments[0]) - 1):
        own = run(segments, segment)
        people = {one for kind in own for atom in run(kinds, kind) for one in run(seen, atom)}
        found.append(len(people) >= k or any(kinds[2][kind] for kind in own))
    return found


def sorted_by(code: Sequence[int], n: int) -> list[list[int]]:
    """Return the places of every code."""
    return [[at for at, own in enumerate(code) if own == one] for one in range(n)]


def split(sets: Sequence[list[int]], code: Sequence[int]) -> list[tuple[int, int, list[int]]]:
    """Return sets split by the code of each record, ascending: the set of before, the code, the records."""
    found: dict[tuple[int, int], list[int]] = {}
    for number, own in enumerate(sets):
        for record in own:
            found.setdefault((number, code[record]), []).append(record)
    return [(*key, own) for key, own in sorted(found.items())]


def people_of_sets(sets: Sequence[list[int]], person: Sequence[int]) -> list[tuple[int, int]]:
    """Return pairs of a set and a person of a record in it, ascending; -1 is nobody."""
    return sorted({(at, person[one]) for at, own in enumerate(sets) for one in own if person[one] >= 0})


def places_among(some: Sequence[int], others: Sequence[int]) -> list[int]:
    """Return where each of some numbers is among others, -1 where it is not."""
    return [list(others).index(one) if one in others else -1 for one in some]


def lying_in(mine: Sequence[int], theirs: Sequence[int]) -> list[tuple[int, int, bool]]:
    """Return groups that lie in a group of another release, those, and whether these hold the same atoms."""
    pairs = []
    for group in sorted(set(mine) - {-1}):
        around = {there for own, there in zip(mine, theirs, strict=True) if own == group}
        if len(around) == 1 and -1 not in around:
            (there,) = around
            pairs.append((group, there, list(theirs).count(there) == list(mine).count(group)))
    return pairs


def are_uniform(sets: Sequence[list[int]], code: Sequence[int]) -> bool:
    """Return whether every set has one code."""
    return all(len({code[one] for one in own}) == 1 for own in sets)


def _partitions(earlier: Sequence[Disclosure]) -> list[list[set[int]]]:
    joined: list[list[set[int]]] = []
    for one in earlier:
        parts = [set(one.record[one.group == g].tolist()) for g in range(one.n_groups)]
        mine = set().union(*parts) if parts else set()
        for others in joined:
            if not mine & set().union(*others):
                others.extend(parts)
                break
        else:
            joined.append(parts)
    return [[part for part in parts if part] for parts in joined]


def known_sets(
    ties: Sequence[dict[int, int]],
    columns: Sequence[dict[int, int]],
    people: Sequence[set[int]],
    below: int,
) -> set[frozenset[int]]:
    """Return the least sets of columns of fewer people that some unknowns single out, by trying all."""
    unknowns = sorted({unknown for row in (*ties, *columns) for unknown in row})
    sets = (
        frozenset(one)
        for size in range(1, len(columns) + 1)
        for one in combinations(range(len(columns)), size)
    )
    found: list[frozenset[int]] = []
    for one in sets:
        if len(set().union(*(people[column] for column in one))) >= below or any(
            each <= one for each in found
        ):
            continue
        wanted = [0] * len(ties) + [int(column in one) for column in range(len(columns))]
        rows = [[Fraction(row.get(unknown, 0)) for unknown in unknowns] for row in (*ties, *columns)]
        if _can_be_solved([[*row, Fraction(value)] for row, value in zip(rows, wanted, strict=True)]):
            found.append(one)
    return set(found)


def _can_be_solved(rows: list[list[Fraction]]) -> bool:
    """Return whether linear equations have a solution; the last entry of each is what it equals."""
    rest = rows
    for at in range(len(rows[0]) - 1 if rows else 0):
        pivot = next((row for row in rest if row[at]), None)
        if pivot is not None:
            rest = [
                [one - row[at] / pivot[at] * other for one, other in zip(row, pivot, strict=True)]
                for row in rest
                if row is not pivot
            ]
    return not any(row[-1] for row in rest)


def groups_at(some: Sequence[int], known: Sequence[int], group: Sequence[int], missing: int) -> list[int]:
    """Return the group of each of some numbers, given those of known ones."""
    told = dict(zip(known, group, strict=True))
    return [told.get(one, missing) for one in some]


def trips_in_groups(group: Sequence[int], weight: Sequence[int], n: int) -> list[int]:
    """Return the trips of each of n groups, of records of which each is one, if nothing else is said."""
    each = weight or [1] * len(group)
    return [sum(trips for own, trips in zip(group, each, strict=True) if own == one) for one in range(n)]


def are_all_among(some: Sequence[int], others: Sequence[int]) -> bool:
    """Return whether all of some numbers are among others."""
    return set(some) <= set(others)


def learn_people(
    place: Sequence[int],
    new: Sequence[bool],
    record: Sequence[int],
    person: Sequence[int],
    known: list[int],
    told_apart: bool,
) -> bool:
    """Take in whose records are that are asked for, and return whether anything became of that."""
    before = list(known)
    for at, asked, own, who in zip(place, new, record, person, strict=True):
        if asked and (who != own if told_apart else known[at] == 0):
            known[at] = who
    return known != before


def codes_at(place: Sequence[int], group: Sequence[int], n: int) -> list[int]:
    """Return the group of each of n records, from 1; 0 where it has none."""
    told = dict(zip(place, group, strict=True))
    return [max(told.get(at, -1), -1) + 1 for at in range(n)]


def groups_follow_flows(flow: Sequence[int], group: Sequence[int], example: Sequence[int]) -> bool:
    """Return whether all records of a flow have the group of its example."""
    return all(group[example[own]] == told for own, told in zip(flow, group, strict=True))
