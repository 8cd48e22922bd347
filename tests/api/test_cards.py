"""Cards in a real browser: the map in its frame works, asks for nothing, and follows light and dark."""

from __future__ import annotations

from typing import Any

import pytest

import tripcloak as tc


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 420])
@pytest.mark.parametrize("kind", ["flows", "trajectories"])
def test_a_card_shows_the_map_and_fits(
    kind: str,
    width: int,
    scheme: str,
    browser: Any,
    release: tc.ReleasedFlows,
    tracks: tc.ReleasedTrajectories,
) -> None:
    shown = (release if kind == "flows" else tracks)._repr_html_()
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_content(f"<!doctype html><meta charset=utf-8><body>{shown}")
    frame = page.frame_locator(".tripcloak-card iframe")
    frame.locator(".stage").first.wait_for(state="visible")
    # The card says what the head of the map would say again.
    assert not frame.locator("header").is_visible()
    assert frame.locator(".legend .caption").first.inner_text()
    card = page.locator(".tripcloak-card").bounding_box()
    assert card["x"] + card["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.locator(".tripcloak-card").evaluate("card => getComputedStyle(card).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(16, 22, 29)")
    assert [url for url in asked if not url.startswith(("about:", "data:"))] == []
    assert complaints == []
    page.context.close()
