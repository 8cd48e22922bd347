"""Releases by segment: apart, together, and who pays; against plain recounts of the rows."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import parquet

from tripcloak.fairness.segments import anonymise_segments
from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.methods import Mondrian, ODkAnon, SlotBySlot, TwinCut
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import ImpossibleRequestError, InputError, OutputExistsError
from tripcloak.promises import KAnonymity
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource
from worlds.trips import Row, leaks, some_trips, write_csv

SEX = (SegmentBy.parse("sex"),)


def rows_with_sex(n: int = 500) -> list[Row]:
    """Return trips of people who have a sex for good; X is said of two of them only."""
    rows = some_trips(n)
    people = sorted({row["person_id"] for row in rows})
    sex = {person: "X" if at < 2 else "FM"[at % 2] for at, person in enumerate(people)}
    return [{**row, "sex": sex[row["person_id"]]} for row in rows]


def order_of(rows: list[Row], folder: Path, **changes: object) -> AnonymisationRequest:
    path = write_csv(folder / "trips.csv", rows)
    order = AnonymisationRequest(
        source=TripSource(paths=(str(path),)),
        method=TwinCut(promise=KAnonymity(k=5)),
        zoning=Zoning(spec="h3:9"),
        out=folder / "out",
    )
    return replace(order, **changes)  # type: ignore[arg-type]


def test_each_segment_is_released_as_if_it_were_the_input(tmp_path: Path) -> None:
    rows = rows_with_sex()
    found = anonymise_segments(order_of(rows, tmp_path), SEX, draws=1)
    assert list(found.released) == ["sex=F", "sex=M"]
    assert found.withheld == {"sex=X": "taken whole, it does not hold at least 5 people"}
    for sex in "FM":
        alone = tmp_path / f"alone-{sex}"
        alone.mkdir()
        anonymise(order_of([row for row in rows if row["sex"] == sex], alone))
        ours, theirs = (
            (folder / "release" / "flows.csv").read_text()
            for folder in (tmp_path / "out" / f"sex={sex}", alone / "out")
        )
        assert ours == theirs
        facts = json.loads((tmp_path / "out" / f"sex={sex}" / "release" / "manifest.json").read_text())
        assert facts["segment"] == {"sex": sex}
    assert not (tmp_path / "out" / "sex=X").exists()


def test_a_small_segment_is_named_and_not_shown(tmp_path: Path) -> None:
    rows = rows_with_sex()
    anonymise_segments(order_of(rows, tmp_path), SEX, draws=0)
    facts = json.loads((tmp_path / "out" / "fairness.json").read_text())
    assert list(facts["withheld"]) == ["sex=X"]
    assert [row["segment"] for row in facts["segments"]] == ["sex=F", "sex=M"]
    for name in ("fairness.json", "fairness.csv", "fairness.md", "fairness.html"):
        text = (tmp_path / "out" / name).read_text()
        assert not leaks(text, rows)
        assert "sex=X" not in text.replace("Withheld: sex=X", "").replace('"sex=X"', "")


def test_fairness_tells_what_each_segment_pays(tmp_path: Path) -> None:
    rows = [row for row in rows_with_sex(900) if row["sex"] != "X"]
    # Only one in four of the men's trips: their segment is as many people, and far fewer trips.
    rows = [row for at, row in enumerate(rows) if row["sex"] == "F" or at % 4 == 0]
    found = anonymise_segments(order_of(rows, tmp_path), SEX, draws=2).fairness
    by_name = {one.name: one for one in found.burdens}
    for sex in "FM":
        mine = [row for row in rows if row["sex"] == sex]
        assert by_name[f"sex={sex}"].trips == len(mine)
        assert by_name[f"sex={sex}"].travellers == len({row["person_id"] for row in mine})
    assert found.pays_most.name == "sex=M"
    assert found.times == pytest.approx(by_name["sex=M"].loss.G / by_name["sex=F"].loss.G)
    assert found.equal_size == min(one.travellers or 0 for one in found.burdens)


def recount(folder: Path, rows: list[Row]) -> dict[tuple[str, str, str], set[str]]:
    """Return the people of every released flow and sex, from the private table and the raw rows."""
    import h3

    groups = parquet.read_table(folder / "private" / "groups.parquet").to_pylist()
    sent = {
        (g["origin"], g["destination"]): (g["released_origin"], g["released_destination"]) for g in groups
    }
    people = defaultdict(set)
    for row in rows:
        ends = [
            h3.latlng_to_cell(float(row[f"{end}_lat"]), float(row[f"{end}_lon"]), 9)
            for end in ("start", "end")
        ]
        origin, destination = sent[ends[0], ends[1]]
        if origin is not None:
            people[origin, destination, f"sex={row['sex']}"].add(row["person_id"])
    return people


@pytest.mark.parametrize("method", [TwinCut, ODkAnon])
def test_together_every_segment_of_every_flow_is_safe(tmp_path: Path, method: type) -> None:
    rows = [row for row in rows_with_sex(900) if row["sex"] != "X"]
    order = order_of(
        rows, tmp_path, method=method(promise=KAnonymity(k=5)), every_segment=SEX, publish="both"
    )
    outcome = anonymise(order)
    people = recount(order.out, rows)
    table = parquet.read_table(order.out / "release" / "segments.parquet").to_pylist()
    told = {(row["origin"], row["destination"], row["segment"]): row["travellers"] for row in table}
    assert told == {key: len(ids) for key, ids in people.items()}
    assert len(told) == 2 * outcome.release.n_groups
    assert min(told.values()) >= 5
    flows = parquet.read_table(order.out / "release" / "flows.parquet").to_pylist()
    for flow in flows:
        parts = [
            row
            for row in table
            if (row["origin"], row["destination"]) == (flow["origin"], flow["destination"])
        ]
        assert sum(row["trips"] for row in parts) == flow["trips"]
    # Without the wish for segments some flow has too few of one sex.
    alone = anonymise(replace(order, every_segment=(), out=tmp_path / "alone"))
    assert min(map(len, recount(tmp_path / "alone", rows).values())) < 5
    assert alone.release.n_groups >= outcome.release.n_groups


def test_a_segment_too_small_for_any_flow_makes_a_common_release_impossible(tmp_path: Path) -> None:
    order = order_of(rows_with_sex(), tmp_path, every_segment=SEX)
    with pytest.raises(ImpossibleRequestError, match=r"do not hold at least 5 people: sex=X\."):
        anonymise(order)
    assert not (tmp_path / "out").exists()


def test_what_does_not_go_together_says_so(tmp_path: Path) -> None:
    rows = [row for row in rows_with_sex() if row["sex"] != "X"]
    order = order_of(rows, tmp_path, every_segment=SEX)
    slots = replace(
        order,
        method=SlotBySlot.of(TwinCut(promise=KAnonymity(k=5))),
        zoning=Zoning(spec="h3:9", time_slot=1440, apart=True),
    )
    with pytest.raises(InputError, match="segments"):
        anonymise(slots)
    with pytest.raises(InputError, match="segments"):
        anonymise(replace(order, method=Mondrian(promise=KAnonymity(k=5))))
    with pytest.raises(InputError, match="one was given twice"):
        anonymise_segments(order_of(rows, tmp_path), (*SEX, SegmentBy.parse("sex:5")))
    with pytest.raises(InputError, match="no attribute column hair"):
        anonymise_segments(order_of(rows, tmp_path), (SegmentBy.parse("hair"),))


def test_releases_that_are_there_stay(tmp_path: Path) -> None:
    order = order_of(rows_with_sex(), tmp_path)
    anonymise_segments(order, SEX, draws=0)
    before = (tmp_path / "out" / "sex=F" / "release" / "manifest.json").read_bytes()
    with pytest.raises(OutputExistsError):
        anonymise_segments(order, SEX, draws=0)
    assert (tmp_path / "out" / "sex=F" / "release" / "manifest.json").read_bytes() == before
    anonymise_segments(replace(order, force=True), SEX, draws=0)
