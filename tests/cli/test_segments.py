"""tripcloak anonymise --segment and --segment-joint: what is told, what is not, and what is refused."""

from __future__ import annotations

import csv
import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from tripcloak.fairness.segments import anonymise_segments
from tripcloak.flows.anonymise import AnonymisationRequest
from tripcloak.flows.methods import TwinCut
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.promises import KAnonymity
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource
from worlds.trips import Row, leaks, some_trips, write_csv

QUICK = ("--k", 5, "--hierarchy", "h3:8", "--draws", 1)


def people(rows: list[Row]) -> list[Row]:
    """Return the rows with a sex and an age for everybody; of the sex X there are two people only."""
    ids = sorted({row["person_id"] for row in rows})
    sex = {one: "X" if at < 2 else "FM"[at % 3 > 0] for at, one in enumerate(ids)}
    age = {one: str(20 + at) for at, one in enumerate(ids)}
    return [{**row, "sex": sex[row["person_id"]], "age": age[row["person_id"]]} for row in rows]


@pytest.fixture
def rows() -> list[Row]:
    return people(some_trips(500))


@pytest.fixture
def two(tmp_path: Path, rows: list[Row]) -> Path:
    """A file without the sex of two people."""
    return write_csv(tmp_path / "two.csv", [row for row in rows if row["sex"] != "X"])


def test_the_json_holds_every_segment_and_who_pays(
    tripcloak: Any, tmp_path: Path, trips: Path, rows: list[Row]
) -> None:
    told = tripcloak("anonymise", trips, "--segment", "sex", *QUICK, "--out", tmp_path / "out", "--json")
    assert (told.code, told.err) == (0, "")
    found = told.json
    assert set(found) == {"segments", "withheld", "fairness", "notes", "out"}
    assert list(found["segments"]) == ["sex=F", "sex=M"]
    for name, outcome in found["segments"].items():
        assert outcome["audit"]["safe"] is True
        assert outcome["audit"]["smallest_support"] >= 5
        assert (Path(outcome["out"]) / "release" / "flows.csv").exists(), name
    fairness = found["fairness"]
    assert {"segments", "equal_size", "pays_most", "pays_least", "times", "explained_by_size"} <= set(
        fairness
    )
    for one in fairness["segments"]:
        sex = one["segment"].removeprefix("sex=")
        assert one["travellers"] == len({row["person_id"] for row in rows if row["sex"] == sex})
        assert one["trips"] == sum(row["sex"] == sex for row in rows)
    losses = {one["segment"]: one["G"] for one in fairness["segments"]}
    assert losses[fairness["pays_most"]] == max(losses.values())


def test_a_segment_of_too_few_people_is_named_and_not_shown(
    tripcloak: Any, tmp_path: Path, trips: Path, rows: list[Row]
) -> None:
    out = tmp_path / "out"
    told = tripcloak("anonymise", trips, "--segment", "sex", *QUICK, "--out", out)
    assert (told.code, told.err) == (0, "")
    assert "Withheld: sex=X (taken whole, it does not hold at least 5 people)." in told.out
    assert "pays most" in told.out
    assert told.out.count("sex=X") == 1
    files = [path for path in out.rglob("*") if path.is_file()]
    assert not [path for path in files if "sex=X" in str(path.relative_to(out))]
    public = [path for path in files if "release" in path.parts]
    texts = {path: path.read_bytes().decode(errors="replace") for path in (*public, *out.glob("fairness.*"))}
    assert not [path for path, text in texts.items() if leaks(text, rows)]
    assert not [path for path in public if "sex=X" in texts[path]]
    assert not leaks(told.out, rows)


