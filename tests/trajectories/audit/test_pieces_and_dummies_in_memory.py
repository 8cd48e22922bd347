"""Pieces between mix zones and trajectories among dummies, judged at the very edge, on a few rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import BrokenPart, NotPromised
from tripcloak.promises import Disclosure, Mixing
from tripcloak.trajectories.audit import dummies, memory, mixing
from tripcloak.trajectories.audit.dummies import Profile, disclosures, dummy_faults
from tripcloak.trajectories.audit.evidence import TrajectoryEvidence
from tripcloak.trajectories.audit.promise import LARGE, _profile_faults
from tripcloak.trajectories.audit.rules import manifest
from tripcloak.trajectories.audit.rules import samples as sample_rules
from tripcloak.trajectories.audit.screening import BoxSpans, Samples
from tripcloak.trajectories.audit.told import by_person, where_samples_are


def spans_of(*pieces: list[tuple[int, int, int]]) -> BoxSpans:
    """Return pieces of boxes (begin, end, place), each a step wide."""
    rows = np.array([box for piece in pieces for box in piece]).reshape(-1, 3)
    t0, t1, x = rows.T
    return BoxSpans(np.cumsum([0, *map(len, pieces)]), t0, t1, x, x + 1, 0 * x, 0 * x + 1)


def samples_of(*people: list[tuple[int, int]]) -> Samples:
    """Return people's samples (time, place)."""
    rows = np.array([sample for mine in people for sample in mine]).reshape(-1, 2)
    return Samples(np.cumsum([0, *map(len, people)]), rows[:, 0], rows[:, 1], 0 * rows[:, 0])


ZONE = [0, 1, 3, 0, 2]


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        (ZONE,),
        [],
        [ZONE[:4]],
        [ZONE, ZONE[:4]],
        [tuple(ZONE)],
        [[0, 1, 1, 0, 2]],
        [[0, 1, 3, 2, 2]],
        [[0, 1.0, 3, 0, 2]],
        [[0, True, 3, 0, 2]],
        [[0, -(1 << 31), 3, 0, 2]],
        [ZONE, [0, 3, 1, 0, 2]],
        [ZONE, [0, 1, 3, 2, 2]],
    ],
)
def test_zones_are_rectangles_of_whole_numbers(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BrokenPart, match="where the zones are"):
        mixing.read_zones(told, 100.0)
    monkeypatch.setattr(mixing, "MOST_ROWS", 2)
    wide = [[0, 1 - (1 << 31), 3, 0, 1]]
    found = mixing.read_zones([ZONE, *wide], 2.0)
    assert [side.tolist() for side in found] == [[0, 0], [2, 2 * wide[0][1]], [6, 6], [0, 0], [4, 2]]
    with pytest.raises(BrokenPart):
        mixing.read_zones([ZONE] * 3, 100.0)


def silences(k: int = 2, *, width: float = 2.0, longest: float = 4.0, moved: int = 0) -> str | None:
    """Return what is wrong with two people who are silent at place 5 at times 2 and 3."""
    spans = spans_of([(0, 1, 0)], [(4, 5, 9)], [(1, 2, 0)], [(5 + moved, 6 + moved, 9)])
    samples = samples_of([(0, 0), (2, 5), (4, 9)], [(1, 0), (3, 5), (5 + moved, 9)])
    zones = mixing.read_zones([[7, 4, 6, 0, 1]], 1.0)
    whose = np.array([0, 0, 1, 1])
    return mixing.mixing_faults(samples, spans, whose, zones, k=k, width=width, longest=longest)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, None),
        ({"k": 3}, "among fewer than k"),
        ({"width": 1.9}, "wider than is promised"),
        ({"longest": 3.0}, None),
        ({"longest": 2.9}, "silent for longer"),
        ({"moved": 1}, None),
        ({"moved": 2}, "silent for longer"),
    ],
)
def test_pseudonyms_change_among_k_in_a_zone_for_a_while(asked: dict[str, Any], words: str | None) -> None:
    found = silences(**asked)
    assert found is None if words is None else words in str(found)


