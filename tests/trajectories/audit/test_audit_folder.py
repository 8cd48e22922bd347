"""The audit of a folder says yes to what is safe, and no to every forgery."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from forgeries.trajectories import (
    K,
    audit_of_forged,
    entry,
    manifest,
    samples,
    written,
)
from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import FORMAT
from tripcloak.promises import CoLocation, Containment, Promise
from tripcloak.trajectories.audit import audit_folder
from tripcloak.trajectories.checking import ReadInput
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from worlds.trajectories import PARIS, identity_release


def test_a_safe_folder_passes_with_the_right_numbers(safe: Path, raw: ReadInput) -> None:
    audit = audit_folder(safe, raw, k=K)
    assert audit.safe, [finding for finding in audit.findings if not finding.ok]
    assert audit.smallest_support == audit.numbers["smallest_two_sided_support"] == K
    assert audit.numbers["distribution"]["two_sided_support"]["0"] == K


def test_the_number_of_threads_plays_no_part(safe: Path, raw: ReadInput) -> None:
    assert audit_folder(safe, raw, jobs=1).to_dict() == audit_folder(safe, raw, jobs=3).to_dict()


def first_row(change: str) -> Callable[[Path], None]:
    return lambda folder: samples(folder, f"UPDATE s SET {change} WHERE rowid = 0")


def every_row(change: str) -> Callable[[Path], None]:
    return lambda folder: samples(folder, f"UPDATE s SET {change}")


def ids_for_pseudonyms(folder: Path, form: str) -> None:
    """Publish people's ids, or what follows from them, in place of pseudonyms."""
    told = f"'{folder}/private/mapping.parquet'"
    renamed = f"(SELECT {form} FROM {told} m WHERE m.trajectory = s.trajectory)"
    samples(
        folder,
        f"CREATE TABLE named AS SELECT * REPLACE ({renamed} AS trajectory) FROM s",
        f"COPY (SELECT \"user\", {form} AS trajectory FROM {told}) TO '{folder}/private/m' (FORMAT parquet)",
        "DELETE FROM s",
        "INSERT INTO s SELECT * FROM named ORDER BY trajectory, t_start",
    )
    (folder / "private" / "m").replace(folder / "private" / "mapping.parquet")


def drop_trajectory(folder: Path) -> None:
    samples(folder, "DELETE FROM s WHERE trajectory = (SELECT min(trajectory) FROM s)")
    with duckdb.connect() as con:
        path = f"{folder}/release/samples.parquet"
        told = con.execute(f"SELECT count(DISTINCT trajectory), count(*) FROM '{path}'").fetchone()
    assert told
    manifest(folder, released={"trajectories": told[0], "samples": told[1]})


def double_trajectory(folder: Path) -> None:
    samples(
        folder,
        "INSERT INTO s SELECT * REPLACE ('zz' AS trajectory) FROM s "
        "WHERE trajectory = (SELECT max(trajectory) FROM s)",
    )


def hide_metadata(folder: Path) -> None:
    path = f"{folder}/release/samples.parquet"
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE s AS SELECT * FROM '{path}'")
        con.execute(f"COPY s TO '{path}' (FORMAT parquet, KV_METADATA {{who: 'u0001'}})")
    manifest(folder)


def add_file(folder: Path) -> None:
    (folder / "release" / "who.txt").write_text("u0001")
    manifest(folder)


def write_page(folder: Path) -> None:
    (folder / "release" / "map.html").write_text("<p>as u0007 said</p>")
    manifest(folder)


def change_csv(folder: Path) -> None:
    path = folder / "release" / "samples.csv"
    path.write_text(path.read_text().replace("00Z", "01Z", 1))
    manifest(folder)


def edit_json(name: str, change: Callable[[Any], None]) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        path = folder / "release" / name
        told = json.loads(path.read_text())
        change(told)
        path.write_text(json.dumps(told))
        manifest(folder)

    return forge


