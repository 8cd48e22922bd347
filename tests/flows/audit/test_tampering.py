"""Releases tampered with in many ways: each is caught by the rule made for it, digests refreshed or not."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import h3
import pyarrow as pa
import pytest
from pyarrow import parquet

from forgeries import flows as forgery
from tripcloak.flows.audit import audit_folder
from tripcloak.flows.audit.rules import BOOK
from tripcloak.ground.rulebook import Verdict
from tripcloak.promises import AllOf, KAnonymity, LDiversity, TCloseness
from worlds.released_flows import TEN_TRAVELLERS, Folder, World, raw_trips

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def world() -> World:
    """A city whose release withholds flows of many people."""
    return World.of(raw_trips())


@pytest.fixture(scope="module")
def honest(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Honest releases: ``told``, ``untold`` with room for few withheld trips, ``trips`` protects trips.

    ``exact`` tells trips and travellers, both exactly.
    """
    root = tmp_path_factory.mktemp("honest")
    world.publish(root / "told", world.release(), bad_time=15)
    world.publish(root / "untold", world.release(limit=0.002))
    world.publish(root / "trips", world.release(KAnonymity(k=10, unit="trips")))
    world.publish(root / "exact", replace(world.release(), publish="both"))
    yield root
    shutil.rmtree(root)


def audit(world: World, folder: Path, **order: Any) -> Verdict:
    with world.connection() as con:
        return audit_folder(folder, con, **order)


class Tampering(NamedTuple):
    """A change, the rule that must catch it, the release it is done to, and whether digests notice too."""

    rule: str
    change: Callable[[Folder], Any]
    release: str = "told"
    noticed: bool = True


def also(part: dict[str, Any], words: str = "at least 10 travellers") -> Callable[[Folder], None]:
    """Return a change that promises something beside ten travellers, which need make no sense."""
    parts = [TEN_TRAVELLERS.to_manifest(), part]
    return forgery.manifest_entry(promise={"kind": "all of", "promises": parts, "sentence": words})


