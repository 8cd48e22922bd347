"""Weights and people: what is noted, what is refused, and what is said when few stand behind a flow."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tripcloak.flows.anonymise import AnonymisationOutcome, AnonymisationRequest, anonymise
from tripcloak.flows.few import Few
from tripcloak.flows.methods import METHODS
from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.ground.errors import InputError
from tripcloak.promises import AllOf, AveragePeople, KAnonymity, Promise
from tripcloak.records.source import TripSource
from worlds.trips import Row, some_trips, write_csv

MEAN = 1000.0


def weighted(rows: list[Row], heavy: float = 1.0) -> list[Row]:
    """Give every person one weight of their own: every fourth is heavy, the mean stays."""
    ids = sorted({row["person_id"] for row in rows})
    light = (4 - heavy) / 3
    weight = {one: MEAN * (heavy if n % 4 == 0 else light) for n, one in enumerate(ids)}
    return [{**row, "weight": f"{weight[row['person_id']]:.2f}", "sex": "F"} for row in rows]


@pytest.fixture
def protect(tmp_path):
    """A release of made-up trips under a promise."""

    def made(rows: list[Row], promise: Promise, **options: Any) -> AnonymisationOutcome:
        file = write_csv(tmp_path / "trips.csv", rows)
        source = TripSource(paths=(str(file),), **options)
        method = METHODS["twincut"](promise=promise, suppression_limit=0.3)
        return anonymise(
            AnonymisationRequest(
                source=source,
                method=method,
                zoning=Zoning(spec="h3:9"),
                out=tmp_path / "out",
                force=True,
            )
        )

    return made


@pytest.fixture
def notes_on(tmp_path):
    """The notes of an input."""

    def noted(rows: list[Row], **options: Any) -> str:
        file = write_csv(tmp_path / "trips.csv", rows)
        reading = read_matrix(TripSource(paths=(str(file),), **options), Zoning(spec="h3:9"))
        return "\n".join(reading.trips.notes)

    return noted


def test_the_threshold_that_was_found_is_told(protect, tmp_path) -> None:
    outcome = protect(weighted(some_trips(900)), AveragePeople(k=3))
    assert outcome.to_dict()["parameters"]["thresholds"] == {"population": 3000}
    manifest = json.loads((tmp_path / "out/release/manifest.json").read_text())
    assert (manifest["promise"]["k"], manifest["promise"]["unit"]) == (3000, "population")
    assert "3,000" in (tmp_path / "out/release/README.md").read_text()


def test_groups_of_few_people_are_named_where_only_the_population_is_protected(protect, tmp_path) -> None:
    rows = weighted(some_trips(900), heavy=3.7)
    outcome = protect(rows, AveragePeople(k=3))
    assert outcome.few is not None
    assert (outcome.few.fewer_than, outcome.few.unit) == (3, "travellers")
    assert outcome.release.travellers is not None
    assert outcome.few.groups == (outcome.release.travellers < 3).sum() > 0
    assert outcome.few.smallest == outcome.release.travellers.min()
    (note,) = [note for note in outcome.notes if "fewer than 3 people" in note]
    assert "travellers,population" in note
    facts = outcome.to_dict()
    assert facts["groups_of_few"] == outcome.few._asdict()
    assert note in facts["notes"]
    assert note in json.loads((tmp_path / "out/private/run.json").read_text())["notes"]
    assert note not in (tmp_path / "out/release/README.md").read_text()


def test_nothing_is_said_of_few_where_travellers_are_protected(protect) -> None:
    rows = weighted(some_trips(900), heavy=3.7)
    both = AllOf(promises=(KAnonymity(k=3, unit="travellers"), AveragePeople(k=3)))
    outcome = protect(rows, both)
    assert outcome.few is None
    assert outcome.notes == ()
    assert "groups_of_few" not in outcome.to_dict()
    assert outcome.audit.smallest_support["travellers"] >= 3
    assert outcome.audit.smallest_support["population"] >= 3 * MEAN


def test_without_ids_trips_stand_in_for_people(protect) -> None:
    outcome = protect(weighted(some_trips(900), heavy=3.7), AveragePeople(k=3), columns={"person": "none"})
    assert outcome.few is not None
    assert outcome.few.unit == "trips"
    assert outcome.few.groups == (outcome.release.trips < 3).sum()


@pytest.mark.parametrize(
    ("k", "refused"), [(10, True), (999, True), (1000, True), (1001, False), (3000, False)]
)
def test_a_threshold_that_one_person_reaches_protects_nobody(protect, tmp_path, k, refused) -> None:
    rows = weighted(some_trips(300))
    if not refused:
        assert protect(rows, KAnonymity(k=k, unit="population")).audit.safe
        return
    with pytest.raises(InputError, match="protects nobody here") as caught:
        protect(rows, KAnonymity(k=k, unit="population"))
    assert "k_population='auto'" in str(caught.value)
    assert not (tmp_path / "out").exists()
    together = AllOf(promises=(KAnonymity(k=5, unit="travellers"), KAnonymity(k=k, unit="population")))
    assert protect(rows, together).audit.safe


def test_ordinary_weights_need_no_note(notes_on) -> None:
    assert notes_on(weighted(some_trips(200)), attributes=("sex",)) == ""


@pytest.mark.parametrize(("people", "told"), [(3, "some people"), (12, "12 people")])
def test_weights_that_differ_for_a_person_are_reported(notes_on, people, told) -> None:
    rows = weighted(some_trips(600))
    chosen = sorted({row["person_id"] for row in rows})[:people]
    seen: set[str] = set()
    for row in rows:
        if row["person_id"] in chosen and row["person_id"] not in seen:
            row["weight"] = "17.5"
            seen.add(row["person_id"])
    note = notes_on(rows)
    assert f"'weight' differs between rows of one person, for {told}" in note
    assert not [one for one in chosen if one in note]


def test_attributes_that_differ_for_a_person_are_reported(notes_on) -> None:
    rows = weighted(some_trips(300))
    rows[0]["sex"] = "M"
    assert "'sex' differs between rows of one person, for some people" in notes_on(rows, attributes=("sex",))
    assert "sex" not in notes_on(rows)


def test_zero_weights_add_trips_but_no_population(tmp_path, notes_on) -> None:
    rows = weighted(some_trips(300))
    nobody = rows[0]["person_id"]
    zero = [{**row, "weight": "0"} if row["person_id"] == nobody else row for row in rows]
    assert "'weight' is zero for some people" in notes_on(zero)
    assert "'weight' is zero for" in notes_on(zero, columns={"person": "none"})
    matrix = read_matrix(TripSource(paths=(str(tmp_path / "trips.csv"),)), Zoning(spec="h3:9")).trips.matrix
    assert matrix.total("trips") == 300
    left_out = sum(float(row["weight"]) for row in zero)
    assert matrix.total("population") == pytest.approx(left_out)
    assert (matrix.flows.population == 0).any()


@pytest.mark.parametrize("bad", ["", "nan", "-3"])
def test_weights_that_cannot_be_are_left_out_with_a_way_to_keep_them(notes_on, bad) -> None:
    rows = weighted(some_trips(300))
    rows[0]["weight"] = bad
    assert "weight='none'" in notes_on(rows)
    assert notes_on(rows, columns={"weight": "none"}) == ""


FIX_TIMES = ("08:00:00", "08:01:00", "09:00:00", "09:01:00")


def fixes(**changed: dict[int, str]) -> list[Row]:
    """Two trips of each of three people; cells of the first person's rows may be changed."""
    rows: list[Row] = []
    for person in "pqr":
        for n, clock in enumerate(FIX_TIMES):
            row = {"user_id": person, "time": f"2024-05-01 {clock}", "lat": str(48.8 + n / 100), "lon": "2.3"}
            rows.append({**row, "weight": "20", "sex": "F"})
    for column, cells in changed.items():
        for n, value in cells.items():
            rows[n][column] = value
    return rows


@pytest.mark.parametrize("where", [1, 2], ids=["within a trip", "between trips"])
def test_fixes_that_disagree_about_their_person_are_reported(notes_on, where) -> None:
    note = notes_on(fixes(weight={where: "30"}), attributes=("sex",))
    assert "'weight' differs between rows of one person, for some people" in note
    assert "'sex'" not in note
    note = notes_on(fixes(sex={where: "M"}), attributes=("sex",))
    assert "'sex' differs between rows of one person, for some people" in note
    assert "'weight'" not in note
    assert "differs" not in notes_on(fixes(), attributes=("sex",))


def test_the_warning_names_what_would_protect_people() -> None:
    of_trips = Few(10, "travellers", 3, 1, of_trips=True, id_is="person").note()
    assert "unit='travellers' counts people" in of_trips
    assert "population" not in of_trips
    assert "unit='travellers,population'" in Few(10, "travellers", 3, 1).note()
