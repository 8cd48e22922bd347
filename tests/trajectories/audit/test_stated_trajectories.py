"""What a manifest of trajectories may state: the last that makes sense is read, and the next is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from tripcloak.trajectories.audit.containment import RawSupports, Supports
from tripcloak.trajectories.audit.promise import (
    IDS,
    LARGE,
    Stated,
    is_small,
    lone_faults,
    raw_faults,
    read_stated,
    support_faults,
    two_sided_faults,
    understand,
)
from tripcloak.trajectories.audit.rules import files
from tripcloak.trajectories.audit.rules import manifest as rules
from tripcloak.trajectories.release import published

HELD = {"kind": "containment", "k": 3, "id_is": "person"}
NEAR = {"kind": "colocation", "k": 3, "id_is": "person", "delta": 5.5}
LAEA = "+proj=laea +lat_0=48.9 +lon_0=-2.3 +datum=WGS84 +units=m +no_defs"
GRID = {"seconds": 60, "metres": 100, "start": 120, "projection": LAEA, "clock": "UTC"}


def facts(
    promise: dict[str, Any] = HELD, grid: Any = GRID, words: Any = None, **other: Any
) -> dict[str, Any]:
    sentence = "a person's 3 of 3" if promise["kind"] == "containment" else "3, 5.5 and 3"
    told = {**promise, "sentence": sentence if words is None else words}
    return {
        "format": "tripcloak release 3",
        "kind": "trajectories",
        "version": "0.3.0",
        "method": "k-merge",
        "parameters": {"k": 3},
        "promise": told,
        "counted": {"trajectories": "people: column id"},
        "grid": grid,
        "released": {"trajectories": 2, "samples": 9},
        "files": {"a": "1", "b": "2"},
        **other,
    }


def test_what_is_stated_is_read() -> None:
    held, near = understand(facts()), understand(facts(NEAR))
    assert held.promise == Stated("containment", 3, None, "person")
    assert near.promise == Stated("colocation", 3, 5.5, "person")
    assert (held.promise.moves, near.promise.moves) == (False, True)
    assert (held.promise.spoken, near.promise.spoken) == (("3", "3"), ("3,", "5.5", "3"))
    assert (held.seconds, held.metres, held.start, held.clock) == (60, 100, 120, "UTC")
    for id_is in IDS:
        assert read_stated({**HELD, "id_is": id_is}).id_is == id_is
    assert read_stated({"kind": "containment", "k": 2}).k == 2
    assert read_stated({**NEAR, "delta": 0}).delta == 0


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {**HELD, "kind": "noise"},
        {**NEAR, "kind": "noise"},
        {**HELD, "k": 1},
        {**HELD, "k": 3.0},
        {**HELD, "id_is": "ghost"},
        {**HELD, "delta": 1},
        {**NEAR, "delta": -0.1},
        {**NEAR, "delta": True},
        {**NEAR, "delta": "5"},
        {**NEAR, "delta": float("nan")},
        {**NEAR, "more": 1},
        {"kind": "colocation", "k": 3},
    ],
)
def test_another_promise_is_none(wrong: Any) -> None:
    with pytest.raises(BrokenPart, match="the promise is none"):
        read_stated(wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"promise": None}, "a promise and a grid"),
        ({"grid": None}, "a promise and a grid"),
        ({"grid": {**GRID, "more": 1}}, "other entries"),
        ({"grid": {**GRID, "start": 60 * LARGE}}, "means nothing"),
        ({"promise": {**HELD, "k": LARGE, "sentence": ""}}, "means nothing"),
        ({"promise": {**HELD, "k": [3], "sentence": ""}}, "means nothing"),
        ({"promise": {**HELD, "sentence": "3 of 4"}}, "in words"),
        ({"promise": {**HELD, "sentence": None}}, "in words"),
        ({"grid": {**GRID, "seconds": 0}}, "whole seconds"),
        ({"grid": {**GRID, "metres": 0}}, "whole seconds"),
        ({"grid": {**GRID, "metres": 100.0}}, "whole seconds"),
        ({"grid": {**GRID, "start": 121}}, "whole seconds"),
        ({"grid": {**GRID, "projection": f"{LAEA} "}}, "PROJ"),
        ({"grid": {**GRID, "projection": 3}}, "PROJ"),
        ({"grid": {**GRID, "clock": "CET"}}, "clock"),
    ],
)
def test_another_manifest_is_not_understood(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(BrokenPart, match=words):
        understand({**facts(), **wrong})


def test_the_smallest_grid_is_understood() -> None:
    told = understand(facts(grid={**GRID, "seconds": 1, "metres": 1, "start": 0, "clock": "unknown"}))
    assert (told.seconds, told.metres, told.start, told.clock) == (1, 1, 0, "unknown")


def test_a_number_is_no_longer_than_it_has_to_be() -> None:
    assert [is_small(n) for n in (LARGE - 1, 1 - LARGE, True, 0.5)] == [True] * 4
    assert [is_small(n) for n in (LARGE, -LARGE, "1", [])] == [False] * 4


def test_what_moves_promises_no_containment() -> None:
    moved, held = Stated("colocation", 3, 5.0), Stated("containment", 3)
    counts, raw = Supports(*[np.array([2, 9])] * 3), RawSupports(*[np.array([2, 9])] * 3)
    fine = RawSupports(np.array([0, 1]), np.array([3, 9]), np.array([3, 4]))
    assert raw_faults(fine, held) is None
    for less in ({"support": np.array([2, 9])}, {"two_sided": np.array([2, 9])}):
        assert "dropped of them" in str(raw_faults(fine._replace(**less), held))
    for found in (two_sided_faults(counts, moved), lone_faults(counts, moved), raw_faults(raw, moved)):
        assert isinstance(found, NotPromised)
    assert "does not hold here" in str(support_faults(counts, moved))
    assert "all the same" in str(support_faults(Supports(*[np.array([3, 9])] * 3), moved))


def case(told: dict[str, Any], folder: Path | None = None, **other: Any) -> Any:
    """Return what stands in for a release: its manifest, and what a rule asks for."""
    promise = SimpleNamespace(
        promise=read_stated({n: v for n, v in told["promise"].items() if n != "sentence"})
    )
    return SimpleNamespace(
        facts=told, folder=folder, manifest=promise, public=lambda name: folder / name, table="t", **other
    )


def written(folder: Path, told: dict[str, Any], text: str | None = None) -> Any:
    (folder / "manifest.json").write_text(json.dumps(told, indent=2) + "\n" if text is None else text)
    return case(told, folder)


def test_a_manifest_as_it_should_be_written(tmp_path: Path) -> None:
    assert rules.manifest_whole(written(tmp_path, facts())) is None
    for least in ({"method": "a" * 29}, {"parameters": {}}, {"parameters": {"a" * 29: None}}):
        assert rules.manifest_whole(written(tmp_path, facts(**least))) is None
    most = dict.fromkeys(("a_" * n + "z" for n in range(14)), "k-merge")
    assert rules.manifest_whole(written(tmp_path, facts(parameters={**most, "p": 1}))) is None


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"more": 1}, "does not know"),
        ({"version": "1"}, "version"),
        ({"version": 1.0}, "version"),
        ({"method": "a" * 30}, "method"),
        ({"method": "K"}, "method"),
        ({"method": 3}, "method"),
        ({"parameters": [3]}, "parameters"),
        ({"parameters": {f"{'a' * n}": 1 for n in range(1, 17)}}, "parameters"),
        ({"parameters": {"K": 3}}, "parameters"),
        ({"parameters": {"a" * 30: 3}}, "parameters"),
        ({"parameters": {"k": [3]}}, "parameters"),
        ({"parameters": {"k": "Some words"}}, "parameters"),
        ({"files": []}, "one by one"),
        ({"released": [2, 9]}, "one by one"),
        ({"files": {"b": "2", "a": "1"}}, "another order"),
        ({"released": {"samples": 9, "trajectories": 2}}, "another order"),
    ],
)
def test_a_manifest_that_says_more_is_not_whole(tmp_path: Path, other: dict[str, Any], words: str) -> None:
    assert words in str(rules.manifest_whole(written(tmp_path, facts(**other))))


def test_a_manifest_lacks_nothing_and_says_nothing_by_its_blanks(tmp_path: Path) -> None:
    lacking = facts()
    del lacking["counted"]
    assert rules.manifest_whole(written(tmp_path, lacking)) == "the manifest lacks counted"
    turned = {name: facts()[name] for name in reversed(facts())}
    assert "another order" in str(rules.manifest_whole(written(tmp_path, turned)))
    wider = json.dumps(facts(), indent=3) + "\n"
    assert "between its entries" in str(rules.manifest_whole(written(tmp_path, facts(), wider)))
    with pytest.raises(BrokenPart):
        rules.manifest_whole(case(facts(), tmp_path / "nowhere"))
    with pytest.raises(BrokenPart):
        rules.manifest_whole(written(tmp_path, facts(released={"trajectories": float("nan"), "samples": 9})))


def test_files_are_read_in_the_parts_that_they_are_written_in() -> None:
    assert published.BATCH == files.PART == 2**19


def test_no_less_is_promised_than_was_ordered() -> None:
    assert [rules.promise_valid(case(facts(), ordered=k)) is None for k in (None, 2, 3, 4)] == [
        *(True, True, True, False)
    ]


def counted(tmp_path: Path, source: Any, promise: dict[str, Any] = HELD, **other: Any) -> str | None:
    (tmp_path / "private").mkdir(exist_ok=True)
    (tmp_path / "private" / "run.json").write_text(json.dumps({"source": source}))
    return rules.counted_as_said(case(facts(promise, **other), tmp_path))


def test_trajectories_are_called_whose_they_are(tmp_path: Path) -> None:
    bikes = {**HELD, "id_is": "vehicle"}
    words = {"words": "a vehicle's (not a person's) 3 of 3"}
    called = {"counted": {"trajectories": "vehicles, not people: column bike"}}
    assert counted(tmp_path, {"id_is": "person"}) is None
    assert counted(tmp_path, {}) is None
    assert counted(tmp_path, "a file") is None
    assert counted(tmp_path, {"id_is": "vehicle"}, bikes, **words, **called) is None
    assert "their owner" in str(counted(tmp_path, {"id_is": "vehicle"}))
    assert "other than" in str(counted(tmp_path, {}, bikes, **called))
    assert "other than" in str(counted(tmp_path, {}, bikes, **words))
    assert counted(tmp_path, {}, NEAR) is None
    assert "other than" in str(counted(tmp_path, {}, {**NEAR, "id_is": "vehicle"}, **called))
    for silent in (
        None,
        {},
        {"trajectories": 3},
        {"trajectories": "people: 3"},
        {"trajectories": "people:", "a": 1},
    ):
        assert "does not say" in str(counted(tmp_path, {}, counted=silent))


@pytest.mark.parametrize(
    ("people", "told", "words"),
    [
        (9, {"people": 9, "right": None, "blind": None}, None),
        (9, {"people": 9, "right": 10, "blind": None}, "too few"),
        (10, {"people": 10, "right": 20, "blind": 10}, None),
        (10, {"people": 10, "right": 10, "blind": 10}, None),
        (10, {"people": 10, "right": None, "blind": None}, "whole numbers"),
        (10, {"people": 10, "right": 10, "blind": 20}, "whole numbers"),
        (10, {"people": 10, "right": 20.0, "blind": 10}, "whole numbers"),
        (10, {"people": 10, "right": 110, "blind": 10}, "whole numbers"),
        (10, {"people": 10, "right": 10, "blind": -10}, "whole numbers"),
        (10, {"people": 10, "right": 100, "blind": 0}, None),
        (99, {"people": 99, "right": 11, "blind": 10}, "more closely"),
        (99, {"people": 99, "right": 20, "blind": 9}, "more closely"),
        (100, {"people": 100, "right": 11, "blind": 9}, None),
        (1000, {"people": 1000, "right": 11, "blind": 9}, None),
        (1001, {"people": 1000, "right": 11, "blind": 9}, None),
        (1001, {"people": 1001, "right": 11, "blind": 9}, "another number"),
        (100, {"people": 100.0, "right": 11, "blind": 9}, "another number"),
        (100, {"right": 11, "people": 100, "blind": 9}, "does not say"),
        (100, None, "does not say"),
    ],
)
def test_a_guess_is_told_in_steps(people: int, told: Any, words: str | None) -> None:
    stands = case(facts(guess=told), spans=SimpleNamespace(offsets=np.arange(people + 1)))
    found = rules.guess_told_safely(stands)
    assert found is None if words is None else words in str(found)


def test_where_points_move_no_guess_is_told() -> None:
    assert isinstance(rules.guess_told_safely(case(facts(NEAR))), NotPromised)
    assert (
        rules.guess_told_safely(case(facts(NEAR, guess=None)))
        == "a guess is told where no trajectory need fit"
    )


NAMES = [f"t{n:016x}" for n in range(12)]


def named(names: list[str], users: list[str]) -> Any:
    return case(facts(), fetch=lambda _: [(name,) for name in names], tracks=SimpleNamespace(users=users))


@pytest.mark.parametrize("kind", ["md5", "sha1", "sha256", "sha512", "blake2b"])
def test_a_pseudonym_is_no_hash(kind: str) -> None:
    hashed = f"t{hashlib.new(kind, b'anna').hexdigest()[:16]}"
    assert rules.pseudonyms_fresh(named(NAMES, ["anna"])) is None
    assert "hash" in str(rules.pseudonyms_fresh(named([*NAMES, hashed], ["bert", "anna"])))


def test_a_pseudonym_is_drawn_and_no_id() -> None:
    assert "not of the kind" in str(rules.pseudonyms_fresh(named([*NAMES, "t1"], ["anna"])))
    assert "the id of a person" in str(rules.pseudonyms_fresh(named(NAMES, ["anna", NAMES[0]])))
    assert "the id of a person" in str(rules.pseudonyms_fresh(named(NAMES, ["anna", NAMES[0][1:]])))


@pytest.mark.parametrize(
    ("user", "stands"), [("anna-7", True), ("anna", False), ("an7", False), ("4711", False)]
)
def test_pages_hold_no_id_that_is_more_than_a_word(tmp_path: Path, user: str, stands: bool) -> None:
    for name in rules.PAGES:
        (tmp_path / name).write_text("of one")
    told = case(facts(), tmp_path, tracks=SimpleNamespace(users=[user]))
    assert rules.pages_name_nobody(told) is None
    (tmp_path / "map.html").write_text(f"<b>{user}</b>")
    assert (rules.pages_name_nobody(told) is not None) == stands
    (tmp_path / "README.md").unlink()
    with pytest.raises(BrokenPart, match=r"README\.md cannot be read"):
        rules.pages_name_nobody(told)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (range(9), Remark),
        (range(60), str),
        (range(59, -1, -1), str),
        ([(at * 7) % 60 for at in range(60)], None),
        (range(10), str),
        # One step past what six deviations of so many come to: 0.788, where 0.781 may come by chance.
        ([*range(27, -1, -1), *range(28, 50), *range(59, 49, -1)], str),
    ],
)
def test_an_order_that_follows_people_is_told(rows: Any, found: type | None) -> None:
    shuffled = np.array([(at * 37) % 60 for at in range(60)])
    tracks = SimpleNamespace(instant=shuffled, offsets=np.arange(61))
    told = case(facts(), tracks=tracks, whose=np.array(rows))
    assert type(rules.order_tells_nothing(told)) is (found or type(None))


def test_an_order_by_first_sample_is_told() -> None:
    shuffled = np.array([(at * 37) % 60 for at in range(60)])
    tracks = SimpleNamespace(instant=shuffled, offsets=np.arange(61))
    told = case(facts(), tracks=tracks, whose=np.argsort(shuffled))
    assert "follows that of people" in str(rules.order_tells_nothing(told))
