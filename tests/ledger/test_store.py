"""The ledger's store: what goes in comes out again, under every key; states, verdicts, and other data."""

from __future__ import annotations

import errno
import json
import stat
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.anonymise import write_release
from tripcloak.flows.methods import METHODS
from tripcloak.flows.release.rounding import RoundTo
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import AuditFailedError, InputError, InternalError, OutputExistsError
from tripcloak.ground.folders import explained
from tripcloak.ground.keys import make_keys, read_signing_key
from tripcloak.ledger.adding import add_release
from tripcloak.ledger.disclosing import disclosed, read_again
from tripcloak.ledger.disclosure import ABSENT
from tripcloak.ledger.releasing import anonymise_with_ledger, written_after
from tripcloak.ledger.store import Ledger, columns, init_ledger, open_ledger
from tripcloak.ledger.store.columns import read_columns
from tripcloak.ledger.store.describing import covered_words, flows_to_record
from tripcloak.ledger.store.releases import RecordedRelease
from worlds.ledgers import KEY, Releases, asked, publish, record, same
from worlds.trips import some_trips, write_csv

NewLedger = Callable[..., Ledger]


def test_what_goes_in_comes_out_again(new_ledger: NewLedger, releases: Releases, tmp_path: Path) -> None:
    ledger = new_ledger()
    # The part first, so that the whole brings records that are new.
    made = {"women": releases.women, "first": releases.first, "coarser": releases.coarser}
    told = []
    for name, one in made.items():
        record(ledger, one, tmp_path / name)
        told += disclosed(one, name)
    for found in (ledger.disclosures(), open_ledger(ledger.folder).disclosures()):
        assert all(same(one, other) for one, other in zip(found, told, strict=True))
    women, first, coarser = open_ledger(ledger.folder).releases
    assert [one.state for one in (women, first, coarser)] == ["prepared"] * 3
    assert covered_words(women.facts).endswith("where sex = 'F'")
    assert first.facts["hierarchy"]["spec"] == "h3:8"
    assert "records" not in coarser.facts["data"]
    numbers = ledger.numbers(first)
    assert numbers["trips_0"].to_pylist() == releases.first.release.trips.tolist()
    zones = releases.first.release.origins.ids[releases.first.release.group_origin]
    assert numbers["origin"].to_pylist() == zones.tolist()


def test_rows_that_are_dropped_are_told_without_a_ledger_alone(releases: Releases) -> None:
    """Two numbers of dropped rows, before and after somebody is erased, tell how many were that person's."""
    cleaning = replace(releases.first.reading.trips.cleaning, dropped={"missing_coordinate": 500})
    trips = replace(releases.first.reading.trips, cleaning=cleaning)
    made = replace(releases.first, reading=replace(releases.first.reading, trips=trips))
    assert made.to_publish()["dropped"] == {}
    alone = replace(made, request=replace(made.request, keyed=None))
    assert alone.to_publish()["dropped"] == {"missing_coordinate": 500}


