"""Whether a release is of the same data as the others of a ledger: only then are records known again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.model import KeyedRecords
from tripcloak.flows.reading.matrix import MatrixReading
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.ledger.store.columns import KnownRecords, people_of

MADE_UP_OF = (
    *("person", "start_time", "trips", "origin", "destination", "origin_lat", "origin_lon"),
    *("destination_lat", "destination_lon", "polyline", "lat", "lon", "time", "antenna"),
)
"""Roles of columns that make up a record."""
MOST = 0.5
"""The share of records in common by which they are plainly read alike, whatever columns are called."""
PART = {"where", "segment", "sample", "box", "polygon"}
"""What makes a release one of a part of the data, so that it may share nobody with another."""


class Coming(NamedTuple):
    """A release that is to be recorded: its records, where each of them is known, and what it is of.

    Attributes
    ----------
    place : array of int
        The place of every record among those that the ledger knows, -1 where it is new.
    told_by : dict
        By what records are told; see :func:`told_by`.
    """

    records: KeyedRecords
    place: Ints
    told_by: Mapping[str, Any]
    covered: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """Return a digest of which records they are."""
        return hashlib.blake2b(self.records.record.tobytes(), digest_size=32).hexdigest()


def told_by(reading: MatrixReading, zone_prefix: int | None) -> dict[str, Any]:
    """Return by what records are told: two readings that differ in it do not know each other's."""
    canonical = reading.trips.canonical
    columns = {role: column.lower() for role, column in canonical.columns.items() if role in MADE_UP_OF}
    return {
        "columns": columns,
        "timezone": canonical.timezone if canonical.has_start else None,
        "silence": canonical.silence,
        "zone_prefix": zone_prefix,
    }


def refuse_other_data(new: Coming, known: KnownRecords, earlier: Sequence[Mapping[str, Any]]) -> None:
    """Raise where a release seems to be of other data than those before: it would be judged as if alone.

    Parameters
    ----------
    known
        The records that the ledger knows.
    earlier
        What it holds of the releases before.
    """
    if not earlier:
        return
    records, before = new.records, earlier[0]["told_by"]
    common = np.count_nonzero(new.place >= 0)
    differing = [name for name in new.told_by if new.told_by[name] != before.get(name)]
    if differing and common < MOST * min(len(records), len(known)):
        words = ", ".join(_words(name, new.told_by, before) for name in differing)
        raise InputError(
            f"the records of this input are told by other things than those in the ledger ({words}), so that "
            "none would be known again. Read it as the earlier releases were, or keep another ledger for it"
        )
    whole = not PART & set(new.covered) and any(not PART & set(one["covered"]) for one in earlier)
    if common or not whole:
        return
    people = people_of(records.record, records.person)
    if len(people) and len(known.people) and not np.isin(people, known.people).any():
        raise InputError(
            "nobody in this input is in the ledger: it seems to be other data, or its ids were made anew. "
            "Keep another ledger for it"
        )


def _words(name: str, told: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """Return what differs; names of columns and options, and no value of the data."""
    if name != "columns":
        return f"{spelt(name, told[name])} here, {spelt(name, before.get(name))} there"
    here, there = told[name], before.get(name, {})
    roles = [role for role in MADE_UP_OF if here.get(role) != there.get(role)]
    return ", ".join(f"{role} is {here.get(role)!r} here, {there.get(role)!r} there" for role in roles)
