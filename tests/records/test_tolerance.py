"""What cannot be read stops a release above a stated share, and says which files, why and what to type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tripcloak as tc
from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.ground.errors import InputError
from tripcloak.promises import KAnonymity, Unit
from tripcloak.records.cleaning import NUMBERS, REASONS, CleaningReport, report_files
from tripcloak.records.source import TripSource
from tripcloak.records.tolerance import EMPTY, UNREADABLE, losses
from worlds.made_files.damaged import EMPTY as NO_PLACE
from worlds.made_files.damaged import NO_TIME, trips

K = {"k": 2, "hierarchy": "h3:7"}


def of(*files: dict[int, int]) -> CleaningReport:
    return report_files(files, {f"{place}.csv": 0 for place in range(len(files))})


def test_the_share_itself_is_tolerated_and_a_row_more_is_not() -> None:
    assert losses(of({0: 95, 1: 5}), 0.05) == []
    (loss,) = losses(of({0: 94, 1: 6}), 0.05)
    assert (loss.file.name, loss.reasons, round(loss.share, 2)) == ("0.csv", ("unparsable",), 0.06)
    assert losses(of({0: 94, 1: 6}), 0.06) == []


def test_empty_cells_count_from_half_of_a_file_on() -> None:
    empty = NUMBERS["missing_coordinate"]
    assert losses(of({0: 50, empty: 50}), 0.05) == []
    assert [loss.reasons for loss in losses(of({0: 49, empty: 51}), 0.05)] == [("missing_coordinate",)]
    assert losses(of({0: 49, empty: 51}), 0.6) == []


def test_what_was_not_wanted_never_counts() -> None:
    asked = [reason.number for reason in REASONS if reason.name not in (*UNREADABLE, *EMPTY)]
    assert losses(of(dict.fromkeys(asked, 1000) | {0: 1}), 0.0) == []
    assert set(UNREADABLE) & set(EMPTY) == set()


def test_one_small_file_of_many_is_looked_at_with_the_others() -> None:
    assert losses(of({0: 99_999}, {1: 99}), 0.05) == []
    assert [loss.file.name for loss in losses(of({0: 99_899}, {1: 101}), 0.05)] == ["1.csv"]
    many = of(*({0: 9, 1: 1} for _ in range(2000)))
    assert [loss.file.name for loss in losses(many, 0.05)] == ["2000 files"]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return two good months and one that was saved again, with its dates lost."""
    folder = tmp_path_factory.mktemp("months")
    resaved = trips(20, day=3).replace("2024-05-03 08:", "").replace("2024-05-03 09:", "")
    for name, text in (("may.csv", trips(60)), ("june.csv", trips(60, day=2)), ("july.csv", resaved)):
        (folder / name).write_text(text)
    return sorted(folder.glob("*.csv"))


def test_a_release_stops_and_names_files_reasons_column_and_the_next_command(mixed: list[Path]) -> None:
    with pytest.raises(InputError) as refusal:
        tc.anonymise(mixed, **K)
    words = str(refusal.value)
    assert "july.csv: 100 % of 20 rows (text where a number or a time must be" in words
    assert "column 'start_time' must hold the start of the trip" in words
    assert "may.csv" not in words
    assert "(5 %)" in words
    assert "`tripcloak.describe`" in words
    assert "tolerate='100%'" in words


@pytest.mark.parametrize("tolerate", [1, 1.0, "100%", "100 %"])
def test_a_release_goes_on_where_that_is_tolerated(mixed: list[Path], tolerate: float | str) -> None:
    assert tc.anonymise(mixed, tolerate=tolerate, **K).private.notes is not None


def test_describe_never_stops_and_says_what_would(mixed: list[Path]) -> None:
    told = tc.describe(mixed, k=2).to_dict()
    (warning,) = told["warnings"]
    assert "july.csv" in warning
    assert "`tripcloak.anonymise` stops" in warning
    assert tc.describe(mixed, k=2, tolerate="100%").to_dict()["warnings"] in ((), [])


def test_a_release_that_was_made_is_audited_whatever_was_lost(mixed: list[Path], tmp_path: Path) -> None:
    tc.anonymise(mixed, tolerate="100%", out=tmp_path / "out", **K)
    assert tc.audit(tmp_path / "out", mixed).safe


