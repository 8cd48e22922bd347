"""tripcloak ledger: the whole life of releases in a ledger, and what is said of bad ones."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc
from tripcloak.cli.run import run
from tripcloak.ground.errors import InputError
from tripcloak.ledger.store import open_ledger
from worlds.folders import contents
from worlds.trips import some_trips, write_csv


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with trips, a ledger that asks for an approval, a release in it, and a key."""
    place = tmp_path_factory.mktemp("kept")
    rows = [{**row, "sex": "FM"[n % 2]} for n, row in enumerate(some_trips(300, spread=0.01))]
    write_csv(place / "trips.csv", rows)
    made = ["anonymise", place / "trips.csv", "--hierarchy", "h3:8", "--k", 5, "--method", "odkanon"]
    for order in (
        ["ledger", "init", place / "ledger", "--needs-approvals", 1],
        [*made, "--out", place / "may", "--ledger", place / "ledger"],
        ["keygen", place / "officer"],
    ):
        assert run([str(word) for word in order]) == 0
    return place


@pytest.fixture
def place(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "160")
    return Path(shutil.copytree(kept, tmp_path / "copy"))


def test_a_new_ledger_says_what_to_do_with_it(tripcloak, tmp_path):
    told = tripcloak("ledger", "init", tmp_path / "ledger")
    assert told.code == 0
    assert f"--ledger {tmp_path / 'ledger'}" in told.out
    assert "Keep a copy" in told.out
    assert tripcloak("ledger", "list", tmp_path / "ledger").out.startswith("No release yet")
    told = tripcloak("ledger", "init", tmp_path / "more", "--needs-approvals", 2, "--json")
    assert told.json["approvals_needed"] == 2
    again = tripcloak("ledger", "init", tmp_path / "more")
    assert again.code == 2
    assert "already" in again.words


def test_the_timeline(tripcloak, place):
    told = tripcloak("ledger", "list", place / "ledger")
    assert told.code == 0
    words, *_ = told.out.splitlines()
    assert words == "1 release, of which 1 count as published. 1 may not be published yet."
    for cell in ("may", "at least 5 people", "2024-05-10 to", "0 of 1", "released"):
        assert cell in told.out
    (release,) = tripcloak("ledger", "list", place / "ledger", "--json").json["releases"]
    assert release["promise"]["k"] == 5
    assert release["hierarchy"]["spec"] == "h3:8"
    assert release["covered"]["period"] == ["2024-05-10", "2024-05-29"]
    assert not release["may_be_published"]
    assert "manifest.json" in release["files"]
    assert "seal" not in told.out


def test_a_release_from_before_there_was_a_ledger(tripcloak, place):
    tripcloak("ledger", "init", place / "later")
    told = tripcloak("ledger", "add", place / "may", "--ledger", place / "later")
    assert told.code == 0
    assert "release 1 (may). It may be published" in told.out
    (one,), (other,) = (open_ledger(place / name).releases for name in ("ledger", "later"))
    differ = {name for name in one.facts if one.facts[name] != other.facts[name]}
    assert differ == {"approvals_needed", "data", "folder"}
    assert one.released.content == other.released.content
    numbers = [open_ledger(place / name).disclosures()[0].trips.tolist() for name in ("ledger", "later")]
    assert numbers[0] == numbers[1]
    again = tripcloak("ledger", "add", place / "may", "--ledger", place / "later")
    assert again.code == 2
    assert "in the ledger already, as release 1" in again.words
    shutil.rmtree(place / "may/private")
    before = contents(place)
    tripcloak("ledger", "init", place / "last")
    missing = tripcloak("ledger", "add", place / "may", "--ledger", place / "last")
    assert missing.code == 2
    assert "run.json is missing" in missing.words
    assert open_ledger(place / "last").releases == ()
    shutil.rmtree(place / "last")
    assert contents(place) == before


