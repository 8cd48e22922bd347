"""Rules on releases that promise differential privacy: is the noise enough, and is it there."""

from __future__ import annotations

import math

import numpy as np

from tripcloak.audit.counted import Counted, counted_trips, id_marks
from tripcloak.audit.entries import unreadable
from tripcloak.audit.evidence import Evidence
from tripcloak.audit.noise import (
    CANNOT_TELL,
    TOO_CLOSE,
    TOO_MANY,
    Noisy,
    beside,
    too_few_made_up,
    too_many,
    verdict,
)
from tripcloak.audit.privacy import Privacy, too_little
from tripcloak.audit.raw import WITHHELD
from tripcloak.audit.rulebook import Remark
from tripcloak.audit.rules.book import BOOK


@BOOK.rule("noise-suffices", "flows", "tree")
def noise_suffices(case: Evidence) -> str | None:
    """Where differential privacy is promised, the stated noise gives the stated epsilon and delta."""
    privacy = case.promise.privacy
    return (
        None
        if privacy is None
        else too_little(privacy) or _other_parameters(case, privacy) or _outside(case, privacy)
    )


def _other_parameters(case: Evidence, privacy: Privacy) -> str | None:
    """Return what is wrong if the method was run with other numbers than are promised."""
    asked = case.facts["parameters"]
    # Where nobody is told apart every trip counts, whatever was asked for.
    fits = asked.get("epsilon") == privacy.epsilon and privacy.contributions in {
        asked.get("contributions"),
        1,
    }
    return None if fits else "the parameters name another epsilon or other contributions than the promise"


def _outside(case: Evidence, privacy: Privacy) -> str | None:
    """Return what is wrong with the study area, which holds all zones there could be."""
    area = privacy.study_area
    if area is None:
        return "the manifest does not say which zones there could be: it names no study area"
    if case.promise.names is None:
        known = case.value("select zone from audit_tree where axis = 'origin' and parent is null") == area
        return None if known else "the study area is not the whole of the zones"
    zones = case.rows("select origin from audit_flows union select destination from audit_flows")
    outside = sum(not case.promise.names.inside(zone, area) for (zone,) in zones)
    return "some released zones lie outside the study area" if outside else None


@BOOK.rule("noise-as-stated", "recount", "tree")
def noise_as_stated(case: Evidence) -> str | Remark | None:
    """Where noise is promised, published numbers are as far from the recount as it takes them."""
    privacy = case.promise.privacy
    if privacy is None:
        return None
    if "trips" not in case.columns("audit_flows"):
        return "the released flows lack the column 'trips'"
    if case.value("select count(*) = 0 from audit_flows"):
        return "nothing is released"
    numbers = _numbers(case, privacy)
    if too_many(privacy, numbers):
        return TOO_MANY
    if privacy.noise == "Laplace" and not privacy.delta:
        # Every pair of zones got noise, so that many must have come out of nowhere.
        hidden = case.value("select count(*) from audit_groups where released_origin is null")
        known = int((numbers.counted > 0).sum()) + hidden
        if too_few_made_up(privacy, int((numbers.counted == 0).sum()), _all_pairs(case, privacy) - known):
            return "too few pairs of zones that do not occur are published: those that are would be true ones"
    found = verdict(privacy, numbers)
    return Remark(CANNOT_TELL) if found is None else None if found else TOO_CLOSE


def _all_pairs(case: Evidence, privacy: Privacy) -> int:
    """Return how many pairs of zones there are of the height that is released."""
    height = case.facts["parameters"].get("height")
    if type(height) is not int or height < 0 or privacy.study_area is None:
        raise unreadable("parameters.height", "the height of the released zones")
    if case.promise.names is not None:
        return case.promise.names.number(privacy.study_area, height) ** 2
    sizes = case.rows(
        f"""select count(*) from audit_tree zone left join audit_tree above
        on above.axis = zone.axis and above.zone = zone.parent
        where zone.height <= {height} and coalesce(above.height > {height}, true) group by zone.axis"""
    )
    return math.prod(number for (number,) in sizes)


def _numbers(case: Evidence, privacy: Privacy) -> Noisy:
    axes = ", ".join(case.promise.axes)
    pair, published, recount = case.arrays(
        f"""select pair, flow.trips::bigint as published, recount.trips as trips from audit_flows flow
        join (select * from audit_recount where pair > {WITHHELD}) recount using ({axes}) order by pair"""
    )
    if privacy.unit == "trip" or case.value("select count(person) = 0 from audit_presence"):
        return Noisy(published, recount, recount, np.ones(len(pair), dtype=bool))
    keys = ", ".join(name for name in ("o", "d", "t") if name in case.columns("audit_presence"))
    of_row, person, trips, origin, destination = case.arrays(
        f"""select coalesce(pair, {WITHHELD}) as pair, dense_rank() over (order by person) as person,
            trips::bigint as trips, o, d
        from audit_presence left join audit_links using ({keys}) where person is not null"""
    )
    names = dict(case.rows("select key, name from audit_names"))
    known, marks = np.array(sorted(names), dtype=np.uint64), id_marks(names[key] for key in sorted(names))
    origin, destination = (marks[np.searchsorted(known, side)] for side in (origin, destination))
    counted = counted_trips(person, origin, destination, trips, privacy.contributions)
    total = int(counted.trips.sum())
    group = np.minimum(np.searchsorted(pair, of_row), len(pair) - 1)
    here = pair[group] == of_row
    counted = Counted(counted.trips[here], counted.busy[here])
    return beside(published, recount, group[here], trips[here], counted)._replace(all_counted=total)
