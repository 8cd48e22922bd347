"""The map of released trajectories in a real browser, opened from disk: time, boxes, keys and words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripcloak.trajectories.model import Grid
from tripcloak.trajectories.release.published import PublishedTrajectories, under_pseudonyms
from tripcloak.trajectories.release.release import Boxes
from tripcloak.trajectories.report.map import render_trajectory_map
from worlds.released_trajectories import COUNTED
from worlds.trajectories import made, random_release

FACTS = {"method": "k-scale", "promise": {"kind": "containment", "k": 3}, "counted": COUNTED}
WIDE = {"width": 900, "height": 660}


@dataclass
class Reader:
    """Someone with a browser: the page, and everything it asked for or complained about."""

    page: Any
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def settle(self) -> None:
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)))")

    def until(self, condition: str) -> None:
        """Wait for a condition by asking again: the page's policy lets nobody evaluate text within it."""
        for _ in range(200):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"not within four seconds: {condition}")

    def look(self) -> str:
        """The picture while nothing is pointed at, as it was drawn: what lies over it is not looked at."""
        self.page.mouse.move(3, 3)
        self.settle()
        pictures: list[str] = self.page.evaluate(
            "Array.from(document.querySelectorAll('.stage canvas'), (canvas) => canvas.toDataURL())"
        )
        return "".join(pictures)

    def numbers(self) -> dict[str, str]:
        labels, texts = (self.page.locator(f".now {tag}").all_inner_texts() for tag in ("dt", "dd"))
        return dict(zip(labels, texts, strict=True))

    def window(self) -> tuple[float, float]:
        start, end = self.page.evaluate("[timeMap.clock.start, timeMap.clock.end]")
        return start, end

    def slide(self, share: float) -> None:
        """Drag the slider as a mouse would: it says where it is now, and that it was moved."""
        self.page.locator(".slider").evaluate(
            """(slider, share) => {
                slider.value = Number(slider.min) + share * (slider.max - slider.min);
                slider.dispatchEvent(new Event("input"));
            }""",
            share,
        )
        self.settle()

    def over(self, box: int) -> tuple[float, float]:
        """Where the middle of a box lies on the screen."""
        left, top, width, height = self.page.evaluate(f"timeMap.panel.frame({box})")
        stage = self.page.locator(".stage").bounding_box()
        return stage["x"] + left + width / 2, stage["y"] + top + height / 2


@pytest.fixture
def read(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Reader]]:
    """Opens a release's map from disk; afterwards nothing may have been fetched or gone wrong."""
    opened: list[Reader] = []

    def opener(published: PublishedTrajectories, *, most: int = 200_000, **options: Any) -> Reader:
        path = tmp_path / f"map-{len(opened)}.html"
        path.write_text(render_trajectory_map(published, most=most), encoding="utf-8")
        reader = Reader(browser.new_context(**{"viewport": WIDE, **options}).new_page())
        reader.page.on("request", lambda request: reader.asked.append(request.url))
        reader.page.on("console", lambda message: reader.complaints.append(message.text))
        reader.page.on("pageerror", lambda error: reader.complaints.append(str(error)))
        reader.page.goto(path.as_uri())
        reader.settle()
        opened.append(reader)
        return reader

    yield opener
    for reader in opened:
        assert [url for url in reader.asked if not url.startswith(("file:", "data:"))] == []
        assert reader.complaints == []
        reader.page.context.close()


@pytest.fixture(scope="module")
def city() -> PublishedTrajectories:
    published, _, _ = under_pseudonyms(random_release(made(users=40, samples=30, spread=80, seed=2)))
    return replace(published, manifest=FACTS)


def active(published: PublishedTrajectories, window: tuple[float, float]) -> np.ndarray:
    return np.flatnonzero((published.boxes.t0 < window[1]) & (published.boxes.t1 > window[0]))


def words(published: PublishedTrajectories, step: int) -> str:
    when = datetime.fromtimestamp(int(published.grid.times(step)), UTC)
    return f"{when:%a}, {when.day} {when:%b %Y, %H:%M}"


