"""Hierarchies given as columns of a zones file."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from oracles.soundness import area_of, assert_sound
from tripcloak.ground.errors import HierarchyError, MissingColumnError
from tripcloak.hierarchy import TableTiling, Tiling, ZoneFile
from tripcloak.hierarchy.zonefile.columns import Columns


def zones_of(**columns: list[str]) -> ZoneFile:
    number = len(next(iter(columns.values())))
    ids = np.array([f"t{n}" for n in range(number)])
    return ZoneFile(
        ids, np.linspace(40, 41, number), np.zeros(number), {k: np.array(v) for k, v in columns.items()}
    )


def parents(zones: ZoneFile, *levels: str) -> dict[str, str | None]:
    tree = TableTiling(zones, levels).hierarchy(np.arange(len(zones), dtype=np.uint64))
    assert_sound(tree)
    ids = tree.zones.ids.tolist()
    return {zone: None if up < 0 else ids[up] for zone, up in zip(ids, tree.parent, strict=True)}


def test_tracts_counties_and_states() -> None:
    zones = zones_of(county=["A", "A", "B", "C"], state=["X", "X", "X", "Y"])
    assert parents(zones, "county", "state") == {
        "t0": "A", "t1": "A", "t2": "B", "t3": "C", "A": "X", "B": "X", "C": "Y",
        "X": "all", "Y": "all", "all": None,
    }  # fmt: skip


def test_one_top_zone_is_the_root() -> None:
    assert parents(zones_of(state=["X", "X"]), "state") == {"t0": "X", "t1": "X", "X": None}


def test_missing_levels_make_uneven_depths() -> None:
    zones = zones_of(county=["A", "", "", "A"], state=["X", "X", "", ""])
    assert parents(zones, "county", "state") == {
        "t0": "A", "t1": "X", "t2": "all", "t3": "A", "A": "X", "X": "all", "all": None,
    }  # fmt: skip


def test_a_level_that_is_empty_everywhere_is_skipped() -> None:
    zones = zones_of(county=["", ""], state=["X", "X"])
    assert parents(zones, "county", "state") == {"t0": "X", "t1": "X", "X": None}


def test_values_shared_by_levels_carry_their_column() -> None:
    zones = zones_of(county=["t0", "1", "2"], state=["1", "1", "all"])
    assert parents(zones, "county", "state") == {
        "t0": "county=t0", "t1": "county=1", "t2": "2", "county=t0": "state=1", "county=1": "state=1",
        "2": "all", "state=1": "all*", "all": "all*", "all*": None,
    }  # fmt: skip


def test_a_county_in_two_states_is_refused_by_name() -> None:
    zones = zones_of(county=["A", "A", "B"], state=["X", "Y", "Y"])
    with pytest.raises(
        HierarchyError, match="column 'state' puts 'A' of column 'county' into 'X' and into 'Y'"
    ):
        parents(zones, "county", "state")


def test_what_rows_say_together_holds_for_all() -> None:
    # One row says that A lies in R, another that A lies in X; so R lies in X.
    zones = zones_of(county=["A", "A", ""], region=["R", "", "R"], state=["", "X", ""])
    assert parents(zones, "county", "region", "state") == {
        "t0": "A", "t1": "A", "t2": "R", "A": "R", "R": "X", "X": None,
    }  # fmt: skip
    against = zones_of(county=["A", "A", ""], region=["R", "", "R"], state=["", "X", "Y"])
    with pytest.raises(HierarchyError, match="'state' puts 'R' of column 'region' into 'X' and into 'Y'"):
        parents(against, "county", "region", "state")


def test_columns_must_exist_and_differ() -> None:
    zones = zones_of(county=["A"])
    with pytest.raises(MissingColumnError, match="it has county"):
        TableTiling(zones, ("county", "state"))
    for levels in ((), ("county", "county")):
        with pytest.raises(HierarchyError, match="different columns"):
            TableTiling(zones, levels)


def test_what_occurs_is_counted_apart_and_outlines_are_joined() -> None:
    zones = zones_of(county=["A", "A", "B"])
    tiling = TableTiling(zones, ("county",))
    assert isinstance(tiling, Tiling)
    assert tiling.name == "table:county"
    tree = tiling.hierarchy(np.array([1], dtype=np.uint64))
    assert dict(zip(tree.zones.ids.tolist(), tree.zones.tiles_observed.tolist(), strict=True)) == {
        "t0": 0, "t1": 1, "t2": 0, "A": 1, "B": 0, "all": 1,
    }  # fmt: skip
    assert tree.zones.tiles[tree.root] == 3
    assert tree.complete
    south, north = area_of(tree.zones.outline(3)).bounds[1::2]
    assert south < zones.lat[0] < zones.lat[1] < north < zones.lat[2]


def test_points_of_zones_lie_in_them_and_stay_where_they_already_do() -> None:
    squares = {"a": (0, 0), "b": (0, 2), "c": (2, 2), "d": (2, 0), "e": (9, 9)}
    geometry = [shapely.to_wkb(shapely.box(x, y, x + 1, y + 1)) for x, y in squares.values()]
    lat, lon = [0.5, 2.5, 2.5, 0.5, 20.0], [0.5, 0.5, 2.5, 2.5, 20.0]
    columns = {"zone": list(squares), "lat": lat, "lon": lon, "part": ["ring"] * 4 + ["far"]}
    zones = ZoneFile.of(Columns(columns, geometry))
    tree = TableTiling(zones, ("part",)).hierarchy(np.array([0], dtype=np.uint64))
    found = dict(zip(tree.zones.ids.tolist(), zip(tree.zones.lat, tree.zones.lon, strict=True), strict=True))
    assert [found[zone] for zone in "abcd"] == list(zip(lat[:4], lon[:4], strict=True))
    # The mean of the four is the middle of the square between them; the file puts e beside its outline.
    assert found["ring"] in [found[zone] for zone in "abcd"]
    assert shapely.contains_xy(shapely.box(9, 9, 10, 10), found["e"][1], found["e"][0])
    assert found["far"] == found["e"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "p", "q", "r", "s"]), st.booleans(), st.booleans()),
        min_size=1,
        max_size=12,
    )
)
def test_any_consistent_table_is_a_sound_tree(rows: list[tuple[str, bool, bool]]) -> None:
    region = {"": "", "p": "P", "q": "P", "r": "R", "s": ""}
    country = {"P": "N", "R": "N", "": "M"}
    columns = {
        "town": [town for town, _, _ in rows],
        "region": [region[town] if known else "" for town, known, _ in rows],
        "country": [country[region[town]] if known and town != "" else "" for town, _, known in rows],
    }
    zones = zones_of(**columns)
    found = parents(zones, "town", "region", "country")
    for n, (town, *_) in enumerate(rows):
        if town:
            assert found[f"t{n}"] == town
