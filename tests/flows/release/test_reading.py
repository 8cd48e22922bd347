"""Reading a release back, piece by piece: known names, unknown ones, and none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import reading
from tripcloak.flows.release.reading import (
    _boxes,
    _build,
    _group_of_flows,
    _groups,
    _rows,
    _rows_of_flows,
    _tiles,
    _zones,
    noisy_release,
    read_boxes,
    read_release,
)
from tripcloak.flows.release.rebuilding import _boxes as rebuilt_boxes
from tripcloak.flows.release.rebuilding import _rows as rebuilt_rows
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity

IDS = np.array(["b", "a", "c"])
TREE = Hierarchy.from_parents(["b", "a", "c", "all"], [3, 3, 3, -1])


def column(*names: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(names, pa.string())])


def test_every_name_has_its_row_and_null_has_none() -> None:
    assert _rows(IDS, column("c", None, "a", "b", "c")).tolist() == [2, -1, 1, 0, 2]
    for unknown in ("", "aa", "d"):
        with pytest.raises(ValueError, match="not in its own table"):
            _rows(IDS, column("a", unknown))


def test_zones_of_a_hierarchy_are_found_by_name_and_others_are_none() -> None:
    assert _zones(TREE, column("c", None, "all", "a", "", "aa", "d")).tolist() == [2, -1, 3, 0, -1, -1, -1]
    assert _zones(TREE, column(None, None)).tolist() == [-1, -1]
    assert _zones(TREE, column()).tolist() == []


def test_tiles_are_zones_without_parts() -> None:
    assert _tiles(TREE, column("b", "c")).tolist() == [1, 2]
    assert _tiles(TREE, column()).tolist() == []
    for other in ("all", "d", None):
        with pytest.raises(ValueError, match="unknown tiles"):
            _tiles(TREE, column("b", other))


PAIRS = [np.array([0, 2, 1]), np.array([0, 1, 1])]


def test_a_flow_belongs_to_the_published_pair_that_it_was_sent_to() -> None:
    sent = [np.array([1, 0, -1, 2]), np.array([1, 0, -1, 1])]
    assert _group_of_flows(PAIRS, sent, 2).tolist() == [2, 0, -1, 1]


@pytest.mark.parametrize(("origin", "destination"), [(0, 1), (0, -1), (-1, 0), (1, 0), (3, 0)])
def test_a_pair_that_is_not_published_or_half_a_pair_is_none(origin: int, destination: int) -> None:
    with pytest.raises(ValueError, match="not published"):
        _group_of_flows(PAIRS, [np.array([0, origin]), np.array([0, destination])], 2)


def test_boxes_of_both_axes_are_read_from_their_names() -> None:
    names = ["box_0.000000_0.000000_1.000000_1.000000", "box_2.000000_2.000000_3.000000_3.000000"]
    at = {"lat": np.full(4, 0.5), "lon": np.full(4, 0.5), "area_km2": np.ones(4)}
    tree = Hierarchy.from_parents(["a", "b", "c", "all"], [3, 3, 3, -1], **at)
    matrix: Any = SimpleNamespace(times=None, axes=[(tree, np.array([0, 1])), (tree, np.array([1, 2]))])
    sizes, columns = {"origins": 1.0, "destinations": None}, (column(names[0], None), column(*names[::-1]))
    zones, rows = read_boxes(matrix, sizes, columns)
    assert [side.ids.tolist() for side in zones] == [names[:1], names[::-1]]
    assert [side.tolist() for side in rows] == [[0, -1], [0, 1]]
    matrix.times = tree
    with pytest.raises(ValueError, match="slots of time"):
        read_boxes(matrix, sizes, columns)


@pytest.mark.parametrize("tile_km2", [None, 0.5])
def test_boxes_made_anew_are_of_tiles_of_the_stated_size(tile_km2: float | None) -> None:
    at = {"lat": np.full(4, 0.5), "lon": np.full(4, 0.5), "area_km2": np.ones(4)}
    tree = Hierarchy.from_parents(["a", "b", "c", "all"], [3, 3, 3, -1], **at)
    name = "box_0.000000_0.000000_1.000000_1.000000"
    made = rebuilt_boxes(tree, np.array([name]), tile_km2)
    # All three tiles lie in it; where their size is stated, as many are told as its area has room for.
    assert made.tiles[0] == (3 if tile_km2 is None else round(made.area_km2[0] / 0.5))


def test_one_zone_of_another_hierarchy_is_enough_to_rebuild_nothing() -> None:
    assert rebuilt_rows(TREE, np.array(["all", "c", "a"])).tolist() == [3, 2, 0]
    with pytest.raises(ValueError, match="none of the hierarchy's"):
        rebuilt_rows(TREE, np.array(["all", "d", "a"]))


def test_noise_is_read_only_where_it_is_known_which_zones_there_could_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("pyarrow.parquet.read_table", lambda _: None)
    matrix: Any = SimpleNamespace(origins=TREE, destinations=TREE, axes=())
    promise: Any = None
    with pytest.raises(ValueError, match="does not say which zones there could be"):
        noisy_release(tmp_path, matrix, {}, promise, None)


@pytest.mark.parametrize("complete", [True, False])
def test_zones_of_noise_are_those_of_a_whole_tree_or_those_that_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, complete: bool
) -> None:
    table = pa.table({"origin": ["a"], "destination": ["b"], "trips": [3], "axis": ["x"]})
    told = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1]).zones
    monkeypatch.setattr("pyarrow.parquet.read_table", lambda _: table)
    monkeypatch.setattr(reading, "shared_domains", lambda *_: (None, None))
    monkeypatch.setattr(reading, "_noisy_zones", lambda *_: told)
    monkeypatch.setattr(reading, "_group_of_flows", lambda *_: np.array([0]))
    monkeypatch.setattr(reading, "build_noisy_release", lambda _, **made: made)
    tree: Any = SimpleNamespace(complete=complete, zones=TREE.zones)
    matrix: Any = SimpleNamespace(origins=tree, destinations=tree, axes=[(tree, None)] * 2)
    facts = {"method": "laplace", "parameters": {}, "homogeneous": True}
    groups = {"released_origin": column("a"), "released_destination": column("b")}
    promise: Any = None
    made: Any = noisy_release(tmp_path, matrix, facts, promise, groups)
    assert [zones is (TREE.zones if complete else told) for zones in made["zones"]] == [True, True]


def test_a_tree_of_one_tile_has_no_other() -> None:
    one = Hierarchy.from_parents(["a", "all"], [1, -1])
    assert _tiles(one, column()).tolist() == []
    assert _tiles(one, column("a")).tolist() == [0]
    with pytest.raises(ValueError, match="unknown tiles"):
        _tiles(one, column("all"))


def test_the_table_of_groups_is_there_and_whole(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no private/groups\.parquet"):
        _groups(tmp_path)
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "groups.parquet").write_bytes(b"no table")
    with pytest.raises(InputError, match="it may be damaged"):
        _groups(tmp_path)


def flows_of(*pairs: tuple[str, str]) -> pa.Table:
    return pa.table({"origin": [o for o, _ in pairs], "destination": [d for _, d in pairs]})


def test_the_table_of_groups_holds_every_flow_once() -> None:
    tiles = np.array([1, 0, 2]), np.array([0, 2, 1])
    matrix = ODMatrix.from_trips(TREE, TREE, *tiles)
    pairs = [(str(TREE.zones.ids[o]), str(TREE.zones.ids[d])) for o, d in zip(*tiles, strict=True)]
    order = _rows_of_flows(matrix, flows_of(*pairs))
    assert [pairs[row] for row in order] == sorted(pairs, key=lambda pair: (pair[0], pair[1]))
    for wrong in (pairs[:2], [*pairs, pairs[0]], [*pairs[:2], pairs[0]], [*pairs[:2], ("a", "a")]):
        with pytest.raises(ValueError, match="every flow once"):
            _rows_of_flows(matrix, flows_of(*wrong))


def test_names_that_are_no_boxes_are_none() -> None:
    with pytest.raises(ValueError, match="that are no boxes"):
        _boxes(TREE, np.array([0]), column("a"), None)


@pytest.mark.parametrize("digest", ["of these", "of others"])
def test_a_folder_that_was_changed_or_made_from_others_is_refused(
    digest: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, told in (
        ("release_folder", lambda folder: folder),
        ("read_manifest", lambda folder, kind: {"promise": None}),
        ("read_run", lambda folder: {"input_digest": "of these"}),
        ("_groups", lambda folder: None),
    ):
        monkeypatch.setattr(f"tripcloak.flows.release.reading.{name}", told)
    matrix: Any = SimpleNamespace(digest=lambda: digest)
    words = "was changed since it was made" if digest == "of these" else "was made from another input"
    with pytest.raises(InputError, match=words):
        read_release(tmp_path, matrix)


@pytest.mark.parametrize("axis", ["released_origin", "released_destination"])
def test_a_flow_goes_to_two_known_zones_or_to_none(axis: str) -> None:
    matrix = ODMatrix.from_trips(TREE, TREE, np.array([0, 0, 1]), np.array([1, 1, 2]))
    ids = TREE.zones.ids
    table = {
        "origin": [str(ids[0]), str(ids[1])],
        "destination": [str(ids[1]), str(ids[2])],
        "released_origin": ["all", None],
        "released_destination": ["all", None],
    }
    facts = {"method": "m", "parameters": {"suppression_limit": 0.5}, "homogeneous": True, "seed": None}
    promise = KAnonymity(k=2, unit="trips")
    release = _build(matrix, facts, promise, pa.table(table))
    assert (release.trips.tolist(), release.suppressed.tolist()) == ([2], [False, True])
    for row, name in ((0, "nowhere"), (1, "all"), (0, None)):
        names = list(table[axis])
        names[row] = name
        with pytest.raises(ValueError, match="unknown zones"):
            _build(matrix, facts, promise, pa.table({**table, axis: pa.array(names, pa.string())}))
