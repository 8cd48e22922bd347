"""Every rule on a folder at its very edge: the last step allowed passes, and the next one is caught."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.audit.centres import TileCentres
from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.flows.audit.hidden import HiddenThresholds
from tripcloak.flows.audit.promise import AuditRequest, read_promise
from tripcloak.flows.audit.raw import RawInput
from tripcloak.flows.audit.rules import BOOK
from tripcloak.flows.audit.trees import load_tree
from tripcloak.flows.release import build_release
from tripcloak.ground.rulebook import BrokenPart
from tripcloak.promises import KAnonymity
from worlds.released_flows import TOWNS, Folder, World

Forge = Callable[[Any], Any]
FLOWS = {(0, 1): 3, (1, 2): 5, (2, 0): 4, (0, 2): 2}
"""People of every flow between towns, each with two trips; three of them are k, so the last is withheld."""
THREE = KAnonymity(k=3, unit="travellers", id_is="person")


@pytest.fixture(scope="module")
def world() -> World:
    """People who make two trips each, and rows of three and of two people that are dropped."""
    ends, people, reasons = [], [], []
    for number, (pair, here) in enumerate(FLOWS.items()):
        for person in range(here):
            ends += [pair] * 2
            people += [f"p{number} {person}"] * 2
            reasons += [0, 0]
    for reason, here in ((6, 3), (7, 2)):
        for row in range(4):
            ends.append((0, 1))
            people.append(f"d{row % here}")
            reasons.append(reason)
    pairs = np.array(ends)
    columns = {f"{end}_{name}": TOWNS[pairs[:, e], a] for e, end in enumerate("od") for a, name in AXES}
    return World.of(pa.table({**columns, "person": people, "reason": np.array(reasons, np.int32)}), "h3:6")


AXES = ((0, "lat"), (1, "lon"))


@pytest.fixture(scope="module")
def honest(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An honest release, exact in trips and travellers."""
    matrix = world.matrix
    release = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=THREE,
        suppression_limit=0.2,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        suppressed=matrix.flows.trips < 6,
        homogeneous=True,
    )
    return world.publish(tmp_path_factory.mktemp("edges") / "out", replace(release, publish="both")).path


@pytest.fixture
def folder(honest: Path, tmp_path: Path) -> Folder:
    """A copy of it, to be forged."""
    shutil.copytree(honest, tmp_path / "out")
    return Folder(tmp_path / "out")


def wrong(world: World, folder: Folder, rule: str, **order: Any) -> str | None:
    """Return what one rule finds wrong."""
    raw = RawInput(tiling=None, each_trip_is_a_person=False)
    loaders = {
        "tree": load_tree,
        "centres": TileCentres(None).load,
        "raw": raw.load,
        "recount": raw.recount,
    }
    with world.connection() as con:
        case = FlowEvidence(folder.path, con, request=AuditRequest(**order), loaders=loaders, tiling=None)
        (found,) = BOOK.judge(case, only=[rule])
        case.close()
    return None if found.ok else found.words


def test_the_honest_one_breaks_no_rule(world: World, folder: Folder) -> None:
    assert {rule.name: words for rule in BOOK if (words := wrong(world, folder, rule.name))} == {}


def geojson(**members: Any) -> Forge:
    """Return a change of the members of the whole collection; None takes one away."""

    def change(text: str) -> str:
        told = {**json.loads(text), **members}
        return json.dumps({name: value for name, value in told.items() if value is not None})

    return lambda folder: folder.edit_text("zones.geojson", change)


@pytest.mark.parametrize(
    "forge", [geojson(name="p17"), geojson(bbox=[2.1, 48.7, 2.2, 48.9]), geojson(crs={}), geojson(type=None)]
)
def test_geojson_has_no_further_members(world: World, folder: Folder, forge: Forge) -> None:
    forge(folder)
    assert wrong(world, folder, "zones-table-matches") is not None


# --- one step past the line, rule by rule ---------------------------------------------------------------


