"""What a release of trajectories says and holds, piece by piece: names, words, tables, and who is who."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.ground.errors import InputError
from tripcloak.promises import CoLocation, Containment
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release import guess, published, writing
from tripcloak.trajectories.release.exchange import ExchangeSample, _moving_feature, _polygon, _samples
from tripcloak.trajectories.release.guess import OwnerGuess
from tripcloak.trajectories.release.published import (
    COLUMNS,
    PublishedTrajectories,
    _names,
    _shuffled,
    instant_type,
    new_rows,
    sample_batches,
    under_pseudonyms,
)
from tripcloak.trajectories.release.reading import (
    _box_of,
    _opened,
    _profiles,
    _published,
    _release,
    _steps,
    _whose,
    read_trajectory_folder,
)
from tripcloak.trajectories.release.release import Boxes
from tripcloak.trajectories.release.writing import chosen_files, mapping_table, name_release, restated
from worlds.trajectories import PARIS, made, random_release

GRID = Grid(projection=PARIS)
GUESS = OwnerGuess(people=40, right=60, blind=50)


def test_names_are_a_letter_and_sixteen_digits_all_different_and_ascending() -> None:
    for n in (1, 2, 300):
        names = _names(n).tolist()
        assert len(names) == n
        assert names == sorted(set(names))
        assert all(re.fullmatch(r"t[0-9a-f]{16}", name) for name in names)
    assert _names(0).tolist() == []
    # Every digit is drawn: all of them occur in every place.
    letters = {(at, sign) for name in _names(1000).tolist() for at, sign in enumerate(name[1:])}
    assert len(letters) == 16 * 16


def test_names_that_are_drawn_twice_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["0" * 32 + "1" * 16, "2" * 16])
    asked = []

    def token(size: int) -> str:
        asked.append(size)
        return next(drawn)

    monkeypatch.setattr(published.secrets, "token_hex", token)
    assert _names(3).tolist() == [f"t{digit * 16}" for digit in "012"]
    assert asked == [24, 8]


def test_an_order_holds_everybody_once_and_is_drawn() -> None:
    orders = [tuple(_shuffled(6).tolist()) for _ in range(200)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert {order[0] for order in orders} == {order[-1] for order in orders} == set(range(6))
    assert new_rows(np.array([2, 0, 1])).tolist() == [1, 2, 0]


def test_boxes_follow_their_trajectory_under_its_new_name() -> None:
    release = random_release(made(users=9, samples=7, seed=4), deleting=True)
    told, order, boxes = under_pseudonyms(release)
    old = np.stack(release.boxes, axis=1)
    for row, was in enumerate(order.tolist()):
        mine = boxes[told.offsets[row] : told.offsets[row + 1]]
        assert mine.tolist() == list(range(release.offsets[was], release.offsets[was + 1]))
    assert np.stack(told.boxes, axis=1).tolist() == old[boxes].tolist()
    assert (told.n_released, told.n_boxes) == (release.n_released, release.n_boxes)


@pytest.mark.parametrize("batch", [7, 1000])
def test_samples_are_the_same_however_many_are_told_at_a_time(
    batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, *_ = under_pseudonyms(random_release(made(users=5, samples=6, seed=2)))
    whole = pa.concat_tables(sample_batches(told))
    monkeypatch.setattr(published, "BATCH", batch)
    parts = list(sample_batches(told))
    assert [len(part) for part in parts[:-1]] == [batch] * (len(parts) - 1)
    assert pa.concat_tables(parts).equals(whole)
    owner = np.repeat(told.pseudonyms, np.diff(told.offsets)).tolist()
    assert whole["trajectory"].to_pylist() == owner
    assert tuple(whole.column_names) == COLUMNS
    assert whole["x_max"].to_pylist() == GRID.places(told.boxes.x1).tolist()
    assert whole["y_min"].to_pylist() == GRID.places(told.boxes.y0).tolist()


def test_times_claim_a_zone_only_where_it_is_known() -> None:
    assert instant_type(replace(GRID, clock="UTC"), "s") == pa.timestamp("s", tz="UTC")
    assert instant_type(replace(GRID, clock="local"), "ms") == pa.timestamp("ms")


def manifest_of(given: OwnerGuess | None, formats: Any = None) -> dict[str, Any]:
    release = random_release(made(users=5, samples=6))
    told = dict(name_release(release, formats, guess=given).published.manifest)
    return {**told, "files": {"b": "2", "a": "1"}}


@pytest.mark.parametrize("given", [None, GUESS])
@pytest.mark.parametrize("formats", [None, ["mfjson"]])
def test_a_manifest_is_said_again_with_each_entry_in_its_place_and_no_other(
    given: OwnerGuess | None, formats: Any
) -> None:
    facts = manifest_of(given, formats)
    again = restated(facts)
    assert list(again) == [*(name for name in facts if name != "files"), "files"]
    assert {**again, "files": None} == {**facts, "files": None}
    assert list(again["files"].items()) == [("a", "1"), ("b", "2")]
    assert ("guess" in again) == (given is not None)
    assert ("left_out" in again) == (formats is not None)
    mixed = {
        name: dict(reversed(entry.items())) if isinstance(entry, dict) and name != "promise" else entry
        for name, entry in reversed(facts.items())
    }
    assert str(restated({**mixed, "more": 1})) == str(again)
    for name in again:
        if isinstance(again[name], dict) and name not in ("promise", "parameters"):
            more = {**facts, name: {**facts[name], "zz": "9"}}
            assert ("zz" in restated(more)[name]) is (name == "files")
    for gone in ("promise", "files"):
        with pytest.raises(KeyError):
            restated({name: entry for name, entry in facts.items() if name != gone})


def test_formats_are_those_that_were_asked_for_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    text, geo, moving = "samples.csv", "trajectories.geojson", "trajectories.mfjson"
    assert chosen_files(None, 4) == (text, geo, moving)
    assert chosen_files(["mfjson", "geojson"], 4) == (text, geo, moving)
    assert chosen_files([], 4) == (text,)
    assert chosen_files(["mfjson"], 10**9) == (moving,)
    assert chosen_files(["mfjson", "csv"], 10**9) == (text, moving)
    assert (writing.MOST, writing.MOST_AS_TEXT) == (200_000, 2_000_000)
    assert chosen_files(None, 200_000) == (text, geo, moving)
    assert chosen_files(None, 200_001) == chosen_files(None, 2_000_000) == (text,)
    assert chosen_files(None, 2_000_001) == ()
    with pytest.raises(InputError, match=r"no such format: xml; there are csv, geojson, mfjson"):
        chosen_files(["xml", "geojson", "csv"], 4)


@pytest.mark.parametrize("users", [None, ("anna", "bea", "carl", "dora", "ede")])
def test_the_mapping_says_whose_each_trajectory_is(users: Any) -> None:
    people = replace(made(users=5, samples=6), users=users)
    release = random_release(people, deleting=True)
    named = name_release(release)
    rows = mapping_table(people, release, named)
    assert rows["user"].to_pylist() == list(users or "01234")
    assert rows["trajectory"].null_count == 1
    back = _whose(people, named.published, rows)
    assert back.tolist() == release.whose[named.order].tolist()
    assert sorted(back.tolist()) == np.flatnonzero(release.released_of >= 0).tolist()
    with pytest.raises(ValueError, match="other people"):
        _whose(people, named.published, rows.take([1, 0, 2, 3, 4]))
    with pytest.raises(ValueError, match="other people"):
        _whose(people, named.published, rows.slice(1))
    with pytest.raises(KeyError):
        _whose(people, replace(named.published, pseudonyms=_names(4)), rows)


def told_of(*boxes: tuple[int, int, int, int, int, int], offsets: list[int]) -> PublishedTrajectories:
    sides = Boxes(*(np.array(side) for side in zip(*boxes, strict=True)))
    return PublishedTrajectories(
        grid=GRID, pseudonyms=_names(len(offsets) - 1), offsets=np.array(offsets), boxes=sides
    )


@pytest.mark.parametrize("later", [0, -13, 10**6])
def test_a_sample_belongs_to_the_box_of_its_own_trajectory_that_holds_it(later: int) -> None:
    # Two trajectories of two boxes; times 10 to 11 and 14 to 16, places 0 to 2.
    both = [(10, 12, 0, 3, 0, 3), (14, 17, 0, 3, 0, 3), (9, 12, 5, 8, 5, 8), (12, 13, 5, 8, 5, 8)]
    told = told_of(*((t0 + later, t1 + later, *place) for t0, t1, *place in both), offsets=[0, 2, 4])
    times = [9, 10, 11, 12, 13, 14, 16, 17, 99]

    def found(released: int, t: list[int], x: int, y: int) -> list[int]:
        t = [one + later for one in t]
        people = Trajectories.of(user=[0] * len(t), t=t, x=[x] * len(t), y=[y] * len(t), grid=GRID)
        return _box_of(people, told, np.where(np.arange(2) == released, 0, -1)).tolist()

    assert found(0, times, 2, 0) == [-1, 0, 0, -1, -1, 1, 1, -1, -1]
    assert found(1, times, 5, 7) == [2, 2, 2, 3, -1, -1, -1, -1, -1]
    assert found(-1, times, 2, 0) == [-1] * len(times)
    for x, y in ((-1, 0), (3, 0), (0, -1), (0, 3)):
        assert found(0, [10, 15], x, y) == [-1, -1]
    for x, y in ((0, 0), (2, 2)):
        assert found(0, [10, 15], x, y) == [0, 1]


def test_edges_lie_on_the_grid() -> None:
    assert _steps(np.array([-200, 0, 300]), 100).tolist() == [-2, 0, 3]
    with pytest.raises(ValueError, match="off the grid"):
        _steps(np.array([-200, 1, 300]), 100)


@pytest.fixture
def sampled(tmp_path: Path) -> tuple[dict[str, Any], pa.Table, Path]:
    """Return the manifest and the table of three trajectories, and where to write another one."""
    release = random_release(made(users=3, samples=4))
    told = name_release(release).published
    return dict(told.manifest), pa.concat_tables(sample_batches(told)), tmp_path / "samples.parquet"


def test_samples_are_read_as_they_are_and_not_out_of_order(
    sampled: tuple[dict[str, Any], pa.Table, Path],
) -> None:
    facts, table, path = sampled

    def read(other: pa.Table) -> PublishedTrajectories:
        parquet.write_table(other, path)
        return _published(facts, path, other.column_names)

    names = table["trajectory"].to_pylist()
    told = read(table)
    assert told.pseudonyms.tolist() == sorted(set(names))
    assert np.repeat(told.pseudonyms, np.diff(told.offsets)).tolist() == names
    assert pa.concat_tables(sample_batches(told)).equals(table)
    first, second = names.count(told.pseudonyms[0]), names.count(told.pseudonyms[1])
    swapped = [*range(first, first + second), *range(first), *range(first + second, len(names))]
    again = [*range(len(names)), 0]
    for rows in (swapped, again, []):
        with pytest.raises(ValueError, match="out of order, or there are none"):
            read(table.take(pa.array(rows, pa.int64())))
    with pytest.raises(ValueError, match="other columns"):
        read(table.select([*COLUMNS[1:], COLUMNS[0]]))
    with pytest.raises(ValueError, match="other columns"):
        read(table.append_column("more", table["x_min"]))


def test_a_name_that_stands_for_two_trajectories_is_out_of_order(
    sampled: tuple[dict[str, Any], pa.Table, Path],
) -> None:
    """A dictionary that holds one name twice: codes ascend, and names do not."""
    facts, table, path = sampled
    n = len(table)
    codes = pa.array(np.arange(n) // (n // 2 + 1), pa.int32())
    for names in (["a", "a"], ["b", "a"]):
        coded = pa.chunked_array([pa.DictionaryArray.from_arrays(codes, pa.array(names))])

        def opened(_: Path, read: Any, coded_names: Any = (), own: Any = coded) -> Any:
            return read(SimpleNamespace(read=lambda columns: SimpleNamespace(column=lambda _: own)))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tripcloak.trajectories.release.reading._opened", opened)
            with pytest.raises(ValueError, match="out of order, or there are none"):
                _published(facts, path, list(COLUMNS))


def test_a_folder_without_samples_is_not_whole(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    with pytest.raises(InputError):
        read_trajectory_folder(tmp_path)


def test_what_is_told_of_a_guess_follows_from_how_many_were_tried() -> None:
    assert (guess.TRIED, guess.MANY, guess.BAND) == (1000, 100, 10)
    # Nothing of nine people; in tens, upwards, of ten to ninety-nine; in whole numbers from a hundred on.
    assert OwnerGuess.of([0.11] * 9, [0.11] * 9) == OwnerGuess(people=9, right=None, blind=None)
    for people in (10, 99):
        assert OwnerGuess.of([0.11] * people, [0.1] * people) == OwnerGuess(people=people, right=20, blind=10)
    assert OwnerGuess.of([0.114] * 100, [0.115] * 100) == OwnerGuess(people=100, right=11, blind=12)
    assert OwnerGuess.of([0.0] * 10, [1.0] * 10) == OwnerGuess(people=10, right=0, blind=100)
    # Three thirds of ten are ten, whatever binary says.
    assert OwnerGuess.of([1 / 30] * 30 * 3, [0.1] * 90).right == 10
    assert OwnerGuess.from_manifest(GUESS.to_manifest()) == GUESS


@pytest.mark.parametrize(("people", "words"), [(99, "up to 60"), (100, "about 60")])
def test_of_few_people_a_guess_is_told_as_at_most(people: int, words: str) -> None:
    assert f"for {words} in 100" in replace(GUESS, people=people).sentence()


def test_where_samples_are_moved_a_private_file_says_which_stands_for_which() -> None:
    people = made(users=4, samples=5)
    release = random_release(people, deleting=True)
    named = name_release(release)
    written: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "_write_private", lambda path, table: written.update({path.name: table}))
        writing._write_boxes(Path("private"), release, new_rows(named.boxes))
    told = written["boxes.parquet"]["sample"].to_pylist()
    new = new_rows(named.boxes)
    assert told == [None if box < 0 else new[box] for box in release.box_of.tolist()]
    assert CoLocation(k=2, delta=5.0).moves_samples
    assert not Containment(k=2).moves_samples


def test_a_deleted_sample_of_a_method_that_moves_them_is_in_no_box(monkeypatch: pytest.MonkeyPatch) -> None:
    people = made(users=4, samples=5)
    release = replace(random_release(people, deleting=True), promise=CoLocation(k=2, delta=5.0))
    named = name_release(release)
    new = new_rows(named.boxes)
    box_of = [None if box < 0 else int(new[box]) for box in release.box_of.tolist()]
    monkeypatch.setattr(
        "tripcloak.trajectories.release.reading._table", lambda path: pa.table({"sample": box_of})
    )
    mapping = mapping_table(people, release, named)
    again = _release(Path("nowhere"), people, named.published, mapping, {"facts": {"merged": 3}})
    assert again.box_of.tolist() == [-1 if box is None else box for box in box_of]
    assert again.facts == {"merged": 3}
    assert _release(Path("nowhere"), people, named.published, mapping, {}).facts == {}


# --- exchange formats -------------------------------------------------------------------------------------


def sample(start: str, end: str, west: float = 1.0, east: float = 2.0) -> ExchangeSample:
    return ExchangeSample("t1", start, end, west, 3.0, east, 4.0)


def test_samples_that_adjoin_make_one_prism_and_a_gap_begins_another() -> None:
    own = [sample("0", "1"), sample("2", "3"), sample("3", "4"), sample("4", "5"), sample("6", "7")]
    told = _moving_feature(own)
    assert (told["id"], told["properties"], told["time"]) == ("t1", {"trajectory": "t1"}, ["0", "7"])
    prisms = told["temporalGeometry"]["prisms"]
    assert [prism["datetimes"] for prism in prisms] == [["0", "1"], ["2", "3", "4", "5"], ["6", "7"]]
    # The last polygon holds until it ends.
    assert [len(prism["coordinates"]) for prism in prisms] == [2, 4, 2]
    assert all(prism["coordinates"][-1] == prism["coordinates"][-2] for prism in prisms)


def test_a_box_up_to_the_180th_meridian_is_whole_and_one_beyond_is_cut() -> None:
    whole = _polygon(sample("0", "1", 179.0, 180.0))
    assert whole["type"] == "Polygon"
    assert whole["coordinates"] == [[[179.0, 3.0], [180.0, 3.0], [180.0, 4.0], [179.0, 4.0], [179.0, 3.0]]]
    cut = _polygon(sample("0", "1", 179.0, 180.000001))
    west, east = cut["coordinates"]
    assert cut["type"] == "MultiPolygon"
    assert west == whole["coordinates"]
    assert [point[0] for point in east[0]] == [-180.0, -179.999999, -179.999999, -180.0, -180.0]


@pytest.mark.parametrize(("clock", "zone"), [("UTC", "Z"), ("unknown", "")])
def test_times_end_with_a_zone_only_where_it_is_known(clock: str, zone: str) -> None:
    told, *_ = under_pseudonyms(random_release(made(users=2, samples=3, grid=replace(GRID, clock=clock))))
    for one in _samples(told):
        for time in (one.t_start, one.t_end):
            assert re.fullmatch(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d{zone}", time)


@pytest.mark.parametrize(
    ("content", "words"), [(None, "is not a whole release: p/q is missing"), (b"no", "damaged")]
)
def test_a_table_that_is_missing_or_damaged_is_named(tmp_path: Path, content: Any, words: str) -> None:
    path = tmp_path / "p" / "q"
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        _opened(path, lambda file: file.read())


def test_samples_that_are_not_those_of_a_release_were_changed(tmp_path: Path) -> None:
    facts = {"format": "tripcloak release 3", "kind": "trajectories"}
    (tmp_path / "manifest.json").write_text(json.dumps(facts))
    parquet.write_table(pa.table({"other": [1]}), tmp_path / "samples.parquet")
    with pytest.raises(InputError, match="was changed since it was made"):
        read_trajectory_folder(tmp_path)


def test_profiles_are_read_back_a_row_a_person() -> None:
    columns = {"user": ["b", "b", "a"], "sd": [0.5, 0.5, 0.6], "ld": [0.3, 0.3, 0.4], "dst": [7.0, 7.0, 8.0]}
    told = _profiles(pa.table(columns))
    assert told is not None
    assert told.tolist() == [[0.5, 0.3, 7.0], [0.6, 0.4, 8.0]]
    assert _profiles(pa.table({"user": ["a"]})) is None
