"""What is suspicious in an input: lost files, rows that count for nobody, swapped places, fixes as trips."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import FEW, mask_small
from tripcloak.ground.spelling import spelt, spelt_command, spelt_together
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.columns import plain_name
from tripcloak.records.files.tables import quoted
from tripcloak.records.schema import ROLES
from tripcloak.records.tolerance import enough, losses, told_losses

if TYPE_CHECKING:
    from tripcloak.records.opening import Rows
    from tripcloak.records.whereabouts import Whereabouts

NAMED = 5
"""Files that a sentence names."""


def on_losses(
    report: CleaningReport, tolerate: float, rows: Rows | None = None, command: str = "anonymise"
) -> list[str]:
    """Return the warning that a release would be refused, where files lost more rows than is tolerated."""
    found = losses(report, tolerate)
    if not found:
        return []
    return [
        f"{told_losses(found, rows)}: {spelt_command(command)} stops at such files; mend them or leave "
        f"them out, or go on without these rows ({spelt('tolerate', enough(found))})"
    ]


def on_places(where: Whereabouts | None, columns: Mapping[str, str]) -> list[str]:
    """Return warnings on coordinates that look swapped, and on stray points."""
    if where is None:
        return []
    swapped, stray = where.swapped_words(), where.stray_words()
    named = _named_the_other_way(columns) if where.mirror.km < where.city.km else None
    told = [f"{swapped}. {how_to_swap(columns)}"] if swapped else []
    told += [f"{named}. {how_to_swap(columns)}"] if named and not swapped else []
    return told + ([stray] if stray else [])


def refuse_swapped(where: Whereabouts | None, columns: Mapping[str, str]) -> None:
    """Raise an InputError where latitude and longitude are certainly exchanged in the whole input."""
    if where is not None and where.swapped == "certain":
        raise InputError(
            f"{where.swapped_words()}. {how_to_swap(columns)}; where they are right as they are, say so with "
            f"{spelt('box', 'SOUTH,WEST,NORTH,EAST')} around them"
        )


def _named_the_other_way(columns: Mapping[str, str]) -> str | None:
    """Return that the names of columns speak against what they were taken for; None where none does."""
    for role, column in columns.items():
        axis, plain = role.rpartition("_")[2], plain_name(column)
        other = {"lat": ("lon", "lng"), "lon": ("lat",)}.get(axis, ())
        if any(word in plain for word in other) and axis not in plain:
            return f"column {column!r} is taken for the {ROLES[role].words}, and its name says otherwise"
    return None


def on_fixes(report: CleaningReport, form: str, columns: Collection[str]) -> list[str]:
    """Return the warning that rows are fixes and not trips, and which commands are for those."""
    if form != "points" or {"trip_id", "occupied"} & set(columns):
        return []
    single = report.dropped.get("single_fix", 0)
    lost = (
        f", and {mask_small(single)} of {report.rows:,} were a single fix and are dropped" if single else ""
    )
    return [
        "these are fixes, not trips: a row is somebody at a place and a time. Trips were made of runs of "
        f"fixes between silences{lost}. {spelt_command('trajectories anonymise')} releases whole "
        "trajectories, and `tripcloak trajectories trips` makes trips between the places where somebody stays"
    ]


def no_ids(column: str) -> str:
    """Return the note that some rows have no id, where it is not known how many."""
    return f"some rows have no id in {column!r}: they add volume but no traveller"


def counted_ids(report: CleaningReport, column: str) -> str | None:
    """Return how many rows have no id and what they count as; None where all have one.

    Examples
    --------
    >>> from tripcloak.records.cleaning import report_files
    >>> counted_ids(report_files([{0: 40}], {"may.csv": 0}, [10]), "bike")[:68]
    "10 of 40 rows have no id in 'bike': they add volume but no traveller"
    """
    nobody = report.without_id or 0
    if not nobody:
        return None
    bare = _without_ids(report)
    where = f", most of {_listed(bare)}" if 0 < len(bare) < len(report.files) else ""
    many = mask_small(nobody) if report.kept > FEW else "some"
    return (
        f"{many} of {report.kept:,} rows have no id in {column!r}{where}: they add volume but "
        "no traveller, so k on travellers counts the others alone; k on trips counts all"
    )


def on_ids(report: CleaningReport, column: str) -> list[str]:
    """Return the warning that so many rows have no id that no usual limit withholds them; else nothing."""
    nobody, told = report.without_id or 0, counted_ids(report, column)
    if told is None or nobody <= USUAL_LIMIT * report.kept:
        return []
    much = "most rows" if nobody * 2 > report.kept else f"{nobody / report.kept:.0%} of the rows"
    bare = 0 < len(_without_ids(report)) < len(report.files)
    given = spelt("where", f"{_as_sql(column)} IS NOT NULL", quoted=True)
    which = "the files without ids" if bare else f"the rows without ids ({given})"
    return [
        f"{much} lack the id that k counts: {told}. Zones grow until the rows with an id reach k in each: "
        f"leave out {which}, or ask for k trips ({spelt('unit', 'trips')})"
    ]


USUAL_LIMIT = 0.1
"""The share of the trips that is withheld where nobody says otherwise."""


def _without_ids(report: CleaningReport) -> list[str]:
    """Return the files of which most rows have no id."""
    return [one.name for one in report.files if (one.without_id or 0) * 2 > one.kept]


def _as_sql(column: str) -> str:
    return column if re.fullmatch(r"[A-Za-z_]\w*", column) else quoted(column)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more files" if more > 0 else "")


def how_to_swap(columns: Mapping[str, str]) -> str:
    """Return the options that exchange latitude and longitude."""
    pairs = (("origin_lat", "origin_lon"), ("destination_lat", "destination_lon"), ("lat", "lon"))
    named = [(lat, lon) for lat, lon in pairs if lat in columns and lon in columns]
    swapped = {role: columns[other] for lat, lon in named for role, other in ((lat, lon), (lon, lat))}
    return f"Try {spelt_together(swapped)}" if swapped else "Pairs in a path must be longitude first"
