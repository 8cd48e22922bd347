"""Where trips lie, but for places that few people reach: the extent of a study area nobody stated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tripcloak.errors import InputError
from tripcloak.trips import Canonical, CodedTrips

if TYPE_CHECKING:
    import duckdb

AT_AN_EDGE = 10
"""Travellers who reach or pass each edge of an extent."""


def common_extent(con: duckdb.DuckDBPyConnection, canonical: Canonical) -> tuple[float, float, float, float]:
    """Return south, west, north, east of the kept trip ends, but for what few people reach.

    On every side lies the outermost coordinate that 10 travellers (trips, where there is no id) reach
    or pass: a study area is published, and must not tell how far a single one goes. An edge is still
    somebody's own place; callers must widen the extent.
    """
    if canonical.endpoints != "points":
        raise InputError("a quadtree over zone ids needs --area: south,west,north,east")
    nth, (known, one) = AT_AN_EDGE, _one_of(canonical)
    ((found, south, west, north, east),) = con.execute(
        "with ones as (select min(least(o_lat, d_lat)) as south, min(least(o_lon, d_lon)) as west, "
        "max(greatest(o_lat, d_lat)) as north, max(greatest(o_lon, d_lon)) as east "
        f"from (select *, {one} as one from canonical where reason = 0 and {known}) group by one) "
        f"select count(*), min(south, {nth})[{nth}], min(west, {nth})[{nth}], "
        f"max(north, {nth})[{nth}], max(east, {nth})[{nth}] from ones"
    ).fetchall()
    if found == 0:
        raise InputError("no usable trip is left, so the study area cannot be found; give --area")
    # With fewer, the edges might stand the wrong way round.
    if found < 2 * nth:
        raise InputError(
            f"a study area is found from {2 * nth} {_counted(canonical)} or more, so that it does not tell "
            "how far a single one goes; there are fewer here: give --area south,west,north,east"
        )
    return south, west, north, east


def with_note_on_area(trips: CodedTrips) -> CodedTrips:
    """Return the trips, with a note if some lie outside the study area that was found from them."""
    if "outside_tiling" not in trips.cleaning.dropped:
        return trips
    note = (
        f"some trips go further than {AT_AN_EDGE} {_counted(trips.canonical)} do, beyond the study area that "
        "was found from the data, and are left out; state the area to keep them (--area)"
    )
    return replace(trips, notes=(*trips.notes, note))


def _one_of(canonical: Canonical) -> tuple[str, str]:
    """Return SQL for the rows of which one can say whose they are, and for whose (or which trip) they are."""
    if canonical.has_person:
        return "person is not null", "person"
    return "true", "mark" if "mark" in canonical.names else "row_number() over ()"


def _counted(canonical: Canonical) -> str:
    return "travellers" if canonical.has_person else "trips"
