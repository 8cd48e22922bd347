"""From a source to its rows in clean columns: the tables opened, and the column of each role found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tripcloak.ground.engine import close_to_files, plain_errors
from tripcloak.ground.errors import InputError, MissingColumnError
from tripcloak.ground.spelling import called, spelt
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.columns import (
    Assignment,
    assign_columns,
    check_attributes,
    check_same_form,
    find_roles,
    match_column,
)
from tripcloak.records.conditions import check_condition
from tripcloak.records.file_counts import file_names
from tripcloak.records.files.encodings import object_to_encoding
from tripcloak.records.files.recognising import recognised
from tripcloak.records.files.tables import Table, open_tables
from tripcloak.records.files.writing import Writings, look_at_writing
from tripcloak.records.notes import (
    object_to_swapped,
    object_to_text,
    object_to_weights,
    unread_column,
    without_empty_person,
)
from tripcloak.records.presets import Preset, find_preset
from tripcloak.records.projection import Projection, of_file, project, union
from tripcloak.records.proposing import proposal, proposed_presets
from tripcloak.records.schema import KNOWN_NAMES, ROLES, TELLING
from tripcloak.records.source import TripSource
from tripcloak.records.stations import AT_STATIONS, open_stations, place_at_stations, unplaced
from tripcloak.records.values import Casts

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Every row of a source, good or bad, in clean columns.

    Attributes
    ----------
    name : str
        What messages call the input: the name of its file, or how many files there are.
    assignment : Assignment
        The form of the tables, and the raw column of each role.
    preset : Preset, optional
        The public format that was asked for.
    notes : list of str
        What a reader should know about the columns; holds no numbers and no values.
    files : int
        Number of files.
    encoding_said : bool
        Whether the caller knows the encoding, so that text of another one is to be dropped and counted.
    timezone : str, optional
        The zone whose clock the data follows; None where neither it nor the caller says: then times are taken
        as they stand.
    why : mapping
        Role to why a column was taken for it.
    unused : tuple of str
        Raw columns that nothing is taken from.
    """

    name: str
    assignment: Assignment
    preset: Preset | None
    notes: list[str]
    files: int
    encoding_said: bool
    timezone: str | None
    connection: duckdb.DuckDBPyConnection = field(repr=False)
    projections: tuple[Projection, ...] = field(repr=False)
    why: Mapping[str, str] = field(default_factory=dict, repr=False)
    unused: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, str]:
        """Return the raw column of each role."""
        return {c.role: c.source for p in self.projections for c in p.columns.values() if c.role and c.source}

    @property
    def id_columns(self) -> tuple[str, ...]:
        """Return the raw columns that tell people, or whatever an id stands for, apart."""
        having = [p.columns["person"].source for p in self.projections if "person" in p.columns]
        return tuple(dict.fromkeys(str(column) for column in having))

    def select(self) -> tuple[str, dict[str, str]]:
        """Return SQL of all rows in the clean columns, and the type of each column."""
        return union(self.projections)

    def select_file(self, place: int, rows: tuple[int, int] | None = None) -> str:
        """Return SQL of the rows of one of all files, or of some of them, in the same columns."""
        return of_file(self.projections, place, rows)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return the tables."""
        return tuple(projection.table for projection in self.projections)

    @property
    def file_names(self) -> tuple[str, ...]:
        """Return what every file is called."""
        hidden = self.preset is not None and self.preset.ids_in_paths and self.files > 1
        return file_names([path for table in self.tables for path in table.paths], hidden=hidden)

    def broken_lines(self) -> dict[str, int]:
        """Return every file's lines that had the wrong number of fields, as known after a full scan."""
        lines = (rejected_lines(self.connection, table) for table in self.tables)
        return dict(zip(self.file_names, (n for of_table in lines for n in of_table), strict=True))

    def unread_column(self, place: int) -> str | None:
        """Return which column of a file could not be read, in words; None where lines were broken alone.

        Parameters
        ----------
        place
            Which of all files; all of them if negative.
        """
        first = 0
        looked_at = []
        for projection in self.projections:
            files = projection.table.files
            if place < 0:
                looked_at.append((projection, projection.table.probe))
            elif first <= place < first + len(files):
                looked_at.append((projection, projection.table.probe_of(files[place - first])))
            first += len(files)
        with plain_errors():
            return unread_column(self.connection, looked_at)

    def object_to(self, report: CleaningReport, broken: int | None = None) -> None:
        """Raise an InputError if the rows show that the input as a whole was misread.

        Parameters
        ----------
        broken
            Lines with the wrong number of fields, where another connection has read them.
        """
        with plain_errors():
            if not self.encoding_said:
                object_to_encoding(self.connection, (p.table.rejects for p in self.projections))
            broken = sum(self.broken_lines().values()) if broken is None else broken
            object_to_text(self.connection, report, self.projections, broken)
        columns = self.columns
        object_to_swapped(report, columns)
        object_to_weights(report, columns.get("weight", "weight"))


