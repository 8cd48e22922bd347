"""Tracks: the clean fixes of many people in columns, as degrees and instants, without impossible jumps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.engine import connect, plain_errors
from tripcloak.ground.errors import EmptyInputError
from tripcloak.ground.masking import FEW, mask_small
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.records.area import Area
from tripcloak.records.cleaning import NUMBERS, REASONS, CleaningReport
from tripcloak.records.tolerance import refuse_losses
from tripcloak.trajectories.model import Clock
from tripcloak.trajectories.reading.fixes import FIXES, OpenFixes, open_fixes
from tripcloak.trajectories.reading.source import DEFAULT_MAX_SPEED, TrajectorySource

if TYPE_CHECKING:
    import duckdb


EARTH_KM = 6371.0088
_DEGREE_KM = 111.4
"""More than a degree of latitude or longitude ever is."""

_SLACK_SECONDS = 60.0
"""Clocks are rounded: a fix may be this much earlier or later than it says."""

_CHUNK = 1 << 20


def find_jumps(offsets: Ints, instant: Ints, lat: Floats, lon: Floats, max_speed: float) -> Bools:
    """Return, for every fix, whether it is a jump.

    Where the next fix is out of reach, either the fixes before it are wrong or those from it on, until two
    are left that somebody can travel between. The fewer are the jumps (the later where they are as many),
    so a single wrong fix goes and its good neighbours stay.

    Parameters
    ----------
    offsets
        Where each person's fixes begin.
    instant
        Microseconds since 1970, not descending within a person.
    max_speed
        Kilometres an hour.

    Examples
    --------
    >>> minute = 60_000_000
    >>> instant = np.arange(4) * minute
    >>> lat, lon = np.array([48.8, 48.8, 48.9, 48.9]), np.array([2.3, 139.7, 2.3, 2.3])
    >>> find_jumps(np.array([0, 4]), instant, lat, lon, 1000.0).tolist()
    [False, True, False, False]
    """
    broken = _too_fast(offsets, instant, lat, lon, max_speed)
    jump = np.zeros(len(instant), dtype=bool)
    at = np.flatnonzero(broken)
    if not len(at):
        return jump
    people, begins = np.unique(np.searchsorted(offsets, at, side="right") - 1, return_index=True)
    for person, breaks in zip(people, np.split(at, begins[1:]), strict=True):
        first, last = int(offsets[person]), int(offsets[person + 1])
        fixes = _Fixes(instant[first:last], lat[first:last], lon[first:last], max_speed)
        jump[first:last] = True
        jump[first + _journey(fixes, breaks - first)] = False
    return jump


def distance_km(lat: Any, lon: Any, other_lat: Any, other_lon: Any) -> Any:
    """Return kilometres along the sphere between places in degrees.

    Examples
    --------
    >>> float(distance_km(0.0, 179.5, 0.0, -179.5).round(1))
    111.2
    """
    north, south = np.radians(lat), np.radians(other_lat)
    half_lat, half_lon = (north - south) / 2, np.radians(np.subtract(lon, other_lon)) / 2
    square = np.sin(half_lat) ** 2 + np.cos(north) * np.cos(south) * np.sin(half_lon) ** 2
    return 2 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(square, 1.0)))


def _too_fast(offsets: Ints, instant: Ints, lat: Floats, lon: Floats, max_speed: float) -> Bools:
    """Return, for every fix, whether the same person's next one is out of reach."""
    broken = np.zeros(len(instant), dtype=bool)
    for start in range(0, len(instant) - 1, _CHUNK):
        here = slice(start, min(start + _CHUNK, len(instant) - 1))
        there = slice(here.start + 1, here.stop + 1)
        reach = _reach_km(instant[there] - instant[here], max_speed)
        # The quick bound needs no sine and settles nearly all pairs.
        near = (np.abs(lat[there] - lat[here]) + np.abs(lon[there] - lon[here])) * _DEGREE_KM <= reach
        far = np.flatnonzero(~near) + start
        reach = reach[far - start]
        broken[far] = distance_km(lat[far], lon[far], lat[far + 1], lon[far + 1]) > reach
    broken[offsets[1:] - 1] = False
    return broken


