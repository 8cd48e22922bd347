"""Suppression alone: exactly the unsafe flows go, or a refusal that says what would do."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.flows.methods import Suppression
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.promises import KAnonymity
from worlds.cuts import Request, requests, sent
from worlds.matrices import hierarchy_of


@settings(max_examples=2 * settings().max_examples)
@given(request=st.one_of(requests(), requests(with_time=True)))
def test_unsafe_flows_go_and_nothing_else_or_the_limit_that_would_do_is_named(request: Request) -> None:
    boxes, matrix = request.boxes, request.case.matrix()
    expected = {flow: flow if boxes.all[flow].safe else None for flow in boxes.flows}
    _, hidden = boxes.outcome(expected)

    def asked(limit: float) -> Suppression:
        return Suppression(promise=request.promise, suppression_limit=limit)

    if hidden <= request.budget and hidden < boxes.total:
        release = asked(request.limit).anonymise(matrix)
        assert sent(matrix, release) == expected
        assert release.homogeneous
        return
    with pytest.raises(ImpossibleRequestError) as refusal:
        asked(request.limit).anonymise(matrix)
    told = [int(text) for text in re.findall(r"(\d+) %", str(refusal.value))]
    if hidden >= boxes.total * 0.99:
        assert told == []
        return
    (percent,) = told
    assert sent(matrix, asked(percent / 100).anonymise(matrix)) == expected
    with pytest.raises(ImpossibleRequestError):
        asked((percent - 1) / 100).anonymise(matrix)


def test_the_refusal_tells_no_number_but_the_limits() -> None:
    tree = hierarchy_of({"all": None, "a": "all", "b": "all"})
    matrix = ODMatrix.from_trips(tree, tree, *np.array([(0, 0)] * 90 + [(0, 1)] * 7 + [(1, 0)] * 4).T)
    with pytest.raises(ImpossibleRequestError) as refusal:
        Suppression(promise=KAnonymity(k=10), suppression_limit=0.05).anonymise(matrix)
    # Eleven of 101 trips are 10.89 %.
    assert re.findall(r"\d+", str(refusal.value)) == ["5", "11"]
    assert "twincut" in str(refusal.value)