def test_what_became_of_the_rows_is_said_of_every_segment(
    tripcloak: Any, tmp_path: Path, two: Path, rows: list[Row]
) -> None:
    out, lost = tmp_path / "out", next(row["person_id"] for row in rows if row["sex"] == "F")
    holed = [{**row, "end_lat": ""} if row["person_id"] == lost else row for row in rows if row["sex"] != "X"]
    told = tripcloak("anonymise", write_csv(two, holed), "--segment", "sex", *QUICK, "--out", out)
    assert told.code == 0
    gone = sum(row["person_id"] == lost for row in rows)
    assert re.search(r"^sex=F: The trips are from \S+ to \S+; their middle is", told.err, re.M)
    assert re.search(rf"^sex=F: +two.csv: coordinate missing or not a finite number: {gone}$", told.err, re.M)
    assert "sex=M" not in told.err
    quiet = tripcloak("anonymise", two, "--segment", "sex", *QUICK, "--out", out, "--force", "--json")
    assert (quiet.code, quiet.err) == (0, "")
    for name, outcome in quiet.json["segments"].items():
        assert f"{name}: {' '.join(outcome['plain_words'])}" in told.out


def test_the_fairness_table_is_for_its_owner_alone(tripcloak: Any, tmp_path: Path, two: Path) -> None:
    out = tmp_path / "out"
    assert tripcloak("anonymise", two, "--segment", "sex", *QUICK, "--out", out).code == 0
    files = {path.name: path for path in out.glob("fairness.*")}
    assert set(files) == {"fairness.json", "fairness.csv", "fairness.md", "fairness.html"}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files.values())
    assert all(
        "Not for publication" in files[f"fairness.{kind}"].read_text() for kind in ("json", "md", "html")
    )
    with files["fairness.csv"].open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    facts = json.loads(files["fairness.json"].read_text())
    assert [float(row["G"]) for row in table] == [row["G"] for row in facts["segments"]]
    page = files["fairness.html"].read_text()
    assert "<script" not in page
    assert page.count('class="own"') == 1 + len(table)


def test_numbers_are_parted_in_bins_and_columns_crossed(
    tripcloak: Any, tmp_path: Path, trips: Path, rows: list[Row]
) -> None:
    order = ("anonymise", trips, "--k", 2, "--hierarchy", "h3:7", "--draws", 0, "--json")
    found = tripcloak(*order, "--segment", "age:20", "--out", tmp_path / "age").json
    assert set(found["segments"]) == {
        f"age={20 * (int(row['age']) // 20)}-{20 * (int(row['age']) // 20) + 19}" for row in rows
    }
    assert found["fairness"]["equal_size"] is None
    found = tripcloak(*order, "--segment", "sex", "--segment", "age:20", "--out", tmp_path / "both").json
    assert "sex=F, age=20-39" in found["segments"]
    assert (tmp_path / "both" / "sex=F,age=20-39" / "release").is_dir()


def test_without_ids_segments_are_told_in_trips(tripcloak: Any, tmp_path: Path, trips: Path) -> None:
    told = tripcloak(
        *("anonymise", trips, "--segment", "sex", "--person", "none", *QUICK, "--out", tmp_path / "out")
    )
    assert told.code == 0
    assert "people" not in told.out.split("\n")[2]
    assert "trips" in told.out


def test_who_is_in_two_segments_is_noted(tripcloak: Any, tmp_path: Path, rows: list[Row]) -> None:
    changed = [{**row, "sex": "F"} if at % 7 == 0 else row for at, row in enumerate(rows)]
    path = write_csv(tmp_path / "changed.csv", changed)
    told = tripcloak("anonymise", path, "--segment", "sex", *QUICK, "--out", tmp_path / "out")
    assert told.code == 0
    assert "'sex' differs between rows of one person" in told.out


def test_a_release_of_an_earlier_run_that_is_not_replaced_is_pointed_out(
    tripcloak: Any, tmp_path: Path, trips: Path
) -> None:
    order = (
        "anonymise",
        trips,
        "--segment",
        "sex",
        "--hierarchy",
        "h3:8",
        "--draws",
        0,
        "--out",
        tmp_path / "out",
    )
    assert tripcloak(*order, "--k", 2).code == 0
    assert tripcloak(*order, "--k", 5).code == 2
    told = tripcloak(*order, "--k", 5, "--force")
    assert told.code == 0
    assert f"Note: {tmp_path / 'out' / 'sex=X'} holds a release of an earlier run" in told.out


