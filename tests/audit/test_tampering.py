"""Releases tampered with in many ways: each is caught by the rule made for it, digests refreshed or not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import h3
import pyarrow as pa
import pytest
from pyarrow import parquet

from released_folders import Folder, World, raw_trips
from tripcloak.audit import AuditReport, audit_folder
from tripcloak.audit.rules import BOOK
from tripcloak.criteria import KAnonymity

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def world() -> World:
    """A city whose release withholds flows of many people."""
    return World.of(raw_trips())


@pytest.fixture(scope="module")
def honest(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Honest releases: ``told`` tells what it withheld, ``untold`` may not, ``trips`` protects trips."""
    root = tmp_path_factory.mktemp("honest")
    world.publish(root / "told", world.release(), null_island=14)
    world.publish(root / "untold", world.release(limit=0.002))
    world.publish(root / "trips", world.release(KAnonymity(k=10, unit="trips")))
    yield root
    shutil.rmtree(root)


def audit(world: World, folder: Path, **order: Any) -> AuditReport:
    with world.connection() as con:
        return audit_folder(folder, con, **order)


def largest(rows: Rows) -> dict[str, Any]:
    return max(rows, key=lambda row: row["trips"])


def add(column: str, amount: int) -> Callable[[Folder], None]:
    def change(rows: Rows) -> None:
        largest(rows)[column] += amount

    return lambda folder: folder.edit_flows(change)


def remove_a_flow(folder: Folder) -> None:
    folder.edit_flows(lambda rows: rows.pop(3))


