"""Totals and several heights beside the flows: published, audited afresh, caught where they are forged."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import csv, parquet

from tripcloak.flows.anonymise import (
    AnonymisationRequest,
    MadeRelease,
    anonymise,
    make_release,
    write_release,
)
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.flows.audit.raw import RawInput
from tripcloak.flows.audit.rules import BOOK
from tripcloak.flows.audit.trees import load_tree
from tripcloak.flows.checking import audit_against, check_flows, how_it_was_read
from tripcloak.flows.methods import Laplace, Mondrian, NestedCut, ProductCut, TwinCut
from tripcloak.flows.methods.suppression import Suppression
from tripcloak.flows.reading.matrix import Zoning, opened
from tripcloak.flows.release.bricks import Tables, TablesWanted
from tripcloak.flows.release.laying import read_tables
from tripcloak.flows.release.reading import read_release
from tripcloak.flows.release.totals import order_of
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import Finding, _judge
from tripcloak.hierarchy.spec import parse_tiling
from tripcloak.ledger.disclosing import read_again
from tripcloak.promises import KAnonymity
from tripcloak.promises.allof import all_of
from tripcloak.promises.dominance import Dominance
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource
from worlds.depth import DEEP
from worlds.released_flows import Folder, tract_file
from worlds.trips import write_csv

K = KAnonymity(k=3)
BOTH = TablesWanted(levels=(7, 6), margins=True)
TREE = TwinCut(promise=K, suppression_limit=0.4)


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trips among twelve places, few of them usual: much is withheld, and is enough further up."""
    draw = random.Random(5)
    places = [(48.72 + 0.06 * row, 2.13 + 0.07 * column) for row in range(4) for column in range(3)]
    rows = []
    for number in range(420):
        near = number % 3 > 0
        start = places[number % 12]
        end = start if near else draw.choice(places)
        ends = [side + draw.random() / 200 for side in (*start, *end)]
        columns = dict(zip(("start_lat", "start_lon", "end_lat", "end_lon"), map(str, ends), strict=True))
        person = draw.randrange(90)
        time = f"2024-05-{10 + number % 9} {draw.randrange(10, 24)}:30:00"
        rows.append({"person_id": f"p{person}", "sex": "FM"[person % 2], "start_time": time, **columns})
    return write_csv(tmp_path_factory.mktemp("raw") / "trips.csv", rows)


def tracts(folder: Path) -> Zoning:
    return Zoning(spec="table:county,state", zones=tract_file(folder))


KINDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "plain": lambda _: {},
    "totals alone": lambda _: {"tables": TablesWanted(margins=True)},
    "levels alone": lambda _: {"tables": TablesWanted(levels=(8, 5))},
    "unions": lambda _: {"zoning": Zoning(spec="h3:8/binary")},
    "a root": lambda _: {"zoning": Zoning(spec="h3:8/root=4")},
    "a quadtree": lambda _: {"zoning": Zoning(spec="quadtree:7"), "tables": TablesWanted(levels=(5, 2))},
    "zones of a file": lambda folder: {
        "zoning": tracts(folder),
        "tables": TablesWanted(levels=(1, 2), margins=True),
    },
    "trips without ids": lambda _: {"method": TwinCut(promise=KAnonymity(k=3, unit="trips"))},
    "segments": lambda _: {"every_segment": (SegmentBy.parse("sex"),)},
    "parts": lambda _: {
        "method": replace(TREE, promise=all_of([K, Dominance(share=0.6, of=("trips",))])),
    },
    "zones that overlap": lambda _: {"method": NestedCut(promise=K)},
    "times": lambda _: {
        "method": ProductCut(promise=K, time_weight=2.0),
        "zoning": Zoning(spec="h3:8", time_slot=360, fold="day"),
    },
    "finest zones": lambda _: {"method": Suppression(promise=K, suppression_limit=0.9)},
}


