"""t-closeness: what t may be, and the distance held against shares spread tile by tile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.kernels import Pair, Tree, below, children
from tripcloak.ground.errors import InputError
from tripcloak.promises import TCloseness, origin_distances
from worlds.matrices import diced_tree, hierarchy_of, seeds

TREE: Tree = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}

Table = Mapping[Pair, int]
"""The volume of every released pair of an origin's and a destination zone's name."""


@pytest.mark.parametrize("t", [0, 1, -0.3, 1.5, float("nan"), float("inf")])
def test_t_is_a_share(t: float) -> None:
    with pytest.raises(InputError, match="t is a share of the volume, above 0 and below 1"):
        TCloseness(t=t)


def distances(tree: Tree, table: Table) -> dict[str, float]:
    """Return what the package says, by name."""
    hierarchy = hierarchy_of(tree)
    origins = sorted({origin for origin, _ in table})
    ids = hierarchy.zones.ids.tolist()
    found = origin_distances(
        hierarchy,
        np.array([origins.index(origin) for origin, _ in table]),
        np.array([ids.index(destination) for _, destination in table]),
        np.array(list(table.values())),
    )
    assert found.zone.tolist() == list(range(len(origins)))
    return dict(zip(origins, found.distance.tolist(), strict=True))


def plain_distances(tree: Tree, table: Table) -> dict[str, float]:
    """Return half the sum of differences between an origin's shares and everybody's, spread over tiles."""
    total = sum(table.values())
    everybody: dict[str, float] = defaultdict(float)
    for (_, destination), volume in table.items():
        tiles = below(tree, destination)
        for tile in tiles:
            everybody[tile] += volume / total / len(tiles)
    found = {}
    for origin in {origin for origin, _ in table}:
        own = {destination: volume for (o, destination), volume in table.items() if o == origin}
        shares = {zone: sum(everybody[tile] for tile in below(tree, zone)) for zone in own}
        rest = 1 - sum(shares.values())
        differences = [abs(own[zone] / sum(own.values()) - shares[zone]) for zone in own]
        found[origin] = (sum(differences) + rest) / 2
    return found


def random_cut(dice: Random, tree: Tree, zone: str) -> list[str]:
    """Return zones below a zone that cover it without overlaps."""
    parts = children(tree, zone)
    if not parts or dice.random() < 0.4:
        return [zone]
    return [leaf for part in parts for leaf in random_cut(dice, tree, part)]


@given(dice=seeds, zones=st.integers(1, 14), origins=st.integers(1, 6), shared=st.booleans())
def test_it_is_the_total_variation_of_shares_spread_over_tiles(
    dice: Random, zones: int, origins: int, shared: bool
) -> None:
    tree = diced_tree(dice, zones)
    root = next(iter(tree))
    cut = random_cut(dice, tree, root)
    table = {}
    for number in range(origins):
        own = cut if shared else random_cut(dice, tree, root)
        for destination in dice.sample(own, dice.randint(1, len(own))):
            table[f"o{number}", destination] = dice.randint(1, 40)
    told = distances(tree, table)
    assert told == pytest.approx(plain_distances(tree, table), abs=1e-12)
    assert all(-1e-12 <= distance < 1 for distance in told.values())


def test_one_origin_is_everybody() -> None:
    assert distances(TREE, {("o", "ab"): 3, ("o", "c"): 5}) == {"o": 0}


def test_an_origin_that_says_nothing_of_destinations_is_close() -> None:
    told = distances(TREE, {("o", "all"): 5, ("p", "a"): 20, ("p", "b"): 1})
    assert told["o"] == 0
    assert told["p"] > 0


def test_worked_by_hand() -> None:
    # Of 40 trips, q's 20 lie evenly on four tiles: 10 + 10 go to ab, 10 + 5 to c.
    told = distances(TREE, {("p", "ab"): 10, ("p", "c"): 10, ("q", "all"): 20})
    assert told["p"] == pytest.approx(max(0, 10 / 20 - 20 / 40) + max(0, 10 / 20 - 15 / 40))
    assert told["q"] == 0


def test_who_is_too_far() -> None:
    hierarchy = hierarchy_of(TREE)
    ids = hierarchy.zones.ids.tolist()
    origin, destination = np.array([7, 7, 9]), np.array([ids.index("a"), ids.index("b"), ids.index("a")])
    volume = np.array([5, 5, 10])
    # Everybody: three quarters to a. Both origins are a quarter away.
    for t, far in ((0.2499, [7, 9]), (0.25, []), (0.3, [])):
        assert TCloseness(t=t).too_far(hierarchy, origin, destination, volume).tolist() == far
