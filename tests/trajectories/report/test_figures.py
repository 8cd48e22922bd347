"""The page of figures of a release of trajectories: complete, offline, and in a real browser."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripcloak.pages.charts import plotted
from tripcloak.trajectories.measures import take_measures
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease
from tripcloak.trajectories.report.figures import figure_parts, trajectory_figures_page
from worlds.trajectories import identity_release, made, one_box_release, random_release, released

TITLES = (
    "Area of released samples",
    "Duration of released samples",
    "Spatial error",
    "Time error",
    "Radius of gyration",
    "Radius of gyration, by time spent",
    "Area of the convex hull",
    "Shift of the centre of mass",
    "Home and work",
    "Entropy rate",
    "Predictability",
)

COLOURFUL = """all => all.filter(one => {
    const seen = one.getContext("2d").getImageData(0, 0, one.width, one.height).data;
    for (let at = 0; at < seen.length; at += 4) {
        const [red, green, blue, opaque] = seen.slice(at, at + 4);
        if (opaque > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 80) return true;
    }
    return false }).length"""
"""How many of some pictures hold a point of a colour that is no grey."""


def made_and_released(**changes: Any) -> tuple[Trajectories, TrajectoryRelease]:
    trajectories = made(users=40, samples=60, days=7, **changes)
    return trajectories, random_release(trajectories, seed=1)


def page_of(trajectories: Trajectories, release: TrajectoryRelease) -> str:
    return trajectory_figures_page(take_measures(trajectories, release), release)


def test_every_figure_is_there_with_both_axes_named() -> None:
    measures = take_measures(*made_and_released())
    plots = [plot for part in figure_parts(measures) for plot in part.plots]
    assert [plot.title for plot in plots][: len(TITLES)] == list(TITLES)
    assert plots[len(TITLES)].title == "Radius of gyration about 4 km"
    for plot in map(plotted, plots):
        for axis in (plot["x"], plot["y"]):
            assert axis["label"]
            assert axis["low"] < axis["high"]
            assert not axis["log"] or len(axis["marks"]) >= 2
        assert all(len(line["x"]) == len(line["y"]) > 0 for line in plot["lines"])


def test_lines_of_an_identity_release_lie_on_each_other() -> None:
    trajectories = made(users=40, samples=60, days=7)
    measures = take_measures(trajectories, identity_release(trajectories))
    regular, laws = figure_parts(measures)[-2:]
    assert laws.rows
    for plot in (*regular.plots, *laws.plots):
        original, same = plotted(plot)["lines"]
        assert (original["x"], original["y"]) == (same["x"], same["y"])
    band = figure_parts(measures)[2].plots[0]
    assert band.diagonal
    assert band.lines[0].y.tolist() == band.lines[0].x.tolist()


def test_a_distribution_function_ends_at_all_samples() -> None:
    measures = take_measures(*made_and_released())
    for plot in (*figure_parts(measures)[0].plots, *figure_parts(measures)[1].plots):
        for line in plot.lines:
            assert line.y[-1] == pytest.approx(100)
            assert (np.diff(line.y) >= 0).all()


def test_a_group_of_few_people_has_a_row_but_no_figure() -> None:
    trajectories = made(users=5, samples=200, days=7)
    laws = figure_parts(take_measures(trajectories, identity_release(trajectories)))[-1]
    assert [row[1] for row in laws.rows] == ["5"]
    assert not laws.plots


def test_nothing_is_fetched_and_nothing_is_told_of_anybody() -> None:
    trajectories, release = made_and_released()
    page = page_of(trajectories, release)
    assert "default-src 'none'" in html.unescape(page)
    assert not re.search(r"https?://|<script src|<[^>]* style=", page)
    assert not re.search(r"u\d{4}", page)
    assert "Not for publication" in page
    assert len(page) < 150_000


@pytest.mark.parametrize("release_of", [identity_release, one_box_release])
def test_extreme_releases_have_a_page(release_of: Any) -> None:
    trajectories = made(users=3, samples=1)
    assert "nan" not in page_of(trajectories, release_of(trajectories)).lower()


def test_a_release_of_nobody_has_a_page() -> None:
    trajectories = made(users=3)
    nothing = Boxes(*[np.empty(0, dtype=np.int64)] * 6)
    gone = np.full(3, -1), np.full(trajectories.n_samples, -1)
    page = page_of(trajectories, released(trajectories, np.zeros(1), nothing, *gone))
    assert "100.0 %" in page
    assert "nan" not in page.lower()


def test_the_page_opens_in_a_browser_and_every_figure_is_seen(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "figures.html"
    path.write_text(page_of(*made_and_released()), encoding="utf-8")
    wrong: list[str] = []
    for width in (1200, 380):
        page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
        page.on("request", lambda r: r.url.startswith("file:") or wrong.append(r.url))
        page.on("console", lambda message: wrong.append(message.text))
        page.goto(path.as_uri())
        shapes = page.eval_on_selector_all(
            "figure .chart canvas", "all => all.map(s => s.getBoundingClientRect().width)"
        )
        assert len(shapes) >= len(TITLES)
        assert min(shapes) > 250
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # Every line has its name below, and its colour is in the picture.
        names = page.eval_on_selector_all(".u-legend .u-label", "all => all.map(one => one.textContent)")
        assert {"median", "80 % of people", "no change", "home", "work"} <= set(names)
        assert "" not in names
        assert page.eval_on_selector_all("figure .chart canvas", COLOURFUL) == len(shapes)
        page.context.close()
    assert wrong == []
