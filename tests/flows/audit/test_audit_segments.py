"""The audit of folders with folded slots and with segments: honest ones pass, each tampering is caught."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import Table, csv, parquet

from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against
from tripcloak.flows.methods import NestedCut, ProductCut, SlotBySlot, TwinCut
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.flows.rewriting import REWRITINGS
from tripcloak.ground.folders import file_digest
from tripcloak.promises import AllOf, KAnonymity, LDiversity
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource
from worlds.trips import some_trips, write_csv


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = some_trips(900)
    people = sorted({row["person_id"] for row in rows})
    for row in rows:
        number = people.index(row["person_id"])
        row |= {"sex": ["F", " M "][number % 2], "age": ["", "12.5", "33"][number % 3]}
    return write_csv(tmp_path_factory.mktemp("raw") / "trips.csv", rows)


def made(trips: Path, out: Path, **changes: Any) -> Path:
    order: dict[str, Any] = {
        "source": TripSource(paths=(str(trips),)),
        "method": TwinCut(promise=KAnonymity(k=3)),
        "zoning": Zoning(spec="h3:8"),
        "publish": "both",
        "out": out,
    }
    anonymise(AnonymisationRequest(**(order | changes)))
    return out


@pytest.mark.parametrize(
    ("minutes", "fold"), [(60, "day"), (360, "week"), (1440, "2weeks"), (1440, "day"), (240, "2weeks")]
)
def test_folded_slots_are_counted_afresh(trips: Path, tmp_path: Path, minutes: int, fold: str) -> None:
    """The auditor folds in SQL of its own, the reader in arrays: they must agree on every trip."""
    promise = KAnonymity(k=3)
    apart = SlotBySlot.of(NestedCut(promise=promise, suppression_limit=0.6))
    along = ProductCut(promise=promise)
    source = TripSource(paths=(str(trips),), timezone="Europe/Paris")
    for name, method in (("apart", apart), ("along", along)):
        zoning = Zoning(spec="h3:8", time_slot=minutes, fold=fold, apart=name == "apart")
        out = made(trips, tmp_path / name, source=source, method=method, zoning=zoning)
        report = audit_against(out, (str(trips),))
        assert report.safe, report.broken
        facts = json.loads((out / "release" / "manifest.json").read_text())
        assert facts["hierarchy"]["fold"] == fold
    rewrite_manifest(tmp_path / "along", lambda facts: facts["hierarchy"].update(slots="apart"))
    longer = facts["measures"]["G_time"] > 1
    # The files written anew tell the two apart anyhow; here it is the auditor's own count that has to.
    counted = set(audit_against(tmp_path / "along", (str(trips),)).broken) - {one.rule for one in REWRITINGS}
    assert bool(counted) == longer


@pytest.fixture(scope="module")
def joint(trips: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    by = (SegmentBy.parse("sex"), SegmentBy.parse("age:20"))
    return made(trips, tmp_path_factory.mktemp("joint") / "out", every_segment=by)


def test_a_release_of_all_segments_passes(joint: Path, trips: Path) -> None:
    report = audit_against(joint, (str(trips),))
    assert report.safe, report.broken
    facts = json.loads((joint / "release" / "manifest.json").read_text())
    assert facts["promise"]["kind"] == "every segment"
    assert facts["promise"]["by"] == ["sex", "age:20"]
    assert facts["promise"]["names"] == [
        f"sex={sex}, age={age}" for sex in "FM" for age in ("0-19", "20-39", "unknown")
    ]


def rewrite_manifest(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "release" / "manifest.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))


def edit_segments(folder: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Change the table of segments in both forms, and the digests with it."""
    public = folder / "release"
    rows = parquet.read_table(public / "segments.parquet").to_pylist()
    change(rows)
    table = Table.from_pylist(rows)
    parquet.write_table(table, public / "segments.parquet")
    csv.write_csv(table, public / "segments.csv", csv.WriteOptions(quoting_style="needed"))
    digests = {f"segments.{form}": file_digest(public / f"segments.{form}") for form in ("csv", "parquet")}
    rewrite_manifest(folder, lambda facts: facts["files"].update(digests))


