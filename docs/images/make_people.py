"""Draws the pictures of docs/people.md. Needs Chromium, and the folder in which the page's commands were run.

    python docs/images/make_people.py FOLDER

people-exposed.svg, people-zones.svg and people-hours.svg are drawn; people-fairness.png and
people-profiles.png are taken from the pages that the commands wrote.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright
from pyarrow import parquet

from tripcloak import TripSource, TwinCut, Zoning, read_matrix
from tripcloak.fairness.exposure import TARGETS, Thresholds
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release

HERE = Path(__file__).parent
SIDE, GAP, TOP = 270, 56, 62
INK, QUIET, LINE, BAD = "#1b2733", "#5b6875", "#1d4e89", "#c2410c"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CENTRE, REACH = (48.758, 18.303), 0.24
LEAST, MOST = 6e3, (2e3, 3e7)
"""What the scatter shows: population from here on, and up to so many travellers and so much population."""


def main(folder: Path) -> None:
    """Write all pictures beside this script."""
    source = TripSource(paths=(str(folder / "survey.parquet"),))
    matrix = read_matrix(source, Zoning(spec="h3:10")).trips.matrix
    assert matrix.represented is not None
    thresholds = Thresholds(k=10, unit="travellers", population=np.ceil(10 * matrix.represented.mean))
    releases = [TwinCut(promise=thresholds.promise(target)).anonymise(matrix) for target in TARGETS]
    width = 3 * SIDE + 4 * GAP
    _write("people-exposed", width, SIDE + TOP + 70, _exposed(releases, thresholds))
    _write("people-zones", width, SIDE + TOP + 24, _zones(matrix, releases))
    _write("people-hours", 1000, 380, _hours(folder))
    _take(folder)


def _exposed(releases: Sequence[Release], thresholds: Thresholds) -> Iterator[str]:
    """Yield one panel a target: every released flow by its travellers and its population."""
    needs = (thresholds.k, thresholds.population)
    for panel, (target, release) in enumerate(zip(TARGETS, releases, strict=True)):
        left = GAP + panel * (SIDE + GAP)
        people, population = (np.asarray(release.support(unit)) for unit in ("travellers", "population"))
        x = left + SIDE * np.log(people) / np.log(MOST[0])
        across, up = left + SIDE * np.log(needs[0]) / np.log(MOST[0]), _height(needs[1])
        bad = (people < needs[0]) | (population < needs[1])
        yield from _words(left, f"Protecting {target}", f"{release.n_groups:,} flows, {bad.sum()} exposed")
        yield _frame(left)
        for colour, some in ((LINE, ~bad), (BAD, bad)):
            dots = "".join(
                f'<circle cx="{a:.0f}" cy="{b:.0f}" r="2.2"/>'
                for a, b in zip(x[some], _height(population[some]), strict=True)
            )
            yield f'<g fill="{colour}" fill-opacity="0.45">{dots}</g>'
        yield _stroke(across, TOP, across, TOP + SIDE)
        yield _stroke(left, up, left + SIDE, up)
        yield _text(across, TOP + SIDE + 18, f"{needs[0]:.0f} travellers", "middle")
        yield _text(left + SIDE, TOP + SIDE + 18, f"{MOST[0]:,.0f}", "end")
        yield _text(left + SIDE - 6, up + 16, f"{needs[1]:,.0f} population", "end")
    yield _text(GAP, TOP + SIDE + 44, "One dot a released flow: travellers to the right, population upwards.")


def _height(population: Any) -> Any:
    return TOP + SIDE * (1 - np.log(population / LEAST) / np.log(MOST[1] / LEAST))


def _zones(matrix: ODMatrix, releases: Sequence[Release]) -> Iterator[str]:
    """Yield one panel a target: the released origin zones around the centre, shaded by trips a tile."""
    zones = matrix.origins.zones
    for panel, (target, release) in enumerate(zip(TARGETS, releases, strict=True)):
        left = GAP + panel * (SIDE + GAP)
        used = np.unique(release.group_origin)
        yield from _words(left, f"Protecting {target}", f"{len(used)} origin zones")
        inside = f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}"/>'
        yield f'<clipPath id="c{panel}">{inside}</clipPath>'
        yield _frame(left)
        trips = np.bincount(release.group_origin, release.trips, minlength=len(zones))
        thick = np.log1p(1e3 * trips / zones.tiles)
        yield f'<g clip-path="url(#c{panel})" stroke="{LINE}" stroke-width="0.7">'
        # Coarse zones first, so that fine ones among them are seen.
        for zone in used[np.argsort(-zones.tiles[used], kind="stable")]:
            shape = zones.outline(int(zone))
            assert shape is not None
            points = " ".join(f"{x:.0f},{y:.0f}" for x, y in _placed(left, shape["coordinates"][0]))
            yield f'<polygon points="{points}" fill="{_shade(thick[zone] / thick.max())}"/>'
        yield "</g>"


def _shade(share: float) -> str:
    pale, dark = (238, 244, 251), (74, 120, 178)
    return "#" + "".join(f"{round(a + (b - a) * share**2):02x}" for a, b in zip(pale, dark, strict=True))


def _placed(left: int, ring: Sequence[Sequence[float]]) -> Iterator[tuple[float, float]]:
    wide = REACH / np.cos(np.radians(CENTRE[0]))
    for lon, lat in ring:
        x = left + SIDE * (0.5 + (lon - CENTRE[1]) / wide / 2)
        y = TOP + SIDE * (0.5 - (lat - CENTRE[0]) / REACH / 2)
        # Far away is as good as very far away, and shorter to write.
        yield float(np.clip(x, -2e3, 4e3)), float(np.clip(y, -2e3, 3e3))


def _hours(folder: Path) -> Iterator[str]:
    """Yield the week by the hour: released and withheld trips, and how large released zones are."""
    groups = parquet.read_table(folder / "hours" / "private" / "groups.parquet").to_pydict()
    zones = parquet.read_table(folder / "hours" / "release" / "zones.parquet").to_pydict()
    area = {(a, z): s for a, z, s in zip(zones["axis"], zones["zone"], zones["area_km2"], strict=True)}
    trips, kept, across = np.zeros(168), np.zeros(168), np.zeros(168)
    ends = (groups["released_origin"], groups["released_destination"])
    for time, n, origin, destination in zip(groups["time"], groups["trips"], *ends, strict=True):
        hour = 24 * (int(time[0]) - 1) + int(time[-2:])
        trips[hour] += n
        if origin is not None:
            kept[hour] += n
            mean = (area["origin", origin] + area["destination", destination]) / 2
            across[hour] += n * np.sqrt(mean)
    across = np.divide(across, kept, out=np.zeros(168), where=kept > 0)
    left, step, foot = 60, 5.4, 200
    yield from _words(
        left, "One matrix per hour, a week folded", "released trips, and those withheld above them"
    )
    for hour in range(168):
        x = left + hour * step
        for colour, low, high in ((LINE, 0, kept[hour]), (BAD, kept[hour], trips[hour])):
            if high > low:
                top, bottom = (foot - 130 * v / trips.max() for v in (high, low))
                yield _bar(x, top, step - 0.8, bottom - top, colour)
    yield _text(left, foot + 34, "a square as large as a released zone, its side in km, mean over trips")
    for hour in range(168):
        if across[hour] > 0:
            high = 90 * across[hour] / across.max()
            yield _bar(left + hour * step, foot + 140 - high, step - 0.8, high, "#64748b")
    for day, name in enumerate(DAYS):
        x = left + 24 * day * step
        for top, bottom in ((60, foot), (foot + 44, foot + 140)):
            yield f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#cbd5e1"/>'
        yield _text(x + 12 * step, foot + 162, name, "middle")
    yield _text(left - 8, foot - 122, f"{trips.max():,.0f}", "end")
    yield _text(left - 8, foot + 58, f"{across.max():,.0f}", "end")


def _take(folder: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for page_of, name in (("by-age/fairness.html", "fairness"), ("rebuilt/profiles.html", "profiles")):
            page = browser.new_page(viewport={"width": 1000, "height": 400})
            page.goto((folder / page_of).resolve().as_uri())
            page.screenshot(path=HERE / f"people-{name}.png", full_page=True)
        browser.close()


def _write(name: str, width: int, height: int, parts: Iterator[str]) -> None:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="13">'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    )
    (HERE / f"{name}.svg").write_text("\n".join([head, *parts, "</svg>", ""]), encoding="utf-8")


def _words(left: float, title: str, words: str) -> list[str]:
    bold = f'<text x="{left}" y="26" font-weight="600" font-size="15" fill="{INK}">{title}</text>'
    return [bold, _text(left, 46, words)]


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{QUIET}" text-anchor="{anchor}">{words}</text>'


def _frame(left: float) -> str:
    return f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="#f8fafc" stroke="#aab4be"/>'


def _stroke(x: float, y: float, to_x: float, to_y: float) -> str:
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
    return f'<line {ends} stroke="{INK}" stroke-dasharray="4 3"/>'


def _bar(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'


if __name__ == "__main__":
    main(Path(sys.argv[1]))
