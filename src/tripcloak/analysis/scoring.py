"""Scoring: a release of flows, or synthetic records, on the scale of NIST's temporal map challenge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tripcloak.analysis.drawn import placed_flows, tile_points
from tripcloak.analysis.slot_axis import WEEK, slot_axis
from tripcloak.flows.checking import how_it_was_read
from tripcloak.flows.measures.nist import (
    DROPOFF,
    INDIVIDUAL,
    MARGINALS,
    NEEDED,
    PICKUP,
    SHIFT,
    ContestTable,
    NistScore,
    nist_score,
)
from tripcloak.flows.reading.matrix import opened
from tripcloak.flows.reading.reach import clock_sql
from tripcloak.flows.release.reading import Published, read_published
from tripcloak.ground.arrays import Ints
from tripcloak.ground.engine import connect, plain_errors
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import OUTSIDE, Tiling, parse_tiling
from tripcloak.hierarchy.time import fold_slots
from tripcloak.records.files.frames import Input
from tripcloak.records.files.tables import Table, open_tables, quoted
from tripcloak.records.source import TripSource

if TYPE_CHECKING:
    from tripcloak.records.trips import Canonical

AREAS = "h3:7"
"""Tiles of about five square kilometres, as the community areas of Chicago are."""
SUBSAMPLES = (10, 40, 70)
HOURS = 8
SEED = 1
"""The same draws for every release, so that scores can be compared."""
DAY, MINUTE = 1440, 60_000_000

OF_TRIPS = (
    "an individual is all that one id does in one week (from Monday), a shift eight hours of the week, an "
    "area a tile of {areas}"
)
OF_RELEASES = (
    "every released trip was put on a tile of its zone at either end, each as likely as any other, and on a "
    "moment of its time likewise{timeless}",
    "a release of flows tells of no individuals: its trips were dealt at random to as many as the truth has, "
    "a number that it does not tell",
    "it has no company, payment, fare, tips, total, seconds or miles either: marginals are of the area of "
    "dropoff, by area of pickup and shift",
)
TIMELESS = "; it tells no times, so that is any moment of the week"


class ScoredRow(NamedTuple):
    """One table of records, and its score."""

    name: str
    found: NistScore


@dataclass(frozen=True, kw_only=True, eq=False)
class ContestScores:
    """Scores of synthetic records and of subsamples of the truth; for the data owner, not for publishing.

    Attributes
    ----------
    rows : tuple of ScoredRow
        What was scored first, then the subsamples.
    records, individuals : int
        How many the truth holds.
    notes : tuple of str
        How records came about, and what does not count.
    """

    rows: tuple[ScoredRow, ...]
    records: int
    individuals: int
    notes: tuple[str, ...]

    @property
    def score(self) -> float:
        """Return the score: of several epsilons their mean, as in the contest.

        Subsamples do not count.
        """
        own = [row.found.score for row in self.rows if not row.name.endswith("%")]
        return float(np.mean(own))

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak score nist --json`` prints."""
        return {
            "score": self.score,
            "rows": [{"name": row.name, **row.found.to_dict()} for row in self.rows],
            "records": self.records,
            "individuals": self.individuals,
            "notes": list(self.notes),
        }


def score_release(
    folder: Path,
    inputs: tuple[Input, ...],
    *,
    areas: str = AREAS,
    subsamples: Sequence[float] = SUBSAMPLES,
    memory: Memory = None,
    progress: Progress = silent,
) -> ContestScores:
    """Return the score of a release of flows against the trips that it was made from.

    Parameters
    ----------
    areas
        The tiles that stand for the contest's areas, such as ``h3:7``.
    subsamples
        Percentages of true individuals to score beside it.
    """
    tiling = parse_tiling(areas)
    progress("reading trips", 0, None)
    truth = true_records(folder, inputs, tiling, memory=memory)
    published = read_published(folder)
    progress("scoring", 0, None)
    made = released_records(published, tiling, len(np.unique(truth[INDIVIDUAL])))
    timeless = TIMELESS if published.time is None else ""
    notes = (OF_TRIPS.format(areas=tiling.name), *(one.format(timeless=timeless) for one in OF_RELEASES))
    return _scores({"release": made}, truth, subsamples, notes)


