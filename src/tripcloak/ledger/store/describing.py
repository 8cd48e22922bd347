"""What a ledger notes of a release in words and plain values: how it was made, and what it covers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tripcloak.flows.reading.matrix import MatrixReading
from tripcloak.flows.release import Release
from tripcloak.ground.errors import InternalError
from tripcloak.ledger.store.sameness import MADE_UP_OF, Offered
from tripcloak.ledger.store.spent import Charge
from tripcloak.promises import Promise
from tripcloak.records.source import TripSource

HOW_MADE = ("method", "parameters", "promise", "hierarchy")
"""What decides which zones a release has, beside the records."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Recordable:
    """What a ledger notes of a release, whatever it is a release of.

    Attributes
    ----------
    offered : Offered
        Its input.
    facts : dict
        How it was made, and how much is in it.
    zones : dict
        The zones of every group by axis; empty where there are no groups.
    charge : Charge, optional
        What its noise costs everybody who is in it.
    """

    offered: Offered
    facts: Mapping[str, Any]
    zones: Mapping[str, Any]
    charge: Charge | None


class MadeFlows(Protocol):
    """A release of flows: one just made, or one whose input was read again."""

    @property
    def request(self) -> Any:
        """Return what was asked for, of which the source counts here."""

    @property
    def reading(self) -> MatrixReading:
        """Return its input."""

    @property
    def release(self) -> Release:
        """Return the release."""


def flows_to_record(made: MadeFlows) -> Recordable:
    """Return what a ledger notes of a release of flows, of records that were read with its key."""
    release, promise = made.release, made.release.promise
    offered = offered_flows(made.reading, made.request.source, promise.segmented_by)
    return Recordable(
        offered=offered,
        facts=_flow_facts(made, len(offered.records)),
        zones={axis: zones.ids[column] for axis, zones, column in release.axes},
        charge=Charge.of(release.method, promise) if promise.noisy else None,
    )


def offered_flows(reading: MatrixReading, source: TripSource, segmented_by: Sequence[str] = ()) -> Offered:
    """Return trips as a ledger gets to know them.

    Parameters
    ----------
    segmented_by
        The columns by whose values a release tells everything apart.
    """
    canonical, records = reading.trips.canonical, reading.trips.records
    if records is None:
        raise InternalError("the records of the release were read without the key of the ledger")
    told_by = {
        "columns": {role: name.lower() for role, name in canonical.columns.items() if role in MADE_UP_OF},
        "timezone": canonical.timezone if canonical.has_start else None,
        "silence": canonical.silence,
        "zone_prefix": source.zone_prefix,
    }
    return Offered(records, told_by, _covered(source, reading, segmented_by))


def _flow_facts(made: MadeFlows, records: int) -> dict[str, Any]:
    """Return how a release was made: method, promise, tiling, and how much is in it."""
    release = made.release
    return {
        **how_made(release.method, release.parameters, release.promise, made.reading),
        "publish": release.publish,
        "tiling": made.reading.zoning.to_dict(),
        "groups": release.n_groups,
        **({} if release.tables is None else {"tables": [table.name for table in release.tables.tables]}),
        "records": records,
    }


def how_made(
    method: str, parameters: Mapping[str, Any], promise: Promise, reading: MatrixReading
) -> dict[str, Any]:
    """Return what decides which zones a release has, beside the records: in plain values, as from JSON."""
    told = {
        "method": method,
        "parameters": dict(parameters),
        "promise": promise.stated(),
        "hierarchy": reading.zoning.told(reading.tiling, reading.trips.canonical.timezone),
    }
    plain: dict[str, Any] = json.loads(json.dumps(told))
    return plain


def _covered(source: TripSource, reading: MatrixReading, segmented_by: Sequence[str]) -> dict[str, Any]:
    """Return which part of the data a release of flows is of; nothing where it is of all of it."""
    when = reading.trips.when
    more = {
        "segment": dict(source.segment) or None,
        "segments": list(segmented_by) or None,
        "period": None if when is None else [when.first.isoformat(), when.last.isoformat()],
        "slots": reading.zoning.clock() or None,
        "area": None if reading.zoning.area is None else list(reading.zoning.area),
    }
    return part_covered(source) | {name: value for name, value in more.items() if value is not None}


def part_covered(source: Any) -> dict[str, Any]:
    """Return which part of an input was asked for, of trips or of fixes; nothing where it was all of it."""
    asked = {
        "where": source.where,
        "sample": None if source.sample is None else list(source.sample),
        "box": None if source.box is None else list(source.box),
        "polygon": None if source.polygon is None else str(source.polygon),
    }
    return {name: value for name, value in asked.items() if value is not None}


def covered_words(facts: Mapping[str, Any]) -> str:
    """Return the same in words, given what the ledger holds of a release.

    >>> covered_words({"covered": {"period": ["2024-05-01", "2024-05-31"], "where": "sex = 'F'"}})
    "2024-05-01 to 2024-05-31, where sex = 'F'"
    >>> covered_words({"covered": {}})
    'all'
    """
    told = facts["covered"]
    words = [" to ".join(told["period"])] if "period" in told else []
    words += [f"where {told['where']}"] if "where" in told else []
    words += [f"{column} = {value}" for column, value in told.get("segment", {}).items()]
    words += [f"by {', '.join(told['segments'])}"] if "segments" in told else []
    words += [f"a sample of {told['sample'][0]:,}"] if "sample" in told else []
    words += ["a box"] if "box" in told else []
    words += ["a polygon"] if "polygon" in told else []
    words += [f"slots of {told['slots']['time_slot_minutes']} minutes"] if "slots" in told else []
    return ", ".join(words) or "all"
