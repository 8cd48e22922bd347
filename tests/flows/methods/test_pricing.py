"""The search for the critical price: it ends on the lower envelope, in the budget, with the best bound."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.flows.cuts import Frontier, best_of, critical, least_mean, slopes
from tripcloak.flows.methods.tree_method import MOST_ROUNDS, PricedPartition, PriceSearch
from tripcloak.ground.errors import InternalError
from worlds.matrices import seeds

EXAMPLES = 5 * settings().max_examples


class Market:
    """What can be reached, offered at any price, the way a solver does it: ties go to less suppression."""

    def __init__(self, reached: Frontier, ties: int = 1) -> None:
        self.reached, self.ties = reached, ties
        self.asked: list[float] = []

    def solve(self, price: float) -> PricedPartition:
        self.asked.append(price)
        hidden, loss = min(
            self.reached.items(), key=lambda point: (point[1] + price * point[0], self.ties * point[0])
        )
        return PricedPartition(price, loss, hidden, None)


@st.composite
def markets(draw: st.DrawFn, units: float = 1.0) -> tuple[Market, float, float]:
    """Return what can be reached, the total volume and a budget; all can be released or suppressed."""
    dice: Random = draw(seeds)
    total = draw(st.integers(1, 60))
    points = [{0.0: dice.randint(1, 50) * total * units}, {total * units: 0.0}]
    for _ in range(draw(st.integers(0, 25))):
        hidden = dice.randint(0, total)
        points.append({hidden * units: dice.randint(0, 50) * (total - hidden) * units})
    market = Market(best_of(points), draw(st.sampled_from([-1, 1])))
    return market, total * units, dice.randint(0, total - 1) * units


def highest(market: Market, unit: float = 1.0) -> float:
    return market.reached[0.0] / unit + 1


@pytest.mark.parametrize("units", [1.0, 2.0**45], ids=["trips", "weights"])
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_the_search_ends_on_the_envelope_at_the_budget(units: float, data: st.DataObject) -> None:
    market, total, budget = data.draw(markets(units))
    search = PriceSearch(market.solve, budget, total)
    offer = search.run(highest(market, units))
    assert len(market.asked) <= len(market.reached) + 3
    assert offer.hidden <= budget
    assert market.reached[offer.hidden] == offer.loss
    height, price = critical(market.reached, budget)
    assert search.bound == pytest.approx(height / (total - budget), rel=1e-8)
    assert search.bound <= least_mean(market.reached, total, budget) * (1 + 1e-9)
    # The price that proves the bound makes the piece of the envelope over the budget flat.
    flat = search.price * budget + search.bound * (total - budget)
    assert flat == pytest.approx(market.solve(search.price).cost, rel=1e-8)
    if budget not in market.reached and height > 0:
        assert search.price == pytest.approx(price, rel=1e-8)


@settings(max_examples=EXAMPLES)
@given(case=markets())
def test_what_comes_back_is_a_corner_next_to_the_budget(case: tuple[Market, float, float]) -> None:
    """Nothing that the envelope holds within the budget is better than what is returned."""
    market, total, budget = case
    offer = PriceSearch(market.solve, budget, total).run(highest(market))
    corners = {}
    for price in [0.0, *slopes(market.reached), highest(market)]:
        for ties in (-1, 1):
            best = Market(market.reached, ties).solve(price)
            corners[best.hidden] = best.loss
    assert offer.loss / (total - offer.hidden) <= least_mean(corners, total, budget) * (1 + 1e-9)


@given(case=markets(), patience=st.integers(0, 6))
def test_a_search_that_is_stopped_keeps_the_budget_and_proves_no_more_than_is_true(
    case: tuple[Market, float, float], patience: int
) -> None:
    market, total, budget = case
    search = PriceSearch(market.solve, budget, total)
    left = iter([False] * patience)
    offer = search.run(highest(market), lambda: next(left, True))
    assert offer.hidden <= budget
    assert len(market.asked) <= patience + 2
    assert search.bound <= least_mean(market.reached, total, budget) * (1 + 1e-12)


def test_a_market_that_never_settles_is_left_after_many_rounds() -> None:
    """A heuristic behind the search may find better and better answers; the search ends all the same."""
    asked: list[float] = []

    def solve(price: float) -> PricedPartition:
        asked.append(price)
        return PricedPartition(price, 1000.0 - len(asked), 2.0 if len(asked) == 1 else 9.0, None)

    offer = PriceSearch(solve, 5.0, 10.0).run(1000.0)
    assert offer.hidden == 2.0
    assert len(asked) == MOST_ROUNDS + 2


def test_a_price_that_is_too_low_to_start_with_is_our_own_mistake() -> None:
    search = PriceSearch(lambda price: PricedPartition(price, 1.0, 8.0, None), 5.0, 10.0)
    with pytest.raises(InternalError, match="highest price"):
        search.run(3.0)


@given(case=markets())
def test_the_least_loss_of_all_is_a_bound_from_the_start(case: tuple[Market, float, float]) -> None:
    market, total, budget = case
    each = [loss / (total - hidden) for hidden, loss in market.reached.items() if hidden < total]
    told = PriceSearch(market.solve, budget, total, min(each))
    assert told.bound == told.price == min(each)
    untold = PriceSearch(market.solve, budget, total)
    for search in (told, untold):
        search.run(highest(market))
    assert told.bound == pytest.approx(untold.bound, rel=1e-8)


def test_nothing_to_suppress_needs_no_search() -> None:
    market = Market({0.0: 0.0})
    search = PriceSearch(market.solve, 0.0, 4.0)
    assert search.run(1.0).hidden == 0
    assert (search.bound, len(market.asked)) == (0.0, 2)
