"""What the map offers beside its shades: finding a zone, lines, flows within one, a picture, a first view."""

from __future__ import annotations

import base64

import h3

from worlds.browser import release_of

HERE = h3.latlng_to_cell(48.8566, 2.3522, 8)
NEAR = sorted(h3.grid_ring(HERE, 1))
FAR = h3.latlng_to_cell(40.0, -3.0, 8)


def trips(origin, destination, number):
    return {"origin": origin, "destination": destination, "trips": number, "travellers": number}


def test_tools_of_the_map(open_map):
    flows = [trips(HERE, HERE, 900), *(trips(HERE, cell, 100 + n) for n, cell in enumerate(NEAR))]
    reader = open_map(release_of(flows))
    page = reader.page
    without = reader.look("destination")
    page.locator(".finder input").fill(HERE[:9].upper())
    page.locator(".finder input").press("Enter")
    page.locator(".finder input").wait_for(state="detached")
    assert page.locator(".side .chosen").inner_text() == HERE
    lines = reader.look("destination")
    assert lines != without
    page.locator("[name=lines]").uncheck()
    assert reader.look("destination") != lines
    assert page.locator(".side tbody tr").count() == 7
    page.locator("[name=within]").uncheck()
    assert page.locator(".side tbody tr").count() == 6
    assert HERE not in page.locator(".side tbody").inner_text()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as PNG").click()
    assert saved.value.suggested_filename == "map.png"
    assert saved.value.path().read_bytes().startswith(base64.b64decode("iVBORw0KGgo="))


def test_one_stray_trip_does_not_shrink_the_city(open_map):
    flows = [*(trips(HERE, cell, 500) for cell in NEAR), trips(HERE, FAR, 10)]
    reader = open_map(release_of(flows))
    east, south = reader.point("destination", 0.98, 0.98)
    assert abs(east - 2.3522) < 0.2
    assert abs(south - 48.8566) < 0.2
    for _ in range(14):
        reader.page.locator(".panel[data-axis=destination] .farther").click()
    west, south = reader.point("destination", 0.02, 0.98)
    assert west < -3.0
    assert south < 40.0


def test_a_finger_scrolls_past_the_map(open_map, city):
    reader = open_map(city, viewport={"width": 390, "height": 844}, has_touch=True)
    touched = reader.panel("origin").locator(".stage").evaluate("own => getComputedStyle(own).touchAction")
    assert touched == "pan-y"
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
