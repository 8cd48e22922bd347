"""The map's text: what is embedded, how it is escaped, what is refused."""

from __future__ import annotations

import copy
import html
import json
import random
import re
from typing import Any

import pytest

from tripcloak.flows.report.map import render_map
from tripcloak.ground.errors import InputError

SQUARE = [[2.0, 48.0], [2.1, 48.0], [2.1, 48.1], [2.0, 48.1], [2.0, 48.0]]


def feature(axis: str, zone: str, **properties: Any) -> dict[str, Any]:
    numbers = {"height": 1, "tiles": 7, "area_km2": 82.0, "trips": 12}
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [SQUARE]},
        "properties": {"axis": axis, "zone": zone, **numbers, **properties},
    }


def page_of(features: list[dict[str, Any]], flows: list[dict[str, Any]], **words: Any) -> str:
    collection = {"type": "FeatureCollection", "features": features}
    return render_map(**{"title": "T", "facts": {}, "zones": collection, "flows": flows, **words})


def embedded(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="release">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    payload: dict[str, Any] = json.loads(found[1])
    return payload


def test_every_flow_and_zone_comes_back_from_the_page(city):
    zones, flows = city
    page = render_map(title="City", zones=zones, flows=flows, facts={})
    release = embedded(page)
    table = release["flows"]
    names = {axis: release[axis]["zone"] for axis in ("origin", "destination")}
    again = {
        (names["origin"][o], names["destination"][d], trips, travellers)
        for o, d, trips, travellers in zip(
            table["origin"], table["destination"], table["trips"], table["travellers"], strict=True
        )
    }
    assert again == {(f["origin"], f["destination"], f["trips"], f["travellers"]) for f in flows}
    for f in zones["features"]:
        row, axis = f["properties"], f["properties"]["axis"]
        place = names[axis].index(row["zone"])
        for name in ("trips", "travellers", "tiles", "height"):
            assert release[axis][name][place] == row[name]
        assert release[axis]["area_km2"][place] == pytest.approx(row["area_km2"], rel=1e-4)
        flat, longitude, latitude = release[axis]["outline"][place][0][0], 0, 0
        for step, corner in enumerate(f["geometry"]["coordinates"][0][:-1]):
            longitude, latitude = longitude + flat[2 * step], latitude + flat[2 * step + 1]
            assert (longitude / 1e6, latitude / 1e6) == pytest.approx(corner, abs=6e-7)


def test_larger_zones_come_first_so_that_smaller_ones_stay_on_top():
    features = [feature("origin", "small", area_km2=1.0), feature("origin", "large", area_km2=9.0)]
    assert embedded(page_of(features, []))["origin"]["zone"] == ["large", "small"]


def test_the_same_release_in_another_row_order_gives_the_same_page(city):
    zones, flows = copy.deepcopy(city)
    before = render_map(title="City", zones=zones, flows=flows, facts={"a": "b"})
    random.Random(1).shuffle(zones["features"])
    random.Random(2).shuffle(flows)
    assert render_map(title="City", zones=zones, flows=flows, facts={"a": "b"}) == before


def test_only_named_columns_are_embedded():
    features = [feature(axis, "a", note="SECRET-1") for axis in ("origin", "destination")]
    flows = [{"origin": "a", "destination": "a", "trips": 12, "person": "SECRET-2"}]
    page = page_of(features, flows)
    assert "SECRET" not in page
    assert set(embedded(page)["flows"]) == {"origin", "destination", "trips"}


def test_the_page_names_nothing_outside_itself(city):
    page = render_map(title="City", zones=city[0], flows=city[1], facts={})
    assert not re.findall(r"https?:|//[a-z0-9-]+\.|\bsrc=|@import|url\(|fetch\(|XMLHttpRequest", page)
    assert "default-src 'none'" in html.unescape(page)
    noscript = re.search(r"<noscript>(.*?)</noscript>", page, re.DOTALL)
    assert noscript is not None
    assert "flows.csv" in noscript[1]


@pytest.mark.parametrize(
    "hostile",
    [
        "</script><script>x()</script>",
        "<!--<script>",
        "\"'><img src=x>",
        "&lt;b&gt;",
        "Île\u2028日本 🚲",
        "\ud800",
    ],
)
def test_ids_and_facts_survive_as_text(hostile):
    features = [feature(axis, hostile) for axis in ("origin", "destination")]
    flows = [{"origin": hostile, "destination": hostile, "trips": 12}]
    page = page_of(features, flows)
    assert embedded(page)["origin"]["zone"] == [hostile]
    assert page.count("<script") == page_of([], []).count("<script")
    assert page.count("</script") == 2


def test_title_and_facts_are_escaped():
    page = page_of([], [], title='a <b> & "c"', facts={"<i>k</i>": "</dd><script>"})
    assert "<title>a &lt;b&gt; &amp; &#34;c&#34;</title>" in page
    assert "<dt>&lt;i&gt;k&lt;/i&gt;</dt><dd>&lt;/dd&gt;&lt;script&gt;</dd>" in page


def test_facts_keep_their_order():
    page = page_of([], [], facts={"Zeta": "1", "Alpha": "2"})
    assert page.index("Zeta") < page.index("Alpha")


def test_volume_is_the_first_of_trips_and_population_that_all_zones_have():
    both = [feature(axis, "a", population=30.25) for axis in ("origin", "destination")]
    flows = [{"origin": "a", "destination": "a", "trips": 12, "population": 30.25}]
    assert embedded(page_of(both, flows))["volume"] == {"zone": "trips", "flow": "trips"}
    for f in both:
        del f["properties"]["trips"]
    assert embedded(page_of(both, flows))["volume"] == {"zone": "population", "flow": "population"}
    del flows[0]["population"]
    assert embedded(page_of(both, flows))["volume"] == {"zone": "population", "flow": "trips"}


def test_a_figure_given_for_some_zones_only_is_null_for_the_others():
    features = [feature("origin", "a", travellers=11), feature("origin", "b")]
    assert embedded(page_of(features, []))["origin"]["travellers"] == [11, None]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"axis": "route"}, "'axis'"),
        ({"trips": float("nan")}, "'trips'"),
        ({"trips": -1}, "'trips'"),
        ({"tiles": "many"}, "'tiles'"),
        ({"area_km2": float("nan")}, "'area_km2'"),
    ],
)
def test_a_zone_the_map_cannot_use_is_refused(change, says):
    unusable = feature("origin", "a")
    unusable["properties"].update(change)
    with pytest.raises(InputError, match=says):
        page_of([unusable], [])


