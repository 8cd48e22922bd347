"""From files to trajectories: read, cleaned, projected, told in steps of a grid, and described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import FEW, mask_small
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.promises.counted import ones_of
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.suspicions import on_losses, on_places, refuse_swapped
from tripcloak.records.whereabouts import Whereabouts, look_at_places
from tripcloak.trajectories.model import Grid, Trajectories, too_few_people
from tripcloak.trajectories.reading.kinds import fix_kind
from tripcloak.trajectories.reading.projection import (
    MOST,
    SPAN_KM,
    Box,
    Cells,
    Region,
    choose_region,
    propose_regions,
    span_km,
    tally_cells,
    too_far_apart,
    where_people_are,
    within_box,
)
from tripcloak.trajectories.reading.sampling import (
    DEFAULT_METRES,
    DEFAULT_SECONDS,
    find_metres,
    find_seconds,
    project_tracks,
    sample_tracks,
    start_of,
    with_dropped,
)
from tripcloak.trajectories.reading.source import TrajectorySource
from tripcloak.trajectories.reading.tracks import Tracks, note_on_fixes, read_distinct

_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)


def describe_trajectories(trajectories: Trajectories) -> dict[str, Any]:
    """Return what trajectories are like: who, how many, when, how far, how fine.

    Everything but the number of people and samples is a quantile over people, rounded to two digits, or
    an edge that ten people reach; where there are fewer people than that, it is None.

    Examples
    --------
    >>> from tripcloak.trajectories.model import Grid
    >>> people = np.repeat(np.arange(20), 3)
    >>> made = Trajectories.of(user=people, t=np.arange(60), x=people, y=people, grid=Grid())
    >>> facts = describe_trajectories(made)
    >>> facts["users"], facts["samples_per_user"]["50%"], facts["gap_minutes"]["50%"]
    (20, 3.0, 1.0)
    """
    grid, offsets = trajectories.grid, trajectories.offsets
    many = trajectories.n_users >= FEW
    gaps = np.delete(np.diff(trajectories.t), offsets[1:-1] - 1)
    return {
        "users": trajectories.n_users,
        "samples": trajectories.n_samples,
        "resolution": {"seconds": grid.seconds, "metres": grid.metres},
        "period": _period(trajectories) if many else None,
        "extent_km": _extent(trajectories) if many else None,
        "samples_per_user": _quantiles(trajectories.lengths) if many else None,
        "gap_minutes": _quantiles(gaps * (grid.seconds / 60)) if many and len(gaps) else None,
        "radius_of_gyration_km": _quantiles(_gyration(trajectories)) if many else None,
    }


def _period(trajectories: Trajectories) -> list[str]:
    """Return the days by which ten people had begun, and since which ten went on."""
    first = np.sort(trajectories.t[trajectories.offsets[:-1]])[FEW - 1]
    last = np.sort(trajectories.t[trajectories.offsets[1:] - 1])[-FEW]
    days = trajectories.grid.times(np.array([first, last])).astype("datetime64[s]").astype("datetime64[D]")
    return [str(day) for day in days]


def _extent(trajectories: Trajectories) -> list[float]:
    """Return kilometres from west to east and from south to north that ten people reach on each side."""
    sides = []
    for column in (trajectories.x, trajectories.y):
        low = np.sort(np.minimum.reduceat(column, trajectories.offsets[:-1]))[FEW - 1]
        high = np.sort(np.maximum.reduceat(column, trajectories.offsets[:-1]))[-FEW]
        sides.append(_rounded(max(0, int(high) + 1 - int(low)) * trajectories.grid.metres / 1000))
    return sides


def _gyration(trajectories: Trajectories) -> Floats:
    """Return everybody's radius of gyration in kilometres."""
    square = np.zeros(trajectories.n_users)
    for column in (trajectories.x, trajectories.y):
        mean = np.add.reduceat(column, trajectories.offsets[:-1], dtype=np.float64) / trajectories.lengths
        away = column - np.repeat(mean, trajectories.lengths)
        square += np.add.reduceat(away * away, trajectories.offsets[:-1]) / trajectories.lengths
    kilometres: Floats = np.sqrt(square) * trajectories.grid.metres / 1000
    return kilometres


