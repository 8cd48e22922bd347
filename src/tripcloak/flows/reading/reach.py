"""How far enough people go: a study area and a period found from the data that tell of nobody alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

from tripcloak.flows.model import Represented
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.time import DAY, Days, whole_weeks
from tripcloak.promises import KAnonymity, Promise, Unit
from tripcloak.promises.promise import Input
from tripcloak.records.files.tables import literal
from tripcloak.records.trips import Canonical

if TYPE_CHECKING:
    import duckdb

USUAL = KAnonymity(k=10)
"""What edges are held to where nothing is promised yet."""

MICROSECONDS = 60_000_000
"""In a minute."""


class Side(NamedTuple):
    """One side of what is reached: SQL of how far one goes, and whether the lowest are outermost."""

    extreme: str
    lowest: bool


AREA_SIDES = {
    "south": Side("min(least(o_lat, d_lat))", True),
    "west": Side("min(least(o_lon, d_lon))", True),
    "north": Side("max(greatest(o_lat, d_lat))", False),
    "east": Side("max(greatest(o_lon, d_lon))", False),
}


def clock_sql(timezone: str) -> str:
    """Return SQL of what the clocks of a time zone show, in microseconds; null beyond four-digit years."""
    local = f"timezone({literal(timezone)}, start_time)"
    return f"case when year({local}) between 1000 and 9999 then epoch_us({local}) end"


@dataclass(frozen=True, eq=False)
class Reach:
    """How far the kept trips go, but for what fewer reach than are promised to be in every flow.

    Parameters
    ----------
    con, canonical
        The connection that holds the view, and what is in it.
    promise
        Says how many of what must reach an edge: the unit and the k of every released flow.
    """

    con: duckdb.DuckDBPyConnection
    canonical: Canonical
    promise: Promise = USUAL

    @cached_property
    def needed(self) -> dict[Unit, float]:
        """Return how many of which unit must reach or pass an edge."""
        # Places and axes are asked for by what is left out here.
        counted = cast(Input, self)
        settled = {} if self.promise.noisy else self.promise.of_people.resolve(counted).thresholds
        return settled or USUAL.resolve(counted).thresholds

    @property
    def units(self) -> tuple[Unit, ...]:
        """Return what the view can count."""
        people = self.canonical.has_person or self.canonical.people_once
        found: list[Unit] = ["trips"]
        found += ["travellers"] if people else []
        return (*found, "population") if self.canonical.has_weight else tuple(found)

    @property
    def id_is(self) -> str:
        """Return what an id stands for."""
        return self.canonical.id_is

    @cached_property
    def represented(self) -> Represented | None:
        """Return how many people carry a weight, and what they stand for; each by the largest of theirs."""
        if not self.canonical.has_weight:
            return None
        each = "select weight from canonical where reason = 0"
        if self.canonical.has_person:
            each = "select max(weight) as weight from canonical where reason = 0 group by person"
        ((people, population),) = self.con.execute(
            f"select count(*), coalesce(sum(weight), 0) from ({each})"
        ).fetchall()
        return Represented(int(people), float(population)) if people else None

    @property
    def words(self) -> str:
        """Return how many must reach an edge, in words."""
        return " and ".join(f"{k:,.0f} {unit}" for unit, k in self.needed.items())

    def area(self) -> tuple[float, float, float, float]:
        """Return south, west, north, east of the kept trip ends, but for what too few reach.

        On every side lies the outermost coordinate that as many reach or pass as every flow must hold: a
        study area is published, and must not tell how far a single one goes. An edge is still somebody's
        own place; callers must widen the extent.
        """
        if self.canonical.endpoints != "points":
            raise InputError(f"a quadtree over zone ids needs {spelt('area')}: south,west,north,east")
        south, west, north, east = self._edges(AREA_SIDES, spelt("area"), twice=True)
        return south, west, north, east

    def period(self) -> Days:
        """Return the weeks of the kept trips, but for those that too few reach."""
        clock = clock_sql(self.canonical.timezone or "UTC")
        sides = {"first": Side(f"min({clock})", True), "last": Side(f"max({clock})", False)}
        first, last = self._edges(sides, spelt("period"))
        days = whole_weeks(*(int(edge) // (MICROSECONDS * DAY) for edge in (first, last)))
        if days.last < days.first:
            raise InputError(
                f"the period that {self.words} reach cannot be found: too few travel at the same time; "
                f"give {spelt('period', 'FROM/TO')}"
            )
        return days

    def _edges(self, sides: Mapping[str, Side], instead: str, *, twice: bool = False) -> list[float]:
        """Return the innermost of the edges that every unit asks for, side by side."""
        found = [self._edges_of(unit, k, sides, instead, twice=twice) for unit, k in self.needed.items()]
        return [
            max(edges) if side.lowest else min(edges)
            for side, edges in zip(sides.values(), zip(*found, strict=True), strict=True)
        ]

    def _edges_of(
        self, unit: Unit, k: float, sides: Mapping[str, Side], instead: str, *, twice: bool
    ) -> list[float]:
        known, one, mass = self._counted(unit)
        ones = ", ".join(f"{side.extreme} as {name}" for name, side in sides.items())
        edges = ", ".join(_outermost(name, side, k) for name, side in sides.items())
        ((held, *found),) = self.con.execute(
            f"with ones as (select {ones}, any_value(mass) as mass from "
            f"(select *, {one} as one, {mass} as mass from canonical where reason = 0 and {known}) "
            f"group by one) select coalesce((select sum(mass) from ones), 0), {edges}"
        ).fetchall()
        if held == 0:
            raise InputError(f"no usable trip is left, so the study area cannot be found; give {instead}")
        # With fewer, the edges might stand the wrong way round.
        least = 2 * k if twice else k
        if held < least or any(edge is None or not math.isfinite(edge) for edge in found):
            raise InputError(
                f"a study area or a period is found from {least:,.0f} {unit} or more, so that it does not "
                f"tell how far a single one goes; there are fewer here: give {instead}"
            )
        return found

    def _counted(self, unit: Unit) -> tuple[str, str, str]:
        """Return SQL of the rows that count, of whose (or which trip) they are, and of what each counts."""
        if unit == "travellers" and self.canonical.has_person:
            return "person is not null", "person", "1"
        trip = "row_number() over ()"
        if self.canonical.has_mark:
            # Exact duplicates are one trip.
            trip = f"case when mark is null then -({trip})::hugeint else mark::hugeint end"
        if unit == "population":
            return "true", trip, "weight"
        return "true", trip, "trips" if self.canonical.has_trips else "1"


def _outermost(name: str, side: Side, k: float) -> str:
    """Return SQL of the outermost value that as many reach or pass."""
    order, pick = ("asc", "min") if side.lowest else ("desc", "max")
    return (
        f"(select {pick}({name}) from (select {name}, sum(mass) over (order by {name} {order}) as reached "
        f"from ones where {name} is not null) where reached >= {k!r} * (1 - 1e-9)) as {name}"
    )