class _Fixes(NamedTuple):
    """The fixes of one person."""

    instant: Ints
    lat: Floats
    lon: Floats
    max_speed: float

    def reachable(self, first: Ints | int, then: Ints | int) -> Bools:
        """Return whether somebody can travel from one fix to a later one."""
        reach = _reach_km(self.instant[then] - self.instant[first], self.max_speed)
        reachable: Bools = (
            distance_km(self.lat[first], self.lon[first], self.lat[then], self.lon[then]) <= reach
        )
        return reachable


def _journey(fixes: _Fixes, breaks: Ints) -> Ints:
    """Return the fixes of one person that are no jumps, given those whose next one is out of reach."""
    n = len(fixes.instant)
    kept, height, at = np.empty(n, dtype=np.int64), 0, 0
    # The first ``height`` of kept can be travelled one after the other; ``at`` is the fix to come next.
    while at < n:
        later = np.searchsorted(breaks, at)
        end = int(breaks[later]) + 1 if later < len(breaks) else n
        kept[height : height + end - at] = np.arange(at, end)
        height, at = height + end - at, end
        if at < n:
            back, on = _detour(fixes, kept[:height], at)
            height, at = height - back, at + on
    return kept[:height]


def _detour(fixes: _Fixes, kept: Ints, at: int) -> tuple[int, int]:
    """Return how many kept fixes to take back, or how many to leave out from the next one on."""
    n, window = len(fixes.instant), 64
    while True:
        back, ahead = min(window, len(kept)), min(window, n - at)
        from_earlier = np.append(fixes.reachable(kept[::-1][:back], at), [True] * (back == len(kept)))
        to_later = np.append(fixes.reachable(kept[-1], np.arange(at, at + ahead)), [True] * (ahead == n - at))
        if from_earlier.any() or to_later.any():
            most = len(fixes.instant)
            earlier = int(np.argmax(from_earlier)) if from_earlier.any() else most
            later = int(np.argmax(to_later)) if to_later.any() else most
            return (0, later) if later <= earlier else (earlier, 0)
        window *= 8


def _reach_km(microseconds: Ints, max_speed: float) -> Floats:
    reach: Floats = (microseconds / 1e6 + _SLACK_SECONDS) * (max_speed / 3600)
    return reach


_PEOPLE = "tripcloak_people"
_SEEN = "tripcloak_seen"
_BATCH = 1 << 18


class DroppedFixes(NamedTuple):
    """Fixes that were dropped though they can be placed: whose (the row of the person), when and where."""

    owner: Ints
    instant: Ints
    lat: Floats
    lon: Floats

    def __repr__(self) -> str:
        return f"<DroppedFixes: {mask_small(len(self.lat), people=len(np.unique(self.owner)))}>"


