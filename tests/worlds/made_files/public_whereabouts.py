"""GPS fixes and check-ins in exactly the form in which they are published."""

# Lines of data files are as long as they are.
# ruff: noqa: E501

from __future__ import annotations

import json

from worlds.made_files.made import Made

GOWALLA = Made(
    name="Gowalla",
    kind="fixes",
    files={
        "loc-gowalla_totalCheckins.txt": "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n"
        "0\t2010-10-18T22:17:43Z\t30.2691029532\t-97.7493953705\t420315\n"
        "1\t2010-10-17T23:42:03Z\t30.2557309927\t-97.7633857727\t316637\n"
    },
    options={"preset": "gowalla"},
    rows={"loc-gowalla_totalCheckins.txt": 3},
    used=3,
)

TDRIVE_LINES = "1,2008-02-02 15:36:08,116.51172,39.92123\n1,2008-02-02 15:37:08,116.51135,39.93883\n1,2008-02-02 15:37:08,116.51135,39.93883\n"
TDRIVE = Made(
    name="T-Drive",
    kind="fixes",
    files={
        "taxi_log_2008_by_id/1.txt": TDRIVE_LINES,
        "taxi_log_2008_by_id/2.txt": TDRIVE_LINES.replace("1,2008", "2,2008"),
    },
    inputs=("taxi_log_2008_by_id",),
    options={"preset": "tdrive"},
    rows={"taxi_log_2008_by_id/1.txt": 3, "taxi_log_2008_by_id/2.txt": 3},
    used=4,
    dropped={"taxi_log_2008_by_id/1.txt": {"duplicate": 1}, "taxi_log_2008_by_id/2.txt": {"duplicate": 1}},
)
TDRIVE_UNNAMED = Made(
    name="T-Drive without a word",
    kind="fixes",
    files={**TDRIVE.files, "taxi_log_2008_by_id/3.txt": ""},
    inputs=("taxi_log_2008_by_id",),
    rows={**TDRIVE.rows, "taxi_log_2008_by_id/3.txt": 0},
    used=4,
    dropped=TDRIVE.dropped,
    told=("no file has a line of column names", "preset='tdrive'"),
)

CAB_LINES = "37.75134 -122.39488 0 1213084687\n37.75136 -122.39527 1 1213084659\n37.75199 -122.39460 1 1213084540\n37.75977 -122.39460 1 1213084489\n"
CABSPOTTING = Made(
    name="Cabspotting without a word",
    kind="fixes",
    files={
        "new_abboip.txt": CAB_LINES,
        "new_enyenewl.txt": CAB_LINES,
        "_cabs.txt": '<cab id="abboip" updates="1"/>\n',
    },
    inputs=(".",),
    rows={"new_abboip.txt": 4, "new_enyenewl.txt": 4},
    used=8,
    told=("preset='cabspotting'",),
)

PLT = "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04\r\n39.994683,116.318450,0,492,39744.1302546296,2008-10-23,03:07:34\r\n"
GEOLIFE = Made(
    name="GeoLife without a word",
    kind="fixes",
    files={
        "Data/000/Trajectory/20081023025304.plt": PLT,
        "Data/001/Trajectory/20081023025304.plt": PLT,
        "Data/001/labels.txt": "Start Time\tEnd Time\tTransportation Mode\n2007/06/26 11:32:29\t2007/06/26 11:40:29\tbus\n",
    },
    inputs=("Data",),
    options={"preset": "geolife"},
    rows={
        "Data/000/Trajectory/20081023025304.plt": 2,
        "Data/001/Trajectory/20081023025304.plt": 2,
    },
    used=4,
)

TSMC = "470\t49bbd6c0f964a520f4531fe3\t4bf58dd8d48988d127951735\tArts & Crafts Store\t40.719810375488535\t-74.00258103213994\t-240\tTue Apr 03 18:00:09 +0000 2012\n979\t4a43c0aef964a520c6a61fe3\t4bf58dd8d48988d1df941735\tCaf\xe9\t40.606799581406435\t-74.04416981025437\t-240\tTue Apr 03 18:00:25 +0000 2012\n"
FOURSQUARE_CITY = Made(
    name="Foursquare of New York as published",
    kind="fixes",
    files={
        "dataset_TSMC2014_NYC.txt": TSMC.encode("latin-1"),
        "dataset_TSMC2014_readme.txt": "This dataset includes long-term check-in data.\n",
    },
    inputs=(".",),
    options={"preset": "foursquare"},
    rows={"dataset_TSMC2014_NYC.txt": 2},
    used=2,
)
FOURSQUARE_CITY_UNNAMED = Made(
    name="Foursquare of New York without a word, under another name",
    kind="fixes",
    files={"nyc.txt": TSMC.encode("latin-1")},
    rows={"nyc.txt": 2},
    used=2,
    told=("preset='foursquare'",),
)
FOURSQUARE_CITY_HEADED = Made(
    name="Foursquare of New York with a line of names",
    kind="fixes",
    files={
        "dataset_TSMC2014_NYC.txt": "userId\tvenueId\tvenueCategoryId\tvenueCategory\tlatitude\tlongitude\ttimezoneOffset\tutcTimestamp\n"
        + TSMC.replace("\xe9", "e")
    },
    options={"preset": "foursquare"},
    rows={"dataset_TSMC2014_NYC.txt": 2},
    used=2,
)