def add_a_flow(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        stranger = h3.grid_ring(rows[0]["origin"], 3)[0]
        rows.append({**rows[0], "origin": stranger})

    folder.edit_flows(change)


def repeat_a_flow(folder: Folder) -> None:
    folder.edit_flows(lambda rows: rows.append(dict(rows[0])))


def swap_two_zones(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        first, second = rows[0], rows[-1]
        first["origin"], second["origin"] = second["origin"], first["origin"]

    folder.edit_flows(change)


def move_zone(choose: Callable[[str, list[str]], str]) -> Callable[[Folder], None]:
    """Return a change that gives one origin zone another name, in every table alike."""

    def change(folder: Folder) -> None:
        zones = sorted(set(parquet.read_table(folder.public("flows.parquet"))["origin"].to_pylist()))
        old = max(zones, key=h3.get_resolution)
        new = choose(old, zones)

        def rename(column: str) -> Callable[[Rows], None]:
            def edit(rows: Rows) -> None:
                for row in rows:
                    if row[column] == old and row.get("axis") != "destination":
                        row[column] = new

            return edit

        folder.edit_flows(rename("origin"))
        folder.edit_groups(rename("released_origin"))
        folder.edit_rows("release/zones.parquet", rename("zone"))

    return change


def overlapping_ancestor(old: str, zones: list[str]) -> str:
    other = next(zone for zone in zones if zone != old)
    level = next(r for r in range(9, -1, -1) if h3.cell_to_parent(old, min(r, h3.get_resolution(old))) ==
                 h3.cell_to_parent(other, min(r, h3.get_resolution(other))))  # fmt: skip
    return h3.cell_to_parent(old, level)


def tear_a_tile(folder: Folder) -> None:
    """Send one flow of a tile to the parent of the zone that its other flows go to."""

    def change(rows: Rows) -> None:
        shown = [row for row in rows if row["released_origin"]]
        first = next(row for row, after in pairwise(shown) if row["origin"] == after["origin"])
        zone = first["released_origin"]
        first["released_origin"] = h3.cell_to_parent(zone, h3.get_resolution(zone) - 1)

    folder.edit_groups(change)


def release_nothing(folder: Folder) -> None:
    path = folder.public("flows.parquet")
    parquet.write_table(parquet.read_table(path).slice(0, 0), path, store_schema=False)


def release_a_withheld_flow(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        shown = next(row for row in rows if row["released_origin"])
        hidden = next(row for row in rows if not row["released_origin"])
        hidden.update(
            released_origin=shown["released_origin"], released_destination=shown["released_destination"]
        )

    folder.edit_groups(change)


def release_half_a_flow(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        next(row for row in rows if row["released_origin"])["released_destination"] = None

    folder.edit_groups(change)


def withhold_too_much(folder: Folder) -> None:
    """Withhold released flows, in every table alike, until far more than the limit is gone."""
    gone = set()

    def drop(rows: Rows) -> None:
        rows.sort(key=lambda row: row["trips"])
        while sum(row["trips"] for row in rows) > 1500:
            row = rows.pop()
            gone.add((row["origin"], row["destination"]))

    def hide(rows: Rows) -> None:
        for row in rows:
            if (row["released_origin"], row["released_destination"]) in gone:
                row.update(released_origin=None, released_destination=None)

    folder.edit_flows(drop)
    folder.edit_groups(hide)


def more_trips_in_groups(folder: Folder) -> None:
    folder.edit_groups(lambda rows: rows[5].update(trips=rows[5]["trips"] + 1))


def fewer_travellers_in_groups(folder: Folder) -> None:
    folder.edit_groups(lambda rows: largest(rows).update(travellers=1))


def lose_a_group_row(folder: Folder) -> None:
    folder.edit_groups(lambda rows: rows.pop(7))


def repeat_a_group_row(folder: Folder) -> None:
    folder.edit_groups(lambda rows: rows.append(dict(rows[7])))


def invent_a_group_row(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        rows.append({**rows[0], "origin": h3.grid_ring(rows[0]["origin"], 40)[0]})

    folder.edit_groups(change)


def edit_last_number(name: str) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_text(name, lambda text: re.sub(r"(\d)(\D*)$", _next_digit, text))


def _next_digit(match: re.Match[str]) -> str:
    return f"{(int(match[1]) + 1) % 10}{match[2]}"


def geojson_number(folder: Folder) -> None:
    folder.edit_text("zones.geojson", lambda text: re.sub(r'"tiles": (\d+)', '"tiles": 1', text, count=1))


def geojson_outline(folder: Folder) -> None:
    folder.edit_text("zones.geojson", lambda text: re.sub(r"\[\[\[\d", "[[[1", text, count=1))


def geojson_without_a_zone(folder: Folder) -> None:
    folder.edit_text("zones.geojson", lambda text: re.sub(r'\{"type": "Feature".*?\}\}, ', "", text, count=1))


def extra_file(folder: Folder) -> None:
    folder.public("notes.txt").write_text("nothing much")


def extra_folder(folder: Folder) -> None:
    folder.public("more").mkdir()


def file_behind_a_link(folder: Folder) -> None:
    elsewhere = folder.path / "README.md"
    folder.public("README.md").rename(elsewhere)
    folder.public("README.md").symlink_to(elsewhere)


def lose_a_file(folder: Folder) -> None:
    folder.public("README.md").unlink()


def travellers_of_trips(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        for row in rows:
            row["travellers"] = row["trips"]

    folder.edit_flows(change)


def extra_column(name: str, value: Any) -> Callable[[Folder], None]:
    def change(rows: Rows) -> None:
        for row in rows:
            row[name] = value

    return lambda folder: folder.edit_rows("release/zones.parquet", change)


def zone_entry(**values: Any) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_rows("release/zones.parquet", lambda rows: rows[0].update(values))


def drop_zone_column(name: str) -> Callable[[Folder], None]:
    def change(folder: Folder) -> None:
        path = folder.public("zones.parquet")
        parquet.write_table(parquet.read_table(path).drop_columns([name]), path, store_schema=False)

    return change


def lose_a_zone(folder: Folder) -> None:
    folder.edit_rows("release/zones.parquet", lambda rows: rows.pop())


def manifest_entry(**values: Any) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_manifest(lambda facts: facts.update(values))


def tell_what_is_withheld(folder: Folder) -> None:
    """Tell the true withheld volume, of too few people, with a share and words that fit it."""
    groups = parquet.read_table(folder.path / "private/groups.parquet").to_pylist()
    withheld = sum(row["trips"] for row in groups if not row["released_origin"])
    assert 0 < withheld < 10
    share = withheld / (withheld + folder.facts["released"])
    manifest_entry(suppressed=withheld, suppressed_share=share, suppressed_words=f"{withheld} trips")(folder)


def tell_a_wrong_volume(folder: Folder) -> None:
    share = 40 / (40 + folder.facts["released"])
    manifest_entry(suppressed=40, suppressed_share=share, suppressed_words="40 trips")(folder)


def tell_it_in_words(folder: Folder) -> None:
    folder.edit_manifest(
        lambda facts: facts.update(suppressed_words=facts["suppressed_words"] + " (4 trips)")
    )


def other_measure(folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts["measures"].update(E=0.37))


def better_measure(folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts["measures"].update(G=facts["measures"]["G"] * 0.9))


def higher_k(folder: Folder) -> None:
    """Promise more than the flows hold, with a measure that fits."""

    def change(facts: dict[str, Any]) -> None:
        facts["protects"]["travellers"] *= 50
        facts["measures"]["C_AVG"] /= 50

    folder.edit_manifest(change)


def released_total(folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts.update(released=facts["released"] + 1))


def map_number(folder: Folder) -> None:
    folder.edit_text("map.html", lambda page: re.sub(r'("trips":\[)(\d+)', r"\g<1>9\2", page, count=1))


def map_flow_number(folder: Folder) -> None:
    folder.edit_text(
        "map.html", lambda page: re.sub(r'("flows":\{.*?"trips":\[)(\d+)', r"\g<1>9\2", page, count=1)
    )


def map_zone(folder: Folder) -> None:
    zone = parquet.read_table(folder.public("flows.parquet"))["origin"][0].as_py()
    other = h3.grid_ring(zone, 2)[0]
    folder.edit_text("map.html", lambda page: page.replace(f'"{zone}"', f'"{other}"'))


def map_remark(folder: Folder) -> None:
    tile = parquet.read_table(folder.path / "private/groups.parquet")["origin"][0].as_py()
    folder.edit_text("map.html", lambda page: page.replace("</h1>", f" {tile}</h1>"))


def map_column(folder: Folder) -> None:
    folder.edit_text("map.html", lambda page: page.replace('"height":[', '"travellers":[],"height":[', 1))


def map_without_data(folder: Folder) -> None:
    folder.edit_text("map.html", lambda page: page.replace('id="release"', 'id="nothing"'))


def wrong_digest(folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts["files"].update({"flows.csv": "0" * 64}))


class Tampering(NamedTuple):
    """A change, the rule that must catch it, the release it is done to, and whether digests notice too."""

    rule: str
    change: Callable[[Folder], Any]
    release: str = "told"
    noticed: bool = True


TAMPERINGS = {
    "raise one number": Tampering("flows-match-recount", add("trips", 1)),
    "lower one number": Tampering("flows-match-recount", add("travellers", -1)),
    "remove a flow": Tampering("flows-match-recount", remove_a_flow),
    "add a flow": Tampering("every-group-safe", add_a_flow),
    "repeat a flow": Tampering("flows-match-recount", repeat_a_flow),
    "swap two zones": Tampering("flows-match-recount", swap_two_zones),
    "zone becomes its child": Tampering(
        "zones-contain-tiles", move_zone(lambda old, _: h3.cell_to_center_child(old))
    ),
    "zone becomes its sibling": Tampering(
        "zones-contain-tiles", move_zone(lambda old, _: h3.grid_ring(old, 1)[0])
    ),
    "zone becomes no zone": Tampering("zones-contain-tiles", move_zone(lambda old, _: "nowhere")),
    "zone becomes an ancestor that overlaps": Tampering("zones-disjoint", move_zone(overlapping_ancestor)),
    "zone becomes the world": Tampering("zones-disjoint", move_zone(lambda old, _: "world")),
    "tear a tile apart": Tampering("zones-disjoint", tear_a_tile, noticed=False),
    "release nothing": Tampering("every-group-safe", release_nothing),
    "release a withheld flow in private": Tampering(
        "flows-match-recount", release_a_withheld_flow, noticed=False
    ),
    "release one end of a flow": Tampering("both-or-neither", release_half_a_flow, noticed=False),
    "withhold more than the limit": Tampering("suppression-within-limit", withhold_too_much),
    "state a smaller limit": Tampering(
        "suppression-within-limit",
        manifest_entry(parameters={"suppression_limit": 0.001}),
        noticed=False,
    ),
    "raise a private number": Tampering("every-flow-accounted", more_trips_in_groups, noticed=False),
    "lower private travellers": Tampering("every-flow-accounted", fewer_travellers_in_groups, noticed=False),
    "lose a private row": Tampering("every-flow-accounted", lose_a_group_row, noticed=False),
    "repeat a private row": Tampering("every-flow-accounted", repeat_a_group_row, noticed=False),
    "invent a private row": Tampering("every-flow-accounted", invent_a_group_row, noticed=False),
    "edit the csv": Tampering("csv-equals-parquet", edit_last_number("flows.csv")),
    "rename a csv column": Tampering(
        "csv-equals-parquet",
        lambda f: f.edit_text("flows.csv", lambda text: text.replace("trips", "Trips", 1)),
    ),
    "edit a geojson number": Tampering("zones-table-matches", geojson_number),
    "edit a geojson outline": Tampering("zones-table-matches", geojson_outline),
    "remove a geojson zone": Tampering("zones-table-matches", geojson_without_a_zone),
    "edit a zone's tiles": Tampering("zones-table-matches", zone_entry(tiles=1)),
    "edit a zone's volume": Tampering("zones-table-matches", zone_entry(trips=11)),
    "edit a zone's height": Tampering("zones-table-matches", zone_entry(height=1)),
    "hide a place in a zone's point": Tampering("zones-table-matches", zone_entry(lat=48.85661)),
    "remove the volumes": Tampering("zones-table-matches", drop_zone_column("trips")),
    "remove the outlines": Tampering("zones-table-matches", drop_zone_column("geometry")),
    "spoil an outline": Tampering("zones-table-matches", zone_entry(geometry=b"no outline")),
    "remove a zone": Tampering("zones-table-matches", lose_a_zone),
    "add a file": Tampering("files-complete", extra_file, noticed=False),
    "add a folder": Tampering("files-complete", extra_folder, noticed=False),
    "put a file behind a link": Tampering("files-complete", file_behind_a_link, noticed=False),
    "remove a file": Tampering("files-complete", lose_a_file),
    "publish unprotected travellers": Tampering("only-protected-columns", travellers_of_trips, "trips"),
    "publish travellers of zones": Tampering("only-protected-columns", extra_column("travellers", 12)),
    "list the tiles of a grid's zones": Tampering(
        "only-protected-columns", extra_column("members", ["89194ad3053ffff"])
    ),
    "list another column": Tampering(
        "only-protected-columns", manifest_entry(columns=["trips", "population"]), noticed=False
    ),
    "tell a small withheld volume": Tampering(
        "suppressed-told-safely", tell_what_is_withheld, "untold", noticed=False
    ),
    "tell a wrong withheld volume": Tampering("suppressed-told-safely", tell_a_wrong_volume, noticed=False),
    "tell it in the words": Tampering("manifest-consistent", tell_it_in_words, "untold", noticed=False),
    "tell a share of the untold": Tampering(
        "manifest-consistent", manifest_entry(suppressed_share=0.001), "untold", noticed=False
    ),
    "tell a small number of dropped rows": Tampering(
        "dropped-told-safely", manifest_entry(dropped_rows={"null_island": 3}), noticed=False
    ),
    "tell it in other words": Tampering(
        "dropped-told-safely", manifest_entry(dropped_rows={"null_island": "fewer than 2"}), noticed=False
    ),
    "lower k": Tampering("manifest-consistent", manifest_entry(protects={"travellers": 5}), noticed=False),
    "raise k": Tampering("every-group-safe", higher_k, noticed=False),
    "promise a k of one": Tampering(
        "every-group-safe", manifest_entry(protects={"travellers": 1}), noticed=False
    ),
    "promise no threshold": Tampering("every-group-safe", manifest_entry(protects={}), noticed=False),
    "promise another unit": Tampering(
        "only-protected-columns", manifest_entry(protects={"trips": 10}), noticed=False
    ),
    "state more groups": Tampering("manifest-consistent", manifest_entry(groups=17), noticed=False),
    "state a larger smallest flow": Tampering(
        "manifest-consistent", manifest_entry(smallest={"trips": 400, "travellers": 300}), noticed=False
    ),
    "add a measure": Tampering("manifest-consistent", other_measure, noticed=False),
    "better a measure": Tampering("manifest-consistent", better_measure, noticed=False),
    "add an entry": Tampering("manifest-consistent", manifest_entry(remark="p17 lives here"), noticed=False),
    "state a larger total": Tampering("totals-add-up", released_total, noticed=False),
    "edit a zone's number on the map": Tampering("map-shows-released-only", map_number),
    "edit a flow's number on the map": Tampering("map-shows-released-only", map_flow_number),
    "show another zone on the map": Tampering("map-shows-released-only", map_zone),
    "name a tile beside the map": Tampering("map-shows-released-only", map_remark),
    "add a column to the map's zones": Tampering("map-shows-released-only", map_column),
    "hide the map's data": Tampering("map-shows-released-only", map_without_data),
    "state a wrong digest": Tampering("digests-match", wrong_digest),
}


def test_every_rule_is_put_to_the_test() -> None:
    assert {tampering.rule for tampering in TAMPERINGS.values()} == {rule.name for rule in BOOK}


@pytest.mark.parametrize("name", ["told", "untold", "trips"])
def test_honest_release_passes_every_rule(world: World, honest: Path, name: str) -> None:
    report = audit(world, honest / name)
    assert [finding for finding in report.findings if not finding.ok] == []
    assert report.safe
    assert min(report.smallest_support.values()) >= 10


@pytest.mark.parametrize("tampering", TAMPERINGS.values(), ids=TAMPERINGS)
def test_tampering_is_caught_by_the_rule_made_for_it(
    tampering: Tampering, world: World, honest: Path, tmp_path: Path
) -> None:
    folder = tampered(honest, tampering, tmp_path)
    report = audit(world, folder.path)
    assert tampering.rule in report.broken
    assert ("digests-match" in report.broken) == tampering.noticed
    assert_discreet(report, folder)


FORGEABLE = {
    name: tampering
    for name, tampering in TAMPERINGS.items()
    if tampering.noticed and tampering.rule != "digests-match"
}


@pytest.mark.parametrize("tampering", FORGEABLE.values(), ids=FORGEABLE)
def test_a_forger_who_refreshes_the_digests_is_caught_too(
    tampering: Tampering, world: World, honest: Path, tmp_path: Path
) -> None:
    folder = tampered(honest, tampering, tmp_path)
    folder.refresh()
    report = audit(world, folder.path)
    assert tampering.rule in report.broken
    assert ("digests-match" in report.broken) == (tampering.change is lose_a_file)


def tampered(honest: Path, tampering: Tampering, tmp_path: Path) -> Folder:
    """Return a copy of an honest release after the change."""
    shutil.copytree(honest / tampering.release, tmp_path / "out", symlinks=True)
    folder = Folder(tmp_path / "out")
    tampering.change(folder)
    return folder


def assert_discreet(report: AuditReport, folder: Folder) -> None:
    """Check that the words name no place and no person, and no small number but those of the promise."""
    groups = parquet.read_table(folder.path / "private/groups.parquet")
    places = set(groups["origin"].to_pylist()) | set(groups["destination"].to_pylist())
    promised = set(folder.facts["protects"].values())
    for finding in report.findings:
        assert not any(place in finding.words for place in places)
        assert not re.search(r"\bp\d+\b", finding.words)
        figures = re.findall(r"\d[\d,.]*%?", finding.words.replace("h3:10", ""))
        numbers = {float(figure.replace(",", "")) for figure in figures if not figure.endswith("%")}
        assert all(number >= 10 or number in promised | {2} for number in numbers)


def test_lower_k_is_held_against_the_order(world: World, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest / "told", tmp_path / "out")
    folder = Folder(tmp_path / "out")

    def weaken(facts: dict[str, Any]) -> None:
        facts["protects"] = {"travellers": 5}
        facts["measures"]["C_AVG"] *= 2

    folder.edit_manifest(weaken)
    assert audit(world, folder.path).safe, "a weaker promise that is kept is no lie"
    assert audit(world, folder.path, k=10).broken == ("every-group-safe",)
    assert audit(world, folder.path, k=10, unit="travellers").broken == ("every-group-safe",)


def test_a_stricter_order_than_the_release_keeps(world: World, honest: Path) -> None:
    assert audit(world, honest / "told", k=10, unit="travellers").safe
    assert audit(world, honest / "told", k=11, unit="travellers").broken == ("every-group-safe",)
    assert "every-group-safe" in audit(world, honest / "told", k=10, unit="population").broken


def test_another_raw_input_does_not_fit(honest: Path) -> None:
    other = World.of(raw_trips(seed=4))
    broken = audit(other, honest / "told").broken
    assert {"flows-match-recount", "every-flow-accounted"} <= set(broken)


def test_people_who_are_gone_from_the_raw_input_are_missed(world: World, honest: Path) -> None:
    seven = pa.array([f"p{row % 7}" for row in range(world.raw.num_rows)])
    few = World.of(world.raw.set_column(4, "person", seven))
    report = audit(few, honest / "told")
    assert "every-group-safe" in report.broken
    assert report.smallest_support["travellers"] < 10
