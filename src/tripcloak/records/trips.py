"""The view ``canonical``: every row of an input in clean columns, with the reason to drop it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tripcloak.ground.engine import plain_errors
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.records.area import Area, open_area
from tripcloak.records.cleaning import CleaningReport, column_rules, place_rules, reason_sql, zone_rules
from tripcloak.records.columns import plain_name
from tripcloak.records.during import during_condition
from tripcloak.records.files.tables import quoted
from tripcloak.records.fixes import MadeTrips, make_trips, report_fixes, trips_sql
from tripcloak.records.identities import Identity, identify, look_at_use
from tripcloak.records.notes import note_on_input
from tripcloak.records.opening import Rows, open_rows
from tripcloak.records.presets import Preset
from tripcloak.records.schema import PEOPLE_ONCE, Endpoints, Form
from tripcloak.records.segments import segment_condition
from tripcloak.records.source import TripSource

if TYPE_CHECKING:
    import duckdb

VIEW = "canonical"
WHOLE = "canonical_whole"
_ORDER = (
    "o_lat", "o_lon", "d_lat", "d_lon", "o_id", "d_id", "o_place", "d_place", "person", "weight", "trips",
    "start_time", "end_time",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Canonical:
    """What is in the view ``canonical`` of a connection.

    The view has ``o_lat, o_lon, d_lat, d_lon`` (degrees) or ``o_id, d_id`` (text), and, where the input
    has them, ``o_place``, ``d_place``, ``person``, ``weight``, ``trips``, ``start_time``, ``end_time`` and
    ``attr_`` columns. The column ``reason`` is 0 for rows to keep, otherwise the number of the first rule of
    :data:`~tripcloak.records.cleaning.REASONS` that the row breaks. Where there is a start time or an id of
    trips, rows with equal ``mark`` are one trip; where there are fares, ``refund`` says which take one back.
    Where rows come from several files, ``file`` says from which.

    Attributes
    ----------
    form : str
        The form of the input.
    endpoints : str
        ``"points"`` or ``"zones"``.
    columns : dict
        Role to the raw column that plays it.
    people_once : bool
        Each counted person occurs in one row of the whole table.
    notes : list of str
        What a reader should know about how the input was read; holds no numbers and no values.
    files : int
        Number of files read.
    timezone : str, optional
        The zone whose clock the data follows; None where nothing says it.
    id_is : str
        What the ids stand for: a person, a vehicle and so on, or that nothing tells.
    silence : float, optional
        Seconds without a GPS fix after which a new trip started, where that parted trips.
    sampling : str, optional
        How far apart fixes are, in words, where trips were made of them.
    cleaned : str
        SQL of the columns of the view, to be taken from rows in clean columns.
    """

    form: Form
    endpoints: Endpoints
    columns: dict[str, str]
    names: tuple[str, ...]
    attributes: tuple[str, ...]
    people_once: bool
    notes: list[str]
    files: int
    opened: Rows = field(repr=False)
    cleaned: str = field(repr=False)
    timezone: str | None = "UTC"
    id_is: str = "person"
    silence: float | None = None
    sampling: str | None = None

    def settled(self, source: TripSource) -> TripSource:
        """Return the source with what was found written down, to be read the same way again."""
        return source if self.silence is None else replace(source, silence=self.silence)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Return the connection that has the view."""
        return self.opened.connection

    @property
    def has_person(self) -> bool:
        """Return whether rows carry the id of a person or vehicle."""
        return "person" in self.names

    @property
    def has_weight(self) -> bool:
        """Return whether rows carry a weight."""
        return "weight" in self.names

    @property
    def has_trips(self) -> bool:
        """Return whether a row stands for several trips."""
        return "trips" in self.names

    @property
    def has_places(self) -> bool:
        """Return whether rows say at which places trips begin and end."""
        return "o_place" in self.names and "d_place" in self.names

    @property
    def has_start(self) -> bool:
        """Return whether rows carry a start time."""
        return "start_time" in self.names

    @property
    def has_mark(self) -> bool:
        """Return whether duplicates can be told from separate equal trips."""
        return "mark" in self.names

    @property
    def has_file(self) -> bool:
        """Return whether rows say which file they are from; trips made of fixes may be of several."""
        return self.files > 1 and self.form != "points"

    def of_file(self, place: int, source: TripSource, rows: tuple[int, int] | None = None) -> str:
        """Return SQL of what the view has of one file, in the connection or in another one.

        Parameters
        ----------
        place
            Which of all files.
        source
            What was opened, with the segment or the period that is wanted of it.
        rows
            The first row of a Parquet file to take, and the first behind those; all by default.
        """
        wanted = _wanted(self.names, source, self.timezone)
        return f"SELECT * FROM ({self.cleaned} FROM ({self.opened.select_file(place, rows)})) WHERE {wanted}"

    def broken_lines(self) -> dict[str, int]:
        """Return every file's lines that had the wrong number of fields, as known after a full scan."""
        return self.opened.broken_lines()

    def fixes_report(self) -> CleaningReport | None:
        """Return what became of the GPS fixes, if trips were made of fixes."""
        return report_fixes(self.connection, self.broken_lines()) if self.form == "points" else None

    def object_to(self, report: CleaningReport) -> None:
        """Raise an InputError if the rows show that the input as a whole was misread."""
        self.opened.object_to(report)


