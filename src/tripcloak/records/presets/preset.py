"""Preset and Layout: what is known of one public format, so that nobody has to say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch

from tripcloak.records.schema import KNOWN_NAMES, NEEDED, Form


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Text files without a line of column names.

    Attributes
    ----------
    pattern : str
        Which files of a folder belong to the data set; others (lists, manuals) are passed over.
    line : str
        How a line reads, as a regular expression that no other format fits; empty where lines alone do not
        tell.
    places : Layout, optional
        The files of the places that records only name.
    on : str
        The column by which places are found.
    """

    columns: tuple[str, ...]
    delimiter: str
    skip: int = 0
    suffixes: tuple[str, ...]
    pattern: str
    encoding: str = "utf-8"
    line: str = ""
    places: Layout | None = None
    on: str = ""

    def is_called(self, name: str) -> bool:
        """Return whether a file of that name is one of these, as far as names tell."""
        return fnmatch(name.lower(), self.pattern.lower())


@dataclass(frozen=True, kw_only=True)
class Derived:
    """A column made of others by an SQL expression, where those others exist."""

    name: str
    sql: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One public format.

    Attributes
    ----------
    columns : mapping
        Role to the names the column has had over the years; roles left out are not looked for.
    like : tuple of str
        What files are called where they are published.
    layouts : tuple of Layout
        Files without a line of column names. The same with one are read by their names.
    passed_over : tuple of str
        Patterns of files that come along and hold no records.
    derived : tuple of Derived
        Columns that must be made first; ``filename`` is the path of the file.
    time_formats : tuple of str
        Ways of writing times besides ISO 8601.
    people_once : bool, optional
        Whether each counted person occurs in one row of the whole table.
    ids_in_paths : bool
        Names of files or folders are ids of people: no message may hold one.
    id_is : str, optional
        What an id of this format stands for.
    zone_ids : tuple of str
        Columns of ids in the zones files that belong to the data set.
    zones : str
        What those files are, for who has to find one.
    unknown_zones : tuple of str
        Ids that stand for no zone.
    notes : tuple of str
        What a reader should know about how such files are read.
    documents : bool
        Whether records may be JSON.
    in_utc : bool
        Whether times without an offset are known to be UTC.
    """

    name: str
    words: str
    columns: Mapping[str, tuple[str, ...]]
    like: tuple[str, ...]
    form: Form | None = None
    layouts: tuple[Layout, ...] = ()
    passed_over: tuple[str, ...] = ()
    derived: tuple[Derived, ...] = ()
    time_formats: tuple[str, ...] = ()
    people_once: bool | None = None
    ids_in_paths: bool = False
    id_is: str | None = None
    zone_ids: tuple[str, ...] = ()
    zones: str = ""
    unknown_zones: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    documents: bool = False
    in_utc: bool = False

    @property
    def all_layouts(self) -> tuple[Layout, ...]:
        """Return the layouts of records, and then those of the places they name."""
        places = (layout.places for layout in self.layouts)
        return (*self.layouts, *(one for one in dict.fromkeys(places) if one is not None))

    @property
    def patterns(self) -> tuple[str, ...]:
        """Return which files of a folder belong to the data set; nothing where all tables do."""
        return tuple(dict.fromkeys(layout.pattern for layout in self.all_layouts))

    @property
    def forms(self) -> tuple[Form, ...]:
        """Return what a row can be."""
        if self.form is not None:
            return (self.form,)
        return tuple(
            form
            for form, needed in NEEDED.items()
            if any(set(roles) <= set(self.columns) for roles in needed)
        )

    def passes_over(self, name: str) -> bool:
        """Return whether a file of that name only comes along with the records."""
        return any(fnmatch(name.lower(), pattern.lower()) for pattern in self.passed_over)


US_TIMES = ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M")

FLAT: Mapping[str, tuple[str, ...]] = {role: KNOWN_NAMES[role] for role in ("person", "time", "lat", "lon")}
"""Names in tables that others made of a data set."""
