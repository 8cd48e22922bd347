"""Plain twins of the loops of grouping: all moves of a person, ranked and priced in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oracles.trajectories import errors
from tripcloak.trajectories.model import Trajectories

Pairs = Mapping[tuple[int, int], float]
Move = tuple[int, int, float]
"""Into which group, in whose place (-1: nobody's), and what it saves."""


def pair_guess(listed: Pairs, beyond: Sequence[float], one: int, other: int) -> float:
    """Return what is listed for the first with the second, or the other way round, or the higher default."""
    found = listed.get((one, other), listed.get((other, one)))
    return max(beyond[one], beyond[other]) if found is None else found


def best_moves(
    trajectories: Trajectories,
    listed: Pairs,
    beyond: Sequence[float],
    partners: Sequence[Sequence[int]],
    groups: Sequence[Sequence[int]],
    rates: tuple[float, float],
    k: int,
    tried: int,
    most_guessed: float,
) -> list[Move | None]:
    """Return the move of everybody that saves most among the ``tried`` that look best."""

    def cost(members: Sequence[int]) -> float:
        return errors.cover_by_errors(trajectories, list(members), rates)[-1]

    def together(one: int, others: Sequence[int]) -> float:
        return sum(pair_guess(listed, beyond, one, other) for other in others if other != one)

    def of(one: int) -> Move | None:
        mine = next(at for at, members in enumerate(groups) if one in members)
        own = [member for member in groups[mine] if member != one]
        reached = dict.fromkeys(
            at for p in partners[one] for at, members in enumerate(groups) if p in members
        )
        guessed: list[tuple[float, int, int]] = []
        for at in (at for at in reached if at != mine):
            theirs = groups[at]
            if len(own) >= k and len(theirs) < 2 * k - 1:
                guessed.append((together(one, theirs) - together(one, own), at, -1))
            for place, other in enumerate(theirs):
                rest = [member for member in theirs if member != other]
                grows = together(one, rest) + together(other, own)
                guessed.append((grows - together(one, own) - together(other, rest), at, place))
        best: Move | None = None
        hopeful = [move for move in guessed if move[0] < most_guessed]
        for _, at, place in sorted(hopeful, key=lambda move: move[0])[:tried]:
            theirs = list(groups[at])
            if place < 0:
                after = cost(own) + cost([*theirs, one])
            else:
                after = cost([*own, theirs[place]]) + cost([*theirs[:place], one, *theirs[place + 1 :]])
            saved = cost(groups[mine]) + cost(theirs) - after
            if saved > 1e-9 and (best is None or saved > best[2]):
                best = at, place, saved
        return best

    return [of(one) for one in range(trajectories.n_users)]
