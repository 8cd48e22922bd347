"""Every preset of trajectories reads made files in exactly the layout of its public data set."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.trajectories.reading import ReadTrajectories, TrajectorySource, read_tracks, read_trajectories
from worlds.fix_lines import HEADER, NOON, ReadLines, walk


def read(*paths: Path, **options: Any) -> ReadTrajectories:
    return read_trajectories(TrajectorySource(paths=tuple(str(path) for path in paths), **options))


def fixes(*paths: Path, **options: Any) -> list[tuple[str, int, float, float]]:
    """Return every fix that was read: who, seconds since 1970, latitude, longitude."""
    tracks = read_tracks(TrajectorySource(paths=tuple(str(path) for path in paths), **options))
    who = tracks.users[tracks.owner].tolist()
    return list(
        zip(who, (tracks.instant // 10**6).tolist(), tracks.lat.tolist(), tracks.lon.tolist(), strict=True)
    )


PLT = (
    "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n"
    "0,2,255,My Track,0,0,2,8421376\n0\n"
    "39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04\n"
    "39.984683,116.31845,0,492,39744.1202546296,2008-10-23,02:53:10\n"
)
FIRST = 1_224_730_384


def test_geolife_folders(tmp_path: Path) -> None:
    for person in ("000", "001"):
        folder = tmp_path / "Data" / person / "Trajectory"
        folder.mkdir(parents=True)
        (folder / "20081023025304.plt").write_text(PLT, newline="\r\n")
        (folder.parent / "labels.txt").write_text("Start Time\tEnd Time\tTransportation Mode\n")
    assert fixes(tmp_path / "Data", preset="geolife") == [
        (person, FIRST + late, lat, lon)
        for person in ("000", "001")
        for late, lat, lon in ((0, 39.984702, 116.318417), (6, 39.984683, 116.31845))
    ]


@pytest.mark.parametrize("preset", ["geolife", None])
def test_geolife_as_a_flat_table(preset: str | None, tmp_path: Path) -> None:
    path = tmp_path / "fixes.parquet"
    columns = {
        "user_id": pa.array([0, 10, 2], pa.int16()),
        "trip_id": [0, 0, 1],
        "timestamp": pa.array([FIRST * 10**6] * 3, pa.timestamp("us")),
        "lat": [39.9, 39.8, 39.7],
        "lon": [116.3] * 3,
    }
    pq.write_table(pa.table(columns), path)
    assert fixes(path, preset=preset) == [
        ("0", FIRST, 39.9, 116.3),
        ("10", FIRST, 39.8, 116.3),
        ("2", FIRST, 39.7, 116.3),
    ]


def test_cabspotting_files(tmp_path: Path) -> None:
    (tmp_path / "new_abboip.txt").write_text(
        "37.75134 -122.39488 0 1213084687\n37.75136 -122.39527 1 1213084659\n"
    )
    (tmp_path / "new_ecxwag.txt").write_text("37.75199 -122.3946 0 1213084540\n")
    (tmp_path / "_cabs.txt").write_text('<cab id="abboip" updates="27454"/>\n')
    assert fixes(tmp_path, preset="cabspotting") == [
        ("abboip", 1213084659, 37.75136, -122.39527),
        ("abboip", 1213084687, 37.75134, -122.39488),
        ("ecxwag", 1213084540, 37.75199, -122.3946),
    ]


def test_tdrive_files(tmp_path: Path) -> None:
    folder = tmp_path / "taxi_log_2008_by_id"
    folder.mkdir()
    (folder / "1.txt").write_text(
        "1,2008-02-02 15:36:08,116.51172,39.92123\n1,2008-02-02 15:46:08,116.51135,39.93883\n"
    )
    (folder / "366.txt").write_text("366,2008-02-02 15:36:08,116.5,39.9\n")
    (folder / "6030.txt").write_text("")
    noon = 1_201_966_568
    expected = [
        ("1", noon, 39.92123, 116.51172),
        ("1", noon + 600, 39.93883, 116.51135),
        ("366", noon, 39.9, 116.5),
    ]
    assert fixes(tmp_path, preset="tdrive") == expected
    local = fixes(tmp_path, preset="tdrive", timezone="Asia/Shanghai")
    assert [time for _, time, *_ in local] == [time - 8 * 3600 for _, time, *_ in expected]


CHECK_INS = (
    "470\t49bbd6c0f964a520f4531fe3\t4bf58dd8d48988d127951735\tArts & Crafts Store\t40.719810375488535\t"
    "-74.00258103213994\t-240\tTue Apr 03 18:00:09 +0000 2012\n"
    "979\t4a43c0aef964a520c6a61fe3\t4bf58dd8d48988d1df941735\tCaf\xe9\t40.60679958140643\t"
    "-74.04416981025437\t-240\tTue Apr 03 18:00:25 +0000 2012\n"
)


def test_foursquare_text(tmp_path: Path) -> None:
    (tmp_path / "dataset_TSMC2014_NYC.txt").write_text(CHECK_INS, encoding="latin-1")
    (tmp_path / "dataset_TSMC2014_readme.pdf").write_text("not a table")
    expected = [
        ("470", 1333476009, 40.719810375488535, -74.00258103213994),
        ("979", 1333476025, 40.60679958140643, -74.04416981025437),
    ]
    assert fixes(tmp_path, preset="foursquare") == expected
    # Times say their own offset, whatever the zone of others.
    assert fixes(tmp_path, preset="foursquare", timezone="America/New_York") == expected


def test_foursquare_with_column_names(tmp_path: Path) -> None:
    names = "userId,venueId,venueCategoryId,venueCategory,latitude,longitude,timezoneOffset,utcTimestamp\n"
    path = tmp_path / "nyc.csv"
    path.write_text(names + CHECK_INS.replace("\t", ","))
    assert [who for who, *_ in fixes(path, preset="foursquare")] == ["470", "979"]


def test_gowalla_text_and_compressed(tmp_path: Path) -> None:
    text = (
        "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n"
        "1\t2010-10-18T22:17:43Z\t30.2691029532\t-97.7493953705\t420315\n"
    )
    (tmp_path / "loc-gowalla_totalCheckins.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert fixes(tmp_path, preset="gowalla") == [
        ("0", 1287532527, 30.2359091167, -97.7951395833),
        ("1", 1287440263, 30.2691029532, -97.7493953705),
    ]


STATIONS = "cell_id,latitude,longitude\nA1,14.7,-17.4\nA2,14.8,-17.3\nbroken\nA3,,\n"


def calls(tmp_path: Path, records: list[str], stations: str = STATIONS) -> dict[str, Any]:
    (tmp_path / "calls.csv").write_text("\n".join(["subscriber,call_time,cell_id", *records]) + "\n")
    (tmp_path / "stations.csv").write_text(stations)
    return {"preset": "cdr", "stations": str(tmp_path / "stations.csv")}


def test_call_records_get_the_place_of_their_station(tmp_path: Path) -> None:
    good = [f"s1,{NOON},A1", f"s1,{NOON + 3600},A2", f"s2,{NOON},A2"]
    unknown = [f"s1,{NOON},A9", f"s2,{NOON},", f"s2,{NOON},A3"]
    options = calls(tmp_path, good + unknown)
    assert fixes(tmp_path / "calls.csv", **options) == [
        ("s1", NOON, 14.7, -17.4),
        ("s1", NOON + 3600, 14.8, -17.3),
        ("s2", NOON, 14.8, -17.3),
    ]
    # The broken line of the table of stations is none of the input.
    assert read(tmp_path / "calls.csv", **options).cleaning.dropped == {"unknown_antenna": 3}


def test_stations_with_numbers_for_ids_meet_text(tmp_path: Path) -> None:
    path = tmp_path / "calls.parquet"
    pq.write_table(pa.table({"imsi": ["a", "b"], "time": [NOON, NOON], "site": [7, 8]}), path)
    (tmp_path / "sites.csv").write_text("id,lat,lon\n7,14.7,-17.4\n8,14.8,-17.3\n")
    found = fixes(path, stations=str(tmp_path / "sites.csv"))
    assert [lat for *_, lat, _ in found] == [14.7, 14.8]


def test_call_records_with_places_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "calls.csv").write_text(
        f"caller,event_time,bts,lat,lng\nx,{NOON},1,14.7,-17.4\ny,{NOON},1,14.7,-17.4\n"
    )
    assert len(fixes(tmp_path / "calls.csv", preset="cdr")) == 2


def test_tables_of_stations_that_cannot_serve(tmp_path: Path) -> None:
    one = [f"s1,{NOON},A1", f"s2,{NOON},A1"]
    for stations, words in (
        ("cell_id,latitude,longitude\nA1,14.7,-17.4\nA1,14.9,-17.4\n", "twice at different places"),
        ("cell_id,latitude,longitude\nA1,0,0\n", "no station with an id and a place"),
        ("cell_id,height\nA1,30\n", "needs columns such as antenna_id"),
    ):
        with pytest.raises(InputError, match=words):
            fixes(tmp_path / "calls.csv", **calls(tmp_path, one, stations))
    options = calls(tmp_path, one) | {"stations": None}
    with pytest.raises(MissingColumnError, match="table of their places"):
        fixes(tmp_path / "calls.csv", **options)


def test_stations_need_a_column_that_names_them(read: ReadLines, tmp_path: Path) -> None:
    (tmp_path / "stations.csv").write_text(STATIONS)
    with pytest.raises(MissingColumnError, match="antenna='NAME'"):
        read([*walk("a"), *walk("b")], stations=str(tmp_path / "stations.csv"))


@pytest.mark.parametrize(
    "header",
    [
        HEADER,
        "uid,datetime,latitude,longitude",
        "Device ID,Time,Lat,Lng",
        "person,t,gps_lat,gps_lon",
        "vehicle,unixtime,lat,long",
    ],
)
def test_columns_are_known_by_their_usual_names(header: str, read: ReadLines) -> None:
    assert read([*walk("a"), *walk("b")], header=header).trajectories.lengths.tolist() == [5, 5]
