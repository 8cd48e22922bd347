"""A release with times, from the command line to the audit, and what a forger may try with it."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tripcloak.cli.run import run
from tripcloak.flows.checking import audit_against, measure_against
from tripcloak.flows.methods import METHODS
from tripcloak.flows.release.tables import POINTS
from tripcloak.ground.rulebook import Verdict
from tripcloak.synth import City, write_city
from worlds.released_flows import Folder
from worlds.trips import some_trips, without, write_csv

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("city") / "city.parquet"
    write_city(City(trips=8000, people=500, days=9, seed=4), path)
    return path


@pytest.fixture(scope="module")
def released(city: Path) -> Path:
    """The release of a small city in hours."""
    out = city.parent / "out"
    options = ["--method", "productcut", "--k", "5", "--hierarchy", "h3:7", "--time-slot", "1h"]
    assert (
        run(["anonymise", str(city), *options, "--timezone", "Europe/Paris", "--out", str(out), "--json"])
        == 0
    )
    return out


@pytest.fixture
def folder(released: Path, tmp_path: Path) -> Folder:
    """A copy of the release to tamper with."""
    shutil.copytree(released, tmp_path / "out")
    return Folder(tmp_path / "out")


def audit(folder: Folder, city: Path) -> Verdict:
    return audit_against(folder.path, (str(city),))


def test_the_release_holds_flows_of_different_lengths_of_time_and_passes_its_audit(
    folder: Folder, city: Path
) -> None:
    report = audit(folder, city)
    assert report.safe, report.broken
    assert report.smallest_support["travellers"] >= 5
    flows = parquet.read_table(folder.public("flows.parquet"))
    assert flows.column_names[:3] == ["origin", "destination", "time"]
    kinds = Counter(len(time) for time in flows["time"].to_pylist())
    assert len(kinds) > 1
    facts = folder.facts
    period = facts["hierarchy"].pop("period")
    assert [date.fromisoformat(day).weekday() for day in period] == [0, 6]
    assert facts["hierarchy"] == {"spec": "h3:7", "time_slot_minutes": 60, "timezone": "Europe/Paris"}
    assert facts["zones"]["times"] == len(set(flows["time"].to_pylist()))
    assert set(facts["measures"]) == {"G", "C_AVG", "G_time"}


def test_shared_zones_have_a_cut_of_time_that_all_flows_share(city: Path, tmp_path: Path) -> None:
    """TwinCut: of two released times none lies in the other, and the certificate is about three cuts."""
    options = [
        "--k",
        "5",
        "--hierarchy",
        "h3:6",
        "--time-slot",
        "6h",
        "--fold",
        "week",
        "--time-weight",
        "40",
    ]
    assert run(["anonymise", str(city), *options, "--out", str(tmp_path / "out"), "--json"]) == 0
    folder = Folder(tmp_path / "out")
    report = audit(folder, city)
    assert report.safe, report.broken
    assert folder.facts["homogeneous"]
    assert folder.facts["bound"]["relaxation"] == "dual decomposition into three nested cuts"
    times = set(parquet.read_table(folder.public("flows.parquet"))["time"].to_pylist())
    days, weeks = {time for time in times if "T" not in time}, times & {"every week"}
    assert len(times) > 1
    assert not weeks
    assert not any(time.startswith(f"{day} ") for time in times for day in days)


def test_the_slots_are_the_hours_in_which_trips_start(folder: Folder, city: Path) -> None:
    """The city's times have no offset, so they are what the clocks of the given zone show."""
    clock: list[datetime] = parquet.read_table(city)["start_time"].to_pylist()
    groups = parquet.read_table(folder.path / "private" / "groups.parquet").to_pylist()
    assert _sum(groups, "time") == Counter(f"{moment:%Y-%m-%dT%H}" for moment in clock)


