"""From rows to flows: the same numbers as a dict would give, in any row order, however large the codes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.kernels import Row, flows_of, support
from tripcloak.flows.model import NOBODY, Flows, flows, flows_from_trips
from tripcloak.ground.errors import InputError
from worlds.matrices import ROUNDING_WEIGHTS

Columns = dict[str, Any]


def rows_of(columns: Columns) -> list[Row]:
    """Return the columns as plain rows; zero-padded codes sort as numbers do."""
    n = len(columns["origin"])
    person = columns.get("person", [NOBODY] * n)
    weight, trips = columns.get("weight", [0.0] * n), columns.get("trips", [1] * n)
    ends = [[f"{code:010d}" for code in columns[side]] for side in ("origin", "destination")]
    return [Row(ends[0][i], ends[1][i], person[i], weight[i], trips[i]) for i in range(n)]


def coded(columns: Columns) -> Columns:
    types = {"weight": np.float64, "trips": np.int64}
    return {name: np.array(column, dtype=types.get(name, np.int32)) for name, column in columns.items()}


def same(one: Flows, other: Flows) -> bool:
    """Return whether two sets of flows are equal bit by bit."""
    return all(
        (a is None) == (b is None) and (a is None or (a.dtype, a.tobytes()) == (b.dtype, b.tobytes()))
        for a, b in zip(_arrays(one), _arrays(other), strict=True)
    )


def _arrays(made: Flows) -> list[Any]:
    who = made.travellers
    return [
        *(made.origin, made.destination, made.trips, made.population),
        *((None, None) if who is None else who),
    ]


@st.composite
def drawn_columns(draw: st.DrawFn, largest: int = 6) -> Columns:
    """Return any number of rows with any of the optional columns."""
    n = draw(st.integers(0, 30))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    columns = {"origin": column(st.integers(0, largest)), "destination": column(st.integers(0, largest))}
    if draw(st.booleans()):
        columns["person"] = column(st.integers(NOBODY, largest))
    if draw(st.booleans()):
        columns["weight"] = column(st.sampled_from(ROUNDING_WEIGHTS))
    if draw(st.booleans()):
        columns["trips"] = column(st.integers(1, 5))
    return columns


def check_against_dict(made: Flows, columns: Columns) -> None:
    expected = flows_of(rows_of(columns))
    assert made.origin.tolist() == [int(origin) for origin, _ in expected]
    assert made.destination.tolist() == [int(destination) for _, destination in expected]
    assert made.trips.tolist() == [support(cell, "trips") for cell in expected.values()]
    assert (made.population is None) == ("weight" not in columns)
    if made.population is not None:
        sums = [support(cell, "population") for cell in expected.values()]
        assert made.population.tolist() == pytest.approx(sums, rel=1e-14)
    assert (made.travellers is None) == ("person" not in columns)
    if made.travellers is not None:
        offsets, people = made.travellers
        who = [people[a:b].tolist() for a, b in pairwise(offsets)]
        cells = [sorted({row.person for row in cell} - {NOBODY}) for cell in expected.values()]
        assert who == cells


@given(columns=drawn_columns())
def test_flows_are_what_a_dict_would_hold(columns: Columns) -> None:
    check_against_dict(flows_from_trips(**coded(columns)), columns)


@given(columns=drawn_columns(largest=2**31 - 1))
def test_codes_may_take_all_31_bits_on_some_columns(columns: Columns) -> None:
    # Destinations and people share what origins leave of a key.
    columns["destination"] = [code >> 16 for code in columns["destination"]]
    if "person" in columns:
        columns["person"] = [code >> 1 for code in columns["person"]]
    check_against_dict(flows_from_trips(**coded(columns)), columns)


@given(columns=drawn_columns(), room=st.integers(1, 3))
def test_keys_too_long_for_one_number_give_the_same_flows(columns: Columns, room: int) -> None:
    plain = flows_from_trips(**coded(columns))
    taken = max(columns["destination"], default=0).bit_length()
    if "person" in columns:
        taken += max(0, *columns["person"], 0).bit_length() + 1
    with patch.object(flows, "KEY_BITS", taken + room):
        assert same(flows_from_trips(**coded(columns)), plain)


@given(columns=drawn_columns(), room=st.integers(1, 3), slots=st.booleans())
def test_repeats_are_the_trips_of_each_traveller_in_each_flow(
    columns: Columns, room: int, slots: bool
) -> None:
    given_slots = {"slot": np.zeros(len(columns["origin"]), dtype=np.int32)} if slots else {}
    made = flows_from_trips(**coded(columns), **given_slots, repeats=True)
    check_against_dict(made, columns)
    if made.travellers is None:
        assert made.repeats is None
        return
    cells = flows_of(rows_of(columns)).values()
    expected = [
        sum(row.trips for row in cell if row.person == person)
        for cell in cells
        for person in sorted({row.person for row in cell} - {NOBODY})
    ]
    assert made.repeats is not None
    assert made.repeats.tolist() == expected
    # The long way round gives the same.
    taken = max(columns["destination"], default=0).bit_length()
    taken += max(0, *columns["person"], 0).bit_length() + 1
    with patch.object(flows, "KEY_BITS", taken + room):
        assert flows_from_trips(**coded(columns), **given_slots, repeats=True).repeats.tolist() == expected  # type: ignore[union-attr]


def test_the_long_way_is_taken_and_refuses_what_no_key_can_hold() -> None:
    columns = {"origin": [0, 1, 2, 3], "destination": [0, 0, 0, 0], "person": [0, 1, 2, 3]}
    with patch.object(flows, "KEY_BITS", 3), pytest.raises(InputError, match="3 bits"):
        flows_from_trips(**coded(columns))
    with patch.object(flows, "KEY_BITS", 4), patch.object(flows.Flows, "join") as join:
        flows_from_trips(**coded(columns))
        assert len(join.call_args.args[0]) == 2


@given(columns=drawn_columns(largest=1), data=st.data())
def test_neither_row_order_nor_the_numbers_of_people_show(columns: Columns, data: st.DataObject) -> None:
    plain = flows_from_trips(**coded(columns))
    order = data.draw(st.permutations(range(len(columns["origin"]))))
    shuffled = {name: [column[i] for i in order] for name, column in columns.items()}
    assert same(flows_from_trips(**coded(shuffled)), plain)
    if "person" in columns:
        names = data.draw(st.permutations(range(20, 27)))
        shuffled["person"] = [one if one == NOBODY else names[one] for one in shuffled["person"]]
        renamed = flows_from_trips(**coded(shuffled))
        assert all(same_array(a, b) for a, b in zip(_arrays(renamed)[:5], _arrays(plain)[:5], strict=True))


def same_array(a: Any, b: Any) -> bool:
    return (a is None and b is None) or a.tobytes() == b.tobytes()


@given(columns=drawn_columns())
def test_the_columns_are_not_touched(columns: Columns) -> None:
    given_columns = coded(columns)
    for column in given_columns.values():
        column.flags.writeable = False
    flows_from_trips(**given_columns)
    assert {name: column.tolist() for name, column in given_columns.items()} == columns


@given(columns=drawn_columns(), width=st.integers(1, 4))
def test_parts_by_origin_join_to_the_whole(columns: Columns, width: int) -> None:
    made = coded(columns)
    parts = []
    for low in range(0, 8, width):
        inside = (made["origin"] >= low) & (made["origin"] < low + width)
        parts.append(flows_from_trips(**{name: column[inside] for name, column in made.items()}))
    check_against_dict(Flows.join(parts), columns)


def test_weights_of_any_number_type_become_doubles() -> None:
    origin = np.array([0, 0, 1])
    for dtype in (np.int64, np.float32, np.uint8):
        made = flows_from_trips(origin, origin, weight=np.array([1, 2, 250], dtype=dtype))
        assert made.population is not None
        assert made.population.dtype == np.float64
        assert made.population.tolist() == [3.0, 250.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"origin": np.array([0, -1])}, "codes"),
        ({"destination": np.array([-1, 0])}, "codes"),
        ({"person": np.array([0, -2])}, "codes"),
        ({"person": np.array([0, 2**31])}, "codes"),
        ({"origin": np.array([2**31, 0])}, "codes"),
        ({"weight": np.array([3.0, -1.0])}, "weight"),
        ({"weight": np.array([np.nan, 1.0])}, "weight"),
        ({"weight": np.array([np.inf, 1.0])}, "weight"),
        ({"trips": np.array([4, -1])}, "trips"),
        ({"trips": np.array([4, 0])}, "trips"),
        ({"trips": np.array([4.0, 1.5])}, "trips"),
        ({"person": np.array([1])}, "one value a row"),
        ({"weight": np.ones(3)}, "one value a row"),
    ],
)
def test_rows_that_would_corrupt_a_flow_are_refused(change: Columns, words: str) -> None:
    columns = {"origin": np.array([0, 0]), "destination": np.array([0, 0])} | change
    with pytest.raises(InputError, match=words) as refusal:
        flows_from_trips(**columns)
    assert "-1" not in str(refusal.value)


@given(columns=drawn_columns(), ends=st.tuples(st.integers(0, 30), st.integers(0, 30)))
def test_flows_between_rows_are_those_of_the_rows(columns: Columns, ends: tuple[int, int]) -> None:
    made = flows_from_trips(**coded(columns))
    first, last = sorted(min(end, len(made.trips)) for end in ends)
    assert same(made.between(first, last), made.only(np.arange(first, last)))
