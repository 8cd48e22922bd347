"""What is counted is called what it is, wherever a release of flows speaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against
from tripcloak.flows.methods import Laplace, TwinCut
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.promises import KAnonymity
from tripcloak.records.source import TripSource
from worlds.released_flows import Folder
from worlds.trips import some_trips, without, write_csv


def renamed(path: Path, column: str) -> Path:
    rows = [
        {column if name == "person_id" else name: value for name, value in row.items()}
        for row in some_trips()
    ]
    return write_csv(path, rows)


def made(folder: Path, file: Path, method=None, spec="h3:7", **reading) -> Folder:
    anonymise(
        AnonymisationRequest(
            source=TripSource(paths=(str(file),), **reading),
            method=method or TwinCut(promise=KAnonymity(k=5)),
            zoning=Zoning(spec=spec),
            out=folder,
        )
    )
    return Folder(folder)


@pytest.fixture(scope="module")
def bikes(tmp_path_factory) -> tuple[Folder, Path]:
    home = tmp_path_factory.mktemp("bikes")
    file = renamed(home / "bikes.csv", "bike_id")
    return made(home / "out", file), file


def public_words(folder: Folder) -> dict[str, str]:
    facts = json.loads(folder.public("manifest.json").read_text())
    return {
        "sentence": facts["promise"]["sentence"],
        "counted": " ".join(facts["counted"].values()),
        "readme": folder.public("README.md").read_text(),
        "map": folder.public("map.html").read_text(),
    }


def test_vehicles_are_called_vehicles_everywhere(bikes):
    told = public_words(bikes[0])
    assert told["sentence"] == "at least 5 vehicles (not people)"
    assert told["counted"].startswith("vehicles, not people")
    assert "**Every released flow holds at least 5 vehicles (not people).**" in told["readme"]
    assert "different vehicles" in told["readme"]
    assert "5 vehicles (not people)" in told["map"]
    assert not any("at least 5 people" in words or "5 travellers" in words for words in told.values())


def test_the_owner_reads_by_which_column_they_were_counted(bikes):
    folder, file = bikes
    found = audit_against(folder.path, (str(file),))
    assert found.safe, found.broken
    assert found.to_dict()["counted"] == {
        "column": "bike_id",
        "words": "counted as vehicles, not people: column bike_id",
    }


def test_trips_are_never_called_people(tmp_path):
    file = write_csv(tmp_path / "trips.csv", without(some_trips(), "person_id"))
    told = public_words(made(tmp_path / "out", file))
    assert told["sentence"] == "at least 5 trips, which may be one person's"
    assert told["counted"] == "trips, not people: all of them may be one person's"
    assert "at least 5 trips, which may be one person's" in told["readme"]


def test_ids_of_an_unknown_kind_are_called_that_and_a_word_settles_it(tmp_path):
    file = renamed(tmp_path / "trips.csv", "key")
    told = public_words(made(tmp_path / "unknown", file, columns={"person": "key"}))
    assert told["sentence"] == "at least 5 ids of unknown kind"
    assert "5 people" not in told["readme"]
    said = made(tmp_path / "said", file, columns={"person": "key"}, id_is="person")
    assert public_words(said)["sentence"] == "at least 5 people"


def test_noise_hides_what_ids_stand_for(tmp_path):
    file = renamed(tmp_path / "bikes.csv", "bike_id")
    noise = Laplace(epsilon=5.0, contributions=2)
    folder = made(tmp_path / "out", file, noise, spec="h3:7/root=841fb47ffffffff")
    told = public_words(folder)
    assert told["sentence"].startswith("differential privacy of every vehicle (not person)")
    assert "whether any one vehicle (not person) was in the data" in told["readme"]
    assert audit_against(folder.path, (str(file),)).safe


def forged(bikes, tmp_path, **entries):
    """Return what is broken once the manifest's promise says otherwise, digests redone."""
    import shutil

    folder, file = bikes
    shutil.copytree(folder.path, tmp_path / "forged")
    copy = Folder(tmp_path / "forged")

    def change(facts):
        facts["promise"].update(entries.get("promise", {}))
        facts.update(entries.get("facts", {}))

    copy.edit_manifest(change)
    return audit_against(copy.path, (str(file),)).broken


PEOPLE = {"id_is": "person", "sentence": "at least 5 people"}
COUNTED = {"counted": {"travellers": "people: every id stands for one person"}}


def test_vehicles_that_are_passed_off_as_people_are_found(bikes, tmp_path):
    broken = forged(bikes, tmp_path, promise=PEOPLE, facts=COUNTED)
    assert "counted-as-said" in broken


@pytest.mark.parametrize(
    "entries",
    [
        {"promise": {"sentence": "at least 5 people"}},
        {"facts": COUNTED},
        {"facts": {"counted": {"travellers": "vehicles, not people: 17 of them"}}},
        {"facts": {"counted": {}}},
        {"promise": {"id_is": "unknown"}},
    ],
)
def test_words_that_do_not_fit_each_other_are_found(bikes, tmp_path, entries):
    assert "counted-as-said" in forged(bikes, tmp_path, **entries)
