"""Bad and odd input in both wings, in pandas and in Polars: clear words or the right numbers, no values."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tripcloak as tc
from tripcloak import InputError, MissingColumnError
from tripcloak.ground.errors import EmptyInputError


class Wing(NamedTuple):
    """A verb of a wing, a good table for it, and the columns that matter there."""

    verb: Callable[..., tc.InputSummary]
    table: pd.DataFrame
    lat: str
    person: str
    time: str
    other: str


@pytest.fixture(params=["flows", "trajectories"])
def wing(request: pytest.FixtureRequest, trips: pd.DataFrame, calls: Any) -> Wing:
    if request.param == "flows":
        return Wing(tc.describe, trips, "start_lat", "person_id", "start_time", "age")
    return Wing(tc.trajectories.describe, calls.to_pandas(), "lat", "user_id", "timestamp", "antenna_id")


LIBRARIES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
}
Make = Callable[[Wing], pd.DataFrame]


def put(column: str, value: Callable[[Wing], Any]) -> Make:
    """Return what puts other values in a column, which is named by its role."""
    return lambda wing: wing.table.assign(**{getattr(wing, column): value(wing)})


BAD: dict[str, tuple[Make, type[Exception], str]] = {
    "no columns that matter": (
        lambda wing: wing.table[[wing.other]],
        MissingColumnError,
        r"missing columns: .*=\'NAME\'.*Columns found: (age|antenna_id)",
    ),
    "no rows": (lambda wing: wing.table.iloc[:0], EmptyInputError, "holds no rows"),
    "no columns": (lambda wing: pd.DataFrame(), EmptyInputError, "a data frame has no columns"),
    "no number": (put("lat", lambda wing: np.nan), EmptyInputError, "coordinate missing or not a finite"),
    "infinite": (put("lat", lambda wing: np.inf), EmptyInputError, "coordinate missing or not a finite"),
    "ids for places": (
        put("lat", lambda wing: wing.table[wing.person]),
        InputError,
        r"nearly all values of column '(start_lat|lat)' cannot be read as the latitude",
    ),
    "words for times": (
        put("time", lambda wing: "soon"),
        InputError,
        r"nearly all values of column '(start_time|timestamp)' cannot be read as",
    ),
    "lists for places": (
        put("lat", lambda wing: [[48.8566]] * len(wing.table)),
        InputError,
        r"expected values such as 48\.8566, found a column of type DOUBLE\[\]",
    ),
    "yes and no for places": (put("lat", lambda wing: True), InputError, "found a column of type BOOLEAN"),
    "bytes for ids": (
        put("person", lambda wing: [one.encode() for one in wing.table[wing.person]]),
        InputError,
        r"cannot be the id of the person or vehicle \(person=\.\.\.\)",
    ),
    "records for ids": (
        put("person", lambda wing: [{"name": one} for one in wing.table[wing.person]]),
        InputError,
        r"cannot be the id of the person or vehicle \(person=\.\.\.\)",
    ),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_both_wings(name: str, library: str, wing: Wing) -> None:
    make, kind, words = BAD[name]
    given = LIBRARIES[library](make(wing))
    with pytest.raises(kind, match=words) as error:
        wing.verb(given)
    told = str(error.value)
    assert error.value.__cause__ is None
    assert "--" not in told
    # Examples of what was expected are no values of the data.
    numbers = set(re.findall(r"\d+\.\d{3,}", told)) - {"48.8566"}
    assert numbers.isdisjoint(f"{value:.4f}" for value in wing.table[wing.lat])
    assert not [one for one in set(wing.table[wing.person]) if one in told]


ODD: dict[str, Make] = {
    "categories for ids": lambda wing: wing.table.astype({wing.person: "category"}),
    "objects for ids": lambda wing: wing.table.astype({wing.person: object}),
    "numbers for ids": put("person", lambda wing: pd.factorize(wing.table[wing.person])[0]),
    "text for places": lambda wing: wing.table.astype({wing.lat: str}),
    "categories for places": lambda wing: wing.table.astype({wing.lat: "category"}),
    "decimals for places": put("lat", lambda wing: [Decimal(str(one)) for one in wing.table[wing.lat]]),
    "an index that says nothing": lambda wing: wing.table.set_axis(np.arange(len(wing.table)) * 3),
    "an index of one value": lambda wing: wing.table.set_axis([0] * len(wing.table)),
    "columns from last to first": lambda wing: wing.table[wing.table.columns[::-1]],
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ODD)
def test_odd_input_is_read_as_what_it_is(name: str, library: str, wing: Wing) -> None:
    expected = wing.verb(wing.table)
    assert wing.verb(LIBRARIES[library](ODD[name](wing))).numbers == expected.numbers


@pytest.mark.parametrize("library", LIBRARIES)
def test_half_a_number_is_enough(library: str, wing: Wing) -> None:
    """Of half precision, which the engine does not know."""
    given = LIBRARIES[library](wing.table.astype({wing.lat: "float16"}))
    assert set(wing.verb(given).numbers) == set(wing.verb(wing.table).numbers)


def test_ids_that_only_pandas_has(wing: Wing) -> None:
    expected = wing.verb(wing.table)
    unique = put(
        "person", lambda wing: [uuid.uuid5(uuid.NAMESPACE_DNS, one) for one in wing.table[wing.person]]
    )
    assert wing.verb(unique(wing)).numbers == expected.numbers
    mixed = put(
        "person", lambda wing: [int(one[1:]) if one < "p0000010" else one for one in wing.table[wing.person]]
    )
    found = wing.verb(mixed(wing))
    assert found.numbers == expected.numbers
    assert f"column {wing.person!r} holds values of several kinds and was read as text" in found.notes


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("column", ["lat", "person"])
def test_what_is_missing_is_dropped_and_counted(column: str, library: str, wing: Wing) -> None:
    gaps = put(column, lambda wing: wing.table[getattr(wing, column)].where(wing.table.index > 20))
    found = wing.verb(LIBRARIES[library](gaps(wing)))
    dropped = found.to_dict()["cleaning"]["dropped"]
    if column == "lat":
        assert dropped["missing_coordinate"] == 21
    elif wing.verb is tc.describe:
        assert any("they add volume but no traveller" in note for note in found.notes)
    else:
        assert dropped["missing_person"] == 21


def test_people_in_an_index_are_not_passed_over_in_silence(wing: Wing) -> None:
    """With a name they are read; without one, either nothing works or a note says so."""
    indexed = wing.table.set_index(wing.person)
    named = wing.verb(indexed)
    assert named.numbers == wing.verb(wing.table).numbers
    assert f"the index {wing.person!r} was read as a column" in named.notes
    unnamed = indexed.rename_axis(None)
    if wing.verb is tc.describe:
        found = wing.verb(unnamed)
        assert "travellers" not in found.numbers
        told = "the index has no name and was not looked at: name it if it tells people apart"
        assert told in found.notes
        assert told in found._repr_html_()
        assert told in tc.anonymise(unnamed, zones="h3:6").private.notes
    else:
        with pytest.raises(MissingColumnError, match="index has no name and was not looked at"):
            wing.verb(unnamed)


@pytest.mark.parametrize("kind", ["flows", "trajectories"])
def test_a_release_of_an_older_format_says_which_version_reads_it(
    kind: str, trips: pd.DataFrame, calls: Any, tmp_path: Path
) -> None:
    if kind == "flows":
        tc.anonymise(trips, zones="h3:6", out=tmp_path / "out")
    else:
        tc.trajectories.anonymise(calls, k=2, out=tmp_path / "out")
    path = tmp_path / "out" / "release" / "manifest.json"
    facts = json.loads(path.read_text())
    for told, words in (
        ("tripcloak release 1", r"format 1, which tripcloak 0\.1\S* reads"),
        ("tripcloak release 99", "format 99.*update tripcloak"),
        ("parquet", "is not a manifest of tripcloak"),
    ):
        path.write_text(json.dumps({**facts, "format": told}))
        for ask in (tc.open, lambda folder: tc.audit(folder, against="trips.csv")):
            with pytest.raises(InputError, match=words):
                ask(tmp_path / "out")


def test_a_folder_of_something_else_is_no_release(tmp_path: Path, trips_file: Path) -> None:
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "manifest.json").write_text("{")
    for place, words in (
        (trips_file.parent, "holds no release: .*manifest.json is missing"),
        (trips_file, "holds no release"),
        (tmp_path, "manifest"),
    ):
        for verb in (tc.open, tc.trajectories.open):
            with pytest.raises(InputError, match=words):
                verb(place)
