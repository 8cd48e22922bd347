"""The README that travels with a release, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

from tripcloak.flows.report.opening import how_to_open
from tripcloak.flows.report.plain import area_words
from tripcloak.flows.report.totals import tables_files, tables_words
from tripcloak.ground.folders import BACKGROUND
from tripcloak.ground.signatures import FOR_READERS
from tripcloak.pages.citing import how_to_cite, title_of
from tripcloak.pages.markdown import shown
from tripcloak.promises import Promise
from tripcloak.promises.counted import ones_of

_WORDS = {
    "trips": "number of trips",
    "population": "population the trips stand for, rounded to whole people",
}


def render_readme(facts: Mapping[str, Any]) -> str:
    """Return the text of ``release/README.md`` for a manifest."""
    promise = Promise.from_manifest(facts["promise"])
    short, covers, limits = promise.in_full()
    words = _WORDS | {"travellers": f"number of different {ones_of(promise.id_is).several} that made them"}
    words |= {"trips": "number of trips, with noise"} if promise.noisy else {}
    words |= {} if promise.rounding is None else {"trips": "number of trips, rounded"}
    columns = "\n".join(f"  - `{name}`: {words[name]}{_step(facts, name)}" for name in facts["columns"])
    counted = "".join(f"- Counted are {known}\n" for known in facts["counted"].values())
    also = "".join(f"- Also: {words}\n" for words in promise.further())
    return f"""# {shown(title_of(facts))}

Made with tripcloak {facts["version"]}, method `{facts["method"]}`.

{short}
{_plain(facts)}{counted}\
- Released flows: {facts["groups"]:,}, between {facts["zones"]["origins"]:,} origin zones and \
{facts["zones"]["destinations"]:,} destination zones
- Released volume: {facts["released"]:,} {facts["volume"]}
{_largest(facts)}\
- Withheld: {facts["withheld"]["words"]}
- {_overlap(facts)}
{_kept(facts)}{_during(facts)}{also}
## Files
- `flows.parquet`, `flows.csv`: one row per released flow:
  - `origin`, `destination`: zone ids{_boxes(facts) or _unions(facts["hierarchy"])}
{_time(facts["hierarchy"])}{columns}
  - `origin_lat`, `origin_lon`, `destination_lat`, `destination_lon`: the representative points of both
    zones, in degrees; empty where a zone has no place
{_names(facts)}{_beside(facts)}\
- `lines.parquet` (GeoParquet): the same flows as lines from point to point, for map tools
- `zones.parquet` (GeoParquet), `zones.geojson`: the zones: axis, id, height ({_height(facts)}), number of
  tiles, area, representative point and outline{_outlines(facts)}
{tables_files(facts)}\
- `map.html`: the same to look at; works without a network
{_background(facts)}\
- `manifest.json`: method, parameters, totals and a SHA-256 of every file
{FOR_READERS}

{how_to_open(facts)}
{tables_words(facts)}\
{how_to_cite(facts)}
## What this does and does not promise
{covers}{"".join(limits)}"""


def _background(facts: Mapping[str, Any]) -> str:
    return f"- `{BACKGROUND}`: {facts['background']}\n" if "background" in facts else ""


def kept_words(facts: Mapping[str, Any]) -> str:
    """Return that zones were taken over, and from where."""
    return (
        "zones were not chosen from these trips: they are those of the release or series whose manifest.json "
        f"or zones.json has the SHA-256 {facts['parameters']['zones_from']}"
    )


def _kept(facts: Mapping[str, Any]) -> str:
    """Return where zones are from that were taken over; nothing where they were not."""
    if "zones_from" not in facts["parameters"]:
        return ""
    words = kept_words(facts)
    return fill(f"{words[:1].upper()}{words[1:]}", 110, initial_indent="- ", subsequent_indent="  ") + "\n"


def _during(facts: Mapping[str, Any]) -> str:
    """Return the period that a release is about, where it is about one only."""
    return f"- Trips that began in {facts['during']}, and no others\n" if "during" in facts else ""


def _plain(facts: Mapping[str, Any]) -> str:
    """Return first what everybody asks: how coarse it is, and how much better it could have been."""
    lines = []
    if facts["groups"] == 1:
        lines.append("One flow is left: all that is released is one number, of trips between two zones")
    if facts["typical_zone_km2"] is not None:
        size, volume = area_words(facts["typical_zone_km2"]), facts["volume"]
        lines.append(f"A typical zone covers {size}: half of the {volume} begin in one as small")
    if facts["bound"] is not None:
        percent = facts["bound"]["within_percent"]
        within = f"within {percent:,} % of " if percent else ""
        lines.append(f"Proven: {within}the least loss that was possible")
    return "".join(f"- {line}\n" for line in lines)


def _largest(facts: Mapping[str, Any]) -> str:
    """Return what is said of travellers who make most of a flow; nothing where nothing is."""
    words = facts.get("largest_parts")
    return "" if words is None else f"- The busiest: {words}\n"


def _step(facts: Mapping[str, Any], name: str) -> str:
    """Return how a column is rounded; nothing where it is exact."""
    step = facts.get("steps", {}).get(name)
    return "" if step is None else f", rounded down in steps of {step:,}"


def _names(facts: Mapping[str, Any]) -> str:
    """Return what names are, and where they are from; nothing where there are none."""
    if "names" not in facts:
        return ""
    made = f"{facts['names']['attribution']}, {facts['names']['source']}"
    return f"""  - `origin_name`, `destination_name`: what both zones are called, by the nearest place and the
    direction from it, or by their members; they follow from the zones alone ({made})