def test_samples_are_told_or_in_a_silence_or_astray() -> None:
    told = by_person(spans_of([(0, 2, 0)], [(4, 6, 9)], [(0, 9, 3)]), np.array([0, 0, 2]))
    samples = samples_of([(0, 0), (1, 1), (2, 5), (3, 5), (4, 9), (6, 9)], [(1, 3)], [(8, 3)])
    where = where_samples_are(samples, told)
    assert where.change.tolist() == [-1, -1, 0, 0, -1, -1, -1, -1]
    assert where.outside.tolist() == [False, True, False, False, False, True, True, False]
    assert (where.astray, where.empty, told.changes.tolist()) == (3, 0, [1])
    assert where_samples_are(samples_of([(0, 0)], [(1, 3)], [(0, 3)]), told).empty == 1


@pytest.mark.parametrize(
    ("pieces", "whose", "overlaps", "returns"),
    [
        ([[(0, 2, 0)], [(2, 3, 0)]], [0, 0], False, False),
        ([[(0, 3, 0)], [(2, 4, 0)]], [0, 0], True, False),
        ([[(0, 3, 0)], [(2, 4, 0)]], [0, 1], False, False),
        ([[(0, 1, 0), (4, 5, 0)], [(2, 3, 0)]], [0, 0], False, True),
    ],
)
def test_pieces_of_a_person_follow_each_other(
    pieces: Any, whose: list[int], overlaps: bool, returns: bool
) -> None:
    told = by_person(spans_of(*pieces), np.array(whose))
    assert (told.overlaps, told.returns) == (overlaps, returns)


def test_people_of_other_lengths_are_judged_beside_each_other() -> None:
    """Both orders: three samples beside a dummy that swaps ends, and one sample beside one far away."""
    long = [[(t, t + 1, t) for t in range(3)], [(t, t + 1, 2 - t) for t in range(3)]]
    short = [[(0, 1, 0)], [(0, 1, 4)]]
    for pieces, group in (((*long, *short), [[0, 1], [2, 3]]), ((*short, *long), [[0, 1], [2, 3]])):
        found = disclosures(spans_of(*pieces), np.array(group), 1.0)
        apart = [disclosures(spans_of(*pieces), np.array([row]), 1.0) for row in group]
        assert [one.tolist() for one in found] == [
            [float(one[side][0]) for one in apart] for side in range(3)
        ]
        of_short = group.index([0, 1]) if pieces[0] is short[0] else 1
        assert [float(one[of_short]) for one in found] == [0.5, 0.5, 4.0]


@pytest.mark.parametrize(
    ("profile", "met"),
    [
        ((0.5, 0.5, 4.0), True),
        ((0.49, 0.5, 4.0), False),
        ((0.5, 0.49, 4.0), False),
        ((0.5, 0.5, 4.1), False),
    ],
)
def test_dummies_meet_the_profile_or_fail(profile: tuple[float, float, float], met: bool) -> None:
    spans, samples = spans_of([(0, 1, 0)], [(0, 1, 4)]), samples_of([(0, 0)])
    whose, guards = np.array([0, -1]), np.array([-1, 0])
    found = dummy_faults(samples, spans, whose, guards, Profile(*profile, cell=1.0), 1.0)
    assert found is None if met else "do not meet the profile" in str(found)
    for wrong in ((np.array([0, 0]), guards), (whose, np.array([-1, -1]))):
        assert "neither somebody's nor a dummy" in str(
            dummy_faults(samples, spans, *wrong, Profile(1, 1, 0, 1.0), 1.0)
        )


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, None),
        ({"dst": 0}, None),
        ({"dst": -1e-9}, "cells away"),
        ({"dst": float(LARGE)}, "cells away"),
        ({"dst": "1"}, "cells away"),
        ({"sd": 0}, "above 0 and below 1"),
        ({"ld": 1}, "above 0 and below 1"),
        ({"cell": 0}, "whole metres"),
        ({"cell": 1}, None),
        ({"cell": 1.0}, "whole metres"),
    ],
)
def test_the_numbers_of_a_profile_are_in_their_bounds(changed: dict[str, Any], words: str | None) -> None:
    found = _profile_faults({"sd": 0.5, "ld": 0.5, "dst": 2.0, "cell": 500, **changed})
    assert found is None if words is None else words in str(found)