def test_rounded_numbers_come_back_with_their_totals(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    ledger = new_ledger()
    made = releases.made(round_to=RoundTo(5, "a secret of these tests"))
    publish(ledger, made, tmp_path / "rounded")
    told, before = open_ledger(ledger.folder).disclosures(), disclosed(made, "rounded")
    assert [one.total_of for one in told] == [None, "origin", "destination", "all"]
    assert all(same(one, other) for one, other in zip(told, before, strict=True))
    assert told[0].rounded == (5, 5, True)
    assert told[0].trips.tolist() == made.release.published("trips").tolist()
    assert len(ledger.releases[0].facts["parts"]) == 1, "totals follow again"
    again = read_again(tmp_path / "rounded", ledger.key.record_key)
    assert all(same(one, other) for one, other in zip(told, again, strict=True))


def test_what_releases_share_is_held_once_and_of_the_rest_that_of_the_latest(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = new_ledger()
    for made in (releases.first, releases.women, releases.coarser):
        record(ledger, made, tmp_path / "out")
    one, part, other = ledger.disclosures()
    assert one.among is part.among is other.among
    assert one.rows().person is other.rows().person
    assert one.rows().group is one.rows().group
    monkeypatch.setattr(columns, "HELD", 2)
    assert part.rows().group is part.rows().group
    first = weakref.ref(one.rows().group)
    assert part.n_records == len(part.record) < one.n_records
    assert first() is not None
    assert other.n_records == len(other.record)
    assert first() is None


def test_the_columns_of_as_many_releases_as_are_held_are_read_once() -> None:
    record, group = np.arange(1, 5, dtype=np.uint64), np.zeros(3, dtype=np.int32)
    records = columns.StoredRecords(columns.KnownRecords(record, record, None))
    reads: list[int] = []

    def column(number: int) -> Ints:
        reads.append(number)
        return group

    releases = [partial(column, number) for number in range(columns.HELD)]
    for read in (*releases, *releases):
        assert records.column(read).tolist() == [0, 0, 0, ABSENT]
    assert reads == list(range(columns.HELD))


@pytest.mark.parametrize("trips", [(1, 1, 1), (1, 2, 1)])
def test_records_come_back_in_the_order_in_which_they_came_to_be_known(
    tmp_path: Path, trips: tuple[int, ...]
) -> None:
    """Sorted ones of one release as well as later ones in between, with their trips where some have more."""
    (tmp_path / columns.DATA).mkdir()
    parts = [(np.array([3, 7]), np.array(trips[:2])), (np.array([5]), np.array(trips[2:]))]
    made = [
        columns.KnownRecords(digests.astype(np.uint64), digests.astype(np.uint64) + 10, weight)
        for digests, weight in parts
    ]
    files = [columns.write_records(tmp_path, f"{n}.parquet", one) for n, one in enumerate(made)]
    for read, digests in ((files[:1], [3, 7]), (files, [3, 7, 5])):
        known = columns.read_records(tmp_path, read)
        assert known.record.tolist() == digests
        assert known.person.tolist() == [one + 10 for one in digests]
        assert (known.order is None) == (digests == sorted(digests))
        assert known.trips.tolist() == list(trips[: len(digests)])
        assert (known.weight is None) == (set(known.trips.tolist()) == {1})
        assert known.ascending.tolist() == sorted(digests)
        wanted = np.array([3, 5, 6], dtype=np.uint64)
        assert known.find(wanted).tolist() == [0, 2 if 5 in digests else -1, -1]


def test_segments_trips_and_noise_come_back_too(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    from tripcloak.records.segments import SegmentBy

    ledger = new_ledger()
    oigh = METHODS["oigh"](promise=replace(releases.women.release.promise, k=2), suppression_limit=0.3)
    joint = releases.made(every_segment=(SegmentBy.parse("sex"),), method=oigh)
    on_trips = releases.made(unit="trips")
    alone = releases.made(publish="travellers")
    noisy = releases.made(method=METHODS["laplace"](epsilon=1.0))
    for made in (noisy, on_trips, alone, joint):
        record(ledger, made, tmp_path / "may")
    told = [one for made in (on_trips, alone, joint) for one in disclosed(made, "may")]
    assert [one.tells_trips for one in told] == [True, False, True, True, True]
    assert all(same(one, other) for one, other in zip(ledger.disclosures(), told, strict=True))
    first = ledger.releases[0]
    members = read_columns(ledger.folder, first.facts["data"]["groups"])["member"].to_numpy()
    assert (members == -1).all()
    assert len(members) == first.facts["records"]


def test_a_ledger_is_for_its_owner_alone(new_ledger: NewLedger, releases: Releases, tmp_path: Path) -> None:
    ledger = new_ledger()
    publish(ledger, releases.first, tmp_path / "out")
    ledger.rotate()
    assert ledger.faults() == []
    for path in (ledger.folder, *ledger.folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    ledger.folder.joinpath("head.json").chmod(0o644)
    assert ["head.json" in fault for fault in ledger.faults()] == [True]


def test_the_states_of_a_release(new_ledger: NewLedger, releases: Releases, tmp_path: Path) -> None:
    ledger = new_ledger()
    first = publish(ledger, releases.first, tmp_path / "first")
    assert (first.state, first.counts, first.may_be_published) == ("released", True, True)
    manifest = (tmp_path / "first/release/manifest.json").read_bytes()
    import hashlib

    assert first.released is not None
    assert first.released.content["files"]["manifest.json"] == hashlib.sha256(manifest).hexdigest()
    left = record(ledger, releases.coarser, tmp_path / "left")
    assert (left.state, left.counts, left.may_be_published) == ("prepared", True, False)
    gone = ledger.abandon(record(ledger, releases.coarser, tmp_path / "gone"))
    assert (gone.state, gone.counts) == ("abandoned", False)
    taken = ledger.withdraw(first, reason="an error")
    assert (taken.state, taken.counts, taken.may_be_published) == ("withdrawn", True, False)
    never = ledger.withdraw(left, reason="stopped", never_published=True)
    assert (never.state, never.counts) == ("withdrawn", False)
    assert [one.name for one in ledger.disclosures()] == ["first"]
    assert [str(one.number) for one in ledger.releases] == ["1", "2", "3"]
    for release, reason in ((taken, "again"), (gone, "again"), (first, "again")):
        with pytest.raises(InputError, match="already"):
            ledger.withdraw(ledger.find(str(release.number)), reason=reason)
    with pytest.raises(InputError, match="say why"):
        ledger.withdraw(publish(ledger, releases.coarser, tmp_path / "more"), reason=" ")


def test_releases_are_found_by_number_name_and_folder(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    ledger = new_ledger()
    for name in ("may", "june", "may"):
        record(ledger, releases.first, tmp_path / name)
    found = [ledger.find(named).number for named in ("1", "june", "may", "out/june/")]
    assert found == [1, 2, 3, 2]
    with pytest.raises(InputError, match=r"no release 'july'; it holds: 1 \(may\), 2 \(june\), 3 \(may\)"):
        ledger.find("july")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    place = tmp_path_factory.mktemp("keys")
    for name in "ab":
        make_keys(place / f"{name}.key", place / f"{name}.pub")
    return [read_signing_key(place / f"{name}.key") for name in "ab"]


def test_two_people_must_approve(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, keys: list[Any]
) -> None:
    ledger = new_ledger(approvals_needed=2)
    release = publish(ledger, releases.first, tmp_path / "out")
    assert (release.may_be_published, release.approval_words()) == (False, "0 of 2")

    def judged(by: str, key: Any, verdict: str = "approve") -> bool:
        return ledger.approve(release, by=by, key=key, verdict=verdict).may_be_published

    assert not judged("the analyst", keys[0])
    # The same key is the same person, whatever name is given.
    assert not judged("the head", keys[0])
    assert not judged("the head", keys[1], "subject-to-change")
    assert ledger.find("1").approval_words() == "1 of 2, 1 subject-to-change"
    assert judged("the head", keys[1])
    assert not judged("the analyst", keys[0], "reject")
    assert ledger.find("1").approval_words() == "1 of 2, 1 reject"
    assert judged("the analyst", keys[0])
    assert open_ledger(ledger.folder).find("1").may_be_published
    assert ledger.faults() == []


def test_one_release_may_ask_for_more_than_the_others(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, keys: list[Any]
) -> None:
    ledger = new_ledger()
    release = publish(ledger, releases.first, tmp_path / "out", approvals_needed=1)
    assert not release.may_be_published
    assert ledger.approve(release, by="the head", key=keys[0], verdict="approve").may_be_published


def test_verdicts_are_signed_of_the_files_that_were_written(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, keys: list[Any]
) -> None:
    ledger = new_ledger()
    release = publish(ledger, releases.first, tmp_path / "out")
    ledger.approve(release, by="the head", key=keys[0], verdict="approve", comment="well done")
    entry = ledger.entries[-1]
    for change in (
        {"by": "somebody else"},
        {"verdict": "reject"},
        {"comment": ""},
        {"public_key": keys[1].public.pem()},
        {"public_key": "none", "key": keys[1].public.id},
        {"envelope": {**entry.content["envelope"], "signatures": []}},
        {"envelope": None},
    ):
        forged = replace(entry, content={**entry.content, **change})
        ledger.entries = (*ledger.entries[:-1], forged)
        assert [fault for fault in ledger.faults() if "not signed as it says" in fault], change
    ledger.entries = (*ledger.entries[:-1], entry)
    assert ledger.faults() == []


def test_nobody_judges_other_files_than_those_that_were_recorded(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, keys: list[Any]
) -> None:
    ledger = new_ledger()
    release = publish(ledger, releases.first, tmp_path / "out")
    public = tmp_path / "out/release"
    (public / "verdict.dsse.json").write_text("a verdict comes later")
    assert ledger.changed_files(release) == []
    readme = (public / "README.md").read_text()
    (public / "README.md").write_text(f"{readme}\n")
    (public / "notes.txt").write_text("mine")
    (public / "flows.csv").unlink()
    assert ledger.changed_files(release) == ["README.md", "flows.csv", "notes.txt"]
    with pytest.raises(InputError, match=r"not those that were recorded \(README.md, flows.csv, notes.txt\)"):
        ledger.approve(release, by="the head", key=keys[0], verdict="approve")
    # They may have been moved to where they are published from.
    public.rename(tmp_path / "elsewhere")
    assert ledger.changed_files(release) is None
    assert ledger.approve(release, by="the head", key=keys[0], verdict="approve").approvals


def test_what_is_no_verdict(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, keys: list[Any]
) -> None:
    ledger = new_ledger()
    prepared = record(ledger, releases.first, tmp_path / "out")
    with pytest.raises(InputError, match="was not written"):
        ledger.approve(prepared, by="the head", key=keys[0], verdict="approve")
    for by, verdict, words in (
        ("the head", "perhaps", "one of approve"),
        (" ", "approve", "says who"),
    ):
        with pytest.raises(InputError, match=words):
            ledger.approve(prepared, by=by, key=keys[0], verdict=verdict)
    release = ledger.released(prepared, out_of(releases.first, tmp_path / "out"))
    for by, comment in (("x" * 2001, ""), ("the head", "x" * 2001)):
        with pytest.raises(InputError, match="a few words"):
            ledger.approve(release, by=by, key=keys[0], verdict="approve", comment=comment)
    assert len(ledger.entries) == 3
    assert ledger.approve(release, by="x" * 2000, key=keys[0], verdict="reject", comment="x" * 2000).approvals


def out_of(made: Any, out: Path) -> Path:
    write_release(made, out)
    return out


def test_a_new_key_gives_other_digests_of_the_same_records(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    ledger = new_ledger()
    publish(ledger, releases.first, tmp_path / "first")
    (before,) = ledger.disclosures()
    ledger.rotate()
    (after,) = open_ledger(ledger.folder).disclosures()
    assert not set(before.record.tolist()) & set(after.record.tolist())
    (again,) = read_again(tmp_path / "first", ledger.key.record_key)
    assert same(after, again)
    # What is released from then on is known as the same records.
    outcome, release = anonymise_with_ledger(
        asked(releases.trips, tmp_path / "second", k=12), open_ledger(ledger.folder), guard=lambda *_: None
    )
    assert release.state == "released"
    one, other = open_ledger(ledger.folder).disclosures()
    assert np.array_equal(one.record, other.record)
    assert outcome.release.n_groups == other.n_groups
    ledger = open_ledger(ledger.folder)
    ledger.rotate()
    assert len(ledger.key.records) == 3
    assert ledger.faults() == []
    assert [one.n_records for one in open_ledger(ledger.folder).disclosures()] == [300, 300]


def test_the_old_key_is_of_no_use_after_a_rotation(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    ledger = new_ledger()
    record(ledger, releases.first, tmp_path / "first")
    old = (ledger.folder / "key").read_bytes()
    ledger.rotate()
    (ledger.folder / "key").write_bytes(old)
    with pytest.raises(InputError, match="from before its last rotation"):
        open_ledger(ledger.folder)


def test_a_run_that_began_before_a_rotation_is_told_to_begin_anew(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    ledger = new_ledger()
    open_ledger(ledger.folder).rotate()
    with pytest.raises(InputError, match="run it again"):
        record(ledger, releases.first, tmp_path / "first")


def test_a_ledger_is_never_begun_anew(tmp_path: Path) -> None:
    init_ledger(tmp_path / "a/b")
    before = (tmp_path / "a/b/key").read_bytes()
    with pytest.raises(OutputExistsError, match="is a ledger already"):
        init_ledger(tmp_path / "a/b")
    with pytest.raises(OutputExistsError, match="other things"):
        init_ledger(tmp_path / "a")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputExistsError, match="other things"):
        init_ledger(tmp_path / "file")
    (tmp_path / "a/manifest.json").write_text("{}")
    with pytest.raises(OutputExistsError, match="public part"):
        init_ledger(tmp_path / "a/c")
    with pytest.raises(InputError, match="0 or more"):
        init_ledger(tmp_path / "c", approvals_needed=-1)
    assert (tmp_path / "a/b/key").read_bytes() == before
    (tmp_path / "empty").mkdir()
    assert init_ledger(tmp_path / "empty").releases == ()


class TestOtherData:
    """What would not be known again is not judged as if it were alone."""

    def refused(self, ledger: Ledger, made: Any, tmp_path: Path, words: str) -> None:
        before = sorted(path.name for path in ledger.folder.rglob("*"))
        with pytest.raises(InputError, match=words):
            record(ledger, made, tmp_path / "other")
        assert sorted(path.name for path in ledger.folder.rglob("*")) == before

    def test_other_people(self, new_ledger: NewLedger, releases: Releases, tmp_path: Path) -> None:
        ledger = new_ledger()
        record(ledger, releases.first, tmp_path / "first")
        rows = [{**row, "sex": "F"} for row in some_trips(300, seed=2, spread=0.01)]
        path = write_csv(tmp_path / "other.csv", rows)
        self.refused(ledger, releases.made(path=path), tmp_path, "nobody in this input")
        # Of a part of the data it cannot be told.
        record(ledger, releases.made(path=path, source={"where": "sex = 'F'"}), tmp_path / "part")

    def test_ids_or_times_that_are_told_otherwise(
        self, new_ledger: NewLedger, releases: Releases, tmp_path: Path
    ) -> None:
        ledger = new_ledger()
        record(ledger, releases.first, tmp_path / "first")
        for options, words in (
            ({"columns": {"person": "none"}}, "person is None here, 'person_id' there"),
            ({"columns": {"start_time": "none"}}, "start_time is None here"),
            ({"timezone": "Europe/Paris"}, "timezone='Europe/Paris' here"),
        ):
            made = releases.made(source=options, unit="trips")
            self.refused(ledger, made, tmp_path, words)

    def test_columns_that_are_called_otherwise(
        self, new_ledger: NewLedger, releases: Releases, tmp_path: Path
    ) -> None:
        ledger = new_ledger()
        record(ledger, releases.first, tmp_path / "first")
        path = tmp_path / "renamed.csv"
        path.write_text(releases.trips.read_text().replace("person_id", "rider", 1))
        made = releases.made(path=path, source={"columns": {"person": "rider"}})
        record(ledger, made, tmp_path / "renamed")
        one, other = ledger.disclosures()
        assert np.array_equal(one.record, other.record)
        few = {"columns": {"person": "rider"}, "where": "sex = 'F' and start_time < '2024-05-17'"}
        part = record(ledger, releases.made(path=path, source=few, unit="trips", k=3), tmp_path / "part")
        assert part.facts["records"] < 150

    @pytest.mark.parametrize("ids", [True, False])
    def test_another_period_of_the_same_people(
        self, new_ledger: NewLedger, releases: Releases, tmp_path: Path, ids: bool
    ) -> None:
        """Without ids nobody can tell whether they are the same."""
        ledger, (head, *lines) = new_ledger(), releases.trips.read_text().splitlines()
        columns = {} if ids else {"columns": {"person": "none"}}
        for half in (0, 1):
            path = tmp_path / f"{half}.csv"
            path.write_text("\n".join([head, *lines[half::2]]))
            record(ledger, releases.made(path=path, source=columns, unit="trips", k=3), tmp_path / str(half))
        one, other = ledger.disclosures()
        assert not set(one.record.tolist()) & set(other.record.tolist())

    def test_records_that_were_read_without_the_key(
        self, new_ledger: NewLedger, releases: Releases, tmp_path: Path
    ) -> None:
        ledger, made = new_ledger(), releases.first
        bare = replace(made, reading=replace(made.reading, trips=replace(made.reading.trips, records=None)))
        with pytest.raises(InternalError, match="without the key"), ledger.changing():
            ledger.prepare(flows_to_record(bare), (), tmp_path / "out")
        with pytest.raises(InternalError, match="one run at a time"):
            ledger.prepare(flows_to_record(made), disclosed(made, "out"), tmp_path / "out")


@pytest.mark.parametrize("what", ["records", "groups", "numbers"])
@pytest.mark.parametrize("how", ["gone", "changed", "cut"])
def test_data_that_is_not_as_it_was_written(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, what: str, how: str
) -> None:
    ledger = new_ledger()
    release = record(ledger, releases.first, tmp_path / "first")
    path = ledger.folder / "data" / release.facts["data"][what]["file"]
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-9] if how == "cut" else content[:40] + b"?" + content[41:])
    with pytest.raises(AuditFailedError, match="missing" if how == "gone" else "was changed"):
        [one.rows() for one in open_ledger(ledger.folder).disclosures()]
    assert [fault for fault in ledger.faults() if path.name in fault]


def test_a_guard_that_objects_leaves_nothing(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    ledger = new_ledger()
    seen = []

    def guard(earlier: Any, new: Any) -> None:
        seen.append((len(earlier), [one.name for one in new]))
        if earlier:
            raise AuditFailedError("too much together")

    anonymise_with_ledger(asked(releases.trips, tmp_path / "one"), ledger, guard=guard)
    head = ledger.head
    with pytest.raises(AuditFailedError, match="too much"):
        anonymise_with_ledger(asked(releases.trips, tmp_path / "two", k=12), ledger, guard=guard)
    assert seen == [(0, ["one"]), (1, ["two"])]
    assert open_ledger(ledger.folder).head == head
    assert not (tmp_path / "two").exists()
    run = json.loads((tmp_path / "one/private/run.json").read_text())
    released = ledger.find("one").released
    assert released is not None
    assert released.content["input_files"] == run["input_files"] != []


def test_a_release_that_cannot_be_written_is_abandoned(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tripcloak.ledger import releasing

    ledger = new_ledger()

    def fails(*_: Any, **__: Any) -> None:
        raise InputError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(releasing, "write_release", fails)
        with pytest.raises(InputError, match="no room"):
            anonymise_with_ledger(asked(releases.trips, tmp_path / "one"), ledger, guard=lambda *_: None)
    assert [one.state for one in open_ledger(ledger.folder).releases] == ["abandoned"]
    # Where an older release stands, nobody can tell whether it was replaced.
    (tmp_path / "two/release").mkdir(parents=True)
    with monkeypatch.context() as patched:
        patched.setattr(releasing, "write_release", fails)
        with pytest.raises(InputError, match="no room"):
            anonymise_with_ledger(
                asked(releases.trips, tmp_path / "two", force=True), ledger, guard=lambda *_: None
            )
    assert [one.state for one in open_ledger(ledger.folder).releases] == ["abandoned", "prepared"]


def test_a_release_is_not_said_to_be_gone_where_its_files_could_not_be_noted(
    new_ledger: NewLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise explained(OSError(errno.ENOSPC, "full"), tmp_path, "ledger")

    ledger, none = new_ledger(), object.__new__(RecordedRelease)
    monkeypatch.setattr(ledger, "released", full)
    with pytest.raises(InputError) as caught, written_after(none, tmp_path / "one", ledger):
        (tmp_path / "one/release").mkdir(parents=True)
    words = str(caught.value)
    assert "no room left" in words
    assert "left behind" not in words
    assert "counts as published, but the ledger could not note its files" in words
    assert f"`tripcloak ledger add {tmp_path / 'one'} --ledger {ledger.folder}`" in words


def test_noisy_releases_from_before_are_recorded_too(
    new_ledger: NewLedger, releases: Releases, tmp_path: Path
) -> None:
    write_release(releases.made(method=METHODS["laplace"](epsilon=1.0)), tmp_path / "noisy")
    ledger = new_ledger()
    found = add_release(tmp_path / "noisy", ledger)
    assert (found.state, found.facts["parts"], found.facts["records"]) == ("released", [], 300)
    assert ledger.disclosures() == []


def test_the_key_is_never_shown(new_ledger: NewLedger) -> None:
    ledger = new_ledger()
    shown = f"{ledger!r} {ledger.key!r} {vars(ledger)} {ledger.entries!r}"
    assert KEY.secret.hex() not in shown
    assert str(KEY.secret) not in shown
    assert str(KEY.records[0]) not in shown