def test_an_approval_lets_a_release_go(tripcloak, place):
    where = ("--ledger", place / "ledger")
    order = ("ledger", "approve", "may", *where, "--by", "Data Protection", "--key", place / "officer.key")
    refused = tripcloak(*order, "--verdict", "reject", "--comment", "too fine")
    assert refused.code == 0
    assert "NOT be published yet: 0 of 1 approve, 1 reject" in refused.out
    told = tripcloak("ledger", "show", place / "may", *where)
    assert "too fine" in told.out
    assert "as they were recorded" in told.out
    agreed = tripcloak(*order)
    assert agreed.code == 0
    assert "It may be published" in agreed.out
    facts = tripcloak("ledger", "show", 1, *where, "--json").json
    assert facts["may_be_published"]
    assert [one["verdict"] for one in facts["approvals"]] == ["reject", "approve"]
    assert tripcloak("ledger", "verify", place / "ledger").code == 0


def test_what_was_withdrawn_still_counts(tripcloak, place):
    where = ("--ledger", place / "ledger")
    assert tripcloak("ledger", "withdraw", "may", *where, "--reason", "wrong period").code == 0
    facts = tripcloak("ledger", "show", "may", *where, "--json").json
    assert (facts["state"], facts["counts"], facts["withdrawn"]) == ("withdrawn", True, "wrong period")
    told = tripcloak("ledger", "show", "may", *where)
    assert "wrong period" in told.out
    again = tripcloak("ledger", "withdraw", "may", *where, "--reason", "again")
    assert again.code == 2
    assert "withdrawn already" in again.words


def test_what_nobody_ever_had_does_not(tripcloak, place):
    order = ("ledger", "withdraw", "may", "--ledger", place / "ledger", "--reason", "stopped")
    assert not tripcloak(*order, "--never-published", "--json").json["counts"]
    assert "does not count" in tripcloak("ledger", "list", place / "ledger").out


def test_a_new_key(tripcloak, place):
    before = (place / "ledger/key").read_bytes()
    told = tripcloak("ledger", "rotate", place / "ledger")
    assert told.code == 0
    assert "Keep a copy" in told.out
    assert (place / "ledger/key").read_bytes() != before
    assert tripcloak("ledger", "verify", place / "ledger", "--json").json["whole"]
    assert tripcloak("ledger", "rotate", place / "ledger", "--json").code == 0


def test_a_ledger_is_verified(tripcloak, place):
    ledger = place / "ledger"
    head = open_ledger(ledger).entries[1].digest
    told = tripcloak("ledger", "verify", ledger, "--head", head)
    assert told.code == 0
    assert "is whole: 3 entries" in told.out
    lost = tripcloak("ledger", "verify", ledger, "--head", "0" * 64)
    assert lost.code == 1
    assert "older copy" in lost.out
    (data,) = (ledger / "data").glob("*-groups.parquet")
    data.unlink()
    broken = tripcloak("ledger", "verify", ledger, "--json")
    assert broken.code == 1
    assert broken.json["faults"] == [f"{data.name} is missing or was changed"]


def test_a_broken_chain_is_said_by_every_command(tripcloak, place):
    ledger = place / "ledger"
    (ledger / "chain/00000003.json").unlink()
    before = contents(place)
    out = ("--out", place / "june", "--ledger", ledger)
    for order in (
        ("ledger", "list", ledger),
        ("ledger", "show", "may", "--ledger", ledger),
        ("ledger", "verify", ledger),
        ("ledger", "withdraw", "may", "--ledger", ledger, "--reason", "none"),
        ("ledger", "rotate", ledger),
        ("anonymise", place / "trips.csv", "--hierarchy", "h3:8", *out),
    ):
        told = tripcloak(*order)
        assert told.code == 1, order
        assert "cut off after entry 2" in told.words
    assert contents(place) == before