def open_canonical(con: duckdb.DuckDBPyConnection, source: TripSource) -> Canonical:
    """Create the view ``canonical`` of a source and return what is in it.

    Nothing but the top of the files is read here, except for GPS fixes, which must be sorted before
    there are trips. One pass over the view gives the rows to keep and the rows by reason; pass those
    to :meth:`CleaningReport.from_rows <tripcloak.records.cleaning.CleaningReport.from_rows>`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tripcloak.ground.engine import connect
    >>> with tempfile.TemporaryDirectory() as folder, connect() as con:
    ...     path = Path(folder) / "trips.csv"
    ...     _ = path.write_text("user,o_lat,o_lon,d_lat,d_lon\\na,48.8,2.3,48.9,2.4\\nb,0,0,48.9,2.4\\n")
    ...     canonical = open_canonical(con, TripSource(paths=(str(path),)))
    ...     report = clean(canonical)
    >>> canonical.form, canonical.has_person, report.kept, report.dropped
    ('trips', True, 1, {'null_island': 1})
    """
    rows = open_rows(con, source)
    with plain_errors(rows.name, has_condition=source.where is not None):
        area = open_area(con, source.box, source.polygon)
        names, cleaned, made = _create_whole_view(con, rows, area, source.silence)
        _create_view(con, names, source, rows.timezone)
        identity = _identity(con, source, rows, names)
        notes = [
            *rows.notes,
            *identity.notes,
            *note_on_input(con, rows.projections, source.timezone or "UTC", names),
            *(made.notes if made else ()),
        ]
    return Canonical(
        form=rows.assignment.form,
        endpoints=rows.assignment.endpoints,
        columns=rows.columns,
        names=names,
        attributes=source.attributes,
        people_once=_people_once(source, rows.preset, rows.columns),
        notes=notes,
        files=rows.files,
        opened=rows,
        cleaned=cleaned,
        timezone=rows.timezone,
        id_is=identity.kind,
        silence=made.silence if made else None,
        sampling=made.sampling if made else None,
    )


def _identity(
    con: duckdb.DuckDBPyConnection, source: TripSource, rows: Rows, names: Sequence[str]
) -> Identity:
    """Return what the ids stand for; where there are none, rows that count people once do."""
    if "person" not in names:
        return Identity("person")
    return identify(
        rows.id_columns,
        said=source.id_is,
        preset=rows.preset,
        named="person" in source.columns,
        use=look_at_use(con, VIEW, names),
    )


def narrow(canonical: Canonical, source: TripSource) -> None:
    """Let the view hold what a source asks for of the rows that were opened.

    Segments and samples of one input are read one after the other this way, and GPS fixes sorted once.

    Parameters
    ----------
    source
        The source that was opened, but for its segment and sample. Columns that part the input must have
        been carried along.
    """
    _create_view(canonical.connection, canonical.names, source, canonical.timezone)


def clean(canonical: Canonical) -> CleaningReport:
    """Return the report of a pass over the view that keeps nothing but the number of rows by reason."""
    with plain_errors():
        file = "file" if canonical.has_file else "0"
        rows = canonical.connection.execute(
            f"SELECT {file}, reason, count(*) FROM {VIEW} GROUP BY ALL"
        ).fetchall()
    by_file: list[dict[int, int]] = [{} for _ in range(canonical.files if canonical.has_file else 1)]
    for number, reason, n in rows:
        by_file[number][reason] = n
    return CleaningReport.from_rows(by_file, canonical)