TAMPERINGS = {
    "raise one number": Tampering("flows-match-recount", forgery.add("trips", 1)),
    "lower one number": Tampering("flows-match-recount", forgery.add("travellers", -1)),
    "round travellers up": Tampering("flows-match-recount", forgery.add("travellers", 10)),
    "round travellers too far down": Tampering("flows-match-recount", forgery.add("travellers", -10)),
    "leave out the step": Tampering(
        "flows-match-recount",
        lambda f: f.edit_manifest(lambda facts: facts.pop("steps")),
        noticed=False,
    ),
    "state another step": Tampering(
        "flows-match-recount", forgery.manifest_entry(steps={"travellers": 5}), noticed=False
    ),
    "state a step of exact numbers": Tampering(
        "flows-match-recount", forgery.manifest_entry(steps={"travellers": 10}), "exact", noticed=False
    ),
    "state a step of trips": Tampering(
        "flows-match-recount",
        forgery.manifest_entry(steps={"trips": 10, "travellers": 10}),
        noticed=False,
    ),
    "remove a flow": Tampering("flows-match-recount", forgery.remove_a_flow),
    "add a flow": Tampering("every-group-safe", forgery.add_a_flow),
    "repeat a flow": Tampering("flows-match-recount", forgery.repeat_a_flow),
    "swap two zones": Tampering("flows-match-recount", forgery.swap_two_zones),
    "zone becomes its child": Tampering(
        "zones-contain-tiles", forgery.move_zone(lambda old, _: h3.cell_to_center_child(old))
    ),
    "zone becomes its sibling": Tampering(
        "zones-contain-tiles", forgery.move_zone(lambda old, _: h3.grid_ring(old, 1)[0])
    ),
    "zone becomes no zone": Tampering("zones-contain-tiles", forgery.move_zone(lambda old, _: "nowhere")),
    "zone becomes an ancestor that overlaps": Tampering(
        "zones-disjoint", forgery.move_zone(forgery.overlapping_ancestor)
    ),
    "zone becomes the world": Tampering("zones-disjoint", forgery.move_zone(lambda old, _: "world")),
    "tear a tile apart": Tampering("zones-disjoint", forgery.tear_a_tile, noticed=False),
    "release nothing": Tampering("every-group-safe", forgery.release_nothing),
    "release a withheld flow in private": Tampering(
        "flows-match-recount", forgery.release_a_withheld_flow, noticed=False
    ),
    "release one end of a flow": Tampering("both-or-neither", forgery.release_half_a_flow, noticed=False),
    "withhold more than the limit": Tampering("suppression-within-limit", forgery.withhold_too_much),
    "state a smaller limit": Tampering(
        "suppression-within-limit",
        forgery.manifest_entry(parameters={"suppression_limit": 0.001}),
        noticed=False,
    ),
    "raise a private number": Tampering("every-flow-accounted", forgery.more_trips_in_groups, noticed=False),
    "lower private travellers": Tampering(
        "every-flow-accounted", forgery.fewer_travellers_in_groups, noticed=False
    ),
    "lose a private row": Tampering("every-flow-accounted", forgery.lose_a_group_row, noticed=False),
    "repeat a private row": Tampering("every-flow-accounted", forgery.repeat_a_group_row, noticed=False),
    "invent a private row": Tampering("every-flow-accounted", forgery.invent_a_group_row, noticed=False),
    "edit the csv": Tampering("csv-equals-parquet", forgery.edit_last_number("flows.csv")),
    "rename a csv column": Tampering(
        "csv-equals-parquet",
        lambda f: f.edit_text("flows.csv", lambda text: text.replace("trips", "Trips", 1)),
    ),
    "edit a geojson number": Tampering("zones-table-matches", forgery.geojson_number),
    "edit a geojson outline": Tampering("zones-table-matches", forgery.geojson_outline),
    "remove a geojson zone": Tampering("zones-table-matches", forgery.geojson_without_a_zone),
    "edit a zone's tiles": Tampering("zones-table-matches", forgery.zone_entry(tiles=1)),
    "edit a zone's volume": Tampering("zones-table-matches", forgery.zone_entry(trips=11)),
    "edit a zone's height": Tampering("zones-table-matches", forgery.zone_entry(height=1)),
    "hide a place in a zone's point": Tampering("zones-table-matches", forgery.zone_entry(lat=48.85661)),
    "remove the volumes": Tampering("zones-table-matches", forgery.drop_zone_column("trips")),
    "remove the outlines": Tampering("zones-table-matches", forgery.drop_zone_column("geometry")),
    "draw a zone as its hexagon": Tampering("outlines-are-zones", forgery.redraw(forgery.cell_itself)),
    "move a corner of an outline": Tampering("outlines-are-zones", forgery.moved_corner(5e-7)),
    "add a corner to an outline": Tampering("outlines-are-zones", forgery.redraw(forgery.with_a_corner_more)),
    "cut a hole into an outline": Tampering("outlines-are-zones", forgery.redraw(forgery.with_a_hole)),
    "enlarge a zone": Tampering("outlines-are-zones", forgery.zone_entry(area_km2=123.0)),
    "spoil an outline": Tampering("zones-table-matches", forgery.zone_entry(geometry=b"no outline")),
    "remove a zone": Tampering("zones-table-matches", forgery.lose_a_zone),
    "add a file": Tampering("files-complete", forgery.extra_file, noticed=False),
    "add a folder": Tampering("files-complete", forgery.extra_folder, noticed=False),
    "put a file behind a link": Tampering("files-complete", forgery.file_behind_a_link, noticed=False),
    "remove a file": Tampering("files-complete", forgery.lose_a_file),
    "publish unprotected travellers": Tampering(
        "only-protected-columns", forgery.travellers_of_trips, "trips"
    ),
    "publish travellers of zones": Tampering(
        "only-protected-columns", forgery.extra_column("travellers", 12)
    ),
    "list the tiles of a grid's zones": Tampering(
        "only-protected-columns", forgery.extra_column("members", ["89194ad3053ffff"])
    ),
    "list another column": Tampering(
        "only-protected-columns", forgery.manifest_entry(columns=["trips", "population"]), noticed=False
    ),
    "tell a small withheld volume": Tampering(
        "suppressed-told-safely", forgery.tell_what_is_withheld, "untold", noticed=False
    ),
    "tell a wrong withheld volume": Tampering(
        "suppressed-told-safely", forgery.tell_a_wrong_volume, noticed=False
    ),
    "tell it in the words": Tampering(
        "manifest-consistent", forgery.tell_it_in_words, "untold", noticed=False
    ),
    "tell a finer typical zone": Tampering(
        "manifest-consistent", forgery.manifest_entry(typical_zone_km2=0.001), noticed=False
    ),
    "tell no typical zone": Tampering(
        "manifest-consistent", forgery.manifest_entry(typical_zone_km2=None), noticed=False
    ),
    "call people households": Tampering(
        "counted-as-said",
        forgery.manifest_entry(counted={"travellers": "households, not people: each may be many"}),
        noticed=False,
    ),
    "tell a share of the untold": Tampering(
        "manifest-consistent", forgery.manifest_entry(suppressed_share=0.001), noticed=False
    ),
    "tell a small number of dropped rows": Tampering(
        "dropped-told-safely", forgery.manifest_entry(dropped_rows={"null_island": 3}), noticed=False
    ),
    "tell another number of dropped rows": Tampering(
        "dropped-match-recount", forgery.manifest_entry(dropped_rows={"bad_time": 16}), noticed=False
    ),
    "tell it in other words": Tampering(
        "dropped-told-safely",
        forgery.manifest_entry(dropped_rows={"null_island": "fewer than 2"}),
        noticed=False,
    ),
    "lower k": Tampering(
        "manifest-consistent", forgery.promise(KAnonymity(k=5, unit="travellers")), noticed=False
    ),
    "raise k": Tampering("every-group-safe", forgery.higher_k, noticed=False),
    "promise a k of one": Tampering(
        "every-group-safe", forgery.stated(k=1, sentence="at least 1 travellers"), noticed=False
    ),
    "promise half a person": Tampering("every-group-safe", forgery.stated(k=10.5), noticed=False),
    "promise no threshold": Tampering(
        "every-group-safe",
        forgery.manifest_entry(promise={"kind": "l-diversity", "l": 2, "of": "tiles", "sentence": "2 tiles"}),
        noticed=False,
    ),
    "promise nothing": Tampering("every-group-safe", forgery.manifest_entry(promise={}), noticed=False),
    "promise by word of mouth": Tampering(
        "every-group-safe", forgery.manifest_entry(promise="at least 10 travellers"), noticed=False
    ),
    "promise something new": Tampering("every-group-safe", forgery.stated(kind="trust me"), noticed=False),
    "promise something more": Tampering("every-group-safe", forgery.stated(of="p17"), noticed=False),
    "promise within promises": Tampering(
        "every-group-safe",
        lambda f: f.edit_manifest(
            lambda facts: facts.update(promise={"kind": "all of", "promises": [facts["promise"]] * 2})
        ),
        noticed=False,
    ),
    "promise another unit": Tampering(
        "only-protected-columns", forgery.promise(KAnonymity(k=10, unit="trips")), noticed=False
    ),
    "promise more places in a zone": Tampering(
        "zones-diverse",
        forgery.promise(AllOf(promises=(TEN_TRAVELLERS, LDiversity(l=5000)))),
        noticed=False,
    ),
    "promise closer destinations": Tampering(
        "destinations-close",
        forgery.promise(AllOf(promises=(TEN_TRAVELLERS, TCloseness(t=0.001)))),
        noticed=False,
    ),
    "promise half a place": Tampering(
        "zones-diverse", also({"kind": "l-diversity", "l": 2.5, "of": "tiles"}), noticed=False
    ),
    "promise a share of two": Tampering(
        "destinations-close", also({"kind": "t-closeness", "t": 2}), noticed=False
    ),
    "promise in words alone": Tampering(
        "manifest-consistent",
        forgery.stated(sentence="at least 10 travellers and at least 30 tiles that occur in either zone"),
        noticed=False,
    ),
    "promise in other words": Tampering(
        "manifest-consistent",
        also({"kind": "l-diversity", "l": 2, "of": "tiles"}, "at least 10 travellers and at least 30 tiles"),
        noticed=False,
    ),
    "state more groups": Tampering("manifest-consistent", forgery.manifest_entry(groups=17), noticed=False),
    "state a larger smallest flow": Tampering(
        "manifest-consistent",
        forgery.manifest_entry(smallest={"trips": 400, "travellers": 300}),
        noticed=False,
    ),
    "add a measure": Tampering("manifest-consistent", forgery.other_measure, noticed=False),
    "better a measure": Tampering("manifest-consistent", forgery.better_measure, noticed=False),
    "add an entry": Tampering(
        "manifest-consistent", forgery.manifest_entry(remark="p17 lives here"), noticed=False
    ),
    "state a larger total": Tampering("totals-add-up", forgery.released_total, noticed=False),
    "edit a zone's number on the map": Tampering("map-shows-released-only", forgery.map_number),
    "edit a flow's number on the map": Tampering("map-shows-released-only", forgery.map_flow_number),
    "show another zone on the map": Tampering("map-shows-released-only", forgery.map_zone),
    "name a tile beside the map": Tampering("map-shows-released-only", forgery.map_remark),
    "add a column to the map's zones": Tampering("map-shows-released-only", forgery.map_column),
    "hide the map's data": Tampering("map-shows-released-only", forgery.map_without_data),
    "state a wrong digest": Tampering("digests-match", forgery.wrong_digest),
}


