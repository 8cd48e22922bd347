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
    noisy = facts.get("differential_privacy")
    promise, limits = _of_noise(noisy) if noisy else _of_groups(facts)
    words = _WORDS | ({"trips": "number of trips, with noise"} if noisy else {})
    columns = "\n".join(f"  - `{name}`: {words[name]}" for name in facts["columns"])
    also = "".join(f"- Also: {words}\n" for words in facts.get("also", []))
    return f"""# Released origin-destination flows

Made with tripcloak {facts["version"]}, method `{facts["method"]}`.

{promise}
- Released flows: {facts["groups"]:,}, between {facts["zones"]["origins"]:,} origin zones and \
{facts["zones"]["destinations"]:,} destination zones
- Released volume: {facts["released"]:,} {facts["volume"]}
- Withheld: {facts["suppressed_words"]}
- {_overlap(facts)}
{also}
## Files
- `flows.parquet`, `flows.csv`: one row per released flow:
  - `origin`, `destination`: zone ids{_boxes(facts) or _unions(facts["hierarchy"])}
{_time(facts["hierarchy"])}{columns}
- `zones.parquet` (GeoParquet), `zones.geojson`: the zones: axis, id, height ({_height(facts)}), number of
  tiles, area, representative point and outline
- `map.html`: the same to look at; works without a network
- `manifest.json`: method, parameters, totals and a SHA-256 of every file

## What this does and does not promise
{limits}"""


def _of_groups(facts: Mapping[str, Any]) -> tuple[str, str]:
    """Return what is promised of groups, in short, and what is not."""
    least = " and ".join(f"{k:,} {unit}" for unit, k in facts["protects"].items())
    if "known_items" in facts:
        return _of_items(least, facts["known_items"], "times" in facts["zones"])
    promise = f"""\
**Every released flow holds at least {least}.** Places were made coarser until that was true;
what could not be made safe was withheld.
"""
    limits = f"""\
A reader who knows where somebody lives and works cannot find a flow here that holds fewer than
{least}. The promise is about this release alone: it does not cover comparing it with another
release of the same people, and it does not hide that something is true of everybody in a group.
"""
    return promise, limits


def _of_items(least: str, known: int, timed: bool) -> tuple[str, str]:
    """Return what is promised to readers who know some items of a trip only, and what is not."""
    items = "origin, destination and time" if timed else "origin and destination"
    shared = {1: f"one of {items}", 2: f"two of {items}"}[known]
    promise = f"""\
**All released flows together that share {shared} hold at least {least}.**
A single flow may hold fewer, down to one person. Places were made coarser until that was true;
what could not be made safe was withheld.
"""
    limits = f"""\
A reader who knows no more than {shared} of somebody's trip finds at least {least}
who fit. Nothing is promised against a reader who knows more: that reader may find the one trip, and
learn the rest of it. The promise is about this release alone: it does not cover comparing it with
another release of the same people, and it does not hide that something is true of everybody.
"""
    return promise, limits


def _of_noise(noise: Mapping[str, Any]) -> tuple[str, str]:
    """Return what is promised of noisy numbers, in short, and what is not."""
    who, least = noise["unit"], noise.get("threshold", 1)
    chance = f", but for a chance of {noise['delta']:g}" if noise["delta"] else ""
    mechanism = noise["mechanism"]
    how = f"{mechanism[:1].upper()}{mechanism[1:]} (scale {noise['noise_scale']:.4g})"
    promise = f"""\
**The numbers carry noise, so that nobody can tell from them whether any one {who} was in the data.**
{how}; numbers below {least:,} are not published.
No smallest number of people is promised: a flow may stand for one person, or for nobody.
"""
    counted = (
        f"Trips that were counted of every traveller: {noise['contributions']:,} at most."
        if who == "traveller"
        else "A traveller who made several trips is hidden less well than one trip is."
    )
    limits = f"""\
Whatever a reader knows already: leaving any one {who} out of the data would change the odds of
every possible release by a factor of exp({noise["epsilon"]:g}) at most{chance}.
{counted}
This is no k-anonymity. Every further release of the same people adds to what may be learnt of them,
and what is true of everybody is not hidden.
That the data lie in the study area{_named(noise)} counts as known.
"""
    return promise, limits


def _named(noise: Mapping[str, Any]) -> str:
    return f" (zone `{noise['study_area']}`)" if "study_area" in noise else ""


def _overlap(facts: Mapping[str, Any]) -> str:
    """Return whether zones overlap, and why."""
    if "zone_form" in facts:
        return """Zones are boxes, each drawn around the places of its own flows. Boxes of different flows
  overlap, so the flows of a box are not all the trips of the area that it covers."""
    if facts["homogeneous"]:
        return "Origin zones do not overlap each other, and neither do destination zones."
    return "Zones may overlap: a flow is as fine as its own numbers allow."


def _height(facts: Mapping[str, Any]) -> str:
    return "0 for every box" if "zone_form" in facts else "0 = finest"


def _boxes(facts: Mapping[str, Any]) -> str:
    """Return how to read the ids of boxes; nothing where there are none."""
    if "zone_form" not in facts:
        return ""
    return """; `box_48.850000_2.350000_48.861000_2.410000` is the box from latitude 48.85
    and longitude 2.35 to 48.861 and 2.41: it holds the tiles whose centres lie between, and is drawn
    half a tile larger"""


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
