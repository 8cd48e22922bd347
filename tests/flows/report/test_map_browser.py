"""The map in a real browser, opened from disk: what a reader sees, points at, clicks and types."""

from __future__ import annotations

import copy

import pytest


def properties(release, axis):
    return {
        f["properties"]["zone"]: f["properties"]
        for f in release[0]["features"]
        if f["properties"]["axis"] == axis
    }


def busiest(release, axis):
    return max(properties(release, axis).values(), key=lambda row: (row["trips"], row["zone"]))["zone"]


def test_the_page_says_what_it_shows(open_map, city):
    reader = open_map(city, {"Method": "ODkAnon", "Protection": "k = 10 travellers"})
    assert reader.page.title() == "City <1>"
    assert reader.page.locator(".facts dt").all_inner_texts() == ["Method", "Protection"]
    for axis in ("origin", "destination"):
        rows = properties(city, axis)
        total = sum(row["trips"] for row in rows.values())
        assert reader.panel(axis).locator(".note").inner_text() == f"{len(rows)} zones, {total:,} trips"
        assert "Trips" in reader.panel(axis).locator(".caption").inner_text()
        volumes = [row["trips"] for row in rows.values()]
        assert reader.panel(axis).locator(".ticks span").all_inner_texts()
        assert min(volumes) >= 10


def test_hover_tells_the_numbers_of_the_zone_under_the_pointer(open_map, city):
    reader = open_map(city)
    for axis in ("origin", "destination"):
        rows = properties(city, axis)
        by_size = sorted(rows, key=lambda zone: (rows[zone]["area_km2"], zone))
        for zone in by_size[:: max(1, len(by_size) // 6)]:
            reader.hover_cell(axis, zone)
            tip = reader.tip()
            assert tip["zone"] == zone
            assert tip["Trips"] == f"{rows[zone]['trips']:,}"
            assert tip["Travellers"] == f"{rows[zone]['travellers']:,}"
            assert tip["Flows"] == str(sum(flow[axis] == zone for flow in city[1]))
            assert tip["Tiles"] == f"{rows[zone]['tiles']:,}"
            assert tip["Height"] == str(rows[zone]["height"])
            assert float(tip["Area"].removesuffix(" km²")) == pytest.approx(rows[zone]["area_km2"], rel=0.01)
    reader.page.mouse.move(5, 5)
    reader.settle()
    assert reader.page.locator(".tip").is_hidden()


def test_click_shows_the_flows_of_a_zone_in_the_other_panel_and_escape_clears(open_map, city):
    reader, zone = open_map(city), busiest(city, "origin")
    before = {axis: reader.look(axis) for axis in ("origin", "destination")}
    reader.click_cell("origin", zone)
    own = sorted(
        (flow for flow in city[1] if flow["origin"] == zone), key=lambda f: (-f["trips"], f["destination"])
    )
    rows = [row.split() for row in reader.page.locator(".side tbody tr").all_inner_texts()]
    assert rows == [[f["destination"], f"{f['trips']:,}", f"{f['travellers']:,}"] for f in own[:10]]
    assert reader.panel("origin").locator(".unselect").inner_text().startswith(zone)
    assert reader.look("destination") != before["destination"]
    partners = {flow["destination"]: flow for flow in own}
    stranger = next(z for z in properties(city, "destination") if z not in partners)
    for partner, words in [
        (own[0]["destination"], f"{own[0]['trips']:,} trips"),
        (stranger, "no released flow"),
    ]:
        reader.hover_cell("destination", partner)
        assert words in reader.page.locator(".tip-flow").inner_text()
    reader.page.keyboard.press("Escape")
    assert {axis: reader.look(axis) for axis in before} == before
    assert reader.page.locator(".side h2").inner_text() == "Largest flows"


def test_every_way_to_unselect_works(open_map, city):
    reader, zone = open_map(city), busiest(city, "destination")
    ways = [
        lambda: reader.page.locator(".clear").click(),
        lambda: reader.panel("destination").locator(".unselect").click(),
        lambda: reader.click_cell("destination", zone),
        lambda: reader.page.mouse.click(reader.stage("origin")["x"] + 8, reader.stage("origin")["y"] + 300),
    ]
    for unselect in ways:
        reader.click_cell("destination", zone)
        assert reader.page.locator(".chosen").inner_text() == zone
        unselect()
        reader.settle()
        assert reader.page.locator(".chosen").count() == 0


def test_a_zone_named_in_the_table_can_be_selected(open_map, city):
    reader = open_map(city)
    largest = max(city[1], key=lambda f: f["trips"])
    reader.page.locator(".side tbody tr").first.locator("button").nth(1).click()
    assert reader.page.locator(".eyebrow").inner_text() == "Selected destination"
    assert reader.page.locator(".chosen").inner_text() == largest["destination"]


def test_both_panels_share_one_view(open_map, city):
    reader = open_map(city)

    def corners(axis):
        return [reader.point(axis, 0.1, 0.1), reader.point(axis, 0.9, 0.9)]

    whole = corners("origin")
    assert corners("destination") == whole
    anchor = reader.point("destination", 0.7, 0.4)
    reader.page.mouse.wheel(0, -400)
    reader.page.wait_for_timeout(100)
    assert reader.point("destination", 0.7, 0.4) == pytest.approx(anchor, abs=2e-4)
    nearer = corners("origin")
    assert nearer[1][0] - nearer[0][0] < 0.8 * (whole[1][0] - whole[0][0])
    assert corners("destination") == nearer

    start = reader.point("origin", 0.5, 0.5)
    reader.page.mouse.down()
    box = reader.stage("origin")
    reader.page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.4 * box["height"], steps=4)
    reader.page.mouse.up()
    assert reader.point("destination", 0.6, 0.4) == pytest.approx(start, abs=2e-4)
    assert reader.page.locator(".chosen").count() == 0

    reader.panel("destination").locator(".whole").click()
    assert corners("origin") == whole
    reader.panel("origin").locator(".farther").click()
    assert corners("destination")[0][0] < whole[0][0]


def test_an_area_that_nobody_knows_is_not_made_up(open_map, city):
    zones, flows = copy.deepcopy(city)
    for feature in zones["features"]:
        feature["properties"]["area_km2"] = None
    reader, zone = open_map((zones, flows)), busiest(city, "origin")
    reader.hover_cell("origin", zone)
    assert reader.tip()["Area"] == "not given"


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_zones_without_an_outline_are_in_the_tables_all_the_same(open_map, city, share):
    zones, flows = copy.deepcopy(city)
    lacking = zones["features"][: int(share * len(zones["features"]))]
    for feature in lacking:
        feature["geometry"] = None
    reader = open_map((zones, flows))
    largest = max(flows, key=lambda f: f["trips"])
    for button in range(2):
        reader.page.locator(".side tbody tr").first.locator("button").nth(button).click()
        assert reader.page.locator(".chosen").inner_text() == largest[("origin", "destination")[button]]
        reader.page.keyboard.press("Escape")
    reader.panel("origin").locator(".whole").click()
    reader.settle()