def facts(**entries: Any) -> Forge:
    return lambda folder: folder.edit_manifest(lambda told: told.update(entries))


def within(name: str, **entries: Any) -> Forge:
    return lambda folder: folder.edit_manifest(lambda told: told[name].update(entries))


def without(name: str, *more: str) -> Forge:
    def change(told: dict[str, Any]) -> None:
        for step in (name, *more)[:-1]:
            told = told[step]
        del told[(name, *more)[-1]]

    return lambda folder: folder.edit_manifest(change)


def flow(**values: Any) -> Forge:
    """Return a change of the first flow; numbers are added."""

    def change(rows: list[dict[str, Any]]) -> None:
        for name, value in values.items():
            rows[0][name] = rows[0][name] + value

    return lambda folder: folder.edit_flows(change)


def zone(**values: Any) -> Forge:
    return lambda folder: folder.edit_rows("release/zones.parquet", lambda rows: rows[0].update(values))


def more_of(table: str, **values: Any) -> Forge:
    """Return a change that gives every row of a table a column more."""
    return lambda folder: folder.edit_rows(table, lambda rows: [row.update(values) for row in rows])


def group(**values: Any) -> Forge:
    def change(rows: list[dict[str, Any]]) -> None:
        kept = next(row for row in rows if row["released_origin"] is not None)
        for name, value in values.items():
            kept[name] = None if value is None else kept[name] + value

    return lambda folder: folder.edit_groups(change)


def text(name: str, old: str, new: str) -> Forge:
    return lambda folder: folder.edit_text(name, lambda told: told.replace(old, new, 1))


def feature(**members: Any) -> Forge:
    """Return a change of the properties of the first feature."""

    def change(told: str) -> str:
        collection = json.loads(told)
        collection["features"][0]["properties"] |= members
        return json.dumps(collection)

    return lambda folder: folder.edit_text("zones.geojson", change)


def on_map(change: Callable[[dict[str, Any]], Any]) -> Forge:
    """Return a change of the data that the map embeds."""

    def edit(page: str) -> str:
        begin = page.index(START) + len(START)
        end = page.index("</script>", begin)
        data = json.loads(page[begin:end])
        change(data)
        return page[:begin] + json.dumps(data) + page[end:]

    return lambda folder: folder.edit_text("map.html", edit)


START = '<script type="application/json" id="release">'


def stated(**entries: Any) -> Forge:
    return within("promise", **entries)


CLOSE = {"kind": "t-closeness", "t": 0.5}
PLACES = {"kind": "l-diversity", "l": 2, "of": "tiles"}
SHARE = {"kind": "dominance", "share": 0.5, "of": ["trips"]}
HIDDEN = {"kind": "hidden choices", "k": 3, "unit": "travellers", "up_to": 6}
ONE = {"kind": "k-anonymity", "k": 3, "unit": "travellers", "id_is": "person"}


def beside(*parts: dict[str, Any]) -> Forge:
    return lambda folder: folder.edit_manifest(
        lambda told: told.update(promise={"kind": "all of", "promises": [ONE, *parts], "sentence": ""})
    )


def around(kind: str, *parts: dict[str, Any], **entries: Any) -> Forge:
    inner = {"kind": "all of", "promises": [ONE, *parts]} if parts else ONE
    return facts(promise={"kind": kind, **entries, "promise": inner, "sentence": ""})


ITEMS = ["origin", "destination"]