APPROVE = ("ledger", "approve", "may", "--ledger", "ledger", "--by", "x", "--key")


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (("ledger", "list", "nowhere"), "is no ledger"),
        (("ledger", "show", "june", "--ledger", "ledger"), "no release 'june'"),
        ((*APPROVE, "none.key"), "no private key"),
        ((*APPROVE, "officer.key", "--verdict", "perhaps"), "approve, subject-to-change, reject"),
        (("anonymise", "trips.csv", "--out", "june", "--needs-approvals", "1"), "--ledger DIR"),
        (("anonymise", "trips.csv", "--out", "june", "--ledger", "nowhere"), "is no ledger"),
        (("ledger", "init", "new", "--epsilon-cap", "0"), "above 0"),
        (("ledger", "init", "new", "--delta-cap", "1e-6"), "above 0"),
        (("ledger", "init", "new", "--epsilon-cap", "1", "--delta-cap", "1"), "below 1"),
        (
            ("anonymise", "trips.csv", "--out", "june", "--ledger", "ledger", "--segment", "sex"),
            "--segment-joint",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else " ".join(one[:2]),
)  # fmt: skip
def test_bad_orders_change_nothing(tripcloak, place, monkeypatch, order, words):
    monkeypatch.chdir(place)
    before = contents(place)
    told = tripcloak(*order)
    assert told.code == 2
    assert words in told.words
    assert contents(place) == before


def test_a_release_says_what_became_of_it(tripcloak, place):
    order = ("anonymise", place / "trips.csv", "--hierarchy", "h3:8", "--k", 12, "--method", "odkanon")
    told = tripcloak(*order, "--out", place / "june", "--ledger", place / "ledger")
    assert told.code == 0
    assert f"Once it is approved, publish {place / 'june' / 'release'}" in told.out
    assert told.out.splitlines()[-1].startswith("Recorded in the ledger as release 2 (june). It may NOT")
    told = tripcloak(
        *order, "--out", place / "july", "--ledger", place / "ledger", "--needs-approvals", 3, "--json"
    )
    assert told.json["ledger"] == {
        "number": 3,
        "name": "july",
        "approvals_needed": 3,
        "may_be_published": False,
        "waiting_for_company": 0,
    }
    lax = tripcloak(
        *order, "--out", place / "a", "--ledger", place / "ledger", "--needs-approvals", 0, "--json"
    )
    assert lax.json["ledger"]["approvals_needed"] == 1


def test_erasures_wait_for_company(tripcloak, tmp_path):
    ledger, rows = tmp_path / "ledger", some_trips(500, people=60, spread=0.02)
    row, _ = rows[0], write_csv(tmp_path / "trips.csv", rows)
    order = ("anonymise", tmp_path / "trips.csv", "--hierarchy", "h3:8", "--k", 5, "--suppress", "0.4")
    assert tripcloak("ledger", "init", ledger).code == 0
    assert tripcloak(*order, "--out", tmp_path / "may", "--ledger", ledger).code == 0
    without = ("--where", f"person_id <> '{row['person_id']}'")
    told = tripcloak(*order, *without, "--out", tmp_path / "june", "--ledger", ledger)
    assert told.code == 0
    waits = "1 erased person waits for company: until k have left a flow, its old number stands."
    assert waits in told.out
    assert waits in tripcloak("ledger", "list", ledger).out
    assert tripcloak("ledger", "list", ledger, "--json").json["waiting_for_company"] == 1
    assert "1 erased person, still in an older" in tripcloak("ledger", "show", "june", "--ledger", ledger).out
    assert "nobody" in tripcloak("ledger", "show", "may", "--ledger", ledger).out


@pytest.fixture(scope="module")
def spent(kept: Path) -> Path:
    """Return a ledger of the same trips whose cap leaves little, after a noisy release."""
    order = ["anonymise", kept / "trips.csv", "--hierarchy", "h3:8", *NOISE, "--epsilon", 4]
    for one in (
        ["ledger", "init", kept / "spent", "--epsilon-cap", 5, "--delta-cap", "1e-6"],
        [*order, "--out", kept / "noisy", "--ledger", kept / "spent"],
    ):
        assert run([str(word) for word in one]) == 0
    return kept / "spent"


NOISE = ("--method", "laplace", "--height", 3, "--contributions", 4, "--delta", "1e-7")