def score_tables(
    made: tuple[Input, ...],
    truth: tuple[Input, ...],
    *,
    subsamples: Sequence[float] = SUBSAMPLES,
    memory: Memory = None,
    progress: Progress = silent,
) -> ContestScores:
    """Return the score of synthetic records in the contest's schema against true ones.

    Where the synthetic table has a column ``epsilon``, every epsilon is scored by itself, as in the contest.
    """
    progress("reading tables", 0, None)
    with connect(Budget.of(memory).engine, None) as con, plain_errors():
        true, told = (_contest_table(con, one) for one in (truth, made))
    columns = [name for name in (*NEEDED, *MARGINALS) if name in true and name in told]
    true = {name: true[name] for name in true if name in columns or name in NEEDED}
    lost = [name for name in MARGINALS if name not in columns]
    notes = (
        (f"left out of the marginals, since not both tables have them: {', '.join(lost)}",) if lost else ()
    )
    progress("scoring", 0, None)
    return _scores(dict(_by_epsilon(told)), true, subsamples, notes)


def _scores(
    tables: dict[str, ContestTable], truth: ContestTable, subsamples: Sequence[float], notes: tuple[str, ...]
) -> ContestScores:
    rows = [ScoredRow(name, nist_score(truth, table)) for name, table in tables.items()]
    for percent in subsamples:
        if not 0 < percent <= 100:
            raise InputError(f"a subsample is a percentage above 0 and up to 100; got {percent:g}")
        rows.append(ScoredRow(f"{percent:g} %", nist_score(truth, subsample(truth, percent))))
    individuals = len(np.unique(truth[INDIVIDUAL]))
    return ContestScores(
        rows=tuple(rows), records=len(truth[SHIFT]), individuals=individuals, notes=tuple(notes)
    )


def subsample(truth: ContestTable, percent: float) -> ContestTable:
    """Return the records of so many per cent of the individuals, at least one, drawn alike every time."""
    people, person = np.unique(truth[INDIVIDUAL], return_inverse=True)
    number = max(1, round(len(people) * percent / 100))
    chosen = np.zeros(len(people), dtype=bool)
    chosen[np.random.default_rng(SEED).choice(len(people), number, replace=False)] = True
    return {name: column[chosen[person]] for name, column in truth.items()}


def true_records(
    folder: Path, inputs: tuple[Input, ...], tiling: Tiling, *, memory: Memory = None
) -> ContestTable:
    """Return the trips that a release was made from as records of the contest."""
    return contest_records(how_it_was_read(folder, inputs)[0], tiling, memory=memory)