UNREADABLE: dict[str, Forge] = {
    # thresholds, and what is read of a promise
    "a k in letters": stated(k="3"),
    "a k of truth": stated(k=True),
    "a unit that is none": stated(unit="people"),
    "an id of trips": stated(unit="trips"),
    "an id of a new kind": stated(id_is="dog"),
    "two kinds of ids": beside({**ONE, "id_is": "card"}),
    "l of one": beside({**PLACES, "l": 1}),
    "l of streets": beside({**PLACES, "of": "streets"}),
    "t of nothing": beside({**CLOSE, "t": 0}),
    "t of all": beside({**CLOSE, "t": 1}),
    "a share of more than all": beside({**SHARE, "share": 1.01}),
    "a share of nothing": beside({**SHARE, "share": 0}),
    "a share of nobody's": beside({**SHARE, "of": []}),
    "a share of travellers": beside({**SHARE, "of": ["travellers"]}),
    "a share twice": beside({**SHARE, "of": ["trips", "trips"]}),
    "a share and more": beside({**SHARE, "p": 3}),
    "p above a hundred": beside({"kind": "p-percent", "p": 100.5, "of": ["trips"]}),
    "thresholds below twice k": beside({**HIDDEN, "up_to": 5}),
    "thresholds above another k": beside({**HIDDEN, "k": 2}),
    "thresholds and more": beside({**HIDDEN, "secret": "x"}),
    "several in several": beside({"kind": "all of", "promises": [ONE]}),
    "several and more": facts(promise={"kind": "all of", "promises": [ONE], "of": 1}),
    "several that are one": facts(promise={"kind": "all of", "promises": ONE}),
    "no items known": around("k^m-anonymity", m=0, of=ITEMS),
    "all items known": around("k^m-anonymity", m=2, of=ITEMS),
    "half an item known": around("k^m-anonymity", m=1.5, of=ITEMS),
    "items in another order": around("k^m-anonymity", m=1, of=ITEMS[::-1]),
    "few items and closeness": around("k^m-anonymity", CLOSE, m=1, of=ITEMS),
    "few items and shares": around("k^m-anonymity", SHARE, m=1, of=ITEMS),
    "few items and draws": around("k^m-anonymity", HIDDEN, m=1, of=ITEMS),
    "segments and shares": around("every segment", SHARE, by=["s"], names=["s=a"]),
    "segments and draws": around("every segment", HIDDEN, by=["s"], names=["s=a"]),
    "a segment twice": around("every segment", by=["s"], names=["s=a", "s=a"]),
    "segments by nothing": around("every segment", by=[], names=["s=a"]),
    # what else is read of a manifest
    "no homogeneity": facts(homogeneous=1),
    "no hierarchy": facts(hierarchy="h3:6"),
    "a hierarchy without its text": without("hierarchy", "spec"),
    "no parameters": facts(parameters=[]),
    "no limit": without("parameters", "suppression_limit"),
    "a limit of all": within("parameters", suppression_limit=1),
    "a limit below nothing": within("parameters", suppression_limit=-0.001),
    "boxes without a size": facts(zone_form="boxes"),
    "a size without boxes": facts(tile_km2={"origins": 1.0, "destinations": 1.0}),
    "zones of another form": facts(zone_form="hexagons"),
    "a grid without boxes": facts(box_grid_degrees={"origins": 1.0}),
    "a fold without slots": within("hierarchy", fold="day"),
    "a period without slots": within("hierarchy", period=["2024-01-01", "2024-01-02"]),
    "apart without slots": within("hierarchy", slots="apart"),
    "slots that divide no hour": within("hierarchy", time_slot_minutes=7),
    "slots that divide no day": within("hierarchy", time_slot_minutes=300),
    "a segment of numbers": facts(segment={"sex": 1}),
    "another volume": facts(volume="travellers"),
    "travellers alone and trips summed": facts(columns=["travellers"]),
    "a step of nothing": facts(steps={}),
    "half a step": facts(steps={"travellers": 3.0}),
    "a step below k": facts(steps={"travellers": 2}),
}


class Manifest(NamedTuple):
    """A manifest under attack that is no file."""

    facts: dict[str, Any]

    def edit_manifest(self, change: Callable[[dict[str, Any]], Any]) -> None:
        """Change it in place."""
        change(self.facts)


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_promise_one_step_past_the_line_is_not_read(name: str, honest: Path) -> None:
    facts = Folder(honest).facts
    assert read_promise(facts).thresholds == {"travellers": 3}
    UNREADABLE[name](Manifest(facts))
    with pytest.raises(BrokenPart):
        read_promise(facts)