def test_the_slider_changes_what_is_shown_and_told(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city)
    assert reader.page.title() == "Released trajectories (k-scale)"
    assert "fits 3 trajectories or more" in reader.page.locator(".facts").inner_text()
    for share in (0.0, 0.35, 1.0):
        reader.slide(share)
        found = active(city, reader.window())
        assert reader.numbers()["Boxes"] == f"{len(found):,}"
        start, _ = reader.window()
        assert reader.page.locator(".when").inner_text().startswith(words(city, int(start)))
    assert reader.window()[1] == city.boxes.t1.max()
    pictures = []
    for share in (0.2, 0.6, 0.2):
        reader.slide(share)
        pictures.append(reader.look())
    assert pictures[0] == pictures[2] != pictures[1]


def test_keys_and_the_chart_move_the_time(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city)
    reader.slide(0.3)
    start, end = reader.window()
    for key, windows in ((".", 1), (",", -1)):
        reader.page.keyboard.press(key)
        assert reader.window()[0] == pytest.approx(start + max(windows, 0) * (end - start), rel=0, abs=0.01)
    reader.page.locator(".slider").focus()
    reader.page.keyboard.press("ArrowRight")
    assert reader.window()[0] == pytest.approx(start + (end - start) / 4, rel=0, abs=0.01)
    reader.page.keyboard.press("]")
    assert reader.window()[1] - reader.window()[0] > end - start
    reader.page.locator("[name=window]").select_option(index=0)
    chart = reader.page.locator(".activity").bounding_box()
    middles = []
    for share in (0.25, 0.75):
        reader.page.mouse.click(chart["x"] + share * chart["width"], chart["y"] + 20)
        middles.append(sum(reader.window()) / 2)
    least, most = city.boxes.t0.min(), city.boxes.t1.max()
    assert (np.array(middles) - least) / (most - least) == pytest.approx([0.25, 0.75], abs=0.02)


def test_play_goes_on_until_paused(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city)
    reader.slide(0)
    button = reader.page.locator(".play")
    button.click()
    reader.until("timeMap.clock.start > timeMap.clock.least")
    assert button.get_attribute("aria-label") == "Pause"
    reader.page.keyboard.press("p")
    reader.settle()
    halted = reader.window()
    reader.page.wait_for_timeout(120)
    assert reader.window() == halted
    assert button.get_attribute("aria-label") == "Play"
    reader.slide(0.99999)
    button.click()
    reader.until("!timeMap.clock.playing")


def test_hover_tells_the_box_under_the_pointer(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city)
    shown = active(city, reader.window())
    areas = (city.boxes.x1 - city.boxes.x0) * (city.boxes.y1 - city.boxes.y0)
    smallest = int(shown[np.argmin(areas[shown])])
    reader.page.mouse.move(*reader.over(smallest))
    reader.settle()
    tip = reader.page.locator(".tip")
    owner = int(np.searchsorted(city.offsets, smallest, side="right")) - 1
    assert tip.locator(".tip-zone").inner_text() == city.pseudonyms[owner]
    told = dict(zip(tip.locator("dt").all_inner_texts(), tip.locator("dd").all_inner_texts(), strict=True))
    assert told["From"] == words(city, int(city.boxes.t0[smallest]))
    assert told["Until"] == words(city, int(city.boxes.t1[smallest]))
    km2 = float(areas[smallest]) * 0.01
    assert float(told["Area"].split()[0].replace(",", "")) == pytest.approx(km2, rel=0.01)
    north, east = (
        float(part.split("°")[0]) for part in reader.page.locator(".where").inner_text().split(",")
    )
    middle = [(low[smallest] + high[smallest]) / 2 * 100 for low, high in (city.boxes[2:4], city.boxes[4:6])]
    lon, lat = city.grid.unproject(*middle)
    assert (east, north) == pytest.approx((float(lon), float(lat)), abs=0.002)
    reader.page.mouse.move(3, 3)
    reader.settle()
    assert tip.is_hidden()