"""


def _beside(facts: Mapping[str, Any]) -> str:
    """Return what columns beside each other tell; nothing where there is one alone."""
    words = facts.get("columns_words")
    if words is None:
        return ""
    told = f"{words[:1].upper()}{words[1:]}."
    return (
        fill(
            told if facts.get("steps") or len(facts["columns"]) == 1 else f"**{told}**",
            110,
            initial_indent="  - ",
            subsequent_indent="    ",
        )
        + "\n"
    )


def _overlap(facts: Mapping[str, Any]) -> str:
    """Return whether zones overlap, and why."""
    if "zone_form" in facts:
        whose = "flows of the earlier release" if "zones_from" in facts["parameters"] else "its own flows"
        return f"""Zones are boxes, each drawn around the places of {whose}. Boxes of different flows
  overlap, so the flows of a box are not all the trips of the area that it covers.
- {_grid(facts)}"""
    if facts["homogeneous"]:
        return "Origin zones do not overlap each other, and neither do destination zones."
    return "Zones may overlap: a flow is as fine as its own numbers allow."


def _outlines(facts: Mapping[str, Any]) -> str:
    """Return what the outline of a zone of H3 is: not that of the cell; nothing for other zones."""
    if "zone_form" in facts or not str(facts["hierarchy"].get("spec")).startswith("h3:"):
        return ""
    return """: the border of its finest
  hexagons, which reach a little over the edges of the larger one that the id names"""


def _height(facts: Mapping[str, Any]) -> str:
    return "0 for every box" if "zone_form" in facts else "0 = finest"


def _boxes(facts: Mapping[str, Any]) -> str:
    """Return how to read the ids of boxes; nothing where there are none."""
    if "zone_form" not in facts:
        return ""
    return """; `box_48.850000_2.350000_48.860000_2.410000` is the box from latitude 48.85
    and longitude 2.35 to 48.86 and 2.41: all its trip ends lie between; it holds the tiles whose
    centres lie between"""


def _grid(facts: Mapping[str, Any]) -> str:
    """Return which lines the edges of boxes lie on."""
    steps = {f"{step:g}" for step in facts["box_grid_degrees"].values()}
    tiles = (
        ""
        if facts["hierarchy"]["spec"].startswith(("h3:", "quadtree:"))
        else ", or 2, 5, 10, ... times as much, so that every edge fits three tiles or more"
    )
    return f"""Edges of boxes lie on a grid that follows from the tiles and not from the data: steps of
  {" and ".join(sorted(steps))} degrees{tiles}; of longitude more towards the poles. So an edge does not tell
  in which tile a trip began or ended."""


def _unions(hierarchy: Mapping[str, Any]) -> str:
    """Return how to read the ids of unions; nothing where there are none."""
    if "/binary" not in str(hierarchy.get("spec")).lower():
        return ""
    return """, H3 cells; `8928308280fffff/0236` is the union of the children 0, 2, 3
    and 6 of cell 8928308280fffff, the numbers being H3's digits"""


def _time(hierarchy: Mapping[str, Any]) -> str:
    """Return the line about the column of time; nothing where there is none."""
    if "time_slot_minutes" not in hierarchy:
        return ""
    minutes, clock = (
        hierarchy["time_slot_minutes"],
        hierarchy.get("timezone", "the input, whose zone is unknown"),
    )
    folded = _FOLDED.get(hierarchy.get("fold", ""), "")
    longer = (
        "every slot was anonymised on its own, with zones of its own"
        if hierarchy.get("slots") == "apart"
        else "or a longer time where that held too few; flows never overlap"
    )
    return f"""  - `time`: when the trips began, by the clock of {clock}: a slot of
    {minutes} minutes{folded}, {longer}
"""


_FOLDED = {
    "day": " of the day, all days together",
    "week": " of the week, all weeks together",
    "2weeks": " of two weeks (A and B), all such pairs together",
}