ELSEWHERE = {
    "manifest-as-made": "tests/forgeries/test_forged_flows.py",
    "flows-never-overlap": "tests/cli/test_time_slot.py",
    "suppressed-not-solvable": "tests/flows/audit/test_audit_withheld.py",
    "noise-suffices": "tests/flows/audit/test_audit_noise.py",
    "noise-as-stated": "tests/flows/audit/test_audit_noise.py",
    "no-traveller-dominates": "tests/flows/audit/test_audit_dominance.py",
    "largest-parts-told": "tests/flows/audit/test_audit_dominance.py",
    "choices-hidden": "tests/flows/audit/test_audit_hidden.py",
    "numbers-rounded": "tests/flows/audit/test_audit_rounding.py",
    "sums-close": "tests/flows/audit/test_audit_rounding.py",
    "signature-fits": "tests/cli/test_signing.py",
    "segments-safe": "tests/flows/audit/test_audit_segments.py",
    "segment-as-read": "tests/flows/audit/test_audit_segments.py",
    "zones-kept": "tests/flows/test_zones_kept.py",
    "period-as-read": "tests/flows/test_series.py",
    "tables-add-up": "tests/flows/test_tables_beside.py",
    "tables-match-recount": "tests/flows/test_tables_beside.py",
}
"""Rules that say something of other releases than these, and where those are forged."""


