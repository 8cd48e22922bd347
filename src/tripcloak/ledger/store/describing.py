"""What a ledger notes of a release in words and plain values: how it was made, and what it covers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tripcloak.flows.reading.matrix import MatrixReading
from tripcloak.flows.release import Release
from tripcloak.promises import Promise
from tripcloak.records.source import TripSource

HOW_MADE = ("method", "parameters", "promise", "hierarchy")
"""What decides which zones a release has, beside the records."""


class Recordable(Protocol):
    """A release that a ledger can record: one just made, or one whose input was read again."""

    @property
    def request(self) -> Any:
        """Return what was asked for, of which the source counts here."""

    @property
    def reading(self) -> MatrixReading:
        """Return its input."""

    @property
    def release(self) -> Release:
        """Return the release."""


def release_facts(made: Recordable) -> dict[str, Any]:
    """Return how a release was made: method, promise, tiling, and how much is in it."""
    release, records = made.release, made.reading.trips.records
    assert records is not None
    return {
        **how_made(release.method, release.parameters, release.promise, made.reading),
        "publish": release.publish,
        "tiling": made.reading.zoning.to_dict(),
        "groups": release.n_groups,
        **({} if release.tables is None else {"tables": [table.name for table in release.tables.tables]}),
        "records": len(records),
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


def covered(source: TripSource, reading: MatrixReading, segmented_by: Sequence[str] = ()) -> dict[str, Any]:
    """Return which part of the data a release is of; nothing where it is of all of it.

    Parameters
    ----------
    segmented_by
        The columns by whose values it tells everything apart.
    """
    when = reading.trips.when
    asked = {
        "where": source.where,
        "segment": dict(source.segment) or None,
        "segments": list(segmented_by) or None,
        "sample": None if source.sample is None else list(source.sample),
        "box": None if source.box is None else list(source.box),
        "polygon": source.polygon,
        "period": None if when is None else [when.first.isoformat(), when.last.isoformat()],
        "slots": reading.zoning.clock() or None,
        "area": None if reading.zoning.area is None else list(reading.zoning.area),
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