def _no_fixes() -> DroppedFixes:
    return DroppedFixes(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tracks:
    """The clean fixes of many people, by person and time.

    Fixes of person i stand at ``offsets[i]:offsets[i + 1]``, ordered by instant, latitude and longitude.

    Attributes
    ----------
    offsets : array of int64
        Where each person's fixes begin; one more than there are people.
    instant : array of int64
        Microseconds since 1970.
    lat, lon : array of float64
        Degrees.
    users : array of str
        Whose fixes they are, in this order. Never published, never told.
    cleaning : CleaningReport
        What became of the rows.
    notes : list of str
        What a reader should know; holds no small number and no value.
    id_is : str
        What the ids stand for.
    clock : str
        Whose clock the instants are of: UTC, or unknown.
    columns : mapping
        Role to the raw column that plays it.
    now : int
        The first instant that is in the future, in microseconds since 1970.
    lacking : array of str
        Everybody of whom a fix was dropped that was no repetition of another; never told.
    dropped : DroppedFixes
        Those of the dropped fixes that can be placed and are of somebody who is still there; never told.
    file : array of int32, optional
        Which of several files each fix is from.
    why : mapping
        Role to why its column was taken for it.
    unused : tuple of str
        Raw columns that nothing is taken from.
    """

    offsets: Ints
    instant: Ints
    lat: Floats
    lon: Floats
    users: Any = field(repr=False)
    cleaning: CleaningReport
    notes: list[str]
    now: int
    lacking: Any = field(repr=False, default_factory=lambda: np.empty(0, dtype=str))
    dropped: DroppedFixes = field(repr=False, default_factory=_no_fixes)
    id_is: str = "person"
    clock: Clock = "UTC"
    columns: Mapping[str, str] = field(default_factory=dict)
    file: Ints | None = field(repr=False, default=None)
    why: Mapping[str, str] = field(default_factory=dict, repr=False)
    unused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Tracks of {mask_small(self.n_users, 'people')}>"

    @property
    def n_users(self) -> int:
        """Return the number of people."""
        return len(self.offsets) - 1

    @property
    def owner(self) -> Ints:
        """Return the person of each fix."""
        return np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.offsets))

    def jumps(self, max_speed: float | None) -> Bools:
        """Return, for every fix, whether nobody can have reached it at a speed in kilometres an hour."""
        speed = max_speed or DEFAULT_MAX_SPEED
        return find_jumps(self.offsets, self.instant, self.lat, self.lon, speed)

    def without(self, dropped: Bools, reason: str) -> Tracks:
        """Return the tracks without some fixes, counted under a reason; people with none left are gone."""
        if not dropped.any():
            return self
        kept = ~dropped
        sizes = np.add.reduceat(kept, self.offsets[:-1], dtype=np.int64)
        left = np.flatnonzero(sizes)
        of_whom = self.users[np.add.reduceat(dropped, self.offsets[:-1], dtype=np.int64) > 0]
        return replace(
            self,
            offsets=np.concatenate(([0], np.cumsum(sizes[left]))),
            instant=self.instant[kept],
            lat=self.lat[kept],
            lon=self.lon[kept],
            users=self.users[left],
            file=None if self.file is None else self.file[kept],
            cleaning=self.cleaning.less(reason, self.by_file(dropped)),
            lacking=self.lacking if reason == "duplicate" else np.union1d(self.lacking, of_whom),
            dropped=self._dropped_with(dropped & (reason != "duplicate"), left),
        )

    def by_file(self, some: Bools, file: Ints | None = None) -> list[int]:
        """Return how many of some fixes each file has; ``file`` tells of fixes in another order."""
        file = self.file if file is None else file
        if file is None:
            return [int(np.count_nonzero(some))]
        found: list[int] = np.bincount(file[some], minlength=len(self.cleaning.files)).tolist()
        return found

    def _dropped_with(self, more: Bools, left: Ints) -> DroppedFixes:
        """Return the dropped fixes and some more, of the people who are left, by their new rows."""
        found = DroppedFixes(self.owner[more], self.instant[more], self.lat[more], self.lon[more])
        joined = DroppedFixes(*map(np.concatenate, zip(self.dropped, found, strict=True)))
        row = np.full(self.n_users, -1)
        row[left] = np.arange(len(left))
        there = row[joined.owner] >= 0
        return DroppedFixes(row[joined.owner[there]], *(column[there] for column in joined[1:]))


def read_tracks(
    source: TrajectorySource,
    *,
    memory: Memory = None,
    folder: Path | None = None,
    progress: Progress = lambda what, done, whole: None,
) -> Tracks:
    """Return the clean fixes of a source: good by themselves, each once, and none that nobody can reach.

    The order of rows and how they are split over files make no difference. Of the source that
    :func:`~tripcloak.trajectories.reading.read_trajectories` settled on, these are the fixes it took.

    Parameters
    ----------
    memory
        How much memory to use, such as ``1GB``; half of the machine's by default.
    folder
        Where what does not fit in memory waits; the system's temporary folder by default.
    """
    tracks = read_distinct(source, memory=memory, folder=folder, progress=progress)
    return tracks.without(tracks.jumps(source.max_speed), "jump")


def read_distinct(
    source: TrajectorySource, *, memory: Memory, folder: Path | None, progress: Progress
) -> Tracks:
    """Return the fixes of a source that are good by themselves, each once; jumps are still among them."""
    with connect(Budget.of(memory).engine, folder) as con:
        opened = open_fixes(con, source)
        with plain_errors(opened.rows.name, has_condition=source.where is not None):
            tally = _tally(con, opened.rows.files)
            report = replace(CleaningReport.from_rows(tally.by_file, opened), word="fixes")
            _object_to_empty(report, source, tally)
            if source.sample is None:
                refuse_losses(report, source.tolerate, opened.rows)
            tracks = _stream(con, tally, report, opened, progress)
            tracks = replace(tracks, dropped=_dropped(con, source, tally))
    return tracks.without(_repeats(tracks), "duplicate")