@pytest.mark.parametrize(
    "changed", [{"cell": 0}, {"dst": -1.0}, {"dst": float("inf")}, {"sd": 0}, {"sd": 1}, {"ld": 0}, {"ld": 1}]
)
def test_a_promise_of_dummies_has_bounds(changed: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"sd": 0.5, "ld": 0.5, "dst": 0.0, "cell": 1}
    assert Disclosure(**asked).cell == 1
    with pytest.raises(InputError):
        Disclosure(**{**asked, **changed})


@pytest.mark.parametrize("changed", [{"width": 0}, {"longest": 0}])
def test_a_promise_of_mixing_has_bounds(changed: dict[str, int]) -> None:
    asked: dict[str, Any] = {"k": 2, "width": 1, "longest": 1}
    assert Mixing(**asked).safe(np.array([1, 2])).tolist() == [False, True]
    with pytest.raises(InputError):
        Mixing(**{**asked, **changed})


@pytest.mark.parametrize(
    ("changed", "changes", "words"),
    [
        ({}, 100, None),
        ({}, 99, "more closely"),
        ({"alike": 1.0}, 100, None),
        ({"alike": 0.9}, 100, "one decimal"),
        ({"alike": 1.25}, 100, "one decimal"),
        ({"alike": 2}, 100, "one decimal"),
        ({"alike": manifest.MOST_ALIKE}, 100, "one decimal"),
        ({"first": 101}, 100, "whole numbers of 100"),
        ({"first": -1}, 100, "whole numbers of 100"),
        ({"first": 1.0}, 100, "whole numbers of 100"),
    ],
)
def test_links_are_told_in_100_and_no_closer(
    changed: dict[str, Any], changes: int, words: str | None
) -> None:
    first, *others = manifest.INNER["links"][1:-1]
    told = {first: 7, **dict.fromkeys(others, 10), "alike": 2.5}
    told |= {first if name == "first" else name: value for name, value in changed.items()}
    found = manifest._link_faults(told, changes)
    assert found is None if words is None else words in str(found)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, None),
        ({"title": "a" * 200}, None),
        ({"title": "a" * 201}, "one line each"),
        ({"title": "a\nb"}, "one line each"),
        ({"background": 3}, "one line each"),
        ({"names": {}}, "towns"),
        ({"names": {"towns": []}}, None),
        ({"names": {"towns": [{"name": "A", "lat": 1.0, "lon": 2.0, "people": 3}]}}, None),
        ({"names": {"towns": [{"name": "A", "lat": 1.0, "lon": 2.0}]}}, "towns"),
        ({"names": {"towns": [{"name": "A", "lat": 1, "lon": 2.0, "people": 3}]}}, "towns"),
    ],
)
def test_what_is_written_on_a_map_is_short(facts: dict[str, Any], words: str | None) -> None:
    found = manifest._on_map_faults(facts)
    assert found is None if words is None else words in str(found)


def test_pieces_are_somebodys_before_samples_are_looked_for_in_them() -> None:
    spans = spans_of([(0, 1, 0)], [(1, 2, 0)])
    boxes = SimpleNamespace(t0=spans.t0, t1=spans.t1)
    release = SimpleNamespace(
        box_of=np.array([0, 1]), released_of=np.array([0]), n_boxes=2, n_released=2, pieces=None, boxes=boxes
    )
    case: Any = SimpleNamespace(
        promise=SimpleNamespace(moves=False, contains=False, parted=True),
        trajectories=SimpleNamespace(n_samples=2, n_users=1),
        release=release,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "shape_faults", lambda release: None)
        patch.setattr(memory, "_strays", lambda *told: 0)
        for pieces in (None, np.array([0])):
            release.pieces = pieces
            assert "is nobody's" in str(memory.own_samples_held(case))
        release.pieces = np.array([0, 0])
        assert memory.own_samples_held(case) is None