def test_zones_of_unknown_area_are_drawn_by_their_number_of_tiles():
    features = [feature("origin", f"of {tiles}", area_km2=None, tiles=tiles) for tiles in (3, 20, 7)]
    table = embedded(page_of(features, []))["origin"]
    assert table["zone"] == ["of 20", "of 7", "of 3"]
    assert table["area_km2"] == [None] * 3
    assert all(table["outline"])


def test_a_zone_without_an_outline_is_listed_and_not_drawn():
    features = [feature("origin", "a"), {**feature("origin", "b"), "geometry": None}]
    table = embedded(page_of(features, []))["origin"]
    assert dict(zip(table["zone"], map(bool, table["outline"]), strict=True)) == {"a": True, "b": False}


def test_a_zone_without_volume_is_refused():
    lacking = feature("origin", "a")
    del lacking["properties"]["trips"]
    with pytest.raises(InputError, match="volume"):
        page_of([lacking], [])


def test_two_features_for_one_zone_are_refused():
    with pytest.raises(InputError, match="share one id"):
        page_of([feature("origin", "a"), feature("origin", "a")], [])


@pytest.mark.parametrize("flow", [{"origin": "a", "destination": "z"}, {"origin": "a"}])
def test_a_flow_to_nowhere_is_refused_without_naming_it(flow):
    features = [feature(axis, "a") for axis in ("origin", "destination")]
    with pytest.raises(InputError, match="not among the zones") as caught:
        page_of(features, [{**flow, "trips": 12}])
    assert "'z'" not in str(caught.value)
