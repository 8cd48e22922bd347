"""The map of released trajectories as text: what it holds, how much of it, and that it asks for nothing."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.pages.raster import STEPS, ZERO, density_of
from tripcloak.trajectories.model import Grid
from tripcloak.trajectories.release.published import PublishedTrajectories, under_pseudonyms
from tripcloak.trajectories.release.release import Boxes
from tripcloak.trajectories.report.map import BINS, CELLS, paint_frames, render_trajectory_map
from worlds.released_trajectories import COUNTED
from worlds.trajectories import made, random_release

FACTS = {"method": "k-scale", "promise": {"kind": "containment", "k": 2}, "counted": COUNTED}


def published_of(**told: Any) -> PublishedTrajectories:
    published, _, _ = under_pseudonyms(random_release(made(**told)))
    return replace(published, manifest=FACTS)


def embedded(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="release">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    payload: dict[str, Any] = json.loads(found[1])
    return payload


def unpacked(column: dict[str, Any]) -> np.ndarray:
    data = np.frombuffer(base64.b64decode(column["data"]), dtype=f"<u{column['width']}")
    return data.astype(np.int64) + column["least"]


@pytest.mark.parametrize("grid", [Grid(), Grid(seconds=1, metres=1, start=1_600_000_000)])
def test_every_released_box_comes_back_from_the_page(grid: Grid) -> None:
    published = published_of(users=9, samples=20, grid=grid)
    told = embedded(render_trajectory_map(published))
    boxes = published.boxes
    starts = [unpacked(told["boxes"][name]) for name in ("t", "x", "y")]
    sizes = [unpacked(told["boxes"][name]) for name in ("lasts", "wide", "high")]
    for start, size, low, high in zip(starts, sizes, boxes[::2], boxes[1::2], strict=True):
        assert np.array_equal(start, low)
        assert np.array_equal(start + size, high)
    assert told["pseudonyms"] == published.pseudonyms.tolist()
    assert np.array_equal(unpacked(told["lengths"]), np.diff(published.offsets))
    assert told["grid"] == {
        "seconds": grid.seconds,
        "metres": grid.metres,
        "start": grid.start,
        "clock": grid.clock,
    }
    assert told["film"] is None


def test_the_page_asks_for_nothing_and_forbids_itself_to() -> None:
    page = render_trajectory_map(published_of())
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;")
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:)", page)
    assert "http://" not in page
    assert "https://" not in page


def test_words_of_the_release_cannot_break_out_of_the_page() -> None:
    published = replace(published_of(), manifest={**FACTS, "method": "</script><b>&"})
    page = render_trajectory_map(published)
    assert "</script><b>" not in page
    assert "Released trajectories (&lt;/script&gt;&lt;b&gt;&amp;)" in page


def test_of_many_samples_the_page_holds_whole_trajectories_and_a_film_of_all() -> None:
    published = published_of(users=40, samples=20)
    most = published.n_boxes // 2
    told = embedded(render_trajectory_map(published, most=most))
    shown = len(told["pseudonyms"])
    assert 1 <= shown < published.n_released
    lengths = unpacked(told["lengths"])
    assert np.array_equal(lengths, np.diff(published.offsets)[:shown])
    assert lengths.sum() <= most // 2 < lengths.sum() + np.diff(published.offsets)[shown]
    assert told["released"] == {"trajectories": published.n_released, "samples": published.n_boxes}
    film = told["film"]
    shades = np.frombuffer(base64.b64decode(film["shades"]), dtype=np.uint8)
    assert shades.size == film["bins"] * film["rows"] * film["columns"]
    assert len(film["present"]) == film["bins"]


def test_the_page_of_a_large_release_stays_below_ten_megabytes() -> None:
    random = np.random.default_rng(1)
    users, each = 30_000, 20
    t0 = np.sort(random.integers(0, 20_000, (users, each)), axis=1) * 3
    x0, y0 = random.integers(-2_000, 2_000, (2, users * each))
    w, h = random.integers(1, 900, (2, users * each))
    published = PublishedTrajectories(
        grid=Grid(projection="+proj=laea +lat_0=48.9 +lon_0=2.3"),
        pseudonyms=np.array([f"t{row:016x}" for row in range(users)]),
        offsets=np.arange(users + 1) * each,
        boxes=Boxes(t0.ravel(), t0.ravel() + 2, x0, x0 + w, y0, y0 + h),
        manifest=FACTS,
    )
    assert 1e6 < len(render_trajectory_map(published)) < 10e6
    # As many as are held one by one are many bytes, too.
    some = 200_000 // each
    fewer = replace(
        published,
        pseudonyms=published.pseudonyms[:some],
        offsets=published.offsets[: some + 1],
        boxes=Boxes(*(side[: some * each] for side in published.boxes)),
    )
    assert embedded(render_trajectory_map(fewer))["film"] is None
    assert len(render_trajectory_map(fewer)) < 10e6


def painted_plainly(boxes: Boxes, film: Any) -> np.ndarray:
    """Each box cell by cell and bin by bin."""
    density = np.zeros(film.shades.shape)
    bins, rows, columns = density.shape
    for t0, t1, x0, x1, y0, y1 in np.stack(boxes, axis=1).tolist():
        cells = [
            (b, r, c)
            for b in range((t0 - film.start) // film.length, (t1 - 1 - film.start) // film.length + 1)
            for r in range((y0 - film.south) // film.cell, (y1 - 1 - film.south) // film.cell + 1)
            for c in range((x0 - film.west) // film.cell, (x1 - 1 - film.west) // film.cell + 1)
        ]
        for b, r, c in cells:
            if 0 <= b < bins and 0 <= r < rows and 0 <= c < columns:
                density[b, r, c] += (t1 - t0) / film.length / len(cells)
    return density


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 25), seconds=st.sampled_from([1, 60, 77]))
def test_films_show_what_painting_box_by_box_shows(seed: int, n: int, seconds: int) -> None:
    random = np.random.default_rng(seed)
    low = random.integers(0, 300, (3, n))
    high = low + random.integers(1, 60, (3, n))
    boxes = Boxes(low[0], high[0], low[1], high[1], low[2], high[2])
    # Home is smaller than what there is: some boxes lie beyond it, or across its edges.
    film = paint_frames(boxes, (20, 30, 280, 290), seconds)
    assert film.shades.shape[0] <= BINS
    assert max(film.shades.shape[1:]) <= CELLS
    density = painted_plainly(boxes, film)
    assert np.allclose(film.present, density.sum(axis=(1, 2)))
    assert np.array_equal(film.shades > 0, density > 1e-4)
    expected = np.rint(STEPS * np.log2(density[density > 1e-4])) + ZERO
    assert np.abs(film.shades[density > 1e-4] - expected.clip(1, 255)).max(initial=0) <= 1
    assert film.start == low[0].min()


def test_a_shade_tells_its_number_again() -> None:
    box = Boxes(*(np.repeat(step, 40) for step in (0, 60, 0, 1, 0, 1)))
    film = paint_frames(box, (0, 0, 1, 1), 60)
    assert density_of(int(film.shades[0, 0, 0])) == pytest.approx(40, rel=0.06)


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        ({"kind": "containment", "k": 5}, "fits 5 trajectories or more"),
        ({"kind": "colocation", "k": 5, "delta": 250.0}, "4 others or more within 250 m at all times"),
    ],
)
def test_the_page_says_what_is_promised(promise: dict[str, Any], words: str) -> None:
    page = render_trajectory_map(replace(published_of(), manifest=FACTS | {"promise": promise}))
    assert words in page