def note_on_fixes(tracks: Tracks) -> list[str]:
    """Return notes on fixes of one instant and on people with a single one; small numbers are not told."""
    together = tracks.instant[1:] == tracks.instant[:-1]
    together[tracks.offsets[1:-1] - 1] = False
    notes = []
    if together.any():
        fixes, people = int(together.sum()), len(np.unique(tracks.owner[1:][together]))
        notes.append(
            f"{mask_small(fixes, people=people)} fixes are of the same person and instant as another one, at "
            "another place; all of them are kept"
        )
    single = int((np.diff(tracks.offsets) == 1).sum())
    if single:
        notes.append(f"{mask_small(single, people=single)} people have a single fix; they are kept")
    return notes


class _Tally(NamedTuple):
    """Everybody's id in order and the good fixes of each; fixes by file, people by reason; who lost any."""

    users: Any
    sizes: Ints
    by_file: list[dict[int, int]]
    people: dict[int, int]
    lacking: Any


def _tally(con: duckdb.DuckDBPyConnection, files: int) -> _Tally:
    """Return who is in the view, with how many fixes to keep, and what is dropped of whom."""
    file = "file" if files > 1 else "0 AS file"
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE {_SEEN} AS "
        f"SELECT person, reason, {file}, count(*) AS fixes FROM {FIXES} GROUP BY ALL"
    )
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE {_PEOPLE} AS SELECT person, person::VARCHAR AS id, reason, fixes, "
        "row_number() OVER (ORDER BY reason, id) AS code "
        f"FROM (SELECT person, reason, sum(fixes)::BIGINT AS fixes FROM {_SEEN} GROUP BY ALL)"
    )
    by_file: list[dict[int, int]] = [{} for _ in range(files)]
    for number, reason, fixes in con.execute(
        f"SELECT file, reason, sum(fixes)::BIGINT FROM {_SEEN} GROUP BY ALL"
    ).fetchall():
        by_file[number][reason] = fixes
    rows = con.execute(f"SELECT reason, count(id) FROM {_PEOPLE} GROUP BY reason").fetchall()
    people = con.execute(f"SELECT id, fixes FROM {_PEOPLE} WHERE reason = 0 ORDER BY code").fetchnumpy()
    lacking = con.execute(
        f"SELECT DISTINCT id FROM {_PEOPLE} WHERE reason <> 0 AND id IS NOT NULL ORDER BY id"
    ).fetchnumpy()
    return _Tally(
        users=np.asarray(people["id"], dtype=str),
        sizes=np.asarray(people["fixes"], dtype=np.int64),
        by_file=by_file,
        people=dict(rows),
        lacking=np.asarray(lacking["id"], dtype=str),
    )


def _stream(
    con: duckdb.DuckDBPyConnection,
    tally: _Tally,
    report: CleaningReport,
    opened: OpenFixes,
    progress: Progress,
) -> Tracks:
    total, done = report.kept, 0
    columns = {"instant": np.empty(total, np.int64), "lat": np.empty(total), "lon": np.empty(total)}
    if len(report.files) > 1:
        columns["file"] = np.empty(total, np.int32)
    listed = ", ".join(columns)
    ordered = con.sql(
        f"SELECT {listed} FROM {FIXES} AS f JOIN {_PEOPLE} AS p ON f.person = p.person "
        f"WHERE f.reason = 0 AND p.reason = 0 ORDER BY code, {listed}"
    )
    for batch in ordered.to_arrow_reader(_BATCH):
        for name, column in columns.items():
            column[done : done + len(batch)] = batch.column(name).to_numpy(zero_copy_only=False)
        done += len(batch)
        progress("reading fixes", done, total)
    return Tracks(
        offsets=np.concatenate(([0], np.cumsum(tally.sizes))),
        users=tally.users,
        lacking=tally.lacking,
        cleaning=report,
        notes=list(opened.notes),
        now=opened.now,
        instant=columns["instant"],
        lat=columns["lat"],
        lon=columns["lon"],
        file=columns.get("file"),
        id_is=opened.id_is,
        clock="unknown" if opened.rows.timezone is None else "UTC",
        columns=dict(opened.rows.columns),
        why={role: opened.rows.why[role] for role in opened.rows.columns},
        unused=opened.rows.unused,
    )