def test_where_no_segment_can_be_safe_the_answer_is_no(
    tripcloak: Any, untouched: Any, tmp_path: Path, trips: Path
) -> None:
    with untouched():
        told = tripcloak(
            *(
                "anonymise",
                trips,
                "--segment",
                "age",
                "--k",
                5,
                "--hierarchy",
                "h3:8",
                "--out",
                tmp_path / "out",
            )
        )
    assert (told.code, told.out) == (1, "")
    assert "no segment can be made safe on its own" in told.words


def test_together_every_segment_of_every_flow_is_safe(
    tripcloak: Any, tmp_path: Path, two: Path, rows: list[Row]
) -> None:
    out = tmp_path / "out"
    order = ("anonymise", two, "--segment", "sex", "--segment-joint", "--k", 5, "--hierarchy", "h3:8")
    told = tripcloak(*order, "--publish", "both", "--out", out, "--json")
    assert (told.code, told.err) == (0, "")
    assert told.json["audit"]["safe"] is True
    assert told.json["audit"]["smallest_support"] >= 10
    with (out / "release" / "segments.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 2 * told.json["groups"]
    assert min(int(row["travellers"]) for row in table) >= 5
    assert not leaks((out / "release" / "segments.csv").read_text(), rows)
    assert tripcloak("audit", out, "--against", two).code == 0
    # Floors of places are those of all people together.
    assert tripcloak(*order, "--l", 2, "--out", tmp_path / "more").code == 0
    # Segments add up to the flow: numbers in steps of both would narrow each other.
    header = (tmp_path / "more" / "release" / "segments.csv").read_text().partition("\n")[0]
    assert header.replace('"', "") == "origin,destination,segment,trips"


def test_together_the_segments_that_are_too_small_are_named(
    tripcloak: Any, untouched: Any, tmp_path: Path, trips: Path
) -> None:
    with untouched():
        told = tripcloak(
            *("anonymise", trips, "--segment", "sex", "--segment-joint", "--k", 5, "--out", tmp_path / "out")
        )
    assert (told.code, told.out) == (1, "")
    assert "these segments do not hold at least 5 people: sex=X." in told.words
    assert "--where" in told.words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--segment hair", "no attribute column hair"),
        ("--segment-joint", "--segment-joint needs what parts the people; give it with --segment"),
        ("--segment age:0", "a whole width of bins such as age:10"),
        ("--segment age:ten", "a whole width of bins such as age:10"),
        ("--segment sex:10", "holds no numbers to make bins of"),
        ("--segment age --segment age:10", "one was given twice"),
        ("--segment start_lat", "more than 200 segments"),
        ("--segment sex --draws -1", "--draws"),
        ("--segment sex --method laplace --epsilon 1", "choose a method of k-anonymity"),
        ("--segment sex --segment-joint --method mondrian", "release segments apart"),
        ("--segment sex --segment-joint --slot 6h", "slots kept apart"),
        ("--segment sex --time-slot 6h --method nestedcut", "nestedcut does not know time as an axis"),
        ("--segment sex --weight none --unit population", "a weight column"),
    ],
)
def test_what_is_wrong_is_named(
    tripcloak: Any, untouched: Any, tmp_path: Path, trips: Path, options: str, words: str
) -> None:
    with untouched():
        told = tripcloak(
            "anonymise", trips, "--hierarchy", "h3:8", "--out", tmp_path / "out", *options.split()
        )
    assert (told.code, told.out) == (2, "")
    assert words in told.words
    assert "sex=" not in told.words


def test_progress_names_the_segment_and_the_sample(tmp_path: Path, two: Path) -> None:
    steps: list[tuple[str, int, int | None]] = []
    order = AnonymisationRequest(
        source=TripSource(paths=(str(two),)),
        method=TwinCut(promise=KAnonymity(k=5)),
        zoning=Zoning(spec="h3:8"),
        out=tmp_path / "out",
    )
    anonymise_segments(order, (SegmentBy.parse("sex"),), draws=2, progress=lambda *step: steps.append(step))
    names = list(dict.fromkeys(name for name, _, _ in steps))
    assert names[0] == "sex=F: reading trips"
    assert "sex=M: writing the release" in names
    assert any(name.endswith(", sample 2 of 2: reading trips") for name in names)
    assert all(total is None or 0 <= done <= total for _, done, total in steps)
