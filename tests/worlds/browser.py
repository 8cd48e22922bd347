"""A small released city on H3 cells, and a real browser to look at its map."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import h3
import pytest

from tripcloak.flows.report.map import render_map

Row: TypeAlias = dict[str, Any]
Release: TypeAlias = tuple[dict[str, Any], list[Row]]

WIDE = {"width": 1440, "height": 900}


def cell_feature(axis: str, cell: str, **numbers: float) -> Row:
    ring = [[lon, lat] for lat, lon in h3.cell_to_boundary(cell)]
    resolution = h3.get_resolution(cell)
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
        "properties": {
            "axis": axis,
            "zone": cell,
            "height": 9 - resolution,
            "tiles": 7 ** (9 - resolution),
            "area_km2": h3.cell_area(cell, "km^2"),
            **numbers,
        },
    }


def release_of(flows: Sequence[Row], measures: Sequence[str] = ("trips", "travellers")) -> Release:
    """A release whose zones are H3 cells and carry the sums of their flows."""
    features = []
    for axis in ("origin", "destination"):
        sums: dict[str, dict[str, float]] = {}
        for flow in flows:
            own = sums.setdefault(flow[axis], dict.fromkeys(measures, 0))
            for name in measures:
                own[name] += flow[name]
        features += [cell_feature(axis, cell, **numbers) for cell, numbers in sums.items()]
    return {"type": "FeatureCollection", "features": features}, list(flows)


def make_city(latitude: float, longitude: float, seed: int = 7) -> Release:
    """Zones of H3 resolutions 6 to 9, finer towards the middle, with flows that prefer near partners."""
    draw = random.Random(seed)
    centre = h3.latlng_to_cell(latitude, longitude, 6)
    reach = {6: 5.0, 7: 2.5, 8: 1.2}

    def zones() -> list[str]:
        cut, open_cells = [], list(h3.grid_disk(centre, 2))
        while open_cells:
            cell = open_cells.pop()
            resolution = h3.get_resolution(cell)
            away = h3.great_circle_distance(h3.cell_to_latlng(cell), (latitude, longitude))
            if resolution < 9 and away < reach[resolution] * draw.uniform(0.7, 1.3):
                open_cells += h3.cell_to_children(cell, resolution + 1)
            else:
                cut.append(cell)
        return cut

    origins, destinations = zones(), zones()
    flows: dict[tuple[str, str], Row] = {}
    for origin in origins:
        for destination in draw.sample(destinations, 14):
            trips = 10 + int(draw.paretovariate(0.9))
            travellers = draw.randint(10, trips)
            flows[origin, destination] = {
                "origin": origin,
                "destination": destination,
                "trips": trips,
                "travellers": travellers,
            }
    return release_of(list(flows.values()))


@pytest.fixture(scope="session")
def city() -> Release:
    return make_city(48.8566, 2.3522)


@pytest.fixture(scope="session")
def city_at() -> Callable[[float, float], Release]:
    return make_city


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium found: apt-get install chromium to look at the map in a real browser")
    from playwright.sync_api import sync_playwright

    with unbounded():
        playwright = sync_playwright().start()
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
    yield running
    running.close()
    playwright.stop()


@contextmanager
def unbounded() -> Iterator[None]:
    """Let what is started here reserve as many addresses as it likes; a browser never uses most of them."""
    import resource

    bound, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (bound, most))


@dataclass
class Reader:
    """Someone with a browser: the page, and everything it asked for or complained about."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def panel(self, axis: str) -> Any:
        return self.page.locator(f".panel[data-axis={axis}]")

    def stage(self, axis: str) -> dict[str, float]:
        box: dict[str, float] = self.panel(axis).locator(".stage").bounding_box()
        return box

    def settle(self) -> None:
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def point(self, axis: str, across: float, down: float) -> tuple[float, float]:
        """The longitude and latitude that the panel reads out at a share of its width and height."""
        box = self.stage(axis)
        self.page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
        self.settle()
        return self.readout(axis)

    def readout(self, axis: str) -> tuple[float, float]:
        text = self.panel(axis).locator(".where").inner_text()
        found = re.fullmatch(r"([\d.]+)°( [NS])?, ([\d.]+)°( [EW])?", text)
        assert found is not None, text
        signs = [-1 if side in (" S", " W") else 1 for side in (found[2], found[4])]
        return signs[1] * float(found[3]), signs[0] * float(found[1])

    def pixel(self, axis: str, longitude: float, latitude: float) -> tuple[float, float]:
        """Where a place lies on the screen, worked out from two readouts far apart."""
        west, north = self.point(axis, 0.3, 0.3)
        east, south = self.point(axis, 0.7, 0.7)
        box = self.stage(axis)
        across = 0.3 + 0.4 * (longitude - west) / (east - west)
        down = 0.3 + 0.4 * (latitude - north) / (south - north)
        return box["x"] + across * box["width"], box["y"] + down * box["height"]

    def hover_cell(self, axis: str, cell: str) -> None:
        latitude, longitude = h3.cell_to_latlng(cell)
        self.page.mouse.move(*self.pixel(axis, longitude, latitude))
        self.settle()

    def click_cell(self, axis: str, cell: str) -> None:
        latitude, longitude = h3.cell_to_latlng(cell)
        self.page.mouse.click(*self.pixel(axis, longitude, latitude))
        self.settle()

    def tip(self) -> dict[str, str]:
        tip = self.page.locator(".tip")
        labels, texts = tip.locator("dt").all_inner_texts(), tip.locator("dd").all_inner_texts()
        return {"zone": tip.locator(".tip-zone").inner_text(), **dict(zip(labels, texts, strict=True))}

    def look(self, axis: str) -> bytes:
        """The pixels of a panel while nothing is pointed at."""
        self.page.mouse.move(5, 5)
        self.page.wait_for_timeout(50)
        picture: bytes = self.panel(axis).locator(".stage").screenshot()
        return picture


@pytest.fixture
def open_map(browser, tmp_path):
    """Opens a release's map from disk; afterwards nothing may have been fetched or gone wrong."""
    opened: list[Reader] = []

    def opener(release, facts=None, **options) -> Reader:
        zones, flows = release
        path = Path(tmp_path) / f"map-{len(opened)}.html"
        text = render_map(
            title="City <1>", zones=zones, flows=flows, facts=facts or {"Unit": "k = 10 travellers"}
        )
        path.write_text(text, encoding="utf-8")
        reader = Reader(browser.new_context(**{"viewport": WIDE, **options}).new_page())
        reader.page.on("request", lambda request: reader.requests.append(request.url))
        reader.page.on("console", lambda message: reader.complaints.append(message.text))
        reader.page.on("pageerror", lambda error: reader.complaints.append(str(error)))
        reader.page.goto(path.as_uri())
        opened.append(reader)
        return reader

    yield opener
    for reader in opened:
        assert [url for url in reader.requests if not url.startswith(("file:", "data:"))] == []
        assert reader.complaints == []
        reader.page.context.close()
