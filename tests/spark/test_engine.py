"""Spark reads, cleans and counts as one machine does: the same flows, the same report, the same release."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.engines.spark import spark_cluster
from tripcloak.flows.anonymise import AnonymisationRequest, ReleaseRequest, anonymise, make_release
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.audit.matrix.case import MatrixCase
from tripcloak.flows.methods import METHODS, SlotBySlot, slots
from tripcloak.flows.methods.products import SafeProducts
from tripcloak.flows.methods.tree_method import Clock
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.reading.cluster import dealing, gathering, parting, reading
from tripcloak.flows.reading.cluster.parting import EndsOnCluster
from tripcloak.flows.reading.matrix import MatrixReading, Zoning, read_matrix
from tripcloak.flows.release.tables import segments_table
from tripcloak.ground.errors import EmptyInputError, InputError
from tripcloak.ground.progress import silent
from tripcloak.promises import KAnonymity
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource
from tripcloak.synth import City

H8 = Zoning(spec="h3:8")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an input of some thousand rows be read by several tasks and counted in several parts.

    Nor does a process there hold the numbers of more than some flows.
    """
    monkeypatch.setattr(parting, "AT_ONCE", 500)
    monkeypatch.setattr(reading, "TASK_ROWS", 700)
    monkeypatch.setattr(dealing, "PART_ROWS", 900)


@pytest.fixture(scope="module")
def city() -> pa.Table:
    return City(trips=3000, seed=5).table()


@pytest.fixture
def parted(city: pa.Table, tmp_path: Path) -> TripSource:
    """Give a city in two files that have some hundred trips in common."""
    for name, rows in (("a", city.slice(0, 1800)), ("b", city.slice(1500))):
        parquet.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=400)
    return TripSource(paths=(str(tmp_path / "*.parquet"),))


def who_goes_where(flows: Any) -> list[tuple[Any, ...]]:
    """Return what every traveller does, whatever their numbers are."""
    offsets, people = flows.travellers.offsets, flows.travellers.people
    flow = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    told: dict[int, list[Any]] = {}
    for place, person in enumerate(people.tolist()):
        more = [column[place] for column in (flows.repeats, flows.weights) if column is not None]
        told.setdefault(person, []).append((flow[place], *more))
    return sorted(tuple(one) for one in told.values())


def assert_same(one: MatrixReading, other: MatrixReading) -> None:
    first, second = one.trips, other.trips
    for name in ("origin", "destination", "slot", "trips", "population"):
        assert np.array_equal(getattr(first.matrix.flows, name), getattr(second.matrix.flows, name)), name
    assert first.matrix.digest() == second.matrix.digest()
    if first.matrix.flows.travellers is not None:
        assert who_goes_where(first.matrix.flows) == who_goes_where(second.matrix.flows)
        offsets, people = second.matrix.flows.travellers  # type: ignore[misc]
        assert all((np.diff(people[a:b]) > 0).all() for a, b in pairwise(offsets))
    assert first.matrix.represented == second.matrix.represented
    assert first.cleaning.to_dict() == second.cleaning.to_dict()
    assert sorted(first.notes) == sorted(second.notes)


def both(source: TripSource, zoning: Zoning = H8, **how: Any) -> tuple[MatrixReading, MatrixReading]:
    wanted = {"repeats": True, "weights": True, **how}
    return tuple(read_matrix(source, zoning, engine=engine, **wanted) for engine in ("arrays", "spark"))  # type: ignore[return-value]


