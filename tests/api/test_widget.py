"""The map in a notebook: a widget where anywidget is, which knows what is chosen on it; else the page."""

from __future__ import annotations

import json
import sys

import pytest

from tripcloak.api import widget
from tripcloak.api.card import Map
from tripcloak.flows.report.map import render_map
from tripcloak.pages.page import asset
from worlds.browser import make_city

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def city_map() -> Map:
    zones, flows = make_city(48.85, 2.35)
    return Map(render_map(title="City", zones=zones, flows=flows, facts={}), "City")


def test_in_a_notebook_it_is_a_widget_and_saved_notebooks_hold_the_page(city_map, monkeypatch):
    pytest.importorskip("anywidget", reason="widgets need anywidget (extra notebook)")
    monkeypatch.setattr(widget, "_in_kernel", lambda: True)
    shown = city_map._repr_mimebundle_()
    assert set(shown) == {VIEW, "text/html", "text/plain"}
    assert city_map.widget.page == city_map.html
    city_map.widget.chosen = {"axis": "origin", "zone": "8a"}
    assert city_map.chosen == {"axis": "origin", "zone": "8a"}


def test_without_anywidget_or_a_notebook_it_is_the_page(city_map, monkeypatch):
    assert set(city_map._repr_mimebundle_()) == {"text/html", "text/plain"}
    monkeypatch.setattr(widget, "_in_kernel", lambda: True)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    widget._kind.cache_clear()
    try:
        other = Map(city_map.html, "City")
        assert other.widget is None
        assert other.chosen == {}
        assert set(other._repr_mimebundle_()) == {"text/html", "text/plain"}
    finally:
        widget._kind.cache_clear()


def test_what_is_chosen_on_the_map_reaches_the_notebook(city_map, browser, tmp_path):
    told = {"page": city_map.html, "title": "City", "height": 700}
    script = (
        f"const told = {json.dumps(told)};"
        "const model = { get: name => told[name], set: (name, value) => told[name] = value,"
        " save_changes: () => document.title = JSON.stringify(told.chosen) };"
        f"const made = URL.createObjectURL(new Blob([{json.dumps(asset('built/widget.js'))}],"
        " {type: 'text/javascript'}));"
        "import(made).then(({default: widget}) => widget.render({ model, el: document.body }));"
    ).replace("</", "<\\/")
    (tmp_path / "notebook.html").write_text(
        f"<!doctype html><body><script>{script}</script>", encoding="utf-8"
    )
    page = browser.new_context(viewport={"width": 1200, "height": 800}, offline=True).new_page()
    page.goto((tmp_path / "notebook.html").as_uri())
    stage = page.frame_locator("iframe[title=City]").locator(".stage").first
    stage.focus()
    stage.press("Enter")
    page.wait_for_function("document.title.includes('origin')")
    chosen = json.loads(page.title())
    assert set(chosen) == {"axis", "zone"}
    assert chosen["zone"] in city_map.html
    stage.press("Escape")
    page.wait_for_function("document.title === '{}'")
    page.context.close()
