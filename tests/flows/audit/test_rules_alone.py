"""Single rules of the audit of flows on stand-ins: what each asks first, and where it says no."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tripcloak.flows.audit.rules import counted, kept, privacy
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import NotPromised
from worlds.made_evidence import made


@pytest.mark.parametrize(("noise", "known"), [(object(), None), (None, 1)])
def test_segments_go_with_neither_noise_nor_readers_who_know_little(noise: Any, known: Any) -> None:
    promise = SimpleNamespace(segments=("f", "m"), privacy=noise, known_items=known)
    case: Any = SimpleNamespace(promise=promise, load=lambda part: None)
    assert "which means nothing" in str(privacy.segments_safe(case))
    promise.segments = ()
    assert isinstance(privacy.segments_safe(case), NotPromised)


def trips_of(*people: list[tuple[int, int]], **other: Any) -> Any:
    """Return a case of trips, from second to second, of one person after the other."""
    rows = [
        (f"p{who}", datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC), 0)
        for who, trips in enumerate(people)
        for start, end in trips
    ]
    case = made()
    case.table("canonical", "person varchar, start_time timestamptz, end_time timestamptz, reason int", rows)
    case.promise = SimpleNamespace(**{"id_is": "person", **other})
    return case


CALM = [(0, 1000), (5000, 6000)]
TORN = [(0, 1000), (399, 1500), (9000, 9999)]
"""The second begins 601 seconds before the first ends."""


@pytest.mark.parametrize(
    ("people", "wrong"),
    [
        ([CALM, CALM, CALM, TORN], True),
        ([CALM, CALM, CALM, CALM, TORN], False),
        ([CALM, CALM, CALM, [(0, 1000), (400, 1500)]], False),
        # What overlaps an earlier trip than the last one overlaps all the same.
        ([CALM, CALM, CALM, [(0, 9000), (8500, 8600), (8399, 8400)]], True),
        ([CALM], False),
        ([], False),
    ],
)
def test_ids_of_people_are_in_one_place_at_a_time(
    people: Any, wrong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted, "_recorded", lambda case: (None, None))
    assert (counted._misused(trips_of(*people)) is not None) == wrong
    assert counted._misused(trips_of(*people, id_is="vehicle")) is None
    monkeypatch.setattr(counted, "_recorded", lambda case: ("person", None))
    assert counted._misused(trips_of(*people)) is None


@pytest.mark.parametrize(
    ("promised", "ordered", "words"),
    [
        (0.5, 0.5, "of boxes"),
        (0.5, None, "of boxes"),
        (0.4, 0.5, "of boxes"),
        (0.51, 0.5, "does not promise the closeness of 0.5"),
        (None, 0.5, "does not promise the closeness of 0.5"),
    ],
)
def test_destinations_are_promised_as_close_as_was_ordered(promised: Any, ordered: Any, words: str) -> None:
    """What is promised passes on to the next question, whether it is of boxes."""
    promise = SimpleNamespace(closeness=promised, volume="trips", boxes=True, slot=None)
    case: Any = SimpleNamespace(promise=promise, request=SimpleNamespace(closeness=ordered))
    assert words in str(privacy.destinations_close(case))
    promise.closeness = case.request.closeness = None
    assert isinstance(privacy.destinations_close(case), NotPromised)


def test_zones_are_compared_with_a_release_or_a_series(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds neither a release nor a series"):
        kept._read(tmp_path)