@pytest.mark.parametrize(
    "forge",
    [
        beside({**PLACES, "l": 2}, {**CLOSE, "t": 0.999}),
        beside({**SHARE, "share": 1}, {"kind": "p-percent", "p": 100, "of": ["trips", "population"]}),
        beside(HIDDEN),
        around("k^m-anonymity", PLACES, m=1, of=ITEMS),
        around("every segment", CLOSE, by=["s"], names=["s=a"]),
        within("parameters", suppression_limit=0),
        within("parameters", suppression_limit=0.999),
        facts(steps={"travellers": 3}),
        facts(columns=["travellers"], volume="travellers"),
        facts(columns=["trips"]),
        within("hierarchy", time_slot_minutes=240, fold="week"),
        within("hierarchy", time_slot_minutes=30, period=["2024-01-01", "2024-01-01"]),
    ],
)
def test_the_last_promise_that_makes_sense_is_read(forge: Forge, honest: Path) -> None:
    facts = Folder(honest).facts
    forge(Manifest(facts))
    assert read_promise(facts).thresholds == {"travellers": 3}


def test_the_strictest_of_several_is_what_is_promised(honest: Path) -> None:
    told = Folder(honest).facts
    places, close = ([{**PLACES, "l": n} for n in (4, 2)], [{**CLOSE, "t": t} for t in (0.3, 0.4)])
    beside({**ONE, "k": 7}, {**ONE, "k": 5}, *places, *close)(Manifest(told))
    read = read_promise(told)
    assert (read.thresholds, read.floors, read.closeness) == ({"travellers": 7}, {"tiles": 4}, 0.3)


