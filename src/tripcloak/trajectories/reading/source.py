"""TrajectorySource: what to read and how, as a value that can be written down and read again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import called, spelt
from tripcloak.records.files.frames import Input
from tripcloak.records.schema import Decimal
from tripcloak.records.source import Described, TripSource

DEFAULT_MAX_SPEED = 1000.0
"""Kilometres an hour; airliners are slower over ground."""


@dataclass(frozen=True, kw_only=True)
class TrajectorySource(Described):
    """What to read, which column means what, and which fixes are wanted.

    Attributes
    ----------
    paths : tuple of str or Frame
        Files, globs or folders: CSV (also ``.tsv``, ``.txt``, with ``.gz``, ``.bz2`` or ``.zst``), Parquet,
        zip and tar archives of these, ``.xlsx`` and GeoJSON; ``-`` for what is piped in; or tables in memory.
    preset : str, optional
        Name of a public format, see :data:`tripcloak.records.presets.PRESETS`.
    columns : mapping
        Role (``person``, ``time``, ``lat``, ``lon``, ``antenna``) to column where the usual names do not fit.
    where : str, optional
        SQL condition on the raw columns.
    box : tuple of float, optional
        South, west, north, east in degrees; west may be greater than east across the antimeridian.
    polygon : str, optional
        Path of a GeoJSON file with the area in which fixes must lie.
    timezone : str, optional
        Zone of times written without an offset, also of ``since`` and ``until``; where it is not given, they
        are taken as they stand, and what is published of them claims no zone.
    stations : str, optional
        Path of a table of base stations (id, latitude, longitude), where fixes name an antenna.
    sample : tuple of int, optional
        Only so many people, drawn by a hash with this seed.
    since, until : str, optional
        The window of time, ISO 8601: from ``since`` on, up to but not including ``until``.
    centre : tuple of float, optional
        Latitude and longitude of the projection's centre, as it was found; found from the fixes if not given.
    seconds, metres : int, optional
        Resolution: how long a sample lasts and how wide it is; found from the fixes if not given.
    max_speed : float, optional
        Kilometres an hour beyond which nobody travels; 1,000 if not given.
    id_is : str, optional
        What an id stands for: ``person``, ``vehicle``, ``device``, ``card`` or ``household``; found from the
        name of its column if not given.
    encoding : str, optional
        Encoding of text files; found if not given.
    tolerate : float
        The share of a file's fixes that may be impossible to read; all of them, where nobody says otherwise.
    decimal : str, optional
        What begins a fraction in text: ``point`` or ``comma``; found if not given.
    time_format : tuple of str
        How times are written in text, as in ``%d/%m/%Y %H:%M``; found if not given.

    Examples
    --------
    >>> source = TrajectorySource(paths=("fixes.csv",), columns={"person": "rider"}, since="2024-05-01")
    >>> TrajectorySource.from_dict(source.to_dict()) == source
    True
    >>> TrajectorySource(paths=("fixes.csv",), since="2024-05-02", until="2024-05-01")
    Traceback (most recent call last):
    ...
    tripcloak.InputError: the window of time is empty: until must be later than since
    """

    paths: tuple[Input, ...]
    preset: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    where: str | None = None
    box: tuple[float, float, float, float] | None = None
    polygon: str | None = None
    timezone: str | None = None
    stations: str | None = None
    sample: tuple[int, int] | None = None
    since: str | None = None
    until: str | None = None
    seconds: int | None = None
    metres: int | None = None
    max_speed: float | None = None
    centre: tuple[float, float] | None = None
    id_is: str | None = None
    encoding: str | None = None
    tolerate: float = 1.0
    decimal: Decimal | None = None
    time_format: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked = self.trips
        for name in ("paths", "columns", "box", "encoding", "tolerate", "time_format"):
            object.__setattr__(self, name, getattr(checked, name))
        if any(step is not None and step < 1 for step in (self.seconds, self.metres)):
            raise InputError(
                f"a sample lasts one second or more ({spelt('seconds')}), and is one metre wide or more "
                f"({spelt('metres')})"
            )
        speed = self.max_speed
        if speed is not None and not (math.isfinite(speed) and speed > 0):
            raise InputError(
                f"the greatest speed ({spelt('max_speed')}) must be a positive number of kilometres an hour"
            )
        since, until = self.window
        if since is not None and until is not None and until <= since:
            raise InputError(
                f"the window of time is empty: {called('until')} must be later than {called('since')}"
            )

    @property
    def trips(self) -> TripSource:
        """Return the same fixes as a source of trips."""
        return TripSource(
            paths=self.paths,
            preset=self.preset,
            columns=self.columns,
            form="points",
            where=self.where,
            box=self.box,
            polygon=self.polygon,
            timezone=self.timezone,
            stations=self.stations,
            sample=self.sample,
            id_is=self.id_is,
            encoding=self.encoding,
            tolerate=self.tolerate,
            decimal=self.decimal,
            time_format=self.time_format,
        )

    @property
    def window(self) -> tuple[int | None, int | None]:
        """Return the window of time in microseconds since 1970, None where it is open."""
        return self._instant("since"), self._instant("until")

    def __hash__(self) -> int:
        return hash((self.paths, self.preset, tuple(sorted(self.columns.items())), self.where))

    def _instant(self, name: str) -> int | None:
        written = getattr(self, name)
        if written is None:
            return None
        try:
            moment = datetime.fromisoformat(written)
            zoned = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(self.timezone or "UTC"))
            return round(zoned.timestamp() * 1e6)
        except (ValueError, TypeError, OverflowError):
            raise InputError(
                f"{called(name)} must be a day or a time such as 2024-05-01 or 2024-05-01T08:30:00"
            ) from None
        except ZoneInfoNotFoundError:
            raise InputError(
                f"unknown time zone ({spelt('timezone')}); expected a name such as UTC or Europe/Paris"
            ) from None
