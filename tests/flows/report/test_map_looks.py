"""The map in a real browser: keys, fingers, colours, sizes, and data at the edges of the world."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import h3
import pytest

BOTH = ("origin", "destination")


def plain_release(zones):
    """A release of named GeoJSON geometries, the same on both axes, one flow from each to each."""
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Polygon", "coordinates": [ring]},
            "properties": {
                "axis": axis,
                "zone": zone,
                "height": 0,
                "tiles": 1,
                "area_km2": area,
                "trips": 20,
            },
        }
        for axis in BOTH
        for zone, (ring, area) in zones.items()
    ]
    flows = [{"origin": o, "destination": d, "trips": 20} for o in zones for d in zones]
    return {"type": "FeatureCollection", "features": features}, flows


def rectangle(west, south, east, north):
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def oklab(red, green, blue):
    linear = [
        (c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4) for c in (red, green, blue)
    ]
    cones = [
        0.4122214708 * linear[0] + 0.5363325363 * linear[1] + 0.0514459929 * linear[2],
        0.2119034982 * linear[0] + 0.6806995451 * linear[1] + 0.1073969566 * linear[2],
        0.0883024619 * linear[0] + 0.2817188376 * linear[1] + 0.6299787005 * linear[2],
    ]
    long, middle, short = (cone ** (1 / 3) for cone in cones)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def colours_of(canvas, left, top, width):
    """A row of a canvas, open_map through a copy so that the page's own canvas stays as it is."""
    flat = canvas.evaluate(
        """(own, row) => {
            const copy = new OffscreenCanvas(own.width, own.height);
            const pen = copy.getContext("2d", { willReadFrequently: true });
            pen.drawImage(own, 0, 0);
            return [...pen.getImageData(...row, 1).data];
        }""",
        [left, top, width],
    )
    return [tuple(flat[i : i + 3]) for i in range(0, len(flat), 4)]


def test_keys_move_zoom_select_and_clear(open_map, city):
    reader = open_map(city)
    stage = reader.panel("origin").locator(".stage")
    for _ in range(9):
        reader.page.keyboard.press("Tab")
        if stage.evaluate("own => own === document.activeElement"):
            break
    reader.settle()
    start = reader.readout("origin")
    reader.page.keyboard.press("ArrowRight")
    reader.settle()
    assert reader.readout("origin")[0] > start[0]
    reader.page.keyboard.press("0")
    reader.page.keyboard.press("+")
    reader.settle()
    assert reader.readout("origin") == start
    spoken = reader.page.locator("[role=status]")
    zone = reader.tip()["zone"]
    assert zone in spoken.inner_text()
    reader.page.keyboard.press("Enter")
    assert reader.page.locator(".chosen").inner_text() == zone
    reader.page.keyboard.press("Escape")
    assert spoken.inner_text() == "Selection cleared."