def refuse_to_pass_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let neither raw ends of trips nor who is in which group be looked at one by one by the driver."""

    def refused(self: Any) -> Any:
        raise AssertionError("this passes by the driver")

    monkeypatch.setattr(EndsOnCluster, "_rows", refused)
    monkeypatch.setattr(MatrixCase, "presence", refused)


def test_slots_are_solved_and_people_recounted_on_the_cluster(
    spark: Any, parted: TripSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_to_pass_by(monkeypatch)
    monkeypatch.setattr(slots, "WORTH_A_PROCESS", 0)
    zoning = Zoning(spec="h3:7", time_slot=360, fold="day")
    method = SlotBySlot.of(METHODS["twincut"](promise=KAnonymity(k=5), suppression_limit=0.5))
    one = read_matrix(parted, zoning, engine="arrays", repeats=True, weights=True)
    alone = method.anonymise(one.trips.matrix)
    with spark_cluster(None) as cluster:
        other = read_matrix(parted, zoning, engine="spark", cluster=cluster, repeats=True, weights=True)
        matrix = other.trips.matrix
        monkeypatch.setattr(slots, "_solve", None)
        release = method.anonymise(matrix)
        one_more = np.arange(release.n_groups) == 0
        wrong = audit_matrix(matrix, replace(release, travellers=release.travellers + one_more))
        # The flows of two groups as one: who is in both is counted once, the sum of both is wrong.
        joined = np.where(release.group_of_flow == 1, 0, release.group_of_flow)
        lost = audit_matrix(matrix, replace(release, group_of_flow=joined))
    assert_same(one, other)
    assert len(np.unique(one.trips.matrix.flows.slot)) == 4
    for name in ("group_of_flow", "group_origin", "group_destination", "trips", "travellers"):
        assert np.array_equal(getattr(release, name), getattr(alone, name)), name
    assert {one.rule for one in wrong.findings if not one.ok} == {"flows-match-recount"}
    assert not lost.safe


def test_spark_makes_the_same_release(
    spark: Any, parted: TripSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, measures = {}, {}
    for engine in ("arrays", "parts", "spark"):
        out = tmp_path / engine
        if engine == "spark":
            refuse_to_pass_by(monkeypatch)
        anonymise(
            AnonymisationRequest(
                source=parted,
                zoning=H8,
                method=METHODS["twincut"](promise=KAnonymity(k=5)),
                engine=engine,
                out=out,
            )
        )
        run = json.loads((out / "private" / "run.json").read_text())
        files = {
            path.name: path.read_bytes()
            for path in out.rglob("*")
            if path.is_file() and path.name != "run.json"
        }
        made[engine] = files, run["cleaning"], run["audit"], sorted(run["notes"])
        # Sums in another order differ in their last digits.
        measures[engine] = {name: pytest.approx(value, rel=1e-9) for name, value in run["measures"].items()}
        assert sorted(path.name for path in out.iterdir()) == ["private", "release"]
    assert made["arrays"] == made["spark"] == made["parts"]
    assert run["measures"] == measures["arrays"]
    assert run["measures"]["GDM_median"] > 0
    assert made["spark"][1]["dropped"] == {"duplicate": 300}
    assert [file["kept"] for file in made["spark"][1]["files"]] == [1800, 1200]


def test_text_is_cleaned_by_the_same_rules(spark: Any, city: pa.Table, tmp_path: Path) -> None:
    rows = city.slice(0, 1200).to_pylist()
    names = list(rows[0])
    lines = [",".join("" if row[name] is None else str(row[name]) for name in names) for row in rows]
    person, latitude = names.index("person_id"), names.index("start_lat")
    for place in range(0, 1200, 7):
        cells = lines[place].split(",")
        cells[person if place % 2 else latitude] = ("", "0", "north")[place % 3]
        lines[place] = ",".join(cells)
    lines[5] += ",one,too,many"
    for name, some in (("a.csv", lines[:500]), ("b.csv", lines[400:])):
        (tmp_path / name).write_text("\n".join([",".join(names), *some]) + "\n")
    with gzip.open(tmp_path / "c.csv.gz", "wt") as file:
        file.write("\n".join([",".join(names), *lines[900:]]) + "\n")
    source = TripSource(paths=(str(tmp_path),), where="person_id <> 'nobody'")
    one, other = both(source)
    assert_same(one, other)
    assert {"unparsable", "duplicate"} <= set(other.trips.cleaning.dropped)
    assert other.trips.cleaning.files[0].dropped["unparsable"] == 13, "one is the line of too many fields"


def test_segments_windows_and_boxes(spark: Any, parted: TripSource) -> None:
    some = replace(parted, segment={"sex": "F"}, during="2024-09", box=(48.7, 18.3, 48.9, 18.5))
    assert_same(*both(some, Zoning(spec="h3:7", time_slot=60, fold="day")))


def skewed(city: pa.Table) -> pa.Table:
    """Return a city with half of all trips in one pair of tiles."""
    columns = {name: city[name].to_numpy(zero_copy_only=False).copy() for name in city.column_names}
    for name in ("start_lat", "start_lon", "end_lat", "end_lon"):
        values = columns[name]
        values[::2] = values[0] + np.linspace(0, 1e-5, len(values[::2]))
    return pa.table(columns)


def test_segments_are_counted_where_the_whole_is_and_read_once(
    spark: Any, city: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = skewed(city.slice(0, 1200))
    # Trips that are in both files are in another segment there, and in both segments then.
    other = rows.set_column(rows.column_names.index("sex"), "sex", pa.array(["F"] * len(rows)))
    for name, some in (("a", rows.slice(0, 800)), ("b", other.slice(400))):
        parquet.write_table(some, tmp_path / f"{name}.parquet", row_group_size=400)
    monkeypatch.setattr(dealing, "PART_ROWS", 300)
    read, planned = [], gathering.plan_reading
    monkeypatch.setattr(gathering, "plan_reading", lambda *how: read.append(how) or planned(*how))
    request = ReleaseRequest(
        source=TripSource(paths=(str(tmp_path / "*.parquet"),)),
        zoning=Zoning(spec="h3:6", time_slot=720, fold="day"),
        method=METHODS["twincut"](promise=KAnonymity(k=3), suppression_limit=0.5),
        every_segment=(SegmentBy.parse("sex"),),
    )
    here, there = (make_release(replace(request, engine=engine)).release for engine in ("arrays", "spark"))
    assert len(read) == 1
    for name in ("group_of_flow", "group_origin", "group_destination", "trips", "travellers"):
        assert np.array_equal(getattr(here, name), getattr(there, name)), name
    assert segments_table(here).equals(segments_table(there))
    for one, two in zip(here.promise.segments, there.promise.segments, strict=True):
        assert (one.name, one.row.tolist()) == (two.name, two.row.tolist())
        for name in ("trips", "population"):
            assert np.array_equal(getattr(one.matrix.flows, name), getattr(two.matrix.flows, name))
        assert who_goes_where(one.matrix.flows) == who_goes_where(two.matrix.flows)
    assert sum(part.matrix.total() for part in there.promise.segments) > there.trips.sum() + 100


def parquet_of(source: TripSource) -> Path:
    return next(Path(str(source.paths[0])).parent.glob("a.parquet"))


def products_of(matrix: ODMatrix) -> SafeProducts:
    method = METHODS["twincut"](promise=KAnonymity(k=4))
    return method.find_products(matrix, method.promise.resolve(matrix), silent, Clock(None))


def assert_same_products(there: MatrixReading, here: MatrixReading) -> None:
    assert there.trips.matrix.parts is not None
    assert here.trips.matrix.parts is None
    one, other = products_of(there.trips.matrix), products_of(here.trips.matrix)
    assert len(one) > 50
    for name in ("zone", "volume", "loss", "up", "inner"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("ids", [True, False])
def test_half_of_all_trips_in_one_pair(
    spark: Any, city: pa.Table, tmp_path: Path, ids: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    city = city.slice(0, 1300)
    parquet.write_table(skewed(city), tmp_path / "city.parquet", row_group_size=500)
    source = TripSource(paths=(str(tmp_path),), columns={} if ids else {"person": "none"})
    # Parts of some flows, so that zones are heavy: even a tile, and a pair of tiles.
    monkeypatch.setattr(dealing, "PART_ROWS", 150)
    one = read_matrix(source, H8, engine="arrays", repeats=True, weights=True)
    with spark_cluster(None) as cluster:
        other = read_matrix(source, H8, engine="spark", cluster=cluster, repeats=True, weights=True)
        assert_same_products(other, one)
    assert_same(one, other)
    assert other.trips.matrix.flows.trips.max() >= 600


def test_numbers_of_flows_are_sent_some_at_a_time() -> None:
    starts = {7: 0, 2: 300, 4: 600, 9: 1400}
    rows = {number: parting.RowsOfRange(start, None) for number, start in starts.items()}
    ranges = parting.Ranges(np.array([7, 2, 2, 4, 9, -1]), rows)
    sent = ranges.each_with(np.arange(1500), lambda own: own)
    assert [(one.first, len(one.numbers), sorted(one.ranges)) for one in sent.plans] == [
        (0, 600, [2, 7]),
        (600, 800, [4]),
        (1400, 100, [9]),
    ]
    assert list(sent.of_part) == [0, 0, 0, 1, 2, 0]
    assert all(one.numbers[0] == one.first for one in sent.plans)


def test_a_damaged_part_among_many_is_named(spark: Any, parted: TripSource) -> None:
    path = parquet_of(parted).with_name("b.parquet")
    last = parquet.read_metadata(path).row_group(3)
    chunk = next(
        last.column(n) for n in range(last.num_columns) if last.column(n).path_in_schema == "end_lon"
    )
    data = bytearray(path.read_bytes())
    first = chunk.dictionary_page_offset or chunk.data_page_offset
    data[first : first + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"b\.parquet: the file could not be read; it may be damaged"):
        # Without the end of trips, the driver has no reason to look at these columns.
        read_matrix(replace(parted, columns={"end_time": "none"}), H8, engine="spark")


def test_an_input_without_a_usable_row_is_refused_as_on_one_machine(spark: Any, parted: TripSource) -> None:
    nowhere = replace(parted, box=(0.0, 0.0, 1.0, 1.0))
    said = []
    for engine in ("arrays", "spark"):
        with pytest.raises(EmptyInputError) as error:
            read_matrix(nowhere, H8, engine=engine)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_what_a_cluster_cannot_do_is_refused(spark: Any, parted: TripSource) -> None:
    with pytest.raises(InputError, match="a sample is drawn on one machine; leave out engine='spark'"):
        read_matrix(replace(parted, sample=(10, 1)), H8, engine="spark")
    with pytest.raises(InputError, match="records are not kept on a cluster, and a ledger needs them"):
        read_matrix(parted, H8, engine="spark", keyed=bytes(16))
