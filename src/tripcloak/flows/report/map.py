"""The first map of a release: one offline HTML page drawn from published numbers alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tripcloak.ground.errors import InputError
from tripcloak.pages.outlines import Outline, encode_outlines
from tripcloak.pages.page import render_page, script_safe_json

AXES = ("origin", "destination")
MEASURES = ("trips", "travellers", "population")
VOLUMES = ("trips", "population", "travellers")


def render_map(
    *,
    title: str,
    zones: Mapping[str, Any],
    flows: Sequence[Mapping[str, Any]],
    facts: Mapping[str, str],
    towns: Sequence[Mapping[str, Any]] = (),
    background: Mapping[str, Any] | None = None,
) -> str:
    """The text of ``release/map.html``: origin and destination zones shaded by volume, in one file.

    The page holds its own script, style and data, forbids itself any network access, and embeds
    nothing but the arguments: the named properties of zones and flows, the title and the facts.

    Parameters
    ----------
    title : str
        Heading of the page.
    zones : mapping
        GeoJSON FeatureCollection of Polygons or MultiPolygons in degrees, with the properties
        ``axis`` ("origin" or "destination"), ``zone``, ``height``, ``tiles``, ``area_km2`` (null where
        it is not known), one of ``trips`` or ``population`` as the volume, and optionally
        ``travellers``. A zone whose geometry is null is listed but not drawn.
    flows : sequence of mapping
        Released flows: ``origin`` and ``destination`` (zone ids), ``trips``, and optionally
        ``travellers`` and ``population``.
    facts : mapping of str to str
        What the header says about the release, label to text, in order.
    towns : sequence of mapping
        Towns to label: ``name``, ``lat``, ``lon`` and ``people``.
    background : mapping, optional
        GeoJSON FeatureCollection of lines and polygons to draw behind the zones.

    Raises
    ------
    InputError
        If a zone or flow lacks what the map needs, or a flow names a zone that is not there.

    Examples
    --------
    >>> corners = [[2.0, 48.0], [2.1, 48.0], [2.1, 48.1], [2.0, 48.0]]
    >>> zone = {"zone": "a", "height": 1, "tiles": 7, "area_km2": 41.4, "trips": 12}
    >>> features = [
    ...     {"type": "Feature", "properties": {"axis": axis, **zone},
    ...      "geometry": {"type": "Polygon", "coordinates": [corners]}}
    ...     for axis in ("origin", "destination")
    ... ]
    >>> page = render_map(
    ...     title="One city",
    ...     zones={"type": "FeatureCollection", "features": features},
    ...     flows=[{"origin": "a", "destination": "a", "trips": 12}],
    ...     facts={"Protected": "k = 10 travellers"},
    ... )
    >>> page.startswith("<!doctype html>"), "k = 10 travellers" in page
    (True, True)
    """
    from markupsafe import Markup

    behind = {
        **({"towns": list(towns)} if towns else {}),
        **({} if background is None else {"background": background}),
    }
    return render_page(
        "map",
        script="map",
        title=title,
        facts=facts,
        payload=Markup(script_safe_json(map_payload(zones, flows) | behind)),
    )


def map_payload(zones: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a map embeds: the zones of both axes and the flows between them, in columns."""
    features = _largest_first(zones)
    rows = [feature["properties"] for feature in features]
    zone_volume = _volume(rows, "zone")
    outlines = _outlines(features)
    tables: dict[str, Any] = {}
    for axis in AXES:
        chosen = [i for i, row in enumerate(rows) if row["axis"] == axis]
        tables[axis] = _zone_table([rows[i] for i in chosen], zone_volume)
        tables[axis]["outline"] = [outlines[i] for i in chosen]
    codes = {axis: _codes(tables[axis]["zone"], axis) for axis in AXES}
    flow_volume = zone_volume if all(zone_volume in flow for flow in flows) else _volume(flows, "flow")
    return {
        "volume": {"zone": zone_volume, "flow": flow_volume},
        **tables,
        "flows": flow_table(flows, codes, flow_volume),
    }


