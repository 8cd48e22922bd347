"""How many trips of a flow are repeated ones, by travellers that two releases tell in other steps."""

from __future__ import annotations

import numpy as np

from tripcloak.ledger.attack import attack
from tripcloak.ledger.disclosure import Disclosure


def flow(least: int, most: int) -> Disclosure:
    """Return a release of one flow: sixteen trips of fourteen people, told as so many."""
    people = np.append(np.arange(1, 15), (1, 2)).astype(np.uint64) + np.uint64(100)
    return Disclosure(
        name="",
        record=np.arange(1, 17, dtype=np.uint64),
        person=people,
        group=np.zeros(16, dtype=np.int32),
        trips=np.array([16]),
        travellers=np.array([[least], [most]]),
        k=5,
    )


def test_steps_of_another_k_tell_how_many_trips_are_repeated() -> None:
    found = attack([flow(10, 14), flow(14, 16)])
    assert [(fact.kind, fact.words(), fact.releases, found.people) for fact in found.found] == [
        ("repeated", "exactly 2 trips", (0, 1), 2)
    ]
    assert attack([flow(10, 14), flow(10, 14)]).found == ()


def test_what_one_release_tells_of_repeated_trips_is_nothing_new() -> None:
    assert attack([flow(14, 14), flow(10, 14)]).found == ()
