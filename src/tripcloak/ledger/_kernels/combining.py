"""Compiled search for sets of columns whose total is known: elimination, then choices that can be mended.

Everything is done modulo a prime, so that no number grows, and what is found is proven in whole numbers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger._kernels.groups import sorted_by
from tripcloak.ledger._kernels.showing import (
    PRIME,
    Ends,
    Pool,
    Steps,
    Table,
    _holds,
    _in_whole_numbers,
    _indexed,
    _inverse,
    _shown,
)

DEEP = 500
"""Columns of one set, at most: people of so many different atoms could not be told from others."""


@njit(cache=True)
def known_sets(
    blocks: tuple[Ints, Ints], rows: Table, people: tuple[Ints, Ints], sizes: tuple[int, int], limits: Ends
) -> tuple[Bools, tuple[Ints, Ints], Table, Ints]:  # pragma: no cover - compiled
    """Return the least sets of columns of few people whose total is known, block by block.

    Parameters
    ----------
    blocks
        Where the rows of each block begin, and one more; how many of them, the first ones, are ties. The
        others are columns.
    rows
        Where the terms of each row begin, and one more; the unknowns; the coefficients.
    people
        Where the people of each row begin, and one more; the people. Ties have none.
    sizes
        How many unknowns there are, and how many people.
    limits
        Sets of so many people are of no interest; the terms that may be added up in a block; the choices
        that may be looked at.

    Returns
    -------
    complete, sets, shown, divisor
        Of which blocks all sets were found; where each set begins, and one more, and its rows; where the
        unknowns that show it begin, and one more, they, and their factors; what these are divided by.
    """
    start, n_ties = blocks
    complete = np.ones(len(n_ties), dtype=np.bool_)
    number = np.full(sizes[0], -1, dtype=np.int64)
    counted = np.zeros(sizes[1], dtype=np.int64)
    set_start, set_row = [0], [0]
    shown_start, shown, factor, divisor = [0], [0], [0], [0]
    for block in range(len(n_ties)):
        ends = start[block], start[block] + n_ties[block], start[block + 1]
        names = _numbered(ends, rows, number)
        pool, steps, checks, good = _eliminated(ends, rows, number, len(names), limits[1])
        if good:
            n = ends[2] - ends[1]
            own, by_column, good = _whole_checks(pool, checks, len(names), n)
            found, whole = _searched(ends[1], n, own, by_column, people, counted, limits)
            kept = _least(found, n)
            good = good and whole
            if kept.any():
                index = _indexed(ends, rows, number, pool, steps, len(names) + n)
                value = np.zeros(len(names) + n, dtype=np.int64)
                seen = np.full(len(steps[0]), -1, dtype=np.int64)
                wanted = np.zeros(ends[2] - ends[0], dtype=np.int64)
                for one in range(len(kept)):
                    if not kept[one]:
                        continue
                    columns = found[1][found[0][one] : found[0][one + 1]]
                    m, by_step, by_row = len(names), (index[0], index[1]), (index[2], index[3], index[4])
                    unknowns, factors = _shown(columns, m, pool, steps, by_step, value, (seen, one))
                    common, shift = _in_whole_numbers(factors, len(factors)), ends[1] - ends[0]
                    if common == 0 or not _holds(columns, shift, unknowns, factors, common, by_row, wanted):
                        good = False
                        continue
                    for column in columns:
                        set_row.append(column + ends[1])
                    set_start.append(len(set_row) - 1)
                    for at in range(len(unknowns)):
                        shown.append(names[unknowns[at]])
                        factor.append(factors[at])
                    shown_start.append(len(shown) - 1)
                    divisor.append(common)
        complete[block] = good
        for name in names:
            number[name] = -1
    return (
        complete,
        (np.array(set_start), np.array(set_row)[1:]),
        (np.array(shown_start), np.array(shown)[1:], np.array(factor)[1:]),
        np.array(divisor)[1:],
    )


@njit(cache=True)
def _numbered(ends: Ends, rows: Table, number: Ints) -> Ints:  # pragma: no cover - compiled
    """Number the unknowns of a block, and return which they are."""
    first, last = rows[0][ends[0]], rows[0][ends[2]]
    names = np.empty(last - first, dtype=np.int64)
    n = 0
    for at in range(first, last):
        if number[rows[1][at]] < 0:
            number[rows[1][at]] = n
            names[n] = rows[1][at]
            n += 1
    return names[:n]


@njit(cache=True)
def _eliminated(
    ends: Ends, rows: Table, number: Ints, m: int, terms: int
) -> tuple[Pool, Steps, Pool, bool]:  # pragma: no cover
    """Eliminate the unknowns of a block, those of the shortest rows first, each by the row it is rarest in.

    Returns
    -------
    pool, steps, checks, complete
        Terms and factors; the unknown that was eliminated by each step, and where its row begins and ends;
        where sums of columns that must be zero begin and end; whether no more terms were added up.
    """
    pool, chain, reach, holders = _laid_out(ends, rows, number, m)
    first, last = reach
    steps, checks = ([0], [0], [0]), ([0], [0])
    queue = _queue(reach, m + ends[2] - ends[1])
    shortest = 0
    done, seen = np.zeros(len(first), dtype=np.bool_), np.full(len(first), -1, dtype=np.int64)
    total = np.zeros(m + ends[2] - ends[1], dtype=np.int64)
    # Invariant: an unknown that was eliminated is in no row that is left.
    while terms >= 0:
        while shortest < len(queue[0]) and queue[0][shortest] < 0:
            shortest += 1
        if shortest == len(queue[0]):
            break
        row, length = queue[0][shortest], shortest
        _take(queue, row, length)
        done[row] = True
        pivot, scale = _rarest(pool, first[row], last[row], holders[1])
        if pivot < 0:
            if length:
                checks[0].append(first[row])
                checks[1].append(last[row])
            continue
        steps[0].append(pivot)
        steps[1].append(first[row])
        steps[2].append(last[row])
        link = holders[0][pivot]
        while link >= 0:
            other = chain[1][link]
            link = chain[0][link]
            if done[other] or seen[other] == row:
                continue
            seen[other] = row
            before = last[other] - first[other]
            terms -= length + before
            if _rid(pool, chain, reach, holders, total, (row, other, pivot, scale)):
                _take(queue, other, before)
                _put(queue, other, last[other] - first[other])
                shortest = min(shortest, last[other] - first[other])
    return pool, steps, checks, terms >= 0


@njit(cache=True)
def _laid_out(
    ends: Ends, rows: Table, number: Ints, m: int
) -> tuple[Pool, Pool, tuple[Ints, Ints], tuple[Ints, Ints]]:  # pragma: no cover - compiled
    """Return the rows of a block one behind the other, modulo the prime, and who holds which unknown.

    Terms below m are unknowns; those above are columns, each in its own row.

    Returns
    -------
    pool, chain, reach, holders
        Terms and factors; links to what follows, and rows; where each row begins and ends; the first link
        of the rows that hold an unknown, some of which may do so no longer, and how many do.
    """
    term, factor = [0 for _ in range(0)], [0 for _ in range(0)]
    following, holder = [0 for _ in range(0)], [0 for _ in range(0)]
    n_rows, n_ties = ends[2] - ends[0], ends[1] - ends[0]
    first, last = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    head, held = np.full(m, -1, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for row in range(n_rows):
        first[row] = len(term)
        for at in range(rows[0][ends[0] + row], rows[0][ends[0] + row + 1]):
            unknown = number[rows[1][at]]
            term.append(unknown)
            factor.append(rows[2][at] % PRIME)
            held[unknown] += 1
            following.append(head[unknown])
            holder.append(row)
            head[unknown] = len(holder) - 1
        if row >= n_ties:
            term.append(m + row - n_ties)
            factor.append(PRIME - 1)
        last[row] = len(term)
    return (term, factor), (following, holder), (first, last), (head, held)


@njit(cache=True)
def _queue(reach: tuple[Ints, Ints], longest: int) -> Table:  # pragma: no cover - compiled
    """Return rows by their length: the first row of every length, and before and after every row another."""
    n = len(reach[0])
    queue = (
        np.full(longest + 1, -1, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
    )
    for row in range(n - 1, -1, -1):
        _put(queue, row, reach[1][row] - reach[0][row])
    return queue


@njit(cache=True)
def _put(queue: Table, row: int, length: int) -> None:  # pragma: no cover - compiled
    """Put a row before all others of its length."""
    head, before, after = queue
    before[row], after[row] = -1, head[length]
    if head[length] >= 0:
        before[head[length]] = row
    head[length] = row


@njit(cache=True)
def _take(queue: Table, row: int, length: int) -> None:  # pragma: no cover - compiled
    """Take a row out of those of its length."""
    head, before, after = queue
    if before[row] < 0:
        head[length] = after[row]
    else:
        after[before[row]] = after[row]
    if after[row] >= 0:
        before[after[row]] = before[row]


@njit(cache=True)
def _rarest(pool: Pool, first: int, last: int, held: Ints) -> tuple[int, int]:  # pragma: no cover - compiled
    """Take a row away; return its unknown that the fewest others hold, and what its factor times is one."""
    pivot, scale = -1, 0
    for at in range(first, last):
        if pool[0][at] < len(held):
            held[pool[0][at]] -= 1
            if pivot < 0 or held[pool[0][at]] < held[pivot]:
                pivot, scale = pool[0][at], pool[1][at]
    return pivot, _inverse(scale) if pivot >= 0 else 0


@njit(cache=True)
def _rid(
    pool: Pool,
    chain: Pool,
    reach: tuple[Ints, Ints],
    holders: tuple[Ints, Ints],
    total: Ints,
    given: tuple[int, int, int, int],
) -> bool:  # pragma: no cover - compiled
    """Rid a row of an unknown by another row, at the end of the pool; return whether it had it."""
    row, other, pivot, scale = given
    term, factor = pool
    begin = len(term)
    for at in range(reach[0][other], reach[1][other]):
        total[term[at]] = factor[at]
    times = total[pivot] * scale % PRIME
    if times:
        for at in range(reach[0][row], reach[1][row]):
            one = term[at]
            before = total[one]
            total[one] = (before - times * factor[at]) % PRIME
            if before == 0:
                # A term that is new to this row; it cannot vanish, as neither factor is zero.
                term.append(one)
                factor.append(total[one])
                total[one] = 0
                if one < len(holders[1]):
                    holders[1][one] += 1
                    chain[0].append(holders[0][one])
                    chain[1].append(other)
                    holders[0][one] = len(chain[1]) - 1
    for at in range(reach[0][other], reach[1][other]):
        one = term[at]
        if times and total[one] != 0:
            term.append(one)
            factor.append(total[one])
        elif times and one < len(holders[1]):
            holders[1][one] -= 1
        total[one] = 0
    if times:
        reach[0][other], reach[1][other] = begin, len(term)
    return bool(times)


@njit(cache=True)
def _whole_checks(
    pool: Pool, checks: Pool, m: int, n: int
) -> tuple[  # pragma: no cover - compiled
    Table, Table, bool
]:
    """Return checks in whole numbers, by check and by column, and whether that could be done for all.

    Each is given by where it begins, and one more; its columns, or the checks of a column; and the factors.
    """
    start = np.zeros(len(checks[0]), dtype=np.int64)
    size = 0
    for check in range(1, len(checks[0])):
        size += checks[1][check] - checks[0][check]
    column, factor = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    kept, at, good = 0, 0, True
    for check in range(1, len(checks[0])):
        a, b = checks[0][check], checks[1][check]
        for place in range(a, b):
            column[at + place - a] = pool[0][place] - m
            factor[at + place - a] = pool[1][place]
        if _in_whole_numbers(factor[at : at + b - a], b - a) == 0:
            good = False
            continue
        kept, at = kept + 1, at + b - a
        start[kept] = at
    first, order = sorted_by(column[:at], n)
    check_of, factor_of = np.empty(at, dtype=np.int64), np.empty(at, dtype=np.int64)
    of = _rows_of(start[: kept + 1])
    for one in range(at):
        check_of[one], factor_of[one] = of[order[one]], factor[order[one]]
    return (start[: kept + 1], column[:at], factor[:at]), (first, check_of, factor_of), good


@njit(cache=True)
def _rows_of(start: Ints) -> Ints:  # pragma: no cover - compiled
    """Return the row of every term, given where rows begin, and one more."""
    row = np.empty(start[-1], dtype=np.int64)
    for one in range(len(start) - 1):
        for at in range(start[one], start[one + 1]):
            row[at] = one
    return row


@njit(cache=True)
def _searched(
    shift: int,
    n: int,
    checks: Table,
    by_column: Table,
    people: tuple[Ints, Ints],
    counted: Ints,
    limits: Ends,
) -> tuple[tuple[Ints, Ints], bool]:  # pragma: no cover - compiled
    """Return the sets of columns that every check adds up to zero over, among them all least ones.

    A check that does not is one that further columns must mend: those are tried, each with all before it
    barred. Sets are looked for column by column, of the shortest checks first; a column that all was found
    of is barred from then on. Columns that no chain of checks ties to each other are searched apart.
    """
    part, length = _parts(n, checks, by_column)
    order = sorted_by(length, n + 1)[1]
    left = np.full(n, limits[2], dtype=np.int64)
    taken = np.zeros(n, dtype=np.bool_)
    total = np.zeros(len(checks[0]), dtype=np.int64)
    held, way_first, way_next = np.zeros((3, DEEP + 2), dtype=np.int64)
    ways = [0 for _ in range(0)]
    starts, found = [0], [0]
    for root in order:
        if left[part[root]] <= 0:
            continue
        column, depth, several, entering = root, 0, 0, True
        while entering or depth:
            if entering:
                entering = False
                left[part[root]] -= 1
                several += _met(column + shift, people, counted)
                if several >= limits[0] or left[part[root]] <= 0 or depth == DEEP:
                    if depth == DEEP:
                        left[part[root]] = 0
                    several -= _left_out(column + shift, people, counted)
                else:
                    taken[column] = True
                    held[depth] = column
                    _add(column, by_column, total, 1)
                    depth += 1
                    way_first[depth] = way_next[depth] = len(ways)
                    if not _mending(held[:depth], checks, by_column, total, taken, ways):
                        for one in held[:depth]:
                            found.append(one)
                        starts.append(len(found) - 1)
                continue
            # What was tried last stays barred while the others are; it is taken, as what is held is.
            if way_next[depth] < len(ways):
                if way_next[depth] > way_first[depth]:
                    taken[ways[way_next[depth] - 1]] = True
                column, entering = ways[way_next[depth]], True
                way_next[depth] += 1
                continue
            while len(ways) > way_first[depth]:
                taken[ways.pop()] = False
            depth -= 1
            column = held[depth]
            _add(column, by_column, total, -1)
            several -= _left_out(column + shift, people, counted)
            taken[column] = False
        taken[root] = True
    return (np.array(starts), np.array(found)[1:]), left[part].min() > 0


@njit(cache=True)
def _add(column: int, by_column: Table, total: Ints, times: int) -> None:  # pragma: no cover
    """Add a column to the totals of its checks, so many times."""
    for at in range(by_column[0][column], by_column[0][column + 1]):
        total[by_column[1][at]] += times * by_column[2][at]


@njit(cache=True)
def _mending(
    held: Ints, checks: Table, by_column: Table, total: Ints, taken: Bools, ways: list[int]
) -> bool:  # pragma: no cover - compiled
    """Add the fewest columns of which one must be held too; return whether any check is wrong."""
    best, fewest = -1, 0
    for column in held:
        for at in range(by_column[0][column], by_column[0][column + 1]):
            check = by_column[1][at]
            if total[check] == 0:
                continue
            several = 0
            for place in range(checks[0][check], checks[0][check + 1]):
                if (checks[2][place] < 0) == (total[check] > 0) and not taken[checks[1][place]]:
                    several += 1
            if best < 0 or several < fewest:
                best, fewest = check, several
    if best < 0:
        return False
    for place in range(checks[0][best], checks[0][best + 1]):
        if (checks[2][place] < 0) == (total[best] > 0) and not taken[checks[1][place]]:
            ways.append(checks[1][place])
    return True


@njit(cache=True)
def _met(row: int, people: tuple[Ints, Ints], counted: Ints) -> int:  # pragma: no cover - compiled
    """Count the people of a row; return how many were not counted before."""
    new = 0
    for at in range(people[0][row], people[0][row + 1]):
        new += counted[people[1][at]] == 0
        counted[people[1][at]] += 1
    return new


@njit(cache=True)
def _left_out(row: int, people: tuple[Ints, Ints], counted: Ints) -> int:  # pragma: no cover - compiled
    """Count the people of a row no longer; return how many are not counted any more."""
    gone = 0
    for at in range(people[0][row], people[0][row + 1]):
        counted[people[1][at]] -= 1
        gone += counted[people[1][at]] == 0
    return gone


@njit(cache=True)
def _parts(n: int, checks: Table, by_column: Table) -> tuple[Ints, Ints]:  # pragma: no cover - compiled
    """Return for every column the first one that checks tie it to, and the length of its shortest check."""
    above, length = np.arange(n), np.zeros(n, dtype=np.int64)
    for check in range(len(checks[0]) - 1):
        one = _top(above, checks[1][checks[0][check]])
        for at in range(checks[0][check], checks[0][check + 1]):
            other = _top(above, checks[1][at])
            above[max(one, other)] = min(one, other)
            one = min(one, other)
    for column in range(n):
        above[column] = _top(above, column)
        for at in range(by_column[0][column], by_column[0][column + 1]):
            own = checks[0][by_column[1][at] + 1] - checks[0][by_column[1][at]]
            length[column] = own if length[column] == 0 else min(own, length[column])
    return above, length


@njit(cache=True)
def _top(above: Ints, one: int) -> int:  # pragma: no cover - compiled
    while above[one] != one:
        above[one] = above[above[one]]
        one = above[one]
    return one


@njit(cache=True)
def _least(found: tuple[Ints, Ints], n: int) -> Bools:  # pragma: no cover - compiled
    """Return which sets hold no other one."""
    start, column = found
    kept = np.ones(len(start) - 1, dtype=np.bool_)
    first, order = sorted_by(column, n)
    of = _rows_of(start)
    inside = np.zeros(n, dtype=np.bool_)
    for one in range(len(kept)):
        own = column[start[one] : start[one + 1]]
        rarest = own[0]
        for other in own:
            if first[other + 1] - first[other] < first[rarest + 1] - first[rarest]:
                rarest = other
        for at in range(first[rarest], first[rarest + 1]):
            larger = of[order[at]]
            members = column[start[larger] : start[larger + 1]]
            if len(members) > len(own) and kept[larger]:
                for other in members:
                    inside[other] = True
                for other in own:
                    kept[larger] = kept[larger] and inside[other]
                kept[larger] = not kept[larger]
                for other in members:
                    inside[other] = False
    return kept