FORGERIES: dict[str, tuple[str, Forge]] = {
    "one person fewer than k": ("every-group-safe", stated(k=4)),
    # numbers of flows
    "one trip more": ("flows-match-recount", flow(trips=1)),
    "one trip less": ("flows-match-recount", flow(trips=-1)),
    "one traveller more": ("flows-match-recount", flow(travellers=1)),
    "one traveller less": ("flows-match-recount", flow(travellers=-1)),
    "a flow twice": ("flows-match-recount", lambda f: f.edit_flows(lambda rows: rows.append(dict(rows[0])))),
    "a flow less": ("flows-match-recount", lambda f: f.edit_flows(lambda rows: rows.pop())),
    "one destination let go": ("both-or-neither", group(released_destination=None)),
    "one origin let go": ("both-or-neither", group(released_origin=None)),
    "one private trip more": ("every-flow-accounted", group(trips=1)),
    "one private traveller more": ("every-flow-accounted", group(travellers=1)),
    "a private flow less": ("every-flow-accounted", lambda f: f.edit_groups(lambda rows: rows.pop())),
    "a private flow twice": (
        "every-flow-accounted",
        lambda f: f.edit_groups(lambda rows: rows.append(dict(rows[0]))),
    ),
    "a total of one more": ("totals-add-up", facts(released=25)),
    "a table of one more": ("totals-add-up", flow(trips=1)),
    "private trips of one more": ("totals-add-up", group(trips=1)),
    # the manifest against the tables
    "one group more": ("manifest-consistent", facts(groups=4)),
    "one zone more": ("manifest-consistent", within("zones", origins=4)),
    "a smallest flow of one more": ("manifest-consistent", within("smallest", trips=7)),
    "a smallest flow of none": ("manifest-consistent", without("smallest", "travellers")),
    "one trip more in all": ("manifest-consistent", facts(released=25)),
    "one entry more": ("manifest-consistent", facts(note="")),
    "a band and more": ("manifest-consistent", within("withheld", trips=4)),
    "a band in no words": ("manifest-consistent", within("withheld", words=4)),
    "another end in words": (
        "manifest-consistent",
        within("withheld", words="between 0 and 21 % of the trips"),
    ),
    "a bound and more": (
        "manifest-consistent",
        facts(bound={"within_percent": 3, "relaxation": "", "value": 1}),
    ),
    "a bound of half a percent": (
        "manifest-consistent",
        facts(bound={"within_percent": 0.5, "relaxation": ""}),
    ),
    "a bound by nothing": ("manifest-consistent", facts(bound={"within_percent": 1, "relaxation": 2})),
    "a bound that is none": ("manifest-consistent", facts(bound=3)),
    "a seed of half": ("manifest-consistent", facts(seed=1.5)),
    "another number in words": ("manifest-consistent", stated(sentence="at least 4 people")),
    "no words": ("manifest-consistent", stated(sentence=3)),
    "one more G": ("manifest-consistent", within("measures", G=2.0000001)),
    "one more C_AVG": ("manifest-consistent", within("measures", C_AVG=2.6666667)),
    "G of time": ("manifest-consistent", within("measures", G_time=1.0)),
    "one measure less": ("manifest-consistent", without("measures", "C_AVG")),
    # rows that were dropped
    "one row fewer than k": ("dropped-told-safely", facts(dropped_rows={"bad_time": 2})),
    "half a row": ("dropped-told-safely", facts(dropped_rows={"bad_time": 4.0})),
    "rows in a list": ("dropped-told-safely", facts(dropped_rows=[4])),
    "one row more": ("dropped-match-recount", facts(dropped_rows={"bad_time": 5})),
    "one row less": ("dropped-match-recount", facts(dropped_rows={"bad_time": 3})),
    "rows of k - 1 people": ("dropped-match-recount", facts(dropped_rows={"outside_window": 4})),
    "rows of nobody": ("dropped-match-recount", facts(dropped_rows={"vacant": 3})),
    # what is counted
    "nothing counted": ("counted-as-said", facts(counted={})),
    "one more counted": ("counted-as-said", within("counted", trips="trips")),
    "a number counted": (
        "counted-as-said",
        within("counted", travellers="people: every id stands for 1 person"),
    ),
    "others counted": ("counted-as-said", within("counted", travellers="cards, not people: several")),
    "counted without a word": ("counted-as-said", within("counted", travellers=3)),
    "others promised": ("counted-as-said", stated(sentence="at least 3 cards (not people)")),
    "an id of another kind": ("counted-as-said", stated(id_is="card")),
    # files
    "one column more": ("only-protected-columns", more_of("release/flows.parquet", population=3)),
    "one column of zones more": ("only-protected-columns", more_of("release/zones.parquet", travellers=3)),
    "one property more": ("only-protected-columns", feature(travellers=3)),
    "one text column more": ("only-protected-columns", text("flows.csv", "trips", "population")),
    "columns in another order": ("only-protected-columns", facts(columns=["travellers", "trips"])),
    "one number in text": ("csv-equals-parquet", text("flows.csv", ",6,3", ",6,4")),
    "one name in text": ("csv-equals-parquet", text("flows.csv", "travellers", "Travellers")),
    "one file more": ("files-complete", lambda f: f.public("flows.txt").write_text("")),
    "one file less": ("files-complete", lambda f: f.public("lines.parquet").unlink()),
    "a hard link": ("files-complete", lambda f: (f.path / "x").hardlink_to(f.public("README.md"))),
    "one byte more": ("digests-match", text("README.md", "\n", "\n ")),
    "one digest less": ("digests-match", without("files", "README.md")),
    "one digest more": ("digests-match", within("files", x="0")),
    "a manifest unsealed": (
        "manifest-as-made",
        lambda f: f.public("manifest.json").write_text(f.public("manifest.json").read_text() + "\n"),
    ),
    # zones
    "one tile more": ("zones-table-matches", zone(tiles=2)),
    "one height more": ("zones-table-matches", zone(height=1)),
    "one trip more of a zone": ("zones-table-matches", zone(trips=7)),
    "a point moved by a hand": ("zones-table-matches", lambda f: f.edit_rows(ZONES, move(2e-6))),
    "a flow's point moved by a hand": ("zones-table-matches", flow(origin_lat=2e-7)),
    "a flow's end moved by a hand": ("zones-table-matches", flow(destination_lon=2e-7)),
    "one property of a feature": ("zones-table-matches", feature(tiles=2)),
    "a feature twice": (
        "zones-table-matches",
        lambda f: f.edit_text("zones.geojson", lambda told: json.dumps(twice(json.loads(told)))),
    ),
    "a zone twice": ("zones-table-matches", lambda f: f.edit_rows(ZONES, lambda rows: rows.append(rows[0]))),
    "a zone less": ("zones-table-matches", lambda f: f.edit_rows(ZONES, lambda rows: rows.pop())),
    "a little more area": ("outlines-are-zones", lambda f: f.edit_rows(ZONES, grow(1 + 1e-4))),
    "a point outside": ("outlines-are-zones", zone(lat=0.0)),
    # the map
    "one trip more on the map": (
        "map-shows-released-only",
        on_map(lambda data: data["flows"]["trips"].__setitem__(0, 7)),
    ),
    "one number of a zone on the map": (
        "map-shows-released-only",
        on_map(lambda data: data["origin"]["trips"].__setitem__(0, 7)),
    ),
    "one table more on the map": ("map-shows-released-only", on_map(lambda data: data.update(raw=[]))),
    "one column more on the map": (
        "map-shows-released-only",
        on_map(lambda data: data["flows"].update(person=[1, 2, 3])),
    ),
    "one fact more of zones on the map": (
        "map-shows-released-only",
        on_map(lambda data: data["origin"].update(person=[1, 2, 3])),
    ),
    "one cell beside the map": (
        "map-shows-released-only",
        text("map.html", "</body>", "86283082fffffff</body>"),
    ),
    "two tables in the map": (
        "map-shows-released-only",
        text("map.html", "</body>", f"{START}{{}}</script></body>"),
    ),
}