def _outlines(features: Sequence[Mapping[str, Any]]) -> list[Outline]:
    """One outline a feature; an empty one, which is not drawn, where a zone has no geometry."""
    outlines: list[Outline] = [[] for _ in features]
    drawn = [i for i, feature in enumerate(features) if feature.get("geometry")]
    shapes = [features[i]["geometry"] for i in drawn]
    areas = [_area(features[i]["properties"]) or 0.0 for i in drawn]
    for i, outline in zip(drawn, encode_outlines(shapes, areas), strict=True):
        outlines[i] = outline
    return outlines


def _largest_first(zones: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The features in the order they are drawn, so that small zones stay visible on large ones."""
    features = list(zones.get("features", ()))
    for feature in features:
        row = feature.get("properties") or {}
        if row.get("axis") not in AXES or "zone" not in row:
            raise InputError(
                "Every zone needs the properties 'axis' (origin or destination) and 'zone' (its id)."
            )
    return sorted(features, key=lambda feature: _from_the_largest(feature["properties"]))


def _from_the_largest(row: Mapping[str, Any]) -> tuple[float, float, str]:
    """What to sort zones by: their area, or their number of tiles where the area is not known."""
    return -(_area(row) or 0.0), -_number(row, "tiles"), str(row["zone"])


def _volume(rows: Sequence[Mapping[str, Any]], what: str) -> str:
    for name in VOLUMES:
        if all(name in row for row in rows):
            return name
    raise InputError(f"Every {what} needs a volume: give all of them 'trips', or all of them 'population'.")


def _zone_table(rows: Sequence[Mapping[str, Any]], volume: str) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = {"zone": [str(row["zone"]) for row in rows]}
    if any(row.get("name") for row in rows):
        table["name"] = [str(row.get("name") or row["zone"]) for row in rows]
    table["height"] = [int(_number(row, "height")) for row in rows]
    table["tiles"] = [int(_number(row, "tiles")) for row in rows]
    areas = [_area(row) for row in rows]
    table["area_km2"] = [None if area is None else float(f"{area:.5g}") for area in areas]
    return table | _measure_columns(rows, volume)


def _measure_columns(rows: Sequence[Mapping[str, Any]], volume: str) -> dict[str, list[Any]]:
    """One column per measure that is given; a figure that only some rows have is null elsewhere."""
    present = [name for name in MEASURES if name == volume or any(row.get(name) is not None for row in rows)]
    return {
        name: [
            _figure(_number(row, name)) if name == volume or row.get(name) is not None else None
            for row in rows
        ]
        for name in present
    }


def _codes(ids: Sequence[str], axis: str) -> dict[str, int]:
    codes = {zone: code for code, zone in enumerate(ids)}
    if len(codes) != len(ids):
        raise InputError(f"Two {axis} zones share one id: give one feature per zone and axis.")
    return codes


def flow_table(
    flows: Sequence[Mapping[str, Any]], codes: Mapping[str, Mapping[str, int]], volume: str
) -> dict[str, list[Any]]:
    """Flows in columns, with the codes of their zones."""
    try:
        coded = sorted(
            (
                (codes["origin"][str(f["origin"])], codes["destination"][str(f["destination"])], f)
                for f in flows
            ),
            key=lambda row: row[:2],
        )
    except KeyError:
        raise InputError(
            "A flow lacks an origin or destination, or names one that is not among the zones of that axis."
        ) from None
    table: dict[str, list[Any]] = {
        "origin": [origin for origin, _, _ in coded],
        "destination": [destination for _, destination, _ in coded],
    }
    return table | _measure_columns([flow for _, _, flow in coded], volume)


def _area(row: Mapping[str, Any]) -> float | None:
    """The area, None where the release does not know it: zones given as points have none."""
    return None if row.get("area_km2") is None else _number(row, "area_km2")


def _number(row: Mapping[str, Any], name: str) -> float:
    try:
        number = float(row[name])
    except (KeyError, TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise InputError(f"'{name}' must be a number of at least 0 wherever the map needs it.")
    return number


def _figure(number: float) -> int | float:
    return int(number) if number.is_integer() else round(number, 3)