def test_a_cap_on_noise_refuses_and_says_what_is_left(tripcloak, spent, place):
    ledger = shutil.copytree(spent, place / "copied")
    before = contents(ledger)
    order = ("anonymise", place / "trips.csv", "--hierarchy", "h3:8", *NOISE, "--out", place / "more")
    told = tripcloak(*order, "--epsilon", 2, "--ledger", ledger)
    assert told.code == 1
    assert "epsilon 4 is spent already, and 1 is left. --epsilon 1" in told.words
    assert contents(ledger) == before
    assert not (place / "more").exists()
    assert tripcloak("ledger", "cap", ledger, "--epsilon-cap", 6, "--reason", "").code == 2
    raised = tripcloak("ledger", "cap", ledger, "--epsilon-cap", 6, "--reason", "the board")
    assert "The cap is epsilon 6, delta 1e-06 from now on." in raised.out
    assert "2 is left" in raised.out
    told = tripcloak(*order, "--epsilon", 2, "--ledger", ledger, "--json")
    assert told.code == 0
    assert "0 is left" in " ".join(told.json["notes"])
    lowered = tripcloak("ledger", "cap", ledger, "--epsilon-cap", 1, "--reason", "the board", "--json")
    assert lowered.json["account"]["overdrawn"]
    assert tripcloak("ledger", "check", ledger).code == 1


def test_the_account_is_shown(tripcloak, spent):
    listed = tripcloak("ledger", "list", spent)
    assert "Spent: epsilon 4 at delta 1e-06 (rho 8), of a cap of epsilon 5; 1 is left." in listed.out
    assert "outside the account" in listed.out
    account = tripcloak("ledger", "list", spent, "--json").json["account"]
    assert account["spent"] == {"epsilon": 4.0, "delta": 1e-6, "rho": 8.0}
    assert account["left"] == {"epsilon": 1.0, "delta": pytest.approx(9e-7)}
    (one,) = account["by_release"]
    assert (one["release"], one["name"], one["epsilon"], one["delta"]) == (1, "noisy", 4.0, 1e-7)
    shown = tripcloak("ledger", "show", "noisy", "--ledger", spent)
    assert "epsilon 4, delta 1e-07 (rho 8)" in shown.out
    assert tripcloak("ledger", "show", 1, "--ledger", spent, "--json").json["spends"] == one
    checked = tripcloak("ledger", "check", spent)
    assert checked.code == 0
    assert checked.out.startswith("No exact number is published, so nothing follows")
    assert "1 is left" in checked.out
    assert tripcloak("ledger", "check", spent, "--json").json["noisy"] == ["noisy"]


def test_an_exact_release_is_outside_the_account(tripcloak, place):
    told = tripcloak("ledger", "show", "may", "--ledger", place / "ledger")
    assert "no noise, and outside the account" in told.out
    assert "Spent" not in tripcloak("ledger", "list", place / "ledger").out


def test_noisy_releases_are_left_out_of_a_difference(tripcloak, spent, place):
    other = ("anonymise", place / "trips.csv", "--hierarchy", "h3:8", "--k", 12, "--method", "odkanon")
    assert tripcloak(*other, "--out", place / "june").code == 0
    folders = (place / "may", spent.parent / "noisy", place / "june")
    told = tripcloak("difference", *folders, "--against", place / "trips.csv")
    assert told.code in (0, 1)
    assert "Left out, as noisy numbers tell nothing exactly: noisy." in told.out


def test_the_same_in_python(place: Path) -> None:
    trips, ledger = place / "trips.csv", place / "ledger"
    asked: dict[str, Any] = {"zones": "h3:8", "k": 12, "method": "odkanon", "ledger": ledger}
    release = tc.anonymise(trips, out=place / "june", needs_approvals=2, **asked)
    recorded = open_ledger(ledger).find("june")
    assert (recorded.state, recorded.approvals_needed) == ("released", 2)
    assert recorded.facts["groups"] == len(release.flows)
    for options, words in (
        ({}, "out="),
        ({"out": place / "july", "segment": "sex"}, "segment_joint=True"),
        ({"out": place / "july", "needs_approvals": -1}, "0 or more"),
        ({"out": place / "july", "ledger": None, "needs_approvals": 1}, "ledger='DIR'"),
    ):
        with pytest.raises(InputError, match=words):
            tc.anonymise(trips, **{**asked, **options})
    assert len(open_ledger(ledger).releases) == 2
