"""Two releases of trajectories linked: as a plain twin does it, by chance where all are alike; never whom."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.ground.errors import InputError
from tripcloak.trajectories.attacks.linking import Links, ReleasedSamples, link
from tripcloak.trajectories.linking import link_releases
from worlds.weeks import two_weeks

DAY = 86_400.0


def samples(rows: list[tuple[int, float, float, float, float]], trajectories: int) -> ReleasedSamples:
    """Return samples: whose, at which hour, for how many, and where in degrees."""
    columns = np.array(rows, dtype=float).T
    who, hour, hours, lon, lat = columns
    start, end = hour * 3600, (hour + hours) * 3600
    edges = (lon, lat, lon + 0.01, lat + 0.01)
    return ReleasedSamples(who.astype(np.int64), start, end, *edges, trajectories)


def some_samples(seed: int, people: int, *, start: float) -> ReleasedSamples:
    draw = np.random.default_rng(seed)
    homes = np.random.default_rng(1).uniform(0, 0.3, (people, 2))
    rows = []
    for person in range(people):
        for _ in range(int(draw.integers(1, 8))):
            lon, lat = homes[person] if draw.random() < 0.5 else draw.uniform(0, 0.3, 2)
            rows.append((person, start + float(draw.integers(0, 160)), float(draw.choice([1, 20])), lon, lat))
    return samples(rows, people)


def plain_scores(one: ReleasedSamples, other: ReleasedSamples) -> Any:
    """Return how well all fit all, cell by cell: a twin written from the description."""
    both = (one, other)
    sides = [
        math.sqrt((n - s) * 110_574 * (e - w) * 111_320 * math.cos(math.radians(s)))
        for each in both
        for w, s, e, n in zip(each.west, each.south, each.east, each.north, strict=True)
    ]
    cell = max(250.0, float(np.median(sides)) / 2)
    middle = (one.south.mean() + other.south.mean()) / 2
    across, up = cell / (111_320 * math.cos(math.radians(middle))), cell / 110_574
    shared = min(one.end.max(), other.end.max()) - max(one.start.min(), other.start.min())
    together = shared >= min(each.end.max() - each.start.min() for each in both) / 2
    tables: list[list[Counter[Any]]] = []
    for each in both:
        found: list[Counter[Any]] = [Counter() for _ in range(each.trajectories)]
        for who, start, end, w, s, e, n in zip(*each[:7], strict=True):
            cells = [
                (x, y)
                for x in range(math.floor(w / across), math.floor(e / across) + 1)
                for y in range(math.floor(s / up), math.floor(n / up) + 1)
            ]
            if len(cells) > 64:
                continue
            for place in cells:
                found[who][place] += 1 / len(cells)
                if end - start <= 12 * 3600:
                    found[who][place, "part", (start + end) / 2 // 21600 % 4] += 1 / len(cells)
                    if together:
                        found[who][place, "slot", (start + end) / 2 // 21600] += 1 / len(cells)
        tables.append(found)
    people = Counter(place for found in tables for profile in found for place in profile)
    total = one.trajectories + other.trajectories
    lengths = []
    for found in tables:
        for profile in found:
            for place in profile:
                profile[place] = math.sqrt(profile[place]) * math.log(total / people[place])
        lengths.append([math.sqrt(sum(v * v for v in profile.values())) or 1.0 for profile in found])
    return np.array(
        [
            [
                sum(v * b.get(place, 0) for place, v in a.items()) / (lengths[0][i] * lengths[1][j])
                for j, b in enumerate(tables[1])
            ]
            for i, a in enumerate(tables[0])
        ]
    )


@pytest.mark.parametrize("start", [0.0, 40.0, 400.0])
@pytest.mark.parametrize("seed", [2, 3])
def test_it_ranks_as_a_plain_twin_does(seed: int, start: float) -> None:
    one, other = some_samples(seed, 30, start=0.0), some_samples(seed + 10, 30, start=start)
    truth = np.arange(30)
    links = link(one, other, (truth, truth))
    scores = plain_scores(one, other)
    right = scores[truth, truth][:, None]
    close = np.abs(scores - right) <= 1e-9
    assert links.better.tolist() == ((scores > right) & ~close).sum(axis=1).tolist()
    assert links.alike.tolist() == close.sum(axis=1).tolist()
    assert links.within(1) > 3 * links.chance


def test_where_all_are_alike_it_is_chance() -> None:
    rows = [(who, 5.0, 1.0, 0.1, 0.1) for who in range(20)]
    links = link(samples(rows, 20), samples(rows, 20), (np.arange(20), np.arange(20)))
    assert links.within(1) == pytest.approx(links.chance) == pytest.approx(0.05)
    assert links.within(20) == 1


def test_samples_too_wide_to_say_anything_say_nothing() -> None:
    rows = [(who, 5.0, 1.0, who / 10, 0.1) for who in range(10)]
    wide = samples(rows, 10)._replace(east=np.full(10, 5.0), north=np.full(10, 5.0))
    narrow = samples(rows * 30, 10)
    links = link(narrow, wide._replace(trajectory=np.arange(10)), (np.arange(10), np.arange(10)))
    assert links.within(1) == pytest.approx(0.1)


def test_ranks_are_told_in_shares_alone() -> None:
    links = Links(50, np.array([0, 0, 3, 49]), np.array([1, 2, 1, 1]))
    told = links.summary()
    assert (told["first"], told["chance"], told["people"]) == (0.375, 0.02, 4)
    assert told["within"] == {"1": 0.375, "5": 0.75, "10": 0.75}
    assert list(told["rank"]) == ["5%", "25%", "50%", "75%", "95%"]


# --- folders --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two weeks of the same people, each a release of its own."""
    return two_weeks(tmp_path_factory.mktemp("weeks"))


def test_people_are_found_again_in_another_week(weeks: Path) -> None:
    found = link_releases(weeks / "first", weeks / "second")
    assert found.names == ("first", "second")
    assert found.risk > 3 * found.chance
    told = json.dumps(found.to_dict())
    for name in ("first", "second"):
        users = parquet.read_table(weeks / name / "private" / "mapping.parquet")["user"].to_pylist()
        assert len(users) > 30
        assert not [user for user in users if str(user) in told]


def test_a_release_is_found_in_itself(weeks: Path) -> None:
    """Trajectories of a group are the same, so that k of them fit as well as the right one."""
    found = link_releases(weeks / "first", weeks / "first")
    assert found.ways[0].within(1) == pytest.approx(found.ways[1].within(1))
    assert not found.ways[0].better.any()
    assert found.risk <= 0.5


def test_the_truth_is_needed(weeks: Path, tmp_path: Path) -> None:
    shutil.copytree(weeks / "first" / "release", tmp_path / "sent" / "release")
    with pytest.raises(InputError, match="lacks its private part"):
        link_releases(weeks / "first", tmp_path / "sent")
    shutil.copytree(weeks / "first", tmp_path / "others")
    path = tmp_path / "others" / "private" / "mapping.parquet"
    rows = parquet.read_table(path)
    users = [f"somebody {n}" for n in range(len(rows))]
    parquet.write_table(pa.table({"user": users, "trajectory": rows["trajectory"]}), path)
    with pytest.raises(InputError, match="fewer than 10 people are in both"):
        link_releases(weeks / "first", tmp_path / "others")
