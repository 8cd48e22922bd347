"""Comparing: every method is a row, whatever becomes of it, and nothing is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from forgeries import methods as misbehaving
from tripcloak.comparing import workers
from tripcloak.comparing.compare import Comparison, ComparisonPlan, compare
from tripcloak.comparing.files import headline
from tripcloak.comparing.rows import MEASURES, ComparisonRow
from tripcloak.comparing.workers import jobs_that_fit
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.measures import measure
from tripcloak.flows.methods import METHODS
from tripcloak.flows.protection import asked_promise
from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.ground.errors import InputError
from tripcloak.promises import KAnonymity
from tripcloak.records.source import TripSource
from worlds.trips import some_trips, write_csv, write_zones, zone_trips

H3 = Zoning(spec="h3:9")


@pytest.fixture
def source(tmp_path: Path) -> TripSource:
    return TripSource(paths=(str(write_csv(tmp_path / "trips.csv", some_trips())),))


@pytest.fixture
def with_bad_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adds the methods that misbehave to those there are."""
    for method in vars(misbehaving).values():
        if isinstance(method, type) and hasattr(method, "name") and hasattr(method, "misbehave"):
            monkeypatch.setitem(METHODS, method.name, method)


def row_of(found: Comparison, method: str) -> ComparisonRow:
    (row,) = [row for row in found.rows if row.method == method]
    return row


def test_a_row_says_what_the_method_alone_would(source):
    """The numbers come from other processes, and are those of this one."""
    found = compare(ComparisonPlan(source=source, zoning=H3, methods=("productcut", "odkanon"), ks=(5,)))
    matrix = read_matrix(source, H3).trips.matrix
    for name in ("productcut", "odkanon"):
        release = METHODS[name](promise=KAnonymity(k=5), suppression_limit=0.1).anonymise(matrix)
        audit, row, expected = audit_matrix(matrix, release), row_of(found, name), measure(matrix, release)
        assert dict(row.measures) == {measure: expected[measure] for measure in MEASURES}
        assert (row.groups, row.shared, row.reason) == (release.n_groups, release.homogeneous, None)
        assert (row.origins, row.destinations) == release.zone_numbers
        assert row.safe is audit.safe is True
        assert row.smallest == audit.smallest_support["travellers"]
        assert (row.people, row.unit, row.promise) == ("travellers", "travellers", "k-anonymity")
        if release.bound is not None:
            assert (row.bound, row.gap) == (release.bound.value, release.bound.gap)
        assert row.cpu_s is not None
        assert row.wall_s is not None
        assert row.peak_mb is not None
        assert row.cpu_s > 0
        assert row.wall_s > 0
        assert 0 <= row.peak_mb < 500
    assert row_of(found, "productcut").bound is not None


def test_every_method_and_every_way_to_fail_is_a_row(monkeypatch, source, with_bad_ones):
    """One comparison with all that can go wrong; the others go on."""
    monkeypatch.setattr(workers, "GRACE", 1.5)
    names = ("behaves", "sleeps", "dies", "leaks", "hopeless", "refuses", "suppression")
    found = compare(ComparisonPlan(source=source, zoning=H3, methods=names, ks=(5,), time_limit=4.5))
    assert tuple(row.method for row in found.rows) == names
    reasons = {row.method: row.reason for row in found.rows}
    assert reasons["behaves"] is None
    assert "longer than the time limit of 4.5 s" in reasons["sleeps"]
    assert "SIGSEGV" in reasons["dies"]
    assert "ValueError" in reasons["leaks"]
    assert misbehaving.SECRET not in str(found.to_dict())
    assert reasons["hopeless"] == "not possible: ask for less"
    assert reasons["refuses"] == "refuses such flows"
    assert "not possible" in reasons["suppression"]
    assert found.choices[0].method == "behaves"
    assert not children()


