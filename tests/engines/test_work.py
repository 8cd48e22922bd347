"""A run's own folder: found again by the same request alone, never mixed, and gone at the end."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tripcloak.engines.work import PREFIX, work_folder
from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.methods import METHODS
from tripcloak.flows.reading.coded_rows import CodedRows
from tripcloak.flows.reading.coding import GatheredTrips
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError
from tripcloak.ground.waiting import waiting_folder
from tripcloak.promises import KAnonymity
from tripcloak.records.source import TripSource
from tripcloak.synth import City


def test_the_folder_is_private_and_goes_with_what_was_made_for_it(tmp_path: Path) -> None:
    out = tmp_path / "some" / "where"
    with work_folder(out, "key") as folder, waiting_folder() as waits:
        assert folder.parent == out
        assert folder.stat().st_mode & 0o077 == 0
        assert Path(waits).parent == folder
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_found_by_its_key_and_removed_by_others(tmp_path: Path) -> None:
    for key in ("mine", "other"):
        (tmp_path / f"{PREFIX}{key}").mkdir()
        (tmp_path / f"{PREFIX}{key}" / "rows").write_text(key)
    with work_folder(tmp_path, "mine") as folder:
        assert (folder / "rows").read_text() == "mine"
        assert [path.name for path in tmp_path.iterdir()] == [f"{PREFIX}mine"]
    assert list(tmp_path.iterdir()) == []


def test_runs_that_go_on_are_left_alone(tmp_path: Path) -> None:
    with work_folder(tmp_path, "key") as first, work_folder(tmp_path, "key") as second:
        assert first != second
        with work_folder(tmp_path, "another"):
            assert first.is_dir()
            assert second.is_dir()


def test_without_locks_nothing_is_shared_or_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_lock(*asked: object) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr(fcntl, "flock", no_lock)
    with work_folder(tmp_path, "key") as first, work_folder(tmp_path, "key") as second:
        assert first != second
        with work_folder(tmp_path, "another"):
            assert first.is_dir()
            assert second.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_found_again_without_a_key(tmp_path: Path) -> None:
    with work_folder(tmp_path, None) as first:
        name = first.name
    with work_folder(tmp_path, None) as second:
        assert second.name != name


@pytest.fixture(scope="module")
def request_of(tmp_path_factory: pytest.TempPathFactory) -> AnonymisationRequest:
    path = tmp_path_factory.mktemp("city") / "trips.parquet"
    parquet.write_table(City(trips=2000, seed=6).table(), path)
    return AnonymisationRequest(
        source=TripSource(paths=(str(path),)),
        zoning=Zoning(spec="h3:8"),
        method=METHODS["productcut"](promise=KAnonymity(k=5)),
        engine="parts",
        out=path.parent / "out",
    )


@pytest.fixture(scope="module")
def killed(request_of: AnonymisationRequest) -> tuple[Path, dict[str, bytes]]:
    """Return what a run would leave that is killed after reading, and what it releases if it is not."""
    left = request_of.out.parent / "left"
    copied = replace(request_of, once_read=lambda _: shutil.copytree(request_of.out, left))
    anonymise(copied)
    return left, files(request_of.out)


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "release").iterdir()}


def forbidden(*_: Any, **__: Any) -> Any:
    raise AssertionError("this was done before")


def test_a_killed_run_is_taken_up_and_releases_the_same(
    request_of: AnonymisationRequest,
    killed: tuple[Path, dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.copytree(killed[0], tmp_path / "out")
    monkeypatch.setattr(GatheredTrips, "add", forbidden)
    monkeypatch.setattr(CodedRows, "flows", forbidden)
    anonymise(replace(request_of, out=tmp_path / "out"))
    assert files(tmp_path / "out") == killed[1]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"release", "private"}


def test_a_clock_that_jumps_changes_nothing(
    request_of: AnonymisationRequest,
    killed: tuple[Path, dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, jumps = time.time, itertools.cycle([0.0, -86_400.0 * 400, 86_400.0 * 9000])
    shutil.copytree(killed[0], tmp_path / "out")
    monkeypatch.setattr(time, "time", lambda: now() + next(jumps))
    # As if it had been left in the future.
    for path in (tmp_path / "out").rglob("*"):
        os.utime(path, (2e9, 2e9))
    monkeypatch.setattr(GatheredTrips, "add", forbidden)
    anonymise(replace(request_of, out=tmp_path / "out"))
    assert files(tmp_path / "out") == killed[1]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"release", "private"}


@pytest.mark.parametrize("lost", ["rows/facts.json", "rows/flows/facts.json"])
def test_a_stage_that_had_not_ended_is_done_anew(
    request_of: AnonymisationRequest, killed: tuple[Path, dict[str, bytes]], tmp_path: Path, lost: str
) -> None:
    shutil.copytree(killed[0], tmp_path / "out")
    (folder,) = (tmp_path / "out").iterdir()
    (folder / lost).unlink()
    anonymise(replace(request_of, out=tmp_path / "out"))
    assert files(tmp_path / "out") == killed[1]


@pytest.mark.parametrize(
    "changed",
    [
        {"zoning": Zoning(spec="h3:7")},
        {"method": METHODS["productcut"](promise=KAnonymity(k=6))},
        {"source": {"where": "person_id is not null"}},
    ],
    ids=["zones", "promise", "rows"],
)
def test_another_request_takes_nothing_up(
    request_of: AnonymisationRequest,
    killed: tuple[Path, dict[str, bytes]],
    tmp_path: Path,
    changed: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "source" in changed:
        changed = {"source": replace(request_of.source, **changed["source"])}
    shutil.copytree(killed[0], tmp_path / "out")
    monkeypatch.setattr(GatheredTrips, "take_up", forbidden)
    anonymise(replace(request_of, out=tmp_path / "out", **changed))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"release", "private"}


def test_an_input_that_changes_meanwhile_is_refused(request_of: AnonymisationRequest, tmp_path: Path) -> None:
    trips = tmp_path / "trips.parquet"
    shutil.copy(request_of.source.paths[0], trips)

    def written_again(_: object) -> None:
        aside = trips.with_suffix(".new")
        shutil.copy(trips, aside)
        aside.rename(trips)

    source = TripSource(paths=(str(trips),))
    request = replace(request_of, source=source, out=tmp_path / "out", once_read=written_again)
    with pytest.raises(InputError, match="the input changed while it was read"):
        anonymise(request)
    assert not (tmp_path / "out").exists()