_PLACED = tuple(
    NUMBERS[reason]
    for reason in (
        *("unparsable", "incomplete", "outside_window", "swapped", "null_island"),
        *("outside_box", "outside_polygon", "end_before_start"),
    )
)
"""Reasons by which a fix goes that may have a time and a place; a clock that was never set says neither."""

_DAY = 86_400_000_000


def _dropped(con: duckdb.DuckDBPyConnection, source: TrajectorySource, tally: _Tally) -> DroppedFixes:
    """Return the dropped fixes that a released box may hold: near enough to the window and to the box."""
    if not any(tally.people.get(number) for number in _PLACED):
        return _no_fixes()
    lat, lon = (
        f"(CASE WHEN f.reason = {NUMBERS['swapped']} THEN f.{other} ELSE f.{own} END)"
        for own, other in (("lat", "lon"), ("lon", "lat"))
    )
    found = con.sql(
        f"SELECT p.code - 1 AS owner, instant, {lat} AS lat, {lon} AS lon FROM {FIXES} AS f "
        f"JOIN {_PEOPLE} AS p ON f.person = p.person WHERE f.reason IN {_PLACED} AND p.reason = 0 "
        f"AND {Area(box=_twice_as_far(source.box)).in_box(lat, lon)} AND instant IS NOT NULL"
    )
    begin, end = source.window
    # A box reaches beyond the window by less than a step.
    step = max(_DAY, (source.seconds or 0) * 1_000_000)
    parts = [_no_fixes()]
    for batch in found.to_arrow_reader(_BATCH):
        part = [batch.column(name).to_numpy(zero_copy_only=False) for name in DroppedFixes._fields]
        near = np.ones(len(batch), dtype=bool)
        near &= True if begin is None else part[1] >= begin - step
        near &= True if end is None else part[1] < end + step
        parts.append(DroppedFixes(*(column[near] for column in part)))
    return DroppedFixes(*map(np.concatenate, zip(*parts, strict=True)))


def _twice_as_far(box: tuple[float, float, float, float] | None) -> tuple[float, float, float, float] | None:
    """Return a box with a margin of its own width and height; edges of a projection are bent in degrees.

    >>> _twice_as_far((10.0, 170.0, 20.0, -170.0))
    (0.0, 150.0, 30.0, -150.0)
    """
    if box is None:
        return None
    south, west, north, east = box
    height, width = north - south, (east - west) % 360 or 360
    west, east = (west - width, east + width) if 3 * width < 360 else (-180.0, 180.0)
    turned = [edge if -180 <= edge <= 180 else (edge + 180) % 360 - 180 for edge in (west, east)]
    return max(-90.0, south - height), turned[0], min(90.0, north + height), turned[1]


def _repeats(tracks: Tracks) -> Bools:
    """Return, for every fix, whether it is an exact duplicate of the one before."""
    same = np.zeros(len(tracks.instant), dtype=bool)
    for name in ("instant", "lat", "lon"):
        column = getattr(tracks, name)
        equal = column[1:] == column[:-1]
        same[1:] = equal if name == "instant" else same[1:] & equal
    same[tracks.offsets[:-1]] = False
    return same


def _object_to_empty(report: CleaningReport, source: TrajectorySource, tally: _Tally) -> None:
    if report.kept:
        return
    late = report.dropped.get("outside_window", 0)
    if late and late * 2 > report.rows:
        raise EmptyInputError(
            f"no fix lies in the window of time; move {spelt('since')} and {spelt('until')}, or check the "
            f"times and {spelt('timezone')}"
        )
    few = {reason.name for reason in REASONS if tally.people.get(reason.number, 0) < FEW}
    raise EmptyInputError(report.why_empty("fix", few))
