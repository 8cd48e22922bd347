"""Plain twins of the loops that find zones which no best pair of cuts needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Pair = tuple[Sequence[int], Sequence[int]]


def gain_of_dividing(
    low: Sequence[float],
    high: Sequence[float],
    steady: Sequence[bool],
    alive: Sequence[bool],
    ups: Pair,
    zones: Pair,
    stops: Sequence[bool],
    divides: Sequence[bool],
    size: int,
) -> list[float]:
    """Return the most that dividing each zone adds, by walking down both trees."""

    def below(saving: Sequence[float], p: int) -> float:
        parts = (q for q, above in enumerate(ups[0]) if above == p and alive[q])
        return sum(max(saving[q], below(saving, q)) for q in parts)

    def own(p: int) -> float:
        return below(low, p) - low[p] if steady[p] else below(high, p)

    return _most(own, alive, ups[1], zones, stops, divides, size)


def gain_of_keeping(
    low: Sequence[float],
    high: Sequence[float],
    alive: Sequence[bool],
    ups: Pair,
    zones: Pair,
    stops: Sequence[bool],
    divides: Sequence[bool],
    size: int,
) -> list[float]:
    """Return the most that each zone saves more than its children."""

    def more(saving: Sequence[float], p: int) -> float:
        return saving[p] - sum(saving[q] for q, above in enumerate(ups[0]) if above == p and alive[q])

    def own(p: int) -> float:
        return max(more(low, p), more(high, p))

    return _most(own, alive, ups[1], zones, stops, divides, size)


def _most(
    own: Callable[[int], float],
    alive: Sequence[bool],
    up: Sequence[int],
    zones: Pair,
    stops: Sequence[bool],
    divides: Sequence[bool],
    size: int,
) -> list[float]:
    """Return the most over all cuts of the second axis, for every zone of the first."""

    def gain(p: int) -> float:
        further = sum(gain(q) for q, above in enumerate(up) if above == p and alive[q])
        if divides[zones[1][p]]:
            return further
        return own(p) if stops[zones[1][p]] else max(own(p), further)

    most = [0.0] * size
    for p, above in enumerate(up):
        if above < 0 and alive[p]:
            most[zones[0][p]] = gain(p)
    return most


def contract(kept: Sequence[bool], up: Sequence[int]) -> list[int]:
    """Return, of those that are kept, the place of the next that is kept above, by climbing."""
    places = {p: place for place, p in enumerate(p for p, stays in enumerate(kept) if stays)}

    def climb(p: int) -> int:
        return -1 if p < 0 else places[p] if kept[p] else climb(up[p])

    return [climb(up[p]) for p in places]