def _create_whole_view(
    con: duckdb.DuckDBPyConnection, rows: Rows, area: Area, silence: float | None
) -> tuple[tuple[str, ...], str, MadeTrips | None]:
    """Create the view of all rows and return its columns, also as SQL, and how trips were made of fixes."""
    sql, types = rows.select()
    made = None
    if rows.assignment.form == "points":
        made = make_trips(con, sql, types, silence)
        sql, types = trips_sql(), made.types
    unknown = rows.preset.unknown_zones if rows.preset is not None else ()
    rules = zone_rules(unknown) if rows.assignment.endpoints == "zones" else place_rules(area)
    reason = reason_sql([*rules, *column_rules(tuple(types))])
    carried = [name for name in types if name.startswith("attr_")]
    names = [name for name in _ORDER if name in types] + carried
    listed = ["TRY_CAST(trips AS BIGINT) AS trips" if name == "trips" else quoted(name) for name in names]
    listed.append(f"{reason} AS reason")
    if {"start_time", "trip_id"} & set(types):
        listed.append(f"{_mark(names, types)} AS mark")
        listed += ["coalesce(fare < 0, false) AS refund"] if "fare" in types else []
        names += ["mark", *(["refund"] if "fare" in types else [])]
    if "file" in types:
        listed.append("file")
    cleaned = f"SELECT {', '.join(listed)}"
    con.execute(f"CREATE OR REPLACE TEMP VIEW {WHOLE} AS {cleaned} FROM ({sql})")
    return (*names, "reason"), cleaned, made


def _create_view(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], source: TripSource, timezone: str | None
) -> None:
    """Create the view: all rows, or those of a segment or a period, or of a sample of its travellers."""
    rows = f"SELECT * FROM {WHOLE} WHERE {_wanted(names, source, timezone)}"
    if source.sample is not None:
        size, seed = source.sample
        one = "person" if "person" in names else f"hash({', '.join(map(quoted, names))})"
        drawn = (
            f"SELECT DISTINCT {one} AS one FROM ({rows}) WHERE reason = 0 AND one IS NOT NULL "
            f"ORDER BY hash(one, {int(seed)}), one LIMIT {int(size)}"
        )
        rows = f"SELECT * FROM ({rows}) WHERE {one} IN (SELECT one FROM ({drawn}))"
    con.execute(f"CREATE OR REPLACE TEMP VIEW {VIEW} AS {rows}")


def _wanted(names: Sequence[str], source: TripSource, timezone: str | None) -> str:
    """Return SQL that is true of rows of the segment and of the period that a source asks for."""
    inside = segment_condition(source.segment) if source.segment else "true"
    if source.during is not None:
        if "start_time" not in names:
            raise InputError(f"a period needs the start of every trip; name it with {spelt('start_time')}")
        inside += f" AND {during_condition(source.during, timezone or 'UTC')}"
    return inside


def _mark(names: Sequence[str], types: Collection[str]) -> str:
    """Return SQL of a number that equal rows share; a row with neither a time nor an id is equal to none.

    A trip is known by its own id, and without one by its fare and length too. The sign of the fare does not
    count: a refund shares the mark of what is refunded.
    """
    told = ["trip_id"] if "trip_id" in types else []
    plain = "trip_id IS NULL" if told else "true"
    told += [f"CASE WHEN {plain} THEN abs({name}) END" for name in ("fare", "distance") if name in types]
    known = [f"{name} IS NOT NULL" for name in ("start_time", "trip_id") if name in types]
    return (
        f"CASE WHEN {' OR '.join(known)} THEN hash({', '.join([*map(quoted, names), *told])}) "
        "ELSE hash(gen_random_uuid()) END"
    )


def _people_once(source: TripSource, preset: Preset | None, columns: Mapping[str, str]) -> bool:
    if source.people_once is not None:
        return source.people_once
    if preset is not None and preset.people_once is not None:
        return preset.people_once
    return plain_name(columns.get("trips", "")) in PEOPLE_ONCE
