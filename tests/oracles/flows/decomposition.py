"""Plain twins of the dual decomposition's loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, sqrt
from typing import NamedTuple


class Nested(NamedTuple):
    """What the best nested cut saves, and the products it is made of."""

    saved: float
    chosen: frozenset[int]


def share_savings(saving: Sequence[float], shift: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the shares of both problems."""
    halves = [saved / 2 for saved in saving]
    return (
        [half + moved for half, moved in zip(halves, shift, strict=True)],
        [half - moved for half, moved in zip(halves, shift, strict=True)],
    )


def best_nested(
    saving: Sequence[float],
    up_first: Sequence[int],
    up_second: Sequence[int],
    whole: Sequence[bool],
    tile_first: Sequence[bool],
    tile_second: Sequence[bool],
) -> Nested:
    """Return the best nested cut, by walking down both trees; what is not split is taken."""

    def within(p: int) -> Nested:
        """Return the best cut of the second axis for the first zone of a product, from its second down."""
        taken = Nested(saving[p], frozenset([p]))
        if tile_second[p]:
            return taken
        split = _together(within(q) for q, above in enumerate(up_second) if above == p)
        return max(taken, split, key=lambda way: way.saved)

    def along(p: int) -> Nested:
        """Return the best of the zone undivided and of what its children do."""
        undivided = within(p)
        if tile_first[p]:
            return undivided
        split = _together(along(q) for q, above in enumerate(up_first) if above == p and whole[q])
        return max(undivided, split, key=lambda way: way.saved)

    return along(0)


def best_nested_in_time(
    saving: Sequence[float],
    up: Sequence[Sequence[int]],
    whole: Sequence[Sequence[bool]],
    last: Sequence[Sequence[bool]],
    order: Sequence[int],
) -> Nested:
    """Return the best nested cut of three axes, by walking down the trees in their order."""

    def down(p: int, place: int) -> Nested:
        """Return the best of a product whose later axes are whole, cut from one axis of the order on."""
        axis, later = order[place], order[place + 1 :]
        kept = down(p, place + 1) if later else Nested(saving[p], frozenset([p]))
        if last[axis][p]:
            return kept
        parts = [q for q, above in enumerate(up[axis]) if above == p and all(whole[a][q] for a in later)]
        return max(kept, _together(down(q, place) for q in parts), key=lambda way: way.saved)

    return down(0, 0)


def margins(
    saving: Sequence[float],
    up_first: Sequence[int],
    up_second: Sequence[int],
    whole: Sequence[bool],
    tile_first: Sequence[bool],
    tile_second: Sequence[bool],
) -> dict[int, float]:
    """Return, for every whole product, how much more its first zone saves undivided than divided."""

    def within(p: int) -> float:
        parts = [q for q, above in enumerate(up_second) if above == p]
        return saving[p] if tile_second[p] else max(saving[p], sum(map(within, parts)))

    def along(p: int) -> float:
        return within(p) if tile_first[p] else max(within(p), divided(p))

    def divided(p: int) -> float:
        return sum(along(q) for q, above in enumerate(up_first) if above == p and whole[q])

    places = [p for p, is_whole in enumerate(whole) if is_whole]
    return {p: inf if tile_first[p] else within(p) - divided(p) for p in places}


def rule_out(
    margin: Sequence[float], whole: Sequence[int], up: Sequence[int], zone: Sequence[int], room: float
) -> dict[int, tuple[bool, bool]]:
    """Return which zones are never divided, or always, in anything that forgoes less than the room."""
    found = {}
    for p in (p for p in whole if margin[p] < inf):
        forgone, above = 0.0, up[p]
        while above >= 0:
            forgone, above = forgone + max(margin[above], 0.0), up[above]
        never = forgone + max(margin[p], 0.0) >= room
        found[zone[p]] = (never, not never and forgone + max(-margin[p], 0.0) >= room)
    return found


def _together(parts: Iterable[Nested]) -> Nested:
    found = list(parts)
    return Nested(sum(part.saved for part in found), frozenset().union(*(part.chosen for part in found)))


def pull_apart(
    saving: Sequence[float],
    volume: Sequence[float],
    chosen: tuple[Sequence[bool], Sequence[bool]],
    inertia: float,
    pull: Sequence[float],
) -> tuple[list[float], tuple[float, float, float]]:
    """Return the new pulls, the volume released on average, and both squared lengths."""
    differs = [int(second) - int(first) for first, second in zip(*chosen, strict=True)]
    pulls = [now + inertia * before for now, before in zip(differs, pull, strict=True)]
    weight = [sqrt(abs(saved)) for saved in saving]
    cheap = [v if saved else 0.0 for saved, v in zip(saving, volume, strict=True)]
    released = sum(v * (int(a) + int(b)) / 2 for v, a, b in zip(cheap, *chosen, strict=True))
    apart = sum(w * now**2 for w, now in zip(weight, differs, strict=True))
    length = sum(w * now**2 for w, now in zip(weight, pulls, strict=True))
    return pulls, (released, apart, length)


def move_shift(
    saving: Sequence[float], pull: Sequence[float], step: float, shift: Sequence[float]
) -> list[float]:
    """Return the shifts after a step along the pulls."""
    weight = [sqrt(abs(saved)) for saved in saving]
    return [at + step * w * towards for at, w, towards in zip(shift, weight, pull, strict=True)]


def spread(
    value: Sequence[float], given: Sequence[bool], up: Sequence[int], volume: Sequence[float]
) -> list[float]:
    """Return what is given to some products, summed above them, and parted by volume below them."""

    def children(p: int) -> list[int]:
        return [child for child, above in enumerate(up) if above == p]

    def has_above(p: int) -> bool:
        return up[p] >= 0 and (given[up[p]] or has_above(up[p]))

    def of(p: int) -> float:
        if has_above(p):
            inner = sum(volume[child] for child in children(up[p]))
            return of(up[p]) * volume[p] / inner if inner else 0.0
        own = value[p] if given[p] else 0.0
        return own + sum(of_sum(child) for child in children(p))

    def of_sum(p: int) -> float:
        return (value[p] if given[p] else 0.0) + sum(of_sum(child) for child in children(p))

    return [of(p) for p in range(len(value))]