def contest_records(source: TripSource, tiling: Tiling, *, memory: Memory = None) -> ContestTable:
    """Return trips as records of the contest."""
    with opened(source, memory=memory) as (con, canonical), plain_errors():
        _refuse_trips(canonical)
        once = "qualify row_number() over (partition by mark) = 1" if canonical.has_mark else ""
        rows = con.sql(
            f"select hash(person) as person, {clock_sql(canonical.timezone or 'UTC')} as clock, "
            "o_lat, o_lon, d_lat, d_lon from canonical where reason = 0 and person is not null "
            f"and start_time is not null {once}"
        ).fetchnumpy()
    minute = np.asarray(rows["clock"]) // MINUTE
    week = (minute // DAY + 3) // 7
    _, individual = np.unique(np.asarray(rows["person"]), return_inverse=True)
    _, vehicle_week = np.unique(individual * (week.max() - week.min() + 1) + week, return_inverse=True)
    return {
        INDIVIDUAL: vehicle_week,
        SHIFT: fold_slots(minute // (HOURS * 60), HOURS * 60, "week"),
        PICKUP: _areas(tiling, rows["o_lat"], rows["o_lon"]),
        DROPOFF: _areas(tiling, rows["d_lat"], rows["d_lon"]),
    }


def _refuse_trips(canonical: Canonical) -> None:
    wanted = {
        "the id of a person or vehicle": canonical.has_person,
        "a start time": canonical.has_start,
        "coordinates at both ends": canonical.endpoints == "points",
        "a row a trip": not canonical.has_trips,
    }
    for what, there in wanted.items():
        if not there:
            raise InputError(f"the contest scores individuals in time and space; the input needs {what}")


def _areas(tiling: Tiling, lat: Any, lon: Any) -> Ints:
    """Return a number for the area of every point; -1 for none, as the contest calls what is unknown."""
    keys = tiling.encode(np.asarray(lat, dtype=float), np.asarray(lon, dtype=float))
    return np.where(keys == OUTSIDE, -1, keys.astype(np.int64))


def released_records(published: Published, tiling: Tiling, individuals: int) -> ContestTable:
    """Return a published release as records of the contest, drawn alike every time.

    Parameters
    ----------
    individuals
        How many the records are dealt to.
    """
    if published.facts["volume"] != "trips":
        raise InputError(f"the contest scores trips, and this release tells population; {spelt('volume')}")
    draw = np.random.default_rng(SEED)
    trips = np.where(placed_flows(published), np.rint(published.volume), 0).astype(np.int64)
    flow = np.repeat(np.arange(len(trips)), trips)
    minute = _minutes(published, flow, draw)
    return {
        INDIVIDUAL: draw.integers(0, individuals, len(flow)),
        SHIFT: minute // (HOURS * 60),
        PICKUP: _drawn_areas(published, "origin", published.origin[flow], tiling, draw),
        DROPOFF: _drawn_areas(published, "destination", published.destination[flow], tiling, draw),
    }


def _drawn_areas(
    published: Published, axis: str, zone: Ints, tiling: Tiling, draw: np.random.Generator
) -> Ints:
    import shapely

    zones = published.zones[axis]
    row, points = tile_points(zones.ids, zones.shapes, str(published.facts["hierarchy"]["spec"]))
    lon, lat = shapely.get_coordinates(points).T
    size = np.bincount(row, minlength=len(zones.ids))
    first = np.cumsum(size) - size
    point = first[zone] + (draw.random(len(zone)) * size[zone]).astype(np.int64)
    area: Ints = _areas(tiling, lat, lon)[point]
    return area


def _minutes(published: Published, flow: Ints, draw: np.random.Generator) -> Ints:
    """Return a minute of the week for every trip."""
    try:
        axis = None if published.time is None else slot_axis(published)
    except ImpossibleRequestError:
        axis = None
    if axis is None or published.time is None:
        return draw.integers(0, WEEK, len(flow))
    time, slot = published.time[flow], np.zeros(len(flow), dtype=np.int64)
    for one in np.unique(time):
        own, shares = np.flatnonzero(time == one), axis.shares[[one]].tocoo()
        slot[own] = draw.choice(shares.col, len(own), p=shares.data / shares.data.sum())
    minute = slot * axis.minutes + draw.integers(0, axis.minutes, len(flow))
    if axis.fold == "day":
        minute += DAY * draw.integers(0, 7, len(flow))
    elif axis.fold is None:
        begins = np.datetime64(str(axis.names[0])[:10], "D").astype(np.int64)
        minute += int(begins + 3) % 7 * DAY
    return minute % WEEK


def _contest_table(con: Any, inputs: tuple[Input, ...]) -> ContestTable:
    """Return the columns of a table that the contest knows, as numbers."""
    tables = open_tables(con, inputs, None)
    if len(tables) > 1:
        raise InputError("a table of the contest is one file, or several with the same columns")
    known = {name.lower(): name for name in tables[0].types}
    names = [name for name in dict.fromkeys((*NEEDED, *MARGINALS, "epsilon")) if name in known]
    numbers = [f"try_cast({quoted(known[name])} as double) as {name}" for name in names if name != INDIVIDUAL]
    who = _individuals_sql(con, tables[0], known.get(INDIVIDUAL))
    arrow = con.sql(f"select {', '.join([*who, *numbers])} from ({tables[0].scan})").to_arrow_table()
    return {name: arrow[name].to_numpy() for name in arrow.column_names}


def _individuals_sql(con: Any, table: Table, name: str | None) -> list[str]:
    """Return SQL of the ids: numbers where all are, since their order decides which the contest draws."""
    if name is None:
        return []
    wrong = con.sql(
        f"select count(*) from ({table.probe}) where try_cast({quoted(name)} as bigint) is null"
    ).fetchall()[0][0]
    if not wrong:
        return [f"{quoted(name)}::bigint as {INDIVIDUAL}"]
    return [f"coalesce({quoted(name)}::varchar, '') as {INDIVIDUAL}"]


def _by_epsilon(table: ContestTable) -> Iterator[tuple[str, ContestTable]]:
    told = {name: column for name, column in table.items() if name != "epsilon"}
    if "epsilon" not in table:
        yield "synthetic", told
        return
    for epsilon in np.unique(table["epsilon"]):
        own = table["epsilon"] == epsilon
        yield f"epsilon {epsilon:g}", {name: column[own] for name, column in told.items()}
