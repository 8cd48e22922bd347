"""The report: one file that asks for nothing, the same as JSON, nothing private in public, and drawn."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from markupsafe import escape

from tripcloak._version import __version__
from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.methods import ODkAnon
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.pages.page import asset
from tripcloak.promises import KAnonymity
from tripcloak.records.source import TripSource
from tripcloak.reporting.content import Dressing, report_content
from tripcloak.reporting.writing import LICENCES, render_report, write_report
from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource
from worlds.browser import unbounded
from worlds.fixes import some_fixes
from worlds.released_flows import raw_trips
from worlds.trips import write_csv

SOFTWARE = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release of flows with its private part."""
    from pyarrow import parquet

    folder = tmp_path_factory.mktemp("flows")
    raw = raw_trips(2000).select(["o_lat", "o_lon", "d_lat", "d_lon", "person"])
    names = ["start_lat", "start_lon", "end_lat", "end_lon", "person_id"]
    parquet.write_table(raw.rename_columns(names), folder / "trips.parquet")
    request = AnonymisationRequest(
        source=TripSource(paths=(str(folder / "trips.parquet"),)),
        method=ODkAnon(promise=KAnonymity(k=10, unit="travellers")),
        zoning=Zoning(spec="h3:8"),
        out=folder / "out",
    )
    anonymise(request)
    return folder / "out"


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """A release of trajectories."""
    folder = tmp_path_factory.mktemp("trajectories")
    fixes = write_csv(folder / "fixes.csv", some_fixes(14))
    method = find_trajectory_method("k-scale")(k=3)
    source = TrajectorySource(paths=(str(fixes),))
    anonymise_trajectories(TrajectoryRequest(source=source, method=method, out=folder / "out"))
    return folder / "out"


def test_a_report_is_one_file_that_asks_for_nothing_and_the_same_as_json(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "out")
    written = write_report(folder, Dressing(title="A <b>city</b>", subtitle="in May"))
    page = written.public.read_text(encoding="utf-8")
    markup = re.sub(r"<script.*?</script>|<style>.*?</style>", "", page, flags=re.S)
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", markup)
    assert "default-src &#39;none&#39;" in page
    assert "A &lt;b&gt;city&lt;/b&gt;" in page
    content = json.loads(written.public.with_suffix(".json").read_text(encoding="utf-8"))
    assert content == json.loads(
        json.dumps(report_content(folder, Dressing(title="A <b>city</b>", subtitle="in May")))
    )
    assert content["verdict"]["good"]
    assert content["verdict"]["sentence"].startswith("Every flow holds at least 10 ")
    assert all(chart["title"] in page for chart in content["charts"])
    assert str(escape(asset(LICENCES))) in page
    with pytest.raises(OutputExistsError):
        write_report(folder, Dressing())


def test_the_public_report_holds_nothing_private(made, tmp_path):
    """It is the same without the private part, to the last byte."""
    alone = tmp_path / "alone"
    shutil.copytree(made / "release", alone / "release")
    assert report_content(alone, Dressing()) == report_content(made, Dressing())
    written = write_report(alone, Dressing())
    assert written.private is None
    private = report_content(made, Dressing(), private=True)
    public = report_content(made, Dressing())
    run = json.loads((made / "private" / "run.json").read_text(encoding="utf-8"))
    assert private["plain"] == run["plain_words"] != public["plain"]
    titles = [one["title"] for one in private["maps"]]
    assert titles == ["Original", "Released zones and flows", "Where suppression fell"]
    assert len(public["maps"]) == 1
    exact = sum(private["maps"][0]["payload"]["flows"]["trips"])
    told = sum(public["maps"][0]["payload"]["flows"]["trips"])
    assert exact > told
    for axis in ("origin", "destination"):
        assert sum(private["maps"][2]["payload"][axis]["trips"]) == exact - told, (
            "what fell is what is missing"
        )
    assert private["private"].startswith("PRIVATE")
    assert private["private"] in render_report(private).replace("&#39;", "'")
    assert public["private"] is None


def test_the_private_report_is_for_its_owner_alone(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "out")
    private = write_report(folder, Dressing()).private
    assert private == folder / "private" / "report.html"
    assert {path.stat().st_mode & 0o777 for path in (private, private.with_suffix(".json"))} == {0o600}


