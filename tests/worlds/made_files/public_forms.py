"""Public data sets in exactly the form in which they are published."""

# Lines of data files are as long as they are.
# ruff: noqa: E501

from __future__ import annotations

from worlds.made_files.made import Made

PORTO = Made(
    name="Porto taxis",
    files={
        "train.csv": """"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE","MISSING_DATA","POLYLINE"
"1372636858620000589","C","","","20000589","1372636858","A","False","[[-8.618643,41.141412],[-8.618499,41.141376],[-8.630838,41.154489]]"
"1372637303620000596","B","","7","20000596","1372637303","A","False","[[-8.639847,41.159826],[-8.665740,41.170671]]"
"1372636951620000320","C","","","20000320","1372636951","A","False","[]"
"1372636854620000520","A","31508","","20000520","1372636854","A","True","[[-8.574678,41.151951],[-8.573940,41.152395]]"
"""
    },
    options={"preset": "porto-taxi"},
    rows={"train.csv": 4},
    used=2,
    dropped={"train.csv": {"incomplete": 1, "single_fix": 1}},
)

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

NO_SUCH_PRESET = Made(
    name="a preset that there is not",
    files={"trips.csv": "o_lat,o_lon,d_lat,d_lon\n48.8,2.3,48.9,2.4\n"},
    options={"preset": "citybike"},
    refused=("unknown preset", "citibike"),
)

CASES: tuple[Made, ...] = (PORTO, GOWALLA, NO_SUCH_PRESET)