@pytest.fixture(scope="module")
def made(trips: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what gives the release of a kind, made when it is first asked for."""
    room = tmp_path_factory.mktemp("made")

    def release(kind: str) -> Path:
        out = room / kind
        if not out.exists():
            anonymise(request_of(trips, out, **KINDS[kind](room)))
        return out

    return release


def request_of(trips: Path, out: Path, **changes: Any) -> AnonymisationRequest:
    given: dict[str, Any] = {"method": TREE, "zoning": Zoning(spec="h3:8"), "tables": BOTH}
    return AnonymisationRequest(source=TripSource(paths=(str(trips),)), out=out, **(given | changes))


def rows_of(folder: Path, name: str = "tables") -> list[dict[str, Any]]:
    return parquet.read_table(folder / "release" / f"{name}.parquet").to_pylist()


ALIKE = ("levels alone", "a root", "finest zones")
"""Kinds that differ little from others, and are looked at in deep runs."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if DEEP or kind not in ALIKE])
def test_honest_tables_pass_every_rule(kind: str, made: Callable[[str], Path], trips: Path) -> None:
    report = audit_against(made(kind), (str(trips),))
    assert report.safe, [finding for finding in report.findings if not finding.ok]
    assert all(finding.ok for finding in check_flows(made(kind) / "release"))


def test_withheld_trips_are_counted_further_up(made: Callable[[str], Path]) -> None:
    facts = json.loads((made("plain") / "release" / "manifest.json").read_text())
    counted = {(one["origin_level"], one["destination_level"]): one for one in facts["tables"]["counted"]}
    assert set(counted) == {
        *(("7", "7"), ("6", "6"), ("all", "all")),
        *(pair for tier in ("own", "7", "6") for pair in ((tier, "all"), ("all", tier))),
    }
    assert counted["all", "all"]["trips"] > facts["released"]
    rows = rows_of(made("plain"))
    for pair, one in counted.items():
        own = [row["trips"] for row in rows if (row["origin_level"], row["destination_level"]) == pair]
        assert (len(own), sum(own)) == (one["cells"], one["trips"])
        assert min(own) >= 3
        assert facts["released"] <= one["trips"] <= one["trips"] + one["not_counted"]["at_most"]


def test_no_band_is_told_beside_exact_sums_of_what_is_withheld(made: Callable[[str], Path]) -> None:
    # A band of the withheld volume would tell how much is counted nowhere.
    facts = json.loads((made("plain") / "release" / "manifest.json").read_text())
    assert facts["withheld"]["at_least"] == 0
    assert facts["withheld"]["words"] == "between 0 and 40 % of the trips"


def test_zones_of_a_level_cover_what_is_inside(made: Callable[[str], Path]) -> None:
    levels = rows_of(made("zones of a file"), "levels")
    parents = {(row["axis"], row["level"], row["zone"]): row["parent"] for row in levels}
    for (axis, level, _), parent in parents.items():
        above = {"own": "1", "1": "2", "2": None}[level]
        assert (parent is None) == (above is None)
        assert above is None or (axis, above, parent) in parents
    collection = json.loads((made("zones of a file") / "release" / "levels.geojson").read_text())
    assert [item["properties"]["zone"] for item in collection["features"]] == [row["zone"] for row in levels]
    assert all(item["geometry"] is not None for item in collection["features"])


def test_tables_of_overlapping_zones_are_sums_of_flows(made: Callable[[str], Path]) -> None:
    flows, tables = rows_of(made("zones that overlap"), "flows"), rows_of(made("zones that overlap"))
    (total,) = [row["trips"] for row in tables if row["origin_level"] == row["destination_level"] == "all"]
    assert total == sum(row["trips"] for row in flows)


def test_a_release_is_read_back_with_its_tables(trips: Path, tmp_path: Path) -> None:
    request = request_of(trips, tmp_path / "out")
    here = make_release(request)
    assert here.release.tables is not None
    anonymise(request)
    again = read_release(tmp_path / "out", here.matrix).tables
    assert again is not None
    assert again.brick_of_flow.tolist() == here.release.tables.brick_of_flow.tolist()
    assert [one.summed(again.trips).tolist() for one in again.tables] == [
        one.summed(here.release.tables.trips).tolist() for one in here.release.tables.tables
    ]
    (told,) = read_again(tmp_path / "out", bytes(16))
    assert told.n_groups == len(again.trips) > here.release.n_groups


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Mondrian(promise=K), "draws zones of its own"),
        (Laplace(epsilon=1.0), "noisy numbers"),
    ],
)
def test_methods_without_levels_are_refused_before_anything_is_read(method: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_release(request_of(Path("nowhere.csv"), Path("out"), method=method))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tables": TablesWanted(levels=(9,))}, "finer than the tiles of h3:8"),
        ({"publish": "travellers"}, "publish trips"),
    ],
)
def test_what_cannot_be_told_is_refused(
    changes: dict[str, Any], words: str, trips: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words):
        anonymise(request_of(trips, tmp_path / "out", **changes))
    assert not (tmp_path / "out").exists()


Forge = Callable[[Folder], Any]


def cell(levels: tuple[str, str], change: Callable[[dict[str, Any]], Any]) -> Forge:
    """Return a forgery of one cell of a table, in both of its files."""

    def forge(folder: Folder) -> None:
        def first(rows: list[dict[str, Any]]) -> None:
            change(next(row for row in rows if (row["origin_level"], row["destination_level"]) == levels))

        edit_tables(folder, first)

    return forge