def test_nothing_is_added_to_the_public_part(made, tmp_path):
    with pytest.raises(InputError, match="nothing may be added"):
        write_report(made / "release", Dressing())
    with pytest.raises(OutputExistsError, match="public part"):
        write_report(made / "release", Dressing(), out=made / "release" / "report.html")
    assert write_report(made / "release", Dressing(), out=tmp_path / "r.html").private is None


@pytest.mark.parametrize(
    ("name", "text", "option", "words"),
    [
        ("logo.gif", "GIF89a", "logo", "PNG, JPEG or SVG"),
        ("back.geojson", "{}", "background", "FeatureCollection"),
        ("back.pmtiles", "PMTiles and nothing else", "background", "no vector tiles"),
        (
            "back.geojson",
            '{"features": [{"geometry": {"type": "Point", "coordinates": [1, 2]}}]}',
            "background",
            "lines and polygons",
        ),
    ],
)
def test_bad_dressings_are_refused_in_words(made, tmp_path, name, text, option, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=words):
        report_content(made, Dressing(**{option: tmp_path / name}))
    with pytest.raises(InputError, match="cannot be read"):
        report_content(made, Dressing(**{option: tmp_path / "nowhere"}))


def test_a_touched_release_is_said_to_be_touched(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "out")
    with (folder / "release" / "flows.csv").open("a") as file:
        file.write("x\n")
    verdict = report_content(folder, Dressing())["verdict"]
    assert not verdict["good"]
    assert verdict["sentence"].startswith("TOUCHED")
    assert "made with" not in verdict["sentence"]
    told = (folder / "release" / "manifest.json").read_text(encoding="utf-8")
    other = told.replace(f'"version": "{__version__}"', '"version": "0.0.1"')
    (folder / "release" / "manifest.json").write_text(other, encoding="utf-8")
    sentence = report_content(folder, Dressing())["verdict"]["sentence"]
    assert f"made with tripcloak 0.0.1, and this is {__version__}" in sentence


def test_trajectories_have_a_report_too(followed, tmp_path):
    folder = shutil.copytree(followed, tmp_path / "out")
    written = write_report(folder, Dressing())
    content = json.loads(written.public.with_suffix(".json").read_text(encoding="utf-8"))
    assert content["kind"] == "trajectories"
    assert content["verdict"]["good"]
    assert len(content["charts"]) == 4
    assert content["maps"]
    figures = {one["words"]: one["value"] for one in content["figures"]}
    assert figures["among so many each one hides, at least (k)"] == "3"
    assert figures["is the box of a typical sample"].endswith(" km²")
    private = json.loads(written.private.with_suffix(".json").read_text(encoding="utf-8"))
    assert len(private["measures"]) > len(content["measures"])
    own = [chart["title"] for chart in private["charts"][: -len(content["charts"])]]
    for title in (
        "How far samples were moved",
        "Are home and work still found?",
        "Are people still predictable?",
    ):
        assert title in own


def opened(running, page: Path, complaints: list[str]):
    context = running.new_context(viewport={"width": 1280, "height": 844}, offline=True)
    tab = context.new_page()
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(page.as_uri())
    return tab


def test_without_webgl_the_light_map_is_drawn_and_says_so(made, tmp_path, browser):
    page = tmp_path / "report.html"
    page.write_text(render_report(report_content(made, Dressing(), private=True)), encoding="utf-8")
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True)
    context.add_init_script(
        "HTMLCanvasElement.prototype.getContext = (own => function (kind, ...more) {"
        " return kind.startsWith('webgl') ? null : own.call(this, kind, ...more) })"
        "(HTMLCanvasElement.prototype.getContext)"
    )
    tab = context.new_page()
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(page.as_uri())
    tab.locator(".no-webgl").wait_for()
    assert tab.locator(".map-card .stage.light").count() == 3
    tab.locator(".plot canvas").last.wait_for(state="attached")
    assert tab.locator(".plot canvas").count() == len(
        report_content(made, Dressing(), private=True)["charts"]
    )
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    said = tab.locator(".map-card").nth(1).locator(".said")
    assert "largest flows" in said.inner_text()
    slider = tab.locator(".map-card").nth(1).locator("[name=top]")
    slider.focus()
    before = said.inner_text()
    slider.press("ArrowLeft")
    assert said.inner_text() != before
    assert complaints == []
    context.close()


