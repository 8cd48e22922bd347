"""Compiled loops of the dual decomposition: two nested problems that share the savings of every product."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def share_savings(
    saving: NDArray[np.float64],
    shift: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
) -> None:  # pragma: no cover - compiled
    """Write the shares of both problems: half of what each product saves, and its shift to the first."""
    for p in range(len(saving)):
        first[p] = saving[p] / 2 + shift[p]
        second[p] = saving[p] / 2 - shift[p]


@njit(cache=True)
def spread(
    value: NDArray[np.float64],
    given: NDArray[np.bool_],
    up: NDArray[np.int32],
    volume: NDArray[np.float64],
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return what is given to some products, spread over those above and below them along an axis.

    Above, the sum of what lies below; below, a part of what lies above by volume, so that all parts that a
    product is divided into together have as much as it has.
    """
    n = len(value)
    found, inner, below = np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
    for p in range(n - 1, -1, -1):
        if given[p]:
            found[p] = value[p]
        if up[p] >= 0:
            found[up[p]] += found[p]
            inner[up[p]] += volume[p]
    for p in range(n):
        if up[p] >= 0 and (given[up[p]] or below[up[p]]):
            below[p] = True
            found[p] = found[up[p]] * volume[p] / inner[up[p]] if inner[up[p]] > 0 else 0.0
    return found


@njit(cache=True)
def best_nested(
    saving: NDArray[np.float64],
    up_first: NDArray[np.int32],
    up_second: NDArray[np.int32],
    whole: NDArray[np.bool_],
    tile_first: NDArray[np.bool_],
    tile_second: NDArray[np.bool_],
    sums: NDArray[np.float64],
    chosen: NDArray[np.bool_],
    margin: NDArray[np.float64],
) -> float:  # pragma: no cover - compiled
    """Return the most that one cut saves whose every zone has a cut of the other axis of its own.

    ``chosen`` tells which products it is made of, and ``margin``, of those that are whole on the second
    axis, how much more their zone of the first saves undivided than divided. A saving may be negative: what
    is not split is taken, and tiles cannot be split. Products stand behind those they are a part of.
    ``sums`` is room to work in, two numbers a product: to ask for it anew every time takes as long as the
    work.
    """
    n = len(saving)
    sums[:] = 0.0
    below_first, below_second = sums
    best = 0.0
    for p in range(n - 1, -1, -1):
        best = saving[p]
        chosen[p] = tile_second[p] or best >= below_second[p]
        if not chosen[p]:
            best = below_second[p]
        if up_second[p] >= 0:
            below_second[up_second[p]] += best
        if whole[p]:
            margin[p] = np.inf if tile_first[p] else best - below_first[p]
            if margin[p] < 0:
                best = below_first[p]
            if up_first[p] >= 0:
                below_first[up_first[p]] += best
    # The root came last, so `best` is the whole problem's. From here on: what was taken is chosen if it is
    # reached, through zones of the first axis that are divided, then through products that are not taken.
    # The sums have served: they say now how a product is reached, and whether what lies below it is.
    outside, inside = sums
    for p in range(n):
        if whole[p]:
            above = up_first[p]
            outside[p] = above < 0 or (outside[above] == 1.0 and margin[above] < 0)
            reached = outside[p] == 1.0 and margin[p] >= 0
        else:
            reached = inside[up_second[p]] == 1.0
        inside[p] = reached and not chosen[p]
        chosen[p] = reached and chosen[p]
    return best


@njit(cache=True)
def best_nested_in_time(
    saving: NDArray[np.float64],
    up: NDArray[np.int32],
    whole: NDArray[np.bool_],
    last: NDArray[np.bool_],
    order: tuple[int, int, int],
    sums: NDArray[np.float64],
    chosen: NDArray[np.bool_],
    divided: NDArray[np.bool_],
) -> float:  # pragma: no cover - compiled
    """Return the most that one cut saves whose zones have cuts of the second axis, and those of the third.

    As :func:`best_nested`, with one more axis; ``up``, ``whole`` and ``last`` are axis by axis, and ``order``
    says which axis is first. ``divided`` tells of products that are whole on the third axis whether their
    zone of the second is divided, in its second row, and of those that are whole on both whether their
    zone of the first is, in its first row.
    """
    first, second, third = order
    sums[:] = 0.0
    divided[:] = False
    best = 0.0
    for p in range(len(saving) - 1, -1, -1):
        best = saving[p]
        chosen[p] = last[third, p] or best >= sums[2, p]
        if not chosen[p]:
            best = sums[2, p]
        if up[third, p] >= 0:
            sums[2, up[third, p]] += best
        for place, axis in ((1, second), (0, first)):
            if not whole[third, p] or (place == 0 and not whole[second, p]):
                break
            if not last[axis, p] and sums[place, p] > best:
                divided[place, p], best = True, sums[place, p]
            if up[axis, p] >= 0:
                sums[place, up[axis, p]] += best
    # The root came last, so `best` is the whole problem's.
    _reach(up, whole, order, sums, chosen, divided)
    return best