def open_rows(con: duckdb.DuckDBPyConnection, source: TripSource) -> Rows:
    """Return the rows of a source; nothing but the top of the files is read here."""
    preset = _preset(source)
    con.execute("SET TimeZone = 'UTC'")
    if source.timezone is not None:
        _check_timezone(con, source.timezone)
    _check_formats(con, source.time_format)
    if source.stations is not None:
        # First, so that broken lines of that table are forgotten before those of the input are noted.
        open_stations(con, source.stations)
    tables = open_tables(
        con, source.paths, preset, lambda names: may_matter(names, source, preset), source.encoding
    )
    if source.where is not None:
        check_condition(con, source.where)
        close_to_files(con, (file for table in tables for file in table.files))
    name = tables[0].name if len(tables) == 1 else f"{sum(len(t.files) for t in tables)} files"
    with plain_errors(name, has_condition=source.where is not None):
        projections, assignment, writing, zoned = _project_all(con, tables, source, preset)
        projections, notes = without_empty_person(con, projections)
    return Rows(
        name=name,
        assignment=assignment,
        preset=preset,
        notes=[
            *_preset_notes(source, preset),
            *(note for table in tables for note in table.notes),
            *writing,
            *notes,
        ],
        files=sum(len(table.files) for table in tables),
        encoding_said=source.encoding is not None,
        timezone=source.timezone or ("UTC" if zoned else None),
        connection=con,
        projections=tuple(projections),
        why={role: _why(role, source, preset) for role in ROLES},
        unused=_unused(tables, projections, source, preset),
    )


def _unused(
    tables: Sequence[Table], projections: Sequence[Projection], source: TripSource, preset: Preset | None
) -> tuple[str, ...]:
    """Return the columns of the input that nothing is taken from, in their order."""
    names = dict.fromkeys(name for table in tables for name in table.types)
    taken = {column.source for one in projections for column in one.columns.values() if column.source}
    derived = [item for item in (preset.derived if preset else ()) if item.name in taken]
    tested = {name for name in names if name.lower() in (source.where or "").lower()}
    used = {name.lower() for name in (*taken, *tested, *source.attributes)}
    used |= {name.lower() for item in derived for name in item.needs}
    used |= {item.name.lower() for item in (preset.derived if preset else ())}
    if source.stations is not None:
        used |= {
            name.lower()
            for name in find_roles([*names], source.columns, _known(preset) or KNOWN_NAMES).values()
        }
    return tuple(name for name in names if name.lower() not in used)


def _preset(source: TripSource) -> Preset | None:
    """Return the public format that was asked for, or the one that files without names certainly are."""
    if source.preset is not None:
        return find_preset(source.preset)
    return recognised([one for one in source.paths if isinstance(one, str)])


def _preset_notes(source: TripSource, preset: Preset | None) -> tuple[str, ...]:
    if preset is None or source.preset is not None:
        return preset.notes if preset is not None else ()
    told = (
        f"no file has a line of column names; their lines are those of {spelt('preset', preset.name)} "
        f"({preset.words}), so they were read as that"
    )
    return (told, *preset.notes)


def may_matter(names: Sequence[str], source: TripSource, preset: Preset | None) -> set[str]:
    """Return the columns that a source may ask for: in a role, carried along, derived from, or tested.

    Examples
    --------
    >>> source = TripSource(paths=("trips.csv",), where="city = 'Paris'")
    >>> sorted(may_matter(["City", "o_lat", "diary", "user"], source, None))
    ['City', 'o_lat', 'user']
    """
    known = {**KNOWN_NAMES, **(preset.columns if preset else {})}
    given = {role: name for role, name in source.columns.items() if match_column(name, names)}
    found = set(find_roles(names, given, known).values())
    derived = {name for item in (preset.derived if preset else ()) for name in item.needs}
    asked = {match_column(name, names) for name in (*source.attributes, *derived)}
    tested = {name for name in names if name.lower() in (source.where or "").lower()}
    return {name for name in found | asked | tested if name is not None}


