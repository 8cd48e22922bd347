"""Plots: points lie where the axes say, and axes are marked so that they can be read."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.pages.plots import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Line,
    Plot,
    PlotAxis,
    Shade,
    axis_over,
    marks,
    plotted,
)

UNIT = PlotAxis("share", 0.0, 1.0)


def path_points(path: str) -> list[tuple[float, float]]:
    """Return the points of a path."""
    return [(float(x), float(y)) for x, y in re.findall(r"([-\d.]+),([-\d.]+)", path)]


def drawn(plot: Plot) -> list[tuple[float, float]]:
    return path_points(plotted(plot)["lines"][0]["path"])


@given(st.lists(st.tuples(st.floats(0.01, 1e4), st.floats(0, 1)), min_size=1, max_size=20))
def test_points_are_where_the_axes_say(points: list[tuple[float, float]]) -> None:
    x, y = np.array(points).T
    axis = PlotAxis("km", 0.01, 1e4, log=True)
    found = plotted(Plot("a", "", axis, UNIT, [Line("one", 1, x, y, dots=True)]))["lines"][0]["dots"]
    for dot in found:
        across = (float(dot["x"]) - LEFT) / (WIDTH - LEFT - RIGHT)
        up = (HEIGHT - BOTTOM - float(dot["y"])) / (HEIGHT - TOP - BOTTOM)
        assert np.abs(np.log10(x / 0.01) / 6 - across).min() < 2e-4
        assert np.abs(y - up).min() < 1e-3


def test_what_lies_beyond_an_axis_lies_at_its_end() -> None:
    line = Line("one", 1, np.array([-5.0, 0.5, 9.0]), np.array([0.0, 0.5, 1.0]))
    xs = [x for x, _ in drawn(Plot("a", "", UNIT, UNIT, [line]))]
    assert xs == [LEFT, (LEFT + WIDTH - RIGHT) / 2, WIDTH - RIGHT]


def test_zeros_have_no_place_on_a_log_axis() -> None:
    line = Line("one", 1, np.array([0.0, 1.0, 10.0]), np.array([0.2, 0.5, 1.0]))
    points = drawn(Plot("a", "", PlotAxis("km", 1.0, 10.0, log=True), UNIT, [line]))
    assert [x for x, _ in points] == [LEFT, WIDTH - RIGHT]
    assert (
        drawn(Plot("a", "", PlotAxis("km", 1.0, 10.0, log=True), UNIT, [line._replace(x=np.zeros(3))])) == []
    )


def test_a_band_is_closed_and_a_diagonal_is_where_both_are_equal() -> None:
    x = np.array([0.0, 1.0])
    axes = PlotAxis("a", 0.0, 1.0), PlotAxis("b", 0.0, 2.0)
    plot = Plot("a", "", *axes, [], [Shade("most", 2, x, x, x + 1)], diagonal=True)
    found = plotted(plot)
    assert found["shades"][0]["path"].endswith("Z")
    assert len(path_points(found["shades"][0]["path"])) == 4
    middle = (TOP + HEIGHT - BOTTOM) / 2
    assert path_points(found["diagonal"]) == [(LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, middle)]


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e9), st.booleans())
def test_marks_lie_on_their_axis_and_are_few(low: float, factor: float, log: bool) -> None:
    axis = PlotAxis("", low, low * factor, log=log)
    values = [value for value, _ in marks(axis)]
    assert len(values) <= 9
    assert values == sorted(set(values))
    assert all(axis.low * 0.999 <= value <= axis.high * 1.001 for value in values)
    assert len(values) >= 2


@pytest.mark.parametrize("values", [[], [0.0], [3.0], [-1.0, 0.0], [5.0, 5.0]])
@pytest.mark.parametrize("log", [True, False])
def test_an_axis_has_some_length_whatever_it_holds(values: list[float], log: bool) -> None:
    axis = axis_over("km", np.array(values), log=log)
    assert axis.low < axis.high
    assert not log or axis.low > 0
