"""Forgeries that run through every public file of a release of flows, written by the writers themselves."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h3
import pyarrow as pa
from pyarrow import compute, parquet

from forgeries.forgery import Forgery
from tripcloak.flows.release import main_volume
from tripcloak.flows.release.publication import publication
from tripcloak.flows.release.withheld import withheld_bands
from tripcloak.flows.rewriting import REWRITINGS, WrittenFlows
from tripcloak.promises import AllOf, KAnonymity, LDiversity, Promise, TCloseness

Facts = dict[str, Any]
Rows = list[dict[str, Any]]


def facts_of(folder: Path) -> Facts:
    """Return the manifest."""
    told: Facts = json.loads((folder / "release" / "manifest.json").read_text(encoding="utf-8"))
    return told


def rewrite(folder: Path, facts: Facts | None = None, **tables: pa.Table) -> None:
    """Write all public files anew of other facts or other tables."""
    public = folder / "release"
    written = WrittenFlows(public, facts_of(folder) if facts is None else facts)
    # Read before their files are written anew.
    assert written.flows is not None
    assert written.zones is not None
    assert written.segments is None or len(written.segments)
    assert written.totals is None or len(written.totals)
    assert written.levels is None or len(written.levels)
    vars(written).update(tables)
    for one in REWRITINGS:
        if one.write is not None:
            one.write(public, written)


def change_flows(folder: Path, change: Callable[[Rows], Any]) -> None:
    """Change released flows, and everything that follows from them in every public file."""
    written = WrittenFlows(folder / "release", facts_of(folder))
    rows = written.flows.to_pylist()
    change(rows)
    flows = pa.Table.from_pylist(rows, written.flows.schema)
    zones = _zones_of(written.zones, rows)
    rewrite(folder, refitted(facts_of(folder), flows, zones), flows=flows, zones=zones)


def _zones_of(zones: pa.Table, flows: Rows) -> pa.Table:
    """Return the zones of some flows with their volumes; one that is new looks like the first."""
    known = {(row["axis"], row["zone"]): row for row in zones.to_pylist()}
    first = next(iter(known.values()))
    rows = []
    for axis in dict.fromkeys(axis for axis, _ in known):
        for zone in sorted({flow[axis] for flow in flows}):
            row = dict(known.get((axis, zone), {**first, "axis": axis, "zone": zone}))
            own = [flow for flow in flows if flow[axis] == zone]
            row.update(
                {unit: sum(flow[unit] for flow in own) for unit in ("trips", "population") if unit in row}
            )
            rows.append(row)
    return pa.Table.from_pylist(rows, zones.schema)


def refitted(facts: Facts, flows: pa.Table, zones: pa.Table) -> Facts:
    """Return the manifest with the numbers that follow from the tables."""
    axes = [axis for axis in ("origin", "destination", "time") if axis in flows.column_names]
    volume = flows[facts["volume"]]
    released = compute.sum(volume).as_py()
    told = {
        **facts,
        "groups": len(flows),
        "zones": {f"{axis}s": len(flows[axis].unique()) for axis in axes},
        "released": released,
        "smallest": {unit: compute.min(flows[unit]).as_py() for unit in facts["columns"]},
    }
    return {**told, "withheld": _withheld(told), "measures": _measures(told, flows, zones)}


def _withheld(facts: Facts) -> dict[str, Any]:
    """Return the first band there is that may hold what was withheld."""
    promise, most = Promise.from_manifest(facts["promise"]), facts["withheld"]["at_most"]
    if most is None:
        return dict(facts["withheld"])
    bands = withheld_bands(
        promise,
        volume=facts["volume"],
        released=facts["released"],
        limit=facts["parameters"]["suppression_limit"],
        absent=math.prod(facts["zones"].values()) - facts["groups"] if facts["homogeneous"] else 0,
    )
    return next((band for band in bands if band.at_most >= most), bands[-1]).entry(facts["volume"])


def _measures(facts: Facts, flows: pa.Table, zones: pa.Table) -> dict[str, float]:
    tiles = {(row["axis"], row["zone"]): row["tiles"] for row in zones.to_pylist()}
    rows, volume = flows.to_pylist(), facts["volume"]
    total = sum(row[volume] for row in rows)
    mean = sum(
        (tiles["origin", r["origin"]] + tiles["destination", r["destination"]]) * r[volume] for r in rows
    )
    told = {**facts["measures"], "G": mean / total}
    promise = Promise.from_manifest(facts["promise"])
    if promise.thresholds:
        told["C_AVG"] = facts["released"] / facts["groups"] / next(iter(promise.thresholds.values()))
    if "time" in flows.column_names:
        told["G_time"] = sum(tiles["time", row["time"]] * row[volume] for row in rows) / total
    return told


def change_zones(folder: Path, change: Callable[[Rows], Any]) -> None:
    """Change released zones in every form, the map included."""
    written = WrittenFlows(folder / "release", facts_of(folder))
    rows = written.zones.to_pylist()
    change(rows)
    zones = pa.Table.from_pylist(rows, written.zones.schema)
    rewrite(folder, refitted(facts_of(folder), written.flows, zones), zones=zones)


def change_groups(folder: Path, change: Callable[[Rows], Any]) -> None:
    """Change the private table of which flow went where."""
    path = folder / "private" / "groups.parquet"
    table = parquet.read_table(path)
    rows = table.to_pylist()
    change(rows)
    parquet.write_table(pa.Table.from_pylist(rows, table.schema), path, store_schema=False)


def state_promise(folder: Path, promise: Promise, **changes: Any) -> None:
    """Promise something else in every public file, with measures that fit."""
    told = publication(promise, main_volume(promise), "rounded")
    facts = {**facts_of(folder), "promise": promise.stated(), "columns": list(told.columns), **changes}
    facts.update(steps=told.steps, columns_words=told.words())
    if not told.steps:
        del facts["steps"], facts["columns_words"]
    written = WrittenFlows(folder / "release", facts)
    rewrite(folder, refitted(facts, written.flows, written.zones))


def _first(unit: str, amount: int) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        rows[0][unit] += amount

    return change


def _exchanged(*columns: str) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        one, other = rows[0], next(row for row in rows if any(row[c] != rows[0][c] for c in columns))
        for column in columns:
            one[column], other[column] = other[column], one[column]

    return change


def _renamed(rename: Callable[[str], str], *, inside: bool) -> Callable[[Path], None]:
    """Return a forgery that calls a zone otherwise everywhere, in the private table too if so said."""

    def forge(folder: Path) -> None:
        old = WrittenFlows(folder / "release", facts_of(folder)).flows["origin"][0].as_py()
        new = rename(old)

        def in_flows(rows: Rows) -> None:
            for row in rows:
                row["origin"] = new if row["origin"] == old else row["origin"]

        def in_groups(rows: Rows) -> None:
            for row in rows:
                row["released_origin"] = new if row["released_origin"] == old else row["released_origin"]

        change_flows(folder, in_flows)
        if inside:
            change_groups(folder, in_groups)

    return forge


def _readded(folder: Path) -> None:
    """Release a withheld flow as it is, in every file and in the private table."""
    groups = parquet.read_table(folder / "private" / "groups.parquet").to_pylist()
    hidden = next(row for row in groups if row["released_origin"] is None)

    def public(rows: Rows) -> None:
        rows.append({name: hidden[name] for name in rows[0]})

    def private(rows: Rows) -> None:
        same = next(row for row in rows if row == hidden)
        same.update(released_origin=same["origin"], released_destination=same["destination"])

    change_flows(folder, public)
    change_groups(folder, private)


def _hidden(folder: Path) -> None:
    """Withhold a released flow that is safe, in every file and in the private table."""
    gone: Rows = []
    change_flows(folder, lambda rows: gone.append(rows.pop(0)))

    def private(rows: Rows) -> None:
        for row in rows:
            if (row["released_origin"], row["released_destination"]) == (
                gone[0]["origin"],
                gone[0]["destination"],
            ):
                row.update(released_origin=None, released_destination=None)

    change_groups(folder, private)


def _one_more_inside(folder: Path) -> None:
    """Add a trip to a flow in every file and to one of its flows in the private table."""
    first = WrittenFlows(folder / "release", facts_of(folder)).flows.to_pylist()[0]
    change_flows(folder, _first("trips", 1))

    def private(rows: Rows) -> None:
        ends = first["origin"], first["destination"]
        next(row for row in rows if (row["released_origin"], row["released_destination"]) == ends)[
            "trips"
        ] += 1

    change_groups(folder, private)


def _zone(**changes: Callable[[Any], Any]) -> Callable[[Path], None]:
    def change(rows: Rows) -> None:
        for name, other in changes.items():
            rows[0][name] = other(rows[0][name])

    return lambda folder: change_zones(folder, change)


def _moved(outline: bytes) -> bytes:
    import shapely

    return bytes(shapely.to_wkb(shapely.transform(shapely.from_wkb(outline), lambda points: points + 0.01)))


def _raised(outline: bytes) -> bytes:
    import shapely

    return bytes(shapely.to_wkb(shapely.force_3d(shapely.from_wkb(outline), 17.0)))


def _turned_round(outline: bytes) -> bytes:
    import shapely

    return bytes(shapely.to_wkb(shapely.reverse(shapely.from_wkb(outline))))


def _with_a_point_more(outline: bytes) -> bytes:
    import shapely

    return bytes(shapely.to_wkb(shapely.segmentize(shapely.from_wkb(outline), 0.001)))


def _another_outline(folder: Path) -> None:
    def change(rows: Rows) -> None:
        rows[0]["geometry"], rows[1]["geometry"] = rows[1]["geometry"], rows[0]["geometry"]

    change_zones(folder, change)


def consistent_forgeries() -> Iterator[Forgery]:
    """Yield forgeries of which no file contradicts another."""
    for name, change in FLOWS.items():
        yield Forgery(f"everywhere: {name}", lambda folder, c=change: change_flows(folder, c))
    for name, forge in FOLDERS.items():
        yield Forgery(f"everywhere: {name}", forge)


FLOWS: dict[str, Callable[[Rows], Any]] = {
    "a trip more": _first("trips", 1),
    "a trip less": _first("trips", -1),
    "a person more": _first("travellers", 1),
    "a person less": _first("travellers", -1),
    "two flows exchanged": _exchanged("trips", "travellers"),
    "two destinations exchanged": _exchanged("destination"),
    "two origins exchanged": _exchanged("origin"),
    "a flow turned round": lambda rows: rows[1].update(
        origin=rows[1]["destination"], destination=rows[1]["origin"]
    ),
    "a flow gone": lambda rows: rows.pop(0),
    "a flow twice": lambda rows: rows.append(dict(rows[0])),
    "a flow made up": lambda rows: rows.append({**rows[0], "origin": h3.grid_ring(rows[0]["origin"], 40)[0]}),
    "two flows in one": lambda rows: rows[0].update(trips=rows[0]["trips"] + rows.pop(1)["trips"]),
    "a trip from one flow to another": lambda rows: (_first("trips", 1)(rows), _first("trips", -1)(rows[1:])),
}
FOLDERS: dict[str, Callable[[Path], None]] = {
    "a zone called by its sibling": _renamed(lambda zone: h3.grid_ring(zone, 1)[0], inside=False),
    "a zone called by its child": _renamed(h3.cell_to_center_child, inside=False),
    "a zone called by its parent": _renamed(h3.cell_to_parent, inside=False),
    "a zone called by its sibling, inside too": _renamed(lambda zone: h3.grid_ring(zone, 1)[0], inside=True),
    "a zone called by its child, inside too": _renamed(h3.cell_to_center_child, inside=True),
    "a withheld flow, inside too": _readded,
    "a flow withheld, inside too": _hidden,
    "a trip more, inside too": _one_more_inside,
    "a tile more in a zone": _zone(tiles=lambda n: n + 1),
    "a height more of a zone": _zone(height=lambda n: n + 1),
    "a zone's area a hundredth more": _zone(area_km2=lambda n: n * 1.01),
    "a zone's area in its last digits": _zone(area_km2=lambda n: n * (1 + 1e-12)),
    "a zone's point a street away": _zone(lat=lambda n: n + 1e-4),
    "a zone's point a hair away": _zone(lon=lambda n: n + 1e-8),
    "a zone's point in its last digits": _zone(lat=lambda n: n * (1 + 4e-16)),
    "a zone's outline moved": _zone(geometry=_moved),
    "a zone's outline with heights": _zone(geometry=_raised),
    "a zone's outline turned round": _zone(geometry=_turned_round),
    "a zone's outline with points more": _zone(geometry=_with_a_point_more),
    "two outlines exchanged": _another_outline,
    "a larger k": lambda folder: state_promise(folder, KAnonymity(k=50, unit="travellers")),
    "trips for travellers": lambda folder: state_promise(folder, KAnonymity(k=3, unit="trips")),
    "places promised": lambda folder: state_promise(
        folder, AllOf(promises=(KAnonymity(k=3, unit="travellers"), LDiversity(l=500)))
    ),
    "closeness promised": lambda folder: state_promise(
        folder, AllOf(promises=(KAnonymity(k=3, unit="travellers"), TCloseness(t=0.001)))
    ),
}