def test_a_trajectory_can_be_followed_through_its_samples(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city)
    before = reader.look()
    box = int(active(city, reader.window())[0])
    reader.page.evaluate(f"timeMap.visit({box})")
    reader.page.mouse.click(*reader.over(box))
    reader.settle()
    name = reader.page.locator(".chosen").inner_text()
    row = city.pseudonyms.tolist().index(name)
    own = range(city.offsets[row], city.offsets[row + 1])
    listed = reader.page.locator(".side tbody tr")
    assert listed.count() == len(own)
    starts = [text.split("\t")[0].strip() for text in listed.all_inner_texts()]
    assert starts == [words(city, int(city.boxes.t0[i])).replace(" 2023", "") for i in own]
    assert reader.look() != before
    listed.last.locator("button").click()
    reader.settle()
    assert own[-1] in active(city, reader.window())
    assert "current" in (listed.last.get_attribute("class") or "")
    # The list scrolls to the sample of the time that is shown.
    for sample in (own[0], own[-1]):
        reader.page.evaluate(f"timeMap.visit({sample})")
        reader.settle()
        row, side = (reader.page.locator(where).first.bounding_box() for where in (".current", ".side"))
        assert side["y"] <= row["y"] <= row["y"] + row["height"] <= side["y"] + side["height"] + 1
    reader.page.keyboard.press("Escape")
    assert reader.page.locator(".chosen").count() == 0


def test_a_trajectory_can_be_chosen_by_name_and_by_keys(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city)
    wanted = city.pseudonyms[5]
    # Letters typed into the field are a name, and no commands.
    reader.page.locator("[name=pseudonym]").press_sequentially(wanted[:9])
    reader.page.keyboard.press("Enter")
    assert reader.page.locator(".chosen").inner_text() == wanted
    for key, row in (("n", 6), ("b", 5), ("b", 4)):
        reader.page.keyboard.press(key)
        assert reader.page.locator(".chosen").inner_text() == city.pseudonyms[row]
    reader.page.keyboard.press("z")
    reader.settle()
    frames = np.array(
        reader.page.evaluate("Array.from({ length: timeMap.boxes.size }, (_, i) => timeMap.panel.frame(i))")
    )[city.offsets[4] : city.offsets[5]]
    width, height = reader.page.evaluate("[timeMap.panel.width, timeMap.panel.height]")
    corners = frames[:, :2].min(axis=0), (frames[:, :2] + frames[:, 2:]).max(axis=0)
    assert corners[0].min() >= 0
    assert max((corners[1] - corners[0]) / (width, height)) == pytest.approx(0.8, abs=0.02)
    reader.page.locator(".clear", has_text="Stop following").click()
    reader.page.locator("[name=pseudonym]").fill("nobody")
    reader.page.keyboard.press("Enter")
    assert reader.page.locator(".chosen").count() == 0


def test_density_counts_every_trajectory_once(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city)
    boxes = reader.look()
    reader.page.keyboard.press("d")
    assert reader.look() != boxes
    assert "per km²" in reader.page.locator(".caption").inner_text()
    reader.page.locator("[name=window]").select_option(index=0)
    reader.page.locator(".farther").click()
    reader.settle()
    start, end = reader.window()
    total = reader.page.evaluate(
        """([start, end]) => {
            const { values, columns } = timeMap.panel.densityOf(timeMap.boxes.active(start, end), start, end);
            const side = (timeMap.cells()[2] / columns / timeMap.view.scale) * 111.195;
            return values.reduce((sum, value) => sum + value, 0) * side * side;
        }""",
        [start, end],
    )
    found = active(city, (start, end))
    held = np.minimum(city.boxes.t1[found], end) - np.maximum(city.boxes.t0[found], start)
    assert total == pytest.approx(float(held.sum()) / (end - start), rel=1e-6)


