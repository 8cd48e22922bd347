"""The page and the README of a series, made from the public parts of its releases alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tripcloak.flows.release.tables import flows_over_time, zones_geojson
from tripcloak.flows.report.map import AXES, MEASURES, flow_table, map_payload
from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import public_part, read_manifest
from tripcloak.hierarchy.place_names import MOST_TOWNS
from tripcloak.pages.background import published_background
from tripcloak.pages.markdown import shown
from tripcloak.pages.page import render_page, script_safe_json
from tripcloak.promises import Promise

if TYPE_CHECKING:
    import pyarrow as pa


_CUMULATIVE = """\
- `cumulative.csv`, `cumulative.parquet`: every flow from the first period until each, as the sum of what
  these releases publish; `periods` says in how many of them it is released
"""


class PublishedPeriod(NamedTuple):
    """A release of a series as its readers have it."""

    facts: Mapping[str, Any]
    flows: pa.Table
    zones: list[dict[str, Any]]
    background: dict[str, Any] | None


def series_page(folders: Mapping[str, Path]) -> str:
    """Return the map of a series: the maps of all its periods in one page, with a slider of time.

    Parameters
    ----------
    folders
        Period to the folder of its release, or its public part, in the order of time.
    """
    from markupsafe import Markup

    periods = {name: _read(folder) for name, folder in folders.items()}
    first = next(iter(periods.values())).facts
    return render_page(
        "series",
        script="series",
        styles=("map.css",),
        title=first.get("title") or "Released flows, period by period",
        facts=_facts(periods),
        volume=first["volume"],
        payload=Markup(script_safe_json(_payload(periods) | _behind(periods))),
    )


def series_readme(folders: Mapping[str, Path], *, cumulative: bool = False) -> str:
    """Return the text of the README of a series.

    Parameters
    ----------
    cumulative
        Whether sums from the first period until each are beside it.
    """
    facts = {name: read_manifest(folder, "flows") for name, folder in folders.items()}
    first = next(iter(facts.values()))
    rows = "\n".join(
        f"| {name} | {one['groups']:,} | {one['released']:,} | {one['withheld']['words']} "
        f"| {one['measures']['G']:,.4g} |"
        for name, one in facts.items()
    )
    return f"""# {shown(first.get("title", "")) or "A series of released origin-destination flows"}

Made with tripcloak {first["version"]}. {len(facts):,} periods, each a release of its own in a folder beside
this one, all in the same zones. These were planned once for all periods and are stated in `zones.json`,
which every release names by its SHA-256, {first["parameters"]["zones_from"]}.

{Promise.from_manifest(first["promise"]).in_full()[0]}
| period | released flows | {first["volume"]} | withheld | tiles of a released trip (G) |
|---|--:|--:|---|--:|
{rows}

- `map.html`: all periods to look at, with a slider of time; works without a network
- `zones.json`: the zones of all releases
{_CUMULATIVE if cumulative else ""}
A flow that is missing in a period was withheld there, or there was none.
"""


def _read(folder: Path) -> PublishedPeriod:
    from pyarrow import parquet

    public = public_part(folder).absolute()
    flows, zones = (parquet.read_table(public.absolute() / f"{name}.parquet") for name in ("flows", "zones"))
    places = [one for one in zones_geojson(zones)["features"] if one["properties"]["axis"] in AXES]
    facts = read_manifest(folder, "flows")
    return PublishedPeriod(facts, flows_over_time(flows), places, published_background(public, facts))


def _behind(periods: Mapping[str, PublishedPeriod]) -> dict[str, Any]:
    """Return what lies behind and between the zones: what the maps of the periods have, taken together."""
    named = [town for one in periods.values() for town in one.facts.get("names", {}).get("towns", ())]
    towns = {(town["name"], town["lat"], town["lon"]): town for town in named}
    largest = sorted(towns.values(), key=lambda town: (-town["people"], town["name"]))[:MOST_TOWNS]
    # Each was cut to the zones of its period; the one that holds most was cut to the widest of them.
    drawn = [one.background for one in periods.values() if one.background is not None]
    return {
        **({"towns": largest} if largest else {}),
        **({"background": max(drawn, key=lambda one: len(str(one)))} if drawn else {}),
    }


def _facts(periods: Mapping[str, PublishedPeriod]) -> dict[str, str]:
    names = list(periods)
    every = [one.facts for one in periods.values()]
    promise = Promise.from_manifest(every[0]["promise"])
    if any(one["promise"] != every[0]["promise"] or one["volume"] != every[0]["volume"] for one in every):
        raise InputError("the releases of a series must promise the same")
    zones = {_key(one) for period in periods.values() for one in period.zones}
    origins, destinations = (sum(side == axis for side, _ in zones) for axis in AXES)
    return {
        "Periods": f"{len(names):,}, from {names[0]} to {names[-1]}",
        **dict([promise.headline()]),
        "Counted": "; ".join(every[0]["counted"].values()),
        "Zones": f"{origins:,} origins, {destinations:,} destinations, the same in all periods",
        **({"Names of places": every[0]["names"]["attribution"]} if "names" in every[0] else {}),
    }


def _payload(periods: Mapping[str, PublishedPeriod]) -> dict[str, Any]:
    """Return what the page holds: all zones once, and the numbers of every period."""
    first = next(iter(periods.values()))
    volume = str(first.facts["volume"])
    known: dict[tuple[str, str], dict[str, Any]] = {}
    for period in periods.values():
        for one in period.zones:
            known.setdefault(_key(one), {**one, "properties": {**one["properties"], volume: 0}})
    told = map_payload(
        {"type": "FeatureCollection", "features": list(known.values())}, first.flows.to_pylist()
    )
    codes = {axis: {zone: code for code, zone in enumerate(told[axis]["zone"])} for axis in AXES}
    told["periods"] = [_period(name, one, codes, told["volume"]) for name, one in periods.items()]
    return told


def _period(
    name: str, period: PublishedPeriod, codes: Mapping[str, Mapping[str, int]], volume: Mapping[str, str]
) -> dict[str, Any]:
    numbers = {_key(one): one["properties"] for one in period.zones}
    told = [unit for unit in MEASURES if any(unit in row for row in numbers.values())]
    return {
        "name": name,
        "released": period.facts["released"],
        "withheld": period.facts["withheld"]["words"],
        **{
            axis: {unit: [numbers.get((axis, zone), {}).get(unit) for zone in codes[axis]] for unit in told}
            for axis in AXES
        },
        "flows": flow_table(period.flows.to_pylist(), codes, volume["flow"]),
    }


def _key(one: Mapping[str, Any]) -> tuple[str, str]:
    return str(one["properties"]["axis"]), str(one["properties"]["zone"])