TIST = {
    "dataset_TIST2015_Checkins.txt": "50756\t4f5e3a72e4b053fd6a4313f6\tTue Apr 03 18:00:06 +0000 2012\t240\n190571\t4b4b87b5f964a5204a9f26e3\tTue Apr 03 18:00:07 +0000 2012\t180\n221021\t4a85b1b3f964a520eefe1fe3\tTue Apr 03 18:00:08 +0000 2012\t-240\n",
    "dataset_TIST2015_POIs.txt": "4f5e3a72e4b053fd6a4313f6\t55.696132\t37.557842\tBuilding\tRU\n4b4b87b5f964a5204a9f26e3\t55.029524\t37.974423\tCaf\xe9\tRU\n4b4b87b5f964a5204a9f26e3\t55.029524\t37.974423\tCaf\xe9\tRU\n",
}
FOURSQUARE_WORLD = Made(
    name="Foursquare of the world with the places in a second file",
    kind="fixes",
    files={
        **TIST,
        "dataset_TIST2015_Cities.txt": "Cairo\t30.06263\t31.24967\tEG\tEgypt\tNational and provincial capital\n",
        "dataset_TIST2015_readme.txt": "It contains three files in tsv format.\n",
    },
    inputs=(".",),
    options={"preset": "foursquare"},
    rows={"dataset_TIST2015_Checkins.txt": 3},
    used=2,
    dropped={"dataset_TIST2015_Checkins.txt": {"missing_coordinate": 1}},
)
FOURSQUARE_WORLD_UNNAMED = Made(
    name="Foursquare of the world without a word, places found beside",
    kind="fixes",
    files=TIST,
    inputs=("dataset_TIST2015_Checkins.txt",),
    rows={"dataset_TIST2015_Checkins.txt": 3},
    used=2,
    dropped={"dataset_TIST2015_Checkins.txt": {"missing_coordinate": 1}},
    told=("preset='foursquare'",),
)
FOURSQUARE_WWW = Made(
    name="Foursquare of WWW2019",
    kind="fixes",
    files={
        "dataset_WWW_Checkins_anonymized.txt": TIST["dataset_TIST2015_Checkins.txt"],
        "raw_POIs.txt": TIST["dataset_TIST2015_POIs.txt"],
        "dataset_WWW_friendship_old.txt": "15\t19\n",
    },
    inputs=(".",),
    options={"preset": "foursquare"},
    rows={"dataset_WWW_Checkins_anonymized.txt": 3},
    used=2,
    dropped={"dataset_WWW_Checkins_anonymized.txt": {"missing_coordinate": 1}},
)
FOURSQUARE_WITHOUT_PLACES = Made(
    name="Foursquare of the world without its places",
    kind="fixes",
    files={"dataset_TIST2015_Checkins.txt": TIST["dataset_TIST2015_Checkins.txt"]},
    options={"preset": "foursquare"},
    refused=("names places whose coordinates stand in another file", "*POIs*.txt*"),
)

GOWALLA_UNNAMED = Made(
    name="Gowalla without a word",
    kind="fixes",
    files={"part.txt": GOWALLA.files["loc-gowalla_totalCheckins.txt"]},
    rows={"part.txt": 3},
    used=3,
    told=("preset='gowalla'",),
)
BRIGHTKITE_LINES = "0\t2010-10-17T01:48:53Z\t39.747652\t-104.99251\t88c46bf20db295831bd2d1718ad7e6f5\n0\t2010-10-16T06:02:04Z\t39.891383\t-105.070814\t7a0f88982aa015062b95e3b4843f9ca2\n1\t2010-10-16T03:48:54Z\t39.891077\t-105.068532\tdd7cd3d264c2d063832db506fba8bf79\n1\t2010-10-14T18:25:51Z\t\t\t\n"
BRIGHTKITE = Made(
    name="Brightkite",
    kind="fixes",
    files={"loc-brightkite_totalCheckins.txt": BRIGHTKITE_LINES, "loc-brightkite_edges.txt": "0\t1\n"},
    inputs=(".",),
    options={"preset": "brightkite"},
    rows={"loc-brightkite_totalCheckins.txt": 4},
    used=3,
    dropped={"loc-brightkite_totalCheckins.txt": {"missing_coordinate": 1}},
)
GBFS = Made(
    name="snapshots of a bike-share feed",
    kind="fixes",
    files={
        f"status_{minute}.json": json.dumps(
            {
                "last_updated": 1713000000 + 60 * minute,
                "ttl": 60,
                "data": {
                    "bikes": [
                        {
                            "bike_id": "b1",
                            "lat": 48.85 + 0.01 * minute,
                            "lon": 2.35,
                            "is_reserved": 0,
                            "is_disabled": 0,
                        },
                        {"bike_id": "b2", "lat": 48.86, "lon": 2.35, "is_reserved": 0, "is_disabled": 0},
                    ]
                },
            }
        )
        for minute in (0, 5)
    },
    inputs=(".",),
    options={"preset": "gbfs"},
    rows={"status_0.json": 2, "status_5.json": 2},
    used=4,
    told=("change the ids of vehicles after every trip",),
)

UNKNOWN_WITHOUT_NAMES = Made(
    name="a file without names that could be anything",
    kind="fixes",
    files={"fixes.txt": "a7,2024-05-01 08:30:00,48.85,2.35\na8,2024-05-01 08:30:00,48.85,2.35\n"},
    refused=("looks like data", "tripcloak presets"),
)

CASES: tuple[Made, ...] = tuple(made for made in list(globals().values()) if isinstance(made, Made))