def _quantiles(values: Ints | Floats) -> dict[str, float]:
    found = np.quantile(values, _SHARES)
    return {f"{share:.0%}": _rounded(value) for share, value in zip(_SHARES, found, strict=True)}


def _rounded(value: float) -> float:
    return float(f"{float(value):.2g}")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadTrajectories:
    """Trajectories that have been read, and what became of the input.

    Attributes
    ----------
    trajectories : Trajectories
        The samples of everybody.
    cleaning : CleaningReport
        Fixes read, kept as samples, and dropped by reason; exact numbers.
    notes : list of str
        What a reader should know; holds no small number and no value.
    facts : mapping
        What the trajectories are like, in numbers that single out nobody.
    source : TrajectorySource
        The source with everything that was found written down (resolution, study area, end of time), so
        that the same input is read the same way again.
    columns : mapping
        Role to the raw column that plays it.
    where : Whereabouts, optional
        Where the fixes are.
    why : mapping
        Role to why its column was taken for it.
    unused : tuple of str
        Raw columns that nothing is taken from.
    """

    trajectories: Trajectories
    cleaning: CleaningReport
    notes: list[str]
    facts: Mapping[str, Any]
    source: TrajectorySource
    columns: Mapping[str, str] = field(default_factory=dict)
    where: Whereabouts | None = None
    why: Mapping[str, str] = field(default_factory=dict, repr=False)
    unused: tuple[str, ...] = ()

    @property
    def warnings(self) -> list[str]:
        """Return what is suspicious in the places of the fixes; stray ones are dropped as jumps anyway."""
        near = None if self.where is None else replace(self.where, stray=0)
        return on_places(near, self.columns)

    def __repr__(self) -> str:
        return f"<ReadTrajectories: {self.trajectories!r}>"


def read_trajectories(
    source: TrajectorySource,
    *,
    k: int | None = None,
    memory: Memory = None,
    folder: Path | None = None,
    progress: Progress = lambda what, done, whole: None,
) -> ReadTrajectories:
    """Return the trajectories of a source; rows in any order, in any number of files, give the same.

    Parameters
    ----------
    k
        How many people must reach what the projection and the study area follow from, where it is promised.
    memory
        Limit of the SQL engine, such as ``700MB``; arrays beside it take some 50 bytes a fix.
    folder
        Where what does not fit in memory waits; the system's temporary folder by default.
    progress
        Called with what is being done, steps done and steps in all.

    Raises
    ------
    InputError
        The input cannot be read, is empty, is of one person alone, or lies too far apart.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fixes.csv"
    ...     lines = ["user_id,timestamp,lat,lon", "b,1714550400,48.85,2.35", "a,1714550460,48.86,2.35"]
    ...     _ = path.write_text("\\n".join(lines))
    ...     read = read_trajectories(TrajectorySource(paths=(str(path),)))
    >>> read.trajectories.users.tolist(), read.trajectories.grid.projection
    (['a', 'b'], '+proj=laea +lat_0=48.5 +lon_0=2.5 +datum=WGS84 +units=m +no_defs')
    """
    distinct = read_distinct(source, memory=memory, folder=folder, progress=progress)
    _object_to_few(distinct, k)
    where, why, unused = _looked_at(distinct, source), distinct.why, distinct.unused
    tracks, region, box, notes = _placed(distinct, source, k)
    del distinct
    _object_to_few(tracks, k)
    seconds = source.seconds or find_seconds(tracks.instant)
    start = start_of(tracks, seconds)
    grid = Grid(seconds=seconds, start=start, projection=region.projection, clock=tracks.clock)
    notes = [*tracks.notes, *notes, *note_on_fixes(tracks)]
    x, y = project_tracks(tracks, grid)
    grid = replace(grid, metres=source.metres or find_metres(x, y))
    sampled, again = sample_tracks(tracks, x, y, grid)
    trajectories = replace(
        with_dropped(sampled, tracks), id_is=tracks.id_is, asked=_asked(source, grid, tracks.now)
    )
    cleaning, now, columns = tracks.cleaning.less("repeated", again), tracks.now, tracks.columns
    cleaning = replace(cleaning, lacking=len(tracks.lacking))
    # Facts need room too.
    del tracks, x, y
    return ReadTrajectories(
        trajectories=trajectories,
        cleaning=cleaning,
        notes=[*notes, *_notes_on_resolution(source, grid)],
        facts=describe_trajectories(trajectories),
        source=replace(_settled(source, grid, box, now), centre=(region.lat, region.lon)),
        columns=columns,
        where=where,
        why=why,
        unused=unused,
    )