def test_every_rule_is_put_to_the_test() -> None:
    forged = {tampering.rule for tampering in TAMPERINGS.values()}
    assert forged | set(ELSEWHERE) == {rule.name for rule in BOOK}
    for rule, file in ELSEWHERE.items():
        assert f'"{rule}"' in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["told", "untold", "trips", "exact"])
def test_honest_release_passes_every_rule(world: World, honest: Path, name: str) -> None:
    report = audit(world, honest / name)
    assert [finding for finding in report.findings if not finding.ok] == []
    assert report.safe
    assert min(report.smallest_support.values()) >= 10


@pytest.mark.one_in(2)
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


@pytest.mark.one_in(3)
@pytest.mark.parametrize("tampering", FORGEABLE.values(), ids=FORGEABLE)
def test_a_forger_who_refreshes_the_digests_is_caught_too(
    tampering: Tampering, world: World, honest: Path, tmp_path: Path
) -> None:
    folder = tampered(honest, tampering, tmp_path)
    folder.refresh()
    report = audit(world, folder.path)
    assert tampering.rule in report.broken
    assert ("digests-match" in report.broken) == (tampering.change is forgery.lose_a_file)


def tampered(honest: Path, tampering: Tampering, tmp_path: Path) -> Folder:
    """Return a copy of an honest release after the change."""
    shutil.copytree(honest / tampering.release, tmp_path / "out", symlinks=True)
    folder = Folder(tmp_path / "out")
    tampering.change(folder)
    return folder


def assert_discreet(report: Verdict, folder: Folder) -> None:
    """Check that the words name no place and no person, and no small number but those of the promise."""
    groups = parquet.read_table(folder.path / "private/groups.parquet")
    places = set(groups["origin"].to_pylist()) | set(groups["destination"].to_pylist())
    promised = {
        float(number) for number in re.findall(r'"[klt]": ([\d.]+)', json.dumps(folder.facts["promise"]))
    }
    for finding in report.findings:
        assert not any(place in finding.words for place in places)
        assert not re.search(r"\bp\d+\b", finding.words)
        figures = re.findall(r"\d[\d,.]*%?", finding.words.replace("h3:10", ""))
        numbers = {float(figure.replace(",", "")) for figure in figures if not figure.endswith("%")}
        assert all(number >= 10 or number in promised | {2} for number in numbers)


def test_lower_k_is_held_against_the_order(world: World, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest / "exact", tmp_path / "out")
    folder = Folder(tmp_path / "out")

    def weaken(facts: dict[str, Any]) -> None:
        facts["promise"] = KAnonymity(k=5, unit="travellers", id_is="person").stated()
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