def test_with_webgl_maps_are_drawn_offline(made, tmp_path, browser):
    page = tmp_path / "report.html"
    page.write_text(render_report(report_content(made, Dressing())), encoding="utf-8")
    complaints: list[str] = []
    with unbounded():
        running = browser.browser_type.launch(executable_path=shutil.which("chromium"), args=list(SOFTWARE))
    tab = opened(running, page, complaints)
    if not tab.evaluate("document.createElement('canvas').getContext('webgl2') !== null"):
        pytest.skip("this Chromium has no WebGL, not even by software")
    tab.locator("html[data-first-map]").wait_for(state="attached")
    tab.locator(".map-card").scroll_into_view_if_needed()
    tab.locator(".maplibregl-canvas").wait_for()
    tab.locator(".stage.light").wait_for(state="detached")
    assert tab.locator(".no-webgl").is_hidden()
    tab.get_by_role("button", name="Destinations").click()
    assert "ending in each zone" in tab.locator(".map-card .caption").inner_text()
    running.close()
    assert complaints == []


def test_many_flows_stay_on_the_plain_canvas_where_no_graphics_card_is(made, tmp_path, browser):
    content = report_content(made, Dressing())
    flows = content["maps"][0]["payload"]["flows"]
    times = 11_000 // len(flows["origin"]) + 1
    content["maps"][0]["payload"]["flows"] = {name: column * times for name, column in flows.items()}
    page = tmp_path / "report.html"
    page.write_text(render_report(content), encoding="utf-8")
    with unbounded():
        running = browser.browser_type.launch(executable_path=shutil.which("chromium"), args=list(SOFTWARE))
    tab = opened(running, page, [])
    if not tab.evaluate("document.createElement('canvas').getContext('webgl2') !== null"):
        pytest.skip("this Chromium has no WebGL, not even by software")
    tab.locator(".plot canvas").last.wait_for(state="attached")
    tab.locator(".map-card").scroll_into_view_if_needed()
    tab.wait_for_timeout(1500)
    assert tab.locator(".stage.light").count() == 1
    assert tab.locator(".maplibregl-canvas").count() == 0
    assert tab.locator(".no-webgl").is_hidden()
    slider = tab.locator("[name=top]")
    slider.focus()
    slider.press("End")
    frame = tab.locator(".frame").bounding_box()
    before = tab.locator(".zones").evaluate("canvas => canvas.toDataURL()")
    tab.mouse.move(frame["x"] + 300, frame["y"] + 200)
    tab.mouse.down()
    tab.mouse.move(frame["x"] + 360, frame["y"] + 230, steps=4)
    tab.mouse.up()
    tab.wait_for_timeout(2000)
    assert tab.locator(".zones").evaluate("canvas => canvas.style.transform") == "", "drawn anew at rest"
    assert tab.locator(".zones").evaluate("canvas => canvas.toDataURL()") != before
    running.close()


def test_on_paper_maps_are_pictures_in_the_colours_of_the_day(made, tmp_path, browser):
    page = tmp_path / "report.html"
    page.write_text(render_report(report_content(made, Dressing(), private=True)), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 844}, color_scheme="dark", offline=True)
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.locator(".plot canvas").last.wait_for(state="attached")
    ground = "getComputedStyle(document.documentElement).getPropertyValue('--ground')"
    night = tab.evaluate(ground)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("img.printed").count() == 3
    corner = """async () => {
      const image = document.querySelector("img.printed");
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
      const pen = canvas.getContext("2d");
      pen.drawImage(image, 0, 0);
      const shades = new Set();
      const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
      for (let at = 0; at < data.length; at += 4) shades.add(data.slice(at, at + 3).join());
      return [...data.slice(0, 3), canvas.width, shades.size];
    }"""
    *dots, wide, shades = tab.evaluate(corner)
    assert min(dots) > 230, "paper is light, whatever the screen is"
    assert wide >= 1900
    assert shades > 20, "zones are on it"
    tab.emulate_media(media="print")
    assert tab.locator("img.printed").first.is_visible()
    widths = "[...document.querySelectorAll('.charts figure')].map(one => one.scrollWidth - one.clientWidth)"
    assert max(tab.evaluate(widths)) <= 0, "charts stay in their frames"
    tab.emulate_media(media="screen")
    assert not tab.locator("img.printed").first.is_visible()
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator("img.printed").count() == 0
    assert tab.evaluate(ground) == night
    context.close()