def set_grid(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: manifest(folder, grid={**entry(folder, "grid"), **changes})


def set_promise(**changes: Any) -> Callable[[Path], None]:
    """Return a forgery that promises something else, in words that fit where it makes sense."""

    def forge(folder: Path) -> None:
        told = {**entry(folder, "promise"), **changes}
        with suppress(InputError):
            told = Promise.from_manifest(told).stated()
        manifest(folder, promise=told)

    return forge


FORGERIES: dict[str, tuple[Callable[[Path], None], str]] = {
    "boxes shrunk": (every_row("x_max = greatest(x_max - 100, x_min + 100)"), "support-reaches-k"),
    "boxes shrunk in time": (every_row("t_end = t_end - INTERVAL 1 MINUTE"), "support-reaches-k"),
    "box off the grid": (first_row("x_min = x_min - 7"), "edges-on-the-grid"),
    "time off the grid": (first_row("t_start = t_start - INTERVAL 1 SECOND"), "edges-on-the-grid"),
    "box turned around": (first_row("x_max = x_min, x_min = x_max"), "boxes-have-extent"),
    "overlap in time": (first_row("t_end = t_end + INTERVAL 30 DAY"), "no-overlap-in-time"),
    "degrees shrunk": (first_row("lon_max = lon_max - 1e-4"), "degrees-enclose-metres"),
    "degrees elsewhere": (first_row("lat_min = lat_min + 1, lat_max = 90"), "degrees-enclose-metres"),
    "empty cell": (first_row("lon_min = NULL"), "boxes-have-extent"),
    "rows shuffled": (
        lambda folder: samples(folder, "CREATE TABLE o AS SELECT * FROM s ORDER BY t_start", "DELETE FROM s",
                               "INSERT INTO s SELECT * FROM o"),
        "ordered-by-pseudonym",
    ),
    "column added": (lambda folder: samples(folder, columns="*, 3 AS samples"), "only-allowed-columns"),
    "column of another kind": (
        lambda folder: samples(folder, columns="* REPLACE (x_min::DOUBLE AS x_min)"),
        "only-allowed-columns",
    ),
    "hidden metadata": (hide_metadata, "only-allowed-columns"),
    "trajectory dropped": (drop_trajectory, "as-many-as-people"),
    "trajectory dropped, support": (drop_trajectory, "support-reaches-k"),
    "trajectory doubled": (double_trajectory, "as-many-as-people"),
    "samples dropped": (
        lambda folder: samples(folder, "DELETE FROM s WHERE rowid = 0"),
        "manifest-consistent",
    ),
    "ids as pseudonyms": (lambda folder: ids_for_pseudonyms(folder, '"user"'), "pseudonyms-fresh"),
    "hashes as pseudonyms": (
        lambda folder: ids_for_pseudonyms(folder, "'t' || md5(\"user\")[:16]"),
        "pseudonyms-fresh",
    ),
    "pseudonyms in order of ids": (
        lambda folder: ids_for_pseudonyms(folder, "'t' || hash(1)::varchar || \"user\""),
        "order-tells-nothing",
    ),
    "no mapping": (lambda folder: (folder / "private" / "mapping.parquet").unlink(), "order-tells-nothing"),
    "k raised": (set_promise(k=K + 1), "support-reaches-k"),
    "k of one": (set_promise(k=1), "promise-valid"),
    "k as text": (set_promise(k="3"), "promise-valid"),
    "two k": (
        lambda folder: manifest(
            folder, promise={**entry(folder, "promise"), "sentence": Containment(k=K - 1).sentence()}
        ),
        "promise-valid",
    ),
    "no words": (
        lambda folder: manifest(folder, promise=Containment(k=K).to_manifest()), "promise-valid"
    ),
    "k in the manifest": (lambda folder: manifest(folder, k=K), "manifest-whole"),
    "another promise": (set_promise(kind="colocation", delta=1e9), "companions-reach-k"),
    "a promise of nothing": (set_promise(kind="trust"), "promise-valid"),
    "finer grid": (set_grid(metres=7), "edges-on-the-grid"),
    "grid of no length": (set_grid(metres=0), "promise-valid"),
    "another projection": (set_grid(projection=PARIS.replace("2.3", "2.9")), "support-reaches-k"),
    "no projection": (set_grid(projection="+proj=nonsense"), "support-reaches-k"),
    "more in the manifest": (lambda folder: manifest(folder, users=24), "manifest-whole"),
    "less in the manifest": (lambda folder: manifest(folder, method=None), "manifest-whole"),
    "people in the parameters": (
        lambda folder: manifest(folder, parameters={"note": ["u0001"]}),
        "manifest-whole",
    ),
    "an id in the manifest": (lambda folder: manifest(folder, method="for u0001"), "pages-name-nobody"),
    "an id in a page": (write_page, "pages-name-nobody"),
    "digest wrong": (lambda folder: manifest(folder, files={}), "digests-match"),
    "file added": (add_file, "files-complete"),
    "file gone": (lambda folder: (folder / "release" / "map.html").unlink(), "files-complete"),
    "page changed": (lambda folder: (folder / "release" / "map.html").write_text("u0001"), "digests-match"),
    "csv changed": (change_csv, "csv-equals-parquet"),
    "geojson tells more": (
        edit_json("trajectories.geojson", lambda told: told["features"][0]["properties"].update(samples=3)),
        "geojson-equals-samples",
    ),
    "geojson moved": (
        edit_json("trajectories.geojson", lambda told: told["features"].pop()),
        "geojson-equals-samples",
    ),
    "mfjson tells more": (
        edit_json("trajectories.mfjson", lambda told: told["features"][0]["properties"].update(samples=3)),
        "mfjson-equals-samples",
    ),
    "mfjson holds less": (
        edit_json("trajectories.mfjson", lambda told: told["features"].pop()),
        "mfjson-equals-samples",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_every_forgery_is_found(name: str, safe: Path, raw: ReadInput, tmp_path: Path) -> None:
    audit_of_forged(*FORGERIES[name], safe, raw, tmp_path)


def test_changing_nothing_but_the_way_files_are_written_is_no_forgery(
    safe: Path, raw: ReadInput, tmp_path: Path
) -> None:
    """So that forgeries fail for what they change, not for the way they do it."""
    folder = tmp_path / "rewritten"
    shutil.copytree(safe, folder)
    samples(folder)
    audit = audit_folder(folder, raw)
    assert audit.safe, [finding for finding in audit.findings if not finding.ok]


def test_more_than_was_promised_may_be_ordered(safe: Path, raw: ReadInput) -> None:
    assert audit_folder(safe, raw, k=K + 1).broken == ("promise-valid",)


def test_raw_trajectories_are_not_safe(raw: ReadInput, tmp_path: Path) -> None:
    trajectories = read_trajectories(raw.source).trajectories
    folder = written(tmp_path, trajectories, identity_release(trajectories))
    audit = audit_folder(folder, raw)
    assert {"support-reaches-k", "two-sided-support-reaches-k", "nobody-alone"} == set(audit.broken)
    assert audit.smallest_support == 1


def test_another_input_is_not_contained(safe: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    lines = [f"u{i:04d},{1_700_000_000 + 3600 * i},48.9,{2.3 + i / 1000}" for i in range(24)]
    path.write_text("\n".join(["user_id,timestamp,lat,lon", *lines]))
    source = TrajectorySource(paths=(str(path),), seconds=60, metres=100)
    assert "support-reaches-k" in audit_folder(safe, ReadInput(source)).broken


def test_points_within_delta_pass_and_linkage_is_not_claimed(tmp_path: Path) -> None:
    path = tmp_path / "fixes.csv"
    rows = [f"u{i},{1_700_000_040 + 60 * t},48.9,{2.3 + (i % 3) / 1000}" for i in range(12) for t in range(4)]
    path.write_text("\n".join(["user_id,timestamp,lat,lon", *rows]))
    source = TrajectorySource(paths=(str(path),), seconds=60, metres=100)
    trajectories = read_trajectories(source).trajectories
    release = replace(identity_release(trajectories), promise=CoLocation(k=12, delta=200.0))
    (tmp_path / "out").mkdir()
    audit = audit_folder(written(tmp_path / "out", trajectories, release), ReadInput(source))
    assert audit.safe, audit.findings
    assert audit.smallest_support == 4
    (tmp_path / "less").mkdir()
    narrow = written(tmp_path / "less", trajectories, replace(release, promise=CoLocation(k=12, delta=99.0)))
    assert audit_folder(narrow, ReadInput(source)).broken == ("companions-reach-k",)


def test_a_folder_without_a_release_is_no_release(tmp_path: Path, raw: ReadInput) -> None:
    with pytest.raises(InputError, match="holds no release"):
        audit_folder(tmp_path, raw)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "manifest.json").write_text(
        f'{{"format": "tripcloak release {FORMAT}", "kind": "flows"}}'
    )
    with pytest.raises(InputError, match="not of trajectories"):
        audit_folder(tmp_path, raw)
