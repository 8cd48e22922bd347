"""What ids stand for: the caller's word, the format's, the column's name, and how ids are used."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.promises.counted import ID_KINDS, UNKNOWN
from tripcloak.records.identities import (
    BUSY,
    BUSY_TRIPS,
    OVERLAP_SECONDS,
    OVERLAPPING,
    Use,
    identify,
    kind_by_name,
    look_at_use,
)
from tripcloak.records.presets import PRESETS, find_preset
from tripcloak.records.schema import KNOWN_NAMES
from tripcloak.records.source import TripSource
from tripcloak.records.trips import open_canonical
from worlds.trips import some_trips, write_csv

CALM, RESTLESS = Use(0.0, 0.0, 0.3), Use(0.0, 1.0, 0.9)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            "person",
            ["person", "user_id", "UserID", "uid", "id_person", "rider", "participant no"],
        ),
        (
            "vehicle",
            ["bike_id", "vehicle", "TAXI_ID", "cab", "carId", "01 - Rental Bike ID", "medallion"],
        ),
        ("device", ["imei", "msisdn", "device_id", "phone", "IMSI", "maid", "subscriber_id"]),
        ("card", ["card", "card_id", "smartcard number"]),
        ("household", ["household_id", "hh_id", "HHID"]),
        (None, ["id", "key", "code", "x17", "hash", "driver_of_vehicle", "user_device"]),
    ],
)
def test_names_tell(kind, names):
    assert {name: kind_by_name(name) for name in names} == dict.fromkeys(names, kind)


def test_every_name_that_is_taken_for_the_id_unasked_says_what_it_is():
    silent = {name for name in KNOWN_NAMES["person"] if kind_by_name(name) is None}
    # Of a moving feature nobody knows whether it is a person: such ids count as unknown, and are called that.
    assert silent == {"object_id"}


def test_every_preset_with_ids_knows_what_they_are():
    assert {preset.id_is for preset in PRESETS.values()} <= set(ID_KINDS)
    taxis = {"porto-taxi", "nyc-tlc", "chicago-taxi", "cabspotting", "tdrive"}
    bikes = {"citibike", "divvy", "capital-bikeshare", "bay-wheels", "la-metro-bike", "mds", "gbfs"} | taxis
    assert {name for name, preset in PRESETS.items() if preset.id_is == "vehicle"} == bikes


def test_the_owner_is_believed_and_told_what_speaks_against_it():
    assert identify(["bike_id"], said="person").kind == "person"
    assert "speaks of vehicles" in identify(["bike_id"], said="person").notes[0]
    assert "used round the clock" in identify(["id"], said="person", use=RESTLESS).notes[0]
    assert identify(["id"], said="person", use=CALM).notes == ()
    assert "not people" in identify(["id"], said="card").notes[0]


def test_a_preset_counts_before_a_name_but_only_of_its_own_column():
    cdr = find_preset("cdr")
    assert identify(["user"], preset=cdr).kind == "device"
    assert identify(["user"], preset=cdr, named=True).kind == "person"


def test_use_speaks_where_names_do_not_and_against_those_that_say_people():
    assert identify(["user_id"], use=CALM) == ("person", ())
    assert identify(["id"], use=RESTLESS).kind == "vehicle"
    assert identify(["id"], use=RESTLESS._replace(chained=0.0)).kind == UNKNOWN
    assert identify(["id"], use=CALM).kind == UNKNOWN
    assert identify(["user_id"], use=RESTLESS).kind == UNKNOWN
    assert identify(["bike_id"], use=RESTLESS).kind == "vehicle"
    unclear = identify(["user_id"], use=CALM._replace(overlapping=OVERLAPPING))
    assert unclear.kind == UNKNOWN
    assert all(word in unclear.notes[-1] for word in ("ids of unknown kind", *ID_KINDS))
    assert identify(["user_id"], use=Use(OVERLAPPING - 1e-9, BUSY - 1e-9, 1.0)).kind == "person"


def used(con: duckdb.DuckDBPyConnection, trips: str) -> Use:
    con.execute(
        f"""create or replace temp view seen as
        select person, timestamp '2024-05-01' + to_seconds(s) as start_time,
               timestamp '2024-05-01' + to_seconds(e) as end_time,
               0.0 as o_lat, o as o_lon, 0.0 as d_lat, d as d_lon, 0 as reason from ({trips})"""
    )
    names = ["person", "start_time", "end_time", "o_lat", "o_lon", "d_lat", "d_lon"]
    found = look_at_use(con, "seen", names)
    assert found is not None
    return found


def test_use_is_seen_at_the_edge():
    con = duckdb.connect()
    two = "values ('a', 0, 1000, 1.0, 2.0), ('a', {begins}, 2000, 2.0, 3.0)"
    names = "select * from ({}) t(person, s, e, o, d)"
    assert used(con, names.format(two.format(begins=1000 - OVERLAP_SECONDS))) == (0.0, 0.0, 1.0)
    assert used(con, names.format(two.format(begins=999 - OVERLAP_SECONDS))).overlapping == 1.0
    # The same trip twice is a duplicate, not one at two places at once.
    again = "values ('a', 0, 1000, 1.0, 2.0), ('a', 0, 1000, 1.0, 2.0)"
    assert used(con, names.format(again)).overlapping == 0.0
    day = "select 'a' person, i * 60 s, i * 60 + 30 e, i::double o, i + 1.0 d from range({}) t(i)"
    assert used(con, day.format(BUSY_TRIPS - 1)).busy == 0.0
    assert used(con, day.format(BUSY_TRIPS)).busy == 1.0


def test_an_input_without_an_id_or_times_is_no_error(tmp_path: Path):
    con = duckdb.connect()
    assert look_at_use(con, "nothing", ["person", "start_time"]) is None
    rows = [{"key" if name == "person_id" else name: v for name, v in row.items()} for row in some_trips(30)]
    path = write_csv(tmp_path / "trips.csv", rows)
    opened = open_canonical(con, TripSource(paths=(str(path),), columns={"person": "key"}))
    assert opened.id_is == UNKNOWN
    assert any("id_is=" in note for note in opened.notes)
    said = TripSource(paths=(str(path),), columns={"person": "key"}, id_is="person")
    assert open_canonical(con, said).id_is == "person"


def test_other_words_are_refused():
    with pytest.raises(InputError, match="person, vehicle, device, card or household"):
        TripSource(paths=("trips.csv",), id_is="bus")