def shift_one(rows: list[dict[str, Any]]) -> None:
    rows[0]["trips"] += 1
    rows[1]["trips"] -= 1


def drop_one(rows: list[dict[str, Any]]) -> None:
    rows.pop()


def rename_all(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["segment"] = row["segment"].replace("sex=F", "sex=X")


def tell_more(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["population"] = 1


@pytest.mark.parametrize("change", [shift_one, drop_one, rename_all, tell_more])
def test_a_forged_table_of_segments_is_caught(
    joint: Path, trips: Path, tmp_path: Path, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(joint, folder)
    edit_segments(folder, change)
    report = audit_against(folder, (str(trips),))
    assert "segments-safe" in report.broken


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda facts: facts["promise"]["by"].reverse(), "segments-safe"),
        (lambda facts: facts["promise"]["names"].pop(), "segments-safe"),
        (lambda facts: facts.update(promise=facts["promise"]["promise"]), "files-complete"),
        (lambda facts: facts["promise"].update(names=[]), "segments-safe"),
        (lambda facts: facts["promise"].update(names=5, by={}), "segments-safe"),
        (lambda facts: facts["promise"]["promise"].update(k=40), "segments-safe"),
    ],
)
def test_a_forged_promise_about_segments_is_caught(
    joint: Path, trips: Path, tmp_path: Path, change: Callable[[dict[str, Any]], Any], rule: str
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(joint, folder)
    rewrite_manifest(folder, change)
    assert rule in audit_against(folder, (str(trips),)).broken


def test_a_folder_named_like_a_column_is_audited(trips: Path, tmp_path: Path) -> None:
    source = TripSource(paths=(str(trips),), segment={"sex": "F"})
    out = made(trips, tmp_path / "sex=F", source=source)
    report = audit_against(out, (str(trips),))
    assert report.safe, report.broken
    rewrite_manifest(out, lambda facts: facts["segment"].update(sex="M"))
    assert "segment-as-read" in audit_against(out, (str(trips),)).broken


@pytest.fixture(scope="module")
def purposes(trips: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Trips of two purposes, so that most people are in both segments, and their common release."""
    rows = [{**row, "purpose": "ab"[number % 2]} for number, row in enumerate(some_trips(900))]
    raw = write_csv(tmp_path_factory.mktemp("purposes") / "trips.csv", rows)
    return raw, made(raw, raw.parent / "out", every_segment=(SegmentBy.parse("purpose"),))


def test_people_in_several_segments_are_not_told_by_segment(purposes: tuple[Path, Path]) -> None:
    """Travellers of both segments minus those of the flow would be those in both, and they may be few."""
    raw, out = purposes
    assert parquet.read_table(out / "release" / "segments.parquet").column_names[3:] == ["trips"]
    assert "travellers" in parquet.read_table(out / "release" / "flows.parquet").column_names
    report = audit_against(out, (str(raw),))
    assert report.safe, report.broken


def test_telling_them_all_the_same_is_caught(purposes: tuple[Path, Path], tmp_path: Path) -> None:
    raw, out = purposes
    folder = tmp_path / "out"
    shutil.copytree(out, folder)

    def tell(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["travellers"] = row["trips"]

    edit_segments(folder, tell)
    assert "segments-safe" in audit_against(folder, (str(raw),)).broken


def test_a_release_of_one_segment_must_say_so(trips: Path, tmp_path: Path) -> None:
    source = TripSource(paths=(str(trips),), segment={"sex": "F"})
    out = made(trips, tmp_path / "out", source=source)
    rewrite_manifest(out, lambda facts: facts.pop("segment"))
    assert "segment-as-read" in audit_against(out, (str(trips),)).broken


def test_places_are_asked_of_the_whole_and_people_of_each_segment(trips: Path, tmp_path: Path) -> None:
    promise = AllOf(promises=(KAnonymity(k=3), LDiversity(l=2)))
    out = made(
        trips,
        tmp_path / "out",
        method=TwinCut(promise=promise),
        every_segment=(SegmentBy.parse("sex"),),
    )
    report = audit_against(out, (str(trips),))
    assert report.safe, report.broken