def test_what_takes_too_much_memory_is_tried_alone_and_then_given_up(monkeypatch, source, with_bad_ones):
    starts = []
    whole = workers._Process.start.__func__

    def noted(cls, shared, workspace, trial, seconds, share):
        starts.append((trial.method.name, share))
        return whole(cls, shared, workspace, trial, seconds, share)

    monkeypatch.setattr(workers._Process, "start", classmethod(noted))
    plan = ComparisonPlan(
        source=source,
        zoning=H3,
        methods=("hoards", "behaves"),
        ks=(5,),
        memory="400MB",
        jobs=2,
        time_limit=30,
    )
    monkeypatch.setattr("tripcloak.comparing.compare.jobs_that_fit", lambda *sizes: 2)
    found = compare(plan)
    assert "needed more than the 0.4 GB of memory" in str(row_of(found, "hoards").reason)
    assert row_of(found, "behaves").ran
    assert starts == [("hoards", 200_000_000), ("behaves", 200_000_000), ("hoards", 400_000_000)]


def test_a_sweep_has_a_row_and_a_choice_for_every_k_and_limit(source):
    found = compare(
        ComparisonPlan(source=source, zoning=H3, methods=("odkanon",), ks=(2, 10), limits=(0, 0.2))
    )
    pairs = [(2, 0), (2, 0.2), (10, 0), (10, 0.2)]
    assert [(row.k, row.limit) for row in found.rows] == pairs
    assert [(choice.k, choice.limit) for choice in found.choices] == pairs
    assert all(row.measures["S"] <= row.limit for row in found.rows)
    assert found.rows[0].measures["G"] <= found.rows[2].measures["G"]
    told = found.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert "not for publication" in told["internal"]
    assert told["input"]["trips"] == 400
    assert [one["method"] for one in told["recommendations"]] == ["odkanon"] * 4


def test_noise_needs_an_epsilon_and_is_shown_but_not_judged(source):
    """It heeds neither k nor the limit, so it runs once, whatever is swept."""
    noise = "laplace"
    plan = ComparisonPlan(
        source=source, zoning=Zoning(spec="h3:7"), methods=(noise,), ks=(2, 5), limits=(0, 0.1)
    )
    (without,) = compare(plan).rows
    assert (without.k, without.limit) == (None, None)
    assert "epsilon=" in str(without.reason)
    found = compare(replace(plan, epsilon=50.0, methods=(noise, "odkanon"), ks=(5,), limits=(0.1,)))
    row = row_of(found, noise)
    assert row.reason is None
    assert (row.k, row.limit, row.promise, row.epsilon) == (None, None, "differential privacy", 50.0)
    assert (row.safe, row.audit) == (None, "not judged")
    assert row.smallest is not None
    assert "drawn anew" in str(row.note)
    assert found.choices[0].method == "odkanon"
    assert noise in found.choices[0].words[-1]


@pytest.mark.parametrize("spec", ["quadtree:6", "dendrogram"])
def test_trees_whose_outlines_are_made_by_functions_reach_the_processes(tmp_path, spec):
    rows, zones = some_trips(), None
    if spec == "dendrogram":
        rows, zones = zone_trips(), str(write_zones(tmp_path / "zones.csv"))
    source = TripSource(paths=(str(write_csv(tmp_path / "trips.csv", rows)),))
    found = compare(
        ComparisonPlan(source=source, zoning=Zoning(spec=spec, zones=zones), methods=("odkanon",), ks=(5,))
    )
    assert [row.reason for row in found.rows] == [None]
    assert found.maps[0] is not None
    assert found.maps[0].shades.any()
    assert found.rows[0].measures["GDM_mean"] > 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"methods": ("magic",)}, "no method 'magic'"),
        ({"methods": ()}, "at least one method"),
        ({"ks": (10, 10)}, "at least one k, and each once"),
        ({"ks": (1,)}, "k must be at least 2"),
        ({"limits": (0.1, 1.0)}, "from 0 to below 1"),
        ({"time_limit": 0}, "time limit"),
        ({"jobs": 0}, "at least one method must run"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"units": ("cats",)}, "unit must be one of"),
        ({"units": ("travellers", "population")}, "k_population='N'"),
        ({"units": ("trips",), "k_population": "50"}, "goes with unit='population'"),
        ({"k_population": "many"}, "a number of people or auto"),
    ],
)
def test_a_wrong_lineup_is_refused_before_anything_is_read(wrong, words):
    with pytest.raises(InputError, match=words):
        ComparisonPlan(source=TripSource(paths=("nowhere.csv",)), **wrong)


