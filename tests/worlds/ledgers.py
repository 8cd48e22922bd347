"""Small ledgers: a fixed key, and releases that are made once for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.flows.anonymise import AnonymisationRequest, MadeRelease, make_release, write_release
from tripcloak.flows.methods import METHODS
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ledger.atoms import KnownPeople, Splitting
from tripcloak.ledger.disclosing import disclosed
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.store import Ledger, RecordedRelease, init_ledger
from tripcloak.ledger.store.describing import flows_to_record
from tripcloak.ledger.store.key import LedgerKey
from tripcloak.promises import KAnonymity
from tripcloak.records.source import TripSource
from worlds.trips import some_trips, write_csv

KEY = LedgerKey(bytes(range(32)), (bytes(range(16)),))


def ledger_of_fixed_key(folder: Path, monkeypatch: Any, **options: Any) -> Ledger:
    """Return a new ledger with the key by which the releases of :class:`Releases` were read."""
    with monkeypatch.context() as patched:
        patched.setattr(LedgerKey, "new", classmethod(lambda cls: KEY))
        return init_ledger(folder, **options)


def asked(path: Path, out: Path, **changes: Any) -> AnonymisationRequest:
    """Return a request of trips that is quickly met."""
    source = TripSource(paths=(str(path),), **changes.pop("source", {}))
    promise = KAnonymity(k=changes.pop("k", 5), unit=changes.pop("unit", "travellers"))
    method = changes.pop("method", METHODS["odkanon"](promise=promise, suppression_limit=0.2))
    zoning = Zoning(spec=changes.pop("spec", "h3:8"))
    return AnonymisationRequest(source=source, method=method, zoning=zoning, out=out, **changes)


@dataclass(frozen=True)
class Releases:
    """Releases of one small town, read with the fixed key."""

    folder: Path

    @cached_property
    def trips(self) -> Path:
        """Return a file of trips."""
        rows = [{**row, "sex": "FM"[n % 2]} for n, row in enumerate(some_trips(300, spread=0.01))]
        return write_csv(self.folder / "trips.csv", rows)

    def made(self, **changes: Any) -> MadeRelease:
        """Return a release in memory."""
        request = asked(changes.pop("path", self.trips), self.folder / "out", **changes)
        return make_release(replace(request, keyed=KEY.record_key))

    @cached_property
    def first(self) -> MadeRelease:
        """Return one of everybody."""
        return self.made()

    @cached_property
    def coarser(self) -> MadeRelease:
        """Return another of the same trips."""
        return self.made(k=12)

    @cached_property
    def women(self) -> MadeRelease:
        """Return one of half of the trips."""
        return self.made(source={"where": "sex = 'F'"}, k=3)


def record(ledger: Ledger, made: MadeRelease, out: Path, **options: Any) -> RecordedRelease:
    """Return a release that was prepared, without being written."""
    with ledger.changing():
        return ledger.prepare(flows_to_record(made), disclosed(made, out.name), out, **options)


def publish(ledger: Ledger, made: MadeRelease, out: Path, **options: Any) -> RecordedRelease:
    """Return a release that was prepared, written and recorded."""
    prepared = record(ledger, made, out, **options)
    write_release(made, out)
    return ledger.released(prepared, out)


def same(one: Disclosure, other: Disclosure) -> bool:
    """Return whether two disclosures tell the same."""
    arrays = ("record", "person", "group", "trips", "weight", "travellers")
    equal = all(np.array_equal(getattr(one, n), getattr(other, n)) for n in arrays)  # type: ignore[arg-type]
    facts = ("k", "counted", "name", "tells_trips", "rounded", "whole", "total_of")
    zones = [{axis: list(ids) for axis, ids in told.zones.items()} for told in (one, other)]
    return equal and all(getattr(one, n) == getattr(other, n) for n in facts) and zones[0] == zones[1] != {}


def split_by(*earlier: Disclosure) -> Splitting:
    """Return the records of releases as they tell them apart."""
    return Splitting.of(KnownPeople([one.record for one in earlier])).by(*earlier)
