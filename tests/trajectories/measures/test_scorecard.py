"""The scorecard and the comparison table: complete, ready for JSON, the same for the same people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.trajectories.measures import (
    comparison_rows,
    comparison_table,
    measure_trajectories,
    take_measures,
)
from tripcloak.trajectories.release.release import Boxes
from worlds.trajectories import identity_release, made, one_box_release, random_release, released

NAMES = {
    "spatial_error_km",
    "time_error_minutes",
    "created",
    "deleted",
    "cost",
    "area_km2",
    "duration_minutes",
    "centre_of_mass_km",
    "radius_of_gyration",
    "hull",
    "home",
    "work",
    "entropy",
    "predictability",
    "displacement_slopes",
}


def leaves(told: Any) -> Iterator[Any]:
    """Yield every value of nested dicts and lists."""
    if isinstance(told, dict | list):
        for value in told.values() if isinstance(told, dict) else told:
            yield from leaves(value)
    else:
        yield told


@given(st.integers(1, 4), st.integers(1, 9), st.integers(0, 10**6), st.booleans())
def test_every_release_has_every_measure_ready_for_json(
    users: int, samples: int, seed: int, deleting: bool
) -> None:
    trajectories = made(users=users, samples=samples, seed=seed)
    found = measure_trajectories(trajectories, random_release(trajectories, seed=seed, deleting=deleting))
    assert found.keys() >= NAMES
    assert {type(value) for value in leaves(found)} <= {float, int, str, type(None)}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_release_of_nobody_has_no_errors_to_tell() -> None:
    trajectories = made(users=3)
    nothing = np.empty(0, dtype=np.int64)
    gone = np.full(3, -1), np.full(trajectories.n_samples, -1)
    found = measure_trajectories(
        trajectories, released(trajectories, np.zeros(1), Boxes(*[nothing] * 6), *gone)
    )
    assert (found["deleted"], found["deleted_users"], found["created"], found["cost"]) == (1, 1, 0, None)
    assert found["spatial_error_km"]["mean"] is None
    assert found["home"]["people"] is None


def test_an_identity_release_is_the_original() -> None:
    trajectories = made(users=12, samples=60, days=7)
    found = measure_trajectories(trajectories, identity_release(trajectories))
    for name in ("spatial_error_km", "time_error_minutes", "centre_of_mass_km"):
        assert set(found[name].values()) == {0.0}
    for name in ("radius_of_gyration", "radius_of_gyration_by_time", "hull"):
        assert set(found[name]["relative_error"].values()) == {0.0}
        assert found[name]["within_10_percent"] == 1
        assert found[name]["original"]["mean"] > 0
    for name in ("home", "work"):
        assert found[name]["within_1_km"] == 1
        assert (found[name]["lost"], found[name]["gained"]) == (0, 0)
    for name in ("entropy", "predictability"):
        assert set(found[name]["difference"].values()) == {0.0}
        assert found[name]["original"]["mean"] > 0
    assert {row["difference"] for row in found["displacement_slopes"].values()} <= {0.0, None}


def test_one_box_for_all_can_be_foretold_and_goes_nowhere() -> None:
    trajectories = made(users=12, samples=60, days=7)
    found = measure_trajectories(trajectories, one_box_release(trajectories))
    assert found["predictability"]["released"]["mean"] == 1
    assert found["predictability"]["original"]["mean"] < 1
    assert set(found["radius_of_gyration"]["relative_error"].values()) == {-1.0}


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_the_order_of_released_trajectories_plays_no_part(seed: int) -> None:
    trajectories = made(users=5, samples=8, seed=seed)
    release = random_release(trajectories, seed=seed, deleting=True)
    turned = trajectories.take(np.arange(trajectories.n_users)[::-1])
    rows = np.concatenate(
        [np.arange(*trajectories.offsets[i : i + 2]) for i in range(trajectories.n_users)[::-1]]
    )
    of = released(turned, release.offsets, release.boxes, release.released_of[::-1], release.box_of[rows])
    found = [list(leaves(measure_trajectories(*pair))) for pair in ((trajectories, release), (turned, of))]
    assert found[0] == pytest.approx(found[1])


def test_the_table_has_the_papers_columns_for_every_release() -> None:
    trajectories = made()
    rows = [
        ({"data": "made", "method": name}, take_measures(trajectories, release).to_dict())
        for name, release in (
            ("itself", identity_release(trajectories)),
            ("one box", one_box_release(trajectories)),
        )
    ]
    lines = comparison_table(rows).splitlines()
    assert lines[0].startswith("| data | method | mean spatial error (km) | mean time error (min) |")
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2].startswith("| made | itself | 0 | 0 | 0 | 0 | 0.01 | 1 | 0.2 |")
    flat = comparison_rows(rows)
    assert flat[1]["spatial_error_km"] == rows[1][1]["spatial_error_km"]["mean"] > 0
    assert flat[1]["method"] == "one box"
