"""Mix zones along roads: crossings of a network, how far zones follow them, and files that are none."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods.mixzones.roads import Roads, Shape, arms_of, read_roads
from tripcloak.trajectories.methods.mixzones.zones import MixZones
from tripcloak.trajectories.model import Grid, Trajectories

GRID = Grid(seconds=10, metres=10, projection="+proj=laea +lat_0=48.9 +lon_0=2.3 +datum=WGS84 +units=m")


def degrees(*points: tuple[float, float]) -> list[list[float]]:
    """Return points that are so many metres east and north of the middle."""
    lon, lat = GRID.unproject(*np.array(points, float).T)
    return np.stack([lon, lat], axis=1).round(7).tolist()


def feature(*points: tuple[float, float], **told: Any) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": told or None,
        "geometry": {"type": "LineString", "coordinates": degrees(*points)},
    }


CROSS = [
    feature((-1000, 0), (0, 0), (1000, 0), maxspeed="50"),
    feature((0, -1000), (0, 0), (0, 1000), speed=20),
]


def written(folder: Path, content: Any) -> Path:
    path = folder / "roads.geojson"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def cross(tmp_path: Path, *more: dict[str, Any]) -> Roads:
    return read_roads(written(tmp_path, {"type": "FeatureCollection", "features": [*CROSS, *more]}))


def drivers(people: int = 40, seed: int = 2) -> Trajectories:
    """Return people who drive along both roads and turn at the crossing, all at about the same time."""
    random = np.random.default_rng(seed)
    ways = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])
    rows = []
    for who in range(people):
        come, go = random.choice(4, 2, replace=False)
        speed = random.uniform(6, 12)
        for at in range(int(1600 / speed / 10)):
            far = -800 + at * 10 * speed
            x, y = ways[come] * -far if far < 0 else ways[go] * far
            rows.append((who, at + who % 3, int(x // 10), int(y // 10)))
    user, t, x, y = np.array(rows).T
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=GRID)


def test_a_crossing_has_its_ways_out_and_their_speeds(tmp_path: Path) -> None:
    arms = arms_of(cross(tmp_path), GRID)
    assert sorted(arm.speed for arm in arms) == [20, 20, 50, 50]
    assert {arm.crossing for arm in arms} == {0}
    for arm in arms:
        assert (abs(arm.x[0]), abs(arm.y[0])) == pytest.approx((0, 0), abs=0.2)
        assert np.hypot(arm.x[-1], arm.y[-1]) == pytest.approx(1000, abs=1)


def test_three_ends_make_a_crossing_and_two_do_not(tmp_path: Path) -> None:
    bend = [feature((0, 0), (500, 0)), feature((500, 0), (500, 500))]
    network = read_roads(written(tmp_path, {"type": "FeatureCollection", "features": bend}))
    assert arms_of(network, GRID) == []
    bend.append(feature((500, 0), (900, 0), maxspeed="30 mph"))
    network = read_roads(written(tmp_path, {"type": "FeatureCollection", "features": bend}))
    assert [arm.speed for arm in arms_of(network, GRID)] == [None, None, pytest.approx(48.28, abs=0.01)]


def test_arms_end_at_the_next_crossing(tmp_path: Path) -> None:
    side = feature((300, 0), (300, 700))
    split = feature((0, 0), (300, 0), (600, 0))
    arms = arms_of(cross(tmp_path, side, split), GRID)
    assert len({arm.crossing for arm in arms}) == 2
    assert min(np.hypot(np.diff(arm.x), np.diff(arm.y)).sum() for arm in arms) == pytest.approx(300, abs=1)


@pytest.mark.parametrize("bits", [0.1, 0.5, 0.9])
def test_a_zone_is_as_long_as_the_entropy_of_two_who_go_in_asks_for(bits: float) -> None:
    shape = Shape(width=9999, within=8.0, entropy=bits, speed=36.0, spread=0.25, breadth=10)
    length = shape.reach(None)
    deviation = 0.25 * length / 10.0
    # The first is expected just now, the other went in eight seconds later: two bell curves side by side.
    likely = [math.exp(-((late / deviation) ** 2) / 2) for late in (0.0, 8.0)]
    share = likely[0] / sum(likely)
    assert -(share * math.log2(share) + (1 - share) * math.log2(1 - share)) == pytest.approx(bits, abs=1e-6)
    assert shape.reach(72.0) == pytest.approx(2 * length)


def test_zones_follow_roads_further_where_people_are_faster(tmp_path: Path) -> None:
    people = drivers()
    method = MixZones(k=3, shape="roads", roads=cross(tmp_path), width=1200, within=2.0, breadth=20)
    release = method.anonymise(people)
    rows = np.array(release.facts["zones"])
    east, north = rows[:, 2].max() - rows[:, 1].min(), rows[:, 4].max() - rows[:, 3].min()
    # 50 km/h to the sides, 20 upwards and downwards; 20 metres of breadth on either side.
    assert 1.8 < (east - 4) / (north - 4) < 3.2
    held = sum((row[2] - row[1]) * (row[4] - row[3]) for row in rows.tolist())
    assert held < 0.6 * east * north
    assert release.facts["people_who_change"] > 20
    assert audit_release(people, release).safe
    assert "roads" not in release.parameters
    assert release.parameters["entropy"] == 0.9


def test_zones_are_never_wider_than_they_may_be(tmp_path: Path) -> None:
    people = drivers()
    release = MixZones(k=3, shape="roads", roads=cross(tmp_path), width=300, entropy=1.0).anonymise(people)
    rows = np.array(release.facts["zones"])
    assert 20 <= rows[:, 2].max() - rows[:, 1].min() <= 30
    assert audit_release(people, release).safe
    with pytest.raises(ImpossibleRequestError, match="no room for roads 100 metres broad"):
        MixZones(k=3, shape="roads", roads=cross(tmp_path), width=110).anonymise(people)


def test_a_network_is_needed_read_once_and_of_use_for_roads_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"need a network of roads.*roads='FILE'"):
        MixZones(shape="roads").anonymise(drivers(people=6))
    path = written(tmp_path, {"type": "FeatureCollection", "features": CROSS})
    method = MixZones.asked(3, shape="roads", roads=str(path))
    assert isinstance(method.roads, Roads)
    assert "2 lines" in repr(method)
    with pytest.raises(InputError, match=r"of use for shape=.roads. only"):
        MixZones.asked(3, roads=str(path))
    with pytest.raises(InputError, match="0 to 1 bits"):
        MixZones(entropy=1.5)
    assert set(MixZones().parameters()) == {"shape", "width", "longest", "changes", "coverage"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no GeoJSON"),
        ("[]", "cannot be understood"),
        ({"type": "FeatureCollection"}, "cannot be understood"),
        ({"type": "LineString", "coordinates": [[0, 0], [0, 99]]}, "cannot be understood"),
        ({"type": "FeatureCollection", "features": []}, "holds no lines"),
        ({"type": "Point", "coordinates": [2, 48]}, "holds no lines"),
    ],
)
def test_files_that_are_no_roads_are_refused_in_words(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_roads(written(tmp_path, content))


def test_a_file_that_is_not_there_and_roads_that_never_meet_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_roads(tmp_path / "nowhere.geojson")
    alone = read_roads(written(tmp_path, CROSS[0]))
    with pytest.raises(ImpossibleRequestError, match="no three roads meet"):
        MixZones(k=2, shape="roads", roads=alone).anonymise(drivers(people=6))
    elsewhere = [feature((90_000 + x, y), (90_500, 0)) for x, y in ((0, 0), (500, 500), (900, 0))]
    network = read_roads(written(tmp_path, {"type": "FeatureCollection", "features": elsewhere}))
    with pytest.raises(ImpossibleRequestError, match="in no zone around a crossing of 500 metres"):
        MixZones(k=2, shape="roads", roads=network).anonymise(drivers(people=6))