def _sum(rows: Rows, column: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        found[row[column]] += row["trips"]
    return found


def test_the_map_shows_the_flows_summed_over_time(folder: Folder) -> None:
    text = folder.public("map.html").read_text(encoding="utf-8")
    data = json.loads(text.partition('id="release">')[2].partition("</script>")[0])
    assert "travellers" not in data["flows"]
    flows = parquet.read_table(folder.public("flows.parquet")).to_pylist()
    expected: Counter[tuple[str, str]] = Counter()
    for row in flows:
        expected[row["origin"], row["destination"]] += row["trips"]
    ends = [[data[axis]["zone"][code] for code in data["flows"][axis]] for axis in ("origin", "destination")]
    assert dict(zip(zip(*ends, strict=True), data["flows"]["trips"], strict=True)) == expected


def test_the_readme_explains_the_column_of_time(folder: Folder) -> None:
    text = folder.public("README.md").read_text(encoding="utf-8")
    assert "`time`" in text
    assert "Europe/Paris" in text


def test_the_measures_can_be_taken_again(folder: Folder, city: Path) -> None:
    told = json.loads((folder.path / "private" / "run.json").read_text())["measures"]
    found = measure_against(folder.path, (str(city),))
    assert found == pytest.approx(told)


def another_hour(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        row = next(row for row in rows if "T" in row["time"])
        row["time"] = row["time"][:-2] + f"{(int(row['time'][-2:]) + 1) % 24:02}"

    folder.edit_flows(change)


def another_day_everywhere(folder: Folder) -> None:
    """Call a released day by another name, in every table alike."""
    days = [t for t in parquet.read_table(folder.public("flows.parquet"))["time"].to_pylist() if len(t) == 10]

    def rename(column: str) -> Callable[[Rows], None]:
        def change(rows: Rows) -> None:
            for row in rows:
                if row[column] == days[0]:
                    row[column] = "2019-02-03"

        return change

    folder.edit_flows(rename("time"))
    folder.edit_groups(rename("released_time"))
    folder.edit_rows("release/zones.parquet", rename("zone"))


def longer_time_for_one_flow(folder: Folder) -> None:
    """Give one of two flows between the same places all time: true, but now both hold the same slots."""
    flows = parquet.read_table(folder.public("flows.parquet")).to_pylist()
    pairs = Counter((row["origin"], row["destination"]) for row in flows)
    origin, destination = next(pair for pair, times in pairs.items() if times > 1)
    old = next(row["time"] for row in flows if (row["origin"], row["destination"]) == (origin, destination))

    def change(prefix: str) -> Callable[[Rows], None]:
        keys = [f"{prefix}{axis}" for axis in ("origin", "destination", "time")]

        def edit(rows: Rows) -> None:
            for row in rows:
                if [row[key] for key in keys] == [origin, destination, old]:
                    row[keys[2]] = "all time"

        return edit

    folder.edit_flows(change(""))
    folder.edit_groups(change("released_"))


def move_trips_to_another_slot(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        rows[0]["time"] = "2019-02-03T04"

    folder.edit_groups(change)


def half_a_flow(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        next(row for row in rows if row["released_time"] is not None)["released_time"] = None

    folder.edit_groups(change)


def without_time(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        for row in rows:
            row["time"] = None

    folder.edit_flows(change)


def length_of_a_time(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        next(row for row in rows if row["axis"] == "time")["tiles"] += 1

    folder.edit_rows("release/zones.parquet", change)


def other_facts(part: str, **values: Any) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_manifest(lambda facts: facts[part].update(values))


def no_slots_promised(folder: Folder) -> None:
    def change(facts: dict[str, Any]) -> None:
        del facts["hierarchy"]["time_slot_minutes"], facts["hierarchy"]["period"]

    folder.edit_manifest(change)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("tamper", "rule"),
    [
        (another_hour, "flows-match-recount"),
        (another_day_everywhere, "zones-contain-tiles"),
        (longer_time_for_one_flow, "flows-never-overlap"),
        (move_trips_to_another_slot, "every-flow-accounted"),
        (half_a_flow, "both-or-neither"),
        (without_time, "flows-match-recount"),
        (length_of_a_time, "zones-table-matches"),
        (other_facts("measures", G_time=1.0), "manifest-consistent"),
        (other_facts("zones", times=3), "manifest-consistent"),
        (other_facts("hierarchy", timezone="Asia/Tokyo"), "every-flow-accounted"),
        (other_facts("hierarchy", time_slot_minutes=30), "every-flow-accounted"),
        (other_facts("hierarchy", time_slot_minutes=7), "every-group-safe"),
        (other_facts("hierarchy", timezone="'; drop"), "every-group-safe"),
        (other_facts("hierarchy", period=["2020-01-06", "2030-12-29"]), "manifest-consistent"),
        (other_facts("hierarchy", period=["2024-05-06", "2024-05-07"]), "every-flow-accounted"),
        (other_facts("hierarchy", period=["2024-05-06"]), "every-group-safe"),
        (no_slots_promised, "only-protected-columns"),
    ],
)
def test_a_forger_of_times_is_caught(
    folder: Folder, city: Path, tamper: Callable[[Folder], None], rule: str
) -> None:
    tamper(folder)
    folder.refresh()
    report = audit(folder, city)
    assert rule in report.broken


def test_another_hierarchy_than_h3_is_audited_as_well(tmp_path: Path) -> None:
    trips = write_csv(tmp_path / "trips.csv", some_trips(600, people=100))
    out = tmp_path / "out"
    options = ["--method", "productcut", "--k", "5", "--hierarchy", "quadtree:6", "--time-slot", "6h"]
    assert run(["anonymise", str(trips), *options, "--out", str(out), "--json"]) == 0
    folder = Folder(out)
    assert audit(folder, trips).safe
    longer_time_for_one_flow(folder)
    folder.refresh()
    assert "flows-never-overlap" in audit(folder, trips).broken


def test_a_release_without_slots_says_nothing_of_time(tmp_path: Path, trips: Path) -> None:
    out = tmp_path / "out"
    options = ["--method", "productcut", "--k", "5", "--hierarchy", "h3:8"]
    assert run(["anonymise", str(trips), *options, "--out", str(out), "--json"]) == 0
    folder = Folder(out)
    with folder.public("flows.csv").open(encoding="utf-8") as file:
        assert next(csv.reader(file)) == ["origin", "destination", "trips", "travellers", *POINTS]
    assert folder.facts["hierarchy"] == {"spec": "h3:8"}
    assert folder.facts["zones"].keys() == {"origins", "destinations"}
    assert "time_weight" not in folder.facts["parameters"]
    tree = parquet.read_table(out / "private" / "hierarchy.parquet")
    assert set(tree["axis"].to_pylist()) == {"origin", "destination"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--method", "atg-dual", "--time-slot", "1h"],
            "atg-dual does not know time as an axis; use",
        ),
        (["--method", "productcut", "--time-slot", "7min"], "divisor of 60 minutes"),
        (["--method", "productcut", "--time-slot", "5h"], "whole hours that divide a day"),
        (["--method", "productcut", "--time-slot", "soon"], "--time-slot takes a time such as 15min"),
        (["--method", "productcut", "--time-slot", "60"], "--time-slot takes a time such as 15min"),
        (["--method", "productcut", "--time-weight", "2"], "give their length with --time-slot"),
        (["--method", "productcut", "--time-slot", "1h", "--time-weight", "-2"], "weight of a slot"),
        (["--method", "nestedcut", "--time-slot", "1h", "--time-weight", "2"], "no option --time-weight"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_read(
    tripcloak: Any, tmp_path: Path, trips: Path, options: list[str], words: str
) -> None:
    told = tripcloak("anonymise", trips, *options, "--out", tmp_path / "out")
    assert told.code == 2
    assert words in told.words
    assert not (tmp_path / "out").exists()


def test_a_method_without_time_names_all_that_know_it(tripcloak: Any, tmp_path: Path, trips: Path) -> None:
    options = ["--method", "atg-dual", "--time-slot", "1h"]
    told = tripcloak("anonymise", trips, *options, "--out", tmp_path / "out").words
    names = [name for name in METHODS if name != "atg-dual"]
    assert all((name in told) == METHODS[name].handles_time for name in names)


def test_an_input_without_times_is_refused(tripcloak: Any, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "trips.csv", without(some_trips(50), "start_time"))
    told = tripcloak(
        "anonymise", path, "--method", "productcut", "--time-slot", "1h", "--out", tmp_path / "out"
    )
    assert told.code == 2
    assert "--start-time" in told.words
