"""Parts that are alike are solved once, and what is found of each is what would be found without that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.ledger import rooms as rooms_of_parts
from tripcloak.ledger.atoms import NONE, Atoms
from tripcloak.ledger.bounds import bounded, shuttled, tightened
from tripcloak.ledger.joint import few_together
from tripcloak.ledger.rooms import Rooms

RELEASES, GROUPS = 3, 2
K = 5


class Part(NamedTuple):
    """The groups of some atoms by release, in this part alone; their trips; the room around numbers."""

    group: tuple[tuple[int, ...], ...]
    trips: tuple[int, ...]
    slack: tuple[int, ...]

    def turned(self, order: list[int]) -> Part:
        """Return the same part, its atoms in another order and its groups numbered the other way round."""
        group = tuple(tuple(one if one < 0 else GROUPS - 1 - one for one in self.group[at]) for at in order)
        slack = np.reshape(self.slack, (RELEASES, GROUPS))[:, ::-1].ravel()
        return Part(group, tuple(self.trips[at] for at in order), tuple(slack.tolist()))


@st.composite
def a_part(draw: st.DrawFn) -> Part:
    some = draw(
        st.lists(
            st.tuples(*[st.integers(NONE, GROUPS - 1)] * RELEASES).filter(lambda one: max(one) >= 0),
            min_size=2,
            max_size=6,
            unique=True,
        )
    )
    trips = draw(st.lists(st.integers(1, 3), min_size=len(some), max_size=len(some)))
    slack = draw(st.lists(st.sampled_from([0, 0, 1]), min_size=6, max_size=6))
    return Part(tuple(some), tuple(trips), tuple(slack))


def atoms_of_parts(parts: list[Part]) -> Atoms:
    n = GROUPS * len(parts)
    rows = [
        [release * n + GROUPS * at + one if one >= 0 else NONE for release, one in enumerate(own)]
        for at, part in enumerate(parts)
        for own in part.group
    ]
    group, trips = np.array(rows), np.concatenate([part.trips for part in parts])
    published = np.zeros(RELEASES * n, dtype=np.int64)
    for release in range(RELEASES):
        inside = group[:, release] >= 0
        np.add.at(published, group[inside, release], trips[inside])
    slack = np.stack([part.slack for part in parts]).reshape(-1, RELEASES, GROUPS).swapaxes(0, 1).ravel()
    return Atoms(
        group=group,
        trips=trips,
        published=published,
        room=np.stack([np.maximum(published - slack, 0), published + slack]),
        rounded=np.array([slack.any()] * RELEASES),
        seen=np.repeat(np.arange(len(trips)), trips),
        seen_by=np.arange(trips.sum()),
        start=np.arange(RELEASES + 1) * n,
    )


Facts = set[tuple[tuple[int, ...], int, int]]


def found(atoms: Atoms, rooms: Rooms) -> Facts:
    asked = np.ones(len(atoms), dtype=bool)
    room = rooms.of(atoms, asked, K)
    assert room.complete
    singles = {
        (tuple(one.atoms.tolist()), one.least, one.most) for one in bounded(atoms, room.span, asked, K)
    }
    return singles | {(tuple(one.atoms.tolist()), one.least, one.most) for one in room.sets}


def found_without_memory(atoms: Atoms) -> Facts:
    asked = np.ones(len(atoms), dtype=bool)
    span = tightened(atoms, shuttled(atoms), asked, K)
    sets, complete = few_together(atoms, span, asked, K)
    assert complete
    singles = bounded(atoms, span, asked, K)
    return {(tuple(np.sort(one.atoms).tolist()), one.least, one.most) for one in (*singles, *sets)}


ROOMS = Rooms()
"""Used by every example of the next test: what it knows of one must be true of all others."""


@given(st.lists(a_part(), min_size=1, max_size=3), st.data())
def test_what_is_found_of_parts_that_are_alike_is_found_of_each(
    parts: list[Part], data: st.DataObject
) -> None:
    for part in list(parts):
        parts.append(part.turned(data.draw(st.permutations(range(len(part.trips))))))
    atoms = atoms_of_parts(parts)
    expected = found_without_memory(atoms)
    assert found(atoms, ROOMS) == expected
    assert found(atoms, Rooms()) == expected


CROSSING = Part(((0, 0, -1), (0, 1, -1), (1, 0, -1), (1, 1, -1)), (2, 1, 1, 2), (0,) * 6)
"""Two sums cross two others."""


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]])
def test_parts_are_alike_in_whatever_order(order: list[int]) -> None:
    rooms = Rooms()
    found(atoms_of_parts([CROSSING, CROSSING.turned(order)]), rooms)
    assert repr(rooms) == "<Rooms: 1 part known>"


@pytest.mark.parametrize(
    "other",
    [
        CROSSING._replace(trips=(2, 1, 1, 3)),
        CROSSING._replace(slack=(1, 0, 0, 0, 0, 0)),
        CROSSING._replace(slack=(0, 0, 0, 1, 0, 0)),
        CROSSING._replace(group=((0, 0, 0), (0, 1, -1), (1, 0, -1), (1, 1, 0))),
    ],
)
def test_parts_that_differ_in_anything_are_solved_each(other: Part) -> None:
    rooms = Rooms()
    found(atoms_of_parts([CROSSING, other]), rooms)
    assert repr(rooms) == "<Rooms: 2 parts known>"


def test_what_is_asked_for_and_below_which_number_makes_a_difference() -> None:
    rooms, atoms = Rooms(), atoms_of_parts([CROSSING])
    for asked, k in (([1, 1, 1, 1], 5), ([1, 1, 1, 0], 5), ([1, 1, 1, 1], 4), ([1, 1, 1, 1], 5)):
        rooms.of(atoms, np.array(asked, dtype=bool), k)
    assert repr(rooms) == "<Rooms: 3 parts known>"


def test_what_was_not_searched_to_its_end_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms, atoms = Rooms(), atoms_of_parts([CROSSING])
    monkeypatch.setattr(rooms_of_parts, "few_together", lambda *_: ([], False))
    assert not rooms.of(atoms, np.ones(4, dtype=bool), K).complete
    assert repr(rooms) == "<Rooms: 0 parts known>"


def test_where_nothing_is_asked_for_nothing_is_looked_at() -> None:
    rooms, atoms = Rooms(), atoms_of_parts([CROSSING])
    room = rooms.of(atoms, np.zeros(4, dtype=bool), K)
    assert (room.sets, room.complete, room.span.least.tolist()) == ([], True, [0, 0, 0, 0])
