"""Whether a release is of the same data as the others of a ledger: only then are records known again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.model import KeyedRecords
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt
from tripcloak.ledger.store.columns import KnownRecords, people_of

MADE_UP_OF = (
    *("person", "start_time", "trips", "origin", "destination", "origin_lat", "origin_lon"),
    *("destination_lat", "destination_lon", "polyline", "lat", "lon", "time", "antenna"),
)
"""Roles of columns that make up a record."""
OF = "of"
"""What a record is of, where that is not a trip."""
PEOPLE = "people"
MOST = 0.5
"""The share of records in common by which they are plainly read alike, whatever columns are called."""
PART = {"where", "segment", "sample", "box", "polygon"}
"""What makes a release one of a part of the data, so that it may share nobody with another."""


class Offered(NamedTuple):
    """An input as a ledger gets to know it.

    Attributes
    ----------
    records : KeyedRecords
        Its records, read with the ledger's key.
    told_by : dict
        By what records are told: two readings that differ in it do not know each other's.
    covered : dict
        Which part of the data it is; empty where it is all.
    """

    records: KeyedRecords
    told_by: Mapping[str, Any]
    covered: Mapping[str, Any]


class Coming(NamedTuple):
    """What is about to be recorded: an input, and where each of its records is known.

    Attributes
    ----------
    place : array of int
        The place of every record among those that the ledger knows, -1 where it is new.
    """

    records: KeyedRecords
    told_by: Mapping[str, Any]
    covered: Mapping[str, Any]
    place: Ints

    @property
    def digest(self) -> str:
        """Return a digest of which records they are."""
        return hashlib.blake2b(self.records.record.tobytes(), digest_size=32).hexdigest()


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
    records, common = new.records, np.count_nonzero(new.place >= 0)
    # Of flows a record is a trip, of trajectories all that somebody did; people are told alike by both.
    alike = (one["told_by"] for one in earlier if one["told_by"].get(OF) == new.told_by.get(OF))
    before = next(alike, new.told_by)
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