def edit_tables(folder: Folder, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    folder.edit_rows("release/tables.parquet", change)
    table = parquet.read_table(folder.public("tables.parquet"))
    csv.write_csv(table, folder.public("tables.csv"), csv.WriteOptions(quoting_style="needed"))


def more(row: dict[str, Any]) -> None:
    row["trips"] += 5


def counted(told: str | None, where: Callable[[dict[str, Any]], bool], most: int = 10**6) -> Forge:
    """Return a forgery of which table counts withheld flows first."""

    def change(rows: list[dict[str, Any]]) -> None:
        chosen = [row for row in rows if row["released_origin"] is None and where(row)][:most]
        assert chosen
        for row in chosen:
            row["counted_from"] = told

    return lambda folder: folder.edit_groups(change)


def entry(**changes: Any) -> Forge:
    return lambda folder: folder.edit_manifest(lambda facts: facts["tables"].update(changes))


def of_first(**changes: Any) -> Forge:
    return lambda folder: folder.edit_manifest(lambda facts: facts["tables"]["counted"][0].update(changes))


def level_rows(change: Callable[[list[dict[str, Any]]], Any]) -> Forge:
    return lambda folder: folder.edit_rows("release/levels.parquet", change)


def other_parent(rows: list[dict[str, Any]]) -> None:
    first = next(row for row in rows if row["level"] == "7")
    first["parent"] = next(row["parent"] for row in rows if row["parent"] not in (None, first["parent"]))


FORGED: dict[str, tuple[str, Forge]] = {
    "a cell of more": ("tables-match-recount", cell(("7", "7"), more)),
    "a total of less": ("tables-add-up", cell(("all", "all"), lambda row: row.update(trips=10))),
    "a total of two more": (
        "tables-match-recount",
        cell(("all", "all"), lambda r: r.update(trips=r["trips"] + 2)),
    ),
    "a row told twice": ("tables-add-up", lambda f: edit_tables(f, lambda rows: rows.append(dict(rows[0])))),
    "a row left out": ("tables-match-recount", lambda f: edit_tables(f, lambda rows: rows.pop(0))),
    "a table that was not laid": (
        "tables-add-up",
        cell(("7", "7"), lambda row: row.update(origin_level="5")),
    ),
    "the text says more": (
        "tables-add-up",
        lambda f: f.edit_text(
            "tables.csv", lambda text: text.replace('"all","all","all","all",', '"all","all","all","all",1')
        ),
    ),
    "a flow in no table": ("tables-match-recount", counted("9,9", lambda row: True, 1)),
    "flows not counted": ("tables-match-recount", counted(None, lambda row: row["counted_from"] is not None)),
    "all flows in the finest table": ("tables-match-recount", counted("7,7", lambda row: True)),
    "other levels": ("tables-add-up", entry(levels=[6, 7])),
    "no totals": ("tables-add-up", entry(margins=False)),
    "totals in no order": (
        "tables-add-up",
        lambda f: f.edit_manifest(lambda facts: facts["tables"]["counted"].reverse()),
    ),
    "more trips than there are": ("tables-add-up", of_first(trips=10**6)),
    "more cells than there are": ("tables-add-up", of_first(cells=10**6)),
    "less uncounted": ("tables-add-up", of_first(not_counted={"at_least": 1, "at_most": 2, "words": "few"})),
    "no words": ("tables-add-up", of_first(not_counted=3)),
    "a zone of a level left out": ("tables-add-up", level_rows(lambda rows: rows.pop())),
    "a zone of a level too large": ("tables-add-up", level_rows(lambda rows: rows[-1].update(tiles=1))),
    "a zone in another": ("tables-match-recount", level_rows(other_parent)),
}


def judged(folder: Path, trips: Path, rule: str) -> Finding:
    """Return what one rule says of a folder."""
    source, zoning = how_it_was_read(folder, (str(trips),))
    tiling = parse_tiling(zoning.spec, zones=zoning.zones, area=zoning.area)
    raw = RawInput(tiling=tiling)
    loaders = {"tree": load_tree, "raw": raw.load, "recount": raw.recount}
    with opened(source) as (con, _):
        case = FlowEvidence(folder, con, loaders=loaders, tiling=tiling)
        (one,) = (one for one in BOOK if one.name == rule)
        return _judge(one, case)


@pytest.mark.parametrize("forged", FORGED)
def test_forged_tables_are_caught_by_the_rule_made_for_them(
    forged: str, made: Callable[[str], Path], trips: Path, tmp_path: Path
) -> None:
    rule, forge = FORGED[forged]
    folder = Folder(Path(shutil.copytree(made("plain"), tmp_path / "out")))
    forge(folder)
    folder.refresh()
    assert not judged(folder.path, trips, rule).ok


@pytest.mark.parametrize("levels", [("7", "7"), ("own", "all"), ("all", "6")])
def test_receivers_see_tables_that_do_not_add_up(
    levels: tuple[str, str], made: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Folder(Path(shutil.copytree(made("plain"), tmp_path / "out")))
    cell(levels, lambda row: row.update(trips=row["trips"] + 2))(folder)
    folder.refresh()
    broken = {finding.rule for finding in check_flows(folder.path / "release") if not finding.ok}
    assert "tables-add-up" in broken


def test_hidden_bytes_and_another_outline_are_caught(
    made: Callable[[str], Path], trips: Path, tmp_path: Path
) -> None:
    for name in ("tables.csv", "tables.parquet", "levels.geojson", "levels.parquet"):
        folder = Folder(Path(shutil.copytree(made("plain"), tmp_path / name)))
        with folder.public(name).open("ab") as file:
            file.write(b"\n")
        folder.refresh()
        assert "tables-as-written" in {one.rule for one in check_flows(folder.path / "release") if not one.ok}
    folder = Folder(Path(shutil.copytree(made("plain"), tmp_path / "area")))
    level_rows(lambda rows: rows[0].update(area_km2=1.0))(folder)
    folder.refresh()
    assert "tables-as-written" in audit_against(folder.path, (str(trips),)).broken


def laid_anew(trips: Path, out: Path, first: Callable[[MadeRelease], Any], **changes: Any) -> MadeRelease:
    """Return a release whose tables count withheld flows as somebody wants, whatever is safe."""
    made = make_release(request_of(trips, out, **changes))
    laid = made.release.tables
    assert laid is not None
    tables = read_tables(made.matrix, made.release, laid.wanted, order_of(laid), first(made))
    return replace(made, release=replace(made.release, tables=tables))


def place(made: MadeRelease, name: str) -> int:
    assert made.release.tables is not None
    return [table.name for table in made.release.tables.tables].index(name)


def test_a_set_of_few_is_caught_before_and_after_it_is_written(trips: Path, tmp_path: Path) -> None:
    finest = Suppression(promise=K, suppression_limit=0.9)

    def all_at_once(made: MadeRelease) -> Any:
        return np.where(made.release.suppressed, place(made, "7,7"), -1)

    made = laid_anew(trips, tmp_path / "out", all_at_once, method=finest)
    assert audit_matrix(made.matrix, made.release).broken == ("tables-match-recount",)
    write_release(made, tmp_path / "out")
    found = judged(tmp_path / "out", trips, "tables-match-recount")
    assert not found.ok
    assert "in tables hold fewer than 3 travellers" in found.words


def test_a_set_that_tells_of_one_flow_is_caught(trips: Path, tmp_path: Path) -> None:
    """Two flows of few, together enough: whoever knows that each is of few knows that neither is empty."""
    finest = Suppression(promise=K, suppression_limit=0.9)

    def two_at_once(made: MadeRelease) -> Any:
        matrix, hidden = made.matrix, made.release.suppressed
        first = np.full(matrix.n_flows, -1)
        travellers = matrix.flows.travellers
        assert travellers is not None
        people = [set(travellers.people[a:b].tolist()) for a, b in pairwise(travellers.offsets.tolist())]
        rows = np.flatnonzero(hidden)
        one, other = next(
            pair
            for pair in combinations(rows.tolist(), 2)
            if matrix.flows.origin[pair[0]] == matrix.flows.origin[pair[1]]
            and len(people[pair[0]] | people[pair[1]]) >= 3
        )
        first[[one, other]] = place(made, "own,all")
        return first

    made = laid_anew(trips, tmp_path / "out", two_at_once, method=finest)
    assert audit_matrix(made.matrix, made.release).safe
    write_release(made, tmp_path / "out")
    found = judged(tmp_path / "out", trips, "tables-match-recount")
    assert not found.ok
    assert "tell that a flow is not empty" in found.words


def test_wrong_tables_are_caught_before_they_are_written(trips: Path, tmp_path: Path) -> None:
    made = make_release(request_of(trips, tmp_path / "out"))
    laid = made.release.tables
    assert laid is not None
    first = laid.tables[0]
    wrong: dict[str, Tables] = {
        "elsewhere": replace(laid, brick_of_flow=np.roll(laid.brick_of_flow, 1)),
        "more trips": replace(laid, trips=laid.trips + 1),
        "another zone": replace(
            laid, tables=(first._replace(origin=np.roll(first.origin, 1)), *laid.tables[1:])
        ),
    }
    for name, tables in wrong.items():
        report = audit_matrix(made.matrix, replace(made.release, tables=tables))
        assert report.broken == ("tables-match-recount",), name
