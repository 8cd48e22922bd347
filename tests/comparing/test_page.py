"""The page of a comparison in a real browser: offline, readable, and it does what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripcloak.comparing.files import render_csv, render_markdown
from tripcloak.comparing.page import render_compare
from tripcloak.comparing.rows import MEASURES, Advice, ComparisonRow
from tripcloak.pages.raster import MapFrame
from tripcloak.pages.small_maps import SmallMap, frame_of

FRAME = MapFrame(2.2, 48.8, 2.4, 48.9, 80, 60)
FACTS = {"Input": "trips<1>.csv"}
# Suppression and loss of some methods of one real city: many close together at the limit.
FOUND = {
    "twincut": (0.1, 77.4, True),
    "nestedcut": (0.09999, 59.4, False),
    "productcut": (0.1, 48.9, False),
    "atg-dual": (0.1, 90.31, False),
    "quadtree-knapsack": (0.09998, 90.309, False),
    "atg-soft": (0.0758, 111.9, False),
    "odkanon": (0.014, 11313.4, True),
    "mondrian": (0.0, 678.0, False),
}


def some_rows(k: float = 10) -> list[ComparisonRow]:
    rows = []
    for number, (name, (suppressed, loss, shared)) in enumerate(FOUND.items()):
        measures = {**dict.fromkeys(MEASURES, 0.5), "S": suppressed, "G": loss, "GDM_mean": 100.0 + loss / 10}
        told = {"k": k, "unit": "travellers", "limit": 0.1, "people": "travellers", "safe": True}
        numbers = {"groups": 100 + number, "origins": 10, "destinations": 20, "smallest": 10.0, "cpu_s": 1.5}
        rows.append(ComparisonRow(method=name, shared=shared, measures=measures, **told, **numbers))
    noisy = replace(rows[0], method="laplace", k=None, limit=None, safe=None, promise="differential privacy")
    late = ComparisonRow(method="glove", k=k, unit="travellers", limit=0.1, reason="took <b>too</b> long")
    return [*rows, noisy, late]


def a_map(seed: int) -> SmallMap:
    shades = np.random.default_rng(seed).integers(60, 140, (60, 80)).astype(np.uint8)
    return SmallMap.of(shades, "M3 3l20 0 0 20-20 0z", seed % 2)


def page_of(rows: list[ComparisonRow], **changes: Any) -> str:
    maps = [a_map(i) if row.ran else None for i, row in enumerate(rows)]
    ks = dict.fromkeys(row.k for row in rows if row.k is not None)
    advice = [Advice(k, 0.1, "twincut", f"Use twincut at k = {k}.", ("Because <it> is.",)) for k in ks]
    given = {"title": "Which <method>?", "question": "How?", "facts": FACTS, "advice": advice, "maps": maps}
    return render_compare(records=[row.record() for row in rows], frame=FRAME, **given | changes)


@pytest.fixture
def look(browser: Any, tmp_path: Path) -> Any:
    """Opens a page from disk; afterwards nothing may have been fetched or gone wrong."""
    pages, wrong = [], []

    def opened(text: str, **options: Any) -> Any:
        path = tmp_path / f"{len(pages)}.html"
        path.write_text(text, encoding="utf-8")
        page = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **options}).new_page()
        page.on("request", lambda r: r.url.startswith(("file:", "data:")) or wrong.append(r.url))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield opened
    assert wrong == []
    for page in pages:
        page.context.close()


def test_the_page_says_all_of_it_and_nothing_can_break_out(look):
    page = look(page_of(some_rows()))
    assert page.title() == "Which <method>?"
    words = page.locator("body").inner_text()
    for part in ("Internal, not for publication", "Use twincut", "Because <it> is.", "trips<1>.csv"):
        assert part in words
    assert page.locator(".failed dd").inner_text() == "took <b>too</b> long"
    assert page.locator("tbody tr").count() == 9
    assert page.locator("tbody tr.chosen th").inner_text() == "twincut"
    assert page.locator("figure .map").count() == 9
    assert page.locator(".legend dt", has_text="DP: differential privacy").count() == 1


def test_the_loss_is_switched_by_a_button(look):
    page = look(page_of(some_rows()))
    tiles, metres = (page.locator(f".loss[data-loss={key}]") for key in ("G", "GDM_mean"))
    assert (tiles.is_visible(), metres.is_visible()) == (True, False)
    page.get_by_role("button", name="Metres (GDM)").click()
    assert (tiles.is_visible(), metres.is_visible()) == (False, True)
    assert page.get_by_role("button", name="Metres (GDM)").get_attribute("aria-pressed") == "true"


def test_noise_that_lacks_nearly_all_is_named_beside_the_plot(look):
    rows = some_rows()
    rows[-2] = replace(rows[-2], measures={**rows[-2].measures, "S": 0.72})
    page = look(page_of(rows))
    assert "Off the scale: laplace (72 % suppressed)." in page.locator(".plots").inner_text()
    assert page.locator(".plot .noise").count() == 0


def test_headings_sort_the_table_and_empty_cells_stay_last(look):
    rows = some_rows()
    rows[0] = replace(rows[0], measures={**rows[0].measures, "G": None})
    page = look(page_of(rows))
    heading = page.locator("thead th", has_text="G").first
    names = page.locator("tbody th")
    heading.get_by_role("button").click()
    rising = names.all_inner_texts()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert (rising[0], rising[-2], rising[-1]) == ("productcut", "odkanon", "twincut")
    heading.get_by_role("button").click()
    falling = names.all_inner_texts()
    assert (falling[0], falling[-2], falling[-1]) == ("odkanon", "productcut", "twincut")


def test_no_label_of_the_plot_lies_on_another(look):
    """As the browser draws them, with its own idea of how wide a letter is."""
    page = look(page_of(some_rows()))
    for key in ("G", "GDM_mean"):
        page.locator(f"[data-loss={key}][aria-pressed]").click()
        boxes = page.locator(f".loss[data-loss={key}] .name").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect())"
            ".map(box => [box.left, box.top + 3, box.right, box.bottom - 3])"
        )
        assert len(boxes) == 9
        for i, (left, top, right, bottom) in enumerate(boxes):
            for other in boxes[:i]:
                assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_it_fits_the_screen_and_differs_by_scheme_only_in_colour(look, scheme, width):
    page = look(page_of(some_rows()), viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) > 380) == (
        scheme == "light"
    )


def test_a_sweep_has_a_plot_a_k_and_advice_to_unfold(look):
    page = look(page_of([*some_rows(5), *some_rows(20)]))
    assert page.locator(".of-k figcaption").all_inner_texts() == ["k = 5", "k = 20"]
    assert page.locator(".advice details").count() == 2
    assert page.locator("thead th", has_text="k").count() >= 1


def test_the_same_release_at_several_limits_is_one_point(look):
    rows = some_rows()[:2]
    twice = [replace(rows[0], limit=limit) for limit in (0.1, 0.2)]
    page = look(page_of([*twice, *rows[1:]]))
    assert sorted(page.locator(".loss:visible .name").all_text_contents()) == [
        "nestedcut 10 %",
        "twincut 10, 20 %",
    ]


def test_with_nothing_to_show_it_says_why(look):
    late = some_rows()[-1]
    page = look(page_of([late], advice=[Advice(10, 0.1, None, "Nothing to recommend.", ("None came.",))]))
    assert page.locator(".plot, table, .map").count() == 0
    assert "Nothing to recommend." in page.locator(".advice").inner_text()


def test_a_page_of_many_methods_stays_light():
    """Fifteen maps as large as they are drawn, of noise, which packs worse than any zones."""
    big = np.random.default_rng(1).integers(70, 130, (640, 480)).astype(np.uint8)
    blocky = np.kron(big[::8, ::8], np.ones((8, 8), np.uint8))
    row = some_rows()[0]
    rows = [replace(row, method=f"m{i}") for i in range(15)]
    maps = [SmallMap.of(blocky, "M3 3l20 0 0 20-20 0z" * 6000, 0) for _ in rows]
    assert len(page_of(rows, maps=maps)) < 5_000_000


def test_the_frame_leaves_strays_out_and_crosses_the_antimeridian():
    lat, lon = np.full(1001, -17.0), np.append(np.linspace(178.0, 182.0, 1000), 2.0)
    lon = (lon + 180) % 360 - 180
    frame = frame_of(lat + np.linspace(0, 2, 1001), lon, np.ones(1001), 300)
    assert frame is not None
    assert abs(abs(frame.meridian) - 180) < 0.2
    assert 3.5 < frame.east - frame.west < 5
    assert frame_of(np.array([np.nan]), np.array([1.0]), np.ones(1), 300) is None


def test_text_files_tell_every_row_once():
    records = [row.record() for row in some_rows()]
    text = render_markdown("Which?", FACTS, [Advice(10, 0.1, "twincut", "Use it.", ("Why.",))], records)
    assert text.count("| productcut |") == 2
    assert "- **glove**: took &lt;b&gt;too&lt;/b&gt; long" in text
    assert "not for publication" in text
    assert len(render_csv(records).splitlines()) == 11
