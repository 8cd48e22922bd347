"""The account of noise: person by person, up to the cap and no further, whatever becomes of a run."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import accounts as oracle
from tripcloak.flows.anonymise import MadeRelease, write_release
from tripcloak.flows.methods.noise import Laplace
from tripcloak.flows.methods.noise.composing import Spending, composed, epsilon_at
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.noise import largest_rho
from tripcloak.ledger.account import Account, Cap, OverdrawnError, read_together
from tripcloak.ledger.adding import add_release
from tripcloak.ledger.disclosure import ABSENT
from tripcloak.ledger.releasing import anonymise_with_ledger
from tripcloak.ledger.store import Ledger, open_ledger, spent
from tripcloak.ledger.store.columns import KnownRecords
from tripcloak.ledger.store.describing import flows_to_record
from tripcloak.ledger.store.spent import Charges, told_together
from worlds.depth import deeper
from worlds.folders import contents
from worlds.ledgers import Releases, asked, publish
from worlds.trips import some_trips, without, write_csv

NewLedger = Callable[..., Ledger]
COSTS = [
    Spending(0.5),
    Spending(1.0, 1e-7),
    Spending(0.01),
    Spending(1.0, 1e-6, largest_rho(1.0, 1e-6)),
    Spending(0.3, 1e-6, largest_rho(0.3, 1e-6)),
]


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[Spending, set[int]]]:
    """Draw noisy releases: what each costs, and which of ten records are in it."""
    some = st.sets(st.integers(0, 9), min_size=1)
    return draw(st.lists(st.tuples(st.sampled_from(COSTS), some), min_size=1, max_size=6))


@settings(max_examples=deeper(30))
@given(histories(), st.lists(st.integers(0, 4), min_size=10, max_size=10), st.sampled_from([0.0, 1e-6, 1e-4]))
def test_the_account_is_that_of_whoever_pays_most(
    history: list[tuple[Spending, set[int]]], whose: list[int], delta: float
) -> None:
    person = np.array(whose, dtype=np.uint64) + np.uint64(100)
    known = KnownRecords(np.arange(10, dtype=np.uint64), person, np.ones(10, dtype=np.int64))
    columns = [np.array([-1 if n in inside else ABSENT for n in range(10)]) for _, inside in history]
    charges = Charges.of(known, zip([cost for cost, _ in history], columns, strict=True))
    # What is kept in the chain is enough to tell it again.
    together = read_together(told_together(charges.together()))
    account = Account(Cap(1.0, delta), (), together)
    brute = oracle.spent(((cost, {whose[n] for n in inside}) for cost, inside in history), delta)
    assert account.epsilon == pytest.approx(brute, rel=1e-4)
    rho = [
        sum(cost.as_rho for cost, inside in history if any(whose[n] == one for n in inside)) for one in whose
    ]
    assert account.rho == pytest.approx(max(rho))


def test_too_many_sets_of_releases_are_charged_as_the_largest_could_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody is in all three; where sets are too many to look at each, somebody is taken to be."""
    record = np.arange(3, dtype=np.uint64)
    known = KnownRecords(record, record + np.uint64(100), np.ones(3, dtype=np.int64))
    kinds = [Spending(float(n)) for n in (1, 2, 4)]
    charges = Charges.of(known, ((kind, np.where(record == n, ABSENT, -1)) for n, kind in enumerate(kinds)))
    assert sorted(sum(one.epsilon for one in told) for told in charges.together()) == [3.0, 5.0, 6.0]
    monkeypatch.setattr(spent, "MOST_SETS", 3)
    assert len(charges.together()) == 3
    monkeypatch.setattr(spent, "MOST_SETS", 2)
    assert charges.together() == [tuple(kinds)]


@pytest.mark.parametrize(
    ("cap", "within", "hair"),
    [
        (Cap(3.0, 0.0), [Spending(1.0)] * 3, Spending(1e-9)),
        (Cap(0.3, 0.0), [Spending(0.1), Spending(0.2)], Spending(1e-9)),
        (Cap(2.0, 2e-6), [Spending(1.0, 1e-6)] * 2, Spending(1e-3, 1e-12)),
        (Cap(1.0, 1e-6), [COSTS[3]], Spending(1e-6)),
    ],
    ids=["three times one", "decimals", "thresholds", "Gaussian"],
)
def test_the_edge_of_a_cap(cap: Cap, within: list[Spending], hair: Spending) -> None:
    assert cap.holds(within)
    assert not cap.holds([*within, hair])


def test_chances_are_held_to_the_cap_as_well() -> None:
    assert Cap(9.0, 1e-6).holds([Spending(1.0, 1e-6)])
    assert not Cap(9.0, 1e-6).holds([Spending(1.0, 1.001e-6)])
    assert not Cap(9.0, 0.0).holds([COSTS[3]])
    assert epsilon_at([Spending(1.0, 1e-6)] * 2, 1e-6) == math.inf
    assert epsilon_at((), 0.0) == composed(()).epsilon == 0.0


