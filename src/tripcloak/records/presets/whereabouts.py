"""Presets of GPS fixes, check-ins and calls: a row is somebody, a time and a place."""

from __future__ import annotations

from tripcloak.records.presets.preset import FLAT, Derived, Layout, Preset
from tripcloak.records.schema import KNOWN_NAMES

_DEGREES = r"-?\d{1,3}(\.\d+)?"
_VENUE = r"[0-9a-f]{24}"
_WEEKDAY_TIME = r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d \+0000 \d{4}"
_INSTANT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"

CABSPOTTING = Preset(
    name="cabspotting",
    words="GPS fixes of San Francisco taxis, one file a cab; trips are runs with a passenger",
    like=("new_abboip.txt",),
    id_is="vehicle",
    form="points",
    columns={
        "person": ("cab", *FLAT["person"]),
        "time": ("unix_time", *FLAT["time"]),
        "lat": ("latitude", *FLAT["lat"]),
        "lon": ("longitude", *FLAT["lon"]),
        "occupied": ("occupancy", "occupied"),
    },
    layouts=(
        Layout(
            columns=("latitude", "longitude", "occupancy", "unix_time"),
            delimiter=" ",
            suffixes=(".txt",),
            pattern="new_*.txt",
            line=r"3[78]\.\d+ -12[123]\.\d+ [01] 12\d{8}",
        ),
    ),
    derived=(
        Derived(
            name="cab",
            sql=r"regexp_extract(filename, '(?:new_)?([^/\\]*)\.txt$', 1)",
            needs=("unix_time",),
        ),
    ),
    ids_in_paths=True,
)

GEOLIFE = Preset(
    name="geolife",
    in_utc=True,
    words="GPS fixes of GeoLife, one folder a person and one .plt file a trajectory",
    like=("Data/000/Trajectory/20081023025304.plt",),
    id_is="person",
    form="points",
    columns={
        "person": ("person", *FLAT["person"]),
        "time": ("date_time", *FLAT["time"]),
        "lat": ("latitude", *FLAT["lat"]),
        "lon": ("longitude", *FLAT["lon"]),
        "trip_id": ("trajectory", "trip_id", "trajectory_id", "traj_id"),
    },
    layouts=(
        Layout(
            columns=("latitude", "longitude", "zero", "altitude_feet", "days", "date", "time"),
            delimiter=",",
            skip=6,
            suffixes=(".plt",),
            pattern="*.plt",
            line=rf"{_DEGREES},{_DEGREES},0,-?[\d.eE+-]+,\d+(\.\d+)?,\d{{4}}-\d\d-\d\d,\d\d:\d\d:\d\d",
        ),
    ),
    derived=(
        Derived(
            name="person",
            sql=r"regexp_extract(filename, '([^/\\]+)[/\\]Trajectory[/\\][^/\\]*$', 1)",
            needs=("altitude_feet",),
        ),
        Derived(
            name="trajectory",
            sql=r"regexp_extract(filename, '([^/\\]*)\.plt$', 1)",
            needs=("altitude_feet",),
        ),
        Derived(name="date_time", sql='concat_ws(\' \', "date", "time")', needs=("date", "time")),
    ),
    ids_in_paths=True,
)

TDRIVE = Preset(
    name="tdrive",
    words="GPS fixes of Beijing taxis (T-Drive), one file a taxi",
    like=("release/taxi_log_2008_by_id/1.txt",),
    id_is="vehicle",
    form="points",
    columns=FLAT,
    layouts=(
        Layout(
            columns=("taxi_id", "date_time", "longitude", "latitude"),
            delimiter=",",
            suffixes=(".txt",),
            pattern="*.txt",
            # Only around Beijing does it show which of the two is the longitude.
            line=r"\d+,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,1[01]\d\.\d+,[2-5]\d\.\d+",
        ),
    ),
    ids_in_paths=True,
)

