"""The page of a comparison: recommendation, Pareto plot, table and small maps, in one offline file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.comparing.pareto import Kind, Point, off_the_scale, render_plot
from tripcloak.comparing.rows import (
    INTERNAL,
    LOSS,
    OVERLAP,
    RELEASE,
    Advice,
    ComparisonColumn,
    Record,
    asked_columns,
    full_name,
    short,
    written,
)
from tripcloak.pages.page import render_page
from tripcloak.pages.raster import RAMP, MapFrame, density_of, png
from tripcloak.pages.small_maps import SmallMap
from tripcloak.promises import Promise

LOSSES = {
    "G": ("Tiles (G)", "G: tiles in the two zones of a released trip, mean"),
    "GDM_mean": ("Metres (GDM)", "GDM: metres from the true to the released place, mean"),
}
KM_A_DEGREE = 111.32


class PageWords(NamedTuple):
    """What the page says that depends on what is compared.

    Heading and note of the plots, the kinds of marks on them, and remarks by what they are about.
    """

    plots: str
    note: str
    kinds: Mapping[str, str]
    remarks: Mapping[str, str]


WORDS = PageWords(
    plots="Loss against suppression",
    note="Lower and further left is better. The solid line is the front, what no other release beats in "
    "both; the dashed one is the front of shared zones alone. Grey marks are beaten.",
    kinds={
        "shared": "shared zones",
        "overlapping": "zones that overlap from flow to flow",
        "noise": "noise (differential privacy), not judged by k",
        "unsafe": "not safe by the audit",
    },
    remarks={"shared zones, or not": OVERLAP},
)


class Cell(NamedTuple):
    """One cell of the table: what it shows, what it is sorted by, and how it looks."""

    text: str
    value: str
    style: str


def render_compare(
    *,
    title: str,
    question: str,
    facts: Mapping[str, str],
    advice: Sequence[Advice],
    records: Sequence[Record],
    maps: Sequence[SmallMap | None],
    frame: MapFrame | None,
) -> str:
    """The text of ``compare.html``.

    Parameters
    ----------
    title, question, facts
        The head of the page: what is compared, in order to find out what, on which input.
    advice
        What to use, one for every k and limit.
    records
        The rows.
    maps, frame
        One small map a row, None where there is nothing to draw, and what all of them show.
    """
    from markupsafe import Markup

    ran = [record for record in records if record["ran"]]
    columns = (*asked_columns(records), *LOSS, *RELEASE)
    chosen = {(one.k, one.limit): one.method for one in advice}
    return rendered(
        WORDS,
        title=title,
        question=question,
        facts=facts,
        advice=advice,
        losses={key: button for key, (button, _) in LOSSES.items()},
        plots=_plots(ran, chosen),
        columns=columns,
        rows=table_rows(columns, ran, chosen),
        records=records,
        maps=[Markup(part) for part in _maps(records, maps, frame, chosen)],
        scale=Markup(_scale(maps)),
    )


def rendered(
    words: PageWords,
    *,
    records: Sequence[Record],
    plots: Sequence[tuple[str, Mapping[str, str], Sequence[str]]],
    maps: Sequence[str] = (),
    scale: str = "",
    **content: Any,
) -> str:
    """The text of the page, of flows or of trajectories.

    Parameters
    ----------
    words
        What depends on which of them are compared.
    records
        The rows.
    plots
        Of every k what it is, its plots in SVG by the loss, and what is off the scale.
    maps, scale
        Small maps and the legend of their colours, if there are any.
    **content
        What else the template asks for.
    """
    from markupsafe import Markup

    ran = [record for record in records if record["ran"]]
    promises = dict.fromkeys(record["promise"] for record in ran)
    return render_page(
        "compare",
        script="compare",
        internal=INTERNAL,
        words=words,
        plots=[
            (name, {key: Markup(svg) for key, svg in svgs.items()}, left_out)
            for name, svgs, left_out in plots
        ],
        failed=[(full_name(record, records), record["reason"]) for record in records if not record["ran"]],
        notes=[(full_name(record, records), record["note"]) for record in ran if record["note"]],
        promises={_called(promise): Promise.of_kind(promise).meaning for promise in promises},
        maps=maps,
        scale=scale,
        **content,
    )


def _called(promise: str) -> str:
    brief = Promise.of_kind(promise).brief
    return f"{brief}: {promise}" if brief else promise


def table_rows(
    columns: Sequence[ComparisonColumn], ran: Sequence[Record], chosen: Mapping[Any, str | None]
) -> list[tuple[bool, list[Cell]]]:
    """Return the rows of the table, each with whether it is the recommended one."""
    return [
        (_is_chosen(record, chosen), [_cell(column, record, ran) for column in columns]) for record in ran
    ]


def _is_chosen(record: Record, chosen: Mapping[Any, str | None]) -> bool:
    return bool(chosen.get((record["k"], record["suppression_limit"])) == record["method"])


def _cell(column: ComparisonColumn, record: Record, ran: Sequence[Record]) -> Cell:
    value = record[column.key]
    styles = ["text" if column.form == "text" else "number"]
    if value is not None and column.better and value == _best(column, record, ran):
        styles.append("best")
    if column.key == "audit":
        styles.append({"safe": "safe", "NOT SAFE": "unsafe"}.get(value, "quiet"))
    return Cell(short(column, value), "" if value is None else f"{value}", " ".join(styles))


def _best(column: ComparisonColumn, record: Record, ran: Sequence[Record]) -> Any:
    """Return the best value of a column among safe rows of the same k and limit."""
    peers = [
        other[column.key]
        for other in ran
        if other["audit"] == "safe"
        and other[column.key] is not None
        and all(other[key] == record[key] for key in ("k", "suppression_limit"))
    ]
    return (max if column.better == "higher" else min)(peers, default=None) if len(peers) > 1 else None


def _plots(
    ran: Sequence[Record], chosen: Mapping[tuple[float, float | None], str | None]
) -> list[tuple[str, dict[str, str], list[str]]]:
    """Return one plot a k and loss, and words on the releases that are off the scale."""
    plots = []
    for k in dict.fromkeys(k for k, _ in chosen):
        own = [record for record in ran if record["k"] in (k, None)]
        limits = [limit for at, limit in chosen if at == k and limit is not None]
        svgs, left_out = {}, dict[str, None]()
        for key, (_, words) in LOSSES.items():
            points = _points([record for record in own if record[key]], key, chosen)
            far = off_the_scale(points, limits)
            left_out |= {f"{point.name} ({100 * point.suppressed:.0f} % suppressed)": None for point in far}
            if near := [point for point in points if point not in far]:
                svgs[key] = render_plot(near, limits, words)
        if svgs:
            plots.append((f"k = {k:,.0f}", svgs, list(left_out)))
    return plots


def _points(
    own: Sequence[Record], key: str, chosen: Mapping[tuple[float, float | None], str | None]
) -> list[Point]:
    """Return one point a release; a method that gives the same at several limits has one for all of them."""
    together: dict[tuple[Any, ...], list[Record]] = {}
    for record in own:
        together.setdefault((record["method"], record["S"], record[key]), []).append(record)
    several = len({record["suppression_limit"] for record in own} - {None}) > 1
    return [_point(records, key, chosen, several=several) for records in together.values()]


def _point(
    records: Sequence[Record],
    key: str,
    chosen: Mapping[tuple[float, float | None], str | None],
    *,
    several: bool,
) -> Point:
    first = records[0]
    limits = [
        f"{100 * one['suppression_limit']:g}" for one in records if one["suppression_limit"] is not None
    ]
    name = first["method"] + (f" {', '.join(limits)} %" if several and limits else "")
    loss = next(column for column in LOSS if column.key == key)
    words = f"{loss.name} {written(loss, first[key])}, {100 * first['S']:.2f} % suppressed"
    is_chosen = any(_is_chosen(one, chosen) for one in records)
    return Point(name, first["S"], first[key], _kind(first), words, is_chosen)


def _kind(record: Record) -> Kind:
    if Promise.of_kind(record["promise"]).noisy:
        return "noise"
    if record["audit"] != "safe":
        return "unsafe"
    return "shared" if record["shared_zones"] else "overlapping"


def _maps(
    records: Sequence[Record],
    maps: Sequence[SmallMap | None],
    frame: MapFrame | None,
    chosen: Mapping[tuple[float, float | None], str | None],
) -> list[str]:
    least, most = _range(maps)
    drawn = []
    for record, small in zip(records, maps, strict=True):
        if small is None or frame is None:
            continue
        drawn.append(
            f'<figure class="{"chosen" if _is_chosen(record, chosen) else "other"}">'
            f"<figcaption><b>{escape(full_name(record, records))}</b> {_zones(record)}</figcaption>"
            f'<svg class="map" viewBox="0 0 {small.width} {small.height}" role="img" '
            f'aria-label="Origin zones of {escape(record["method"])}">'
            f'<image width="{small.width}" height="{small.height}" href="{png(small.shades, least, most)}"/>'
            f'<path class="edges" d="{small.outlines}"/>{_scale_bar(frame)}</svg>'
            f"{_left_out(small)}</figure>"
        )
    return drawn


def _zones(record: Record) -> str:
    shared = "shared zones" if record["shared_zones"] else "zones, not shared"
    return f"<span>{record['origin_zones']:,} {shared}</span>"


def _left_out(small: SmallMap) -> str:
    return f"<p>{small.left_out:,} zones of little volume are not drawn</p>" if small.left_out else ""


def _scale_bar(frame: MapFrame) -> str:
    """Return a bar of a round number of kilometres, about a quarter of the map long."""
    squeeze = math.cos(math.radians((frame.south + frame.north) / 2))
    wide = (frame.east - frame.west) * KM_A_DEGREE * squeeze
    power = 10.0 ** math.floor(math.log10(wide / 4))
    km = max(power * digit for digit in (1, 2, 5) if power * digit <= wide / 4)
    x, y, length = frame.width * 0.04, frame.height - frame.width * 0.05, frame.width * km / wide
    bar = f"M{x:.0f} {y - 9:.0f}v9h{length:.0f}v-9"
    size = max(frame.width, frame.height) / 24
    text = f'<text x="{x + length + 8:.0f}" y="{y:.0f}" font-size="{size:.0f}">{km:g} km</text>'
    return f'<path class="under" d="{bar}"/><path class="bar" d="{bar}"/>{text}'


def _range(maps: Sequence[SmallMap | None]) -> tuple[int, int]:
    """Return the shades at the ends of the ramp: all but the few thinnest and thickest pixels of any map."""
    counted: NDArray[Any] = np.zeros(256, dtype=np.int64)
    for small in maps:
        if small is not None:
            counted += np.bincount(small.shades.ravel(), minlength=256)
    counted[0] = 0
    if not counted.any():
        return 1, 255
    upto = np.cumsum(counted) / counted.sum()
    least, most = int(np.searchsorted(upto, 0.01)), int(np.searchsorted(upto, 0.998))
    return least, max(most, least + 1)


def _scale(maps: Sequence[SmallMap | None]) -> str:
    """Return the legend of the maps' colours, or nothing where there is no map."""
    if not any(maps):
        return ""
    least, most = _range(maps)
    low, high = math.log10(density_of(least)), math.log10(density_of(most))
    stops = "".join(
        f'<stop offset="{i / (len(RAMP) - 1):.3f}" stop-color="{colour}"/>' for i, colour in enumerate(RAMP)
    )
    parts = [
        '<svg class="scale" viewBox="0 0 360 44" role="img" aria-label="Released volume per km2">'
        f'<defs><linearGradient id="ramp">{stops}</linearGradient></defs>'
        '<rect class="ramp" x="20" y="4" width="320" height="12" rx="2" fill="url(#ramp)"/>'
    ]
    for power in range(math.ceil(low), math.floor(high) + 1):
        x = 20 + 320 * (power - low) / (high - low)
        parts.append(f'<path class="axis" d="M{x:.1f} 16v5"/>')
        parts.append(f'<text class="tick middle" x="{x:.1f}" y="34">{10.0**power:,g}</text>')
    return "".join([*parts, "</svg>"])