def test_many_small_ones_cost_less_than_their_sum() -> None:
    """Where zCDP is tighter it is taken, of Laplace's noise too."""
    assert epsilon_at([Spending(0.01)] * 200, 1e-6) < 1.0
    assert epsilon_at([COSTS[3]] * 4, 1e-6) < 2.2
    together = epsilon_at([Spending(1.0), COSTS[4]], 1e-6)
    assert together == pytest.approx(1.3, abs=1e-3)


@pytest.fixture(scope="module")
def noisy(releases: Releases) -> MadeRelease:
    return releases.made(method=laplace())


def laplace(epsilon: float = 4.0, **options: Any) -> Laplace:
    """Return a method with so little noise that something is published of 300 trips."""
    return Laplace(**{"epsilon": epsilon, "delta": 1e-7, "height": 3, "contributions": 4, **options})


def test_a_cap_refuses_before_noise_is_drawn(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = new_ledger(cap=Cap(8.0, 1e-6))
    for name in ("one", "two"):
        outcome, release = anonymise_with_ledger(
            asked(releases.trips, tmp_path / name, method=laplace()), ledger
        )
        assert release.facts["spent"] is not None
    assert any(
        "epsilon 8 at delta 1e-06 (rho 16), of a cap of epsilon 8; 0 is left" in n for n in outcome.notes
    )
    before = contents(ledger.folder)
    monkeypatch.setattr(Laplace, "draw", lambda *_: pytest.fail("noise was drawn"))
    with pytest.raises(
        ImpossibleRequestError, match=r"epsilon 8 is spent already, and 0 is left\. Nothing is"
    ):
        anonymise_with_ledger(asked(releases.trips, tmp_path / "three", method=laplace(0.01)), ledger)
    assert contents(ledger.folder) == before
    assert not (tmp_path / "three").exists()


def test_what_is_left_is_said_and_is_possible(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    ledger = new_ledger(cap=Cap(6.0, 1e-6))
    anonymise_with_ledger(asked(releases.trips, tmp_path / "one", method=laplace()), ledger)
    with pytest.raises(OverdrawnError, match=r"2 is left\. epsilon=2\.0 would do"):
        anonymise_with_ledger(asked(releases.trips, tmp_path / "two", method=laplace()), ledger)
    with pytest.raises(OverdrawnError, match=r"epsilon=2\.0 with delta=4\.\d+e-07 would do"):
        anonymise_with_ledger(
            asked(releases.trips, tmp_path / "two", method=laplace(2.0, delta=1e-6)), ledger
        )
    anonymise_with_ledger(asked(releases.trips, tmp_path / "two", method=laplace(2.0)), ledger)
    assert ledger.account.left == (0.0, pytest.approx(8e-7))


def test_a_delta_that_is_spent_is_said_beside_the_epsilon_that_is_left(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    """What is left of epsilon is no promise where thresholds have no chance left to fail."""
    ledger = new_ledger(cap=Cap(8.0, 1e-7))
    outcome, _ = anonymise_with_ledger(asked(releases.trips, tmp_path / "one", method=laplace()), ledger)
    assert any(
        note.endswith("of a cap of epsilon 8; 4 is left but nothing of its delta") for note in outcome.notes
    )
    assert ledger.account.left == (4.0, 0.0)
    with pytest.raises(
        OverdrawnError, match=r"4 is left but nothing of its delta\. Deltas add up.*`tripcloak"
    ):
        anonymise_with_ledger(asked(releases.trips, tmp_path / "two", method=laplace(0.1)), ledger)


def test_people_who_are_in_one_release_alone_pay_for_one(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    """Halves of the people cost what one of them costs; halves of their trips do not."""
    people = sorted({row["person_id"] for row in some_trips(300, spread=0.01)})
    middle = people[len(people) // 2]
    ledger = new_ledger(cap=Cap(4.0, 1e-6))
    for name, where in (("low", f"person_id < '{middle}'"), ("high", f"person_id >= '{middle}'")):
        request = asked(releases.trips, tmp_path / name, method=laplace(), source={"where": where})
        anonymise_with_ledger(request, ledger)
    assert ledger.account.epsilon == 4.0
    request = asked(releases.trips, tmp_path / "women", method=laplace(0.1), source={"where": "sex = 'F'"})
    with pytest.raises(OverdrawnError):
        anonymise_with_ledger(request, ledger)


def test_trips_of_another_period_pay_by_themselves(new_ledger: NewLedger, tmp_path: Path) -> None:
    """Where nobody is told apart a single trip is hidden, and no trip is in two periods."""
    trips = write_csv(tmp_path / "trips.csv", without(some_trips(300, spread=0.01), "person_id"))
    ledger = new_ledger(cap=Cap(4.0, 1e-6))
    early, late = "start_time < '2024-05-20'", "start_time >= '2024-05-20'"
    for name, where in (("early", early), ("late", late)):
        anonymise_with_ledger(
            asked(trips, tmp_path / name, method=laplace(), source={"where": where}), ledger
        )
    assert ledger.account.epsilon == 4.0
    with pytest.raises(OverdrawnError):
        anonymise_with_ledger(asked(trips, tmp_path / "all", method=laplace(0.1)), ledger)


def test_what_failed_or_was_withdrawn_still_counts(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tripcloak.ledger import releasing

    ledger = new_ledger()

    def fails(*_: Any, **__: Any) -> None:
        raise InputError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(Laplace, "anonymise", fails)
        with pytest.raises(InputError, match="no room"):
            anonymise_with_ledger(asked(releases.trips, tmp_path / "one", method=laplace()), ledger)
    assert (ledger.account.epsilon, ledger.releases) == (4.0, ())
    assert ledger.account.spent[0].words() == "drawn, and never released; it counts"
    with monkeypatch.context() as patched:
        patched.setattr(releasing, "write_release", fails)
        with pytest.raises(InputError, match="no room"):
            anonymise_with_ledger(asked(releases.trips, tmp_path / "one", method=laplace()), ledger)
    assert (ledger.account.epsilon, ledger.releases[0].state) == (8.0, "abandoned")
    # The first entry that was paid for the same is taken; how many there are is what counts.
    assert [one.release for one in ledger.account.spent] == [1, None]
    _, release = anonymise_with_ledger(asked(releases.trips, tmp_path / "one", method=laplace()), ledger)
    ledger.withdraw(release, reason="wrong", never_published=True)
    account = open_ledger(ledger.folder).account
    assert (account.epsilon, [one.release for one in account.spent]) == (12.0, [1, 2, None])
    assert ledger.faults() == []


def test_two_runs_cannot_both_spend_the_last(
    new_ledger: NewLedger, noisy: MadeRelease, tmp_path: Path
) -> None:
    ledger = new_ledger(cap=Cap(4.0, 1e-6))
    told = flows_to_record(noisy)
    assert told.charge is not None
    codes = []
    for _ in range(2):
        child = os.fork()
        if not child:
            code = 9
            try:
                # Both were opened before either has spent anything.
                ledger.spend(told.charge, told.offered)
                code = 0
            except OverdrawnError:
                code = 1
            finally:
                os._exit(code)
        codes.append(child)
    ended = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in codes)
    assert ended == [0, 1]
    assert len(open_ledger(ledger.folder).account.spent) == 1


def test_a_release_that_was_not_charged_is_charged_when_it_is_recorded(
    new_ledger: NewLedger, releases: Releases, noisy: MadeRelease, tmp_path: Path
) -> None:
    ledger = new_ledger(cap=Cap(4.0, 1e-6))
    publish(ledger, noisy, tmp_path / "one")
    before = contents(ledger.folder)
    with pytest.raises(OverdrawnError):
        publish(ledger, noisy, tmp_path / "two")
    assert contents(ledger.folder) == before
    # One that is out already is charged whatever the cap.
    write_release(releases.made(method=laplace(3.0)), tmp_path / "old")
    add_release(tmp_path / "old", ledger)
    assert ledger.account.overdrawn
    assert ledger.account.epsilon == 7.0
    assert "OVERDRAWN" in ledger.account.words()


def test_another_key_knows_who_paid(new_ledger: NewLedger, releases: Releases, tmp_path: Path) -> None:
    ledger = new_ledger(cap=Cap(4.0, 1e-6))
    anonymise_with_ledger(asked(releases.trips, tmp_path / "one", method=laplace()), ledger)
    ledger.rotate()
    assert ledger.account.epsilon == 4.0
    with pytest.raises(OverdrawnError):
        anonymise_with_ledger(asked(releases.trips, tmp_path / "two", method=laplace(0.1)), ledger)
    assert ledger.faults() == []


def test_exact_releases_are_outside_the_account(
    new_ledger: NewLedger, releases: Releases, noisy: MadeRelease, tmp_path: Path
) -> None:
    ledger = new_ledger(cap=Cap(4.0, 1e-6))
    publish(ledger, noisy, tmp_path / "noisy")
    publish(ledger, releases.first, tmp_path / "exact")
    assert [one.release for one in ledger.account.spent] == [1]
    assert ledger.releases[1].facts["spent"] is None
    assert [one.name for one in ledger.disclosures()] == ["exact"]


def test_a_cap_is_set_anew_in_the_chain(new_ledger: NewLedger, noisy: MadeRelease, tmp_path: Path) -> None:
    ledger = new_ledger()
    assert ledger.account.cap is None
    publish(ledger, noisy, tmp_path / "one")
    assert ledger.account.words() == "Spent: epsilon 4 at delta 1e-07 (rho 8); no cap."
    ledger.set_cap(Cap(5.0), reason="the board")
    assert open_ledger(ledger.folder).account.left == (1.0, pytest.approx(9e-7))
    assert ledger.entries[-1].content == {"cap": {"epsilon": 5.0, "delta": 1e-6}, "reason": "the board"}
    with pytest.raises(InputError, match="say why"):
        ledger.set_cap(Cap(9.0), reason=" ")
    for epsilon, delta in (
        (0.0, None),
        (math.inf, None),
        (math.nan, None),
        (1.0, 1.0),
        (1.0, -0.1),
        (None, 0.1),
    ):
        with pytest.raises(InputError, match="cap"):
            Cap.asked(epsilon, delta)
    assert Cap.asked(None, None) is None
    assert Cap.asked(3, 0) == Cap(3.0, 0.0)