def _asked(source: TrajectorySource, grid: Grid, now: int) -> tuple[int, int] | None:
    """Return the first and the last step of the window that was asked for, where both its ends were."""
    since, until = source.window
    if since is None or until is None or now <= since:
        return None
    t, _, _ = grid.steps(seconds=[since // 1_000_000, (min(until, now) - 1) // 1_000_000], x=[0.0], y=[0.0])
    return int(t[0]), int(t[1])


def _looked_at(tracks: Tracks, source: TrajectorySource) -> Whereabouts:
    """Return where the fixes are, or raise where latitude and longitude are certainly exchanged."""
    where = look_at_places(lambda: [(tracks.lat, tracks.lon)], len(tracks.lat))
    if source.tolerate < 1 and source.box is None and source.polygon is None:
        refuse_swapped(where, tracks.columns)
    return where


def _object_to_few(tracks: Tracks, k: int | None) -> None:
    """Raise where nobody can be hidden: one person is alone, or there are fewer than k."""
    ones = ones_of(tracks.id_is)
    if tracks.n_users == 1:
        raise InputError(
            f"the input holds one {ones.one} alone after cleaning; a trajectory can only hide among those of "
            f"others, so fixes of at least two {ones.several} are needed (check {spelt('person')})"
        )
    if k is not None and tracks.n_users < k:
        raise too_few_people(k, ones.several)


def _placed(
    tracks: Tracks, source: TrajectorySource, k: int | None
) -> tuple[Tracks, Region, Box | None, list[str]]:
    """Return the tracks in the study area, their region, the area, and a note where it was found."""
    jump = tracks.jumps(source.max_speed)
    cells = tally_cells(tracks, jump)
    several = ones_of(tracks.id_is).several
    region = choose_region(cells, source.box, k=k, centre=source.centre, called=several)
    proposal = _proposal(cells, source, k, several)
    if region.box is None:
        return tracks.without(jump, "jump"), region, source.box, proposal
    # From here on all is as if the area had been asked for.
    outside = ~within_box(tracks.lat, tracks.lon, region.box)
    away = len(np.unique(tracks.owner[outside]))
    inside = tracks.without(outside, "outside_area")
    inside = inside.without(inside.jumps(source.max_speed), "jump")
    if inside.n_users < MOST * tracks.n_users:
        raise InputError(too_far_apart(cells, k, several))
    edges = ",".join(f"{edge:g}" for edge in region.box)
    lost = tracks.n_users - inside.n_users
    people = (
        f", and with them {mask_small(lost, people=lost)} {several} that were nowhere else" if lost else ""
    )
    note = (
        f"the fixes lie too far apart for one projection: the study area is where most {several} are "
        f"({spelt('box', edges)}), and {mask_small(int(outside.sum()), people=away)} fixes outside it are "
        f"left out{people}"
    )
    return inside, region, region.box, [note, *proposal]


def _proposal(cells: Cells, source: TrajectorySource, k: int | None, several: str) -> list[str]:
    """Return where most people are, in boxes to type, where what many reach spans a country or more."""
    if source.box is not None or source.polygon is not None or source.centre is not None:
        return []
    span = span_km(cells, k)
    if span < SPAN_KM:
        return []
    boxes = where_people_are(propose_regions(cells, k), several)
    return [f"places that many {several} reach are {span:,.0f} km apart. {boxes}"]


def find_regions(source: TrajectorySource, *, k: int, memory: Memory = None) -> tuple[Box, ...]:
    """Return boxes around where most people are, to be released each by itself.

    Raises
    ------
    InputError
        No part of the earth is reached by k people.
    """
    tracks = read_distinct(source, memory=memory, folder=None, progress=silent)
    found = propose_regions(tally_cells(tracks, tracks.jumps(source.max_speed)), k)
    if not found:
        raise InputError(
            f"no part of the earth, one degree wide, is reached by {max(k, FEW):,} "
            f"{ones_of(tracks.id_is).several}, so that no region can be found; give "
            f"{spelt('box', 'south,west,north,east')}"
        )
    return found


def _notes_on_resolution(source: TrajectorySource, grid: Grid) -> list[str]:
    notes = []
    if source.seconds is None and grid.seconds != DEFAULT_SECONDS:
        notes.append(
            f"nearly all times are multiples of {grid.seconds:,} seconds, so a sample lasts that long "
            f"(set {spelt('seconds')})"
        )
    if source.metres is None and grid.metres != DEFAULT_METRES:
        notes.append(
            f"nearly all places are {grid.metres:,} metres or more from the next, so a sample is that wide "
            f"(set {spelt('metres')})"
        )
    return notes


def _settled(source: TrajectorySource, grid: Grid, box: Box | None, now: int) -> TrajectorySource:
    _, until = source.window
    end = datetime.fromtimestamp(now / 1e6, UTC).isoformat()
    return replace(
        source,
        seconds=grid.seconds,
        metres=grid.metres,
        box=box,
        until=end if until is None or now < until else source.until,
    )


@dataclass(frozen=True, kw_only=True)
class TrajectoryDescription:
    """What is in an input; for the eyes of the data owner, not for publishing."""

    facts: Mapping[str, Any]
    cleaning: CleaningReport
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    id_is: str = "person"
    columns: Mapping[str, str] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict, repr=False)
    where: Whereabouts | None = None
    unused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<TrajectoryDescription: {mask_small(self.facts['samples'], 'samples')} of "
            f"{mask_small(self.facts['users'], ones_of(self.id_is).several)}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        told = {
            "columns": dict(self.columns),
            "why": dict(self.why),
            "unused": list(self.unused),
            "where": None if self.where is None else self.where.in_brief(),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }
        return {**self.facts, "id_is": self.id_is, "cleaning": self.cleaning.to_dict(), **told}


def describe_fixes(
    source: TrajectorySource, *, memory: Memory = None, progress: Progress = silent
) -> TrajectoryDescription:
    """Return what is in an input: people, samples, resolution, period, extent, and what was dropped."""
    # Whoever looks at an input wants to see what is wrong with it: nothing stops here.
    reading = read_trajectories(replace(source, tolerate=1.0), memory=memory, progress=progress)
    lost = on_losses(reading.cleaning, source.tolerate, command="trajectories anonymise")
    return TrajectoryDescription(
        facts=reading.facts,
        cleaning=reading.cleaning,
        notes=(*reading.notes, *_note_on_kind(reading)),
        warnings=(*lost, *reading.warnings),
        columns=reading.columns,
        why=reading.why,
        unused=reading.unused,
        where=reading.where,
        id_is=reading.trajectories.id_is,
    )


def _note_on_kind(reading: ReadTrajectories) -> list[str]:
    """Return what the fixes look like and why; nothing of a few people."""
    if reading.trajectories.n_users < FEW:
        return []
    kind = fix_kind(reading.trajectories, reading.columns)
    return [f"the fixes look like {kind.name}: {kind.why}"]