_POIS = Layout(
    columns=("venue_id", "latitude", "longitude", "category", "country"),
    delimiter="\t",
    suffixes=(".txt",),
    pattern="*POIs*.txt*",
    encoding="latin-1",
    line=rf"{_VENUE}\t{_DEGREES}\t{_DEGREES}\t[^\t]*\t[A-Za-z]{{2}}",
)

FOURSQUARE = Preset(
    name="foursquare",
    words="check-ins of Foursquare: New York and Tokyo 2012-2013 (TSMC2014), and all over the world with the "
    "places in a second file (TIST2015, WWW2019)",
    like=(
        "dataset_TSMC2014_NYC.txt",
        "dataset_TIST2015_Checkins.txt with dataset_TIST2015_POIs.txt",
        "dataset_WWW_Checkins_anonymized.txt with raw_POIs.txt",
    ),
    id_is="person",
    form="points",
    columns=FLAT,
    layouts=(
        Layout(
            columns=(
                "user_id",
                "venue_id",
                "category_id",
                "category",
                "latitude",
                "longitude",
                "offset_minutes",
                "utc_time",
            ),
            delimiter="\t",
            suffixes=(".txt",),
            pattern="dataset_TSMC2014_*.txt*",
            encoding="latin-1",
            line=rf"\d+\t{_VENUE}\t({_VENUE})?\t[^\t]*\t{_DEGREES}\t{_DEGREES}\t-?\d+\t{_WEEKDAY_TIME}",
        ),
        Layout(
            columns=("user_id", "venue_id", "utc_time", "offset_minutes"),
            delimiter="\t",
            suffixes=(".txt",),
            pattern="*Checkins*.txt*",
            line=rf"\d+\t{_VENUE}\t{_WEEKDAY_TIME}\t-?\d+",
            places=_POIS,
            on="venue_id",
        ),
    ),
    passed_over=("*readme*", "*Cities*", "*friendship*"),
    time_formats=("%a %b %d %H:%M:%S %z %Y",),
)

GOWALLA = Preset(
    name="gowalla",
    words="check-ins of Gowalla all over the world, 2009-2010",
    like=("loc-gowalla_totalCheckins.txt.gz",),
    id_is="person",
    form="points",
    columns=FLAT,
    layouts=(
        Layout(
            columns=("user_id", "checkin_time", "latitude", "longitude", "venue_id"),
            delimiter="\t",
            suffixes=(".txt",),
            pattern="*totalCheckins.txt*",
            line=rf"\d+\t{_INSTANT}\t{_DEGREES}\t{_DEGREES}\t\d{{1,9}}",
        ),
    ),
    passed_over=("*edges*",),
)

BRIGHTKITE = Preset(
    name="brightkite",
    words="check-ins of Brightkite all over the world, 2008-2010",
    like=("loc-brightkite_totalCheckins.txt.gz",),
    id_is="person",
    form="points",
    columns=FLAT,
    layouts=(
        Layout(
            columns=("user_id", "checkin_time", "latitude", "longitude", "venue_id"),
            delimiter="\t",
            suffixes=(".txt",),
            pattern="*totalCheckins.txt*",
            line=rf"\d+\t({_INSTANT})?\t({_DEGREES})?\t({_DEGREES})?\t([0-9a-f]{{10,40}})?",
        ),
    ),
    passed_over=("*edges*",),
)

CDR = Preset(
    name="cdr",
    words="call detail records: a subscriber, a time and a base station (or its place)",
    like=("calls.parquet",),
    id_is="device",
    form="points",
    columns={
        **FLAT,
        "person": ("subscriber", "caller_id", "caller", "imsi", "msisdn", *FLAT["person"]),
        "antenna": KNOWN_NAMES["antenna"],
    },
)

WHEREABOUTS = (CABSPOTTING, GEOLIFE, TDRIVE, FOURSQUARE, GOWALLA, BRIGHTKITE, CDR)
