"""The folder of a release of trajectories: what is in it, what is not, and that it reads back the same."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import file_digest
from tripcloak.promises import CoLocation
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.audit.folder import audit_public
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.reading import read_trajectory_folder, release_of_folder
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.released_trajectories import written
from worlds.trajectories import PARIS, identity_release, made, random_release

COLUMNS = ["trajectory", "t_start", "t_end", "x_min", "x_max", "y_min", "y_max"]
DEGREES = ["lon_min", "lat_min", "lon_max", "lat_max"]


@pytest.fixture(scope="module")
def people() -> Trajectories:
    return made(users=41, samples=9, seed=3)


@pytest.fixture(scope="module")
def release(people: Trajectories) -> TrajectoryRelease:
    return random_release(people, deleting=True)


@pytest.fixture(scope="module")
def folder(people: Trajectories, release: TrajectoryRelease, tmp_path_factory: Any) -> Path:
    return written(
        tmp_path_factory.mktemp("folder") / "out", people, release, run={"source": {"paths": ["p"]}}
    )


def sequences(release: TrajectoryRelease) -> Counter[tuple[tuple[int, ...], ...]]:
    """The released trajectories, whatever their order and names."""
    rows = np.stack(release.boxes, axis=1)
    parts = np.split(rows, release.offsets[1:-1])
    return Counter(tuple(map(tuple, part.tolist())) for part in parts)


def samples(folder: Path) -> pa.Table:
    return parquet.read_table(folder / "release" / "samples.parquet")


def test_the_folder_holds_these_files_and_no_others(folder: Path) -> None:
    assert {path.name for path in (folder / "release").iterdir()} == {
        "README.md", "manifest.json", "map.html", "samples.csv", "samples.parquet",
        "trajectories.geojson", "trajectories.mfjson",
    }  # fmt: skip
    assert {path.name for path in (folder / "private").iterdir()} == {"mapping.parquet", "run.json"}
    assert {path.name for path in folder.iterdir()} == {"release", "private"}


def test_samples_have_these_columns_and_nothing_else_is_told_of_them(folder: Path) -> None:
    table = samples(folder)
    assert table.column_names == COLUMNS + DEGREES
    kinds = ["string", *["timestamp[ms, tz=UTC]"] * 2, *["int64"] * 4, *["double"] * 4]
    assert [str(field.type) for field in table.schema] == kinds
    assert parquet.read_metadata(folder / "release" / "samples.parquet").metadata is None
    assert table.schema.metadata is None


def test_the_text_says_what_the_table_says(folder: Path) -> None:
    rows = samples(folder).to_pylist()
    with (folder / "release" / "samples.csv").open(encoding="utf-8", newline="") as file:
        texts = list(csv.DictReader(file))
    assert len(texts) == len(rows) > 0
    for row, text in zip(rows, texts, strict=True):
        for name, value in row.items():
            if name == "trajectory":
                assert text[name] == value
            elif isinstance(value, datetime):
                assert datetime.fromisoformat(text[name]) == value
            else:
                assert float(text[name]) == value
                assert len(text[name].partition(".")[2]) <= 6


def test_rows_are_by_trajectory_and_time_in_metres_and_utc(
    folder: Path, people: Trajectories, release: TrajectoryRelease
) -> None:
    rows = samples(folder).to_pylist()
    assert [(row["trajectory"], row["t_start"]) for row in rows] == sorted(
        (row["trajectory"], row["t_start"]) for row in rows
    )
    grid = people.grid
    told = Counter(
        (row["t_start"], row["t_end"], row["x_min"], row["x_max"], row["y_min"], row["y_max"]) for row in rows
    )
    expected = Counter(
        (
            *(datetime.fromtimestamp(grid.start + t * grid.seconds, UTC) for t in (t0, t1)),
            *(edge * grid.metres for edge in edges),
        )
        for t0, t1, *edges in np.stack(release.boxes, axis=1).tolist()
    )
    assert told == expected


def test_what_is_written_reads_back(folder: Path, people: Trajectories, release: TrajectoryRelease) -> None:
    found = read_trajectory_folder(folder)
    assert found.grid == people.grid
    assert (found.n_released, found.n_boxes) == (release.n_released, release.n_boxes)
    again = release_of_folder(folder, people)
    assert sequences(again) == sequences(release)
    assert again.facts == release.facts
    # Every sample goes to the box that it went to, and what was deleted stays so.
    kept = release.box_of >= 0
    assert np.array_equal(kept, again.box_of >= 0)
    for one, other in zip(release.boxes, again.boxes, strict=True):
        assert np.array_equal(one[release.box_of[kept]], other[again.box_of[kept]])
    assert np.array_equal(release.released_of < 0, again.released_of < 0)
    assert np.array_equal(again.created, np.zeros(again.n_boxes, dtype=bool))


def test_samples_that_were_moved_are_found_by_a_private_file(tmp_path: Path, people: Trajectories) -> None:
    """By time and place nobody could find them: each is a kilometre away from where it was."""
    points = identity_release(people)
    boxes = points.boxes._replace(x0=points.boxes.x0 + 10, x1=points.boxes.x1 + 10)
    gone = np.where(np.arange(people.n_samples) % 4 == 1, -1, points.box_of)
    moved = replace(points, boxes=boxes, box_of=gone, promise=CoLocation(k=2, delta=500.0))
    out = written(tmp_path / "out", people, moved)
    again = release_of_folder(out, people)
    assert again.promise == CoLocation(k=2, delta=500.0)
    assert np.array_equal(again.box_of >= 0, gone >= 0)
    kept = gone >= 0
    assert np.array_equal(again.boxes.x0[again.box_of[kept]], people.x[kept] + 10)
    assert np.array_equal(again.boxes.t0[again.box_of[kept]], people.t[kept])
    assert json.loads((out / "release" / "manifest.json").read_text())["promise"]["delta"] == 500.0


def test_a_grid_of_its_own_reads_back(tmp_path: Path) -> None:
    grid = Grid(seconds=7, metres=30, start=1_600_000_001 // 7 * 7, projection=PARIS)
    people = made(users=5, samples=5, grid=grid)
    release = random_release(people)
    out = written(tmp_path / "out", people, release)
    assert read_trajectory_folder(out).grid == grid
    assert sequences(release_of_folder(out, people)) == sequences(release)


def test_the_public_part_reads_alone_whatever_it_is_called(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "release", tmp_path / "other name")
    assert np.array_equal(
        read_trajectory_folder(tmp_path / "other name").boxes.t0, read_trajectory_folder(folder).boxes.t0
    )


def test_pseudonyms_are_fresh_and_of_one_width(
    tmp_path: Path, people: Trajectories, release: TrajectoryRelease, folder: Path
) -> None:
    other = written(tmp_path / "again", people, release)
    one, two = (read_trajectory_folder(place).pseudonyms.tolist() for place in (folder, other))
    assert not set(one) & set(two)
    assert all(re.fullmatch(r"t[0-9a-f]{16}", name) for name in one + two)
    assert len(set(one)) == len(one) == release.n_released


def test_the_order_of_trajectories_has_no_relation_to_the_input(tmp_path: Path) -> None:
    people = made(users=200, samples=2)
    out = written(tmp_path / "out", people, identity_release(people), formats=())
    rows = release_of_folder(out, people).released_of
    assert sorted(rows.tolist()) == list(range(200))
    # Five standard deviations: once in a million runs chance alone would do this.
    assert abs(np.corrcoef(rows, np.arange(200))[0, 1]) < 0.36


def test_the_manifest_says_this_and_no_more(
    folder: Path, people: Trajectories, release: TrajectoryRelease
) -> None:
    facts = json.loads((folder / "release" / "manifest.json").read_text())
    files = facts.pop("files")
    assert facts == {
        "format": "tripcloak release 3",
        "kind": "trajectories",
        "version": release.version,
        "method": "by-hand",
        "parameters": {},
        "promise": {
            "kind": "containment",
            "k": 2,
            "id_is": "person",
            "sentence": "k = 2: all of a person's samples are in 2 trajectories or more",
        },
        "counted": {"trajectories": "people: every id stands for one person"},
        "grid": {"seconds": 60, "metres": 100, "start": 0, "projection": PARIS, "clock": "UTC"},
        "released": {"trajectories": release.n_released, "samples": release.n_boxes},
        "guess": guess_owner(people, release).to_manifest(),
    }
    public = folder / "release"
    assert files == {p.name: file_digest(p) for p in public.iterdir() if p.name != "manifest.json"}


def test_private_files_say_who_is_who(folder: Path, people: Trajectories, release: TrajectoryRelease) -> None:
    mapping = parquet.read_table(folder / "private" / "mapping.parquet").to_pylist()
    assert [row["user"] for row in mapping] == people.users.tolist()
    assert [row["trajectory"] is None for row in mapping] == (release.released_of < 0).tolist()
    run = json.loads((folder / "private" / "run.json").read_text())
    assert run["source"] == {"paths": ["p"]}
    assert run["input_digest"] == people.digest


def test_no_id_and_no_raw_place_is_in_any_public_file(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    grid = Grid(projection=PARIS)
    lon, lat = 2.3 + random.uniform(-0.1, 0.1, 60), 48.9 + random.uniform(-0.1, 0.1, 60)
    x, y = grid.project(lon, lat)
    t, x, y = grid.steps(seconds=1_700_000_000 + random.integers(0, 90_000, 60), x=x, y=y)
    names = np.array([f"person-{row % 6}@home" for row in range(60)])
    people = Trajectories.of(user=names, t=t, x=x, y=y, grid=grid)
    out = written(tmp_path / "out", people, random_release(people, deleting=True))
    raw = [repr(float(place))[:10] for place in (*lon, *lat)]
    for path in (out / "release").iterdir():
        table = path.suffix == ".parquet"
        text = str(parquet.read_table(path).to_pylist()) if table else path.read_text(encoding="utf-8")
        content = path.read_bytes()
        assert not [name for name in set(names) if name in text or name.encode() in content]
        assert not [place for place in raw if place in text], path.name
    assert (out / "private").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("formats", [(), ("geojson",), ("mfjson",)])
def test_only_the_formats_that_are_asked_for_are_written(
    tmp_path: Path, people: Trajectories, release: TrajectoryRelease, formats: tuple[str, ...]
) -> None:
    out = written(tmp_path / "out", people, release, formats=formats)
    found = {path.suffix[1:] for path in (out / "release").glob("trajectories.*")}
    assert found == set(formats)
    facts = json.loads((out / "release" / "manifest.json").read_text())
    left_out = [f"trajectories.{name}" for name in ("geojson", "mfjson") if name not in formats]
    assert facts["left_out"] == left_out
    readme = (out / "release" / "README.md").read_text()
    assert all(f"`{name}`" in readme.partition("Not here")[2] for name in left_out)


def test_large_releases_leave_large_formats_out_unless_asked(
    tmp_path: Path, people: Trajectories, release: TrajectoryRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tripcloak.trajectories.release.writing.MOST", release.n_boxes - 1)
    assert not list((written(tmp_path / "a", people, release) / "release").glob("trajectories.*"))
    asked = written(tmp_path / "b", people, release, formats=("geojson",))
    assert list((asked / "release").glob("trajectories.*")) == [asked / "release" / "trajectories.geojson"]


@pytest.mark.parametrize(("spare", "formats"), [(0, ()), (-1, ()), (-1, ("csv",))])
def test_large_releases_are_written_as_text_only_if_asked(
    tmp_path: Path,
    people: Trajectories,
    release: TrajectoryRelease,
    monkeypatch: pytest.MonkeyPatch,
    spare: int,
    formats: tuple[str, ...],
) -> None:
    monkeypatch.setattr("tripcloak.trajectories.release.writing.MOST_AS_TEXT", release.n_boxes + spare)
    out = written(tmp_path / "out", people, release, formats=formats)
    there = spare == 0 or "csv" in formats
    assert (out / "release" / "samples.csv").exists() == there
    facts = json.loads((out / "release" / "manifest.json").read_text())
    assert ("samples.csv" in facts["left_out"]) == (not there)
    assert ("`samples.csv`: one row" in (out / "release" / "README.md").read_text()) == there
    judged = {finding.rule: finding.ok for finding in audit_public(out)}
    assert judged["files-complete"]
    assert judged["csv-equals-parquet"]
    assert judged["digests-match"]


def test_parts_of_a_large_table_join_up(
    tmp_path: Path, people: Trajectories, release: TrajectoryRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tripcloak.trajectories.release.published.BATCH", 50)
    out = written(tmp_path / "out", people, release)
    assert sequences(release_of_folder(out, people)) == sequences(release)
    assert samples(out).num_rows == len((out / "release" / "samples.csv").read_text().splitlines()) - 1


def test_an_unknown_format_is_refused(
    tmp_path: Path, people: Trajectories, release: TrajectoryRelease
) -> None:
    with pytest.raises(InputError, match="no such format: kml; there are csv, geojson, mfjson"):
        written(tmp_path / "out", people, release, formats=("kml",))
    assert not (tmp_path / "out").exists()


def test_another_input_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="made from another input"):
        release_of_folder(folder, made(users=41, samples=9, seed=4))


@pytest.mark.parametrize(
    ("name", "reads"),
    [("release/samples.parquet", read_trajectory_folder), ("private/mapping.parquet", None)],
)
def test_a_missing_or_damaged_table_is_named(
    folder: Path, tmp_path: Path, people: Trajectories, name: str, reads: Any
) -> None:
    shutil.copytree(folder, tmp_path / "out")
    table = tmp_path / "out" / name
    read = reads or (lambda place: release_of_folder(place, people))
    table.write_bytes(b"PAR1 this is no table")
    with pytest.raises(InputError, match="cannot be read; it may be damaged"):
        read(tmp_path / "out")
    table.unlink()
    with pytest.raises(InputError, match=f"not a whole release: {name} is missing"):
        read(tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "holds no release: release/manifest.json is missing"),
        ("{", "cannot be read as JSON"),
        ("[]", "is not a manifest"),
        ('{"kind": "trajectories"}', "is not a manifest of tripcloak"),
        (
            '{"format": "tripcloak release 3", "kind": "flows"}',
            "of flows, not of trajectories",
        ),
        ('{"format": "tripcloak release 3", "kind": "trajectories"}', "was changed since it was made"),
    ],
)
def test_a_broken_manifest_is_named(folder: Path, tmp_path: Path, text: str | None, words: str) -> None:
    shutil.copytree(folder, tmp_path / "out")
    path = tmp_path / "out" / "release" / "manifest.json"
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_trajectory_folder(tmp_path / "out")


def _off_the_grid(table: pa.Table) -> pa.Table:
    return table.set_column(3, "x_min", pa.compute.add(table["x_min"], 1))


def _out_of_order(table: pa.Table) -> pa.Table:
    return table.take(list(reversed(range(len(table)))))


def _without_rows(table: pa.Table) -> pa.Table:
    return table.slice(0, 0)


def _without_a_column(table: pa.Table) -> pa.Table:
    return table.drop_columns(["lat_max"])


@pytest.mark.parametrize("forge", [_off_the_grid, _out_of_order, _without_rows, _without_a_column])
def test_changed_samples_are_refused(folder: Path, tmp_path: Path, forge: Any) -> None:
    shutil.copytree(folder, tmp_path / "out")
    path = tmp_path / "out" / "release" / "samples.parquet"
    parquet.write_table(forge(parquet.read_table(path)), path)
    with pytest.raises(InputError, match=r"was changed since it was made; `tripcloak.trajectories.audit`"):
        read_trajectory_folder(tmp_path / "out")


def test_a_mapping_of_other_people_is_refused(folder: Path, tmp_path: Path, people: Trajectories) -> None:
    shutil.copytree(folder, tmp_path / "out")
    path = tmp_path / "out" / "private" / "mapping.parquet"
    table = parquet.read_table(path)
    for forged in (table.slice(1), table.set_column(1, "trajectory", pa.array(["t0"] * len(table)))):
        parquet.write_table(forged, path)
        with pytest.raises(InputError, match="was changed since it was made"):
            release_of_folder(tmp_path / "out", people)