@pytest.mark.parametrize(
    ("pieces", "first", "fault"),
    [
        ([0, 1, 0], [0, 1], None),
        ([0, 1, 1], [0, 1], None),
        ([0, 2, 0], [0, -1], "is nobody's"),
        ([0, -1, 0], [0, -1], "is nobody's"),
        ([0, 1], [0, 1], "is nobody's"),
        (None, [0, 1], "is nobody's"),
        ([1, 1, 0], [0, 1], "first piece is another"),
        ([0, 1, 0], [2, 1], "first piece is another"),
    ],
    ids=str,
)
def test_every_piece_is_somebodys_and_the_first_is_the_first(
    pieces: list[int] | None, first: list[int], fault: str | None
) -> None:
    spans = spans_of([(0, 1, 0)], [(1, 2, 0)], [(2, 3, 0)])
    release = SimpleNamespace(
        released_of=np.array(first),
        n_released=3,
        pieces=None if pieces is None else np.array(pieces),
        offsets=spans.offsets,
        boxes=SimpleNamespace(t0=spans.t0),
    )
    promise = SimpleNamespace(made_up=False, parted=True)
    case: Any = SimpleNamespace(promise=promise, trajectories=SimpleNamespace(n_users=2), release=release)
    found = memory.everybody_accounted(case)
    assert found is None if fault is None else fault in str(found)


def test_dummies_stand_beside_people_who_are_released_and_go_no_faster() -> None:
    profile, guards = Profile(0.9, 0.9, 0.0, 1.0), np.array([-1, 0])
    own, samples = [(0, 1, 0), (1, 2, 1)], samples_of([(0, 0), (1, 1)], [(0, 0), (1, 1)])
    for ends, words in (((5, 8), None), ((5, 9), "faster than anybody")):
        spans = spans_of(own, [(0, 1, ends[0]), (1, 2, ends[1])])
        found = dummy_faults(samples, spans, np.array([0, -1]), guards, profile, 1.0)
        assert found is None if words is None else words in str(found)
    found = dummy_faults(samples, spans_of(own, own), np.array([0, -1]), np.array([-1, 1]), profile, 1.0)
    assert "who is not released" in str(found)


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        ((0.9, 0.9, 5.0), True),
        ((0.8, 0.8, 6.0), True),
        ((0.91, 0.8, 6.0), False),
        ((0.8, 0.91, 6.0), False),
        ((0.8, 0.8, 4.9), False),
        ((0.91, 0.91, 5.0), False),
    ],
    ids=str,
)
def test_who_asks_for_more_than_everybody_asks_for_less_of_nothing(
    asked: tuple[float, float, float], fits: bool
) -> None:
    profile = Profile(0.9, 0.9, 5.0, 1.0)
    assert dummies._is_stricter(np.array([(0.9, 0.9, 5.0), asked]), profile) is fits


def test_people_who_are_told_are_those_without_dummies() -> None:
    profile: Any = SimpleNamespace(profile=object())
    case: Any = SimpleNamespace(
        manifest=SimpleNamespace(promise=profile),
        whose=np.array([0, -1, 2]),
        spans=SimpleNamespace(offsets=range(4)),
    )
    assert manifest._people_told(case) == 2
    profile.profile = None
    assert manifest._people_told(case) == 3


@pytest.mark.parametrize(("width", "longest"), [(None, 60), (500, None)])
def test_where_no_zones_are_promised_none_are_looked_for(width: Any, longest: Any) -> None:
    promised = SimpleNamespace(width=width, longest=longest)
    case: Any = SimpleNamespace(manifest=SimpleNamespace(promise=promised))
    assert isinstance(sample_rules.pseudonyms_change_among_k(case), NotPromised)


def test_a_dummy_beside_a_stranger_is_beside_nobody() -> None:
    case: Any = SimpleNamespace(
        whose=np.array([0, -1, -1]),
        table="samples",
        tracks=SimpleNamespace(users=["u", "v"]),
        fetch=lambda query: [("b",), ("a",), ("c",)],
        _mapping=lambda *, dummies: [("v", "b"), ("stranger", "c")],
    )
    assert TrajectoryEvidence.guards.func(case).tolist() == [-1, 1, -1]
