"""TripSource: what to read and how, as a value that can be written down and read again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, get_type_hints

from tripcloak.ground.errors import InputError
from tripcloak.ground.kinds import refuse_other_kinds
from tripcloak.ground.spelling import called, spelt
from tripcloak.promises.counted import checked_kind
from tripcloak.records.during import days_of
from tripcloak.records.files.databases.fetching import fetched
from tripcloak.records.files.encodings import checked_encoding
from tripcloak.records.files.frames import Frame, Input, checked_inputs
from tripcloak.records.files.standard_input import STANDARD_INPUT, is_spooled
from tripcloak.records.presets import find_preset
from tripcloak.records.schema import FLAGGED, FORMS, PLACES, Decimal, Form
from tripcloak.records.segments import SegmentBy
from tripcloak.records.tolerance import checked_share


@dataclass(frozen=True, kw_only=True)
class Described:
    """What a description of an input has in common with every other."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold and :meth:`from_dict` reads."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            name: [_plain(item) for item in value] if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the description that :meth:`to_dict` wrote."""
        unknown = sorted(set(values) - {item.name for item in fields(cls)})
        if unknown:
            raise InputError(f"a description of an input has unknown entries: {', '.join(unknown)}")
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        # Of a condition it is said in words of its own.
        kinds = {**get_type_hints(cls), "where": object}
        refuse_other_kinds(plain, kinds)
        return cls(**plain)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


def _plain(item: Any) -> Any:
    """Return what may be written down of one of several values: of a table in memory, what it was."""
    if isinstance(item, str) and is_spooled(item):
        return STANDARD_INPUT
    if isinstance(item, str) and (taken := fetched(item)) is not None:
        return taken.address
    return str(item) if isinstance(item, Frame) else item


@dataclass(frozen=True, kw_only=True)
class TripSource(Described):
    """What to read, which column means what, and which rows are wanted.

    Attributes
    ----------
    paths : tuple of str or Frame
        Files, globs or folders: CSV (also ``.tsv``, ``.txt``, with ``.gz``, ``.bz2`` or ``.zst``), Parquet,
        zip and tar archives of these, ``.xlsx`` and GeoJSON; ``-`` for what is piped in; or tables in memory.
    preset : str, optional
        Name of a public format, see :data:`tripcloak.records.presets.PRESETS`.
    columns : mapping
        Role to column name where the usual names do not fit; ``"none"`` says that there is no such column.
    form : str, optional
        ``trips``, ``points``, ``polyline``, ``zones`` or ``counts``; found from the columns if not given.
    where : str, optional
        SQL condition on the raw columns.
    box : tuple of float, optional
        South, west, north, east in degrees; west may be greater than east across the antimeridian.
    polygon : str, optional
        Path of a GeoJSON file with the area in which both ends of a trip must lie.
    silence : float, optional
        Seconds without a GPS fix after which a new trip starts; found from how often fixes come if not given.
    attributes : tuple of str
        Further columns to carry along.
    timezone : str, optional
        Zone of times written without an offset; where it is not given, they are taken as they stand, and what
        is published of them claims no zone.
    people_once : bool, optional
        Each counted person occurs in one row of the whole table; found from the columns if not given.
    zone_prefix : int, optional
        Number of leading characters of zone ids to keep (11 makes census tracts of census blocks).
    segment : mapping
        Only the rows of one segment: column (with the width of bins, as in ``age:10``) to value.
    during : str, optional
        Only rows that begin in a month (``2024-05``), a week (``2024-W21``) or a day, by the data's clock.
    sample : tuple of int, optional
        Only so many travellers (trips where there are no ids), drawn by a hash with this seed.
    stations : str, optional
        Path of a table of base stations (id, latitude, longitude), where records name an antenna.
    id_is : str, optional
        What an id stands for: ``person``, ``vehicle``, ``device``, ``card`` or ``household``; found from the
        name of its column and from how ids are used if not given.
    encoding : str, optional
        Encoding of text files; found if not given.
    tolerate : float
        The share of a file's rows that may be impossible to read; all of them, where nobody says otherwise.
    decimal : str, optional
        What begins a fraction in text: ``point`` or ``comma``; found if not given.
    time_format : tuple of str
        How times are written in text, as in ``%d/%m/%Y %H:%M``; found if not given.

    Examples
    --------
    >>> source = TripSource(paths=("trips.csv",), columns={"person": "rider"}, box=(48.8, 2.2, 48.9, 2.4))
    >>> TripSource.from_dict(source.to_dict()) == source
    True
    >>> TripSource(paths=("trips.csv",), form="rides")
    Traceback (most recent call last):
    ...
    tripcloak.InputError: unknown form of table (form=...): expected one of trips, points, polyline, zones,
    counts
    """

    paths: tuple[Input, ...]
    preset: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    form: Form | None = None
    where: str | None = None
    box: tuple[float, float, float, float] | None = None
    polygon: str | None = None
    silence: float | None = None
    attributes: tuple[str, ...] = ()
    timezone: str | None = None
    people_once: bool | None = None
    zone_prefix: int | None = None
    segment: Mapping[str, str] = field(default_factory=dict)
    sample: tuple[int, int] | None = None
    during: str | None = None
    stations: str | None = None
    id_is: str | None = None
    encoding: str | None = None
    tolerate: float = 1.0
    decimal: Decimal | None = None
    time_format: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._set("paths", checked_inputs(self.paths))
        self._set("encoding", checked_encoding(self.encoding))
        self._set("columns", dict(self.columns))
        self._set("segment", dict(self.segment))
        self._set("time_format", tuple(self.time_format))
        if len(set(self.attributes)) < len(tuple(self.attributes)):
            raise InputError(
                f"attributes ({spelt('attribute')}) must be different column names; name each once"
            )
        parted_by = (name for by in self.segment for name in SegmentBy.parse(by).attributes)
        self._set("attributes", tuple(dict.fromkeys((*self.attributes, *parted_by))))
        self._set("silence", None if self.silence is None else float(self.silence))
        self._set("tolerate", checked_share(self.tolerate))
        self._check_reading()
        self._check_wishes()

    def __hash__(self) -> int:
        return hash((self.paths, self.preset, tuple(sorted(self.columns.items())), self.form, self.where))

    def _check_reading(self) -> None:
        checked_kind(self.id_is)
        if self.preset is not None:
            find_preset(self.preset)
        if self.form is not None and self.form not in FORMS:
            raise InputError(f"unknown form of table ({spelt('form')}): expected one of {', '.join(FORMS)}")
        unknown = sorted(set(self.columns) - set(FLAGGED))
        if unknown:
            raise InputError(
                f"unknown roles of columns: {', '.join(unknown)}; known are {', '.join(FLAGGED)}"
            )
        if not all(self.columns.values()):
            raise InputError('a column was given an empty name; write "none" to say that there is none')
        if len(set(PLACES) & set(self.columns)) == 1:
            raise InputError(
                "places are counted at both ends: give "
                f"{spelt('origin_place')} and {spelt('destination_place')}"
            )
        if self.decimal not in (None, "point", "comma"):
            raise InputError(f"{called('decimal')} must be point or comma: what begins a fraction in text")
        if not all(self.attributes):
            raise InputError(f"attributes ({spelt('attribute')}) must be column names; one is empty")

    def _check_wishes(self) -> None:
        if self.silence is not None and not (math.isfinite(self.silence) and self.silence > 0):
            raise InputError(
                f"the silence that ends a trip ({spelt('silence')}) must be a positive number of seconds, "
                f"such as {spelt('silence', 180)}"
            )
        if self.zone_prefix is not None and self.zone_prefix < 1:
            raise InputError(
                f"the number of characters to keep of a zone id ({spelt('zone_prefix')}) must be 1 or more"
            )
        if self.box is not None:
            self._set("box", checked_box(self.box))
        if self.during is not None:
            days_of(self.during)
        if self.sample is not None and self.sample[0] < 1:
            raise InputError(f"a sample needs one traveller or more ({spelt('sample_users')})")


def checked_box(box: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Return a box as four numbers, or raise an InputError that says what a box is.

    Examples
    --------
    >>> checked_box((48.8, 2.2, 48.9, 2.4))
    (48.8, 2.2, 48.9, 2.4)
    """
    example = spelt("box", "48.8,2.2,48.9,2.4")
    what = f"expected a box as south, west, north, east in degrees, such as {example}"
    if len(box) != 4 or not all(math.isfinite(edge) for edge in box):
        raise InputError(f"{what}; found something else")
    south, west, north, east = (float(edge) for edge in box)
    if not (-90 <= south < north <= 90):
        raise InputError(f"{what}; found a south that is not below the north, or latitudes beyond 90")
    if not (-180 <= west <= 180 and -180 <= east <= 180 and west != east):
        raise InputError(f"{what}; found longitudes beyond 180, or west equal to east")
    return south, west, north, east