def test_a_unit_that_the_input_does_not_have_is_told_once_and_not_in_every_row(source):
    trips = TripSource(paths=source.paths, columns={"person": "none"})
    with pytest.raises(InputError, match="needs a person or vehicle id"):
        compare(ComparisonPlan(source=trips, zoning=H3, units=("travellers",)))


def test_a_k_that_protects_nobody_is_refused_as_it_is_for_a_release(source):
    hollow = ComparisonPlan(source=source, zoning=H3, methods=("odkanon",), ks=(5,), units=("population",))
    with pytest.raises(InputError, match="protects nobody here"):
        compare(hollow)
    found = compare(replace(hollow, k_population="auto"))
    assert row_of(found, "odkanon").ran


def test_the_population_has_a_threshold_of_its_own(source):
    asked = asked_promise(5, None, k_population="900")
    matrix = read_matrix(source, H3).trips.matrix
    alone = METHODS["odkanon"](promise=asked).anonymise(matrix)
    found = compare(
        ComparisonPlan(source=source, zoning=H3, methods=("odkanon",), ks=(5,), k_population="900")
    )
    row = row_of(found, "odkanon")
    assert row.groups == len(alone.trips)
    assert min(alone.support("population")) >= 900
    assert "k = 5 travellers and population (at least 900)" in headline(found.choices[0])


def test_jobs_follow_memory_and_cores():
    cores = len(os.sched_getaffinity(0))
    assert jobs_that_fit(10**12, 10**6) == cores
    assert jobs_that_fit(10**12, 10**6, asked=3) == 3
    assert jobs_that_fit(10**9, 10**8, asked=8) == 1
    assert jobs_that_fit(200_000_000, 10**9, asked=8) == 1
    assert jobs_that_fit(4 * 10**9, 100_000_000, asked=8) == 2
    assert jobs_that_fit(8 * 10**9, 100_000_000, asked=8) == 5


KILLED = """
import sys
from forgeries import methods as misbehaving
from tripcloak.flows.methods import METHODS
from tripcloak.records.source import TripSource
from tripcloak.comparing.compare import ComparisonPlan, compare
from tripcloak.flows.reading.matrix import Zoning

METHODS["sleeps"] = misbehaving.Sleeps
source = TripSource(paths=(sys.argv[1],))
compare(ComparisonPlan(source=source, zoning=Zoning(spec="h3:9"), methods=("sleeps",), ks=(5,)))
"""


def test_no_process_outlives_one_that_is_killed(source, tmp_path):
    """Not even when it has no time to end them: the kernel does."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "TMPDIR": str(tmp_path),
    }
    process = subprocess.Popen([sys.executable, "-c", KILLED, source.paths[0]], env=environment)
    end = time.monotonic() + 30
    while not (started := children(process.pid)):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(1)
    process.kill()
    process.wait()
    while any(Path(f"/proc/{child}").exists() for child in started):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert sorted(os.listdir(tmp_path)) == ["trips.csv"]


def children(parent: int | None = None) -> list[int]:
    """Return the processes that a process has started and that still run."""
    listed = Path(f"/proc/{parent or os.getpid()}/task").glob("*/children")
    found = [int(child) for file in listed for child in file.read_text().split()]
    return [
        child for child in found if b"comparing.trial_process" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
