"""Noisy trajectories under a ledger: they pay from the account of all noise of the same people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc
from tripcloak.flows.methods.noise import Laplace
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ledger.account import Cap
from tripcloak.ledger.releasing import anonymise_with_ledger
from tripcloak.ledger.store import Ledger, init_ledger, open_ledger
from tripcloak.ledger.trajectories import anonymise_trajectories_with_ledger
from tripcloak.trajectories.anonymise import TrajectoryRequest
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource
from worlds.folders import contents
from worlds.ledgers import asked as asked_flows
from worlds.trajectories import made
from worlds.trips import some_trips, write_csv

PLENTY = 100.0
"""An epsilon so large that noise takes hardly anything away from few people."""


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trips(tmp_path_factory.mktemp("people") / "trips.csv")


def write_trips(path: Path, seed: int = 1) -> Path:
    rows = some_trips(1200, people=200, seed=seed)
    sex = {row["person_id"]: "FM"[n % 2] for n, row in enumerate(rows)}
    ends = [f"{row['start_time'][:-2]}59" for row in rows]
    told = [
        {**row, "end_time": end, "sex": sex[row["person_id"]]} for row, end in zip(rows, ends, strict=True)
    ]
    return write_csv(path, told)


def asked(
    trips: Path, out: Path, *, method: str = "safepath", where: str | None = None, **own: Any
) -> TrajectoryRequest:
    options = {"epsilon": PLENTY, "interval": 86400, **own}
    return TrajectoryRequest(
        source=TrajectorySource(paths=(str(trips),), where=where),
        method=find_trajectory_method(method)(**options),
        out=out,
    )


def spent(ledger: Ledger) -> float:
    return open_ledger(ledger.folder).account.epsilon


@pytest.mark.parametrize("method", ["safepath", "dptd", "locations", "adatrace"])
def test_every_noisy_method_pays_before_it_draws(trips: Path, tmp_path: Path, method: str) -> None:
    ledger = init_ledger(tmp_path / "ledger", cap=Cap(1.5 * PLENTY))
    outcome, recorded = anonymise_trajectories_with_ledger(
        asked(trips, tmp_path / "first", method=method), ledger
    )
    assert recorded.of_trajectories
    assert recorded.may_be_published
    assert recorded.facts["groups"] == outcome.release.n_released
    assert recorded.facts["records"] == 200
    assert outcome.notes[-1].endswith("of a cap of epsilon 150; 50 is left")
    before = contents(ledger.folder)
    with pytest.raises(ImpossibleRequestError, match=r"epsilon=50\.0 would do"):
        anonymise_trajectories_with_ledger(asked(trips, tmp_path / "second", method=method), ledger)
    assert not (tmp_path / "second").exists()
    assert contents(ledger.folder) == before
    anonymise_trajectories_with_ledger(
        asked(trips, tmp_path / "third", method=method, epsilon=PLENTY / 2), ledger
    )
    assert spent(ledger) == pytest.approx(1.5 * PLENTY)
    assert not open_ledger(ledger.folder).faults()


def test_flows_and_trajectories_of_the_same_people_pay_from_one_account(trips: Path, tmp_path: Path) -> None:
    ledger = init_ledger(tmp_path / "ledger")
    noisy = Laplace(epsilon=PLENTY, delta=1e-6)
    anonymise_with_ledger(asked_flows(trips, tmp_path / "flows", method=noisy, spec="h3:6"), ledger)
    anonymise_trajectories_with_ledger(asked(trips, tmp_path / "paths"), ledger)
    assert spent(ledger) == pytest.approx(2 * PLENTY)
    ledger.rotate()
    anonymise_trajectories_with_ledger(asked(trips, tmp_path / "again", epsilon=PLENTY / 2), ledger)
    assert spent(ledger) == pytest.approx(2.5 * PLENTY)


def test_other_people_pay_for_themselves(trips: Path, tmp_path: Path) -> None:
    ledger = init_ledger(tmp_path / "ledger", cap=Cap(PLENTY))
    for sex in "FM":
        anonymise_trajectories_with_ledger(asked(trips, tmp_path / sex, where=f"sex = '{sex}'"), ledger)
    assert spent(ledger) == pytest.approx(PLENTY)
    with pytest.raises(ImpossibleRequestError, match="Nothing is possible for all of them"):
        anonymise_trajectories_with_ledger(asked(trips, tmp_path / "all"), ledger)


def test_other_data_are_not_taken_for_the_same_people(trips: Path, tmp_path: Path) -> None:
    ledger = init_ledger(tmp_path / "ledger")
    anonymise_trajectories_with_ledger(asked(trips, tmp_path / "first"), ledger)
    others = write_trips(tmp_path / "others.csv", seed=2)
    with pytest.raises(InputError, match="nobody in this input is in the ledger"):
        anonymise_trajectories_with_ledger(asked(others, tmp_path / "second"), ledger)


def test_who_hides_less_than_a_person_pays_for_a_whole_one() -> None:
    """A visit that is replaced changes a path twice, a person who is left out once, and all visits."""
    trajectories = made(users=30, seed=1)
    costs = {}
    for unit in ("user", "event", "w-event", "element"):
        method: Any = find_trajectory_method("dptd")(epsilon=1.0, unit=unit, window=2, length=12)
        costs[unit] = method.cost_of_a_user(trajectories)
    parts: dict[str, float] = {
        part.name: part.epsilon
        for part in find_trajectory_method("dptd")(epsilon=1.0, length=12).planned(trajectories)  # type: ignore[attr-defined]
    }
    levels = sum(cost for name, cost in parts.items() if name.startswith("level"))
    # Places: 12 of a user against 2 of an event; moves: 11 against 4; starts and levels: 1 against 2.
    event = 6 * parts["places"] + 11 / 4 * parts["moves"] + (parts["starts"] + levels) / 2
    window = 3 * parts["places"] + 11 / 6 * parts["moves"] + (parts["starts"] + levels) / 2
    assert costs == pytest.approx({"user": 1.0, "event": event, "w-event": window, "element": 0.5}, rel=1e-6)


def test_noise_that_came_to_nothing_counts(
    trips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*given: Any, **named: Any) -> None:
        raise OSError(28, "No space left on device")

    ledger = init_ledger(tmp_path / "ledger")
    monkeypatch.setattr("tripcloak.ledger.trajectories.write_trajectories", full_disk)
    with pytest.raises(OSError, match="No space"):
        anonymise_trajectories_with_ledger(asked(trips, tmp_path / "out"), ledger)
    (release,) = open_ledger(ledger.folder).releases
    assert release.state == "abandoned"
    assert spent(ledger) == pytest.approx(PLENTY)


@pytest.mark.parametrize(
    ("method", "own", "words"),
    [
        ("k-scale", {}, "k-scale draws none"),
        ("dptd", {"variant": "published", "epsilon": 1.0}, "is not differentially private"),
    ],
)
def test_what_has_no_account_is_refused_before_it_is_made(
    trips: Path, tmp_path: Path, method: str, own: dict[str, Any], words: str
) -> None:
    ledger = init_ledger(tmp_path / "ledger")
    request = TrajectoryRequest(
        source=TrajectorySource(paths=(str(trips),)),
        method=find_trajectory_method(method)(**own),
        out=tmp_path / "out",
    )
    with pytest.raises(InputError, match=words):
        anonymise_trajectories_with_ledger(request, ledger)
    assert not (tmp_path / "out").exists()
    assert len(open_ledger(ledger.folder).entries) == 1


def test_from_python_it_is_charged_and_recorded_too(trips: Path, tmp_path: Path) -> None:
    ledger = init_ledger(tmp_path / "ledger")
    ask = {"method": "safepath", "epsilon": PLENTY, "interval": 86400, "ledger": ledger.folder}
    with pytest.raises(InputError, match="say where to save"):
        tc.trajectories.anonymise(trips, **ask)  # type: ignore[arg-type]
    made_so = tc.trajectories.anonymise(trips, out=tmp_path / "out", needs_approvals=1, **ask)  # type: ignore[arg-type]
    (release,) = open_ledger(ledger.folder).releases
    assert release.name == "out"
    assert not release.may_be_published
    assert made_so.audit().safe
    assert spent(ledger) == pytest.approx(PLENTY)