def test_trajectories_stop_too(tmp_path: Path) -> None:
    good = [f"u{n % 5},2024-05-01 08:{n:02}:00,48.8{n},2.3{n}" for n in range(20)]
    path = tmp_path / "fixes.csv"
    path.write_text("\n".join(["user_id,time,lat,lon", *good, "u1,soon,48.8,2.3", "u2,late,48.8,2.3", ""]))
    with pytest.raises(InputError, match=r"fixes.csv: 9.09 % of 22 rows .*tolerate='10%'"):
        tc.trajectories.anonymise(path, k=2)
    assert "fixes.csv" in tc.trajectories.describe(path).to_dict()["warnings"][0]
    assert tc.trajectories.describe(path, tolerate=0.1).to_dict()["warnings"] in ((), [])


@pytest.mark.parametrize("share", [-0.01, 1.01, 5, float("nan")])
def test_only_a_share_is_a_share(share: float) -> None:
    with pytest.raises(InputError, match="tolerate must be a share from 0 to 1"):
        TripSource(paths=("trips.csv",), tolerate=share)


def test_a_file_that_is_mostly_empty_stops(tmp_path: Path) -> None:
    (tmp_path / "may.csv").write_text(trips(40))
    (tmp_path / "june.csv").write_text(trips(9, day=2, bad=[NO_PLACE] * 10))
    with pytest.raises(InputError, match=r"june.csv: 52.6 % of 19 rows \(coordinate missing"):
        tc.anonymise([tmp_path / "may.csv", tmp_path / "june.csv"], **K)


def test_a_segment_is_held_to_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(trips(40, bad=[NO_TIME] * 10))
    with pytest.raises(InputError, match=r"trips.csv: 20 % of 50 rows"):
        tc.anonymise(path, segment="user_id", **K)


def test_most_rows_without_an_id_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "may.csv").write_text(trips(40))
    bare = trips(41, day=2)
    for person in range(7):
        bare = bare.replace(f"\nu{person},", "\n,")
    (tmp_path / "june.csv").write_text(bare)
    both = [tmp_path / "may.csv", tmp_path / "june.csv"]
    told = tc.describe(both, k=2).to_dict()
    (warning,) = told["warnings"]
    assert "most rows lack the id that k counts" in warning
    assert "41 of 81 rows have no id in 'user_id', most of june.csv" in warning
    assert "unit='trips'" in warning
    # Whoever counts trips needs no ids.
    source = TripSource(paths=tuple(map(str, both)))
    units: dict[Unit | None, int] = {"trips": 0, "travellers": 1, None: 1}
    for unit, warned in units.items():
        promise = KAnonymity(k=2, unit=unit)
        assert len(read_matrix(source, Zoning(), promise=promise).warnings) == warned
    # At one half they are not most.
    (tmp_path / "june.csv").write_text("\n".join(bare.splitlines()[:-1]) + "\n")
    (warning,) = tc.describe(both, k=2).to_dict()["warnings"]
    assert "50% of the rows lack the id that k counts: 40 of 80 rows have no id" in warning
    assert "leave out the files without ids" in warning


@pytest.mark.parametrize(("bare", "warned"), [(10, False), (11, True)])
def test_more_rows_without_an_id_than_a_limit_withholds_are_warned_of(
    tmp_path: Path, bare: int, warned: bool
) -> None:
    """As little as that ruins a release: everything becomes one flow before those rows hide among k ids."""
    head, *rows = trips(100).splitlines()
    rows = ["," + row.partition(",")[2] if at < bare else row for at, row in enumerate(rows)]
    (tmp_path / "trips.csv").write_text("\n".join([head, *rows]) + "\n")
    told = tc.describe(tmp_path / "trips.csv", k=2).to_dict()
    words = [word for word in told["warnings"] if "of the rows lack the id that k counts" in word]
    assert len(words) == warned
    assert any(f"{bare} of 100 rows have no id" in word for word in (words or told["notes"]))
    if warned:
        assert "where='user_id IS NOT NULL'" in words[0]
        told = tc.describe(tmp_path / "trips.csv", k=2, where="user_id IS NOT NULL").to_dict()
        assert (told["warnings"], told["numbers"]["trips"]) == ((), 89)


def test_the_private_record_tells_it_all(mixed: list[Path], tmp_path: Path) -> None:
    tc.anonymise(mixed, tolerate="100%", out=tmp_path / "out", **K)
    run = json.loads((tmp_path / "out" / "private" / "run.json").read_text())
    assert run["source"]["tolerate"] == 1.0
    lost = {one["name"]: one["dropped"] for one in run["cleaning"]["files"]}
    assert lost == {"june.csv": {}, "may.csv": {}, "july.csv": {"unparsable": 20}}