ZONES = "release/zones.parquet"


def move(by: float) -> Callable[[list[dict[str, Any]]], None]:
    return lambda rows: rows[0].update(lat=rows[0]["lat"] + by)


def grow(by: float) -> Callable[[list[dict[str, Any]]], None]:
    return lambda rows: rows[0].update(area_km2=rows[0]["area_km2"] * by)


def twice(collection: dict[str, Any]) -> dict[str, Any]:
    return {**collection, "features": [*collection["features"], collection["features"][0]]}


@pytest.mark.parametrize("name", FORGERIES)
def test_one_step_past_the_line_is_caught(name: str, world: World, folder: Folder) -> None:
    rule, forge = FORGERIES[name]
    forge(folder)
    assert wrong(world, folder, rule) is not None


@pytest.mark.parametrize(
    "forge",
    [
        facts(dropped_rows={"bad_time": 4}),
        facts(bound={"within_percent": 0, "relaxation": "x"}),
        facts(seed=1),
        lambda folder: folder.edit_rows(ZONES, grow(1 + 1e-10)),
    ],
)
def test_the_last_step_that_is_allowed_passes(world: World, folder: Folder, forge: Forge) -> None:
    forge(folder)
    for rule in ("dropped-told-safely", "dropped-match-recount", "manifest-consistent", "outlines-are-zones"):
        assert wrong(world, folder, rule) is None


@pytest.mark.parametrize(
    ("forge", "rule", "words"),
    [
        (facts(released=25), "manifest-consistent", "released volume differ"),
        (lambda folder: folder.edit_rows(ZONES, move(2e-6)), "zones-table-matches", "a wrong size or place"),
        (stated(k=4), "every-group-safe", "fewer than 10 released flows hold fewer than 4 travellers"),
    ],
)
def test_it_says_what_is_wrong(world: World, folder: Folder, forge: Forge, rule: str, words: str) -> None:
    """Other rules notice these too, so the words tell which guard it was."""
    forge(folder)
    assert words in str(wrong(world, folder, rule))


