"""The README that travels with a release, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    "trips": "number of trips",
    "travellers": "number of different people (or vehicles) who made them",
    "population": "population the trips stand for, rounded to whole people",
}


def render_readme(facts: Mapping[str, Any]) -> str:
    """Return the text of ``release/README.md`` for a manifest."""
    protects = " and ".join(f"{k:,} {unit}" for unit, k in facts["protects"].items())
    columns = "\n".join(f"  - `{name}`: {_WORDS[name]}" for name in facts["columns"])
    shared = (
        "Origin zones do not overlap each other, and neither do destination zones."
        if facts["homogeneous"]
        else "Zones may overlap: a flow is as fine as its own numbers allow."
    )
    also = "".join(f"- Also: {words}\n" for words in facts.get("also", []))
    return f"""# Released origin-destination flows

Made with tripcloak {facts["version"]}, method `{facts["method"]}`.

**Every released flow holds at least {protects}.** Places were made coarser until that was true;
what could not be made safe was withheld.

- Released flows: {facts["groups"]:,}, between {facts["zones"]["origins"]:,} origin zones and \
{facts["zones"]["destinations"]:,} destination zones
- Released volume: {facts["released"]:,} {facts["volume"]}
- Withheld: {facts["suppressed_words"]}
- {shared}
{also}
## Files
- `flows.parquet`, `flows.csv`: one row per released flow:
  - `origin`, `destination`: zone ids{_unions(facts["hierarchy"])}
{_time(facts["hierarchy"])}{columns}
- `zones.parquet` (GeoParquet), `zones.geojson`: the zones: axis, id, height (0 = finest), number of
  tiles, area, representative point and outline
- `map.html`: the same to look at; works without a network
- `manifest.json`: method, parameters, totals and a SHA-256 of every file

## What this does and does not promise
A reader who knows where somebody lives and works cannot find a flow here that holds fewer than
{protects}. The promise is about this release alone: it does not cover comparing it with another
release of the same people, and it does not hide that something is true of everybody in a group.
"""


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
    minutes, clock = hierarchy["time_slot_minutes"], hierarchy["timezone"]
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
