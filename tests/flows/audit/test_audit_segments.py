"""The audit of folders with folded slots and with segments: honest ones pass, each tampering is caught."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import Table, csv, parquet

from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.checking import audit_against
from tripcloak.flows.methods import NestedCut, ProductCut, SlotBySlot, TwinCut
from tripcloak.flows.model import ODMatrix, SegmentPart
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.flows.release import Release, build_release
from tripcloak.flows.release.tables import segments_table
from tripcloak.flows.rewriting import REWRITINGS
from tripcloak.ground.errors import InternalError
from tripcloak.ground.folders import file_digest
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import AllOf, EverySegment, KAnonymity, LDiversity, SegmentsWhereSafe, Unit
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


@pytest.mark.one_in(2)
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
    # The seal and the files written anew tell the two apart anyhow; here the auditor's own count has to.
    anyhow = {"manifest-as-made", *(one.rule for one in REWRITINGS)}
    counted = set(audit_against(tmp_path / "along", (str(trips),)).broken) - anyhow
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


@pytest.mark.one_in(2)
@pytest.mark.parametrize("change", [shift_one, drop_one, rename_all, tell_more])
def test_a_forged_table_of_segments_is_caught(
    joint: Path, trips: Path, tmp_path: Path, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(joint, folder)
    edit_segments(folder, change)
    report = audit_against(folder, (str(trips),))
    assert "segments-safe" in report.broken


@pytest.mark.one_in(2)
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


# --- at the very edge -----------------------------------------------------------------------------------

THREE = KAnonymity(k=3, unit="travellers")
PLACES = ((48.85, 2.30), (48.95, 2.60), (49.20, 2.10))


def parted(
    women: dict[tuple[int, int], int], *, withhold: tuple[int, int], promise: KAnonymity = THREE
) -> tuple[ODMatrix, Release]:
    """Return so many women and three men in every flow, and the release of all flows but one."""
    tree = Hierarchy.from_parents(["a", "b", "c", "d", "all"], [4, 4, 4, 4, -1])

    def matrix(numbers: list[int], first: int) -> ODMatrix:
        pairs = np.repeat(np.array(list(women)), numbers, axis=0)
        return ODMatrix.from_trips(tree, tree, *pairs.T, person=first + np.arange(len(pairs), dtype=np.int32))

    of_women, of_men = list(women.values()), [3] * len(women)
    whole = matrix([some + 3 for some in of_women], 0)
    parts = tuple(
        SegmentPart.of(name, matrix(numbers, 0), whole)
        for name, numbers in (("sex=F", of_women), ("sex=M", of_men))
    )
    release = build_release(
        whole,
        method="by hand",
        parameters={},
        promise=promise,
        suppression_limit=0.9,
        origin_zone=whole.flows.origin,
        destination_zone=whole.flows.destination,
        suppressed=(whole.flows.origin == withhold[0]) & (whole.flows.destination == withhold[1]),
        homogeneous=True,
    )
    return whole, replace(release, promise=EverySegment(promise=promise, parts=parts, by=("sex",)))


@pytest.mark.parametrize(("women", "broken"), [(3, ()), (2, ("segments-safe",)), (0, ("segments-safe",))])
@pytest.mark.parametrize("unit", ["travellers", "trips"])
def test_k_of_each_segment_pass_and_one_fewer_does_not(
    women: int, broken: tuple[str, ...], unit: Unit
) -> None:
    """Nine women are withheld: they stand in for none of those who are missing."""
    promise = KAnonymity(k=3, unit=unit)
    whole, release = parted({(0, 0): 3, (0, 1): women, (1, 1): 9}, withhold=(1, 1), promise=promise)
    assert audit_matrix(whole, release).broken == broken
    if not broken:
        return
    with pytest.raises(InternalError, match="not safe"):
        build_release(
            whole,
            method="by hand",
            parameters={},
            promise=release.promise,
            suppression_limit=0.9,
            origin_zone=whole.flows.origin,
            destination_zone=whole.flows.destination,
            suppressed=release.suppressed,
            homogeneous=True,
        )


def test_one_short_group_of_twelve_is_called_one_of_few() -> None:
    women = {(origin, destination): 3 for origin in range(4) for destination in range(3)}
    whole, release = parted({**women, (0, 0): 2, (3, 3): 9}, withhold=(3, 3))
    words = {finding.rule: finding.words for finding in audit_matrix(whole, release).findings}
    assert words["segments-safe"].startswith("fewer than 10 groups")


def test_other_segments_than_those_it_was_made_for_are_noticed() -> None:
    whole, release = parted({(0, 0): 3, (0, 1): 3, (1, 1): 9}, withhold=(1, 1))
    stated = type("Stated", (), {"to_manifest": lambda self: told, "segments": release.promise.segments})()
    told = release.promise.to_manifest()
    assert "segments-safe" not in audit_matrix(whole, replace(release, promise=stated)).broken
    told = {**told, "names": told["names"][:1]}
    assert "segments-safe" in audit_matrix(whole, replace(release, promise=stated)).broken


def purposes_of(folder: Path, *, both: int) -> tuple[Path, Path]:
    """Return trips of three people per purpose between either pair of places; some have both purposes."""
    rows, names = [], iter(range(100))
    for end in (1, 2):
        (lat, lon), (to_lat, to_lon) = PLACES[0], PLACES[end]
        for purpose in "ab":
            for number in range(3):
                again = purpose == "b" and end == 1 and number < both
                who = f"p{number}" if again else f"p{next(names)}"
                row = {"person_id": who, "start_lat": lat, "start_lon": lon, "end_lat": to_lat}
                row |= {"end_lon": to_lon, "start_time": "2024-05-10 10:00:00", "purpose": purpose}
                rows.append({name: str(value) for name, value in row.items()})
    folder.mkdir()
    raw = write_csv(folder / "trips.csv", rows)
    method = TwinCut(promise=KAnonymity(k=3), suppression_limit=0)
    by = (SegmentBy.parse("purpose"),)
    return raw, made(raw, folder / "out", method=method, every_segment=by, zoning=Zoning(spec="h3:5"))


def test_one_person_in_two_segments_is_enough_to_leave_travellers_out(tmp_path: Path) -> None:
    """With nobody in two they are told; the numbers themselves would be right in either case."""
    raw, apart = purposes_of(tmp_path / "apart", both=0)
    columns = parquet.read_table(apart / "release" / "segments.parquet").column_names
    assert columns[3:] == ["trips", "travellers"]
    assert audit_against(apart, (str(raw),)).broken == ()
    raw, shared = purposes_of(tmp_path / "shared", both=1)
    assert parquet.read_table(shared / "release" / "segments.parquet").column_names[3:] == ["trips"]
    assert audit_against(shared, (str(raw),)).broken == ()

    def tell(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["travellers"] = 3

    edit_segments(shared, tell)
    assert "segments-safe" in audit_against(shared, (str(raw),)).broken


def test_one_more_than_every_segment_holds_is_not_kept_by_a_folder(tmp_path: Path) -> None:
    raw, out = purposes_of(tmp_path / "raw", both=0)
    rewrite_manifest(out, lambda facts: facts["promise"]["promise"].update(k=4))
    report = audit_against(out, (str(raw),))
    words = {finding.rule: finding.words for finding in report.findings if not finding.ok}
    assert "segments of released flows hold fewer than 4 travellers" in words["segments-safe"]
    assert "every-group-safe" not in words


# --- told where they are safe ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def told_where_safe(
    trips: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[dict[str, Any]]]:
    """A release that tells segments where they are safe, and the rows that would tell all of them."""
    out = tmp_path_factory.mktemp("where-safe") / "out"
    by = (SegmentBy.parse("sex"), SegmentBy.parse("age:20"))
    order = AnonymisationRequest(
        source=TripSource(paths=(str(trips),)),
        method=TwinCut(promise=KAnonymity(k=3)),
        zoning=Zoning(spec="h3:8"),
        publish="trips",
        every_segment=by,
        where_safe=True,
        out=out,
    )
    release = anonymise(order).release
    promise = release.promise
    every = EverySegment(promise=promise.of_everybody, parts=promise.segments, by=promise.segmented_by)
    table = segments_table(replace(release, promise=every))
    assert table is not None
    return out, [row for row in table.to_pylist() if row["trips"]]


def test_segments_told_where_safe_pass(
    told_where_safe: tuple[Path, list[dict[str, Any]]], trips: Path
) -> None:
    out, truth = told_where_safe
    report = audit_against(out, (str(trips),))
    assert report.safe, report.broken
    rows = parquet.read_table(out / "release" / "segments.parquet").to_pylist()
    assert 0 < len(rows) < len(truth)
    assert all(row in truth for row in rows)
    facts = json.loads((out / "release" / "manifest.json").read_text())
    assert facts["promise"]["kind"] == "segments where safe"


@pytest.mark.parametrize("more", ["all", "all but one", "the company", "wrong", "twice"])
def test_telling_more_segments_than_are_safe_is_caught(
    told_where_safe: tuple[Path, list[dict[str, Any]]], trips: Path, tmp_path: Path, more: str
) -> None:
    out, truth = told_where_safe
    folder = tmp_path / "out"
    shutil.copytree(out, folder)

    def flow(row: dict[str, Any]) -> tuple[str, str]:
        return row["origin"], row["destination"]

    def tell(rows: list[dict[str, Any]]) -> None:
        known = [dict(row) for row in rows]
        hidden = [row for row in truth if row not in known]
        partly = [row for row in hidden if flow(row) in {flow(one) for one in known}]
        if more == "all":
            rows += hidden
        elif more == "all but one":
            rows += [row for row in truth if flow(row) == flow(hidden[0])][:-1]
        elif more == "the company":
            # Without it, those who are left are too few.
            left = {row["origin"] + row["destination"]: 0 for row in partly}
            for row in partly:
                left[row["origin"] + row["destination"]] += row["trips"]
            few = [row for row in partly if left[row["origin"] + row["destination"]] - row["trips"] in (1, 2)]
            rows.append(few[0])
        elif more == "twice":
            rows.append(rows[0])
        else:
            rows[0]["trips"] += 1

    edit_segments(folder, tell)
    assert "segments-safe" in audit_against(folder, (str(trips),)).broken


def test_a_weaker_promise_about_segments_is_not_taken_for_the_stronger(
    told_where_safe: tuple[Path, list[dict[str, Any]]], joint: Path, trips: Path, tmp_path: Path
) -> None:
    shutil.copytree(told_where_safe[0], tmp_path / "out")
    rewrite_manifest(tmp_path / "out", lambda facts: facts["promise"].update(kind="every segment"))
    assert "segments-safe" in audit_against(tmp_path / "out", (str(trips),)).broken
    rewrite_manifest(
        tmp_path / "out", lambda facts: facts["promise"].update(kind="segments where safe", names=["sex=F"])
    )
    assert "segments-safe" in audit_against(tmp_path / "out", (str(trips),)).broken


@pytest.mark.parametrize(
    ("women", "told", "broken"),
    [
        (3, [[True], [True]], ()),
        (2, [[False], [False]], ()),
        (2, [[False], [True]], ("segments-safe",)),
        (2, [[True], [True]], ("segments-safe",)),
        (3, [[True], [False]], ("segments-safe",)),
    ],
)
def test_the_audit_before_writing_looks_at_what_is_told(
    women: int, told: list[list[bool]], broken: tuple[str, ...]
) -> None:
    class Forged(SegmentsWhereSafe):
        def tells(self, safe: Any, trips: Any) -> Any:
            return [np.array(one) for one in told]

    whole, release = parted({(0, 0): women, (1, 1): 9}, withhold=(1, 1))
    promise = Forged(promise=THREE, parts=release.promise.segments, by=("sex",))
    assert audit_matrix(whole, replace(release, promise=promise)).broken == broken
