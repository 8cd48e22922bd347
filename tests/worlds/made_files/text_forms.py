"""Text in all its forms: encodings, decimal commas, dates, archives."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import tarfile
import zipfile
from typing import Any

from worlds.made_files.made import Made

TRIPS = """user_id,start_lat,start_lng,end_lat,end_lng,started_at,quartier
u1,48.85,2.35,48.86,2.36,2024-05-01 08:30:00,Opéra
u2,48.84,2.34,48.87,2.37,2024-05-01 09:30:00,Bastille
u3,48.83,2.33,48.88,2.38,2024-05-01 10:30:00,Épinettes
u4,48.82,2.32,48.89,2.39,2024-05-01 11:30:00,Bel-Air
"""
LATER = TRIPS.replace("2024-05", "2024-06")
HALVES = (TRIPS[:90], TRIPS[90:])
FIXES = """user_id,time,lat,lon
u1,2024-05-01 08:30:00,48.85,2.35
u1,2024-05-01 09:30:00,48.86,2.36
u2,2024-05-01 08:30:00,48.84,2.34
"""


def packed(files: dict[str, str | bytes]) -> bytes:
    """Return a zip archive of these files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return archive.getvalue()


def taped(files: dict[str, str | bytes]) -> bytes:
    """Return a tar archive of these files; a link and a folder are in it too."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as made:
        for name, content in files.items():
            held = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(held)
            made.addfile(member, io.BytesIO(held))
        for name, kind in (("link.csv", tarfile.SYMTYPE), ("folder.csv", tarfile.DIRTYPE)):
            other = tarfile.TarInfo(name)
            other.type, other.linkname = kind, "/etc/passwd"
            made.addfile(other)
    return archive.getvalue()


def closed(content: bytes) -> bytes:
    """Return an archive whose members say that they are closed by a password."""
    central = content.index(b"PK\x01\x02")
    marked = bytearray(content)
    marked[6] |= 1
    marked[central + 8] |= 1
    return bytes(marked)


def workbook(*sheets: list[list[Any]]) -> bytes:
    """Return an xlsx workbook with these sheets."""
    import openpyxl

    book, made = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(made)
    return made.getvalue()


def cells(text: str) -> list[list[Any]]:
    """Return the rows of a CSV text, numbers and times as a spreadsheet program would hold them."""
    from datetime import datetime

    def held(cell: str) -> Any:
        for read in (float, datetime.fromisoformat):
            try:
                return read(cell)
            except ValueError:
                pass
        return cell

    return [[held(cell) for cell in line.split(",")] for line in text.splitlines()]


def lines(*made: tuple[Any, dict[str, Any]], mark: str = "") -> str:
    """Return points with their properties, a feature a line."""
    listed = [
        {"type": "Feature", "properties": said, "geometry": at and {"type": "Point", "coordinates": at}}
        for at, said in made
    ]
    return "".join(f"{mark}{json.dumps(one)}\n" for one in listed)


def features(kind: str, *made: tuple[Any, dict[str, Any]], **more: Any) -> str:
    """Return a FeatureCollection of coordinates with their properties."""
    listed = [
        {"type": "Feature", "geometry": {"type": kind, "coordinates": at}, "properties": properties}
        for at, properties in made
    ]
    return json.dumps({"type": "FeatureCollection", "features": listed, **more})


def whole(name: str, file: str, content: bytes | str, **said: Any) -> Made:
    """Return the case of the four trips in another form: all are used."""
    return Made(name=name, files={file: content}, rows={file: 4}, used=4, **said)


ENCODED = (
    whole("Latin-1", "a.csv", TRIPS.encode("latin-1"), told=("read as Windows-1252",)),
    whole(
        "Latin-1 where a column of text matters",
        "a.csv",
        TRIPS.encode("latin-1"),
        options={"attribute": "quartier"},
        told=("read as Windows-1252",),
    ),
    whole("Windows-1252", "a.csv", TRIPS.replace("Bel-Air", "\u2018Bel\u2019").encode("cp1252")),
    whole("Latin-1, compressed", "a.csv.gz", gzip.compress(TRIPS.encode("latin-1"))),
    whole("UTF-16 with a mark", "a.csv", TRIPS.encode("utf-16")),
    whole("UTF-16 without a mark", "a.txt", TRIPS.encode("utf-16-le")),
    whole("UTF-8 with a mark", "a.csv", TRIPS.encode("utf-8-sig")),
    whole("an encoding that is said", "a.csv", TRIPS.encode("cp850"), options={"encoding": "cp850"}),
    Made(
        name="UTF-8 with a line of something else",
        files={"a.csv": TRIPS.encode() + TRIPS.splitlines()[1].encode("latin-1") + b"\n"},
        options={"attribute": "quartier"},
        refused=("not text in UTF-8", "encoding='windows-1252'", "encoding='utf-8'"),
    ),
    Made(
        name="the same where that is known",
        files={"a.csv": TRIPS.encode() + TRIPS.splitlines()[1].encode("latin-1") + b"\n"},
        options={"attribute": "quartier", "encoding": "utf-8"},
        rows={"a.csv": 5},
        used=4,
        dropped={"a.csv": {"unparsable": 1}},
    ),
    Made(
        name="bytes of no encoding",
        files={"a.csv": TRIPS.encode("latin-1").replace(b"\xc9", b"\x81")},
        refused=("a.csv is not text in UTF-8, UTF-16 or Windows-1252", "encoding='NAME'"),
    ),
    Made(
        name="another encoding than is said",
        files={"a.csv": TRIPS.encode("latin-1")},
        options={"encoding": "utf-16"},
        refused=("a.csv is not text in utf-16", "encoding=..."),
    ),
)
PACKED = (
    Made(
        name="a zip archive",
        files={
            "a.zip": packed(
                {
                    "2024/jan.csv": TRIPS,
                    "2024/feb.csv": TRIPS.replace("2024-05", "2024-06").encode("latin-1"),
                    "__MACOSX/2024/._jan.csv": b"\0\1",
                    "README.md": "no table",
                }
            )
        },
        rows={"a.zip/2024/jan.csv": 4, "a.zip/2024/feb.csv": 4},
        used=8,
        told=("that are no CSV or Parquet were passed over",),
    ),
    Made(
        name="a zip archive whose names lead elsewhere",
        files={"a.zip": packed({"../../../elsewhere.csv": TRIPS})},
        rows={"a.zip/elsewhere.csv": 4},
        used=4,
    ),
    Made(
        name="a zip archive of no table",
        files={"a.zip": packed({"a.pdf": "x"})},
        refused=("holds no CSV",),
    ),
    Made(
        name="a zip archive with a password",
        files={"a.zip": closed(packed({"a.csv": TRIPS}))},
        refused=("a.zip is closed by a password; unpack it first",),
    ),
    Made(
        name="half a zip archive",
        files={"a.zip": packed({"a.csv": TRIPS})[:-30]},
        refused=("a.zip could not be read",),
    ),
    whole("gzip that does not say what it holds", "trips.gz", gzip.compress(TRIPS.encode())),
    whole("bzip2", "trips.csv.bz2", bz2.compress(TRIPS.encode())),
    whole("bzip2 in two streams", "a.bz2", b"".join(bz2.compress(half.encode()) for half in HALVES)),
    whole("bzip2 of Latin-1", "trips.csv.bz2", bz2.compress(TRIPS.encode("latin-1"))),
    Made(
        name="half a bzip2 file",
        files={"a.csv.bz2": bz2.compress(TRIPS.encode())[:-20]},
        refused=("a.csv.bz2 could not be",),
    ),
    Made(
        name="a tar archive",
        files={
            "a.tar.gz": gzip.compress(
                taped({"may.csv": TRIPS, "b/june.csv.bz2": bz2.compress(LATER.encode("latin-1")), "a.md": ""})
            )
        },
        rows={"a.tar.gz/may.csv": 4, "a.tar.gz/b/june.csv.bz2": 4},
        used=8,
        told=("that are no CSV or Parquet were passed over",),
    ),
    Made(
        name="a tar archive whose names lead elsewhere",
        files={"a.tgz": gzip.compress(taped({"../../../elsewhere.csv": TRIPS, "/root.csv": LATER}))},
        rows={"a.tgz/elsewhere.csv": 4, "a.tgz/root.csv": 4},
        used=8,
    ),
    Made(name="a tar archive of no table", files={"a.tar": taped({"a.pdf": "x"})}, refused=("holds no CSV",)),
    Made(
        name="half a tar archive",
        files={"a.tar": taped({"a.csv": TRIPS * 20})[:2000]},
        refused=("a.tar could not be unpacked; it may be damaged",),
    ),
    Made(name="no tar archive", files={"a.tgz": b"no"}, refused=("a.tgz could not be unpacked",)),
    whole("a workbook", "a.xlsx", workbook(cells(TRIPS))),
    Made(
        name="a workbook of several sheets",
        files={"a.xlsx": workbook([], cells(TRIPS), cells(TRIPS.replace("2024-05", "2024-06")), [["notes"]])},
        rows={"a.xlsx": 4, "a.xlsx, sheet 2": 4},
        used=8,
        told=("sheets with other columns",),
    ),
    Made(name="a broken workbook", files={"a.xlsx": b"PK"}, refused=("a.xlsx could not be read",)),
    Made(name="an old workbook", files={"a.xls": b"\xd0\xcf"}, refused=("save it as .xlsx or .csv",)),
)
FEATURES = (
    Made(
        name="GeoJSON of fixes",
        kind="fixes",
        files={
            "a.geojson": features(
                "Point",
                ([2.35, 48.85, 30.0], {"user_id": "u1", "time": "2024-05-01T08:30:00Z"}),
                ([2.36, 48.86], {"user_id": "u1", "time": "2024-05-01T09:30:00Z", "lat": "north"}),
                ([2.34, 48.84], {"user_id": "u2", "time": "2024-05-01T08:30:00Z"}),
            )
        },
        rows={"a.geojson": 3},
        used=3,
    ),
    Made(
        name="GeoJSON of trips",
        files={
            "a.geojson": features(
                "LineString",
                ([[2.35, 48.85], [2.36, 48.855], [2.37, 48.86]], {"user_id": 1}),
                ([[2.35, 48.85], [2.38, 48.87]], {"user_id": 2}),
                ([[2.35, 48.85]], {"user_id": 3}),
            )
        },
        rows={"a.geojson": 3},
        used=2,
        dropped={"a.geojson": {"single_fix": 1}},
    ),
    Made(
        name="GeoJSON of zones",
        files={"a.geojson": features("Polygon", ([[[0, 0], [1, 0], [1, 1], [0, 0]]], {"id": "A"}))},
        refused=("a.geojson holds areas", "zones=..."),
    ),
    Made(
        name="GeoJSON in metres",
        files={
            "a.geojson": features("Point", ([652000, 6862000], {}), crs={"properties": {"name": "EPSG:2154"}})
        },
        refused=("not in degrees", "WGS 84"),
    ),
    Made(
        name="GeoJSON a line",
        kind="fixes",
        files={
            "a.geojsonl": lines(
                ([2.35, 48.85, 30.0], {"user_id": "u1", "time": "2024-05-01T08:30:00Z"}),
                ([2.36, 48.86], {"user_id": "u2", "time": "2024-05-01T09:30:00Z", "trips": 3}),
                (None, {"user_id": "u2", "time": "2024-05-01T08:30:00Z"}),
            )
        },
        options={"tolerate": 1},
        rows={"a.geojsonl": 3},
        used=2,
        dropped={"a.geojsonl": {"missing_coordinate": 1}},
    ),
    Made(
        name="GeoJSON a line, under another name, compressed and with marks between",
        kind="fixes",
        files={
            "a.geojson.gz": gzip.compress(
                lines(
                    ([2.35, 48.85], {"user_id": "u1", "data": 1, "time": "2024-05-01T08:30:00Z"}),
                    ([2.36, 48.86], {"user_id": "u2", "time": "2024-05-01T09:30:00Z"}),
                    mark="\x1e",
                ).encode()
            )
        },
        rows={"a.geojson.gz": 2},
        used=2,
    ),
    Made(
        name="GeoJSON a line, with half a line",
        kind="fixes",
        files={"a.ndjson": lines(([2.35, 48.85], {}), ([2.36, 48.86], {}), ([2.36, 48.86], {}))[:-20]},
        refused=("line 3 of a.ndjson is no feature", "get the file again"),
    ),
    Made(name="JSON of something else", files={"a.json": '{"a": 1}'}, refused=("not GeoJSON with features",)),
)


def dated(name: str, *times: str, **said: Any) -> Made:
    """Return the case of trips that begin at these times, with coordinates in decimal commas."""
    rows = "".join(f"u{n};48,85;2,3{n};48,86;2,3{n};{time}\n" for n, time in enumerate(times))
    text = "user_id;start_lat;start_lng;end_lat;end_lng;started_at\n" + rows
    counted = {} if "refused" in said else {"rows": {"a.csv": len(times)}, "used": len(times)}
    return Made(name=name, files={"a.csv": text}, **{**counted, **said})


ZONES = "id,lat,lon\nA,48.85,2.35\nB,48.86,2.36\nC,48.87,2.37\n"
COUNTS = "origin;destination;trips\nA;B;{}\nB;C;{}\nC;A;{}\n"
WEIGHTS = "user_id;origin;destination;weight\nu1;A;B;{}\nu2;B;C;{}\n"


def numbered(name: str, text: str, *numbers: str, **said: Any) -> Made:
    """Return the case of zones and numbers that are written this way."""
    used = {} if "refused" in said else {"rows": {"a.csv": len(numbers)}, "used": len(numbers)}
    options = {"zones": "zones.csv", "hierarchy": "dendrogram", **said.pop("options", {})}
    return Made(
        name=name, files={"a.csv": text.format(*numbers), "zones.csv": ZONES}, options=options, **used, **said
    )


NUMBERS = (
    dated("decimal commas", "2024-05-01 08:30", "2024-05-01 09:30", told=("decimal comma",)),
    numbered("thousands with commas", COUNTS, "1,234", "12", "1,234,567", told=("thousands", "1235813")),
    numbered("thousands with points", COUNTS, "1.234", "12", "1.234.567", told=("thousands", "1235813")),
    numbered("thousands with spaces", COUNTS, "1 234", "12", "1\u00a0234\u202f567", told=("1235813",)),
    numbered("numbers of trips with commas", COUNTS, "1,234", "2,345", "3,456", told=("thousands", "7035")),
    numbered("weights with decimal commas", WEIGHTS, "1,5", "112,25", told=("decimal comma", "113.75")),
    numbered(
        "weights that may be large or small",
        WEIGHTS,
        "1,234",
        "2,345",
        refused=("the commas in column 'weight'", "decimal='comma'", "decimal='point'"),
    ),
    numbered(
        "the same numbers, said", WEIGHTS, "1,234", "2,345", options={"decimal": "comma"}, told=("3.579",)
    ),
)
DATES = (
    dated("month first", "4/1/2020 0:00", "4/13/2020 8:05", told=("the month first",)),
    dated("day first", "1/4/2020 0:00", "13/4/2020 8:05:10", told=("the day first", "time_format=")),
    dated("twelve hours", "4/1/2020 12:05 AM", "4/30/2020 1:05:10 PM", told=("the month first",)),
    dated("points between numbers", "1.4.2020 0:00", "2.4.2020", told=("usual with points",)),
    dated("two digits for the year", "13/4/20 8:05", "1/4/20 8:05", told=("the day first",)),
    dated("months by name", "01-Apr-2020 08:05", "13-Apr-2020 08:05"),
    dated("no gaps at all", "20200401083000", "20200413083000"),
    dated(
        "day or month first, and nobody knows",
        "4/1/2020 0:00",
        "4/2/2020 0:00",
        refused=("'started_at'", "time_format='%d/%m/%Y %H:%M'", "time_format='%m/%d/%Y %H:%M'", "'none'"),
    ),
    dated(
        "the same dates, said", "4/1/2020 0:00", "4/2/2020 0:00", options={"time_format": "%d/%m/%Y %H:%M"}
    ),
    dated("the same dates, left out", "4/1/2020 0:00", "4/2/2020 0:00", options={"start_time": "none"}),
    dated(
        "both", "13/1/2020 0:00", "1/13/2020 0:00", refused=("begin with the day and some with the month",)
    ),
    dated("a year that is first or last", "20-04-01", "20-04-02", refused=("time_format='%y-%m-%d'",)),
    dated("no format at all", "x", options={"time_format": "dd/mm/yyyy"}, refused=("time_format='%d/%m/%Y",)),
    dated(
        "a format that some rows do not have",
        "1/4/2020",
        "2020-04-01",
        options={"time_format": ["%d/%m/%Y"]},
        used=1,
        dropped={"a.csv": {"unparsable": 1}},
    ),
    dated(
        "a clock without a day",
        "2020-04-01 06:17:05",
        "06:17.5",
        used=1,
        dropped={"a.csv": {"unparsable": 1}},
        told=("a clock without a day",),
    ),
)

CASES: tuple[Made, ...] = (*ENCODED, *PACKED, *FEATURES, *NUMBERS, *DATES)
