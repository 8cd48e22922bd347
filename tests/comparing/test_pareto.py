"""The Pareto plot: who is on the front, labels that can be read, and marks where the numbers are."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.comparing.pareto import Point, Rectangle, Spot, place_labels, render_plot, undominated

KINDS = ("shared", "overlapping", "noise", "unsafe")
SHARES = st.sampled_from([0.0, 0.01, 0.05, 0.0999, 0.1]) | st.floats(0, 0.3)
LOSSES = st.sampled_from([2.0, 50.0, 50.01, 77.4, 11313.0]) | st.floats(0.5, 1e6)
POINTS = st.lists(
    st.builds(Point, st.just("twincut"), SHARES, LOSSES, st.sampled_from(KINDS), st.just("")),
    min_size=1,
    max_size=30,
)
PLACES = st.lists(
    st.tuples(st.floats(100, 500), st.floats(60, 300)),
    min_size=1,
    max_size=9,
    unique_by=lambda place: round(place[0]),
)


def beats(one: Point, other: Point) -> bool:
    """Return whether a point is no worse in both and better in one, to the digits that are shown."""
    mine, theirs = ((round(p.suppressed, 3), float(f"{p.loss:.3g}")) for p in (one, other))
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


@given(POINTS)
def test_on_the_front_is_what_nothing_beats_in_both(points):
    front = undominated(points)
    judged = [point for point in points if point.kind in ("shared", "overlapping")]
    assert any(front) == bool(judged)
    for point, on in zip(points, front, strict=True):
        assert on == (point in judged and not any(beats(other, point) for other in judged))


@settings(max_examples=60, deadline=None)
@given(POINTS)
def test_a_plot_is_well_formed_and_has_a_mark_for_every_point(points):
    plot = ElementTree.fromstring(render_plot(points, [0.1], "G: tiles"))
    marks = [group for group in plot.iter("g") if group.get("class", "").startswith("mark")]
    assert len(marks) == len(points)
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d+", ElementTree.tostring(plot, "unicode"))]
    assert all(-200 < number < 1200 for number in numbers)


@given(PLACES)
def test_labels_lie_neither_on_each_other_nor_on_points(places):
    spots = [Spot(x, y, 6) for x, y in places]
    texts = ["quadtree-knapsack"[: 5 + 2 * (i % 5)] for i in range(len(spots))]
    labels = place_labels(spots, texts, Rectangle(0, 0, 760, 380))
    for i, label in enumerate(labels):
        assert all(label.box.overlap(other.box) == 0 for other in labels[:i])
        assert all(label.box.overlap(Rectangle(x - 6, y - 6, x + 6, y + 6)) == 0 for x, y, _ in spots)


def test_points_on_one_spot_still_have_a_label_each():
    spots = [Spot(300, 200, 6)] * 6
    labels = place_labels(spots, ["quadtree-knapsack"] * 6, Rectangle(0, 0, 760, 380))
    assert all(a.box.overlap(b.box) == 0 for a in labels for b in labels if a is not b)
    assert sum(label.led for label in labels) >= 2


def test_higher_loss_is_higher_up_and_more_suppression_further_right():
    points = [Point("a", 0.0, 100.0, "shared", ""), Point("b", 0.1, 10.0, "shared", "")]
    plot = ElementTree.fromstring(render_plot(points, [0.1], "G"))
    circles = [group.find("circle") for group in plot.iter("g")]
    (ax, ay), (bx, by) = ((float(c.get("cx")), float(c.get("cy"))) for c in circles)
    assert ax < bx
    assert ay < by


@pytest.mark.parametrize("number", [10, 60])
def test_many_points_are_named_when_pointed_at_and_only_the_front_is_written_out(number):
    points = [Point(f"m{i}", 0.1, 10.0 + i, "shared", "words") for i in range(number)]
    plot = ElementTree.fromstring(render_plot(points, [0.1], "G"))
    names = [text for text in plot.iter("text") if text.get("class", "").startswith("name")]
    assert len(names) == (number if number == 10 else 1)
    assert len(list(plot.iter("title"))) == number


@pytest.mark.parametrize("losses", [(8.25, 8.7), (0.011, 0.0123), (120.0, 121.5), (3.0, 9000.0)])
def test_no_two_ticks_of_the_loss_say_the_same(losses):
    points = [Point(f"{loss}", 0.1, loss, "shared", "") for loss in losses]
    ticks = re.findall(r'class="tick end"[^>]*>([^<]+)<', render_plot(points, (), "loss"))
    assert len(ticks) > 1
    assert len(set(ticks)) == len(ticks)
