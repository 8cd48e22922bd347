"""The screen begins with what came of the data in plain words, and says when that is of no use."""

from __future__ import annotations

import numpy as np
import pytest

from tripcloak.promises import CoLocation, Containment, TrajectoryPromise
from tripcloak.records.cleaning import CleaningReport
from tripcloak.trajectories import Boxes, Grid, Trajectories, TrajectorySolution
from tripcloak.trajectories.measures import measure_trajectories
from tripcloak.trajectories.reading import ReadTrajectories, TrajectorySource, describe_trajectories
from tripcloak.trajectories.release.guess import OwnerGuess
from tripcloak.trajectories.release.release import build_trajectory_release
from tripcloak.trajectories.report.plain import plain_words, useless

DAY = 24 * 60


def words(
    *,
    minutes: int,
    km: int,
    k: int = 4,
    people: int = 12,
    promise: TrajectoryPromise | None = None,
    wide: int = 4000,
) -> tuple[str, ...]:
    """Return what is said of people of whom the last is deleted, all others being in one box each."""
    made = Trajectories.of(
        user=[f"u{n:02}" for n in range(people)],
        t=[0] * people,
        x=np.arange(people) * wide // people,
        y=np.arange(people) * wide // people,
        grid=Grid(),
    )
    kept = people - 1
    box = (made.t, made.t + minutes, made.x, made.x + 10 * km, made.y, made.y + 10 * km)
    solution = TrajectorySolution(
        np.arange(kept + 1),
        Boxes(*(side[:kept] for side in box)),
        np.append(np.arange(kept), -1),
        np.append(np.arange(kept), -1),
        {},
    )
    promise = promise or Containment(k=k)
    release = build_trajectory_release(made, solution, promise=promise, method="by hand", parameters={})
    reading = ReadTrajectories(
        trajectories=made,
        cleaning=CleaningReport(kept=60, dropped={"jump": 10, "duplicate": 30, "outside_box": 900}),
        notes=[],
        facts=describe_trajectories(made),
        source=TrajectorySource(paths=("a.csv",)),
    )
    guess = OwnerGuess(people=1000, right=62, blind=19)
    return plain_words(reading, release, measure_trajectories(made, release), guess)


def test_it_is_said_how_coarse_how_much_is_withheld_and_how_good_a_guess_is() -> None:
    told = words(minutes=90, km=3)
    assert told[0].startswith("11 trajectories of 11 samples are released; what is known of a person fits 4")
    assert "a box 3 km across that lasts 1.5 hours" in told[1]
    assert told[2].startswith("8.3% of the people and 8.3% of the samples are withheld; 10.0% of the fixes")
    assert told[3].startswith("A simple guess by somebody")
    assert told[3].endswith("(a blind guess for 19).")
    assert len(told) == 4


@pytest.mark.parametrize(
    ("minutes", "km", "untold"),
    [(DAY - 1, 49, ""), (DAY, 49, "when"), (DAY - 1, 50, "where"), (9 * DAY, 175, "where or when")],
)
def test_useless_precision_is_said_to_be_useless(minutes: int, km: int, untold: str) -> None:
    told = words(minutes=minutes, km=km, wide=40_000)
    if not untold:
        assert len(told) == 4
        return
    assert f"useless to tell {untold} people were. What would help: a smaller k (k=2)" in told[-1]
    assert ("box=" in told[-1]) is ("where" in untold)
    assert ("since=" in told[-1]) is ("when" in untold)
    assert told[-1].endswith("or more people.")


def test_half_of_all_there_is_tells_nothing_either() -> None:
    assert useless(60, 9.9, (20.0, 20.0)) == ()
    assert useless(60, 10.0, (20.0, 20.0)) == ("where",)
    assert useless(60, 10.0, None) == ()
    assert useless(60, 10.0, (0.0, 0.0)) == ()


def test_a_smaller_k_is_no_help_where_there_is_none() -> None:
    assert "smaller k" not in words(minutes=DAY, km=3, k=2)[-1]


def test_of_moved_samples_it_is_said_how_far() -> None:
    told = words(minutes=9 * DAY, km=175, promise=CoLocation(k=2, delta=100.0))
    assert "were moved by" in told[1]
    assert not any("useless" in one for one in told)


def test_nobody_is_called_people_who_is_none() -> None:
    told = words(minutes=9 * DAY, km=175, promise=Containment(k=4, id_is="vehicle"))
    assert "8.3% of the vehicles" in told[2]
    assert "where or when vehicles were" in told[-1]
    assert told[-1].endswith("or more vehicles.")
