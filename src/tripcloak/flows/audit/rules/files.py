"""Rules about the public files: which there are, that they are unchanged, that they agree."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tripcloak.flows.audit.evidence import BOOK, NAMES, POINTS, FlowEvidence
from tripcloak.flows.audit.promise import SEGMENTS, SPACE, WHERE_SAFE
from tripcloak.ground.documents import parse_json
from tripcloak.ground.folders import BACKGROUND, LEVEL_FILES, PUBLIC_FILES, SEGMENT_FILES, TABLE_FILES
from tripcloak.ground.public_files import another_manifest, changed_files, wrong_files
from tripcloak.ground.rulebook import BrokenPart, Remark
from tripcloak.ground.signatures import NAME as VERDICT
from tripcloak.ground.signatures import RULE as SIGNED
from tripcloak.ground.signatures import wrong_form

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = "tables"
ZONE_COLUMNS = ("axis", "zone", "height", "tiles", "area_km2", "lat", "lon", "geometry")


@BOOK.rule("files-complete")
def files_complete(case: FlowEvidence) -> str | None:
    """The public part holds exactly the files it should, and nothing more."""
    return wrong_files(case.public(""), _expected(case), {VERDICT})


def _expected(case: FlowEvidence) -> set[str]:
    """Return the names of the public files, whatever else the manifest says."""
    promise = case.facts.get("promise")
    parted = isinstance(promise, dict) and promise.get("kind") in (SEGMENTS, WHERE_SAFE)
    told = case.facts.get(TABLES)
    levels = isinstance(told, dict) and bool(told.get("levels"))
    return {
        *PUBLIC_FILES,
        *(SEGMENT_FILES if parted else ()),
        *(TABLE_FILES if told is not None else ()),
        *(LEVEL_FILES if levels else ()),
        *((BACKGROUND,) if "background" in case.facts else ()),
    }


@BOOK.rule(SIGNED)
def signature_fits(case: FlowEvidence) -> str | Remark | None:
    """A signed verdict, if there is one, is on these very files and holds no more."""
    return wrong_form(case.public(""))


@BOOK.rule("digests-match")
def digests_match(case: FlowEvidence) -> str | None:
    """Every public file has the digest that the manifest states."""
    return changed_files(case.public(""), case.facts.get("files"), _expected(case))


@BOOK.rule("manifest-as-made", "record")
def manifest_as_made(case: FlowEvidence) -> str | None:
    """The manifest is the very one that was written with the private record."""
    return another_manifest(case.folder)


@BOOK.rule("csv-equals-parquet", "flows")
def csv_equals_parquet(case: FlowEvidence) -> str | None:
    """``flows.csv`` and ``flows.parquet`` hold the same rows."""
    return differs_from_csv(case, "flows")


def differs_from_csv(case: FlowEvidence, part: str) -> str | None:
    """Return what differs between the two forms of a public table."""
    names = case.columns(f"audit_{part}")
    if _csv_header(case, part) != list(names):
        return f"{part}.csv and {part}.parquet have different columns"
    case.keep("audit_csv", "select * from audit_reader", _csv_rows(case, part, names))
    texts = ", ".join(
        f"try_cast({name} as double)" if name in POINTS else _identifier(name) for name in names
    )
    table = f"select {', '.join(_as_text(name) for name in names)} from audit_{part}"
    differ = case.value(
        f"""select count(*) from (
            (select {texts} from audit_csv except all {table})
            union all
            ({table} except all select {texts} from audit_csv)
        )"""
    )
    return f"{part}.csv and {part}.parquet hold different rows" if differ else None


def _as_text(name: str) -> str:
    """Return SQL for a value as the text table must have it: what a spreadsheet would run is guarded."""
    if name in POINTS:
        return f"{name}::double"
    value = f"{_identifier(name)}::varchar"
    if name not in (*SPACE, *NAMES, "segment"):
        return value
    return f"case when regexp_matches({value}, '{_FORMULA}') then '''' || {value} else {value} end"


_FORMULA = r"^''*[=+\-@\t\r\n＝＋－＠]"


def _csv_rows(case: FlowEvidence, part: str, names: Sequence[str]) -> pa.RecordBatchReader:
    """Return the rows of a text table as they stand there; the engine itself need not open any file."""
    import pyarrow as pa
    from pyarrow import csv as text

    try:
        return text.open_csv(
            case.public(f"{part}.csv").absolute(),
            parse_options=text.ParseOptions(newlines_in_values=True),
            convert_options=text.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    except (pa.ArrowException, OSError):
        raise BrokenPart(f"release/{part}.csv cannot be read as CSV") from None


def _csv_header(case: FlowEvidence, part: str = "flows") -> list[str]:
    try:
        with case.public(f"{part}.csv").open(encoding="utf-8", newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, ValueError, csv.Error):
        raise BrokenPart(f"release/{part}.csv cannot be read as CSV") from None


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@BOOK.rule("only-protected-columns", "flows", "zones")
def only_protected_columns(case: FlowEvidence) -> str | None:
    """Published tables hold no number that the thresholds do not cover."""
    allowed = set(case.promise.columns)
    told = case.facts.get("columns")
    if not isinstance(told, list) or told != list(case.promise.columns):
        return "the manifest lists other columns than the thresholds cover"
    named = set(NAMES) if "names" in case.facts else set()
    tables = {
        "flows.parquet": (set(case.columns("audit_flows")), {*case.promise.axes, *POINTS} | allowed | named),
        "flows.csv": (set(_csv_header(case)), {*case.promise.axes, *POINTS} | allowed | named),
        "zones.parquet": (set(case.columns("audit_zones")), _zone_columns(case)),
        "zones.geojson": (_geojson_columns(case), _zone_columns(case)),
    }
    for name, (found, expected) in tables.items():
        if found - expected:
            return f"release/{name} holds a column that no threshold covers"
    return None


def _zone_columns(case: FlowEvidence) -> set[str]:
    """Return the columns that zones may have: lists of tiles only where they tell nothing about the data."""
    volumes = set(case.promise.told.summed)
    named = {"name"} if "names" in case.facts else set()
    return {*ZONE_COLUMNS, *volumes} | named | (set() if case.promise.grid else {"members"})


def _geojson_columns(case: FlowEvidence) -> set[str]:
    try:
        collection = parse_json(case.public("zones.geojson").read_text(encoding="utf-8"))
        return {name for item in collection["features"] for name in item["properties"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise BrokenPart("release/zones.geojson is not a GeoJSON collection of zones") from None


_DATA = re.compile(r'<script type="application/json" id="release">(.*?)</script>', re.DOTALL)
_CELL = re.compile(r"(?<![0-9a-f])8[0-9a-f]{14}(?![0-9a-f])")
BEHIND = {"towns", "background"}
ZONE_FACTS = {"zone", "name", "height", "tiles", "area_km2", "outline"}


@BOOK.rule("map-shows-released-only", "flows")
def map_shows_released_only(case: FlowEvidence) -> str | None:
    """The map embeds exactly the released flows, summed over time, and their zones."""
    page = _page(case)
    found = _DATA.findall(page)
    if len(found) != 1:
        return "release/map.html does not embed one table of data"
    try:
        data = parse_json(found[0])
        wrong = _wrong_flows(case, data) or _wrong_zones(case, data) or _wrong_behind(case, data)
        return wrong or _strangers(case, _DATA.sub("", page))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return "release/map.html embeds data of an unknown form"


def _page(case: FlowEvidence) -> str:
    try:
        return case.public("map.html").read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise BrokenPart("release/map.html cannot be read") from None


def _wrong_flows(case: FlowEvidence, data: dict[str, Any]) -> str | None:
    columns = [name for name in case.promise.columns if name in case.columns("audit_flows")]
    if case.promise.slot is not None:
        # Sums over time of different people would count one of them several times.
        columns = [name for name in columns if name in case.promise.told.summed]
    table = data["flows"]
    if set(data) - BEHIND != {"volume", "flows", *SPACE} or set(table) != {*SPACE, *columns}:
        return "release/map.html embeds other columns than were released"
    ends = [[data[axis]["zone"][code] for code in table[axis]] for axis in SPACE]
    shown = Counter(zip(*ends, *(table[name] for name in columns), strict=True))
    query = f"select {', '.join([*SPACE, *columns])} from audit_flows"
    if case.promise.slot is not None:
        sums = ", ".join(f"sum({name})" for name in columns)
        query = f"select {', '.join(SPACE)}, {sums} from audit_flows group by {', '.join(SPACE)}"
    released = Counter(case.rows(query))
    return "release/map.html shows other flows than were released" if shown != released else None


def _wrong_zones(case: FlowEvidence, data: dict[str, Any]) -> str | None:
    volumes = list(case.promise.told.summed)
    for axis in SPACE:
        table = data[axis]
        shown_volumes = [name for name in volumes if name in table]
        if set(table) - ZONE_FACTS - set(volumes) or not shown_volumes:
            return "release/map.html embeds other columns than were released"
        sums = ", ".join(f"sum({name})" for name in shown_volumes)
        released = Counter(case.rows(f"select {axis}, {sums} from audit_flows group by {axis}"))
        numbers = [table[name] for name in shown_volumes]
        lengths = {len(column) for column in table.values()}
        if len(lengths) != 1 or Counter(zip(table["zone"], *numbers, strict=True)) != released:
            return f"release/map.html shows other {axis} zones than were released"
    return None


def _wrong_behind(case: FlowEvidence, data: dict[str, Any]) -> str | None:
    """Return what is wrong with towns and shapes between the zones: both stand elsewhere in the release."""
    towns = case.facts["names"].get("towns") if "names" in case.facts else None
    if data.get("towns", []) != (towns or []):
        return "release/map.html labels other towns than the manifest tells"
    told = None
    if "background" in case.facts:
        told = parse_json(case.public(BACKGROUND).read_text(encoding="utf-8"), deepest=20)
    if data.get("background") != told:
        return f"release/map.html draws other shapes behind it than {BACKGROUND} holds"
    return None


def _strangers(case: FlowEvidence, rest: str) -> str | None:
    """Return what is wrong with the page around its data: it may name no cell that was not released."""
    if case.promise.resolution is None:
        return None
    named = set(_CELL.findall(rest))
    released = {zone for row in case.rows("select origin, destination from audit_flows") for zone in row}
    return "release/map.html names a cell that was not released" if named - released else None