def _check_timezone(con: duckdb.DuckDBPyConnection, timezone: str) -> None:
    if not con.execute("SELECT 1 FROM pg_timezone_names() WHERE name = ? LIMIT 1", [timezone]).fetchall():
        raise InputError(
            f"unknown time zone ({spelt('timezone')}); expected a name such as UTC or Europe/Paris"
        )


def _check_formats(con: duckdb.DuckDBPyConnection, formats: Sequence[str]) -> None:
    import duckdb

    for way in formats:
        try:
            con.execute("SELECT try_strptime('', ?)", [way])
            known = "%" in way
        except duckdb.Error:
            known = False
        if not known:
            example = spelt("time_format", "%d/%m/%Y %H:%M", quoted=True)
            raise InputError(
                f"{called('time_format')} takes how times are written, as in {example}: %d is the day, %m "
                "the month, %Y the year, %H:%M:%S the clock"
            )


def _project_all(
    con: duckdb.DuckDBPyConnection, tables: Sequence[Table], source: TripSource, preset: Preset | None
) -> tuple[list[Projection], Assignment, list[str], bool]:
    given, known = source.columns, _known(preset)
    if source.stations is not None:
        tables = [place_at_stations(table, given, known) for table in tables]
        given = {**given, **AT_STATIONS}
    form = source.form or (preset.form if preset else None)
    projections, assignments, notes, zoned = [], [], dict[str, None](), True
    for table in tables:
        names = tuple(table.types)
        try:
            assignment = assign_columns(names, given=given, known=known, form=form)
            attributes = check_attributes(source.attributes, names)
        except MissingColumnError as error:
            looks = proposal(names) if preset is None else None
            looks = f". {looks[0].upper()}{looks[1:]}." if looks else ""
            words = f"{table.name}: {error}{table.hint}"
            raise MissingColumnError(f"{words.removesuffix('.') if looks else words}{looks}") from None
        assignments.append(assignment)
        casts, written = _casts(con, table, assignment, source, preset)
        projections.append(project(table, assignment, casts, attributes, source.where))
        if preset is None and len(proposed_presets(names)) == 1:
            notes[str(proposal(names))] = None
        notes |= dict.fromkeys(written.notes)
        zoned = zoned and (written.zoned or (preset is not None and preset.in_utc))
    if source.stations is not None:
        projections = [unplaced(projection) for projection in projections]
    return projections, check_same_form(assignments), list(notes), zoned


def _casts(
    con: duckdb.DuckDBPyConnection,
    table: Table,
    assignment: Assignment,
    source: TripSource,
    preset: Preset | None,
) -> tuple[Casts, Writings]:
    """Return how cells of a table become values, and what to know about how they are written."""
    formats = source.time_format or (preset.time_formats if preset else ())
    written = look_at_writing(
        con, table, assignment.columns, decimal=source.decimal, formats_known=bool(formats)
    )
    casts = Casts(
        timezone=source.timezone or "UTC",
        time_formats=formats,
        formats_said=bool(source.time_format),
        writings=written.columns,
        zone_prefix=source.zone_prefix,
    )
    return casts, written


def _why(role: str, source: TripSource, preset: Preset | None) -> str:
    """Return why a column is taken for a role."""
    if role in source.columns:
        return f"{spelt(role, source.columns[role])} says so"
    if role in AT_STATIONS and source.stations is not None:
        return "the table of base stations says so"
    if preset is not None and role in preset.columns:
        return f"the preset {preset.name} has it there"
    return "its name is usual for that"


def _known(preset: Preset | None) -> Mapping[str, Sequence[str]] | None:
    """Return the names of a preset's columns, and of those that tell trips apart in any format."""
    if preset is None or preset.form == "points":
        return None if preset is None else preset.columns
    return {**{role: KNOWN_NAMES[role] for role in TELLING}, **preset.columns}


def rejected_lines(con: duckdb.DuckDBPyConnection, table: Table) -> list[int]:
    """Return the broken lines of each file in its fullest scan; a line is listed once per field it lacks."""
    known = con.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [table.rejects]).fetchall()
    if not known:
        return [0] * len(table.files)
    lines = (
        f"SELECT file_path, scan_id, count(DISTINCT line) AS n FROM {table.rejects} "
        f"JOIN {table.rejects}_scans USING (scan_id, file_id) GROUP BY ALL"
    )
    most = dict(con.execute(f"SELECT file_path, max(n) FROM ({lines}) GROUP BY file_path").fetchall())
    return [int(most.get(file, 0)) for file in table.files]
