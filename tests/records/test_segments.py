"""Segments and samples of an input, against plain Python."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.ground.engine import connect
from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.records.segments import UNKNOWN, SegmentBy, find_segments
from tripcloak.records.source import TripSource
from tripcloak.records.trips import open_canonical

SEXES = ["F", "M", "", " F ", "it's"]
AGES = ["0", "9", "10", "19.9", "-1", "", "old", "70"]


def written(folder: Path, rows: list[tuple[str, str, str]]) -> str:
    path = folder / "trips.csv"
    lines = ["person,o_lat,o_lon,d_lat,d_lon,sex,age"]
    lines += [f"{person},48.8,2.3,48.9,2.4,{sex},{age}" for person, sex, age in rows]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def label(sex: str) -> str:
    return sex.strip() or UNKNOWN


def bin_of(age: str, width: int) -> str:
    try:
        low = math.floor(float(age) / width) * width
    except ValueError:
        return UNKNOWN
    return f"{low}-{low + width - 1}" if width > 1 else str(low)


@settings(max_examples=12)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("pqrs"), st.sampled_from(SEXES), st.sampled_from(AGES)),
        min_size=1,
        max_size=20,
    ),
    width=st.sampled_from([1, 10, 7]),
)
def test_segments_part_the_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], width: int
) -> None:
    path = written(tmp_path_factory.mktemp("segments"), rows)
    by = [SegmentBy.parse("sex"), SegmentBy.parse(f"age:{width}")]
    expected = Counter((label(sex), bin_of(age, width)) for _, sex, age in rows)
    with connect() as con:
        open_canonical(con, TripSource(paths=(path,), attributes=("sex", "age")))
        found = find_segments(con, by)
    assert {tuple(one.values.values()): one.trips for one in found} == expected
    for one in found:
        people = {p for p, sex, age in rows if (label(sex), bin_of(age, width)) == tuple(one.values.values())}
        assert one.travellers == len(people)
        with connect() as con:
            open_canonical(con, TripSource(paths=(path,), segment=one.values))
            ((inside,),) = con.execute("select count(*) from canonical where reason = 0").fetchall()
        assert inside == one.trips


def people_in(path: str, **narrowed: object) -> set[str]:
    with connect() as con:
        open_canonical(con, TripSource(paths=(path,), **narrowed))  # type: ignore[arg-type]
        return {person for (person,) in con.execute("select distinct person from canonical").fetchall()}


def test_a_sample_draws_whole_people_and_draws_them_again(tmp_path: Path) -> None:
    rows = [(f"p{i % 40}", "FM"[i % 2], "30") for i in range(200)]
    path = written(tmp_path, rows)
    first = people_in(path, sample=(10, 1))
    assert len(first) == 10
    assert people_in(path, sample=(10, 1)) == first
    assert people_in(path, sample=(10, 2)) != first
    assert len(people_in(path, sample=(1000, 1))) == 40
    women = people_in(path, segment={"sex": "F"}, sample=(5, 1))
    assert len(women) == 5
    assert women <= {person for person, sex, _ in rows if sex == "F"}


def test_a_source_with_a_segment_can_be_written_down() -> None:
    source = TripSource(paths=("x.csv",), segment={"sex": "F", "age:10": "20-29"}, sample=(5, 7))
    assert TripSource.from_dict(source.to_dict()) == source
    assert source.attributes == ("sex", "age")


@pytest.mark.parametrize("text", ["", ":10", "age:", "age:-5", "age:x", "age:0", "age:1.5"])
def test_a_wrong_segment_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="segment takes a column"):
        SegmentBy.parse(text)


def test_an_unknown_column_is_named(tmp_path: Path) -> None:
    with connect() as con, pytest.raises(MissingColumnError, match="no attribute column hair"):
        open_canonical(
            con, TripSource(paths=(written(tmp_path, [("p", "F", "1")]),), segment={"hair": "red"})
        )