@pytest.mark.parametrize(
    ("order", "kept"),
    [
        ({"k": 3}, True),
        ({"k": 3, "unit": "travellers"}, True),
        ({"k": 3.5}, False),
        ({"k": 4}, False),
        ({"k": 2, "unit": "trips"}, False),
        ({"k": 3, "known_items": 1}, True),
    ],
    ids=str,
)
def test_an_order_is_held_against_the_promise(
    world: World, folder: Folder, order: dict[str, Any], kept: bool
) -> None:
    assert (wrong(world, folder, "every-group-safe", **order) is None) == kept


def test_an_order_of_more_people_is_asked_of_dropped_rows_too(world: World, folder: Folder) -> None:
    facts(dropped_rows={"bad_time": 4})(folder)
    assert wrong(world, folder, "dropped-told-safely", k=4) is None
    assert wrong(world, folder, "dropped-told-safely", k=5) is not None
    assert wrong(world, folder, "dropped-match-recount", k=3) is None
    assert wrong(world, folder, "dropped-match-recount", k=4) is not None


def test_a_flow_that_reaches_the_very_threshold_drawn_for_it_passes(world: World, folder: Folder) -> None:
    """Secrets are looked for by which all flows are at or above theirs, and one is just below."""
    beside(HIDDEN)(folder)
    rows = parquet.read_table(folder.public("flows.parquet")).to_pylist()
    range_ = HiddenThresholds(3, 6, "travellers")

    def spare(secret: str) -> int:
        return min(row["travellers"] - range_.drawn(secret, [row[end] for end in ITEMS]) for row in rows)

    secrets = [f"secret {number}" for number in range(2000)]
    for least, kept in ((0, True), (-1, False)):
        secret = next(one for one in secrets if spare(one) == least)
        run = folder.path / "private" / "run.json"
        run.write_text(json.dumps({**json.loads(run.read_text()), "secret": secret}))
        assert (wrong(world, folder, "choices-hidden") is None) == kept
    run.write_text(json.dumps({**json.loads(run.read_text()), "secret": 7}))
    assert wrong(world, folder, "choices-hidden") is not None


@pytest.mark.parametrize(
    ("column", "people"),
    [("bike_id", False), ("card_no", False), ("bikes", True), ("who", True), (None, True)],
)
def test_a_column_named_like_no_person_is_not_called_people(
    column: str | None, people: bool, world: World, folder: Folder
) -> None:
    run = folder.path / "private" / "run.json"
    told = json.loads(run.read_text())
    run.write_text(json.dumps({**told, "columns": {"person": column}}))
    assert (wrong(world, folder, "counted-as-said") is None) == people
    run.write_text(json.dumps({**told, "columns": {"person": column}, "source": {"id_is": "person"}}))
    assert wrong(world, folder, "counted-as-said") is None
    run.write_text(json.dumps({**told, "source": {"id_is": "card"}}))
    assert wrong(world, folder, "counted-as-said") is not None


@pytest.mark.parametrize(("torn", "people"), [(1, True), (2, False)])
@pytest.mark.parametrize(("seconds", "long"), [(600, False), (601, True)])
def test_a_quarter_of_ids_in_two_places_at_once_are_not_people(
    torn: int, people: bool, seconds: int, long: bool, folder: Folder, world: World
) -> None:
    """Eight ids make two trips each; of some the second begins before the first has ended."""
    starts, ends, who = [], [], []
    for person in range(8):
        overlap = seconds if person < torn else 0
        for start, end in ((0, 3600), (3600 - overlap, 7200)):
            starts.append(start)
            ends.append(end)
            who.append(f"p{person}")
    times = {
        "start_time": pa.array(starts, pa.int64()).cast(pa.timestamp("s")),
        "end_time": pa.array(ends, pa.int64()).cast(pa.timestamp("s")),
    }
    raw = world.raw.slice(0, len(who))
    columns = {name: raw[name] for name in ("o_lat", "o_lon", "d_lat", "d_lon", "reason")}
    overlapping = World.of(pa.table({**columns, "person": who, **times}), "h3:6")
    assert (wrong(overlapping, folder, "counted-as-said") is None) == (people or not long)
