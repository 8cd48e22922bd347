"""What a release discloses: of the release just made, and of a folder whose input is read again."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tripcloak.flows.anonymise import AnonymisationRequest, MadeRelease, make_release, write_release
from tripcloak.flows.methods import METHODS
from tripcloak.flows.methods.slots import SlotBySlot
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ledger.difference import _refuse_strangers
from tripcloak.ledger.disclosing import disclosed, read_again
from tripcloak.ledger.disclosure import WITHHELD, Disclosure
from tripcloak.ledger.store.columns import told_by_entry
from tripcloak.promises import AllOf, KAnonymity
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource
from worlds.ledgers import same
from worlds.trips import some_trips, without, write_csv, zone_trips

KEY = bytes(range(16))


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{**row, "sex": "FM"[n % 2], "sent": "1"} for n, row in enumerate(some_trips(400, spread=0.01))]
    rows[3] = {**rows[3], "person_id": ""}
    return write_csv(tmp_path_factory.mktemp("input") / "trips.csv", rows)


def asked(path: Path, out: Path, **changes: Any) -> AnonymisationRequest:
    columns = changes.pop("columns", {})
    promise = changes.pop("promise", KAnonymity(k=5, unit="travellers"))
    zoning = Zoning(spec="h3:9", **changes.pop("zoning", {}))
    method = changes.pop("method", None) or METHODS["odkanon"](promise=promise, suppression_limit=0.2)
    source = TripSource(paths=(str(path),), columns=columns)
    return AnonymisationRequest(source=source, method=method, zoning=zoning, keyed=KEY, out=out, **changes)


def assert_fits(told: Disclosure, made: MadeRelease) -> None:
    """Hold a disclosure of all flows to the release: trips, people and withheld records of every group."""
    release = made.release
    kept = told.group != WITHHELD
    weight = np.ones(told.n_records, np.int64) if told.weight is None else told.weight
    assert told.trips.tolist() == release.trips.tolist()
    assert np.bincount(told.group[kept], weight[kept]).tolist() == release.trips.tolist()
    withheld = made.matrix.flows.trips[release.suppressed].sum()
    assert weight[~kept].sum() == withheld
    if told.counted == "travellers":
        known = kept & (told.person != told.record)
        people = [len(set(told.person[known & (told.group == g)].tolist())) for g in range(told.n_groups)]
        assert people == np.asarray(release.travellers).tolist()
        assert min(people) >= told.k


ON_TRIPS = KAnonymity(k=5, unit="trips")
BOTH = AllOf(promises=(KAnonymity(k=4, unit="travellers"), KAnonymity(k=300.0, unit="population")))

CASES: dict[str, dict[str, Any]] = {
    "travellers": {},
    "exact travellers": {"publish": "both"},
    "travellers alone": {"publish": "travellers"},
    "trips": {"promise": ON_TRIPS},
    "no ids": {"promise": ON_TRIPS, "columns": {"person": "none"}},
    "population": {"promise": KAnonymity(k=500.0, unit="population")},
    "both": {"promise": BOTH},
    "trips in rows": {"columns": {"trips": "sent"}},
    "time": {"zoning": {"time_slot": 720, "fold": "day"}, "method": METHODS["oigh"](suppression_limit=0.3)},
    "segments": {"every_segment": (SegmentBy.parse("sex"),), "method": METHODS["oigh"](
        promise=KAnonymity(k=3, unit="travellers"), suppression_limit=0.3)},
}  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def case(
    request: pytest.FixtureRequest, trips: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, MadeRelease, Path]:
    out = tmp_path_factory.mktemp("made") / "may"
    made = make_release(asked(trips, out, **CASES[request.param]))
    write_release(made, out)
    return request.param, made, out


def test_a_release_tells_what_it_tells_and_so_does_its_folder(case: tuple[str, MadeRelease, Path]) -> None:
    name, made, out = case
    told, again = disclosed(made, "may"), read_again(out, KEY)
    assert_fits(told[0], made)
    assert len(told) == len(again) == (3 if name == "segments" else 1)
    assert all(same(one, other) for one, other in zip(told, again, strict=True))
    expected = "trips" if name in ("trips", "no ids") else "travellers"
    assert told[0].counted == expected
    assert told[0].tells_trips == (name != "travellers alone")
    assert (told[0].travellers is not None) == ("travellers" in made.release.publication.columns)


def test_rounded_travellers_are_between_two_steps(trips: Path, tmp_path: Path) -> None:
    made = make_release(asked(trips, tmp_path / "out"))
    (told,) = disclosed(made, "may")
    exact, trips_of = np.asarray(made.release.travellers), told.trips
    assert told.travellers is not None
    least, most = told.travellers
    assert ((least <= exact) & (exact <= most) & (most <= trips_of)).all()
    assert (least % 5 == 0).all()
    assert ((most - least == 4) | (most == trips_of)).all()
    assert (most - least).max() == 4
    exactly = disclosed(make_release(asked(trips, tmp_path / "out", publish="both")), "may")[0].travellers
    assert exactly is not None
    assert (exactly == exact).all()


def test_segments_are_told_of_their_own_records(trips: Path, tmp_path: Path) -> None:
    made = make_release(asked(trips, tmp_path / "out", **CASES["segments"]))
    whole, women, men = disclosed(made, "may")
    assert [women.name, men.name] == ["may, sex=F", "may, sex=M"]
    assert (women.trips + men.trips).tolist() == whole.trips.tolist()
    assert sorted([*women.record.tolist(), *men.record.tolist()]) == whole.record.tolist()
    group = dict(zip(whole.record.tolist(), whole.group.tolist(), strict=True))
    for part in (women, men):
        assert [group[record] for record in part.record.tolist()] == part.group.tolist()
        assert part.k == 3


def test_slots_kept_apart_are_one_disclosure(trips: Path, tmp_path: Path) -> None:
    method = SlotBySlot.of(METHODS["odkanon"](promise=KAnonymity(k=5), suppression_limit=0.3))
    made = make_release(
        asked(trips, tmp_path / "out", zoning={"time_slot": 720, "fold": "day", "apart": True}, method=method)
    )
    (told,) = disclosed(made, "may")
    assert_fits(told, made)


def test_a_table_of_people_counts_every_trip_as_one(tmp_path: Path) -> None:
    rows = [{**row, "people": str(3 + n % 4)} for n, row in enumerate(without(zone_trips(60), "person_id"))]
    path = write_csv(tmp_path / "commuters.csv", rows)
    zones = sorted({row[end] for row in rows for end in ("origin", "destination")})
    lines = [{"zone": name, "lat": f"{48 + n / 50}", "lon": f"{2 + n / 70}"} for n, name in enumerate(zones)]
    places = str(write_csv(tmp_path / "places.csv", lines))
    request = AnonymisationRequest(
        source=TripSource(paths=(str(path),), people_once=True),
        method=METHODS["odkanon"](promise=KAnonymity(k=10, unit="travellers"), suppression_limit=0.3),
        zoning=Zoning(spec="dendrogram", zones=places),
        keyed=KEY,
        out=tmp_path / "out",
    )
    made = make_release(replace(request, publish="travellers"))
    (told,) = disclosed(made, "commuters")
    assert_fits(told, made)
    assert (told.counted, told.k, told.tells_trips) == ("trips", 10, True)
    assert told.weight is not None
    assert told.person is told.record


def test_people_who_made_a_trip_each_add_up(tmp_path: Path) -> None:
    once = [{**row, "person_id": f"p{n}"} for n, row in enumerate(some_trips(60, spread=0.001))]
    made = make_release(asked(write_csv(tmp_path / "once.csv", once), tmp_path / "out", publish="travellers"))
    (told,) = disclosed(made, "once")
    assert (told.counted, told.tells_trips) == ("travellers", True)


def test_old_entries_do_not_know_that_a_population_adds_up() -> None:
    part = {"name": "may", "k": 5, "counted": "travellers", "tells_trips": False}
    numbers = pa.table({"trips_0": [7]})
    told = [told_by_entry(part, 0, numbers, publish)["tells_trips"] for publish in ("rounded", "travellers")]
    assert told == [True, False]


def test_noisy_numbers_disclose_nothing_exactly(trips: Path, tmp_path: Path) -> None:
    request = asked(trips, tmp_path / "out", method=METHODS["laplace"](epsilon=1.0))
    made = make_release(request)
    write_release(made, request.out)
    assert disclosed(made, "noisy") == ()
    assert read_again(request.out, KEY) == ()


def test_records_that_were_read_without_a_key_are_not_guessed(trips: Path, tmp_path: Path) -> None:
    made = make_release(replace(asked(trips, tmp_path / "out"), keyed=None))
    with pytest.raises(InternalError, match="without a key"):
        disclosed(made, "may")


@pytest.fixture
def folder(case: tuple[str, MadeRelease, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(case[2], tmp_path / "copy"))


@pytest.mark.parametrize("case", ["travellers"], indirect=True)
class TestBadInput:
    """Each with words of its own, and none that quotes data."""

    def test_an_input_that_is_gone(self, folder: Path, tmp_path: Path) -> None:
        self.rewrite(folder, lambda run: run["source"].update(paths=[str(tmp_path / "gone.csv")]))
        with pytest.raises(InputError, match="not where it was read from"):
            read_again(folder, KEY)

    def test_an_input_that_moved_is_read_where_it_is(self, folder: Path, trips: Path) -> None:
        self.rewrite(folder, lambda run: run["source"].update(paths=["gone.csv"]))
        (told,) = read_again(folder, KEY, inputs=(str(trips),), name="moved")
        assert told.name == "moved"

    def test_an_input_that_is_another(self, folder: Path, trips: Path, tmp_path: Path) -> None:
        other = tmp_path / "other.csv"
        other.write_text("\n".join(trips.read_text().splitlines()[:-1]))
        with pytest.raises(InputError, match="another input"):
            read_again(folder, KEY, inputs=(str(other),))

    def test_a_table_in_memory(self, folder: Path) -> None:
        self.rewrite(folder, lambda run: run.update(input_files=None))
        with pytest.raises(InputError, match="table in memory"):
            read_again(folder, KEY)

    @pytest.mark.parametrize("part", ["run.json", "groups.parquet"])
    def test_a_private_part_that_is_missing(self, folder: Path, part: str) -> None:
        (folder / "private" / part).unlink()
        with pytest.raises(InputError, match=part):
            read_again(folder, KEY)

    def test_a_record_that_says_nothing(self, folder: Path) -> None:
        self.rewrite(folder, lambda run: run.pop("source"))
        with pytest.raises(InputError, match="does not say how the input was read"):
            read_again(folder, KEY)

    @staticmethod
    def rewrite(folder: Path, change: Any) -> None:
        path = folder / "private" / "run.json"
        run = json.loads(path.read_text())
        change(run)
        path.write_text(json.dumps(run))


def test_months_of_the_same_people_are_compared_and_strangers_are_not() -> None:
    def told(first: int, person: int) -> Disclosure:
        record = np.arange(first, first + 4, dtype=np.uint64)
        whose = np.arange(person, person + 4, dtype=np.uint64)
        group = np.zeros(4, dtype=np.int32)
        return Disclosure(name="it", record=record, person=whose, group=group, trips=np.array([4]), k=2)

    _refuse_strangers([told(1, 100), told(11, 103)])
    with pytest.raises(InputError, match="no record in common with the others, and nobody"):
        _refuse_strangers([told(1, 100), told(11, 104)])