@njit(cache=True)
def _reach(
    up: NDArray[np.int32],
    whole: NDArray[np.bool_],
    order: tuple[int, int, int],
    open_at: NDArray[np.float64],
    chosen: NDArray[np.bool_],
    divided: NDArray[np.bool_],
) -> None:  # pragma: no cover - compiled
    """Let only those be chosen that are reached, through what is divided axis by axis.

    ``open_at`` is room to work in: whether what lies below a product along each axis is reached.
    """
    first, second, third = order
    for p in range(len(chosen)):
        if not whole[third, p]:
            reached = open_at[2, up[third, p]] == 1.0
        elif not whole[second, p]:
            reached = open_at[1, up[second, p]] == 1.0
        else:
            reached = up[first, p] < 0 or open_at[0, up[first, p]] == 1.0
        for place in range(2):
            open_at[place, p] = reached and divided[place, p]
            reached = reached and not divided[place, p]
        open_at[2, p] = reached and not chosen[p]
        chosen[p] = reached and chosen[p]


@njit(cache=True)
def rule_out(
    margin: NDArray[np.float64],
    whole: NDArray[np.int64],
    up: NDArray[np.int32],
    zone: NDArray[np.int32],
    room: float,
    never: NDArray[np.bool_],
    always: NDArray[np.bool_],
) -> int:  # pragma: no cover - compiled
    """Note zones that no cut divides, or takes as they are, which saves at most ``room`` less than the best.

    ``whole`` are the products that are whole on the second axis, those above before those below, and
    ``margin`` how much more the zone of each saves undivided, infinite for one that is not divided in any
    case. Returns how many zones are new.
    """
    # By zone, as each has one such product: a number for all products would be memory that is hardly used.
    forgone = np.zeros(len(never))
    found = 0
    for p in whole:
        above, z = up[p], zone[p]
        if above >= 0:
            # What is forgone by dividing all that is above.
            forgone[z] = forgone[zone[above]] + max(margin[above], 0.0)
        # What is not divided for another reason tells nothing.
        if margin[p] < np.inf and not (never[z] or always[z]):
            never[z] = forgone[z] + max(margin[p], 0.0) >= room
            always[z] = not never[z] and forgone[z] + max(-margin[p], 0.0) >= room
            found += never[z] or always[z]
    return found


@njit(cache=True)
def pull_apart(
    saving: NDArray[np.float64],
    volume: NDArray[np.float64],
    chosen: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    inertia: float,
    pull: NDArray[np.float64],
) -> tuple[float, float, float]:  # pragma: no cover - compiled
    """Renew the pull on every product's shift: where the two problems differ, and some of the last pull.

    Returns the volume that they release on average, and the squared lengths of where they differ and of
    the pull, each product weighed by the root of its saving. What saves nothing is not released.
    """
    first, second = chosen
    released, apart, length = 0.0, 0.0, 0.0
    for p in range(len(saving)):
        differs = int(second[p]) - int(first[p])
        pull[p] = differs + inertia * pull[p]
        if saving[p] != 0.0:
            released += volume[p] * (int(first[p]) + int(second[p])) / 2
            weight = np.sqrt(abs(saving[p]))
            apart += weight * differs * differs
            length += weight * pull[p] * pull[p]
    return released, apart, length


@njit(cache=True)
def move_shift(
    saving: NDArray[np.float64],
    pull: NDArray[np.float64],
    step: float,
    shift: NDArray[np.float64],
) -> None:  # pragma: no cover - compiled
    """Move every product's shift along its pull, each weighed by the root of its saving."""
    for p in range(len(saving)):
        if saving[p] != 0.0 and pull[p] != 0.0:
            shift[p] += step * np.sqrt(abs(saving[p])) * pull[p]