def test_of_many_samples_a_film_is_shown_and_said_so(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city, most=city.n_boxes // 2)
    assert reader.page.locator("[name=show]").input_value() == "density"
    note = reader.page.locator(".partly").inner_text()
    shown = len(reader.page.evaluate("timeMap.boxes.name"))
    assert f"Density counts all {city.n_released} trajectories" in note
    assert f"those of {shown} trajectories, drawn at random" in note
    pictures = set()
    for share in (0.1, 0.5, 0.9):
        reader.slide(share)
        pictures.add(reader.look())
    assert len(pictures) == 3
    # Over all bins, as many are there as boxes last.
    total = reader.page.evaluate("timeMap.film.present.reduce((a, b) => a + b) * timeMap.film.length")
    assert total == pytest.approx(float((city.boxes.t1 - city.boxes.t0).sum()), rel=0.1)


def test_colours_say_how_long_or_how_large(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city)
    seen = {}
    for mode in ("area", "time", "density"):
        reader.page.locator("[name=show]").select_option(mode)
        seen[mode] = (reader.look(), reader.page.locator(".caption").inner_text())
        assert reader.page.locator(".ticks span").count() >= 2
    assert len({picture for picture, _ in seen.values()}) == len({text for _, text in seen.values()}) == 3


def test_zoom_pan_and_home(read: Any, city: PublishedTrajectories) -> None:
    reader = read(city)
    home = reader.look()
    reader.page.locator(".nearer").click()
    nearer = reader.look()
    assert nearer != home
    stage = reader.page.locator(".stage").bounding_box()
    reader.page.mouse.move(stage["x"] + 300, stage["y"] + 200)
    reader.page.mouse.down()
    reader.page.mouse.move(stage["x"] + 360, stage["y"] + 240, steps=3)
    reader.page.mouse.up()
    assert reader.look() != nearer
    reader.page.locator(".whole").click()
    assert reader.look() == home
    assert reader.page.locator(".chosen").count() == 0


@pytest.mark.parametrize(("width", "scheme"), [(1300, "dark"), (390, "light")])
def test_nothing_runs_off_the_page(read: Any, city: PublishedTrajectories, width: int, scheme: str) -> None:
    reader = read(city, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ground = reader.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(13, 18, 24)") == (scheme == "dark")


def one_box(**told: Any) -> PublishedTrajectories:
    return PublishedTrajectories(
        grid=Grid(**told),
        pseudonyms=np.array(["t0123456789abcdef"]),
        offsets=np.array([0, 1]),
        boxes=Boxes(*(np.array([step]) for step in (28_000_000, 28_000_001, 0, 1, 0, 1))),
        manifest=FACTS,
    )


@pytest.mark.parametrize(
    "projection",
    [
        "+proj=laea +lat_0=48.9 +lon_0=2.3",
        "+proj=laea +lat_0=90 +lon_0=0",
        "+proj=laea +lat_0=-17 +lon_0=180",
    ],
)
def test_a_single_step_is_a_map_too(read: Any, projection: str) -> None:
    moved = FACTS | {"method": "w4m", "promise": {"kind": "colocation", "k": 2, "delta": 10.0}}
    reader = read(replace(one_box(projection=projection), manifest=moved))
    assert "Samples were moved" in reader.page.locator(".hint").inner_text()
    assert reader.numbers()["Boxes"] == "1"
    for key in ("p", "d", "n", "]", ".", "Escape", "d"):
        reader.page.keyboard.press(key)
        reader.settle()
    assert reader.numbers()["Boxes"] == "1"


def test_towns_and_streets_lie_where_their_degrees_are(read: Any, city: PublishedTrajectories) -> None:
    from tripcloak.trajectories.release.presenting import area_of

    area = area_of(city)
    assert area is not None
    west, south, east, north = area
    street = {"type": "LineString", "coordinates": [[west, south], [east, north]]}
    behind = {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "properties": {}, "geometry": street}],
    }
    town = {"name": "Aville", "lat": north, "lon": west, "people": 7}
    names = {"source": "made up", "attribution": "Nobody", "towns": [town]}
    bare = read(city).look()
    reader = read(replace(city, manifest={**FACTS, "names": names}, background=behind))
    assert "Nobody" in reader.page.locator(".facts").inner_text()
    assert reader.look() != bare
    lon, lat = reader.page.evaluate("timeMap.panel.degrees.at(...timeMap.panel.backdrop.towns[0].at)")
    assert (lon, lat) == pytest.approx((west, north), abs=1e-6)
    ends = reader.page.evaluate("Array.from(timeMap.panel.backdrop.shapes[0].parts[0])")
    x, y = city.grid.project(np.array([west, east]), np.array([south, north]))
    unit = reader.page.evaluate("timeMap.boxes.km[0].length && 111195")
    assert np.array(ends) * unit == pytest.approx([x[0], y[0], x[1], y[1]], abs=30)
