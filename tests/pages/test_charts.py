"""Charts: points keep their places, and axes are marked so that they can be read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.pages.charts import (
    Chart,
    Line,
    Plot,
    PlotAxis,
    Shade,
    Sheet,
    axis_over,
    charts_page,
    marks,
    plotted,
    plotted_slots,
)

UNIT = PlotAxis("share", 0.0, 1.0)
KM = PlotAxis("km", 0.01, 1e4, log=True)


@given(st.lists(st.tuples(st.floats(-5, 1e4), st.floats(0, 1)), max_size=20))
def test_points_keep_their_places_by_ascending_x(points: list[tuple[float, float]]) -> None:
    x, y = np.array(points).reshape(-1, 2).T
    (line,) = plotted(Plot("a", "", KM, UNIT, [Line("one", 1, x, y)]))["lines"]
    assert line["x"] == sorted(line["x"])
    expected = sorted((a, b) for a, b in points if a > 0)
    np.testing.assert_allclose(sorted(zip(line["x"], line["y"], strict=True)), expected, rtol=1e-5)


def test_zeros_have_no_place_on_a_log_axis() -> None:
    some, none = np.array([0.0, 1.0, 10.0]), np.zeros(3)
    plot = Plot("a", "", KM, UNIT, [Line("one", 1, some, some / 10), Line("two", 1, none, some / 10)])
    one, two = plotted(plot)["lines"]
    assert (one["x"], one["y"]) == ([1.0, 10.0], [0.1, 1.0])
    assert two["x"] == two["y"] == []
    shade = Shade("most", 2, some + 1, none, some)
    (band,) = plotted(Plot("a", "", UNIT, KM, [], [shade]))["shades"]
    assert band["x"] == []


def test_slots_have_names_and_pairs_one_colour() -> None:
    lines = {"a": [1.0, 2.0], "a released": [1.0, 1.0], "b": [0.0, 4.0], "b released": [0.5, 0.5]}
    chart = Chart("a", "", ["T00", "T01"], lines)
    alone, paired = plotted_slots(chart), plotted_slots(chart._replace(pairs=True))
    assert [line["hue"] for line in alone["lines"]] == [2, 1, 3, 4]
    assert not any(line["dashed"] for line in alone["lines"])
    assert [(line["hue"], line["dashed"]) for line in paired["lines"]] == [
        *((2, False), (2, True)),
        *((1, False), (1, True)),
    ]
    assert (alone["x"]["names"], alone["x"]["high"], alone["y"]["high"]) == (["T00", "T01"], 1.0, 4.0)
    nothing = plotted_slots(Chart("a", "", ["all"], {"a": [0.0]}))
    assert nothing["x"]["low"] < nothing["x"]["high"]
    assert nothing["y"]["low"] < nothing["y"]["high"]


def test_a_page_holds_its_charts_and_nothing_breaks_out_of_it() -> None:
    chart = Chart("</script><b>", "words", ["x", "y"], {"<i>": [1.0, 2.0]})
    sheet = Sheet()
    assert [sheet.put(chart)["number"] for _ in range(2)] == [0, 1]
    assert [one["title"] for one in json.loads(sheet.payload)] == ["</script><b>"] * 2
    page = charts_page("title", internal="", words=[], facts={}, charts=[chart])
    assert "<b>" not in page
    assert page.count("data-chart=") == 1


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e9), st.booleans())
def test_marks_lie_on_their_axis_and_are_few(low: float, factor: float, minutes: bool) -> None:
    axis = PlotAxis("", low, low * factor, log=True, minutes=minutes)
    values = [value for value, _ in marks(axis)]
    assert len(values) <= (10 if minutes else 9)
    assert values == sorted(set(values))
    assert all(axis.low * 0.999 <= value <= axis.high * 1.001 for value in values)
    assert len(values) >= 2


@pytest.mark.parametrize("values", [[], [0.0], [3.0], [-1.0, 0.0], [5.0, 5.0]])
@pytest.mark.parametrize("log", [True, False])
def test_an_axis_has_some_length_whatever_it_holds(values: list[float], log: bool) -> None:
    axis = axis_over("km", np.array(values), log=log)
    assert axis.low < axis.high
    assert not log or axis.low > 0