def test_two_fingers_zoom_and_a_tap_selects(open_map, city):
    reader = open_map(city, viewport={"width": 414, "height": 896}, has_touch=True, is_mobile=True)
    before = reader.point("origin", 0.2, 0.5)
    box = reader.stage("origin")
    touch = reader.page.context.new_cdp_session(reader.page)
    middle, height = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def fingers(kind, apart):
        points = [{"x": middle + side * apart, "y": height, "id": side + 1} for side in (-1, 1)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points if apart else []})

    fingers("touchStart", 30)
    for apart in (45, 60, 75, 90):
        fingers("touchMove", apart)
    fingers("touchEnd", 0)
    reader.page.wait_for_timeout(100)
    after = reader.point("origin", 0.2, 0.5)
    centre = reader.point("origin", 0.5, 0.5)
    assert (centre[0] - before[0]) / (centre[0] - after[0]) == pytest.approx(3, rel=0.1)
    assert reader.page.locator(".chosen").count() == 0
    reader.page.touchscreen.tap(middle, height)
    reader.settle()
    assert reader.page.locator(".chosen").inner_text() == reader.tip()["zone"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_grow_evenly_and_mean_the_logarithm_of_the_volume(open_map, city, scheme):
    reader = open_map(city, color_scheme=scheme)
    ramp = colours_of(reader.page.locator(".ramp").first, 0, 0, 256)
    colours = [oklab(*colour) for colour in ramp]
    steps = [b[0] - a[0] for a, b in pairwise(colours[::15])]
    assert all(step > 0 for step in steps) if scheme == "dark" else all(step < 0 for step in steps)
    strides = [math.dist(a, b) for a, b in pairwise(colours[::15])]
    assert max(strides) < 1.35 * min(strides)

    volumes = [f["properties"]["trips"] for f in city[0]["features"]]
    largest = [f for f in city[0]["features"] if h3.get_resolution(f["properties"]["zone"]) == 6]
    for found in largest[::12]:
        row = found["properties"]
        reader.hover_cell(row["axis"], row["zone"])
        share = math.log(row["trips"] / min(volumes)) / math.log(max(volumes) / min(volumes))
        pin = reader.panel(row["axis"]).locator(".pin").evaluate("own => parseFloat(own.style.left)")
        assert pin == pytest.approx(100 * share, abs=0.1)
        zones = reader.panel(row["axis"]).locator(".zones")
        assert colours_of(zones, *middle_of(reader, row), 1) == [ramp[round(255 * share)]]


def middle_of(reader, row):
    latitude, longitude = h3.cell_to_latlng(row["zone"])
    left, top = reader.pixel(row["axis"], longitude, latitude)
    box = reader.stage(row["axis"])
    return [round(left - box["x"]), round(top - box["y"])]


@pytest.mark.parametrize(("width", "stacked"), [(1440, False), (1000, False), (414, True), (320, True)])
def test_panels_stand_side_by_side_or_stacked_and_keep_their_place(open_map, city, width, stacked):
    reader = open_map(city, viewport={"width": width, "height": 700})
    origin, destination = reader.stage("origin"), reader.stage("destination")
    assert (destination["y"] > origin["y"] + origin["height"]) == stacked
    assert (destination["x"] > origin["x"] + origin["width"]) != stacked
    reader.page.mouse.click(origin["x"] + origin["width"] / 2, origin["y"] + origin["height"] / 2)
    assert reader.page.locator(".chosen").count() == 1
    assert (reader.stage("origin"), reader.stage("destination")) == (origin, destination)
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_smallest_zone_under_the_pointer_is_picked(open_map):
    zones = {
        "large": (rectangle(2.0, 48.0, 2.4, 48.3), 980.0),
        "small": (rectangle(2.15, 48.1, 2.25, 48.2), 82.0),
    }
    reader = open_map(plain_release(zones))
    for longitude, latitude, zone in [(2.2, 48.15, "small"), (2.05, 48.05, "large")]:
        reader.page.mouse.move(*reader.pixel("origin", longitude, latitude))
        reader.settle()
        assert reader.tip()["zone"] == zone


@pytest.mark.parametrize(
    "hostile",
    [
        "</script><script>window.broken = 1</script>",
        "<img src=x onerror='window.broken = 1'>",
        "Île\u2028日本 \"🚲'",
    ],
)
def test_hostile_ids_are_shown_as_text(open_map, hostile):
    zones = {hostile: (rectangle(2.0, 48.0, 2.4, 48.3), 980.0), "b": (rectangle(2.4, 48.0, 2.8, 48.3), 980.0)}
    reader = open_map(plain_release(zones), {hostile: hostile})
    reader.page.mouse.click(*reader.pixel("origin", 2.2, 48.15))
    reader.settle()
    for place in (".tip-zone", ".chosen", ".facts dd"):
        assert reader.page.locator(place).evaluate("own => own.textContent") == hostile
    assert reader.page.evaluate("window.broken") is None


def test_a_release_across_the_antimeridian_is_one_small_map(open_map, city_at):
    release = city_at(-16.8, 180.0)
    reader = open_map(release)
    west, east = reader.point("origin", 0.02, 0.5)[0], reader.point("origin", 0.98, 0.5)[0]
    assert 0 < (east - west) % 360 < 2
    assert west > 0 > east
    reader.point("origin", 0.5, 0.5)
    zone = reader.tip()["zone"]
    latitude, longitude = h3.cell_to_latlng(zone)
    read_longitude, read_latitude = reader.readout("origin")
    assert abs((longitude - read_longitude + 180) % 360 - 180) < 0.1
    assert abs(latitude - read_latitude) < 0.1


def test_a_zone_as_wide_as_the_world_is_drawn(open_map):
    zones = {
        "world": (rectangle(-180, -90, 180, 90), 510_000_000.0),
        "paris": (rectangle(2.0, 48.0, 2.4, 48.3), 980.0),
        "dot": (rectangle(-60.0, -10.0, -60.0, -10.0), 0.0),
    }
    reader = open_map(plain_release(zones))
    for longitude, latitude, zone in [(100.0, -40.0, "world"), (-60.0, -10.0, "dot"), (2.2, 48.15, "paris")]:
        reader.page.mouse.move(*reader.pixel("destination", longitude, latitude))
        reader.settle()
        assert reader.tip()["zone"] == zone


def test_nothing_released_is_said_plainly(open_map):
    reader = open_map(({"type": "FeatureCollection", "features": []}, []))
    assert reader.page.locator(".side h2").inner_text() == "No flow was released"
    reader.point("origin", 0.5, 0.5)
    assert reader.page.locator(".tip").is_hidden()


def test_without_scripts_the_page_points_to_the_table(open_map, city):
    reader = open_map(city, java_script_enabled=False)
    assert "flows.csv" in reader.page.locator("noscript").inner_text()


def test_population_is_named_when_it_is_the_volume(open_map):
    zones, flows = plain_release({"a": (rectangle(2.0, 48.0, 2.4, 48.3), 980.0)})
    for row in [*(f["properties"] for f in zones["features"]), *flows]:
        row["population"] = 1234.5
        row.pop("trips")
    reader = open_map((zones, flows))
    assert reader.panel("origin").locator(".caption").inner_text().startswith("Population of trips")
    assert reader.panel("origin").locator(".note").inner_text() == "1 zone, population 1,234.5"


def processor_seconds(page):
    """Return what the page's process has taken so far, whatever else the machine is doing."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    told = session.send("Performance.getMetrics")["metrics"]
    return {entry["name"]: entry["value"] for entry in told}["ProcessTime"]


def test_twenty_thousand_zones_and_fifty_thousand_flows_open_quickly(open_map):
    draw = random.Random(5)
    cells = sorted(h3.grid_disk(h3.latlng_to_cell(48.8566, 2.3522, 8), 58))[:10_000]
    features = []
    for axis in BOTH:
        for cell in cells:
            ring = [[lon, lat] for lat, lon in h3.cell_to_boundary(cell)]
            row = {
                "axis": axis,
                "zone": cell,
                "height": 1,
                "tiles": 7,
                "area_km2": 0.7,
                "trips": draw.randint(10, 9999),
            }
            geometry = {"type": "Polygon", "coordinates": [ring]}
            features.append({"type": "Feature", "geometry": geometry, "properties": row})
    pairs = {(draw.choice(cells), draw.choice(cells)) for _ in range(50_200)}
    flows = [
        {"origin": o, "destination": d, "trips": draw.randint(10, 99), "travellers": 10}
        for o, d in sorted(pairs)
    ][:50_000]
    assert len(flows) == 50_000
    reader = open_map(({"type": "FeatureCollection", "features": features}, flows))
    reader.settle()
    assert processor_seconds(reader.page) < 1
    assert reader.page.evaluate("document.documentElement.outerHTML.length") < 6_000_000
    north, south = (reader.point("origin", 0.5, down)[1] for down in (0.4, 0.6))
    # A wheel turns around a whole pixel, a pointer stands on parts of one.
    pixel = (north - south) / (0.2 * reader.stage("origin")["height"])
    before = reader.point("origin", 0.5, 0.5)
    for _ in range(5):
        reader.page.mouse.wheel(0, -120)
    reader.page.wait_for_timeout(250)
    assert reader.point("destination", 0.5, 0.5) == pytest.approx(before, abs=pixel)
    assert reader.tip()["zone"] == h3.latlng_to_cell(before[1], before[0], 8)
